// The search over the space of layouts of a job: best bound first. Every layout is priced; what the
// checks refuse or memory rules out is closed at once, the rest wait in the order of their bounds.
// The first in line gets a sharper bound, then a solve, until no layout that is left can hold a
// plan better than the best known by more than the gap asked.
#ifndef PLUMBLINE_SOLVE_LAYOUTS_LAYOUTS_H
#define PLUMBLINE_SOLVE_LAYOUTS_LAYOUTS_H

#include "data/results/layouts.h"
#include "solve/layout/solve.h"

struct layouts_result {
    struct solve_result solved; // the plan of the best layout; its bound is over all layouts
    struct layouts layouts;     // what became of each
};

// problem->job.space.given. Settings as for one layout; threads workers take layouts one each.
// *stop turning nonzero ends the search with the best so far. The plan and the fates are the same
// for any number of threads where the gap is reached.
enum status layouts_search(struct layouts_result *r, const struct problem *problem,
                           const struct solve_settings *settings, const volatile int *stop,
                           struct arena *arena, struct error *err);

#endif

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
    int64_t searched_bound_ns; // on the layouts that were searched: a part, or all; INT64_MAX: none
                               // of them has a plan
};

// Asked between rounds: tells others who search the same space of our best plan (stage_count 0:
// none), and hands over theirs where it takes less time (true).
typedef bool layouts_exchange(void *argument, const struct plan *best, struct plan *theirs,
                              struct arena *arena);

// What a search begins with, and how much of the space it is about. Times of plans are values
// (problem_layout_worth).
struct layouts_task {
    struct space_part part;
    const struct layouts *known; // of this space: each fate and bound holds; NULL: nothing is known
    struct plan plan;            // of a layout of the space; stage_count 0: none is known
    struct plan_effort effort;   // of the searches before, to be told with this one's
    layouts_exchange *exchange;  // NULL: nobody else searches
    void *argument;
};

// problem->job.space.given. Settings as for one layout; threads workers take layouts one each.
// *stop turning nonzero ends the search with the best so far. The plan and the fates are the same
// for any number of threads where the gap is reached. task: NULL, or what is not as usual; the
// bound stays one on the whole space, so after a part's search alone it is 0, and r->layouts has
// the bounds of its layouts. BAD_INPUT: what is known is false, or about another space.
enum status layouts_search(struct layouts_result *r, const struct problem *problem,
                           const struct solve_settings *settings, const struct layouts_task *task,
                           const volatile int *stop, struct arena *arena, struct error *err);

#endif

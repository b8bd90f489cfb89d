// What the commands do beside reading options and naming files: the library (library/) does it,
// too.
#ifndef PLUMBLINE_SOLVE_COMMANDS_VERBS_H
#define PLUMBLINE_SOLVE_COMMANDS_VERBS_H

#include "solve/layouts/layouts.h"
#include "solve/places/placed.h"

// ---- search.c: a problem solved, with one layout or a space of them

struct solved {
    const struct problem *problem; // as asked
    const struct problem *one;     // with the layout of the plan
    const struct problem *judged;  // what the plan is held against: of cost and limits only the
                                   // space's job says something
    struct priced *priced;         // of `one`; of a space there is none without a plan
    struct layouts_result *space;  // NULL: the problem has one layout
    struct solve_result *result;
};

// Prices the one layout; of a space, only asks whether it can be searched.
enum status solve_prepare(struct solved *s, const struct problem *problem, struct arena *arena,
                          struct error *err);
// What a search begins with: of one layout a plan, on places (placed) and on others (plan); of a
// space a task. Each may be NULL.
struct solve_from {
    struct placed_start *placed;
    const struct plan *plan;
    const struct layouts_task *task;
};
// from: NULL, from nothing.
enum status solve_search(struct solved *s, const struct solve_settings *settings,
                         const struct solve_from *from, const volatile int *stop,
                         struct arena *arena, struct error *err);
// States what costs leave open, and has the judge look at the plan. SOLVER: it is rejected. The
// plan has its sources.
enum status solve_settle(struct plan *plan, const struct solved *s, struct arena *arena,
                         struct error *err);

// ---- quality.c

// What compression takes of a plan's quality: the sum of its options' costs, then how many of them
// are other than none.
struct quality {
    int64_t cost;
    int taken;
};
// Of the plans of this one layout that take no longer, one of the least quality cost, as far as a
// search of some thousand boxes tells. Nothing on places, nor for another objective.
enum status solve_least_quality(struct plan *plan, const struct problem *problem,
                                const struct solve_settings *settings, const volatile int *stop,
                                struct arena *arena, struct error *err);

// The front of time against quality: the first point is the plan found, each next one the fastest
// found that costs less quality than the one before, with the bound on all that do. One less than
// `most` where a limit ends the search.
struct front_point {
    struct plan plan;   // its bound is the first one's, which holds for all plans
    struct problem one; // with its layout
    int64_t bound_ns;   // of all plans of no more quality
    struct quality quality;
};
enum status solve_front(struct front_point *points, int *count, const struct solved *first,
                        const struct solve_settings *settings, int most, const volatile int *stop,
                        struct arena *arena, struct error *err);
const char *solve_front_text(const struct front_point *points, int count, size_t *length,
                             struct arena *arena);

// ---- remedies.c: of a space without a plan, in the plan's reason: how many nodes, how much
// memory, which batch would do, each by itself, as far as seconds are enough to find out. Nothing
// of a cluster with places.
void solve_advise(struct plan *plan, const struct layouts *layouts, const struct problem *problem,
                  const struct solve_settings *settings, const volatile int *stop,
                  struct arena *arena);

// ---- report.c

// What is at hand of a plan that is not in a file yet; NULL: looked for beside the plan's file.
struct report_request {
    const struct plan *plan;
    const struct problem *problem;
    const struct layouts *layouts;
    bool html; // false: text
};
enum status report_run(const struct report_request *r, const char **text, size_t *length,
                       struct arena *arena, struct error *err);

#endif

// What the commands do apart from reading options and naming files; shared with the library
// (library/).
#ifndef PLUMBLINE_SOLVE_COMMANDS_VERBS_H
#define PLUMBLINE_SOLVE_COMMANDS_VERBS_H

#include "solve/layouts/layouts.h"
#include "solve/places/placed.h"

// ---- search.c: a problem solved, with one layout or a space of them

struct solved {
    const struct problem *problem; // as requested
    const struct problem *one;     // with the layout of the plan
    const struct problem *judged;  // the problem that the plan is judged by: only the space's job
                                   // states cost and limits
    struct priced *priced;         // of `one`; for a space NULL without a plan
    struct layouts_result *space;  // NULL: the problem has one layout
    struct solve_result *result;
};

// Prices the one layout; for a space, only checks whether it can be searched.
enum status solve_prepare(struct solved *s, const struct problem *problem, struct arena *arena,
                          struct error *err);
// What a search starts from: for one layout a plan (placed: on places, plan: otherwise); for a
// space a task. Each may be NULL.
struct solve_from {
    struct placed_start *placed;
    const struct plan *plan;
    const struct layouts_task *task;
};
// from NULL: from nothing.
enum status solve_search(struct solved *s, const struct solve_settings *settings,
                         const struct solve_from *from, const volatile int *stop,
                         struct arena *arena, struct error *err);
// States what the costs leave open, and has the judge check the plan. SOLVER: it is rejected. The
// plan has its sources.
enum status solve_settle(struct plan *plan, const struct solved *s, struct arena *arena,
                         struct error *err);

// ---- quality.c

// The quality cost of a plan's compression: the sum of its options' costs, then how many of its
// options are not none.
struct quality {
    int64_t cost;
    int taken;
};
// Replaces the plan by one of this layout that takes no longer and has the least quality cost, as
// far as a search of a few thousand boxes finds. Does nothing on places, nor for another objective.
enum status solve_least_quality(struct plan *plan, const struct problem *problem,
                                const struct solve_settings *settings, const volatile int *stop,
                                struct arena *arena, struct error *err);

// The Pareto front of time and quality: the first point is the plan found; each next one is the
// fastest found that costs less quality than the one before, with the bound on all that do. Fewer
// than `most` points if a limit ends the search.
struct front_point {
    struct plan plan;   // its bound is the first one's, which holds for all plans
    struct problem one; // with its layout
    int64_t bound_ns;   // of all plans of at most this quality cost
    struct quality quality;
};
enum status solve_front(struct front_point *points, int *count, const struct solved *first,
                        const struct solve_settings *settings, int most, const volatile int *stop,
                        struct arena *arena, struct error *err);
const char *solve_front_text(const struct front_point *points, int count, size_t *length,
                             struct arena *arena);

// ---- remedies.c: for a space without a plan, adds to the plan's reason: how many nodes, how much
// memory, or which batch would be enough, each by itself, as far as can be found within seconds.
// Nothing for a cluster with places.
void solve_advise(struct plan *plan, const struct layouts *layouts, const struct problem *problem,
                  const struct solve_settings *settings, const volatile int *stop,
                  struct arena *arena);

// ---- report.c

// What is in memory of a plan that is not in a file yet; NULL: searched for next to the plan's
// file.
struct report_request {
    const struct plan *plan;
    const struct problem *problem;
    const struct layouts *layouts;
    bool html; // false: text
};
enum status report_run(const struct report_request *r, const char **text, size_t *length,
                       struct arena *arena, struct error *err);

#endif

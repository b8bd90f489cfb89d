// The search over the space of layouts of a job: best bound first. Every layout is priced; those
// that the checks refuse or memory rules out are closed at once, the others wait in a queue ordered
// by their bounds. The first in the queue gets a sharper bound, then a solve, until no remaining
// layout can have a plan better than the best known by more than the requested gap.
#pragma once

#include "data/results/layouts.h"
#include "solve/layout/solve.h"

struct layouts_result {
    struct solve_result solved; // the plan of the best layout; its bound is over all layouts
    struct layouts layouts;     // what became of each
    bool rests_on_known; // the bound, or that there is no plan, is below what is derived again
    int64_t searched_bound_ns; // on the layouts that were searched (a part, or all); INT64_MAX:
                               // none of them has a plan
};

// Called between rounds: reports our best plan (stage_count 0: none) to others who search the same
// space, and returns theirs if it takes less time (true).
typedef bool layouts_exchange(void *argument, const struct plan *best, struct plan *theirs,
                              struct arena *arena);

// What a search starts from, and which part of the space it covers. Times of plans are values
// (problem_layout_worth).
struct layouts_task {
    struct space_part part;
    const struct layouts *known; // of this space: its fates and bounds hold; NULL: nothing is known
    struct plan plan;            // of a layout of the space; stage_count 0: none is known
    struct plan_effort effort;   // of the earlier searches, to be reported with this one's
    layouts_exchange *exchange;  // NULL: nobody else searches
    void *argument;
};

// Requires problem->job.space.given. Settings as for one layout; each of the `threads` workers
// takes one layout at a time. When *stop becomes nonzero, the search ends with the best so far. The
// plan and the fates are the same for any number of threads if the gap is reached. task: NULL, or
// what differs from the default. The bound is always one on the whole space: after a search of a
// part alone it is 0, and r->layouts has the bounds of its layouts. BAD_INPUT: what is known is
// false, or about another space.
enum status layouts_search(struct layouts_result *r, const struct problem *problem,
                           const struct solve_settings *settings, const struct layouts_task *task,
                           const volatile int *stop, struct arena *arena, struct error *err);

// turns.c: whether one table has all layouts of the space, as they differ by their number of stages
// alone, every number is one of them and no price depends on it; then the search by that table.
bool layouts_in_one_table(const struct problem *problem, const struct layouts_task *task);
enum status layouts_search_table(struct layouts_result *r, const struct problem *problem,
                                 const struct solve_settings *settings, const volatile int *stop,
                                 struct arena *arena, struct error *err);

// What is known of a space whose search was lost: the best plan that it had handed over
// (stage_count 0: none), by the value `value_ns`, and its bound on the whole space; of the layouts
// only what `task` knew before.
void layouts_lost(struct layouts_result *r, const struct problem *problem,
                  const struct solve_settings *settings, const struct layouts_task *task,
                  const struct plan *best, int64_t value_ns, struct arena *arena);

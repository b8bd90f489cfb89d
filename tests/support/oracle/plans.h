// Plans in memory for the tests of the reports.
#ifndef PLUMBLINE_TESTS_SUPPORT_ORACLE_PLANS_H
#define PLUMBLINE_TESTS_SUPPORT_ORACLE_PLANS_H

#include "data/results/plan.h"

// Four stages with a bit of everything: two groups, recomputation, compression in the drain,
// blocking and pure delays.
struct plan small_plan(struct arena *arena);

// Random stages, micro-batches, schedule and times; every combination of transfer parts comes up.
struct plan wound_plan(
    uint64_t *seed, struct arena *arena); // the same, of any schedule, with several stages a rank
struct plan random_plan(uint64_t *seed, struct arena *arena);

// Sets the iteration time and the bound to what the plan's own times give.
void claim_replay(struct plan *plan, struct arena *arena);

#endif

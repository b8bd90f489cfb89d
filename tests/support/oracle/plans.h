// Plans in memory for the tests of the reports.
#pragma once

#include "data/results/plan.h"

// Four stages with some of everything: two groups, recomputation, compression in the drain,
// blocking and pure delays.
struct plan small_plan(struct arena *arena);

// Random stages, micro-batches, schedule and times; every combination of transfer parts occurs.
struct plan wound_plan(
    uint64_t *seed, struct arena *arena); // the same, of any schedule, with several stages per rank
struct plan random_plan(uint64_t *seed, struct arena *arena);

// Sets the iteration time and the bound that follow from the plan's own times.
void claim_replay(struct plan *plan, struct arena *arena);

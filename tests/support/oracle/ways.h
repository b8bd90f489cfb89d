// What a stage of a plan can be, for the oracle.
#ifndef PLUMBLINE_TESTS_SUPPORT_ORACLE_WAYS_H
#define PLUMBLINE_TESTS_SUPPORT_ORACLE_WAYS_H

#include "data/results/plan.h"
#include "data/priced/priced.h"

// One way for a stage to be: its decision, and what follows from it.
struct way {
    struct plan_stage decision;
    int64_t forward[SLICES_MAX], backward[SLICES_MAX], weight, sync, optimizer;
    int64_t resident, stash, working; // bytes; resident without the group's constant
    int cut_behind;
};

// Every decision of the stage that rules and ranks of compression allow: counts them, and stores
// them where `to` is not NULL.
int ways_of_stage(struct way *to, const struct priced *p, int stage);

// Of a way with its decision: sums over its layers.
void way_put_times(struct way *w, const struct priced *p, int stage);
// Bytes of the stage: what lies there all the time, what a micro-batch adds, what works on it.
void way_put_memory(struct way *w, const struct priced *p, int stage);

int way_rank_of(const struct priced *p, int stage);
// Boundary b joins stages b and b + 1. Stages of one rank stand next to each other only where the
// pipeline is folded: at its turning point.
bool way_boundary_is_inner(const struct priced *p, int boundary);
bool way_boundary_is_local(const struct priced *p, int boundary);

#endif

// The possible decisions of a plan's stage, for the oracle.
#pragma once

#include "data/results/plan.h"
#include "data/priced/priced.h"

// One way of a stage: its decision, and what follows from it.
struct way {
    struct plan_stage decision;
    int64_t forward[SLICES_MAX], backward[SLICES_MAX], weight, sync, queued, optimizer;
    int64_t away, back;               // transfers beside the passes
    int64_t resident, stash, working; // bytes; resident without the group's constant
    int64_t energy;                   // microjoules of an iteration
    int64_t swapped;                  // of a micro-batch, on the host between its passes
    int cut_behind;
};

// Counts the decisions of the stage that rules and ranks of compression allow, and stores them if
// `to` is not NULL.
int ways_of_stage(struct way *to, const struct priced *p, int stage);

// For a way with its decision: sums over its layers.
void way_put_times(struct way *w, const struct priced *p, int stage);
// Bytes of the stage: resident, added by a micro-batch, and working memory.
void way_put_memory(struct way *w, const struct priced *p, int stage);

// Whether what the stage has in tiers fits, with so many micro-batches in flight.
bool way_tiers_hold(const struct priced *p, const struct way *w, int in_flight);

int way_rank_of(const struct priced *p, int stage);
// Boundary b joins stages b and b + 1. Stages of one rank are adjacent only if the pipeline is
// folded: at its turning point.
bool way_boundary_is_inner(const struct priced *p, int boundary);
bool way_boundary_is_local(const struct priced *p, int boundary);

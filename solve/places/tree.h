// The proof of placements by a tree over nodes.
#pragma once

#include "solve/places/placed.h"

struct placed_tree_settings {
    double gap;                          // at which to stop; 0: exact
    int64_t cutoff_ns;                   // plans at or above it are of no interest; 0: all are
    int64_t effort_max;                  // in boxes of choices x stages squared
    bool (*should_stop)(void *argument); // may be NULL
    void *stop_argument;
};

// Returns a bound on all placed plans, at least `bound_ns` (already proven); `best` may improve. If
// the tree ended, the bound is best's time, less the gap.
int64_t placed_tree(struct placed *p, struct placed_plan *best, int64_t bound_ns,
                    const struct placed_tree_settings *settings, struct arena *arena);

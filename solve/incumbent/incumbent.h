// The incumbent search: a quick construction and a local search with exact replay, before GLPK
// starts.
#pragma once

#include "formulate/choices/choices.h"
#include "formulate/graph/longest.h"

struct incumbent {
    bool found;
    int *chosen;          // [stage_count], choice indices
    int64_t iteration_ns; // exact replay
};

// Deterministic for a seed: the effort is a number of replays, never a time. Improves *best if it
// already has a plan. should_stop (may be NULL) is called now and then; true ends the search early
// with the best so far.
void incumbent_search(struct incumbent *best, const struct choices *c, struct graph *g,
                      uint64_t seed, int64_t replays, bool (*should_stop)(void *),
                      void *stop_argument, struct arena *arena);

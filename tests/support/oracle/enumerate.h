// Enumerates every decision of a set of choices: the oracle of the searches. Only decisions that do
// not fit together are skipped.
#pragma once

#include "formulate/choices/choices.h"
#include "formulate/graph/longest.h"

struct enumeration {
    int64_t best_ns;           // INT64_MAX: there is no plan
    int64_t plans, best_plans; // decisions that fit together; those of them that take best_ns
    int64_t *
        *best_with_ns; // [stage][choice]: the best plan with this choice, INT64_MAX without one
    int *best;         // [stage_count], the first best one
};

// visit may be NULL; durations are the symbols' of the plan.
void enumerate(struct enumeration *e, const struct choices *c, struct graph *g,
               void (*visit)(void *argument, const int *chosen, const int64_t *durations),
               void *argument, struct arena *arena);

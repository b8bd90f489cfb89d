// Problems of stages with widths of their own on named nodes, with all their placements, whose
// programs are put together from the tables of prices and replayed by the oracle.
#pragma once

#include "solve/places/named.h"
#include "tests/support/problems.h"

enum { NAMED_PLACEMENTS_MOST = 700, NAMED_PLANS_MOST = 150000, NAMED_STAGES = 3 };

// false: it has no price.
bool named_draw(struct problem *p, struct priced *priced, struct random *rng, struct arena *arena);

// The program of stages that all stand; group s is stage s's seat. false: some ring is not joined.
bool named_stand(struct priced *to, const struct priced *p, const struct standing *at,
                 struct arena *arena);

struct named_all {
    const struct priced *p;
    struct standing at[NAMED_STAGES];
    int used[32], placements; // device groups of each node
    int64_t best_ns;          // INT64_MAX: there is no plan
    bool counts;              // only counts
    struct random *rng;
    struct standing drawn[NAMED_STAGES]; // one of them, each with the same chance
    struct arena *arena;
};
// Takes the placement `at`, and each one whose stages stand in an order of nodes of their own, up
// to more than the most.
void named_answer(struct named_all *x);
void named_walk(struct named_all *x);
// Whether there are few enough to be enumerated.
bool named_is_small(const struct named_all *counted);

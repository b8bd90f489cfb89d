// The objective pipette in tests: the request of the published setting, and random small problems.
// Whatever fails here fails the test.
#pragma once

#include "formulate/example/example.h"
#include "formulate/price/price.h"
#include "solve/layout/solve.h"
#include "tests/support/problems.h"

enum { PIPETTE_NODES_MAX = 7 };

struct pipette_trial {
    struct problem problem;
    struct priced priced;
    bool usable[PIPETTE_NODES_MAX],
        first[PIPETTE_NODES_MAX]; // the node can hold a stage, and the first one
    int rows, each;
    struct arena *arena;
};

// In memory, without a hash; so are the problems made from them.
void pipette_load_costs(struct costs *costs, struct arena *arena);
// Nodes of different kinds, with room for one to three replicas; some cannot be used, some not for
// the first stage.
void pipette_trial_make(struct pipette_trial *t, const struct costs *costs, struct random *rng,
                        struct arena *arena);
struct solve_result pipette_solved(const struct priced *priced, struct arena *arena);

struct pipette_request pipette_request_like_published(const char *matrix);

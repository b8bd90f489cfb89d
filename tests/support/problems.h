// Random small problems in memory, for tests that compare two ways of solving them. Deterministic:
// they depend only on a seed and the limits. Sizes often reach their maximum; every feature of
// documents occurs.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "data/inputs/problem.h"

// splitmix64
struct random {
    uint64_t state;
};
uint64_t random_bits(struct random *rng);
// A share for trees in four of ten cases, from separate random numbers: rng's next numbers do not
// change.
struct estimate random_tree_share(const struct random *rng);
int64_t random_between(struct random *rng, int64_t low, int64_t high); // both included
bool random_chance(struct random *rng, int percent);

struct estimate exactly(double value); // an assumption without an interval

enum model_flavour {
    FLAVOUR_UNLIKE, // measured runs, most with one layer
    FLAVOUR_ALIKE,  // measured: first, n equal ones, last
    FLAVOUR_SHAPE,  // a tiny transformer, priced by formula or by layer times
    FLAVOUR_COUNT,
    FLAVOUR_ANY = -1,
};

struct random_limits {
    int layers_max, stages_max, groups_max, micro_batches_max;
    double plans_max;    // of an exhaustive enumeration; 0: no limit
    bool long_and_close; // iterations of at least a second, plans that differ by nanoseconds
    int flavour;         // enum model_flavour
    bool grids;          // tensor ranks may be a grid, if there is a shape
    bool keeps;          // no stage may swap: for clusters with places
    bool sharded;        // of a trial (trials/trial.h): stages may shard layers further
};
struct random_limits random_limits_small(
    void); // 9 layers, 4 stages, 3 groups, 6 micro-batches, 200,000 plans

// Passes model_check ... problem_check. May be infeasible.
void random_problem(struct problem *p, struct random *rng, const struct random_limits *limits,
                    struct arena *arena);

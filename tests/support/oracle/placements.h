// Random small problems on a few nodes, each link different, and the oracle of placements: all
// decisions on all nodes, in all orders of rings, over the network cards that all have, with all
// numbers of micro-batches that the replicas may take.
#pragma once

#include "data/priced/priced.h"
#include "tests/support/problems.h"

// Options of a draw: replicas with different numbers of micro-batches; a fused embedding sync; two
// groups with cards of their own (random_crossing_problem).
enum { PLACED_UNEVEN = 1, PLACED_FUSED = 2, PLACED_CROSSING = 4 };

// Passes problem_check_places.
void random_placed_problem(struct problem *p, struct random *rng, int asked, struct arena *arena);

// The same with one or two device groups per node, and with links that are equal, free, or differ
// by a factor of a thousand.
void random_crowded_problem(struct problem *p, struct random *rng, int asked, struct arena *arena);

// Two stages of several replicas on two groups, whose rings have only slow cards in common, on
// nodes with two device groups, of which few or none are spare.
void random_crossing_problem(struct problem *p, struct random *rng, struct arena *arena);

// The least iteration time, or greatest load, by p->objective. INT64_MAX: there is no plan; -1:
// more than `most` placements, none was evaluated.
int64_t best_placement(const struct problem *problem, const struct priced *p, double most,
                       struct arena *arena);
// The same with ranks fixed to nodes: held[replica * stages + stage], -1: on any.
int64_t best_placement_held(const struct problem *problem, const struct priced *p, const int *held,
                            double most, struct arena *arena);

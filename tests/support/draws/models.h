// Models at random, of real size, with everything that a model may have.
#ifndef PLUMBLINE_TESTS_SUPPORT_DRAWS_MODELS_H
#define PLUMBLINE_TESTS_SUPPORT_DRAWS_MODELS_H

#include "tests/support/problems.h"

void random_model(struct model *m, struct random *rng, struct arena *arena);
// All memory layers over one pool, where there are some; what that asks of the rest: one node
// group, a barrier. Whether there are some.
bool share_pools(struct problem *p);
// Some of the blocks of a tiny transformer become memory layers over one pool, or blocks share
// their weights, or both, drawn from numbers of its own, where rules name no group. Whether.
bool random_pools(struct problem *p, uint64_t seed, struct arena *arena);
// Some or all of the blocks of a tiny transformer are frozen, with adapters or without, in few
// bits, and perhaps what stands before them; drawn from numbers of its own. Whether.
bool random_frozen(struct problem *p, uint64_t seed, struct arena *arena);
// Trained blocks share weights, where there are some; one group, a barrier, ZeRO 0. Whether.
bool share_weights(struct problem *p);
// Behind the last blocks come some that predict further tokens, where that goes with the rest.
// Whether.
bool predict_further(struct problem *p, uint64_t seed, struct arena *arena);
// Frozen layers of every kind in few bits, some of them; ends that share a matrix alike.
void quantise_frozen(struct model *m, uint64_t seed);
void model_look_back(struct model *m); // causal attention alone, which slices of a sequence want

#endif

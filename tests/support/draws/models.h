// Random models of real size, with everything that a model may have.
#pragma once

#include "tests/support/problems.h"

void random_model(struct model *m, struct random *rng, struct arena *arena);
// Puts all memory layers over one pool, if there are some, and sets what that requires: one node
// group, a barrier. Returns whether there are some.
// Memory layers with one pool or with pools of their own, held by random groups of their devices.
bool random_pool_groups(struct problem *p, uint64_t seed, struct arena *arena);
bool share_pools(struct problem *p);
// Some of the blocks of a tiny transformer become memory layers over one pool, or blocks share
// their weights, or both, from its own random numbers, if rules name no group. Returns whether.
bool random_pools(struct problem *p, uint64_t seed, struct arena *arena);
// Some or all of the blocks of a tiny transformer are frozen, with adapters or without, in few
// bits, and perhaps what is before them; from its own random numbers. Returns whether.
bool random_frozen(struct problem *p, uint64_t seed, struct arena *arena);
// Which products of the frozen blocks with adapters have one, of some of them.
void draw_adapters(struct model *m, uint64_t seed);
// Some mixtures are frozen and have adapters on products of their attention, if the shape allows
// it. Returns how many.
int adapt_mixtures(struct model *m, uint64_t seed);
// Trained blocks share weights, if there are some; one group, a barrier, ZeRO 0. Returns whether.
bool share_weights(struct problem *p);
// Adds after the last blocks some that predict further tokens, if compatible with the rest. Returns
// whether.
bool predict_further(struct problem *p, uint64_t seed, struct arena *arena);
// Some frozen layers of every kind in few bits; ends that share a matrix have the same number.
void quantise_frozen(struct model *m, uint64_t seed);
// Linear attention by any rule, alone or beside attention, and layers of one part.
void random_parts(struct model *m, uint64_t seed);
// Values of another width than keys, and mixtures with heads of their own, if compatible with the
// rest. Returns whether.
bool random_widths(struct model *m, uint64_t seed, struct arena *arena);
void model_look_back(struct model *m); // causal attention only, as slices of a sequence require

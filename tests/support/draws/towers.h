// Towers before a model: layers of a shape and of tokens of their own, and projectors.
#ifndef PLUMBLINE_TESTS_SUPPORT_DRAWS_TOWERS_H
#define PLUMBLINE_TESTS_SUPPORT_DRAWS_TOWERS_H

#include "tests/support/problems.h"

// Puts one before a model that begins with an embedding, drawn from numbers of its own: patches,
// blocks that the tensor degree divides, a projector, each of them or some, trained or frozen.
// scale: of widths, tokens and counts. The layout has no context ranks then, and no tied embeddings
// over a pipeline that are trained. false: the model or the layout take none.
bool random_tower(struct problem *p, uint64_t seed, int scale, struct arena *arena);
// As random_tower on a problem of a few layers, which stays as small: what it adds it takes off the
// blocks.
bool random_small_tower(struct problem *p, uint64_t seed, struct arena *arena);

#endif

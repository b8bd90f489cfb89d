// Towers before a model: layers of a shape and of tokens of their own, and projectors.
#pragma once

#include "tests/support/problems.h"

// Puts a tower before a model that begins with an embedding, from its own random numbers: patches,
// blocks that the tensor degree divides, a projector, all or some of them, trained or frozen.
// scale: of widths, tokens and counts. The layout then has no context ranks, and no trained tied
// embeddings over a pipeline. false: the model or the layout cannot have one.
bool random_tower(struct problem *p, uint64_t seed, int scale, struct arena *arena);
// As random_tower for a problem of a few layers, which stays as small: as many blocks are removed
// as layers are added.
bool random_small_tower(struct problem *p, uint64_t seed, struct arena *arena);

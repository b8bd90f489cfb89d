// Random problems whose tensor ranks may be a grid of axes.
#pragma once

#include "tests/support/problems.h"

// Makes a model with a shape, and a job, compatible with a grid (docs/FORMULAS.md section 20):
// blocks between embedding and head, no latents, nothing frozen; nothing compressed.
void grids_fit(struct problem *p);
// A grid of at most this many tensor ranks per axis in place of the layout's degree, and a shape
// that it divides; the micro-batch and the batch grow with its third axis.
void grids_give(struct problem *p, struct random *rng, int axis_max);

// Of a grid that is there: sequence parallelism, its order, its gathers, what overlaps; from random
// numbers of its own.
void grids_decide(struct problem *p, uint64_t seed);

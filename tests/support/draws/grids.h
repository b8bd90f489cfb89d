// Random problems whose tensor ranks may be a grid of axes.
#ifndef PLUMBLINE_TESTS_SUPPORT_DRAWS_GRIDS_H
#define PLUMBLINE_TESTS_SUPPORT_DRAWS_GRIDS_H

#include "tests/support/problems.h"

// Makes of a model with a shape, and of a job, what a grid goes with (docs/FORMULAS.md section 20):
// blocks between embedding and head, no latents, nothing frozen; nothing compressed.
void grids_fit(struct problem *p);
// A grid of so many tensor ranks at most in the place of the layout's degree, and a shape that it
// divides; the micro-batch and the batch grow with its third axis.
void grids_give(struct problem *p, struct random *rng, int axis_max);

#endif

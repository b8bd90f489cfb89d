// Models at random, of real size, with everything that a model may have.
#ifndef PLUMBLINE_TESTS_SUPPORT_MODELS_H
#define PLUMBLINE_TESTS_SUPPORT_MODELS_H

#include "tests/support/problems.h"

void random_model(struct model *m, struct random *rng, struct arena *arena);
void model_look_back(struct model *m); // causal attention alone, which slices of a sequence want

#endif

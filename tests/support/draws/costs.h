// Random costs: rates, overheads, measured layers and collectives, most of them now and then.
#ifndef PLUMBLINE_TESTS_SUPPORT_DRAWS_COSTS_H
#define PLUMBLINE_TESTS_SUPPORT_DRAWS_COSTS_H

#include "tests/support/problems.h"

// Of the problem's model and cluster.
void random_costs(struct problem *p, struct random *rng, struct arena *arena);

#endif

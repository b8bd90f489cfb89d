// Random costs: rates, overheads, measured layers and collectives, most of them now and then.
#pragma once

#include "tests/support/problems.h"

// Of the problem's model and cluster.
void random_costs(struct problem *p, struct random *rng, struct arena *arena);

// How a random job's experts get their tokens, and what that costs.
#pragma once

#include "tests/support/problems.h"

// Draws the job's keys of dispatch and graphs, the costs that they use, and rates of experts'
// products, casts and a ring's attention, from a state of its own that the seed gives. Some
// experts get biases.
void dispatch_draw(struct problem *p, uint64_t seed);

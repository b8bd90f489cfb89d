// Random layouts of any schedule.
#pragma once

#include "tests/support/problems.h"

// Any schedule, with its requirements, as far as the problem is compatible.
void random_layout(struct problem *p, struct random *rng);
// Breadth-first: one to three ranks, one to three stages on each, any ZeRO stage. false: the
// problem is not compatible.
bool random_breadth_first(struct problem *p, struct random *rng);

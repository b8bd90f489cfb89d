// Layouts of any schedule at random.
#ifndef PLUMBLINE_TESTS_SUPPORT_DRAWS_LAYOUTS_H
#define PLUMBLINE_TESTS_SUPPORT_DRAWS_LAYOUTS_H

#include "tests/support/problems.h"

// Any schedule, and what it asks for, as far as the problem goes along with it.
void random_layout(struct problem *p, struct random *rng);
// Breadth-first: one to three ranks, one to three stages on each, any ZeRO stage. false: the
// problem does not go along with it.
bool random_breadth_first(struct problem *p, struct random *rng);

#endif

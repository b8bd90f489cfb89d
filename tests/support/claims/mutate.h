// Small changes of a problem with a space: the steps of a climb to the largest claim, and of the
// search for a smaller problem that still shows a violation.
#pragma once

#include "tests/support/problems.h"

// A copy that shares no array with the problem that a change may touch.
void claims_copy(struct problem *to, const struct problem *from, struct arena *arena);
// One change of a number, or of the layout. false: the result is not a valid problem.
bool claims_mutate(struct problem *p, struct random *rng, struct arena *arena);
// The step-th simplification of a problem, tried in order; false: it changes nothing, or leaves no
// valid problem. *more: others follow.
bool claims_simplify(struct problem *p, int step, bool *more, struct arena *arena);

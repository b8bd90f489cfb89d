// Random problems whose layers are of two or three kinds: the kind that weighs most has few layers,
// often fewer than there are ranks; memory in which one kind must be recomputed and another need
// not; half of them in slices; plans few enough to enumerate.
#pragma once

#include "data/priced/priced.h"
#include "tests/support/problems.h"

// As a priced document, of any schedule: no rules, no budget; enough layers for the stages, and
// slots for the ranks.
void random_kinds(struct priced *p, int schedule, uint64_t *state, struct arena *arena);

// As documents, with a layout and without a space: a pipeline of single cards.
void random_kinds_problem(struct problem *p, struct random *rng, struct arena *arena);

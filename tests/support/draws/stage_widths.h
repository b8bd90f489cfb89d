// Random problems whose stages have widths of their own.
#pragma once

#include "tests/support/problems.h"

// Puts lists of widths in place of the problem's degrees; what they exclude is taken away. Often
// with measured times, and blocks that state their bytes, some by degrees. False: it has none that
// fit.
bool random_stage_widths(struct problem *p, struct random *rng, struct arena *arena);

// A problem that has them: replicas take whole micro-batches in turn. Some measured layers state
// what a stage that begins with them pays for its input, by numbers of the seed.
void random_turns(struct problem *p, bool any_sets, uint64_t seed, struct arena *arena);

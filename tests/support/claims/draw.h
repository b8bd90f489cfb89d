// Random small problems with a space of layouts, for tests of claims about them. Every quantity of
// a problem has its own weight, from nothing to many times the others', so that syncs dominate in
// one problem, messages or optimizer steps in another; numbers are small multiples of a unit, so
// ties and tight bounds are frequent.
#pragma once

#include "tests/support/problems.h"

enum { CLAIMS_LAYOUTS_MAX = 12 };

// Passes problem_check; the space has 1 to CLAIMS_LAYOUTS_MAX layouts, including the base layout,
// which is not refused.
void claims_draw(struct problem *p, struct random *rng, struct arena *arena);

// Random small problems with a space of layouts, for tests of what is claimed of them. Every
// quantity of a problem has a weight of its own, from nothing to many times the others', so that in
// one problem syncs decide, in another messages or optimizer steps; numbers are small multiples of
// a unit, so that ties and tight bounds are frequent.
#ifndef PLUMBLINE_TESTS_SUPPORT_CLAIMS_DRAW_H
#define PLUMBLINE_TESTS_SUPPORT_CLAIMS_DRAW_H

#include "tests/support/problems.h"

enum { CLAIMS_LAYOUTS_MAX = 12 };

// Passes problem_check; the space has 1 to CLAIMS_LAYOUTS_MAX layouts, of which the base layout is
// one that is not refused.
void claims_draw(struct problem *p, struct random *rng, struct arena *arena);

#endif

// What a network makes of collectives over many nodes, drawn.
#ifndef PLUMBLINE_TESTS_SUPPORT_DRAWS_FABRIC_H
#define PLUMBLINE_TESTS_SUPPORT_DRAWS_FABRIC_H

#include "tests/support/problems.h"

// In half of all cases what nodes leave of a bandwidth, and in half all-reduces by nodes of each
// GPU; from separate random numbers: rng's next numbers do not change.
void random_fabric(struct costs *c, const struct random *rng, struct arena *arena);

#endif

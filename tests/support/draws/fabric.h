// What links make of collectives over many nodes and within one, drawn.
#pragma once

#include "tests/support/problems.h"

// In half of all cases what nodes leave of a bandwidth, and in half all-reduces by nodes of each
// GPU; from separate random numbers: rng's next numbers do not change.
void random_fabric(struct costs *c, const struct random *rng, struct arena *arena);

// In some cases what rings of some GPUs get within a node, and sums in its switches; from copies of
// rng, too.
void random_rings(struct node_group *g, const struct random *rng, struct arena *arena);

// Random jobs whose stages may shard their first layers further than the layout does, or choose the
// tensor degree of their embedding and head.
#pragma once

#include "tests/support/problems.h"

// Gives the problem the choice, often less memory, and some measured layers a time of their own
// where they are sharded further. What the choice excludes is taken away. The numbers come from the
// seed alone. False: the problem cannot have it.
bool random_sharding(struct problem *p, uint64_t seed, struct arena *arena);

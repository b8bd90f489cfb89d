// Claims about placements on nodes, compared with all placements.
#pragma once

#include "tests/support/claims/judge.h"

void claims_placed(struct claims *c, uint64_t seed, struct arena *arena);

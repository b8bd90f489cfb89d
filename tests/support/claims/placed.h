// Claims about placements on nodes, compared with all placements.
#ifndef PLUMBLINE_TESTS_SUPPORT_CLAIMS_PLACED_H
#define PLUMBLINE_TESTS_SUPPORT_CLAIMS_PLACED_H

#include "tests/support/claims/judge.h"

void claims_placed(struct claims *c, uint64_t seed, struct arena *arena);

#endif

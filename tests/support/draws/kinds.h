// Random priced documents whose layers are of two or three kinds: the kind that weighs most has few
// layers, often fewer than there are ranks; memory in which one kind must be recomputed and another
// need not; plans few enough to enumerate.
#ifndef PLUMBLINE_TESTS_SUPPORT_DRAWS_KINDS_H
#define PLUMBLINE_TESTS_SUPPORT_DRAWS_KINDS_H

#include "data/priced/priced.h"

// No rules, no budget; enough layers for the stages, and slots for the ranks.
void random_kinds(struct priced *p, enum schedule_kind schedule, uint64_t *state,
                  struct arena *arena);

#endif

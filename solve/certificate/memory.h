// Prices of memory for rounds by ranks, as certificates state them and the checker verifies them.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_MEMORY_H
#define PLUMBLINE_SOLVE_CERTIFICATE_MEMORY_H

#include "solve/checker/boxes/mix.h"

// Of a box with one group in it and the mixture with these coefficients: some prices of each rank
// that the box's largest choices would overflow, at the moment at which they need most. Whatever
// they are, a proof with them is one; these are slopes between a stage's choices. Returns how many.
int memory_price(struct check_memory_price **prices, const struct check_choices *choices,
                 const struct check_box *box, const struct check_round *round, struct arena *arena);

#endif

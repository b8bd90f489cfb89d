// Prices of memory for rounds by ranks, as stated in certificates and verified by the checker.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_MEMORY_H
#define PLUMBLINE_SOLVE_CERTIFICATE_MEMORY_H

#include "solve/checker/boxes/mix.h"

// For a box with one group and the mixture with these coefficients: a few prices for each rank
// that the largest choices of the box would overflow, at the moment at which they need most. A
// proof is valid with any prices; these are slopes between a stage's choices. Returns their
// number.
int memory_price(struct check_memory_price **prices, const struct check_choices *choices,
                 const struct check_box *box, const struct check_round *round, struct arena *arena);

#endif

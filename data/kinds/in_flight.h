// How many micro-batches each stage of 1f1b has in flight at most, as a list: [stage], 0 behind the
// last one. docs/PROOFS.md 8.19: a list can be executed exactly if it never rises; and no plan is
// slower if the last stage has one.
#pragma once

#include <stdbool.h>

// Whether it is such a list of so many stages, of at most `room`.
bool in_flight_fits(const unsigned char *list, int stages, int room);
// Empties a list that says what 1f1b has anyway: stages behind it, and its own; no more than
// micro-batches.
void in_flight_settle(unsigned char *list, int stages, int micro_batches);
// The next list in lexicographic order, all 1 the first; false: there is none of at most `most`.
bool in_flight_next(unsigned char *list, int stages, int most);

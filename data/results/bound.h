// The one door for a bound that is told to anybody: in a document, on a line of the log, as the
// answer of a search.
#ifndef PLUMBLINE_DATA_RESULTS_BOUND_H
#define PLUMBLINE_DATA_RESULTS_BOUND_H

#include <stdint.h>

// Returns bound_ns. value_ns: of the best plan known, which no true bound exceeds; 0: there is
// none. parent_ns: proven before for the same plans, or for more of them; no bound falls below it.
// A bound that breaks either is our own fault: an assert, always on.
int64_t bound_stated(int64_t bound_ns, int64_t value_ns, int64_t parent_ns);

#endif

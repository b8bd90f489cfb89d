// The one door for a bound that is told to anybody: in a document, on a line of the log, as the
// answer of a search.
#ifndef PLUMBLINE_DATA_RESULTS_BOUND_H
#define PLUMBLINE_DATA_RESULTS_BOUND_H

#include <stdint.h>

// Returns bound_ns. value_ns: of the best plan known, which no true bound exceeds; 0: there is
// none. parent_ns: proven before for the same plans, or for more of them; no bound falls below it.
// A bound that breaks either is our own fault: an assert, always on.
int64_t bound_stated(int64_t bound_ns, int64_t value_ns, int64_t parent_ns);

#define NEVER_NS (INT64_MAX / 4) // above every time, with room for sums

// What the bound of a part of a search must reach for the part to be closed: then it holds no plan
// that is better than the best one known by more than the gap, nor one below cutoff_ns (0: none).
// best_ns from NEVER_NS on: no plan is known.
int64_t bound_closing(int64_t best_ns, double gap, int64_t cutoff_ns);

#endif

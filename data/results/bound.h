// The only way in which a bound is published: in a document, on a line of the log, or as the result
// of a search.
#pragma once

#include <stdint.h>

// Returns bound_ns. value_ns: that of the best known plan, which no true bound exceeds; 0: there is
// none. parent_ns: a bound proven earlier for the same plans or for more of them; no bound is below
// it. A bound that violates either is a bug of ours: an assert that is always on.
int64_t bound_stated(int64_t bound_ns, int64_t value_ns, int64_t parent_ns);

#define NEVER_NS (INT64_MAX / 4) // above every time, with room for sums

// The bound that a part of a search must reach to be closed: the part then holds no plan that is
// better than the best known one by more than the gap, and none below cutoff_ns (0: no cutoff).
// best_ns at NEVER_NS or above: no plan is known.
int64_t bound_closing(int64_t best_ns, double gap, int64_t cutoff_ns);

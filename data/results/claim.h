// What stands behind a bound, or behind the statement that there is no plan: which claims a
// certificate can be about. The one place that says so, for what writes certificates, what audits
// them, and the words of every report.
#ifndef PLUMBLINE_DATA_RESULTS_CLAIM_H
#define PLUMBLINE_DATA_RESULTS_CLAIM_H

#include "data/inputs/problem.h"

// Why no certificate can be written of this problem's bound, as a clause about its job; NULL: one
// can. A kind of problem that gets certificates is removed here, and everything else follows.
const char *claim_has_no_certificate(const struct problem *p);

#endif

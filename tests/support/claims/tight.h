// Layouts where memory is what decides, found by enumeration with less and less of it.
#ifndef PLUMBLINE_TESTS_SUPPORT_CLAIMS_TIGHT_H
#define PLUMBLINE_TESTS_SUPPORT_CLAIMS_TIGHT_H

#include "tests/support/claims/truth.h"

enum tight {
    TIGHT_BEST, // the most memory, in 1,024ths, that has no room for the best plan
    TIGHT_ANY   // the least that has room for a plan
};

// Like `of`, which is known by enumeration and has a plan, with so much memory and with what is
// true of it then. False: it is none of these.
bool tighten(struct layout_truth *l, const struct layout_truth *of, enum tight how,
             int64_t plans_most, struct arena *arena);

#endif

// Layouts in which memory is decisive, found by enumeration with less and less memory.
#pragma once

#include "tests/support/claims/truth.h"

enum tight {
    TIGHT_BEST, // the most memory, in 1,024ths, that is too little for the best plan
    TIGHT_ANY   // the least that is enough for a plan
};

// Like `of`, which is known by enumeration and has a plan, but with this memory and the truth for
// it. False: `of` does not qualify.
bool tighten(struct layout_truth *l, const struct layout_truth *of, enum tight how,
             int64_t plans_most, struct arena *arena);

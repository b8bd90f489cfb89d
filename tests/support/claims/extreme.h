// A second way of drawing what claims are about, which shares nothing with the first: not documents
// but prices themselves, out of a handful of values (nothing, one, powers of two and their
// neighbours, near the limits), so that most are equal; with one layer, sync, message or rank that
// outweighs all others; and beside each layout others that differ in a few numbers, which dominance
// is asked of.
#ifndef PLUMBLINE_TESTS_SUPPORT_CLAIMS_EXTREME_H
#define PLUMBLINE_TESTS_SUPPORT_CLAIMS_EXTREME_H

#include "tests/support/claims/truth.h"
#include "tests/support/problems.h"

enum { EXTREME_LAYOUTS = 5 };
struct extreme {
    struct priced layouts[EXTREME_LAYOUTS];
    int count;
    int64_t values[6];
    int value_count;
};

void extreme_draw(struct extreme *x, struct random *rng, struct arena *arena);
// A copy with a number, or what the layout says, changed; of all layouts or of one.
void extreme_change(struct extreme *to, const struct extreme *from, struct random *rng,
                    struct arena *arena);
// What is true of its layouts. t->problem NULL.
void extreme_truth(struct space_truth *t, const struct extreme *x, int64_t plans_most,
                   struct arena *arena);

#endif

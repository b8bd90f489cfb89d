// A second, independent way of drawing the subjects of claims: not documents but prices themselves,
// from a handful of values (nothing, one, powers of two and their neighbours, near the limits), so
// most are equal; with one layer, sync, message or rank that outweighs all others; and with each
// layout others that differ in a few numbers, for dominance.
#pragma once

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
// A copy in which a number, or the layout, is changed; for all layouts or for one.
void extreme_change(struct extreme *to, const struct extreme *from, struct random *rng,
                    struct arena *arena);
// The truth of its layouts. t->problem NULL.
void extreme_truth(struct space_truth *t, const struct extreme *x, int64_t plans_most,
                   struct arena *arena);

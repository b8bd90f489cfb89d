// Groups of layouts whose passes take at least as long as those of one layout that stands for all
// of them: docs/PROOFS.md 8.17.
#pragma once

#include "formulate/price/price.h"
#include "solve/layouts/bound.h"

// What stands for the layout: no key that is left has a value with faster passes.
struct layout layout_group(const struct layout *layout);

struct group_bounds {
    const struct problem *problem;
    struct group_slot {
        bool used;
        struct layout group;
        int64_t bound_ns;
    } * slots; // the groups priced last
    int last;
    struct layout_sketch sketch;
    struct product_memo *memo;
    struct arena prices;
};
void group_bounds_open(struct group_bounds *x, const struct problem *problem, struct arena *arena);
void group_bounds_close(struct group_bounds *x);
// Every plan of the layout takes at least this (objective max_load: m x its greatest load); 0: what
// stands for it is refused, and nothing is known.
int64_t group_bound_ns(struct group_bounds *x, const struct layout *layout);

// Low-rank adapters on products of frozen blocks, and what those products keep: work.c, modules.c.
#pragma once

#include "formulate/price/pricing.h"

// How many, and the sum of those widths that tensor ranks divide; how many read a whole token, and
// the sum of those widths that the others read.
struct adapters {
    real count, wide, readers, narrower;
};
struct adapters adapters_of(const struct pricing *x, const struct layer_run *run);
// Seconds of their kernels in a pass of each kind.
struct product_seconds adapter_times(const struct pricing *x, const struct layer_run *run,
                                     const struct layer_work *work, int group);
// Tensors of a token's width that products keep: norms' outputs, by who reads them.
real inputs_of_products(const struct pricing *x, const struct layer_run *run);
real made_of_ffn(const struct pricing *x); // of what kept_of_ffn counts, the first products'
// A frozen block's last product without an adapter keeps no input.
bool keeps_last_input(const struct pricing *x, const struct layer_run *run);

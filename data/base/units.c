// Names of units that several documents share, and rounding.
#include "data/base/units.h"

#include <assert.h>
#include <stddef.h>

const char *const precision_names[] = {"fp32", "fp16", "bf16", "fp8", NULL};
const char *const recompute_names[] = {"none", "selective", "full", "first_layers", "swap", NULL};
const char *const transfer_part_names[] = {"blocking", "link", "delay", "overhead", NULL};

long double same_within(long double x)
{
    long double within = x * 0x1p-44L;
    return within < 0x1p-6L ? within : 0x1p-6L;
}

int64_t round_half_up(long double x)
{
    assert(x >= 0 && x < 9007199254740992.0L);
    return (int64_t)(x + same_within(x) + 0.5L);
}

#include "data/units.h"

#include <assert.h>
#include <stddef.h>

const char *const precision_names[] = {"fp32", "fp16", "bf16", "fp8", NULL};
const char *const recompute_names[] = {"none", "selective", "full", "first_layers", NULL};
const char *const transfer_part_names[] = {"blocking", "link", "delay", "overhead", NULL};

int64_t round_half_up(double x)
{
    assert(x >= 0 && x < 9007199254740992.0);
    int64_t whole = (int64_t)x;     // x + 0.5 would round up what lies just below a half
    return whole + (x - (double)whole >= 0.5);
}

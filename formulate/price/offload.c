// The optimizer step of a layer whose state is partly on the host: docs/FORMULAS.md section 4,
// Shares.
#include <math.h>

#include "formulate/price/pricing.h"

// Seconds of one of several concurrent activities, linear in the part of the host's share that the
// device updates: if it updates none of it, and all of it.
struct work {
    real none, all;
};

static real at(const struct work *w, real part) { return w->none + part * (w->all - w->none); }

// The longest of all activities at this part.
static real longest_at(const struct work *works, int count, real part)
{
    real longest = 0;
    for (int i = 0; i < count; i++) longest = fmaxl(longest, at(&works[i], part));
    return longest;
}

// The minimum over all parts: at an end, or where two activities take equally long.
static real least_of_longest(const struct work *works, int count)
{
    real least = fminl(longest_at(works, count, 0), longest_at(works, count, 1));
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++) {
            real none = works[i].none - works[k].none, all = works[i].all - works[k].all;
            if (none * all < 0) least = fminl(least, longest_at(works, count, none / (none - all)));
        }
    return least;
}

real offloaded_step_s(const struct pricing *x, const struct layer_run *run, int group, real share,
                      real device_s)
{
    const struct gpu_costs *gpu = x->gpus[group];
    struct layer_bytes bytes = bytes_of_layer(x, run);
    real width = x->problem->job.precision == FP32 ? 8 : 12, values = share * bytes.state / width,
         link = gpu->host_link_bytes_per_s.value, memory = gpu->host_memory_bytes_per_s.value,
         rate = gpu->host_update_values_per_s.value;
    if (values == 0 || x->problem->job.layout.offload_optimizer) return device_s;
    const struct work works[] = {
        {(1 - share) * device_s, device_s},
        {values * fmaxl(x->e_g, x->e) / link, values * width / link},
        {values * (2 * width + x->e_g + x->e) / memory, values * 2 * width / memory},
        {rate > 0 ? values / rate : 0, 0},
    };
    return least_of_longest(works, ARRAY_LENGTH(works));
}

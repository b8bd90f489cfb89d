// The terms of one layer's times in the priced document: whole nanoseconds of its passes, slice by
// slice, and of its step. docs/FORMULAS.md sections 3 and 4.
#include <math.h>

#include "formulate/price/pricing.h"

// The name of these terms in an error. It is only put together if a term will be refused: pricing
// thousands of configurations must not write it thousands of times.
static const char *name_of_terms(const struct pricing *x, const struct layer_run *run,
                                 const struct node_group *nodes, const struct layer_seconds *s)
{
    real sum = s->forward + s->backward + s->weight;
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) sum += s->again[mode];
    return sum < 1e6 ? run->name
                     : arena_print(x->arena, "run %s on group %s", run->name, nodes->name);
}

static enum status price_slice(struct pricing *x, int run, int group, int slice, struct error *err)
{
    const struct layer_run *layers = &x->problem->model.runs[run];
    struct layer_seconds seconds = seconds_of_layer(x, layers, group, slice);
    struct priced_run *to = &x->priced->runs[run];
    int at = slice * x->priced->group_count + group;
    const char *of = name_of_terms(x, layers, &x->problem->cluster.groups[group], &seconds);
    TRY(round_time(&to->forward_ns[at], seconds.forward, "forward time", of, err));
    TRY(round_time(&to->backward_ns[at], seconds.backward, "backward time", of, err));
    for (int o = 0; o < to->tiered_count; o++) {
        if (!to->tiered[o].forward_ns) continue;
        real read = tiered_read_s(x, layers, group, o);
        TRY(round_time(&to->tiered[o].forward_ns[at], fmaxl(seconds.forward, read), "forward time",
                       of, err));
        if (!run_has_gradient(x, layers)) read = 0; // there is no backward pass
        TRY(round_time(&to->tiered[o].backward_ns[at], fmaxl(seconds.backward, read),
                       "backward time", of, err));
    }
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        if (to->again_ns[mode])
            TRY(round_time(&to->again_ns[mode][at], seconds.again[mode], "recomputation time", of,
                           err));
    return slice
               ? OK
               : round_time(&to->weight_ns[group], seconds.weight, "weight gradient time", of, err);
}

// The step after each micro-batch is a part of its backward pass (FORMULAS 6).
static void step_each_micro_batch(const struct pricing *x, struct priced_run *run, int group)
{
    if (!problem_steps_each(x->problem)) return;
    run->backward_ns[group] += run->optimizer_ns[group];
    run->optimizer_ns[group] = 0;
}

enum status price_layer_times(struct pricing *x, int run, int group, struct error *err)
{
    const struct layer_run *layers = &x->problem->model.runs[run];
    const char *gpu = x->problem->cluster.groups[group].gpu;
    const struct layer_time *measured = find_layer_time(x, layers->name, gpu);
    real device_s = measured ? measured->optimizer_s : optimizer_s(x, layers, group),
         seconds = tiered_step_s(x, layers, group, 0, device_s, measured),
         gathered = grid_step_s(x, layers, group);
    for (int slice = 0; slice < x->priced->slice_count; slice++)
        TRY(price_slice(x, run, group, slice, err));
    const char *of = seconds < 1e6 ? layers->name
                                   : arena_print(x->arena, "run %s on group %s", layers->name,
                                                 x->problem->cluster.groups[group].name);
    struct priced_run *to = &x->priced->runs[run];
    for (int o = 0; o < to->tiered_count; o++)
        TRY(round_time(&to->tiered[o].optimizer_ns[group],
                       tiered_step_s(x, layers, group, o, device_s, measured) + gathered,
                       "optimizer time", of, err));
    TRY(price_swaps(x, run, group, of, err));
    TRY(price_energy(x, run, group, of, err));
    TRY(round_time(&to->optimizer_ns[group], seconds + gathered, "optimizer time", of, err));
    step_each_micro_batch(x, to, group);
    return OK;
}

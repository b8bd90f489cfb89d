// The terms of one layer's times in the priced document: whole nanoseconds of its passes, slice by
// slice, and of its step (docs/FORMULAS.md sections 3 and 4); and of layers that have another
// layout than their stage's (25, 26).

#include "formulate/price/pricing.h"

// The name of these terms in an error. It is only put together if a term will be refused: pricing
// thousands of configurations must not write it thousands of times.
static const char *name_of_terms(const struct pricing *x, const struct layer_run *run,
                                 const struct node_group *nodes, const struct layer_seconds *s)
{
    real sum = s->forward + s->backward + s->weight;
    for (int mode = 0; mode < x->modes; mode++) sum += s->again[mode];
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
    for (int mode = 0; mode < x->modes; mode++)
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

// ---- runs besides the model's own

// The head of a model that has this head for its own: the other problem's layers have no part.
static enum status price_local_head(const struct pricing *x, struct error *err)
{
    struct priced *priced = x->priced, other = *priced;
    int run;
    if (!job_has_local_head(&x->problem->job)) return OK;
    struct problem problem = problem_with_local_head(x->problem, &run, x->arena);
    other.runs = TAKE(x->arena, run + 1, struct priced_run);
    struct pricing y = pricing_of(&problem, &other, x->arena);
    TRY(price_run(&y, run, err));
    priced->local_heads = &other.runs[run];
    priced->local_head_count = 1;
    return OK;
}

// The runs of the layout that shards further, with its messages, which are the same.
static enum status price_sharded(const struct pricing *x, struct error *err)
{
    struct priced *priced = x->priced, other = *priced;
    if (!x->problem->job.sharded_zero) return OK;
    struct problem problem = problem_sharded(x->problem);
    other.runs = TAKE(x->arena, priced->run_count, struct priced_run);
    struct pricing y = pricing_of(&problem, &other, x->arena);
    for (int run = 0; run < priced->run_count; run++) {
        TRY(price_run(&y, run, err));
        other.runs[run].cut = priced->runs[run].cut;
    }
    priced->sharded_runs = other.runs;
    priced->sharded_run_count = priced->run_count;
    return OK;
}

// Whether every group that can hold a stage has a price for the vocabulary's layers, and links for
// their ranks, in the layout of y.
static bool may_have_degree(const struct pricing *x, const struct pricing *y)
{
    const struct model *m = &x->problem->model;
    for (int g = 0; g < x->priced->group_count; g++) {
        if (x->priced->groups[g].excluded) continue;
        if (!link_of_tensor_ranks(y, g).joined ||
            (has_replicas(y) && !link_of_gradient_sync(y, g).joined))
            return false;
        for (int run = 0; run < m->run_count; run++)
            if (run_has_vocabulary(&m->runs[run]) &&
                !find_layer_time(y, m->runs[run].name, x->problem->cluster.groups[g].gpu) &&
                (m->runs[run].kind == LAYER_MEASURED || !x->rates[g]))
                return false;
    }
    return true;
}

// Ranks of the layout x and of the vocabulary's, y, exchange what each needs of the others' values.
// Where tensor ranks hold the same values, those with less of the micro-batch gather the rest on
// the way to those with more, and the other way they have it already.
static real exchange_s(const struct pricing *x, const struct pricing *y,
                       const struct layer_run *run, int group, int slice, bool backward)
{
    real ranks = fmaxl(x->t / y->t, y->t / x->t),
         values = fmaxl(slice_of(x, slice).tokens, slice_of(y, slice).tokens) * x->h * x->e;
    bool into_more = (run->kind == LAYER_EMBEDDING) == (y->t < x->t);
    if (run->kind == LAYER_MEASURED) return 0; // as stated, with all that belongs to it
    if (x->problem->job.layout.sequence_parallel) values /= fmaxl(x->t, y->t);
    else if (into_more == backward) return 0;
    struct link_price link = link_of_tensor_ranks(x->t > y->t ? x : y, group);
    return (ranks - 1) / ranks * values / link.bytes_per_s + (ranks - 1) * link.latency_s +
           x->gpus[group]->collective_launch_s.value;
}

static enum status add_exchanges(const struct pricing *x, const struct pricing *y, int run,
                                 struct priced_run *to, struct error *err)
{
    const struct layer_run *of = &x->problem->model.runs[run];
    for (int g = 0; g < x->priced->group_count; g++) {
        if (x->priced->groups[g].excluded) continue;
        for (int slice = 0; slice < x->priced->slice_count; slice++) {
            int at = slice * x->priced->group_count + g;
            int64_t there, back = 0;
            TRY(round_time(&there, exchange_s(x, y, of, g, slice, false), "exchange", of->name,
                           err));
            if (run_has_gradient(x, of))
                TRY(round_time(&back, exchange_s(x, y, of, g, slice, true), "exchange", of->name,
                               err));
            to->forward_ns[at] += there, to->backward_ns[at] += back;
        }
    }
    return OK;
}

static enum status price_vocabulary(const struct pricing *x, struct error *err)
{
    struct priced *priced = x->priced;
    int degrees[VOCABULARY_DEGREES_MAX], count = problem_vocabulary_degrees(x->problem, degrees);
    if (!count) return OK;
    priced->vocabulary_runs = TAKE(x->arena, count * priced->run_count, struct priced_run);
    for (int i = 0; i < count; i++) {
        struct problem problem = problem_at_vocabulary(x->problem, degrees[i]);
        struct priced other = *priced;
        other.runs = TAKE(x->arena, priced->run_count, struct priced_run);
        struct pricing y = pricing_of(&problem, &other, x->arena);
        if (!may_have_degree(x, &y)) continue;
        for (int run = 0; run < priced->run_count; run++) {
            if (!run_has_vocabulary(&problem.model.runs[run])) continue;
            TRY(price_run(&y, run, err));
            other.runs[run].tensor = degrees[i], other.runs[run].cut = priced->runs[run].cut;
            TRY(add_exchanges(x, &y, run, &other.runs[run], err));
            priced->vocabulary_runs[priced->vocabulary_run_count++] = other.runs[run];
        }
    }
    return OK;
}

enum status price_other_runs(const struct pricing *x, struct error *err)
{
    x->priced->vocabulary_run_count = 0;
    TRY(price_local_head(x, err));
    TRY(price_sharded(x, err));
    return price_vocabulary(x, err);
}

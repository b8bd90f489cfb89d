// The quantities that all formulas share, from a problem's documents (docs/FORMULAS.md section 1).
#include <string.h>

#include "data/kinds/schedules.h"
#include "formulate/price/pricing.h"

void pricing_find_costs(struct pricing *x)
{
    const struct problem *problem = x->problem;
    x->links = NULL; // those kept were of other costs
    for (int i = 0; i < problem->cluster.group_count; i++) {
        x->gpus[i] = costs_find_gpu(&problem->costs, problem->cluster.groups[i].gpu);
        x->rates[i] = x->gpus[i] ? costs_find_precision(x->gpus[i], problem->job.precision) : NULL;
        const struct precision_costs *wide = x->gpus[i] &&
                                                     precision_is_narrow(problem->job.precision)
                                                 ? costs_find_precision(x->gpus[i], BF16)
                                                 : NULL;
        x->head_rates[i] = wide ? wide : x->rates[i];
    }
}

static void find_kinds(struct pricing *x)
{
    for (int i = 0; i < x->problem->model.run_count; i++) {
        const struct layer_run *run = &x->problem->model.runs[i];
        x->has_pool = x->has_pool || run->kind == LAYER_MEMORY;
        x->has_experts = x->has_experts || run->kind == LAYER_MOE;
        x->has_trained_experts = x->has_trained_experts || (run->kind == LAYER_MOE && !run->frozen);
    }
}

// The vocabulary is padded so that all tensor ranks have equal parts of it.
static real padded(const struct shape *shape, real t)
{
    real multiple = t * (real)(shape->vocabulary_multiple > 1 ? shape->vocabulary_multiple : 1);
    return ceill((real)shape->vocabulary / multiple) * multiple;
}

// Groups of ranks that share states; one where they are groups of one rank, which share nothing.
static int groups_of(const struct layout *l)
{
    int groups = l->zero ? l->data / layout_data_shard(l) : 1;
    bool alone = groups > 1 && layout_data_shard(l) * l->context == 1 &&
                 layout_expert_ranks(l) / l->expert == groups;
    return alone ? 1 : groups;
}

// With a pipeline, whole gradients accumulate and are scattered once, which is ZeRO 1, FSDP2's at
// ZeRO 3 too (PyTorch's stages turn its sums off). But DeepSpeed scatters them after every backward
// pass. Groups of one rank share nothing.
static int zero_of_steps(const struct job *job)
{
    if (layout_data_shard(&job->layout) < job->layout.data && groups_of(&job->layout) == 1)
        return 0;
    bool whole = job->layout.pipeline > 1 && job->trainer != TRAINER_DEEPSPEED;
    bool once = job->layout.zero == 2 ||
                (job->layout.zero == 3 && job->trainer == TRAINER_TORCHTITAN);
    return whole && once ? 1 : job->layout.zero;
}

// DeepSpeed's sharded gradients travel in the precision in which a backward pass makes them.
static bool scatters_as_made(const struct job *job)
{
    return job->trainer == TRAINER_DEEPSPEED && zero_of_steps(job) >= 2;
}

// Gathers by stage, if the schedule runs through the stages one by one; FSDP2 gathers by
// micro-batch even then. With uneven micro-batches there is no single number of micro-batches to
// divide the gathers by.
static bool shards_by_stages(const struct job *job)
{
    return schedule_kinds[job->layout.schedule].layered && zero_of_steps(job) >= 2 &&
           job->trainer != TRAINER_TORCHTITAN && !job->placement.uneven_micro_batches;
}

static void take_shape(struct pricing *x, const struct shape *shape)
{
    x->shape = shape;
    x->h = (real)shape->hidden, x->f = (real)shape->ffn, x->a = (real)shape->heads,
    x->w = (real)shape->head_width;
    x->q = x->a * x->w, x->kv = (real)shape->kv_heads * x->w, x->g = shape->gated_ffn ? 3 : 2;
    x->held = fmaxl(x->kv, x->t * x->w * (x->t1 > (real)shape->kv_heads));
    x->ctx = x->a * (real)shape_value_width(shape);
}

// Each sequence of the micro-batch brings `pieces` pieces of `tokens` tokens.
static void take_tokens(struct pricing *x, int64_t tokens, int64_t pieces)
{
    const struct layout *layout = &x->problem->job.layout;
    x->tokens = tokens, x->pieces = pieces;
    x->b = (real)layout->micro_batch / layout_tensor_axis(layout, 2) * (real)(pieces ? pieces : 1);
    x->s = (real)(tokens ? tokens : x->problem->job.sequence);
    x->n = x->b * x->s / x->c;
}

const struct pricing *pricing_of_run(const struct pricing *x, const struct layer_run *run,
                                     struct pricing *own)
{
    const struct shape *shape = run_shape(&x->problem->model, run);
    if (shape == x->shape && run->tokens == x->tokens && run->pieces == x->pieces) return x;
    *own = *x;
    take_shape(own, shape);
    take_tokens(own, run->tokens, run->pieces);
    return own;
}

// The modes before sets of modules always count.
static int modes_of(const struct job *job)
{
    int last = RECOMPUTE_COUNT - 1;
    while (last >= RECOMPUTE_SETS && !job->recompute[last]) last--;
    return last + 1;
}

struct pricing pricing_of(const struct problem *problem, struct priced *priced, struct arena *arena)
{
    const struct layout *layout = &problem->job.layout;
    const struct shape *shape = &problem->model.shape;
    struct pricing x = {
        .problem = problem,
        .priced = priced,
        .arena = arena,
        .shape = shape,
        .c = layout->context,
        .t = layout->tensor,
        .grid = layout_has_grid(layout),
        .t1 = layout_tensor_axis(layout, 0),
        .t2 = layout_tensor_axis(layout, 1),
        .t3 = layout_tensor_axis(layout, 2),
        .d = layout->data,
        .p = layout->pipeline,
        .x = layout->expert > 1 ? layout->expert : 1,
        .t_e = layout_expert_tensor(layout),
        .m = (real)(problem->job.global_batch / ((int64_t)layout->data * layout->micro_batch)),
        .zero = zero_of_steps(&problem->job),
        .regathers = layout->zero == 3 && zero_of_steps(&problem->job) == 1,
        .layered = shards_by_stages(&problem->job),
        .overlapped = layout->gradient_sync == SYNC_OVERLAPPED,
        .e = precision_bytes(problem->job.precision),
        .e_g = problem->job.gradient_bytes_per_value};
    x.e_w = scatters_as_made(&problem->job) ? fminl(x.e, x.e_g) : x.e_g;
    if (problem->model.has_shape) {
        take_shape(&x, shape);
        x.v = padded(shape, x.t), x.h_e = (real)shape_embedding_width(shape);
        x.streams = model_crosses(&problem->model) ? 2 : 1;
        x.predicted = 1 + model_mtp_depth(&problem->model);
    }
    take_tokens(&x, 0, 0);
    x.modes = modes_of(&problem->job);
    x.u = 1 / (layout->sequence_parallel ? x.t1 * x.t2 : x.t2);
    x.R = x.d * x.c;
    x.D = x.t * x.c * x.d;
    x.R_e = x.D / (x.t_e * x.x);
    x.R_C = groups_of(layout);
    x.R_S = x.R / x.R_C, x.R_Se = x.R_e / x.R_C;
    find_kinds(&x);
    pricing_find_costs(&x);
    return x;
}

struct kept_layer *kept_of(const struct pricing *x, const struct layer_run *run, int group,
                           int slice)
{
    const struct problem *p = x->problem;
    int64_t at = (run - p->model.runs) * p->cluster.group_count + group;
    return x->kept ? &x->kept[at * p->job.layout.slice_count + slice] : NULL;
}

const struct estimate *step_factor_of(const struct pricing *x, int group)
{
    const struct gpu_costs *gpu = x->gpus[group];
    enum trainer trainer = x->problem->job.trainer;
    const struct estimate *factor = trainer == TRAINER_DEEPSPEED ? &gpu->deepspeed_step_factor
                                                                 : &gpu->megatron_step_factor;
    if (trainer == TRAINER_OTHER && gpu->other_step_factor.value > 0)
        factor = &gpu->other_step_factor;
    bool sharded = x->zero == 3 || trainer == TRAINER_TORCHTITAN;
    return sharded && gpu->sharded_step_factor.value > 0 ? &gpu->sharded_step_factor : factor;
}

bool price_factor_was_fitted(const struct problem *problem)
{
    const struct estimate *spread = &problem->costs.iteration_spread;
    if (spread->origin != ORIGIN_FITTED || !(spread->value > 0)) return false;
    struct pricing x = pricing_of(problem, NULL, NULL);
    for (int i = 0; i < problem->cluster.group_count; i++)
        if (x.gpus[i] && step_factor_of(&x, i)->origin != ORIGIN_FITTED) return false;
    return true;
}

// ---- what was measured at the degrees of the layout

static bool fits(int64_t measured_at, int asked) { return !measured_at || measured_at == asked; }

const struct layer_time *find_layer_time(const struct pricing *x, const char *run, const char *gpu)
{
    const struct costs *costs = &x->problem->costs;
    const struct layout *layout = &x->problem->job.layout;
    for (int i = 0; i < costs->layer_time_count; i++) {
        const struct layer_time *l = &costs->layer_times[i];
        if (fits(l->tensor, layout->tensor) && fits(l->micro_batch, layout->micro_batch) &&
            fits(l->context, layout->context) && fits(l->data, layout->data) &&
            fits(l->zero, layout->zero) && !strcmp(l->run, run) && !strcmp(l->gpu, gpu) &&
            !layout_has_grid(layout))
            return l;
    }
    return NULL;
}

const struct measured_bytes *find_measured(const struct pricing *x, const struct layer_run *run)
{
    const struct layout *layout = &x->problem->job.layout;
    for (int i = 0; i < run->measured.by_degrees_count; i++) {
        const struct measured_bytes *m = &run->measured.by_degrees[i];
        if (fits(m->tensor, layout->tensor) && fits(m->context, layout->context) &&
            fits(m->data, layout->data) && fits(m->micro_batch, layout->micro_batch) &&
            fits(m->zero, layout->zero))
            return m;
    }
    return &run->measured;
}

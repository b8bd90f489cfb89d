// The work of one forward pass over a layer on one device: FLOP of its matrices and of attention,
// and bytes of what is bound by memory. docs/FORMULAS.md section 3.

#include "formulate/price/adapters.h"

struct slice slice_of(const struct pricing *x, int slice)
{
    const struct layout *layout = &x->problem->job.layout;
    real length = x->s, before = 0;
    if (layout->slice_count > 1) {
        length = (real)layout->slices[slice];
        for (int i = 0; i < slice; i++) before += (real)layout->slices[i];
    }
    return (struct slice){.tokens = x->b * length / x->c,
                          .score_cells = x->b * length * ((before + length) / x->c),
                          .causal_cells = x->b * length * ((before + length / 2) / x->c),
                          .wasted_cells = x->b * length * (64 / x->c),
                          .share = length / x->s,
                          .length = length,
                          .before = before,
                          .index = slice};
}

real times_of(const struct pricing *x, const struct layer_run *run)
{
    return run->kind == LAYER_HEAD ? x->predicted : 1;
}

// What narrowing a value moves: read, written for one direction of the products or for both, and
// before that read for the largest magnitude where one scale is of the whole matrix
// (docs/FORMULAS.md 3).
static real narrowing_bytes(enum precision p)
{
    switch (p) {
    case FP8: return 4;
    case NVFP4: return 7;
    default: return precision_is_narrow(p) ? 6 : 0;
    }
}

// Inputs of the matrices, written once more in fewer bits and read again.
static real cast_bytes(const struct pricing *x, const struct layer_run *run, real n, real ffn)
{
    real each = narrowing_bytes(x->problem->job.precision);
    if (each == 0) return 0;
    struct attention y = attention_of(x, run);
    return each * n *
           ((parts_of(run) + (run->mtp ? 2 : 0)) * x->h + y.read.whole +
            (y.read.sharded + ffn) / x->t);
}

// FLOP of the layer's products, and bytes of their inputs, weights and outputs.
static void add_products(const struct pricing *x, const struct layer_run *run, real n,
                         struct layer_work *work)
{
    struct product products[PRODUCTS_MAX];
    int count = products_of(x, run, n, products);
    real times = times_of(x, run);
    for (int i = 0; i < count; i++) {
        const struct product *p = &products[i];
        real flop = 2 * times * p->count * p->rows * p->columns * p->depth;
        work->linear += flop;
        if (p->of_experts) work->routed += flop;
        if (p->reads) work->reading[p->reads - 1] += flop;
        work->operands += x->e * times * p->count *
                          (p->rows * p->depth + p->depth * p->columns + p->rows * p->columns);
    }
}

// Norms and residuals of the whole token; for a further token's layer also its embedding and the
// concatenation for the projection; then norms of queries and keys or of latents.
static real norm_bytes(const struct pricing *x, const struct layer_run *run, real n)
{
    struct attention y = attention_of(x, run);
    real passes = 3 * parts_of(run) + 2 * norms_of(x, run) + (run->mtp ? 6 : 0);
    return n * x->e * (passes * x->h * x->u + y.moved.whole + y.moved.sharded / x->t);
}

// PyTorch's own operations, one kernel each. An RMS norm in fp32 takes 18 passes over the values
// where a fused one takes 2, the rotation of queries and keys takes 10, and a gated activation 5
// where a fused one takes 3.
static real eager_bytes(const struct pricing *x, const struct layer_run *run, real n, real ffn)
{
    const struct shape *s = x->shape;
    const struct job *j = &x->problem->job;
    bool norm = s->rms_norm && job_unfused(j, UNFUSED_NORMS),
         turn = !s->positions && job_unfused(j, UNFUSED_ROTARY),
         gate = s->gated_ffn && job_unfused(j, UNFUSED_ACTIVATION);
    real norms = norm ? 16 * norms_of(x, run) * x->h * x->u : 0,
         turned = turn ? 10 * attention_of(x, run).rotated / x->t1 : 0,
         gates = gate ? 2 * ffn / x->t1 : 0;
    return x->e * n * (norms + turned + gates);
}

real row_copies(const struct pricing *x, const struct layer_run *run)
{
    bool sorted = x->problem->job.dispatcher == DISPATCH_ALL_TO_ALL && x->x > 1 &&
                  (real)run->experts.experts > x->x;
    return sorted ? 8 : 4;
}

// Kernels of PyTorch's own, one per step, unless experts are one fused kernel.
static bool adds_biases(const struct pricing *x, const struct layer_run *run)
{
    return job_like_megatron(&x->problem->job) && run_has_expert_biases(x->shape, run);
}

real clamp_bytes(const struct pricing *x, const struct layer_run *run)
{
    return adds_biases(x, run) ? 8 * x->e * (real)run->experts.ffn / x->t_e : 0;
}

real bias_bytes(const struct pricing *x, const struct layer_run *run)
{
    return adds_biases(x, run) ? (24 + 2 * x->e) * x->h : 0;
}

// ---- adapters

static real wide_side(const struct pricing *x, enum adapter_module module)
{
    switch (module) {
    case ADAPTER_QUERY:
    case ADAPTER_OUTPUT: return x->q;
    case ADAPTER_KEY:
    case ADAPTER_VALUE: return x->kv;
    case ADAPTER_QKV: return x->q + 2 * x->kv;
    case ADAPTER_GATE_UP: return 2 * x->f;
    default: return x->f;
    }
}

struct adapters adapters_of(const struct pricing *x, const struct layer_run *run)
{
    struct adapters all = {0, 0, 0, 0};
    for (int i = 0; i < ADAPTER_MODULE_COUNT; i++) {
        bool back = i == ADAPTER_OUTPUT || i == ADAPTER_DOWN;
        real wide = wide_side(x, (enum adapter_module)i);
        if (!run_adapts(run, x->shape, (enum adapter_module)i)) continue;
        all.count += 1, all.wide += wide;
        *(back ? &all.narrower : &all.readers) += back ? wide : 1;
    }
    return all;
}

// The hidden side is scattered as tokens are, the wide one as the matrix is.
static void add_adapters(const struct pricing *x, const struct layer_run *run, real n,
                         struct layer_work *work)
{
    struct adapters all = adapters_of(x, run);
    work->adapted = all.count;
    work->adapters = 2 * n * run->adapter_rank * (all.count * x->h + all.wide) / x->t;
    for (int i = 0; i < ADAPTER_MODULE_COUNT; i++) {
        bool back = i == ADAPTER_OUTPUT || i == ADAPTER_DOWN;
        real token = x->e * n * x->h * x->u,
             wide = x->e * n * wide_side(x, (enum adapter_module)i) / x->t;
        if (!run_adapts(run, x->shape, (enum adapter_module)i)) continue;
        work->adapters_read += back ? wide : token;
        work->adapters_made += back ? token : wide;
    }
}

static real stated(const struct estimate *e, real otherwise)
{
    return e->value > 0 ? e->value : otherwise;
}

// Two products, their result scaled and added; of their gradients two products are for inputs, two
// for weights.
struct product_seconds adapter_times(const struct pricing *x, const struct layer_run *run,
                                     const struct layer_work *work, int group)
{
    const struct gpu_costs *gpu = x->gpus[group];
    const struct precision_costs *rates = rates_of_run(x, run, group);
    real read = work->adapters_read, made = work->adapters_made,
         memory = gpu->memory_bytes_per_s.value, rate = rates->gemm_flop_per_s.value,
         back = stated(&gpu->backward_memory_bytes_per_s, memory), products = 0, steps = 0;
    if (x->rates[group]->product_flop_per_s.value > 0) {
        products = 2 * work->adapted * gpu->product_launch_s.value;
        steps = 2 * work->adapted * gpu->elementwise_launch_s.value;
    }
    return (struct product_seconds){
        work->adapters / rate + (read + 6 * made) / memory + products + steps,
        work->adapters / stated(&rates->data_gradient_flop_per_s, rate) +
            (4 * read + 3 * made) / back + products + steps,
        work->adapters / stated(&rates->weight_gradient_flop_per_s, rate) + (read + made) / back +
            products,
        {0},
        {0}};
}

static struct layer_work work_of_block(const struct pricing *x, const struct layer_run *run,
                                       const struct slice *slice)
{
    real n = slice->tokens;
    struct layer_work work = {.memory = norm_bytes(x, run, n),
                              .memory_back = n * x->e * attention_of(x, run).moved_back / x->t};
    add_products(x, run, n, &work);
    add_adapters(x, run, n, &work);
    if (run->kind == LAYER_MOE) {
        const struct expert_shape *e = &run->experts;
        real routed = n * (real)e->top_k * rows_multiplied(x, run), ffn = (real)e->ffn,
             shared = (real)e->shared_ffn;
        work.memory +=
            x->g * n * shared * x->e / x->t + x->g * routed * ffn * x->e / x->t +
            row_copies(x, run) * routed * x->t_e / x->t * (real)expert_width(x->shape, e) * x->e +
            routed * x->t_e / x->t * (clamp_bytes(x, run) + bias_bytes(x, run)) +
            8 * n * (real)e->experts / x->t + eager_bytes(x, run, n, shared + routed / n * ffn);
        work.casts = cast_bytes(x, run, n, shared + routed / n * ffn);
    } else {
        real ffn = ffn_of(x, run);
        work.memory += x->g * n * ffn * x->e / x->t1 + eager_bytes(x, run, n, ffn);
        work.casts = cast_bytes(x, run, n, ffn);
    }
    add_attention(x, run, slice, &work);
    return work;
}

// Query, scores of both halves, weighted sum of the values found, output. The values themselves are
// only read.
static struct layer_work work_of_pool(const struct pricing *x, const struct layer_run *run,
                                      const struct slice *slice)
{
    const struct pool_shape *p = &run->pool;
    real n = slice->tokens / x->t, heads = (real)p->heads, keys = sqrtl((real)p->values),
         key = (real)p->key_width, width = (real)p->width, top = (real)p->top_k;
    struct layer_work work = {.weightless = 2 * n * heads * top * width,
                              .gathered = n * heads * top * width * frozen_value_bytes(x, run)};
    work.linear = 2 * n *
                  (x->h * heads * key + heads * keys * key + heads * top * width + width * x->h +
                   (p->gated ? x->h * width : 0));
    work.memory = 2 * slice->tokens * x->h * x->e * x->u + work.gathered +
                  n * (8 * heads * keys + width * x->e) + keys * heads * key * x->e;
    return work;
}

static struct layer_work work_of_projector(const struct pricing *x, const struct layer_run *run,
                                           real n)
{
    const struct projector_shape *p = &run->projector;
    struct layer_work work = {
        .memory = x->e * n * ((real)(p->inputs + p->outputs) * x->u + 2 * (real)p->inner / x->t)};
    add_products(x, run, n, &work);
    return work;
}

struct layer_work work_of_layer(const struct pricing *x, const struct layer_run *run,
                                const struct slice *slice)
{
    if (is_layered(run)) return work_of_block(x, run, slice);
    if (run->kind == LAYER_MEMORY) return work_of_pool(x, run, slice);
    if (run->kind == LAYER_PROJECTOR) return work_of_projector(x, run, slice->tokens);
    struct layer_work work = {.memory = 2 * slice->tokens * x->h * x->e * x->u};
    if (run->kind == LAYER_HEAD) {
        add_products(x, run, slice->tokens, &work);
        work.memory += 12 * slice->tokens * x->v / (x->problem->job.gathered_logits ? 1 : x->t1);
        work.memory *= x->predicted;
    }
    return work;
}

// Router and dispatch beside the rest; a device's experts one by one, or at once.
real mixture_launch_s(const struct pricing *x, const struct layer_run *run, int group, real rest)
{
    const struct gpu_costs *gpu = x->gpus[group];
    real experts = groups_experts(x, run)
                       ? 1
                       : (real)run->experts.experts / x->problem->job.layout.expert,
         launch = rest + gpu->mixture_launch_s.value +
                  experts * x->rates[group]->expert_launch_s.value;
    bool in_turn = x->problem->job.overlapped_dispatch && x->problem->job.layout.expert > 1;
    return in_turn ? launch * estimate_or(&gpu->paired_launch_factor, 1) : launch;
}

// Sets of Megatron's recompute modules: what each module of a layer frees of its activations, and
// the time in which it is computed again. docs/FORMULAS.md section 5, Recompute modules.

#include "formulate/price/adapters.h"

// Norms whose outputs products read, and the encoder's output is none of these.
static real norms_read(const struct pricing *x, const struct layer_run *run)
{
    bool one = !run_is_whole(run) || (x->shape->parallel_residual && shape_norms(x->shape) == 1);
    return (one ? 1 : 2) + (run->cross_attention ? 1 : 0);
}

real inputs_of_products(const struct pricing *x, const struct layer_run *run)
{
    bool read[2] = {false, false};
    static const bool of_ffn[ADAPTER_MODULE_COUNT] = {
        [ADAPTER_GATE] = true, [ADAPTER_UP] = true, [ADAPTER_GATE_UP] = true};
    if (!run->frozen || run->kind != LAYER_BLOCK) return norms_read(x, run);
    for (int i = 0; i < ADAPTER_MODULE_COUNT; i++)
        if (i != ADAPTER_OUTPUT && i != ADAPTER_DOWN &&
            run_adapts(run, x->shape, (enum adapter_module)i))
            read[of_ffn[i]] = true;
    return run->adapter_dropout ? 0 : fminl(norms_read(x, run), read[0] + read[1]);
}

bool keeps_last_input(const struct pricing *x, const struct layer_run *run)
{
    return !run->frozen || run->kind != LAYER_BLOCK ||
           (run_adapts(run, x->shape, ADAPTER_DOWN) && !run->adapter_dropout);
}

// Rows of experts that a rank gathers.
static real routed_tokens(const struct pricing *x, const struct layer_run *run, real tokens)
{
    return tokens * (real)run->experts.top_k * rows_multiplied(x, run) * x->t_e / x->t;
}

// Values of queries, keys and values that are projected up from latents.
static real projected_up(const struct pricing *x, const struct layer_run *run)
{
    struct attention y = attention_of(x, run);
    return x->shape->kv_rank && y.scores > 0 ? y.scores * x->q + y.sent : 0;
}

// Bytes of one micro-batch. Fused attention keeps nothing that core_attn would free, except what
// its output's product reads; narrow training keeps inputs of products in fewer bits.
static real freed_bytes(const struct pricing *x, const struct layer_run *run,
                        enum recompute_module module, real scores)
{
    bool moe = run->kind == LAYER_MOE,
         narrow = precision_is_narrow(x->problem->job.precision) && !run->frozen;
    real spare = narrow ? x->e - precision_narrow_bytes(x->problem->job.precision) : 0;
    real kept = kept_of_ffn(x), made = made_of_ffn(x), ffn = ffn_of(x, run),
         norms = inputs_of_products(x, run), routed = moe ? routed_tokens(x, run, x->n) : 0,
         wide = (real)run->experts.ffn / x->t_e, each = (real)expert_width(x->shape, &run->experts),
         dense = x->n * ffn * (x->e * (kept - !keeps_last_input(x, run)) / x->t1 - spare / x->t);
    switch (module) {
    case MODULE_CORE_ATTN: return scores;
    case MODULE_MLA_UP_PROJ: return x->e * x->n * projected_up(x, run) / x->t1;
    case MODULE_LAYERNORM:
        return x->n * x->h * x->u * (x->e * norms - spare * (moe && ffn == 0 ? 1 : norms));
    case MODULE_MLP: return moe ? 0 : dense;
    case MODULE_MOE_ACT: return routed * wide * (x->e * (kept - made) - spare);
    default:
        return moe ? dense + routed * (x->e * (2 * each + kept * wide) - spare * (each + wide)) +
                         8 * x->n * (real)(run->experts.experts + run->experts.top_k) / x->t
                   : 0;
    }
}

void module_bytes(const struct pricing *x, const struct layer_run *run, real scores, real *stash,
                  real *again)
{
    for (int mode = RECOMPUTE_SETS; mode < x->modes; mode++) {
        if (!x->problem->job.recompute[mode]) continue;
        stash[mode] = stash[RECOMPUTE_NONE], again[mode] = 0;
        for (int module = 0; module < MODULE_COUNT; module++) {
            if (!recompute_repeats((enum recompute)mode, (enum recompute_module)module)) continue;
            real freed = freed_bytes(x, run, (enum recompute_module)module, scores);
            stash[mode] -= freed;
            again[mode] = fmaxl(again[mode], freed);
        }
    }
}

// The products of a module, the bytes that its other kernels move, and how many kernels those are.
struct repeated {
    enum module_products part;
    real bytes, kernels;
};
static struct repeated repeated_by(const struct pricing *x, const struct layer_run *run,
                                   enum recompute_module module, real n)
{
    const struct expert_shape *e = &run->experts;
    bool moe = run->kind == LAYER_MOE;
    real ffn = ffn_of(x, run), routed = moe ? routed_tokens(x, run, n) : 0,
         wide = (real)e->ffn / x->t_e, each = (real)expert_width(x->shape, e),
         norms = norms_read(x, run);
    struct repeated none = {OF_NONE, 0, 0}, dense = {OF_FFN, x->g * n * ffn * x->e / x->t1, 1};
    switch (module) {
    case MODULE_CORE_ATTN: return none; // attention's own time
    case MODULE_MLA_UP_PROJ: return (struct repeated){OF_LATENTS, 0, 0};
    case MODULE_LAYERNORM:
        return (struct repeated){OF_NONE, 2 * norms * n * x->h * x->u * x->e, norms};
    case MODULE_MLP: return moe || run->no_feed_forward ? none : dense;
    case MODULE_MOE_ACT:
        if (!moe) return none;
        return (struct repeated){OF_NONE, routed * (x->g * wide * x->e + clamp_bytes(x, run)), 1};
    default:
        if (!moe) return none;
        return (struct repeated){OF_FFN,
                                 dense.bytes + x->g * routed * wide * x->e +
                                     row_copies(x, run) * routed * each * x->e +
                                     routed * (clamp_bytes(x, run) + bias_bytes(x, run)) +
                                     8 * n * (real)e->experts / x->t,
                                 5};
    }
}

void module_seconds(const struct pricing *x, const struct layer_run *run, int group,
                    const struct slice *slice, real factor, real *again)
{
    const struct gpu_costs *gpu = x->gpus[group];
    bool moe = run->kind == LAYER_MOE, shaped = x->rates[group]->product_flop_per_s.value > 0;
    real products[OF_COUNT];
    if (x->modes <= RECOMPUTE_SETS) return;
    module_parts_s(x, run, slice->tokens, group, products);
    for (int mode = RECOMPUTE_SETS; mode < x->modes; mode++) {
        real compute = 0, sent = 0;
        bool attention = recompute_repeats((enum recompute)mode, MODULE_CORE_ATTN),
             ffn = recompute_repeats((enum recompute)mode, moe ? MODULE_MOE : MODULE_MLP);
        if (!x->problem->job.recompute[mode]) continue;
        for (int module = 0; module < MODULE_COUNT; module++) {
            if (!recompute_repeats((enum recompute)mode, (enum recompute_module)module)) continue;
            struct repeated r = repeated_by(x, run, (enum recompute_module)module, slice->tokens);
            compute += products[r.part] + r.bytes / gpu->memory_bytes_per_s.value;
            if (shaped) compute += r.kernels * gpu->elementwise_launch_s.value;
        }
        if (ffn && !run->no_feed_forward) sent = ffn_communication_s(x, run, group, slice);
        again[mode] = factor * compute + sent + (attention ? again[RECOMPUTE_SELECTIVE] : 0);
    }
}

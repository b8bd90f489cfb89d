// What Megatron frees with recompute modules, and what running them again takes, as the judge
// reads it from docs/FORMULAS.md, section 5.
#include "solve/judge/price/passes.h"

static bool has_module(enum recompute set, enum recompute_module module)
{
    return recompute_repeats(set, module);
}

// Bytes less for a value that a product reads, where products are in few bits.
static long double spared(const struct price_audit *a, const struct layer_run *r)
{
    enum precision p = a->problem->job.precision;
    return precision_is_narrow(p) && !r->frozen ? a->value_bytes - precision_narrow_bytes(p) : 0;
}

// Norms in front of attention and of the feed-forward part: one for both in a parallel residual
// with a single norm; one more in front of a second attention.
static int norms_in_front(const struct price_audit *a, const struct layer_run *r)
{
    const struct shape *s = &a->problem->model.shape;
    return judged_parts(r) - (s->parallel_residual && s->norms == 1 ? 1 : 0);
}

// A dense feed-forward part: its tensors; the input of its last product in few bits where products
// are; without
// that input if the product is frozen and has no adapter.
static long double dense_freed(const struct price_audit *a, const struct layer_run *r)
{
    int tensors = inner_tensors(a) - (last_input_kept(a, r) ? 0 : 1);
    long double each = a->value_bytes * tensors - spared(a, r);
    return a->tokens * shared_width(a, r) * each / layout_of(a)->tensor;
}

static long double norms_freed(const struct price_audit *a, const struct layer_run *r)
{
    const struct shape *s = &a->problem->model.shape;
    bool unshared = r->kind == LAYER_MOE && !r->experts.shared_ffn;
    int norms = norms_in_front(a, r), narrow = unshared ? 1 : norms;
    if (r->frozen && r->kind == LAYER_BLOCK) norms = adapted_inputs(a, r);
    return a->tokens * s->hidden * a->share * (a->value_bytes * norms - narrow * spared(a, r));
}

// Queries, keys and values with all heads, from the latents.
static long double latents_freed(const struct price_audit *a, int run)
{
    int times = judged_attention(a, run).scored;
    if (!a->problem->model.shape.kv_rank || !times) return 0;
    return a->value_bytes * a->tokens * times * (a->query + a->key + a->summed) /
           layout_of(a)->tensor;
}

// What experts multiply after their activation; with a gate that is not fused with it also the
// activation itself.
static long double activations_freed(const struct price_audit *a, const struct layer_run *r)
{
    long double each = a->value_bytes * (inner_tensors(a) - activation_inputs(a));
    return gathered_tokens(a, r) * r->experts.ffn / (long double)a->expert_parts *
           (each - spared(a, r));
}

static long double mixture_freed(const struct price_audit *a, const struct layer_run *r)
{
    long double narrow = judged_expert_reads(a, r) +
                         (long double)r->experts.ffn / (long double)a->expert_parts;
    return dense_freed(a, r) + expert_stash(a, r) - spared(a, r) * gathered_tokens(a, r) * narrow;
}

struct judged_set judged_set_bytes(const struct price_audit *a, int run, enum recompute set)
{
    const struct layer_run *r = run_of(a, run);
    bool moe = r->kind == LAYER_MOE;
    long double freed[MODULE_COUNT] = {
        [MODULE_CORE_ATTN] = score_stash(a, run),
        [MODULE_LAYERNORM] = norms_freed(a, r),
        [MODULE_MLA_UP_PROJ] = latents_freed(a, run),
        [MODULE_MLP] = moe ? 0 : dense_freed(a, r),
        [MODULE_MOE_ACT] = moe ? activations_freed(a, r) : 0,
        [MODULE_MOE] = moe ? mixture_freed(a, r) : 0,
    };
    struct judged_set x = {0, 0};
    for (int m = 0; m < MODULE_COUNT; m++) {
        if (!has_module(set, (enum recompute_module)m)) continue;
        x.freed += freed[m];
        x.most = greatest(x.most, freed[m]);
    }
    return x;
}

// Products run by themselves; other kernels move bytes; a feed-forward part also sends again.
// Attention is that of selective recomputation.
struct computed judged_set_s(const struct price_audit *a, int run, int group, struct piece p,
                             enum recompute set, const struct work *w, const struct talk *talk)
{
    const struct layer_run *r = run_of(a, run);
    const struct shape *s = &a->problem->model.shape;
    const struct gpu_costs *gpu = gpu_of(a, group);
    bool moe = r->kind == LAYER_MOE,
         whole = !r->no_feed_forward && has_module(set, moe ? MODULE_MOE : MODULE_MLP);
    long double t = layout_of(a)->tensor, h = s->hidden, n = p.tokens, e = a->value_bytes,
                products = 0, bytes = 0, kernels = 0, experts = 0;
    struct judged_biases biases = {0, 0};
    long double gathered = 0;
    if (moe) {
        biases = judged_biases_of(a, r);
        gathered = n * r->experts.top_k * (long double)a->expert_parts / t *
                   judged_rows(a, r, MULTIPLIED);
    }
    if (moe) experts = n * r->experts.top_k * r->experts.ffn / t * judged_rows(a, r, MULTIPLIED);
    if (whole) {
        products += feed_forward_s(a, run, group, n);
        bytes += e * a->gates * (n * shared_width(a, r) / t + experts);
        kernels += 1;
    }
    if (whole && moe) {
        bytes += gathered * (biases.clamped + biases.added);
        bytes += judged_row_copies(a, &r->experts) * e * judged_expert_reads(a, r) * n *
                     r->experts.top_k * (long double)a->expert_parts / t *
                     judged_rows(a, r, MULTIPLIED) +
                 8 * n * r->experts.experts / t;
        kernels += 4;
    }
    if (has_module(set, MODULE_MOE_ACT) && moe)
        bytes += e * a->gates * experts + gathered * biases.clamped, kernels += 1;
    if (has_module(set, MODULE_LAYERNORM)) {
        bytes += 2 * norms_in_front(a, r) * e * n * h * a->share;
        kernels += norms_in_front(a, r);
    }
    if (has_module(set, MODULE_MLA_UP_PROJ) && latents_freed(a, run) > 0)
        products += latents_up_s(a, run, group, n);
    long double seconds = products + bytes / gpu->memory_bytes_per_s.value;
    if (rates_of(a, group)->product_flop_per_s.value > 0)
        seconds += kernels * gpu->elementwise_launch_s.value;
    if (has_module(set, MODULE_CORE_ATTN)) seconds += w->repeated;
    return (struct computed){w->step_factor * w->forward_factor * seconds +
                                 (whole ? talk->ffn.value : 0),
                             whole ? talk->ffn.lost : 0};
}

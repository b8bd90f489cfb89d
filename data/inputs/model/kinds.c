// Layers other than the dense block: mixtures of experts, memory layers, frozen blocks with
// adapters or quantised weights. Their keys in a model; docs/FORMULAS.md sections 3 to 5 define
// their costs.
#include "data/inputs/model/internal.h"

#include <string.h>

const char *const layer_kind_names[] = {"embedding", "block",  "head",      "measured",
                                        "moe",       "memory", "projector", NULL};

enum { ADAPTER_RANK_MAX = 65536, TOP_K_MAX = 65536 };
#define WIDTH_MAX 4194304        // 2^22
#define VALUES_MAX 1099511627776 // 2^40
#define IMBALANCE_MAX 1e6
#define SCALE_MAX 1e6

const char *const router_score_names[] = {"softmax", "sigmoid", NULL};

static const struct expert_shape experts_initial = {.imbalance = 1};

static const struct member experts_rows[] = {
    KEY_COUNT(expert_shape, experts, REQUIRED, ALWAYS_WRITTEN, 1, EXPERTS_MAX),
    KEY_COUNT(expert_shape, top_k, REQUIRED, ALWAYS_WRITTEN, 1, EXPERTS_MAX),
    KEY_COUNT(expert_shape, ffn, REQUIRED, ALWAYS_WRITTEN, 1, WIDTH_MAX),
    KEY_COUNT(expert_shape, latent, OPTIONAL, IF_SET, 0, WIDTH_MAX),
    KEY_COUNT(expert_shape, shared_ffn, OPTIONAL, ALWAYS_WRITTEN, 0, WIDTH_MAX),
    KEY_BOOL(expert_shape, shared_gate, OPTIONAL, IF_SET),
    KEY_NUMBER(expert_shape, imbalance, OPTIONAL, ALWAYS_WRITTEN, 1, IMBALANCE_MAX),
    KEY_NAME(expert_shape, router_score, OPTIONAL, IF_SET, router_score_names),
    KEY_BOOL(expert_shape, router_all, OPTIONAL, IF_SET),
    KEY_BOOL(expert_shape, router_bias, OPTIONAL, IF_SET),
    KEY_COUNT(expert_shape, router_groups, OPTIONAL, IF_SET, 0, ROUTER_GROUPS_MAX),
    KEY_COUNT(expert_shape, router_top_groups, OPTIONAL, IF_SET, 0, ROUTER_GROUPS_MAX),
    KEY_NUMBER(expert_shape, router_scale, OPTIONAL, IF_SET, 0, SCALE_MAX),
};
MEMBERS(experts, struct expert_shape, &experts_initial, true, NULL);

static const struct member pool_rows[] = {
    KEY_COUNT(pool_shape, values, REQUIRED, ALWAYS_WRITTEN, 1, VALUES_MAX),
    KEY_COUNT(pool_shape, width, REQUIRED, ALWAYS_WRITTEN, 1, WIDTH_MAX),
    KEY_COUNT(pool_shape, heads, REQUIRED, ALWAYS_WRITTEN, 1, TOP_K_MAX),
    KEY_COUNT(pool_shape, key_width, REQUIRED, ALWAYS_WRITTEN, 1, WIDTH_MAX),
    KEY_COUNT(pool_shape, top_k, REQUIRED, ALWAYS_WRITTEN, 1, TOP_K_MAX),
    KEY_BOOL(pool_shape, gated, OPTIONAL, ALWAYS_WRITTEN),
    KEY_BOOL(pool_shape, shared, OPTIONAL, IF_SET),
};
MEMBERS(pool, struct pool_shape, NULL, true, NULL);

static bool is_square(int64_t x)
{
    int64_t root = (int64_t)llround(sqrt((double)x));
    return root * root == x;
}

const char *router_fault(const struct expert_shape *e)
{
    bool sigmoid = e->router_score == ROUTER_SIGMOID;
    int64_t groups = e->router_groups;
    if (e->router_all && sigmoid) return "router_all: expected router_score softmax";
    if (e->router_bias && !sigmoid) return "router_bias: expected router_score sigmoid";
    if ((groups > 0) != (e->router_top_groups > 0))
        return "router_groups: expected router_top_groups, too";
    if (groups && e->experts % groups) return "router_groups: expected a divisor of experts";
    if (e->router_top_groups > groups) return "router_top_groups: expected at most router_groups";
    return groups && e->experts / groups * e->router_top_groups < e->top_k
               ? "router_top_groups: expected groups that have top_k experts together"
               : NULL;
}

static enum status check_experts(const struct expert_shape *e, struct error *err)
{
    struct expert_shape stated = *e;
    if (stated.imbalance == 0) stated.imbalance = 1;
    TRY(members_check(&experts_members, &stated, "moe.", err));
    if (e->shared_gate && !e->shared_ffn)
        return refuse(err, "moe.shared_gate: expected false without shared experts");
    if (router_fault(e)) return refuse(err, "moe.%s", router_fault(e));
    if (e->top_k < 1 || e->top_k > e->experts)
        return refuse(err, "moe.top_k: expected 1 to experts %lld, found %lld",
                      (long long)e->experts, (long long)e->top_k);
    return OK;
}

static enum status check_pool(const struct pool_shape *s, struct error *err)
{
    TRY(members_check(&pool_members, s, "memory.", err));
    if (!is_square(s->values))
        return refuse(err,
                      "memory.values: expected a square number (pairs of half keys), found %lld",
                      (long long)s->values);
    return OK;
}

// Masks and second attentions belong to layers that have attention; adapters belong to matrices
// that the formulas of adapters cover.
// A layer that is attention or a feed-forward part alone.
static enum status check_part(const struct layer_run *run, const struct shape *s, struct error *err)
{
    const char *key = run->no_attention ? "attention" : "feed_forward";
    bool attends = run->linear || run->linear_beside || run->window || run->chunk ||
                   run->bidirectional;
    if ((run->kind != LAYER_BLOCK && run->kind != LAYER_MOE) ||
        (run->no_feed_forward && (run->kind == LAYER_MOE || run->no_attention)))
        return refuse(err,
                      "%s: false is for a block that is attention alone, or a block or moe that is "
                      "the feed-forward part alone, found kind \"%s\"%s",
                      key, layer_kind_names[run->kind],
                      run->no_feed_forward && run->no_attention ? " with neither" : "");
    if ((run->no_attention && attends) || run->adapter_rank || run->weight_bits || run->mtp ||
        run->shared_weights || run->cross_attention || s->parallel_residual)
        return refuse(err, "%s: expected a run without %s", key,
                      run->no_attention && attends ? "kinds of attention"
                                                   : "adapters, weight_bits, mtp, shared_weights, "
                                                     "cross attention and a parallel residual");
    return OK;
}

static enum status check_attention(const struct layer_run *run, const struct shape *s,
                                   struct error *err)
{
    bool attends = run->kind == LAYER_BLOCK || run->kind == LAYER_MOE;
    const char *wrong = run->window            ? "window"
                        : run->chunk           ? "chunk"
                        : run->linear          ? "linear"
                        : run->linear_beside   ? "linear_beside"
                        : run->bidirectional   ? "bidirectional"
                        : run->cross_attention ? "cross_attention"
                                               : NULL;
    if (wrong && !attends)
        return refuse(err, "%s: kind \"%s\" has no attention", wrong, layer_kind_names[run->kind]);
    bool plain = !run->cross_attention && !run->adapter_rank && !run->weight_bits,
         reaches = run->window || run->chunk || run->bidirectional;
    if (run->linear && (reaches || !plain || !s || !s->linear.value_heads))
        return refuse(err, "linear: expected a causal run without windows, chunks, cross "
                           "attention, adapters and weight_bits, of a shape with \"linear\"");
    if (run->linear_beside && (run->linear || !plain || !s || s->kv_rank || !s->linear.value_heads))
        return refuse(err, "linear_beside: expected a run without latents, cross attention, "
                           "adapters, weight_bits and \"linear\", of a shape with \"linear\"");
    if (s && s->index_heads && attends && !run->linear && (reaches || run->cross_attention))
        return refuse(err, "%s: expected none with sparse attention (shape.index_heads)", wrong);
    if (!run_is_whole(run) && s) TRY(check_part(run, s, err));
    if (run->cross_attention && run->kind != LAYER_BLOCK)
        return refuse(err, "cross_attention: expected kind \"block\", found \"%s\"",
                      layer_kind_names[run->kind]);
    if (run->window && run->bidirectional)
        return refuse(err, "window: expected a causal run, found a bidirectional one");
    if (run->chunk && (run->bidirectional || run->window))
        return refuse(err, "chunk: expected a causal run without a window, found %s",
                      run->window ? "a window" : "a bidirectional one");
    if (run->more_values && run->kind == LAYER_MEASURED)
        return refuse(err, "more_values: measured layers state their bytes");
    if (run->more_products && (!attends || run->more_products > run->more_values))
        return refuse(err,
                      "more_products: expected at most more_values %lld, and only of a block or "
                      "moe, found %lld (kind \"%s\")",
                      (long long)run->more_values, (long long)run->more_products,
                      layer_kind_names[run->kind]);
    if (s && s->keys_reused && run->cross_attention)
        return refuse(err, "cross_attention: expected none with keys_reused");
    if ((run->adapter_rank || (run->weight_bits && attends)) &&
        (run->cross_attention || (s && (s->kv_rank || s->gated_attention || s->value_width ||
                                        s->keys_as_values || s->keys_reused))))
        return refuse(err,
                      "%s: expected a block with one attention, without latents, gates, "
                      "value_width, keys_as_values and keys_reused",
                      run->adapter_rank ? "adapter_rank" : "weight_bits");
    return OK;
}

enum status run_kind_check(const struct layer_run *run, const struct shape *s, struct error *err)
{
    const char *kind = layer_kind_names[run->kind];
    bool attends = run->kind == LAYER_BLOCK || run->kind == LAYER_MOE;
    TRY(check_attention(run, s, err));
    if (run->frozen && run->kind == LAYER_MEASURED)
        return refuse(err, "frozen: expected false for kind \"measured\" (state its bytes and "
                           "times as they are), found true");
    if (run->vocabulary && run->kind != LAYER_MEASURED)
        return refuse(err, "vocabulary: expected it of kind \"measured\" alone, found \"%s\"",
                      kind);
    if (run->adapter_rank < 0 || run->adapter_rank > ADAPTER_RANK_MAX ||
        (run->adapter_rank && (!run->frozen || !attends)))
        return refuse(err,
                      "adapter_rank: expected 0 to %d, and 0 unless the run is a frozen block or "
                      "moe, found %d (kind \"%s\")",
                      ADAPTER_RANK_MAX, run->adapter_rank, kind);
    TRY(adapters_check(run, s, err));
    if (run->weight_bits && (run->weight_bits < 1 || run->weight_bits > 16 || !run->frozen))
        return refuse(
            err, "weight_bits: expected 1 to 16, and only for a frozen run, found %d (kind \"%s\")",
            run->weight_bits, kind);
    if (run->shared_weights && (run->kind != LAYER_BLOCK || run->frozen))
        return refuse(err, "shared_weights: expected a trained block, found kind \"%s\"%s", kind,
                      run->frozen ? ", frozen" : "");
    if (run->kind == LAYER_MOE) return check_experts(&run->experts, err);
    return run->kind == LAYER_MEMORY ? check_pool(&run->pool, err) : OK;
}

// ---- experts with biases, attention with sinks

int64_t sink_values(const struct shape *s, const struct expert_shape *e)
{
    return e->experts * (1 + 2 * e->ffn + s->hidden) + s->heads;
}

bool run_has_expert_biases(const struct shape *s, const struct layer_run *r)
{
    return r->kind == LAYER_MOE && r->more_values && r->more_values == sink_values(s, &r->experts);
}

bool model_has_sinks(const struct model *m)
{
    const struct shape *s = &m->shape;
    bool mixtures = false;
    if (!m->has_shape || !s->gated_ffn || (s->activation && strcmp(s->activation, "silu")) ||
        s->linear_bias || !s->qkv_bias || s->output_bias != 1 || s->kv_rank)
        return false;
    for (int i = 0; i < m->run_count; i++) {
        const struct layer_run *r = &m->runs[i];
        const struct expert_shape *e = &r->experts;
        bool end = r->kind == LAYER_EMBEDDING || r->kind == LAYER_HEAD;
        if (r->shape || (end && r->more_values)) return false;
        if (end) continue;
        if (r->kind != LAYER_MOE || run_has_linear(r) || r->no_attention || e->shared_ffn ||
            r->more_values != sink_values(s, e))
            return false;
        mixtures = true;
    }
    return mixtures;
}

// ---- layers of one part each

bool model_is_hybrid(const struct model *m)
{
    const struct linear_shape *l = &m->shape.linear;
    bool states = false, alone = false;
    for (int i = 0; i < m->run_count; i++) {
        const struct layer_run *run = &m->runs[i];
        if (run->kind == LAYER_EMBEDDING || run->kind == LAYER_HEAD) continue;
        if (run_is_whole(run) || run->window || run->mtp || run->shape) return false;
        states |= run->linear, alone = true;
    }
    return alone && (!states || (l->rule == LINEAR_STATE_SPACE && l->convolution == 4 &&
                                 l->key_heads && !l->no_norm));
}

const struct layer_run *model_first_run(const struct model *m, enum layer_kind kind)
{
    for (int i = 0; i < m->run_count; i++)
        if (m->runs[i].kind == kind) return &m->runs[i];
    return NULL;
}

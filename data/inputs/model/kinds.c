// Layers beside the dense block: mixtures of experts, memory layers, frozen blocks with adapters or
// quantised weights. Their keys in a model; what they cost is docs/FORMULAS.md sections 3 to 5.
#include "data/inputs/model/internal.h"

#include <math.h>

enum { ADAPTER_RANK_MAX = 65536, EXPERTS_MAX = 65536, TOP_K_MAX = 65536 };
#define WIDTH_MAX 4194304        // 2^22
#define VALUES_MAX 1099511627776 // 2^40
#define IMBALANCE_MAX 1e6

enum status experts_get(const struct json *object, struct expert_shape *e, struct arena *arena,
                        struct error *err)
{
    e->imbalance = 1;
    struct json_field fields[] = {
        FIELD_COUNT("experts", REQUIRED, &e->experts, 1, EXPERTS_MAX),
        FIELD_COUNT("top_k", REQUIRED, &e->top_k, 1, EXPERTS_MAX),
        FIELD_COUNT("ffn", REQUIRED, &e->ffn, 1, WIDTH_MAX),
        FIELD_COUNT("shared_ffn", OPTIONAL, &e->shared_ffn, 0, WIDTH_MAX),
        FIELD_BOOL("shared_gate", OPTIONAL, &e->shared_gate),
        FIELD_NUMBER("imbalance", OPTIONAL, &e->imbalance, 1, IMBALANCE_MAX),
    };
    return JSON_FIELDS(object, fields, arena, err);
}

enum status pool_get(const struct json *object, struct pool_shape *s, struct arena *arena,
                     struct error *err)
{
    struct json_field fields[] = {
        FIELD_COUNT("values", REQUIRED, &s->values, 1, VALUES_MAX),
        FIELD_COUNT("width", REQUIRED, &s->width, 1, WIDTH_MAX),
        FIELD_COUNT("heads", REQUIRED, &s->heads, 1, TOP_K_MAX),
        FIELD_COUNT("key_width", REQUIRED, &s->key_width, 1, WIDTH_MAX),
        FIELD_COUNT("top_k", REQUIRED, &s->top_k, 1, TOP_K_MAX),
        FIELD_BOOL("gated", OPTIONAL, &s->gated),
        FIELD_BOOL("shared", OPTIONAL, &s->shared),
    };
    return JSON_FIELDS(object, fields, arena, err);
}

void experts_put(struct json_writer *w, const struct expert_shape *e)
{
    json_open_flat_object(w, "moe");
    json_put_count(w, "experts", e->experts);
    json_put_count(w, "top_k", e->top_k);
    json_put_count(w, "ffn", e->ffn);
    json_put_count(w, "shared_ffn", e->shared_ffn);
    if (e->shared_gate) json_put_bool(w, "shared_gate", true);
    json_put_number(w, "imbalance", e->imbalance > 0 ? e->imbalance : 1);
    json_close_object(w);
}

void pool_put(struct json_writer *w, const struct pool_shape *s)
{
    json_open_flat_object(w, "memory");
    json_put_count(w, "values", s->values);
    json_put_count(w, "width", s->width);
    json_put_count(w, "heads", s->heads);
    json_put_count(w, "key_width", s->key_width);
    json_put_count(w, "top_k", s->top_k);
    json_put_bool(w, "gated", s->gated);
    if (s->shared) json_put_bool(w, "shared", true);
    json_close_object(w);
}

static bool is_square(int64_t x)
{
    int64_t root = (int64_t)llround(sqrt((double)x));
    return root * root == x;
}

static enum status check_experts(const struct expert_shape *e, int i, const char *file,
                                 struct error *err)
{
    if (e->experts < 1 || e->experts > EXPERTS_MAX || e->ffn < 1 || e->ffn > WIDTH_MAX ||
        e->shared_ffn < 0 || e->shared_ffn > WIDTH_MAX)
        return fail(err, BAD_INPUT, "%s: runs[%d].moe: experts, ffn or shared_ffn is out of range",
                    file, i);
    if (e->shared_gate && !e->shared_ffn)
        return fail(err, BAD_INPUT,
                    "%s: runs[%d].moe.shared_gate: expected false without shared experts", file, i);
    if (e->top_k < 1 || e->top_k > e->experts)
        return fail(err, BAD_INPUT,
                    "%s: runs[%d].moe.top_k: expected 1 to experts %lld, found %lld", file, i,
                    (long long)e->experts, (long long)e->top_k);
    if (e->imbalance != 0 && !(e->imbalance >= 1 && e->imbalance <= IMBALANCE_MAX))
        return fail(err, BAD_INPUT, "%s: runs[%d].moe.imbalance: expected at least 1, found %g",
                    file, i, e->imbalance);
    return OK;
}

static enum status check_pool(const struct pool_shape *s, int i, const char *file,
                              struct error *err)
{
    if (s->values < 1 || s->values > VALUES_MAX || s->width < 1 || s->width > WIDTH_MAX ||
        s->heads < 1 || s->heads > TOP_K_MAX || s->key_width < 1 || s->key_width > WIDTH_MAX ||
        s->top_k < 1 || s->top_k > TOP_K_MAX)
        return fail(err, BAD_INPUT, "%s: runs[%d].memory: a number is out of range", file, i);
    if (!is_square(s->values))
        return fail(
            err, BAD_INPUT,
            "%s: runs[%d].memory.values: expected a square number (pairs of half keys), found %lld",
            file, i, (long long)s->values);
    return OK;
}

// Masks and second attentions belong to layers that have attention; adapters to matrices that the
// formulas of adapters know.
static enum status check_attention(const struct layer_run *run, const struct shape *s, int i,
                                   const char *file, struct error *err)
{
    bool attends = run->kind == LAYER_BLOCK || run->kind == LAYER_MOE;
    const char *wrong = run->window            ? "window"
                        : run->chunk           ? "chunk"
                        : run->bidirectional   ? "bidirectional"
                        : run->cross_attention ? "cross_attention"
                                               : NULL;
    if (wrong && !attends)
        return fail(err, BAD_INPUT, "%s: runs[%d].%s: kind \"%s\" has no attention", file, i, wrong,
                    layer_kind_names[run->kind]);
    if (run->cross_attention && run->kind != LAYER_BLOCK)
        return fail(err, BAD_INPUT,
                    "%s: runs[%d].cross_attention: expected kind \"block\", found \"%s\"", file, i,
                    layer_kind_names[run->kind]);
    if (run->window && run->bidirectional)
        return fail(err, BAD_INPUT,
                    "%s: runs[%d].window: expected a causal run, found a bidirectional one", file,
                    i);
    if (run->chunk && (run->bidirectional || run->window))
        return fail(err, BAD_INPUT,
                    "%s: runs[%d].chunk: expected a causal run without a window, found %s", file, i,
                    run->window ? "a window" : "a bidirectional one");
    if (run->more_values && run->kind == LAYER_MEASURED)
        return fail(err, BAD_INPUT, "%s: runs[%d].more_values: measured layers state their bytes",
                    file, i);
    if ((run->adapter_rank || (run->weight_bits && attends)) &&
        (run->cross_attention || (s && s->kv_rank)))
        return fail(err, BAD_INPUT,
                    "%s: runs[%d].%s: expected a block with one attention, without latents", file,
                    i, run->adapter_rank ? "adapter_rank" : "weight_bits");
    return OK;
}

enum status run_kind_check(const struct layer_run *run, const struct shape *s, int i,
                           const char *file, struct error *err)
{
    const char *kind = layer_kind_names[run->kind];
    TRY(check_attention(run, s, i, file, err));
    if (run->frozen && run->kind == LAYER_MEASURED)
        return fail(err, BAD_INPUT,
                    "%s: runs[%d].frozen: expected false for kind \"measured\" (state its bytes "
                    "and times as they are), found true",
                    file, i);
    if (run->adapter_rank < 0 || run->adapter_rank > ADAPTER_RANK_MAX ||
        (run->adapter_rank && (!run->frozen || run->kind != LAYER_BLOCK)))
        return fail(err, BAD_INPUT,
                    "%s: runs[%d].adapter_rank: expected 0 to %d, and 0 unless the run is a frozen "
                    "block, found %d (kind \"%s\")",
                    file, i, ADAPTER_RANK_MAX, run->adapter_rank, kind);
    if (run->weight_bits && (run->weight_bits < 1 || run->weight_bits > 16 || !run->frozen))
        return fail(err, BAD_INPUT,
                    "%s: runs[%d].weight_bits: expected 1 to 16, and only for a frozen run, "
                    "found %d (kind \"%s\")",
                    file, i, run->weight_bits, kind);
    if (run->shared_weights && (run->kind != LAYER_BLOCK || run->frozen))
        return fail(err, BAD_INPUT,
                    "%s: runs[%d].shared_weights: expected a trained block, found kind \"%s\"%s",
                    file, i, kind, run->frozen ? ", frozen" : "");
    if (run->kind == LAYER_MOE) return check_experts(&run->experts, i, file, err);
    return run->kind == LAYER_MEMORY ? check_pool(&run->pool, i, file, err) : OK;
}

// Decoders whose layers differ in their heads, and what else stands in lists by layer: MiMo, Step,
// Laguna, Gemma 4; LongCat, each of whose layers is two of ours; DBRX.
#include <stdlib.h>
#include <string.h>

#include "data/import/hf/internal.h"

// ---- lists by layer

// Sliding ones by layer_types, or by 1 in a list of another name, else as they are.
static enum status read_near(struct hf_model *x, const char *other, bool *near, struct error *err)
{
    const char **types;
    int64_t *marks = NULL;
    TRY(hf_first_types(x, "layer_types", &types, err));
    if (!types && other) TRY(hf_first_numbers(x, other, 1, &marks, err));
    for (int64_t i = 0; i < x->layer_count; i++) {
        if (types) near[i] = !strcmp(types[i], "sliding_attention");
        if (marks) near[i] = marks[i] > 0;
        if (near[i]) x->layers[i].window = x->window;
    }
    return OK;
}

// Mixtures by mlp_layer_types, or by 1 in a list of another name, else from `front` on.
static enum status read_mixtures(struct hf_model *x, const char *other, int64_t front,
                                 struct error *err)
{
    const char **types;
    int64_t *marks = NULL;
    TRY(hf_first_types(x, "mlp_layer_types", &types, err));
    if (!types && other) TRY(hf_first_numbers(x, other, 1, &marks, err));
    for (int64_t i = 0; i < x->layer_count; i++)
        x->layers[i].mixture = types   ? !strcmp(types[i], "sparse")
                               : marks ? marks[i] > 0
                                       : i >= front;
    return OK;
}

// per_layer_config, as transformers writes what differs: an object of each layer's own keys.
static enum status read_per_layer(struct hf_model *x, struct error *err)
{
    struct json all = {0}, *values;
    struct json_field fields[] = {FIELD_OBJECT("per_layer_config", OPTIONAL, &all)};
    const char *const *keys;
    int count;
    TRY(HF_FIELDS(x, fields, err));
    if (!json_is_present(&all)) return OK;
    TRY(json_members(&all, &keys, &values, &count, x->arena, err));
    for (int i = 0; i < count; i++) {
        char *end;
        long at = strtol(keys[i], &end, 10);
        if (*end || at < 0 || at >= x->layer_count)
            return json_refuse(&all, err, "expected numbers of layers below %lld, found \"%s\"",
                               (long long)x->layer_count, keys[i]);
        const struct hf_model own = {.root = &values[i], .arena = x->arena};
        struct hf_layer *l = &x->layers[at];
        TRY(hf_count(&own, "num_attention_heads", &l->heads, err));
        TRY(hf_count(&own, "num_key_value_heads", &l->kv_heads, err));
        TRY(hf_count(&own, "head_dim", &l->head_width, err));
    }
    return OK;
}

// Sizes that are the model's own are none of a layer's own.
static enum status drop_equal(struct hf_model *x)
{
    const struct shape *s = &x->shape;
    for (int64_t i = 0; i < x->layer_count; i++) {
        struct hf_layer *l = &x->layers[i];
        if (l->heads == s->heads) l->heads = 0;
        if (l->kv_heads == s->kv_heads) l->kv_heads = 0;
        if (l->head_width == s->head_width) l->head_width = 0;
        if (l->value_width == s->value_width) l->value_width = 0;
    }
    return OK;
}

// ---- MiMo-V2: layers with a window have more KV heads, and a number of each head in the softmax

// MiMo 7B: as qwen2, with layers that predict further tokens.
enum status hf_read_mimo_dense(struct hf_model *x, struct error *err)
{
    TRY(hf_flag(x, "attention_bias", &x->shape.qkv_bias, err));
    x->shape.output_bias = -1;
    return hf_count(x, "num_nextn_predict_layers", &x->further, err);
}

enum status hf_read_mimo(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    TRY(hf_read_mimo_dense(x, err));
    TRY(hf_count(x, "v_head_dim", &s->value_width, err));
    if (s->value_width == s->head_width) s->value_width = 0;
    if (hf_has(x, "sliding_window_size")) {
        TRY(hf_count(x, "sliding_window_size", &x->window, err));
        x->window++;
    }
    return OK;
}

enum status hf_arrange_mimo(struct hf_model *x, struct error *err)
{
    const char *const keys[] = {"swa_num_attention_heads", "swa_num_key_value_heads",
                                "swa_head_dim", "swa_v_head_dim"};
    struct hf_layer near_one = {.kv_heads = 2 * x->shape.kv_heads};
    int64_t *const to[] = {&near_one.heads, &near_one.kv_heads, &near_one.head_width,
                           &near_one.value_width};
    bool *near = TAKE(x->arena, x->layer_count, bool), sinks[] = {false, true}; // of far, near ones
    for (int64_t i = 0; i < x->layer_count; i++) near[i] = i && (i + 1) % 6;
    TRY(hf_flag(x, "add_full_attention_sink_bias", &sinks[0], err));
    TRY(hf_flag(x, "add_swa_attention_sink_bias", &sinks[1], err));
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) TRY(hf_count(x, keys[i], to[i], err));
    TRY(read_near(x, "hybrid_layer_pattern", near, err));
    TRY(read_mixtures(x, "moe_layer_freq", 1, err));
    for (int64_t i = 0; i < x->layer_count; i++) {
        struct hf_layer *l = &x->layers[i];
        if (near[i]) {
            l->heads = near_one.heads, l->kv_heads = near_one.kv_heads;
            l->head_width = near_one.head_width, l->value_width = near_one.value_width;
        }
        if (sinks[near[i]]) l->values = l->heads ? l->heads : x->shape.heads;
    }
    return drop_equal(x);
}

// ---- Step 3.5 and 3.7: other heads in layers with a window; a gate for each head

static void add_head_gates(struct hf_model *x)
{
    for (int64_t i = 0; i < x->layer_count; i++) {
        struct hf_layer *l = &x->layers[i];
        l->products += x->shape.hidden * (l->heads ? l->heads : x->shape.heads);
    }
}

enum status hf_read_step(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    struct expert_shape *e = &x->experts;
    const char *const keys[] = {"num_attention_groups", "moe_num_experts", "moe_top_k",
                                "share_expert_dims", "share_expert_dim"};
    int64_t *const to[] = {&s->kv_heads, &e->experts, &e->top_k, &e->shared_ffn, &e->shared_ffn};
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) TRY(hf_count(x, keys[i], to[i], err));
    TRY(hf_count(x, "num_nextn_predict_layers", &x->further, err));
    return hf_read_llama(x, err);
}

// Numbers in a text, or a list of them.
static enum status read_enum(struct hf_model *x, struct error *err)
{
    const char *text = NULL;
    bool *listed;
    struct error ignored = {OK, ""};
    if (!hf_has(x, "moe_layers_enum") || hf_has(x, "mlp_layer_types"))
        return read_mixtures(x, NULL, 3, err);
    if (hf_text(x, "moe_layers_enum", &text, &ignored) != OK) {
        TRY(hf_layer_list(x, "moe_layers_enum", &listed, err));
        for (int64_t i = 0; i < x->layer_count; i++) x->layers[i].mixture = listed[i];
        return OK;
    }
    while (text && *text) {
        char *end;
        long at = strtol(text, &end, 10);
        if (end == text) break;
        if (at >= 0 && at < x->layer_count) x->layers[at].mixture = true;
        text = *end == ',' ? end + 1 : end;
    }
    return OK;
}

enum status hf_arrange_step(struct hf_model *x, struct error *err)
{
    struct json other = {0};
    struct json_field fields[] = {FIELD_OBJECT("attention_other_setting", OPTIONAL, &other)};
    bool *near = TAKE(x->arena, x->layer_count, bool);
    int64_t heads = x->shape.heads;
    TRY(HF_FIELDS(x, fields, err));
    const struct hf_model own = {.root = &other, .arena = x->arena};
    if (json_is_present(&other)) TRY(hf_count(&own, "num_attention_heads", &heads, err));
    TRY(hf_count(x, "num_sliding_attention_heads", &heads, err));
    TRY(read_near(x, NULL, near, err));
    TRY(read_enum(x, err));
    for (int64_t i = 0; i < x->layer_count; i++)
        if (near[i]) x->layers[i].heads = heads ? heads : x->shape.heads;
    TRY(read_per_layer(x, err));
    TRY(drop_equal(x));
    add_head_gates(x);
    return OK;
}

// ---- Laguna: each layer's heads; a gate for each head, or for each value

enum status hf_read_laguna(struct hf_model *x, struct error *err)
{
    const char *word = NULL;
    struct error ignored = {OK, ""};
    bool gated = true;
    x->experts.shared_ffn = 512, x->mixture_values = x->experts.experts;
    TRY(hf_count(x, "shared_expert_intermediate_size", &x->experts.shared_ffn, err));
    if (hf_text(x, "gating", &word, &ignored) != OK) TRY(hf_flag(x, "gating", &gated, err));
    x->shape.gated_attention = word ? strcmp(word, "per-head") != 0 : !gated;
    return x->shape.gated_attention ? hf_read_gated(x, err) : hf_read_attention_bias(x, err);
}

enum status hf_arrange_laguna(struct hf_model *x, struct error *err)
{
    bool *near = TAKE(x->arena, x->layer_count, bool);
    int64_t *heads;
    TRY(read_near(x, NULL, near, err));
    TRY(read_mixtures(x, NULL, 1, err));
    TRY(hf_first_numbers(x, "num_attention_heads_per_layer", HF_SIZE_MAX, &heads, err));
    for (int64_t i = 0; i < x->layer_count && heads; i++) x->layers[i].heads = heads[i];
    TRY(drop_equal(x));
    if (!x->shape.gated_attention) add_head_gates(x);
    return OK;
}

// ---- Gemma 4: layers without a window have wider heads, fewer KV heads, and values that are their
// keys

enum status hf_read_gemma4(struct hf_model *x, struct error *err)
{
    const char *look = NULL;
    bool mixes = false;
    TRY(hf_read_gemma4_inputs(x, err));
    TRY(hf_text(x, "use_bidirectional_attention", &look, err));
    if (look && !strcmp(look, "all"))
        return json_refuse(x->root, err,
                           "key \"use_bidirectional_attention\": \"all\" is not read");
    TRY(hf_flag(x, "enable_moe_block", &mixes, err));
    TRY(hf_count(x, "top_k_experts", &x->experts.top_k, err));
    x->experts.shared_ffn = x->shape.ffn;
    x->mixture_values = 4 * x->shape.hidden + x->experts.experts; // norms and scales
    if (!mixes) x->experts.experts = 0;
    return hf_read_attention_bias(x, err);
}

enum status hf_arrange_gemma4(struct hf_model *x, struct error *err)
{
    bool keys_alone = false, *near = TAKE(x->arena, x->layer_count, bool);
    int64_t width = 512, kv_heads = x->shape.kv_heads;
    for (int64_t i = 0; i < x->layer_count; i++) near[i] = (i + 1) % 6 != 0;
    near[x->layer_count - 1] = false; // whatever the list says
    TRY(hf_flag(x, "attention_k_eq_v", &keys_alone, err));
    TRY(hf_count(x, "global_head_dim", &width, err));
    if (keys_alone) TRY(hf_count(x, "num_global_key_value_heads", &kv_heads, err));
    TRY(read_near(x, NULL, near, err));
    x->layers[x->layer_count - 1].window = 0;
    bool listed = hf_has(x, "per_layer_config");
    for (int64_t i = 0; i < x->layer_count; i++) {
        struct hf_layer *l = &x->layers[i];
        l->mixture = x->experts.experts > 0;
        if (l->window) continue;
        l->keys_as_values = keys_alone;
        if (!listed) l->head_width = width, l->kv_heads = kv_heads;
    }
    TRY(read_per_layer(x, err));
    TRY(hf_arrange_gemma4_inputs(x, err));
    return drop_equal(x);
}

// ---- LongCat-Flash: two attentions and two feed-forward parts in a layer, experts beside the
// first

enum status hf_read_longcat(struct hf_model *x, struct error *err)
{
    struct expert_shape *e = &x->experts;
    int64_t none = 256, layers = x->layer_count / 2;
    TRY(hf_count(x, "ffn_hidden_size", &x->shape.ffn, err));
    TRY(hf_count(x, "expert_ffn_hidden_size", &e->ffn, err));
    TRY(hf_count(x, "moe_topk", &e->top_k, err));
    TRY(hf_count(x, "zero_expert_num", &none, err));
    TRY(hf_count(x, "num_layers", &layers, err));
    if (layers > LAYERS_MAX) layers = LAYERS_MAX; // refused with the others
    TRY(hf_read_deepseek(x, err));
    int64_t width = x->shape.head_width;
    TRY(hf_count(x, "qk_head_dim", &width, err));
    if (width != x->shape.head_width)
        return json_refuse(x->root, err,
                           "key \"qk_head_dim\": expected qk_nope_head_dim + qk_rope_head_dim, "
                           "%lld, found %lld",
                           (long long)x->shape.head_width, (long long)width);
    x->layer_count = 2 * layers, e->shared_ffn = x->shape.ffn;
    x->mixture_values = none * x->shape.hidden; // the router's
    // Of those chosen, as many compute as there are such among all.
    if (e->experts + none > 0)
        e->top_k = (2 * e->top_k * e->experts + e->experts + none) / (2 * (e->experts + none));
    if (e->top_k < 1) e->top_k = 1;
    return OK;
}

enum status hf_arrange_longcat(struct hf_model *x, struct error *err)
{
    (void)err;
    for (int64_t i = 0; i < x->layer_count; i += 2) x->layers[i].mixture = true;
    return OK;
}

// ---- DBRX: its sizes in objects of their own

enum status hf_read_dbrx(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    struct json parts[2] = {{0}, {0}};
    struct json_field fields[] = {FIELD_OBJECT("attn_config", OPTIONAL, &parts[0]),
                                  FIELD_OBJECT("ffn_config", OPTIONAL, &parts[1])};
    TRY(hf_count(x, "d_model", &s->hidden, err));
    TRY(hf_count(x, "n_heads", &s->heads, err));
    TRY(hf_count(x, "n_layers", &x->layer_count, err));
    TRY(HF_FIELDS(x, fields, err));
    const struct hf_model attention = {.root = &parts[0], .arena = x->arena},
                          ffn = {.root = &parts[1], .arena = x->arena};
    if (json_is_present(&parts[0])) TRY(hf_count(&attention, "kv_n_heads", &s->kv_heads, err));
    if (json_is_present(&parts[1])) {
        TRY(hf_count(&ffn, "ffn_hidden_size", &x->experts.ffn, err));
        TRY(hf_count(&ffn, "moe_num_experts", &x->experts.experts, err));
        TRY(hf_count(&ffn, "moe_top_k", &x->experts.top_k, err));
    }
    s->ffn = x->experts.ffn;
    return HF_DROPOUT(x, err, {"resid_pdrop", 0}, {"emb_pdrop", 0});
}

// ---- Granite's mixtures with windows: a number of each head in the softmax

enum status hf_arrange_granite_moe_swa(struct hf_model *x, struct error *err)
{
    TRY(hf_arrange_mixtures(x, err));
    return hf_arrange_first_of_four(x, err);
}

// Decoders that differ from llama in one or two respects: what a config of their classes states
// about biases, norms, windows and experts under its own keys.
#include <string.h>

#include "data/import/hf/internal.h"

// ---- biases and norms

// Biases of queries, keys and values only.
enum status hf_read_glm(struct hf_model *x, struct error *err)
{
    x->shape.output_bias = -1;
    return hf_flag(x, "attention_bias", &x->shape.qkv_bias, err);
}

enum status hf_read_seed_oss(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    bool output = false;
    TRY(hf_flag(x, "attention_bias", &s->qkv_bias, err));
    TRY(hf_flag(x, "attention_out_bias", &output, err));
    TRY(hf_flag(x, "mlp_bias", &s->linear_bias, err));
    s->output_bias = output ? 1 : -1;
    return HF_DROPOUT(x, err, {"attention_dropout", 0.1});
}

// One switch for all linear layers of the blocks.
enum status hf_read_use_bias(struct hf_model *x, struct error *err)
{
    TRY(hf_flag(x, "use_bias", &x->shape.linear_bias, err));
    x->shape.qkv_bias = x->shape.linear_bias;
    return OK;
}

// Two parameters of the activation are learned.
enum status hf_read_apertus(struct hf_model *x, struct error *err)
{
    x->layer_values = 2;
    return hf_read_attention_bias(x, err);
}

// A separate norm for each head, without biases; one norm per block if both parts have the same
// input.
enum status hf_read_stablelm(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    bool norms = false;
    TRY(hf_flag(x, "use_qkv_bias", &s->qkv_bias, err));
    TRY(hf_flag(x, "use_parallel_residual", &s->parallel_residual, err));
    TRY(hf_flag(x, "qk_layernorm", &norms, err));
    if (s->parallel_residual) s->norms = 1;
    if (!s->kv_heads) s->kv_heads = s->heads;
    if (norms && s->heads) x->layer_values = (s->heads + s->kv_heads) * (s->hidden / s->heads);
    return HF_DROPOUT(x, err, {"attention_dropout", 0}, {"hidden_dropout", 0});
}

enum status hf_read_cohere(struct hf_model *x, struct error *err)
{
    bool norms = false;
    TRY(hf_flag(x, "use_qk_norm", &norms, err));
    if (norms) x->shape.qk_norm = QK_NORM_WHOLE;
    return hf_read_attention_bias(x, err);
}

enum status hf_read_bloom(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    TRY(hf_count(x, "n_embed", &s->hidden, err));
    TRY(hf_count(x, "n_layer", &x->layer_count, err));
    TRY(hf_count(x, "n_head", &s->heads, err));
    s->ffn = 4 * s->hidden;
    s->kv_heads = s->heads;
    x->embedding_values = 2 * s->hidden; // a norm after the embeddings
    return HF_DROPOUT(x, err, {"attention_dropout", 0}, {"hidden_dropout", 0});
}

// ---- windows

enum status hf_arrange_three_of_four(struct hf_model *x, struct error *err)
{
    int64_t pattern = 4;
    if (x->window && !hf_has(x, "layer_types"))
        TRY(hf_count(x, "sliding_window_pattern", &pattern, err));
    return hf_windows(x, pattern, err);
}

enum status hf_arrange_smollm3(struct hf_model *x, struct error *err)
{
    bool used = false, *rotated;
    TRY(hf_flag(x, "use_sliding_window", &used, err));
    if (hf_has(x, "layer_types")) return hf_windows(x, 0, err);
    TRY(hf_rotated_layers(x, &rotated, err));
    for (int64_t i = 0; i < x->layer_count && used; i++)
        if (!rotated[i]) x->layers[i].window = x->window;
    return OK;
}

// ---- mixtures

static void all_mixtures(struct hf_model *x, int64_t from)
{
    for (int64_t i = from; i < x->layer_count; i++) x->layers[i].mixture = true;
}

enum status hf_arrange_mixtures(struct hf_model *x, struct error *err)
{
    (void)err;
    all_mixtures(x, 0);
    return OK;
}

// A number per head in addition to the keys; biases of the router and of each expert.
enum status hf_read_gpt_oss(struct hf_model *x, struct error *err)
{
    bool bias = true;
    TRY(hf_flag(x, "attention_bias", &bias, err));
    x->shape.qkv_bias = bias;
    x->shape.output_bias = bias ? 1 : -1;
    x->mixture_values = sink_values(&x->shape, &x->experts);
    return OK;
}

enum status hf_arrange_gpt_oss(struct hf_model *x, struct error *err)
{
    all_mixtures(x, 0);
    return hf_windows(x, 2, err);
}

enum status hf_read_shared(struct hf_model *x, const char *key, int64_t shared, struct error *err)
{
    TRY(hf_count(x, key, &shared, err));
    x->experts.shared_ffn = shared * x->experts.ffn;
    return OK;
}

enum status hf_read_glm4_moe(struct hf_model *x, struct error *err)
{
    bool norms = false;
    TRY(hf_read_glm(x, err));
    TRY(hf_flag(x, "use_qk_norm", &norms, err));
    if (norms) x->shape.qk_norm = QK_NORM_HEAD;
    TRY(hf_count(x, "num_nextn_predict_layers", &x->further, err));
    x->depth = x->further;
    return hf_read_shared(x, "n_shared_experts", 1, err);
}

enum status hf_arrange_dots1(struct hf_model *x, struct error *err)
{
    int64_t whole = 62, dense = 0;
    TRY(hf_count(x, "first_k_dense_replace", &dense, err));
    TRY(hf_count(x, "max_window_layers", &whole, err));
    all_mixtures(x, dense);
    TRY(hf_windows(x, 0, err));
    for (int64_t i = whole; i < x->layer_count && !hf_has(x, "layer_types"); i++)
        x->layers[i].window = x->window;
    return OK;
}

// The share of a head's width that is rotated.
enum status hf_read_minimax_m2(struct hf_model *x, struct error *err)
{
    int64_t rotated = 0;
    TRY(hf_count(x, "rotary_dim", &rotated, err));
    x->experts.router_score = ROUTER_SIGMOID, x->experts.router_bias = true;
    if (rotated && x->shape.head_width)
        x->shape.rotary_share = (double)rotated / (double)x->shape.head_width;
    return OK;
}

// Experts per token: a number, or one for each layer.
enum status hf_read_hunyuan_moe(struct hf_model *x, struct error *err)
{
    struct json list = {0};
    struct error ignored = {OK, ""};
    struct json_field fields[] = {FIELD_ARRAY("moe_topk", OPTIONAL, &list)};
    int64_t *each = NULL;
    int count = 0;
    x->experts.shared_ffn = x->experts.ffn;
    TRY(hf_read_attention_bias(x, err));
    if (HF_FIELDS(x, fields, &ignored) != OK || !json_is_present(&list))
        return hf_count(x, "moe_topk", &x->experts.top_k, err);
    TRY(json_counts(&list, 1, HF_SIZE_MAX, &each, &count, x->arena, err));
    for (int i = 0; i < count; i++)
        if (each[i] != each[0])
            return json_refuse(&list, err, "expected the same number of experts in all layers");
    if (count) x->experts.top_k = each[0];
    return OK;
}

enum status hf_read_ernie_moe(struct hf_model *x, struct error *err)
{
    TRY(hf_read_use_bias(x, err));
    if (x->shape.linear_bias) x->head_values = x->shape.vocabulary;
    TRY(hf_count(x, "moe_num_experts", &x->experts.experts, err));
    TRY(hf_count(x, "moe_k", &x->experts.top_k, err));
    x->mixture_values = x->experts.experts; // the correction of the scores
    return hf_read_shared(x, "moe_num_shared_experts", 2, err);
}

enum status hf_arrange_ernie_moe(struct hf_model *x, struct error *err)
{
    int64_t first = 1, interval = 1, last = -1;
    struct json_field fields[] = {
        FIELD_COUNT("moe_layer_end_index", OPTIONAL, &last, -1, HF_SIZE_MAX)};
    TRY(hf_count(x, "moe_layer_start_index", &first, err));
    TRY(hf_count(x, "moe_layer_interval", &interval, err));
    TRY(HF_FIELDS(x, fields, err));
    if (interval < 1)
        return json_refuse(x->root, err, "key \"moe_layer_interval\": expected at least 1");
    for (int64_t i = first; i < x->layer_count && (last < 0 || i <= last); i++)
        x->layers[i].mixture = (i + 1) % interval == 0;
    return OK;
}

enum status hf_read_phimoe(struct hf_model *x, struct error *err)
{
    bool bias = false;
    TRY(hf_flag(x, "lm_head_bias", &bias, err));
    if (bias) x->head_values = x->shape.vocabulary;
    return hf_read_attention_bias(x, err);
}

// ---- latent attention

// What selects a token's keys, in each layer: heads from the queries' latents, one key, weights.
enum status hf_read_indexed(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    s->index_heads = x->class->index_heads, s->index_width = 128, s->index_top_k = 2048;
    TRY(hf_count(x, "index_n_heads", &s->index_heads, err));
    TRY(hf_count(x, "index_head_dim", &s->index_width, err));
    TRY(hf_count(x, "index_topk", &s->index_top_k, err));
    return hf_read_deepseek(x, err);
}

// Layers whose keys are those that the one before them found, by indexer_types, a pattern of F and
// S, or every so many layers from one on. They have nothing that finds keys, and attend to as many:
// the work of a window.
enum status hf_arrange_indexed(struct hf_model *x, struct error *err)
{
    const char **types = NULL, *pattern = NULL;
    int64_t every = 1, from = 2;
    int reused = 0;
    TRY(hf_arrange_listed(x, err));
    TRY(hf_layer_types(x, "indexer_types", &types, err));
    TRY(hf_text(x, "index_topk_pattern", &pattern, err));
    TRY(hf_count(x, "index_topk_freq", &every, err));
    TRY(hf_count(x, "index_skip_topk_offset", &from, err));
    if (!types && pattern && (int64_t)strlen(pattern) != x->layer_count)
        return json_refuse(x->root, err,
                           "key \"index_topk_pattern\": expected a letter for each of %lld layers",
                           (long long)x->layer_count);
    for (int64_t i = 0; i < x->layer_count; i++) {
        struct hf_layer *l = &x->layers[i];
        int64_t behind = i - from + 1;
        l->choice_reused = types     ? !strcmp(types[i], "shared")
                           : pattern ? pattern[i] == 'S'
                                     : behind > 0 && every > 1 && behind % every != 0;
        if (l->choice_reused) l->window = x->shape.index_top_k, reused++;
    }
    if (x->layers[0].choice_reused)
        return json_refuse(x->root, err, "key \"indexer_types\": expected a full layer first");
    if (reused)
        said_assume(x->asked->said,
                    "%d layers attend to the keys that one before them found: the work of a window "
                    "of %lld tokens",
                    reused, (long long)x->shape.index_top_k);
    return OK;
}

// "dense" or "sparse" for each layer, instead of the number of dense ones.
enum status hf_arrange_listed(struct hf_model *x, struct error *err)
{
    const char **types;
    TRY(hf_layer_types(x, "mlp_layer_types", &types, err));
    if (!types) return hf_arrange_deepseek(x, err);
    for (int64_t i = 0; i < x->layer_count; i++) x->layers[i].mixture = !strcmp(types[i], "sparse");
    return OK;
}

// ---- linear attention

enum status hf_arrange_linear(struct hf_model *x, int64_t interval, struct error *err)
{
    const char **types;
    TRY(hf_layer_types(x, "layer_types", &types, err));
    if (interval < 1)
        return json_refuse(x->root, err, "key \"full_attention_interval\": expected at least 1");
    TRY(hf_expect_words(x, types, "linear_attention full_attention attention", err));
    for (int64_t i = 0; i < x->layer_count; i++)
        x->layers[i].linear = types ? !strcmp(types[i], "linear_attention")
                                    : (i + 1) % interval != 0;
    return OK;
}

enum status hf_read_delta(struct hf_model *x, struct error *err)
{
    struct linear_shape *l = &x->shape.linear;
    TRY(hf_count(x, "linear_num_key_heads", &l->key_heads, err));
    TRY(hf_count(x, "linear_num_value_heads", &l->value_heads, err));
    TRY(hf_count(x, "linear_key_head_dim", &l->key_width, err));
    TRY(hf_count(x, "linear_value_head_dim", &l->value_width, err));
    TRY(hf_count(x, "linear_conv_kernel_dim", &l->convolution, err));
    return hf_read_attention_bias(x, err);
}

// Mixtures in all layers, or in none.
enum status hf_arrange_qwen3_5(struct hf_model *x, struct error *err)
{
    int64_t interval = 4;
    if (x->experts.experts) all_mixtures(x, 0);
    TRY(hf_count(x, "full_attention_interval", &interval, err));
    return hf_arrange_linear(x, interval, err);
}

// Sizes that are absent follow from attention's; four layers in a row end with attention, and so
// does the model.
enum status hf_read_olmo_hybrid(struct hf_model *x, struct error *err)
{
    struct linear_shape *l = &x->shape.linear;
    TRY(hf_read_delta(x, err));
    if (!l->key_heads) l->key_heads = x->shape.heads;
    if (!l->value_heads) l->value_heads = x->shape.heads;
    if (!l->key_width && l->key_heads) l->key_width = 3 * x->shape.hidden / (4 * l->key_heads);
    if (!l->value_width) l->value_width = 2 * l->key_width;
    return OK;
}

enum status hf_arrange_olmo_hybrid(struct hf_model *x, struct error *err)
{
    TRY(hf_arrange_linear(x, 4, err));
    if (!hf_has(x, "layer_types") && x->layer_count < 4)
        x->layers[x->layer_count - 1].linear = false;
    return OK;
}

enum status hf_arrange_qwen3_next(struct hf_model *x, struct error *err)
{
    int64_t interval = 4;
    TRY(hf_arrange_qwen3_moe(x, err));
    TRY(hf_count(x, "full_attention_interval", &interval, err));
    return hf_arrange_linear(x, interval, err);
}

// What Kimi K3 adds: experts on a latent, with a norm of what they give; a norm and a direction
// before each part of a layer and before the head, which weigh earlier blocks' residuals.
static enum status read_kimi_k3(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    int64_t latent = 0, block = 0;
    bool norm = false;
    TRY(hf_count(x, "routed_expert_hidden_size", &latent, err));
    TRY(hf_count(x, "attn_res_block_size", &block, err));
    TRY(hf_flag(x, "latent_moe_use_norm", &norm, err));
    if (latent) x->experts.latent = latent, x->mixture_products = 2 * s->hidden * latent;
    if (latent && norm) x->mixture_values = latent;
    if (block) x->layer_values = 4 * s->hidden, x->head_values = 2 * s->hidden;
    return OK;
}

// The sizes of linear attention have an object of their own, or keys of other names.
enum status hf_read_kimi_linear(struct hf_model *x, struct error *err)
{
    struct linear_shape *l = &x->shape.linear;
    struct json part = {0};
    struct json_field parts[] = {FIELD_OBJECT("linear_attn_config", OPTIONAL, &part)};
    TRY(HF_FIELDS(x, parts, err));
    const struct hf_model own = {.root = &part, .arena = x->arena};
    const char *const keys[][2] = {{"linear_num_heads", "num_heads"},
                                   {"linear_head_dim", "head_dim"},
                                   {"linear_conv_kernel_dim", "short_conv_kernel_size"}};
    int64_t *const to[] = {&l->value_heads, &l->value_width, &l->convolution};
    for (size_t i = 0; i < ARRAY_LENGTH(to); i++) {
        TRY(hf_count(x, keys[i][0], to[i], err));
        if (json_is_present(&part)) TRY(hf_count(&own, keys[i][1], to[i], err));
    }
    x->shape.tied_embeddings = false; // whatever the config says of it
    l->key_heads = l->value_heads;
    l->key_width = l->decay_rank = l->gate_rank = l->value_width;
    bool whole_gate = false;
    if (json_is_present(&part)) TRY(hf_flag(&own, "use_full_rank_gate", &whole_gate, err));
    if (whole_gate) l->gate_rank = 0, x->linear_values = l->value_width - l->value_heads;
    TRY(hf_count(x, "num_experts_per_token", &x->experts.top_k, err));
    TRY(hf_read_deepseek(x, err));
    TRY(read_kimi_k3(x, err));
    return hf_has(x, "num_shared_experts") ? hf_read_shared(x, "num_shared_experts", 1, err) : OK;
}

// A gate on what latent attention gives, as wide as its heads' values.
static enum status gate_latent(struct hf_model *x, struct error *err)
{
    bool gated = false;
    TRY(hf_flag(x, "mla_use_output_gate", &gated, err));
    for (int64_t i = 0; gated && i < x->layer_count; i++)
        if (!x->layers[i].linear)
            x->layers[i].products = x->shape.hidden * x->shape.heads * x->shape.value_width;
    return OK;
}

// Lists of layers count from 1; without any, every fourth layer after the first is not linear.
enum status hf_arrange_kimi_linear(struct hf_model *x, struct error *err)
{
    struct json part = {0}, list = {0};
    struct json_field parts[] = {FIELD_OBJECT("linear_attn_config", OPTIONAL, &part)},
                      lists[] = {FIELD_ARRAY("full_attn_layers", OPTIONAL, &list)};
    int64_t *full = NULL;
    int count = 0;
    TRY(hf_arrange_listed(x, err));
    TRY(HF_FIELDS(x, parts, err));
    TRY(hf_arrange_linear(x, 4, err));
    if (hf_has(x, "layer_types")) return gate_latent(x, err);
    if (json_is_present(&part)) TRY(json_lenient(&part, lists, 1, x->arena, err));
    if (json_is_present(&list))
        TRY(json_counts(&list, 1, (double)x->layer_count, &full, &count, x->arena, err));
    for (int64_t i = 0; i < x->layer_count; i++)
        x->layers[i].linear = json_is_present(&list) || i == 0 || i % 4 != 0;
    for (int i = 0; i < count; i++) x->layers[full[i] - 1].linear = false;
    return gate_latent(x, err);
}

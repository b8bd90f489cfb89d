// Decoders like llama (gated feed-forward parts, RMS norms, rotary positions): what a config of
// their classes states besides the sizes.
#include <string.h>

#include "data/import/hf/internal.h"

// ---- decoders like llama

// One switch for biases of queries, keys, values and attention's output.
enum status hf_read_attention_bias(struct hf_model *x, struct error *err)
{
    bool bias = x->shape.qkv_bias; // the class's
    TRY(hf_flag(x, "attention_bias", &bias, err));
    x->shape.qkv_bias = bias;
    x->shape.output_bias = bias ? 1 : 0;
    return OK;
}

enum status hf_read_llama(struct hf_model *x, struct error *err)
{
    TRY(hf_read_attention_bias(x, err));
    TRY(hf_flag(x, "mlp_bias", &x->shape.linear_bias, err));
    if (x->shape.qkv_bias == x->shape.linear_bias) x->shape.output_bias = 0;
    else x->shape.output_bias = x->shape.qkv_bias ? 1 : -1;
    return OK;
}

enum status hf_read_helium(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    TRY(hf_read_llama(x, err));
    s->output_bias = -1;
    if (s->head_width && s->heads * s->head_width != s->hidden)
        return json_refuse(
            x->root, err,
            "key \"head_dim\": expected heads x head_dim to be the hidden size, %lld, "
            "the width that the class's output product reads, found %lld x %lld",
            (long long)s->hidden, (long long)s->heads, (long long)s->head_width);
    return OK;
}

// Two norms without use_post_norm, else four.
enum status hf_read_hyperclovax(struct hf_model *x, struct error *err)
{
    bool more = true;
    TRY(hf_flag(x, "use_post_norm", &more, err));
    if (more) x->shape.norms = 4;
    return hf_read_llama(x, err);
}

// The first of every four layers has no window.
enum status hf_arrange_first_of_four(struct hf_model *x, struct error *err)
{
    for (int64_t i = 0; i < x->layer_count && !hf_has(x, "layer_types"); i++)
        if (i % 4) x->layers[i].window = x->window;
    return hf_windows(x, 0, err);
}

// The sizes under other names, too.
enum status hf_read_exaone(struct hf_model *x, struct error *err)
{
    TRY(hf_count(x, "num_layers", &x->layer_count, err));
    return hf_read_llama(x, err);
}

enum status hf_arrange_all_near(struct hf_model *x, struct error *err)
{
    (void)err;
    for (int64_t i = 0; i < x->layer_count; i++) x->layers[i].window = x->window;
    return OK;
}

// Every file has these keys, but they count only if a switch says so.
static enum status drop_unused_window(struct hf_model *x, struct error *err)
{
    bool used = false;
    TRY(hf_flag(x, "use_sliding_window", &used, err));
    if (!used) x->window = 0;
    return OK;
}

enum status hf_arrange_qwen(struct hf_model *x, struct error *err)
{
    int64_t whole = 28;
    TRY(drop_unused_window(x, err));
    TRY(hf_count(x, "max_window_layers", &whole, err));
    TRY(hf_windows(x, 0, err));
    for (int64_t i = whole; i < x->layer_count && !hf_has(x, "layer_types"); i++)
        x->layers[i].window = x->window;
    return OK;
}

enum status hf_arrange_gemma2(struct hf_model *x, struct error *err)
{
    return hf_windows(x, 2, err);
}

enum status hf_arrange_gemma3(struct hf_model *x, struct error *err)
{
    int64_t pattern = 6;
    TRY(hf_count(x, "sliding_window_pattern", &pattern, err));
    return hf_windows(x, pattern, err);
}

enum status hf_read_phi3(struct hf_model *x, struct error *err)
{
    return HF_DROPOUT(x, err, {"attention_dropout", 0}, {"resid_pdrop", 0}, {"embd_pdrop", 0});
}

// ---- mixtures

// Every `step`-th layer is a mixture, except those that a list excludes.
static enum status arrange_sparse(struct hf_model *x, struct error *err)
{
    int64_t step = 1;
    bool *dense;
    TRY(hf_count(x, "decoder_sparse_step", &step, err));
    TRY(hf_layer_list(x, "mlp_only_layers", &dense, err));
    if (step < 1)
        return json_refuse(x->root, err, "key \"decoder_sparse_step\": expected at least 1");
    for (int64_t i = 0; i < x->layer_count; i++)
        x->layers[i].mixture = !dense[i] && (i + 1) % step == 0;
    return OK;
}

enum status hf_arrange_qwen2_moe(struct hf_model *x, struct error *err)
{
    int64_t whole = 28;
    TRY(arrange_sparse(x, err));
    TRY(drop_unused_window(x, err));
    TRY(hf_count(x, "max_window_layers", &whole, err));
    TRY(hf_windows(x, 2, err));
    for (int64_t i = whole; i < x->layer_count && !hf_has(x, "layer_types"); i++)
        x->layers[i].window = 0;
    return OK;
}

enum status hf_arrange_qwen3_moe(struct hf_model *x, struct error *err)
{
    TRY(arrange_sparse(x, err));
    TRY(drop_unused_window(x, err));
    for (int64_t i = 0; i < x->layer_count; i++) x->layers[i].window = x->window;
    return OK;
}

enum status hf_read_qwen2_moe(struct hf_model *x, struct error *err)
{
    TRY(hf_count(x, "shared_expert_intermediate_size", &x->experts.shared_ffn, err));
    x->experts.shared_gate = x->experts.shared_ffn > 0;
    return hf_flag(x, "qkv_bias", &x->shape.qkv_bias, err);
}

enum status hf_arrange_mixtral(struct hf_model *x, struct error *err)
{
    for (int64_t i = 0; i < x->layer_count; i++) x->layers[i].mixture = true;
    return hf_arrange_all_near(x, err);
}

// intermediate_size is the width of an expert, and of the shared one; a dense layer's width has its
// own key.
enum status hf_read_llama4(struct hf_model *x, struct error *err)
{
    x->experts.ffn = x->experts.shared_ffn = x->shape.ffn;
    x->shape.ffn = 16384;
    TRY(hf_count(x, "intermediate_size_mlp", &x->shape.ffn, err));
    return hf_read_attention_bias(x, err);
}

// Chunks in layers with rotated positions (1 in no_rope_layers, whatever its name says);
// layer_types takes precedence.
static enum status arrange_chunks(struct hf_model *x, struct error *err)
{
    const char **types;
    bool *rotated;
    TRY(hf_count(x, "attention_chunk_size", &x->window, err));
    TRY(hf_rotated_layers(x, &rotated, err));
    TRY(hf_layer_types(x, "layer_types", &types, err));
    for (int64_t i = 0; i < x->layer_count && x->window; i++) {
        struct hf_layer *l = &x->layers[i];
        l->chunked = types ? !strcmp(types[i], "chunked_attention") : rotated[i];
        if (l->chunked) l->window = x->window;
    }
    return OK;
}

enum status hf_arrange_llama4(struct hf_model *x, struct error *err)
{
    int64_t step = 1;
    bool *listed, has_list = hf_has(x, "moe_layers");
    TRY(hf_count(x, "interleave_moe_layer_step", &step, err));
    TRY(hf_layer_list(x, "moe_layers", &listed, err));
    if (step < 1 && !has_list)
        return json_refuse(x->root, err, "key \"interleave_moe_layer_step\": expected at least 1");
    for (int64_t i = 0; i < x->layer_count; i++)
        x->layers[i].mixture = has_list ? listed[i] : (i + 1) % step == 0;
    return arrange_chunks(x, err);
}

enum status hf_read_deepseek(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    int64_t plain = x->class->plain_width, shared = x->experts.shared_ffn, every = 1;
    const char *const names[] = {"q_lora_rank", "kv_lora_rank", "qk_rope_head_dim", "v_head_dim",
                                 "qk_nope_head_dim"};
    int64_t *const to[] = {&s->query_rank, &s->kv_rank, &s->rotary_width, &s->value_width, &plain};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) TRY(hf_count(x, names[i], to[i], err));
    TRY(hf_count(x, "n_shared_experts", &shared, err));
    TRY(hf_count(x, "moe_layer_freq", &every, err));
    if (every != 1)
        return json_refuse(x->root, err, "key \"moe_layer_freq\": expected 1, found %lld",
                           (long long)every);
    TRY(hf_count(x, "num_nextn_predict_layers", &x->further, err));
    x->depth = x->further;
    x->experts.shared_ffn = shared * x->experts.ffn;
    s->head_width = plain + s->rotary_width;
    s->kv_heads = s->heads;
    hf_asks(x, "qk_head_dim"); // follows from these
    return hf_read_attention_bias(x, err);
}

// Values are as wide as a head would be without latents, unless that is stated.
enum status hf_read_minicpm3(struct hf_model *x, struct error *err)
{
    if (x->shape.heads > 0) x->shape.value_width = x->shape.hidden / x->shape.heads;
    return hf_read_deepseek(x, err);
}

// The width of a head is that of its rotated part.
enum status hf_read_glm4_lite(struct hf_model *x, struct error *err)
{
    TRY(hf_count(x, "head_dim", &x->shape.rotary_width, err));
    return hf_read_deepseek(x, err);
}

enum status hf_arrange_deepseek(struct hf_model *x, struct error *err)
{
    TRY(hf_count(x, "first_k_dense_replace", &x->front, err));
    for (int64_t i = x->front; i < x->layer_count; i++) x->layers[i].mixture = true;
    return OK;
}

// Meta's params.json and Mistral's: sizes of their own names; the width of the feed-forward part of
// Meta's follows from 2/3 of four times the hidden size.
enum status hf_read_params(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    struct json mixture = {0};
    struct json_field parts[] = {FIELD_OBJECT("moe", OPTIONAL, &mixture)};
    double factor = 1;
    static const char *const unread[] = {"kv_lora_rank", "moe_args",
                                         "vision_num_cross_attention_layers"};
    int64_t multiple = 256;
    struct json_field factors[] = {
        FIELD_NUMBER("ffn_dim_multiplier", OPTIONAL, &factor, 0.01, 1000)};
    TRY(hf_count(x, "dim", &s->hidden, err));
    TRY(hf_count(x, "n_layers", &x->layer_count, err));
    TRY(hf_count(x, "n_heads", &s->heads, err));
    TRY(hf_count(x, "n_kv_heads", &s->kv_heads, err));
    TRY(hf_count(x, "multiple_of", &multiple, err));
    TRY(HF_FIELDS(x, factors, err));
    if (multiple < 1)
        return json_refuse(x->root, err, "key \"multiple_of\": expected at least 1, found 0");
    s->ffn = (int64_t)(factor * (double)(8 * s->hidden / 3));
    s->ffn = (s->ffn + multiple - 1) / multiple * multiple;
    TRY(hf_count(x, "hidden_dim", &s->ffn, err));
    TRY(hf_flag(x, "attention_qkv_bias", &s->qkv_bias, err));
    if (s->qkv_bias) s->output_bias = -1;
    TRY(hf_flag(x, "tied_embeddings", &s->tied_embeddings, err));
    for (size_t i = 0; i < ARRAY_LENGTH(unread); i++)
        if (json_has(x->root, unread[i]))
            return json_refuse(x->root, err,
                               "key \"%s\": not read of a params.json; expected the config.json of "
                               "the same model",
                               unread[i]);
    TRY(HF_FIELDS(x, parts, err));
    if (!json_is_present(&mixture)) return OK;
    const struct hf_model of = {.root = &mixture, .arena = x->arena};
    x->experts = (struct expert_shape){.imbalance = 1, .ffn = s->ffn};
    TRY(hf_count(&of, "num_experts", &x->experts.experts, err));
    TRY(hf_count(&of, "num_experts_per_tok", &x->experts.top_k, err));
    if (x->experts.experts < 1 || x->experts.top_k < 1 || hf_has(&of, "expert_hidden_dim"))
        return json_refuse(&mixture, err,
                           "expected num_experts and num_experts_per_tok of experts as wide as "
                           "hidden_dim; expected the config.json of the same model otherwise");
    return OK;
}

enum status hf_arrange_params(struct hf_model *x, struct error *err)
{
    for (int64_t i = 0; i < x->layer_count; i++) x->layers[i].mixture = x->experts.experts > 0;
    return hf_arrange_all_near(x, err);
}

// Qwen 1: intermediate_size is that of both matrices that the input meets.
enum status hf_read_qwen(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    bool plain = true;
    TRY(hf_flag(x, "no_bias", &plain, err));
    TRY(hf_count(x, "kv_channels", &s->head_width, err));
    if (s->ffn % 2)
        return json_refuse(x->root, err, "key \"intermediate_size\": expected an even number");
    s->ffn /= 2, s->kv_heads = s->heads;
    s->linear_bias = !plain, s->output_bias = plain ? -1 : 1;
    return OK;
}

// ---- of code beside the weights

// One flag for all of attention.
enum status hf_read_internlm(struct hf_model *x, struct error *err)
{
    x->shape.qkv_bias = true;
    TRY(hf_flag(x, "bias", &x->shape.qkv_bias, err));
    x->shape.output_bias = x->shape.qkv_bias ? 1 : 0;
    return OK;
}

enum status hf_read_baichuan(struct hf_model *x, struct error *err)
{
    (void)err;
    if (!hf_has(x, "max_position_embeddings")) x->shape.rotary_base = 0;
    x->shape.kv_heads = x->shape.heads;
    return OK;
}

// The first ChatGLM: layer norm, two matrices, biases.
static enum status read_first_chatglm(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    s->gated_ffn = s->rms_norm = false, s->qkv_bias = s->linear_bias = true;
    s->activation = "gelu", s->rotary_share = 0;
    if (!hf_has(x, "vocab_size")) s->vocabulary = 150528;
    if (!hf_has(x, "tie_word_embeddings")) s->tied_embeddings = true;
    return hf_count(x, "inner_hidden_size", &s->ffn, err);
}

// ChatGLM2 and 3, GLM-4 before transformers had it; they are told from the first by a key.
enum status hf_read_chatglm(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    bool grouped = false, last_norm = true;
    int64_t groups = 1, prefix = 0;
    TRY(hf_count(x, "num_layers", &x->layer_count, err));
    TRY(hf_count(x, "pre_seq_len", &prefix, err));
    if (prefix)
        return json_refuse(x->root, err,
                           "key \"pre_seq_len\": expected none: keys and values of a learned "
                           "prefix (P-tuning) are not read");
    s->kv_heads = s->heads;
    TRY(HF_DROPOUT(x, err, {"attention_dropout", 0}, {"hidden_dropout", 0}));
    if (hf_has(x, "inner_hidden_size")) return read_first_chatglm(x, err);
    TRY(hf_count(x, "padded_vocab_size", &s->vocabulary, err));
    TRY(hf_count(x, "ffn_hidden_size", &s->ffn, err));
    TRY(hf_count(x, "kv_channels", &s->head_width, err));
    TRY(hf_count(x, "multi_query_group_num", &groups, err));
    TRY(hf_flag(x, "multi_query_attention", &grouped, err));
    TRY(hf_flag(x, "add_bias_linear", &s->linear_bias, err));
    s->qkv_bias = s->linear_bias;
    if (!s->qkv_bias) TRY(hf_flag(x, "add_qkv_bias", &s->qkv_bias, err));
    TRY(hf_flag(x, "rmsnorm", &s->rms_norm, err));
    TRY(hf_flag(x, "post_layer_norm", &last_norm, err));
    s->no_final_norm = !last_norm;
    if (grouped) s->kv_heads = groups;
    return OK;
}

// Classes of 2025 and 2026 that differ from a known one in a norm, a gate or a list of layers, and
// older ones that are read for their many configs.
#include <string.h>

#include "data/import/hf/internal.h"

// Mixtures by mlp_layer_types, else in all layers from `front` on.
static enum status mixtures_listed(struct hf_model *x, int64_t front, struct error *err)
{
    const char **types;
    TRY(hf_layer_types(x, "mlp_layer_types", &types, err));
    for (int64_t i = 0; i < x->layer_count; i++)
        x->layers[i].mixture = types ? !strcmp(types[i], "sparse") : i >= front;
    return OK;
}

// ---- mixtures

enum status hf_arrange_mellum(struct hf_model *x, struct error *err)
{
    TRY(hf_count(x, "num_nextn_predict_layers", &x->further, err));
    TRY(hf_count(x, "num_mtp_layers", &x->further, err));
    TRY(mixtures_listed(x, 0, err));
    return hf_windows(x, 0, err);
}

enum status hf_arrange_kolibri(struct hf_model *x, struct error *err)
{
    TRY(hf_arrange_mixtures(x, err));
    return hf_windows(x, 5, err);
}

// Dense layers are listed, and the first two unless they are.
enum status hf_arrange_flint(struct hf_model *x, struct error *err)
{
    int64_t step = 1;
    bool *dense, listed = hf_has(x, "mlp_only_layers");
    TRY(hf_count(x, "decoder_sparse_step", &step, err));
    TRY(hf_layer_list(x, "mlp_only_layers", &dense, err));
    if (step < 1)
        return json_refuse(x->root, err, "key \"decoder_sparse_step\": expected at least 1");
    for (int64_t i = 0; i < x->layer_count; i++) {
        bool whole = i < 2 || i % 4 == 1 || i == x->layer_count - 1;
        x->layers[i].mixture = !(listed ? dense[i] : i < 2) && (i + 1) % step == 0;
        if (!whole && !hf_has(x, "layer_types")) x->layers[i].window = x->window;
    }
    return hf_windows(x, 0, err);
}

enum status hf_read_lara_mini(struct hf_model *x, struct error *err)
{
    TRY(hf_read_attention_bias(x, err));
    x->shape.ffn = x->experts.ffn; // no layer is dense
    return hf_read_delta(x, err);
}

// Mixtures in all layers; of five layers the first and third are linear, the second and last near.
enum status hf_arrange_lara_mini(struct hf_model *x, struct error *err)
{
    static const char *const period[] = {"linear_attention", "sliding_attention",
                                         "linear_attention", "full_attention", "sliding_attention"};
    const char **types;
    TRY(hf_layer_types(x, "layer_types", &types, err));
    TRY(hf_expect_words(x, types, "linear_attention sliding_attention full_attention", err));
    for (int64_t i = 0; i < x->layer_count; i++) {
        const char *type = types ? types[i] : period[i % 5];
        x->layers[i].mixture = true;
        x->layers[i].linear = !strcmp(type, "linear_attention");
        if (!strcmp(type, "sliding_attention")) x->layers[i].window = x->window;
    }
    return OK;
}

// Windows where the file says so, and nowhere else.
enum status hf_arrange_windows(struct hf_model *x, struct error *err)
{
    return hf_windows(x, 0, err);
}

enum status hf_read_aria(struct hf_model *x, struct error *err)
{
    TRY(hf_read_llama(x, err));
    TRY(hf_count(x, "moe_num_experts", &x->experts.experts, err));
    TRY(hf_count(x, "moe_topk", &x->experts.top_k, err));
    return hf_read_shared(x, "moe_num_shared_experts", 2, err);
}

// Dense layers may come first, with a width and a pattern of windows of their own.
enum status hf_read_cohere_moe(struct hf_model *x, struct error *err)
{
    TRY(hf_read_shared(x, "num_shared_experts", 0, err));
    TRY(hf_count(x, "prefix_dense_intermediate_size", &x->shape.ffn, err));
    if (!x->shape.ffn) x->shape.ffn = x->experts.ffn;
    return hf_read_attention_bias(x, err);
}

enum status hf_arrange_cohere_moe(struct hf_model *x, struct error *err)
{
    int64_t front = 0, pattern = 4, of_front = 1;
    TRY(hf_count(x, "first_k_dense_replace", &front, err));
    TRY(hf_count(x, "sliding_window_pattern", &pattern, err));
    TRY(hf_count(x, "prefix_dense_sliding_window_pattern", &of_front, err));
    if (pattern < 1 || of_front < 1)
        return json_refuse(x->root, err,
                           "key \"sliding_window_pattern\": expected 1 or more, as of "
                           "prefix_dense_sliding_window_pattern");
    TRY(mixtures_listed(x, front, err));
    for (int64_t i = 0; i < x->layer_count && !hf_has(x, "layer_types"); i++)
        if ((i < front ? (i + 1) % of_front : (i - front + 1) % pattern) != 0)
            x->layers[i].window = x->window;
    return hf_windows(x, 0, err);
}

// Layers of sparse attention find blocks of keys with heads of their own, which are counted.
enum status hf_read_minimax_m3(struct hf_model *x, struct error *err)
{
    TRY(hf_read_minimax_m2(x, err));
    x->shape.ffn = 12288, x->experts.shared_ffn = 3072;
    TRY(hf_count(x, "dense_intermediate_size", &x->shape.ffn, err));
    return hf_count(x, "shared_intermediate_size", &x->experts.shared_ffn, err);
}

enum status hf_arrange_minimax_m3(struct hf_model *x, struct error *err)
{
    const char **types;
    int64_t heads = 4, width = 128, *sparse = NULL, *mixes = NULL, hidden = x->shape.hidden;
    struct json part = {0};
    struct json_field parts[] = {FIELD_OBJECT("sparse_attention_config", OPTIONAL, &part)};
    TRY(HF_FIELDS(x, parts, err));
    const struct hf_model own = {.root = &part, .arena = x->arena, .layer_count = x->layer_count};
    TRY(hf_count(x, "index_n_heads", &heads, err));
    TRY(hf_count(x, "index_head_dim", &width, err));
    if (json_is_present(&part)) {
        TRY(hf_count(&own, "sparse_num_index_heads", &heads, err));
        TRY(hf_count(&own, "sparse_index_dim", &width, err));
        TRY(hf_first_numbers(&own, "sparse_attention_freq", 1, &sparse, err));
    }
    TRY(hf_layer_types(x, "layer_types", &types, err));
    if (!hf_has(x, "mlp_layer_types")) TRY(hf_first_numbers(x, "moe_layer_freq", 1, &mixes, err));
    TRY(mixtures_listed(x, 0, err));
    for (int64_t i = 0; i < x->layer_count; i++) {
        struct hf_layer *l = &x->layers[i];
        if (mixes) l->mixture = mixes[i] > 0;
        if (types ? strcmp(types[i], "minimax_m3_sparse") : !(sparse && sparse[i])) continue;
        l->products = hidden * width * (heads + 1), l->values = 2 * width;
    }
    return OK;
}

// ---- decoders

// Gemma 4 without inputs of each layer and without experts.
enum status hf_read_gemma4_unified(struct hf_model *x, struct error *err)
{
    const char *look = NULL;
    TRY(hf_text(x, "use_bidirectional_attention", &look, err));
    if (look && !strcmp(look, "all"))
        return json_refuse(x->root, err,
                           "key \"use_bidirectional_attention\": \"all\" is not read");
    return hf_read_attention_bias(x, err);
}

enum status hf_read_apertus15(struct hf_model *x, struct error *err)
{
    int64_t out = 0;
    TRY(hf_count(x, "output_vocab_size", &out, err));
    if (out && out != x->shape.vocabulary)
        return json_refuse(x->root, err,
                           "key \"output_vocab_size\": expected vocab_size, %lld, found %lld",
                           (long long)x->shape.vocabulary, (long long)out);
    return hf_read_apertus(x, err);
}

// A norm before each part's last product.
enum status hf_read_bitnet(struct hf_model *x, struct error *err)
{
    x->layer_values = x->shape.hidden + x->shape.ffn;
    return hf_read_attention_bias(x, err);
}

enum status hf_read_diffllama(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    int64_t width = s->head_width ? s->head_width : s->heads ? s->hidden / s->heads : 0;
    x->layer_values = 4 * width;
    return hf_read_attention_bias(x, err);
}

// A step for each KV head, and weights of what passes by each part.
enum status hf_read_doge(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    bool mixes = false;
    TRY(hf_flag(x, "is_moe", &mixes, err));
    if (mixes)
        return json_refuse(x->root, err,
                           "key \"is_moe\": expected false: experts found by keys "
                           "of a product are not read");
    x->experts = (struct expert_shape){0};
    int64_t heads = s->kv_heads ? s->kv_heads : s->heads, width = s->head_width ? s->head_width
                                                                  : s->heads ? s->hidden / s->heads
                                                                             : 0;
    TRY(hf_read_llama(x, err));
    x->layer_products = heads * heads * width;
    x->layer_values = (s->qkv_bias ? 2 : 1) * heads + 2 * s->hidden;
    return OK;
}

// A gate of each head; the layers are convolutions, windows and whole ones.
enum status hf_read_lfm3(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    bool gated = true, bias = false, more = true;
    s->linear = (struct linear_shape){
        .value_heads = 1, .convolution = 7, .value_width = s->hidden, .rule = LINEAR_CONVOLUTION};
    if (s->heads && s->hidden % s->heads == 0)
        s->linear.value_heads = s->heads, s->linear.value_width = s->hidden / s->heads;
    TRY(hf_count(x, "conv_L_cache", &s->linear.convolution, err));
    TRY(hf_flag(x, "conv_bias", &bias, err));
    TRY(hf_flag(x, "use_attention_gate", &gated, err));
    TRY(hf_flag(x, "use_sandwich_norm", &more, err));
    if (!more) s->norms = 2;
    if (bias) x->linear_values = 5 * s->hidden;
    x->front = gated; // whether attention has a gate for each head
    return hf_read_attention_bias(x, err);
}

enum status hf_arrange_lfm3(struct hf_model *x, struct error *err)
{
    const char **types;
    TRY(hf_layer_types(x, "layer_types", &types, err));
    for (int64_t i = 0; i < x->layer_count; i++) {
        struct hf_layer *l = &x->layers[i];
        bool near = types ? !strcmp(types[i], "sliding_attention") : i > 0 && i % 4 == 0;
        l->linear = types ? !strcmp(types[i], "conv") : !near && i % 4 != 2;
        if (near) l->window = x->window;
        if (!l->linear && x->front) l->products = x->shape.hidden * x->shape.heads;
    }
    return OK;
}

// ---- older ones

// Two positions more than tokens.
enum status hf_read_biogpt(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    TRY(hf_count(x, "max_position_embeddings", &s->positions, err));
    s->positions += 2, s->kv_heads = s->heads;
    return HF_DROPOUT(x, err, {"hidden_dropout_prob", 0.1}, {"attention_probs_dropout_prob", 0.1});
}

enum status hf_read_xglm(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    TRY(hf_count(x, "d_model", &s->hidden, err));
    TRY(hf_count(x, "ffn_dim", &s->ffn, err));
    TRY(hf_count(x, "num_layers", &x->layer_count, err));
    TRY(hf_count(x, "attention_heads", &s->heads, err));
    s->kv_heads = s->heads;
    return HF_DROPOUT(x, err, {"dropout", 0.1}, {"attention_dropout", 0.1});
}

// One bias, of the last layer.
enum status hf_read_neox_japanese(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    int64_t times = 4;
    TRY(hf_count(x, "intermediate_multiple_size", &times, err));
    s->ffn = times * s->hidden, s->kv_heads = s->heads;
    return HF_DROPOUT(x, err, {"attention_dropout", 0.1}, {"hidden_dropout", 0});
}

enum status hf_arrange_neox_japanese(struct hf_model *x, struct error *err)
{
    (void)err;
    x->layers[x->layer_count - 1].values = x->shape.hidden;
    return OK;
}

// RWKV 4: a token's state of each channel is planned as a convolution, whose vectors are as many as
// its decay, its bonus and its three shifts; a product more in the feed-forward part.
enum status hf_read_rwkv(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    int64_t inner = 0;
    s->ffn = 0;
    TRY(hf_count(x, "attention_hidden_size", &inner, err));
    TRY(hf_count(x, "intermediate_size", &s->ffn, err));
    if (!inner) inner = s->hidden;
    if (!s->ffn) s->ffn = 4 * s->hidden;
    s->heads = s->kv_heads = 1, s->head_width = inner;
    s->linear = (struct linear_shape){
        .value_heads = 1, .convolution = 2, .value_width = inner, .rule = LINEAR_CONVOLUTION};
    x->layer_products = s->hidden * s->hidden, x->layer_values = 5 * s->hidden;
    return OK;
}

enum status hf_arrange_rwkv(struct hf_model *x, struct error *err)
{
    (void)err;
    for (int64_t i = 0; i < x->layer_count; i++) x->layers[i].linear = true;
    x->layers[0].values = 2 * x->shape.hidden; // a norm of the embedding
    return OK;
}

// ---- texts of models of several modalities

// Rows of the embedding for further tokens, which the head does not have.
enum status hf_read_molmo(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    const char *norms = "qwen3";
    int64_t further = 128;
    s->output_bias = -1;
    TRY(hf_flag(x, "attention_bias", &s->qkv_bias, err));
    TRY(hf_text(x, "qk_norm_type", &norms, err));
    TRY(hf_count(x, "additional_vocab_size", &further, err));
    s->qk_norm = strcmp(norms, "qwen3") ? QK_NORM_WHOLE : QK_NORM_HEAD;
    x->embedding_values = further * s->hidden;
    hf_asks(x, "norm_after"); // as many norms
    return OK;
}

// ---- 2026

// Without latents of queries, whose part that finds keys has a norm; a scale and a shift of scores
// for each head of both; learned angles.
enum status hf_read_mistral_large(struct hf_model *x, struct error *err)
{
    TRY(hf_read_indexed(x, err));
    x->shape.query_rank = 0;
    x->layer_values = 2 * x->shape.heads;
    x->embedding_values = x->shape.rotary_width / 2;
    return OK;
}

enum status hf_arrange_mistral_large(struct hf_model *x, struct error *err)
{
    bool *rotated;
    int64_t *sources;
    TRY(hf_arrange_indexed(x, err));
    TRY(hf_rotated_layers(x, &rotated, err));
    TRY(hf_first_numbers(x, "kv_source_layers", LAYERS_MAX, &sources, err));
    for (int64_t i = 0; i < x->layer_count; i++) {
        struct hf_layer *l = &x->layers[i];
        if (sources && sources[i] != i)
            return json_refuse(
                x->root, err,
                "key \"kv_source_layers\": expected each layer's own number: latents "
                "of a layer before are not read");
        l->unrotated = !rotated[i];
        if (!l->choice_reused) l->values = 2 * (x->shape.hidden + x->shape.index_heads);
    }
    return OK;
}

// Experts on a latent with a norm before and after them; a gate of the residual after each part.
enum status hf_read_muse_spark(struct hf_model *x, struct error *err)
{
    int64_t latent = 4096;
    TRY(hf_count(x, "moe_hidden_size", &latent, err));
    x->experts.latent = latent, x->mixture_products = 2 * x->shape.hidden * latent;
    x->mixture_values = 2 * latent, x->layer_values = 2 * x->shape.hidden;
    return hf_read_gated(x, err);
}

// Every fourth layer, counted from the last, has no window.
enum status hf_arrange_muse(struct hf_model *x, struct error *err)
{
    if (x->experts.experts) TRY(mixtures_listed(x, 0, err));
    for (int64_t i = 0; i < x->layer_count && !hf_has(x, "layer_types"); i++)
        if ((x->layer_count - 1 - i) % 4) x->layers[i].window = x->window;
    return hf_windows(x, 0, err);
}

// Three dense layers first; every sixth one and the last have no window.
enum status hf_arrange_beam(struct hf_model *x, struct error *err)
{
    TRY(mixtures_listed(x, 3, err));
    TRY(hf_windows(x, 6, err));
    if (!hf_has(x, "layer_types")) x->layers[x->layer_count - 1].window = 0;
    return OK;
}

// Queries come out of their latent before and after its norm, with a gate of each value; norms have
// a gate of their own, the second one in mixtures alone.
enum status hf_read_axk2(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    int64_t rank = 16;
    TRY(hf_read_indexed(x, err));
    TRY(hf_count(x, "gated_norm_rank", &rank, err));
    int64_t each = s->query_rank * (s->head_width + 2 * s->value_width),
            norms = 2 * rank * s->hidden;
    if ((double)s->heads * (double)each > HF_VALUES_MOST)
        return json_refuse(x->root, err,
                           "key \"q_lora_rank\": expected a smaller product of gates, found %lld",
                           (long long)s->query_rank);
    x->layer_products = s->heads * each + norms;
    x->mixture_products = norms;
    return OK;
}

// Eight rows of the embedding more than the head has, hence never tied; norms of queries and keys
// and two gates in layers that attend to an image.
enum status hf_read_mllama(struct hf_model *x, struct error *err)
{
    x->embedding_values = 8 * x->shape.hidden;
    x->shape.tied_embeddings = false;
    return HF_DROPOUT(x, err, {"dropout", 0});
}

enum status hf_arrange_mllama(struct hf_model *x, struct error *err)
{
    bool *crosses, listed = hf_has(x, "cross_attention_layers");
    TRY(hf_layer_list(x, "cross_attention_layers", &crosses, err));
    for (int64_t i = 0; i < x->layer_count; i++)
        if (listed ? crosses[i] : i % 5 == 3 && i < 40)
            x->layers[i].values = 2 * x->shape.head_width + 2;
    return OK;
}

// Mixtures of experts since 2025: what their configs state about dense layers, shared experts and
// gates under their own keys.
#include <string.h>

#include "data/import/hf/internal.h"

// After so many dense layers, or as mlp_layer_types says.
static enum status mixtures_behind(struct hf_model *x, const char *key, int64_t dense,
                                   struct error *err)
{
    const char **types;
    TRY(hf_count(x, key, &dense, err));
    TRY(hf_layer_types(x, "mlp_layer_types", &types, err));
    for (int64_t i = 0; i < x->layer_count; i++)
        x->layers[i].mixture = types ? !strcmp(types[i], "sparse") : i >= dense;
    return OK;
}

enum status hf_arrange_exaone_moe(struct hf_model *x, struct error *err)
{
    TRY(mixtures_behind(x, "first_k_dense_replace", 1, err));
    return hf_arrange_three_of_four(x, err);
}

// A gate of attention's output without a bias.
enum status hf_read_gated(struct hf_model *x, struct error *err)
{
    bool biases = false;
    TRY(hf_flag(x, "attention_bias", &biases, err));
    if (biases)
        return json_refuse(x->root, err,
                           "key \"attention_bias\": expected false: biases beside a gate without "
                           "one are not read");
    return OK;
}

// And a number for each expert that corrects its score.
enum status hf_read_afmoe(struct hf_model *x, struct error *err)
{
    TRY(hf_read_gated(x, err));
    x->mixture_values = x->experts.experts;
    return hf_read_shared(x, "num_shared_experts", 2, err);
}

enum status hf_arrange_afmoe(struct hf_model *x, struct error *err)
{
    int64_t pattern = 4;
    TRY(hf_count(x, "global_attn_every_n_layers", &pattern, err));
    TRY(mixtures_behind(x, "num_dense_layers", 1, err));
    return hf_windows(x, pattern, err);
}

enum status hf_arrange_hy_v3(struct hf_model *x, struct error *err)
{
    return mixtures_behind(x, "first_k_dense_replace", 1, err);
}

enum status hf_read_sarvam_moe(struct hf_model *x, struct error *err)
{
    bool norms = true;
    TRY(hf_read_glm(x, err));
    TRY(hf_flag(x, "use_qk_norm", &norms, err));
    if (norms) x->shape.qk_norm = QK_NORM_HEAD;
    return hf_read_shared(x, "n_shared_experts", 1, err);
}

// A norm of what a mixture gives.
enum status hf_read_axk1(struct hf_model *x, struct error *err)
{
    TRY(hf_read_deepseek(x, err));
    x->mixture_values = x->shape.hidden;
    return OK;
}

// Ling and Ring before version 3, whose configs state as whose code they came.
enum status hf_read_ling(struct hf_model *x, struct error *err)
{
    bool biases = false, norms = false;
    const char *score = "softmax";
    int64_t shared = 0, each = x->experts.ffn;
    TRY(hf_flag(x, "use_qkv_bias", &x->shape.qkv_bias, err));
    x->shape.output_bias = -1;
    TRY(hf_flag(x, "use_bias", &biases, err));
    if (biases) return json_refuse(x->root, err, "key \"use_bias\": expected false");
    TRY(hf_flag(x, "use_qk_norm", &norms, err));
    if (norms) x->shape.qk_norm = QK_NORM_HEAD;
    TRY(hf_text(x, "score_function", &score, err));
    if (!strcmp(score, "sigmoid")) x->experts.router_score = ROUTER_SIGMOID;
    TRY(hf_flag(x, "moe_router_enable_expert_bias", &x->experts.router_bias, err));
    TRY(hf_count(x, "n_shared_experts", &shared, err));
    TRY(hf_count(x, "num_shared_experts", &shared, err));
    TRY(hf_count(x, "moe_shared_expert_intermediate_size", &each, err));
    x->experts.shared_ffn = shared * each;
    return hf_count(x, "num_nextn_predict_layers", &x->further, err);
}

enum status hf_arrange_ling(struct hf_model *x, struct error *err)
{
    return mixtures_behind(x, "first_k_dense_replace", 0, err);
}

// Classes of flash-linear-attention (fla-org, bc3b101d), which flame trains: their keys, and the
// width of a feed-forward part that follows from a ratio.
#include <string.h>

#include "data/import/hf/internal.h"

// Two thirds of hidden_ratio times hidden, in steps of 256, unless it is stated.
static enum status read_ratio(struct hf_model *x, int64_t ratio, struct error *err)
{
    int64_t blocks = 0;
    TRY(hf_count(x, "hidden_ratio", &ratio, err));
    TRY(hf_count(x, "attnres_block_size", &blocks, err));
    if (!ratio) ratio = 4;
    if (!x->shape.ffn) x->shape.ffn = (ratio * x->shape.hidden * 2 / 3 + 255) / 256 * 256;
    return blocks ? json_refuse(x->root, err,
                                "key \"attnres_block_size\": residuals of earlier blocks are "
                                "read in kimi_linear alone")
                  : OK;
}

enum status hf_read_flash_transformer(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    bool norms = false;
    TRY(hf_count(x, "num_heads", &s->heads, err));
    TRY(hf_count(x, "num_kv_heads", &s->kv_heads, err));
    TRY(hf_count(x, "window_size", &x->window, err));
    TRY(hf_flag(x, "qkv_bias", &s->qkv_bias, err));
    TRY(hf_flag(x, "qk_norm", &norms, err));
    if (norms) s->qk_norm = QK_NORM_HEAD;
    s->output_bias = -1;
    return read_ratio(x, 4, err);
}

// The layers that attend instead, of one kind, with heads that share the hidden width.
static enum status read_attention(struct hf_model *x, struct json *attention, struct error *err)
{
    struct shape *s = &x->shape;
    struct json_field parts[] = {FIELD_OBJECT("attn", OPTIONAL, attention)};
    if (hf_is_list(x, "attn"))
        return json_refuse(x->root, err, "key \"attn\": attention of several kinds is not read");
    TRY(HF_FIELDS(x, parts, err));
    s->heads = 1, s->kv_heads = 0;
    if (!json_is_present(attention)) return OK;
    const struct hf_model own = {.root = attention, .arena = x->arena};
    s->heads = 0;
    TRY(hf_count(&own, "num_heads", &s->heads, err));
    TRY(hf_count(&own, "num_kv_heads", &s->kv_heads, err));
    TRY(hf_flag(&own, "qkv_bias", &s->qkv_bias, err));
    s->output_bias = -1;
    return hf_count(&own, "window_size", &x->window, err);
}

enum status hf_read_gated_deltanet(struct hf_model *x, struct error *err)
{
    struct linear_shape *l = &x->shape.linear;
    struct json attention = {0};
    double times = 2;
    bool gate = true, convolved = true;
    struct json_field fields[] = {FIELD_NUMBER("expand_v", OPTIONAL, &times, 0, 1024)};
    TRY(hf_count(x, "head_dim", &l->key_width, err));
    TRY(hf_count(x, "num_heads", &l->key_heads, err));
    l->value_heads = 0;
    TRY(hf_count(x, "num_v_heads", &l->value_heads, err));
    if (!l->value_heads) l->value_heads = l->key_heads;
    TRY(hf_count(x, "conv_size", &l->convolution, err));
    TRY(HF_FIELDS(x, fields, err));
    TRY(hf_flag(x, "use_gate", &gate, err));
    TRY(hf_flag(x, "use_short_conv", &convolved, err));
    if (!gate) return json_refuse(x->root, err, "key \"use_gate\": expected true");
    if (!convolved) l->convolution = 0;
    l->value_width = (int64_t)(times * (double)l->key_width);
    x->shape.head_width = 0;
    TRY(read_attention(x, &attention, err));
    return read_ratio(x, 4, err);
}

// Decays out of a latent of 16, or fixed ones in retnet; an output with a gate and a norm.
enum status hf_read_gla(struct hf_model *x, struct error *err)
{
    struct linear_shape *l = &x->shape.linear;
    struct json attention = {0};
    bool fixed = !strcmp(x->class->name, "retnet"), convolved = false, gated = true, affine = true;
    double keys = fixed ? 1 : 0.5, values = fixed ? 2 : 1;
    int64_t h = x->shape.hidden, kv = 0;
    struct json_field fields[] = {FIELD_NUMBER("expand_k", OPTIONAL, &keys, 0, 1024),
                                  FIELD_NUMBER("expand_v", OPTIONAL, &values, 0, 1024)};
    TRY(hf_count(x, "num_heads", &l->key_heads, err));
    TRY(hf_count(x, "num_kv_heads", &kv, err));
    TRY(hf_count(x, "conv_size", &l->convolution, err));
    TRY(hf_flag(x, "use_short_conv", &convolved, err));
    TRY(hf_flag(x, "use_output_gate", &gated, err));
    TRY(hf_flag(x, "elementwise_affine", &affine, err));
    TRY(HF_FIELDS(x, fields, err));
    if (!gated || (kv && kv != l->key_heads))
        return json_refuse(x->root, err, "key \"%s\": expected %s",
                           gated ? "num_kv_heads" : "use_output_gate",
                           gated ? "num_heads" : "true");
    if (!l->key_heads) return json_refuse(x->root, err, "key \"num_heads\": expected at least 1");
    if (!convolved) l->convolution = 0;
    l->value_heads = l->key_heads;
    l->key_width = (int64_t)((double)h * keys) / l->key_heads;
    l->value_width = (int64_t)((double)h * values) / l->key_heads;
    x->linear_values = affine ? l->value_width : 0;
    if (!fixed) {
        int64_t decays = l->key_heads * l->key_width;
        x->linear_products = 16 * (h + decays), x->linear_values += decays;
    }
    x->shape.head_width = 0;
    TRY(read_attention(x, &attention, err));
    return read_ratio(x, fixed ? 2 : 4, err);
}

enum status hf_arrange_gated_deltanet(struct hf_model *x, struct error *err)
{
    struct json attention = {0};
    struct json_field parts[] = {FIELD_OBJECT("attn", OPTIONAL, &attention)};
    bool *attends = TAKE(x->arena, x->layer_count, bool);
    TRY(HF_FIELDS(x, parts, err));
    const struct hf_model own = {
        .root = &attention, .arena = x->arena, .layer_count = x->layer_count};
    if (json_is_present(&attention)) TRY(hf_layer_list(&own, "layers", &attends, err));
    for (int64_t i = 0; i < x->layer_count; i++) {
        x->layers[i].linear = !attends[i];
        if (attends[i]) x->layers[i].window = x->window;
    }
    return OK;
}

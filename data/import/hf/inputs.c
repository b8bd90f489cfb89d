// Gemma 3n and the small ones of Gemma 4: layers with an input of their own beside the state, and
// layers that attend to keys and values of one before them. Ling 3's delta attention.
#include "data/import/hf/internal.h"

enum { STREAMS_MOST = 64 };

// A table of every layer's inputs with a norm; in each layer what makes its input of the embedding,
// a gate, a product back and a norm.
static enum status read_inputs(struct hf_model *x, struct error *err)
{
    int64_t each = 256, words = 262144, hidden = x->shape.hidden;
    TRY(hf_count(x, "hidden_size_per_layer_input", &each, err));
    TRY(hf_count(x, "vocab_size_per_layer_input", &words, err));
    if ((double)words * (double)each * (double)x->layer_count > HF_VALUES_MOST)
        return json_refuse(x->root, err,
                           "key \"vocab_size_per_layer_input\": expected a smaller table");
    if (!each) return OK;
    x->embedding_values += words * each * x->layer_count + each;
    x->layer_products += 3 * hidden * each, x->layer_values += hidden;
    said_assume(x->asked->said, "hidden_size_per_layer_input: every layer's input is counted where "
                                "it is used, their table whole on each GPU that has the embedding");
    return OK;
}

// The last so many layers, whose feed-forward parts may be twice as wide.
static enum status reuse_keys(struct hf_model *x, int64_t count, bool wide, struct error *err)
{
    TRY(hf_count(x, "num_kv_shared_layers", &count, err));
    if (count && count >= x->layer_count)
        return json_refuse(x->root, err,
                           "key \"num_kv_shared_layers\": expected at most %lld of the %d layers, "
                           "which leaves one to make keys, found %lld",
                           (long long)x->layer_count - 1, (int)x->layer_count, (long long)count);
    for (int64_t i = x->layer_count - count; i < x->layer_count; i++) {
        x->layers[i].keys_reused = true, x->layers[i].keys_as_values = false;
        if (wide) x->layers[i].ffn = 2 * x->shape.ffn;
    }
    if (count)
        said_assume(x->asked->said, "num_kv_shared_layers: keys and values that another stage made "
                                    "are not in the messages");
    return OK;
}

enum status hf_read_gemma4_inputs(struct hf_model *x, struct error *err)
{
    return read_inputs(x, err);
}

enum status hf_arrange_gemma4_inputs(struct hf_model *x, struct error *err)
{
    bool wide = false;
    TRY(hf_flag(x, "use_double_wide_mlp", &wide, err));
    if (wide && x->experts.experts)
        return json_refuse(x->root, err,
                           "key \"use_double_wide_mlp\": expected false with enable_moe_block");
    return reuse_keys(x, 0, wide, err);
}

// Several streams of the state (AltUp) with what mixes them, and a second way past each layer
// (LAuReL).
enum status hf_read_gemma3n(struct hf_model *x, struct error *err)
{
    int64_t rank = 64, n = 4, h = x->shape.hidden;
    TRY(hf_count(x, "laurel_rank", &rank, err));
    TRY(hf_count(x, "altup_num_inputs", &n, err));
    if (n < 1 || n > STREAMS_MOST)
        return json_refuse(x->root, err, "key \"altup_num_inputs\": expected 1 to %d, found %lld",
                           STREAMS_MOST, (long long)n);
    x->layer_products = 2 * h * rank + h * n;
    x->layer_values = 3 * h + n * n + n * n * n;
    x->embedding_values = x->head_values = (n - 1) * h * h;
    TRY(read_inputs(x, err));
    return hf_read_attention_bias(x, err);
}

enum status hf_arrange_gemma3n(struct hf_model *x, struct error *err)
{
    TRY(hf_windows(x, 5, err));
    return reuse_keys(x, 15, false, err);
}

// ---- Ling 3: decays of every value of a key out of a product of their own

enum status hf_read_bailing(struct hf_model *x, struct error *err)
{
    struct linear_shape *l = &x->shape.linear;
    TRY(hf_count(x, "head_dim", &l->value_width, err));
    TRY(hf_count(x, "linear_head_dim", &l->value_width, err)); // as transformers saves them
    TRY(hf_count(x, "short_conv_kernel_size", &l->convolution, err));
    TRY(hf_count(x, "linear_conv_kernel_dim", &l->convolution, err));
    TRY(hf_count(x, "num_experts_per_token", &x->experts.top_k, err));
    TRY(hf_read_deepseek(x, err));
    if (hf_has(x, "num_shared_experts")) TRY(hf_read_shared(x, "num_shared_experts", 1, err));
    x->further = hf_has(x, "num_nextn_predict_layers") ? x->further : 1, x->depth = 0;
    TRY(hf_count(x, "num_mtp_layers", &x->further, err));
    x->shape.tied_embeddings = false; // whatever the config says of it
    l->value_heads = x->shape.heads;
    TRY(hf_count(x, "linear_num_heads", &l->value_heads, err));
    l->key_heads = l->value_heads, l->key_width = l->value_width;
    int64_t further = l->value_heads * (l->value_width - 1); // than one for each head
    if (further < 0) further = 0;
    x->linear_values = further, x->linear_products = x->shape.hidden * further;
    return OK;
}

// The last of every few layers attends, with a gate for each head.
enum status hf_arrange_bailing(struct hf_model *x, struct error *err)
{
    int64_t group = 6;
    TRY(hf_count(x, "layer_group_size", &group, err));
    TRY(hf_arrange_listed(x, err));
    TRY(hf_arrange_linear(x, group, err));
    for (int64_t i = 0; i < x->layer_count; i++)
        if (!x->layers[i].linear) x->layers[i].products = x->shape.hidden * x->shape.heads;
    return OK;
}

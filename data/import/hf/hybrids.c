// Decoders in which layers of linear attention, of state spaces or of convolutions stand between
// those of attention, or beside it.
#include <string.h>

#include "data/base/names.h"
#include "data/import/hf/internal.h"

// ---- what layers are, one word each

static bool is_linear_word(const char *word)
{
    return name_is_listed("linear_attention mamba conv lightning_attention", word, strlen(word));
}

// By layer_types, or layers_block_type; *found: one of them is there.
static enum status linear_by_words(struct hf_model *x, bool *found, struct error *err)
{
    static const char *const keys[] = {"layer_types", "layers_block_type"};
    *found = false;
    for (size_t k = 0; k < ARRAY_LENGTH(keys); k++) {
        const char **types;
        TRY(hf_layer_types(x, keys[k], &types, err));
        if (!types) continue;
        *found = true;
        TRY(hf_expect_words(x, types,
                            x->shape.linear.rule == LINEAR_CONVOLUTION
                                ? "conv full_attention attention"
                                : "linear_attention mamba lightning_attention full_attention "
                                  "attention",
                            err));
        for (int64_t i = 0; i < x->layer_count; i++) x->layers[i].linear = is_linear_word(types[i]);
    }
    return OK;
}

// ---- Mamba 2

// The keys of a class for its state space.
struct state_keys {
    const char *heads, *width, *groups, *state, *convolution, *expand, *conv_bias, *bias;
};
static const struct state_keys prefixed = {"mamba_n_heads",   "mamba_d_head",   "mamba_n_groups",
                                           "mamba_d_state",   "mamba_d_conv",   "mamba_expand",
                                           "mamba_conv_bias", "mamba_proj_bias"};
static const struct state_keys bare = {"num_heads",   "head_dim", "n_groups",      "state_size",
                                       "conv_kernel", "expand",   "use_conv_bias", "use_bias"};

// A number, or "auto" and null, which leave *to unchanged.
static enum status count_or_auto(const struct hf_model *x, const char *key, int64_t *to,
                                 struct error *err)
{
    const char *word = NULL;
    struct error ignored = {OK, ""};
    if (hf_text(x, key, &word, &ignored) == OK && word) return OK;
    return hf_count(x, key, to, err);
}

// Biases of a convolution are counted with it.
static enum status expect_conv_bias(struct hf_model *x, const char *key, struct error *err)
{
    bool bias = true;
    TRY(hf_flag(x, key, &bias, err));
    return bias ? OK
                : json_refuse(x->root, err,
                              "key \"%s\": expected true: a convolution without biases is not read",
                              key);
}

// Biases of the two products are values that every tensor rank is planned to have.
static enum status read_states(struct hf_model *x, const struct state_keys *keys, int64_t inner,
                               struct error *err)
{
    struct linear_shape *l = &x->shape.linear;
    int64_t expand = 2, width = 0;
    bool bias = false;
    TRY(hf_count(x, keys->heads, &l->value_heads, err));
    TRY(hf_count(x, keys->expand, &expand, err));
    TRY(hf_count(x, keys->groups, &l->key_heads, err));
    TRY(hf_count(x, keys->state, &l->key_width, err));
    TRY(hf_count(x, keys->convolution, &l->convolution, err));
    TRY(expect_conv_bias(x, keys->conv_bias, err));
    TRY(hf_flag(x, keys->bias, &bias, err));
    TRY(count_or_auto(x, keys->width, &width, err));
    if (!inner) inner = expand * x->shape.hidden;
    if (l->value_heads < 1 || (!width && inner % l->value_heads))
        return json_refuse(x->root, err, "key \"%s\": expected a divisor of %lld, found %lld",
                           keys->heads, (long long)inner, (long long)l->value_heads);
    l->rule = LINEAR_STATE_SPACE, l->value_width = width ? width : inner / l->value_heads;
    inner = l->value_heads * l->value_width;
    int64_t read = 2 * inner + 2 * l->key_heads * l->key_width + l->value_heads;
    if (bias) x->linear_values = read + x->shape.hidden;
    return OK;
}

enum status hf_read_bamba(struct hf_model *x, struct error *err)
{
    TRY(hf_read_llama(x, err));
    return read_states(x, &prefixed, 0, err);
}

// Layers with attention have their numbers, from 0.
enum status hf_arrange_bamba(struct hf_model *x, struct error *err)
{
    bool *attends, found;
    TRY(hf_layer_list(x, "attn_layer_indices", &attends, err));
    for (int64_t i = 0; i < x->layer_count; i++) x->layers[i].linear = !attends[i];
    return hf_has(x, "attn_layer_indices") ? OK : linear_by_words(x, &found, err);
}

enum status hf_read_granite_hybrid(struct hf_model *x, struct error *err)
{
    TRY(hf_read_attention_bias(x, err));
    TRY(read_states(x, &prefixed, 0, err));
    x->experts.shared_ffn = 1024;
    TRY(hf_count(x, "shared_intermediate_size", &x->experts.shared_ffn, err));
    if (!x->experts.experts) x->shape.ffn = x->experts.shared_ffn; // the dense ones of the family
    return OK;
}

enum status hf_arrange_granite_hybrid(struct hf_model *x, struct error *err)
{
    bool found;
    for (int64_t i = 0; i < x->layer_count; i++)
        x->layers[i].linear = true, x->layers[i].mixture = x->experts.experts > 0;
    return linear_by_words(x, &found, err);
}

enum status hf_read_falcon_h1(struct hf_model *x, struct error *err)
{
    int64_t inner = 1024;
    bool norm = false, out_bias = false;
    TRY(hf_count(x, "mamba_d_ssm", &inner, err));
    TRY(hf_read_llama(x, err));
    TRY(read_states(x, &prefixed, inner, err));
    TRY(hf_flag(x, "mamba_rms_norm", &norm, err));
    TRY(hf_flag(x, "projectors_bias", &out_bias, err));
    // The output's bias has a key of its own.
    if (x->linear_values) x->linear_values -= x->shape.hidden;
    if (out_bias) x->linear_values += x->shape.hidden;
    x->shape.linear.no_norm = !norm;
    return OK;
}

enum status hf_arrange_falcon_h1(struct hf_model *x, struct error *err)
{
    (void)err;
    for (int64_t i = 0; i < x->layer_count; i++) x->layers[i].beside = true;
    return OK;
}

// A stack of state spaces alone: heads and width of attention are theirs, as a plan asks for some.
enum status hf_read_mamba2(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    struct linear_shape *l = &s->linear;
    int64_t expand = 2, width = l->value_width;
    TRY(hf_count(x, "expand", &expand, err));
    TRY(hf_count(x, bare.width, &width, err));
    if (!hf_has(x, bare.heads) && width > 0 && hf_has(x, "fuse_norm")) {
        l->value_heads = expand * s->hidden / width;
        said_assume(x->asked->said,
                    "num_heads: %lld, those of expand x hidden_size, as in "
                    "flash-linear-attention, whose keys these are",
                    (long long)l->value_heads);
    }
    TRY(read_states(x, &bare, 0, err));
    if (l->value_heads * width != expand * s->hidden)
        return json_refuse(x->root, err,
                           "key \"num_heads\": expected num_heads x head_dim to be expand x "
                           "hidden_size, %lld, found %lld x %lld",
                           (long long)(expand * s->hidden), (long long)l->value_heads,
                           (long long)width);
    s->heads = s->kv_heads = s->linear.value_heads, s->head_width = s->linear.value_width;
    s->ffn = s->linear.value_heads * s->linear.value_width;
    return OK;
}

enum status hf_arrange_mamba2(struct hf_model *x, struct error *err)
{
    (void)err;
    for (int64_t i = 0; i < x->layer_count; i++)
        x->layers[i].linear = x->layers[i].no_feed_forward = true;
    return OK;
}

// ---- Nemotron-H: every layer is one part, named by a word or by a letter

static const char *word_of_letter(char letter)
{
    return letter == 'M'   ? "linear_attention"
           : letter == '*' ? "full_attention"
           : letter == '-' ? "mlp"
           : letter == 'E' ? "moe"
                           : NULL;
}

// hybrid_override_pattern, a letter for each layer.
static enum status words_of_pattern(struct hf_model *x, const char *pattern, const char ***words,
                                    struct error *err)
{
    const char **each = TAKE(x->arena, strlen(pattern) + 1, const char *);
    for (size_t i = 0; pattern[i]; i++)
        if (!(each[i] = word_of_letter(pattern[i])))
            return json_refuse(x->root, err,
                               "key \"hybrid_override_pattern\": expected letters M, *, - and E, "
                               "found \"%c\"",
                               pattern[i]);
    x->layer_count = (int64_t)strlen(pattern);
    *words = each;
    return OK;
}

static enum status read_words(struct hf_model *x, struct error *err)
{
    static const char *const keys[] = {"layers_block_type", "layer_types"}, *const absent[] = {
                                                                                "linear_attention",
                                                                                "moe",
                                                                                "full_attention",
                                                                                "mlp"};
    struct json list;
    const char *pattern = NULL;
    int count = ARRAY_LENGTH(absent);
    x->words = TAKE(x->arena, ARRAY_LENGTH(absent), const char *);
    for (int i = 0; i < count; i++) x->words[i] = absent[i];
    TRY(hf_text(x, "hybrid_override_pattern", &pattern, err));
    if (pattern) return words_of_pattern(x, pattern, &x->words, err);
    for (size_t k = 0; k < ARRAY_LENGTH(keys); k++) {
        struct json_field fields[] = {FIELD_ARRAY(keys[k], OPTIONAL, &list)};
        list = (struct json){0};
        TRY(HF_FIELDS(x, fields, err));
        if (json_is_present(&list)) TRY(json_texts(&list, &x->words, &count, x->arena, err));
    }
    x->layer_count = count;
    return OK;
}

enum status hf_read_nemotron_h(struct hf_model *x, struct error *err)
{
    static const struct state_keys older = {"mamba_num_heads", "mamba_head_dim", "n_groups",
                                            "ssm_state_size",  "conv_kernel",    "expand",
                                            "use_conv_bias",   "use_bias"};
    struct shape *s = &x->shape;
    int64_t latent = 0;
    s->linear.value_width = 64;
    TRY(hf_flag(x, "mlp_bias", &s->linear_bias, err));
    s->output_bias = -1, s->tied_embeddings = false; // whatever the config says of it
    TRY(read_states(x, &older, 0, err));
    TRY(hf_text(x, "mlp_hidden_act", &s->activation, err));
    TRY(hf_count(x, "moe_latent_size", &latent, err));
    hf_asks(x, "n_shared_experts"); // the class has one of this width whatever it says
    x->experts.shared_ffn = 7688;
    TRY(hf_count(x, "moe_shared_expert_intermediate_size", &x->experts.shared_ffn, err));
    TRY(read_words(x, err));
    bool mixtures = false;
    for (int64_t i = 0; i < x->layer_count; i++) mixtures = mixtures || !strcmp(x->words[i], "moe");
    if (latent && mixtures) // products to the latent and back, whole on every tensor rank
        x->experts.latent = latent, x->mixture_products = 2 * s->hidden * latent;
    // What NVIDIA's trainers repeat for each further token is one block (Megatron-Bridge 067f987d,
    // models/nemotronh): attention, then a mixture.
    const char *block = "*E";
    TRY(hf_text(x, "mtp_hybrid_override_pattern", &block, err));
    x->mtp_whole = mixtures && !strcmp(block, "*E");
    return hf_count(x, "num_nextn_predict_layers", &x->further, err);
}

enum status hf_arrange_nemotron_h(struct hf_model *x, struct error *err)
{
    for (int64_t i = 0; i < x->layer_count; i++) {
        struct hf_layer *l = &x->layers[i];
        const char *word = x->words[i];
        l->linear = is_linear_word(word), l->mixture = !strcmp(word, "moe");
        l->no_attention = l->mixture || !strcmp(word, "mlp");
        l->no_feed_forward = !l->no_attention;
        if (l->no_feed_forward && !l->linear && !strstr(word, "attention"))
            return json_refuse(x->root, err,
                               "key \"layers_block_type\": expected linear_attention (or mamba), "
                               "full_attention (or attention), mlp or moe, found \"%s\"",
                               word);
    }
    return OK;
}

// ---- Mamba 1

static enum status read_scan(struct hf_model *x, const char *state, const char *convolution,
                             const char *expand, const char *rank, int64_t norms, struct error *err)
{
    struct linear_shape *l = &x->shape.linear;
    int64_t times = 2, hidden = x->shape.hidden;
    l->rule = LINEAR_SCAN, l->key_heads = l->value_width = 1;
    if (!l->key_width) l->key_width = 16;
    if (!l->convolution) l->convolution = 4;
    TRY(hf_count(x, state, &l->key_width, err));
    TRY(hf_count(x, convolution, &l->convolution, err));
    TRY(hf_count(x, expand, &times, err));
    l->value_heads = times * hidden, l->decay_rank = (hidden + 15) / 16;
    TRY(count_or_auto(x, rank, &l->decay_rank, err));
    if (norms) x->linear_values = l->decay_rank + 2 * l->key_width;
    return OK;
}

// Biases of the products into and out of the scan.
static enum status read_scan_bias(struct hf_model *x, const char *key, struct error *err)
{
    bool bias = false;
    TRY(hf_flag(x, key, &bias, err));
    if (bias) x->linear_values += 2 * x->shape.linear.value_heads + x->shape.hidden;
    return OK;
}

enum status hf_read_jamba(struct hf_model *x, struct error *err)
{
    TRY(expect_conv_bias(x, "mamba_conv_bias", err));
    TRY(read_scan(x, "mamba_d_state", "mamba_d_conv", "mamba_expand", "mamba_dt_rank", 1, err));
    return read_scan_bias(x, "mamba_proj_bias", err);
}

// Every so many layers, from an offset on.
static enum status each_so_many(const struct hf_model *x, const char *of, int64_t period,
                                int64_t offset, bool *to, struct error *err)
{
    TRY(hf_count(x, arena_print(x->arena, "%s_layer_period", of), &period, err));
    TRY(hf_count(x, arena_print(x->arena, "%s_layer_offset", of), &offset, err));
    if (period < 1)
        return json_refuse(x->root, err, "key \"%s_layer_period\": expected at least 1", of);
    for (int64_t i = 0; i < x->layer_count; i++) to[i] = i % period == offset;
    return OK;
}

enum status hf_arrange_jamba(struct hf_model *x, struct error *err)
{
    bool *attends = TAKE(x->arena, x->layer_count, bool),
         *mixes = TAKE(x->arena, x->layer_count, bool);
    TRY(each_so_many(x, "attn", 8, 4, attends, err));
    TRY(each_so_many(x, "expert", 2, 1, mixes, err));
    for (int64_t i = 0; i < x->layer_count; i++) {
        x->layers[i].linear = !attends[i];
        x->layers[i].mixture = mixes[i] && x->experts.experts > 1;
    }
    return OK;
}

enum status hf_read_mamba(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    TRY(expect_conv_bias(x, "use_conv_bias", err));
    TRY(read_scan(x, "state_size", "conv_kernel", "expand", "time_step_rank", 0, err));
    TRY(hf_count(x, "intermediate_size", &s->linear.value_heads, err)); // before what expand says
    s->heads = s->kv_heads = 1, s->head_width = s->ffn = s->linear.value_heads;
    return read_scan_bias(x, "use_bias", err);
}

// ---- lightning attention, convolutions, Gated DeltaNet

enum status hf_read_minimax(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    (void)err;
    int64_t width = s->head_width ? s->head_width : s->heads ? s->hidden / s->heads : 0;
    s->linear = (struct linear_shape){.key_heads = s->heads,
                                      .value_heads = s->heads,
                                      .key_width = width,
                                      .value_width = width,
                                      .rule = LINEAR_LIGHTNING};
    return OK;
}

// By layer_types or attn_type_list (0: linear), else every second one, from the first on.
enum status hf_arrange_minimax(struct hf_model *x, struct error *err)
{
    struct json list = {0};
    struct json_field fields[] = {FIELD_ARRAY("attn_type_list", OPTIONAL, &list)};
    int64_t *full = NULL;
    int count = 0;
    bool found;
    TRY(HF_FIELDS(x, fields, err));
    if (json_is_present(&list)) TRY(json_counts(&list, 0, 1, &full, &count, x->arena, err));
    if (count && count != x->layer_count)
        return json_refuse(&list, err, "expected one of each of %lld layers, found %d",
                           (long long)x->layer_count, count);
    for (int64_t i = 0; i < x->layer_count; i++) {
        x->layers[i].mixture = true;
        x->layers[i].linear = count ? !full[i] : i % 2 == 1;
    }
    return linear_by_words(x, &found, err);
}

// The width of the feed-forward part is 2/3 of what is stated, in steps.
static enum status adjust_width(struct hf_model *x, struct error *err)
{
    bool adjusted = true;
    int64_t step = 256;
    double times = 1;
    struct json_field fields[] = {
        FIELD_NUMBER("block_ffn_dim_multiplier", OPTIONAL, &times, 0, 1e6)};
    TRY(hf_count(x, "block_ff_dim", &x->shape.ffn, err));
    TRY(hf_flag(x, "block_auto_adjust_ff_dim", &adjusted, err));
    TRY(hf_count(x, "block_multiple_of", &step, err));
    TRY(HF_FIELDS(x, fields, err));
    if (!adjusted) return OK;
    if (step < 1) return json_refuse(x->root, err, "key \"block_multiple_of\": expected 1 or more");
    int64_t width = (int64_t)(times * (double)(2 * x->shape.ffn / 3));
    x->shape.ffn = step * ((width + step - 1) / step);
    return OK;
}

enum status hf_read_lfm2(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    bool bias = false;
    s->linear = (struct linear_shape){.value_heads = s->heads,
                                      .convolution = 3,
                                      .value_width = s->heads ? s->hidden / s->heads : 0,
                                      .rule = LINEAR_CONVOLUTION};
    TRY(hf_count(x, "conv_L_cache", &s->linear.convolution, err));
    TRY(hf_flag(x, "conv_bias", &bias, err));
    TRY(hf_flag(x, "tie_embedding", &s->tied_embeddings, err));
    if (bias) x->linear_values = 5 * s->hidden;
    return x->class->experts.experts ? OK : adjust_width(x, err);
}

enum status hf_arrange_lfm2(struct hf_model *x, struct error *err)
{
    bool *attends, found, listed = hf_has(x, "full_attn_idxs");
    int64_t dense = 2;
    TRY(hf_layer_list(x, "full_attn_idxs", &attends, err));
    TRY(hf_count(x, "num_dense_layers", &dense, err));
    for (int64_t i = 0; i < x->layer_count; i++) {
        x->layers[i].linear = listed && !attends[i];
        x->layers[i].mixture = x->experts.experts > 0 && i >= dense;
    }
    return linear_by_words(x, &found, err);
}

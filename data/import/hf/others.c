// Classes unlike llama: decoders with layer norm, encoders, encoder-decoders.
#include <string.h>

#include "data/import/hf/internal.h"

// ---- decoders with layer norm

enum status hf_read_gpt2(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    TRY(hf_count(x, "n_embd", &s->hidden, err));
    TRY(hf_count(x, "n_layer", &x->layer_count, err));
    TRY(hf_count(x, "n_head", &s->heads, err));
    TRY(hf_count(x, "max_position_embeddings", &s->positions, err));
    TRY(hf_count(x, "n_positions", &s->positions, err));
    s->ffn = 0;
    TRY(hf_count(x, "n_inner", &s->ffn, err));
    if (!s->ffn) s->ffn = 4 * s->hidden;
    s->kv_heads = s->heads;
    return HF_DROPOUT(x, err, {"attn_pdrop", 0.1}, {"resid_pdrop", 0.1}, {"embd_pdrop", 0.1});
}

// Parallel parts, one norm; no biases of attention. The logits have one.
enum status hf_read_gptj(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    int64_t rotated = 64;
    TRY(hf_read_gpt2(x, err));
    TRY(hf_count(x, "rotary_dim", &rotated, err));
    s->positions = 0, s->output_bias = -1, x->head_values = s->vocabulary;
    if (rotated && s->heads) s->rotary_share = (double)(rotated * s->heads) / (double)s->hidden;
    return HF_DROPOUT(x, err, {"attn_pdrop", 0}, {"resid_pdrop", 0}, {"embd_pdrop", 0});
}

// Every second layer has a window, or as attention_types says: kinds, and how often they repeat.
enum status hf_read_gpt_neo(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    TRY(hf_count(x, "num_layers", &x->layer_count, err));
    TRY(hf_count(x, "num_heads", &s->heads, err));
    TRY(hf_count(x, "window_size", &x->window, err));
    TRY(hf_count(x, "max_position_embeddings", &s->positions, err));
    s->ffn = 0;
    TRY(hf_count(x, "intermediate_size", &s->ffn, err));
    if (!s->ffn) s->ffn = 4 * s->hidden;
    s->kv_heads = s->heads, s->output_bias = 1;
    return HF_DROPOUT(x, err, {"attention_dropout", 0}, {"resid_dropout", 0}, {"embed_dropout", 0});
}

enum status hf_arrange_gpt_neo(struct hf_model *x, struct error *err)
{
    const char **kinds;
    TRY(hf_layer_types(x, "attention_layers", &kinds, err));
    for (int64_t i = 0; i < x->layer_count; i++)
        if (kinds ? !strcmp(kinds[i], "local") : i % 2 == 1) x->layers[i].window = x->window;
    return OK;
}

enum status hf_read_gpt_bigcode(struct hf_model *x, struct error *err)
{
    bool multi_query = true;
    TRY(hf_read_gpt2(x, err));
    TRY(hf_flag(x, "multi_query", &multi_query, err));
    if (multi_query) x->shape.kv_heads = 1;
    return OK;
}

// Norms without biases, ALiBi positions.
enum status hf_read_mpt(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    int64_t times = 4;
    TRY(hf_count(x, "d_model", &s->hidden, err));
    TRY(hf_count(x, "n_heads", &s->heads, err));
    TRY(hf_count(x, "n_layers", &x->layer_count, err));
    TRY(hf_count(x, "expansion_ratio", &times, err));
    if (times != 4)
        return json_refuse(x->root, err,
                           "key \"expansion_ratio\": expected 4, which transformers' class has "
                           "whatever the file says, found %lld",
                           (long long)times);
    s->ffn = times * s->hidden, s->kv_heads = s->heads;
    return HF_DROPOUT(x, err, {"resid_pdrop", 0}, {"emb_pdrop", 0});
}

// Parallel parts, one norm; biases everywhere, of the logits too.
enum status hf_read_phi(struct hf_model *x, struct error *err)
{
    bool norms = false;
    TRY(hf_flag(x, "qk_layernorm", &norms, err));
    if (norms) x->shape.qk_norm = QK_NORM_HEAD;
    x->head_values = x->shape.vocabulary;
    return HF_DROPOUT(x, err, {"attention_dropout", 0}, {"resid_pdrop", 0}, {"embd_pdrop", 0});
}

enum status hf_read_persimmon(struct hf_model *x, struct error *err)
{
    bool norms = true;
    TRY(hf_flag(x, "qk_layernorm", &norms, err));
    if (norms) x->shape.qk_norm = QK_NORM_HEAD;
    x->shape.kv_heads = x->shape.heads;
    return HF_DROPOUT(x, err, {"attention_dropout", 0}, {"hidden_dropout", 0});
}

enum status hf_read_gpt_neox(struct hf_model *x, struct error *err)
{
    x->shape.kv_heads = x->shape.heads;
    TRY(hf_flag(x, "attention_bias", &x->shape.qkv_bias, err));
    TRY(hf_flag(x, "use_parallel_residual", &x->shape.parallel_residual, err));
    x->shape.output_bias = x->shape.qkv_bias ? 0 : -1;
    return HF_DROPOUT(x, err, {"attention_dropout", 0}, {"hidden_dropout", 0});
}

enum status hf_read_opt(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    int64_t width = 0;
    bool bias = true, first = true, removed = false, affine = true;
    s->ffn = 3072;
    TRY(hf_count(x, "ffn_dim", &s->ffn, err));
    TRY(hf_count(x, "word_embed_proj_dim", &width, err));
    TRY(hf_count(x, "max_position_embeddings", &s->positions, err));
    TRY(hf_flag(x, "enable_bias", &bias, err));
    TRY(hf_flag(x, "do_layer_norm_before", &first, err));
    TRY(hf_flag(x, "_remove_final_layer_norm", &removed, err));
    TRY(hf_flag(x, "layer_norm_elementwise_affine", &affine, err));
    s->embedding_width = hf_has(x, "word_embed_proj_dim") ? width : 768;
    if (s->embedding_width == s->hidden) s->embedding_width = 0;
    s->kv_heads = s->heads;
    s->positions += 2; // the class offsets positions by two rows
    s->qkv_bias = s->linear_bias = bias;
    s->no_final_norm = !first || removed;
    s->plain_norms = !affine;
    return HF_DROPOUT(x, err, {"attention_dropout", 0}, {"dropout", 0.1});
}

enum status hf_read_falcon(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    bool newer = false, one = true, beside = true, bias = false;
    int64_t kv_heads = 0, norms = 0;
    TRY(hf_count(x, "n_embed", &s->hidden, err));
    TRY(hf_count(x, "num_kv_heads", &kv_heads, err));
    TRY(hf_count(x, "num_ln_in_parallel_attn", &norms, err));
    TRY(hf_flag(x, "new_decoder_architecture", &newer, err));
    TRY(hf_flag(x, "multi_query", &one, err));
    TRY(hf_flag(x, "parallel_attn", &beside, err));
    TRY(hf_flag(x, "bias", &bias, err));
    s->ffn = 0;
    TRY(hf_count(x, "ffn_hidden_size", &s->ffn, err));
    if (!s->ffn) s->ffn = 4 * s->hidden;
    s->kv_heads = newer && kv_heads ? kv_heads : !newer && one ? 1 : s->heads;
    if (!norms && newer) norms = 2;
    s->norms = beside && norms != 2 ? 1 : 0;
    s->parallel_residual = newer || beside;
    s->qkv_bias = s->linear_bias = bias;
    return HF_DROPOUT(x, err, {"attention_dropout", 0}, {"hidden_dropout", 0});
}

// ---- encoders

// A norm after the embeddings, which include those of token types; a dense layer, a norm and biases
// before and after the logits.
enum status hf_read_bert(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    int64_t kinds = 2;
    s->positions = 512;
    TRY(hf_count(x, "max_position_embeddings", &s->positions, err));
    TRY(hf_count(x, "type_vocab_size", &kinds, err));
    s->positions += kinds;
    s->kv_heads = s->heads;
    x->embedding_values = 2 * s->hidden;
    x->head_values = s->hidden * s->hidden + 3 * s->hidden +
                     (s->tied_embeddings ? 1 : 2) * s->vocabulary;
    return HF_DROPOUT(x, err, {"attention_probs_dropout_prob", 0.1}, {"hidden_dropout_prob", 0.1});
}

// Norms before the parts and after the last layer, not after the embeddings.
enum status hf_read_megatron_bert(struct hf_model *x, struct error *err)
{
    TRY(hf_read_bert(x, err));
    x->embedding_values = 0, x->shape.no_final_norm = false;
    return OK;
}

// Embeddings of a width of their own, with their positions, norm and the bias of their product.
enum status hf_read_electra(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    int64_t width = 128;
    TRY(hf_read_bert(x, err));
    TRY(hf_count(x, "embedding_size", &width, err));
    x->head_values = 3 * width + s->vocabulary + (width == s->hidden ? width * width : 0);
    if (width == s->hidden) return OK;
    s->embedding_width = width;
    x->embedding_values = (2 + s->positions) * width + s->hidden;
    s->positions = 0;
    return OK;
}

// As ELECTRA, with one layer for all.
enum status hf_read_albert(struct hf_model *x, struct error *err)
{
    static const char *const keys[] = {"num_hidden_groups", "inner_group_num"};
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        int64_t groups = 1;
        TRY(hf_count(x, keys[i], &groups, err));
        if (groups != 1)
            return json_refuse(x->root, err, "key \"%s\": expected 1: one layer for all", keys[i]);
    }
    TRY(hf_read_electra(x, err));
    return HF_DROPOUT(x, err, {"attention_probs_dropout_prob", 0}, {"hidden_dropout_prob", 0});
}

// Further embeddings, of tasks.
enum status hf_read_ernie_bert(struct hf_model *x, struct error *err)
{
    int64_t tasks = 3;
    bool used = false;
    TRY(hf_read_bert(x, err));
    TRY(hf_count(x, "task_type_vocab_size", &tasks, err));
    TRY(hf_flag(x, "use_task_id", &used, err));
    if (used) x->shape.positions += tasks;
    return OK;
}

// Bert without token types, its sizes under names of their own.
enum status hf_read_distilbert(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    TRY(hf_count(x, "dim", &s->hidden, err));
    TRY(hf_count(x, "hidden_dim", &s->ffn, err));
    TRY(hf_count(x, "n_layers", &x->layer_count, err));
    TRY(hf_count(x, "n_heads", &s->heads, err));
    TRY(hf_read_bert(x, err));
    s->positions -= 2;
    if (!s->tied_embeddings) x->head_values -= s->vocabulary; // one bias of the logits
    return HF_DROPOUT(x, err, {"attention_dropout", 0.1}, {"dropout", 0.1});
}

// Like llama, but bidirectional; the logits have the bias of the feed-forward parts.
enum status hf_read_eurobert(struct hf_model *x, struct error *err)
{
    TRY(hf_read_llama(x, err));
    if (x->shape.linear_bias) x->head_values = x->shape.vocabulary;
    return OK;
}

// CLIP's and SigLIP's texts: a product of the last token's state, with scales beside images.
enum status hf_read_clip_text(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    const char *type = "";
    TRY(hf_text(&(struct hf_model){.root = x->whole, .arena = x->arena}, "model_type", &type, err));
    bool beside = hf_has_tower(type), clip = !strcmp(x->class->name, "clip_text");
    const struct hf_model *of = &(const struct hf_model){
        .root = beside && clip ? x->whole : x->root, .arena = x->arena, .asked = x->asked};
    int64_t outputs = clip ? 512 : s->hidden;
    const char *built = x->built && x->built != x->class->name ? x->built : "Model",
               *model = strstr(built, "Model");
    if (!model || (model[5] && strcmp(model + 5, "WithProjection") != 0))
        return json_refuse(x->root, err,
                           "architectures: %s is not read: of a %s, its Model and "
                           "ModelWithProjection are",
                           built, x->class->name);
    TRY(hf_count(x, "max_position_embeddings", &s->positions, err));
    TRY(hf_count(of, clip ? "projection_dim" : "projection_size", &outputs, err));
    s->kv_heads = s->heads;
    x->head_values = clip ? outputs * s->hidden + beside : outputs * (s->hidden + 1) + 2 * beside;
    if (clip && !beside && !strstr(built, "WithProjection")) x->head_values = 0;
    return HF_DROPOUT(x, err, {"attention_dropout", 0});
}

enum status hf_arrange_bert(struct hf_model *x, struct error *err)
{
    bool decoder = false;
    TRY(hf_flag(x, "is_decoder", &decoder, err));
    for (int64_t i = 0; i < x->layer_count; i++) x->layers[i].bidirectional = !decoder;
    return OK;
}

// Positions are a number for each head and distance, in one table of the encoder and one of the
// decoder; the encoder ends with a norm. The class ties head and embedding whatever the file says.
enum status hf_read_t5(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    int64_t distances = 32, decoder = 0;
    const char *part = s->gated_ffn ? "gated-" : "relu";
    TRY(hf_count(x, "d_model", &s->hidden, err));
    TRY(hf_count(x, "d_ff", &s->ffn, err));
    TRY(hf_count(x, "d_kv", &s->head_width, err));
    TRY(hf_count(x, "num_heads", &s->heads, err));
    TRY(hf_count(x, "num_layers", &x->layer_count, err));
    TRY(hf_count(x, "num_decoder_layers", &decoder, err));
    TRY(hf_count(x, "relative_attention_num_buckets", &distances, err));
    TRY(hf_text(x, "feed_forward_proj", &part, err));
    s->gated_ffn = !strncmp(part, "gated-", 6);
    TRY(hf_flag(x, "is_gated_act", &s->gated_ffn, err));
    s->tied_embeddings = true;
    s->kv_heads = s->heads;
    x->front = x->layer_count;
    x->layer_count += decoder ? decoder : x->layer_count;
    x->embedding_values = 2 * distances * s->heads + s->hidden;
    return HF_DROPOUT(x, err, {"dropout_rate", 0.1});
}

// A table of distances of each layer instead.
enum status hf_read_umt5(struct hf_model *x, struct error *err)
{
    int64_t distances = 32;
    TRY(hf_read_t5(x, err));
    TRY(hf_count(x, "relative_attention_num_buckets", &distances, err));
    x->layer_values = distances * x->shape.heads, x->embedding_values = x->shape.hidden;
    return OK;
}

enum status hf_arrange_t5(struct hf_model *x, struct error *err)
{
    (void)err;
    for (int64_t i = 0; i < x->layer_count; i++)
        if (i < x->front) x->layers[i].bidirectional = true;
        else x->layers[i].cross = true;
    return OK;
}

// ---- encoder-decoders with layer norm, biases and positions of encoder and decoder

// Rows of positions further than max_position_embeddings (-1: no parameters); whether a norm is
// after each embedding, and one at the end of the encoder; its layers unless told, 0: as many as
// the decoder's.
static const struct sequence_pair {
    const char *name;
    int rows;
    bool first_norms, last_norm;
    int layers;
} pairs[] = {{"bart", 2, true, false, 0},
             {"mbart", 2, true, true, 0},
             {"pegasus", 0, false, true, 0},
             {"marian", 0, false, false, 0},
             {"m2m_100", -1, false, true, 0},
             {"blenderbot", 0, false, true, 2},
             {"blenderbot-small", 0, true, false, 0},
             {"whisper", -1, false, true, 0},
             {"speech_to_text", -1, false, true, 12}};

enum status hf_read_bart(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    const struct sequence_pair *own = pairs;
    int64_t layers = x->class->layers, places = s->positions;
    bool shared = true;
    while (strcmp(own->name, x->class->name)) own++;
    if (own->layers) x->layer_count = own->layers;
    TRY(hf_count(x, "d_model", &s->hidden, err));
    TRY(hf_count(x, "decoder_ffn_dim", &s->ffn, err));
    TRY(hf_count(x, "decoder_attention_heads", &s->heads, err));
    TRY(hf_count(x, "encoder_layers", &x->layer_count, err));
    TRY(hf_count(x, "decoder_layers", &layers, err));
    TRY(hf_count(x, "max_position_embeddings", &places, err));
    TRY(hf_flag(x, "share_encoder_decoder_embeddings", &shared, err));
    if (!shared || !s->tied_embeddings)
        return json_refuse(x->root, err, "key \"%s\": expected true: one table for %s",
                           shared ? "tie_word_embeddings" : "share_encoder_decoder_embeddings",
                           shared ? "embedding and head" : "encoder and decoder");
    s->kv_heads = s->heads, s->positions = own->rows < 0 ? 0 : 2 * (places + own->rows);
    x->embedding_values = (4 * own->first_norms + 2 * own->last_norm) * s->hidden;
    s->no_final_norm = !own->last_norm;
    x->front = x->layer_count, x->layer_count += layers;
    return HF_DROPOUT(x, err, {"attention_dropout", 0}, {"dropout", 0.1});
}

// ---- the same with sound before the encoder

// Two convolutions over three neighbours, positions of both; keys have no bias.
enum status hf_read_whisper(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    int64_t mels = 80, frames = 1500, words = 448, h = s->hidden;
    TRY(hf_count(x, "num_mel_bins", &mels, err));
    TRY(hf_count(x, "max_source_positions", &frames, err));
    TRY(hf_count(x, "max_target_positions", &words, err));
    s->positions = frames + words, s->qkv_bias = false;
    x->embedding_values += h * (3 * mels + 1) + h * (3 * h + 1);
    return OK;
}

enum status hf_arrange_whisper(struct hf_model *x, struct error *err)
{
    TRY(hf_arrange_bart(x, err));
    for (int64_t i = 0; i < x->layer_count; i++)
        x->layers[i].values += (i < x->front ? 2 : 4) * x->shape.hidden;
    return OK;
}

// Convolutions whose outputs are halved by gates.
enum status hf_read_speech_to_text(struct hf_model *x, struct error *err)
{
    int64_t width = 80, channels = 1, inner = 1024, count = 2, *kernels = NULL, five[] = {5, 5};
    int given = 2;
    struct json array = {0};
    struct json_field fields[] = {FIELD_ARRAY("conv_kernel_sizes", OPTIONAL, &array)};
    TRY(hf_count(x, "input_feat_per_channel", &width, err));
    TRY(hf_count(x, "input_channels", &channels, err));
    TRY(hf_count(x, "conv_channels", &inner, err));
    TRY(hf_count(x, "num_conv_layers", &count, err));
    TRY(HF_FIELDS(x, fields, err));
    kernels = five;
    if (json_is_present(&array)) TRY(json_counts(&array, 1, 4096, &kernels, &given, x->arena, err));
    if (given != count || count > 64 || (double)width * (double)channels > HF_SIZE_MAX)
        return json_refuse(x->root, err, "key \"conv_kernel_sizes\": expected %lld of them",
                           (long long)count);
    for (int64_t i = 0; i < count; i++) {
        int64_t outputs = i + 1 < count ? inner : 2 * x->shape.hidden,
                inputs = i ? inner / 2 : width * channels;
        if ((double)outputs * (double)inputs * (double)kernels[i] > HF_VALUES_MOST)
            return json_refuse(x->root, err, "key \"conv_channels\": expected narrower ones");
        x->embedding_values += outputs * (kernels[i] * inputs + 1);
    }
    return OK;
}

// A decoder has the model's shape, as its second attention asks; the encoder may have its own.
enum status hf_arrange_bart(struct hf_model *x, struct error *err)
{
    const struct shape *s = &x->shape;
    int64_t ffn = x->class->shape.ffn, heads = x->class->shape.heads;
    TRY(hf_count(x, "encoder_ffn_dim", &ffn, err));
    TRY(hf_count(x, "encoder_attention_heads", &heads, err));
    if (!heads || s->hidden % heads)
        return json_refuse(x->root, err,
                           "key \"encoder_attention_heads\": expected a divisor of d_model, %lld, "
                           "found %lld",
                           (long long)s->hidden, (long long)heads);
    TRY(hf_arrange_t5(x, err));
    for (int64_t i = 0; i < x->front; i++) {
        if (ffn != s->ffn) x->layers[i].ffn = ffn;
        if (heads != s->heads)
            x->layers[i].heads = x->layers[i].kv_heads = heads,
            x->layers[i].head_width = s->hidden / heads;
    }
    return OK;
}

// Encoders of text with windows or relative positions.
#include <string.h>

#include "data/import/hf/internal.h"

// The first layer has one norm, which the embedding has for it; a dense layer, a norm and biases
// before and after the logits.
enum status hf_read_modernbert(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    bool biased = false, norm_bias = false, decoder_bias = true;
    int64_t around = 2 * x->window;
    TRY(hf_flag(x, "classifier_bias", &biased, err));
    TRY(hf_flag(x, "norm_bias", &norm_bias, err));
    TRY(hf_flag(x, "decoder_bias", &decoder_bias, err));
    TRY(hf_count(x, "local_attention", &around, err));
    if (!hf_has(x, "sliding_window")) x->window = around / 2;
    s->rms_norm = !norm_bias, s->kv_heads = s->heads;
    x->head_values = (s->hidden + 1 + biased + norm_bias) * s->hidden +
                     (decoder_bias ? s->vocabulary : 0);
    TRY(HF_DROPOUT(x, err, {"attention_dropout", 0}, {"mlp_dropout", 0}, {"embedding_dropout", 0}));
    return hf_read_llama(x, err);
}

enum status hf_arrange_modernbert(struct hf_model *x, struct error *err)
{
    int64_t every = 3;
    TRY(hf_count(x, "global_attn_every_n_layers", &every, err));
    if (every < 1)
        return json_refuse(x->root, err, "key \"global_attn_every_n_layers\": expected at least 1");
    for (int64_t i = 0; i < x->layer_count && !hf_has(x, "layer_types"); i++)
        if (i % every) x->layers[i].window = x->window;
    return hf_windows(x, 0, err);
}

// A window reaches as far to both sides.
enum status hf_arrange_modernbert_encoder(struct hf_model *x, struct error *err)
{
    TRY(hf_arrange_modernbert(x, err));
    for (int64_t i = 0; i < x->layer_count; i++) {
        struct hf_layer *l = &x->layers[i];
        if (l->window) l->window = 2 * l->window + 1;
        else l->bidirectional = true;
    }
    return OK;
}

// A table of relative positions, and unless keys are shared products of its rows in each layer,
// which no token meets; a convolution beside the first layer.
enum status hf_read_deberta(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    int64_t span = -1, buckets = -1, most = 512, width = s->hidden;
    bool relative = false, biased = true, shared = false, legacy = true;
    const char *norms = "none", *kinds = NULL, **listed = NULL;
    struct json list = {0};
    int count = 0;
    bool is_list = hf_is_list(x, "pos_att_type");
    struct json_field fields[] = {
        FIELD_COUNT("max_relative_positions", OPTIONAL, &span, -1, HF_SIZE_MAX),
        FIELD_COUNT("position_buckets", OPTIONAL, &buckets, -1, HF_SIZE_MAX),
        is_list ? (struct json_field)FIELD_ARRAY("pos_att_type", OPTIONAL, &list)
                : (struct json_field)FIELD_TEXT("pos_att_type", OPTIONAL, &kinds)};
    TRY(HF_FIELDS(x, fields, err));
    if (is_list) TRY(json_texts(&list, &listed, &count, x->arena, err));
    for (int i = 0; i < count; i++)
        kinds = arena_print(x->arena, "%s %s", kinds ? kinds : "", listed[i]);
    TRY(hf_read_bert(x, err));
    TRY(hf_count(x, "max_position_embeddings", &most, err));
    TRY(hf_count(x, "embedding_size", &width, err));
    TRY(hf_flag(x, "relative_attention", &relative, err));
    TRY(hf_flag(x, "position_biased_input", &biased, err));
    TRY(hf_flag(x, "share_att_key", &shared, err));
    TRY(hf_flag(x, "legacy", &legacy, err));
    TRY(hf_text(x, "norm_rel_ebd", &norms, err));
    if (width != s->hidden)
        return json_refuse(x->root, err,
                           "key \"embedding_size\": expected hidden_size, %lld, found %lld",
                           (long long)s->hidden, (long long)width);
    if (!hf_has(x, "type_vocab_size")) s->positions -= 2; // the class has none
    if (!biased) // what is left are types of tokens, which limit no sequence
        x->embedding_values += (s->positions - most) * s->hidden, s->positions = 0;
    if (!legacy && !s->tied_embeddings)
        return json_refuse(x->root, err,
                           "key \"tie_word_embeddings\": expected true where legacy is false");
    if (strstr(norms, "layer_norm")) x->embedding_values += 2 * s->hidden;
    if (!relative) return OK;
    if (span < 1) span = most;
    x->embedding_values += 2 * (buckets > 0 ? buckets : span) * s->hidden;
    if (shared || !kinds) return OK;
    x->layer_values = ((strstr(kinds, "c2p") != NULL) + (strstr(kinds, "p2c") != NULL)) *
                      (s->hidden + 1) * s->hidden;
    return OK;
}

enum status hf_arrange_deberta(struct hf_model *x, struct error *err)
{
    int64_t width = 0, groups = 1, hidden = x->shape.hidden;
    TRY(hf_arrange_bert(x, err));
    TRY(hf_count(x, "conv_kernel_size", &width, err));
    TRY(hf_count(x, "conv_groups", &groups, err));
    if (!width) return OK;
    if (groups < 1 || hidden % groups || width > HF_VALUES_MOST / ((double)hidden * (double)hidden))
        return json_refuse(x->root, err,
                           "key \"conv_groups\": expected a divisor of hidden_size, %lld, found "
                           "%lld (conv_kernel_size %lld)",
                           (long long)hidden, (long long)groups, (long long)width);
    x->layers[0].products = hidden / groups * hidden * width;
    x->layers[0].values = 3 * hidden;
    return OK;
}

// Models found by a search over their layers (Nemotron-NAS, DeciLM): each layer's own number of KV
// heads and width, or neither attention nor a feed-forward part. block_configs states them.
#include "data/import/hf/internal.h"

// A part of a block: whether it is there, and its one number.
static enum status read_part(const struct hf_model *x, const struct json *block, const char *key,
                             const char *number, bool *absent, double *value, struct error *err)
{
    struct json part = {0};
    bool linear = false;
    struct json_field parts[] = {FIELD_OBJECT(key, REQUIRED, &part)};
    struct json_field fields[] = {FIELD_BOOL("no_op", OPTIONAL, absent),
                                  FIELD_BOOL("replace_with_linear", OPTIONAL, &linear),
                                  FIELD_NUMBER(number, OPTIONAL, value, 0, HF_SIZE_MAX)};
    TRY(json_lenient(block, parts, 1, x->arena, err));
    TRY(json_lenient(&part, fields, ARRAY_LENGTH(fields), x->arena, err));
    if (linear)
        return json_refuse(&part, err,
                           "key \"replace_with_linear\": a part that is one matrix is not read");
    return *absent || *value > 0
               ? OK
               : json_refuse(&part, err, "key \"%s\": expected a number above 0", number);
}

// The width that a multiple of hidden means, in steps of 256.
static int64_t width_of(double times, int64_t hidden)
{
    int64_t width = (int64_t)(2 * times * (double)hidden / 3);
    return (width + 255) / 256 * 256;
}

static enum status read_block(struct hf_model *x, const struct json *block, struct hf_layer *to,
                              struct error *err)
{
    double group = 0, times = 0;
    TRY(read_part(x, block, "attention", "n_heads_in_group", &to->no_attention, &group, err));
    TRY(read_part(x, block, "ffn", "ffn_mult", &to->no_feed_forward, &times, err));
    if (!to->no_attention) to->kv_heads = (int64_t)((double)x->shape.heads / group);
    if (!to->no_feed_forward) to->ffn = width_of(times, x->shape.hidden);
    if (!to->no_attention && to->kv_heads * (int64_t)group != x->shape.heads)
        return json_refuse(block, err, "key \"n_heads_in_group\": expected a divisor of %lld heads",
                           (long long)x->shape.heads);
    return OK;
}

// A block without both parts is none. The model's own numbers are those of the first that has them.
enum status hf_read_nas(struct hf_model *x, struct error *err)
{
    struct json list = {0};
    struct json_field fields[] = {FIELD_ARRAY("block_configs", REQUIRED, &list)};
    TRY(HF_FIELDS(x, fields, err));
    int count = json_length(&list);
    struct hf_layer *blocks = TAKE(x->arena, count + 1, struct hf_layer);
    x->layer_count = 0;
    for (int i = 0; i < count; i++) {
        struct json block = json_element(&list, i, x->arena);
        struct hf_layer *to = &blocks[x->layer_count];
        *to = (struct hf_layer){0};
        TRY(read_block(x, &block, to, err));
        x->layer_count += !(to->no_attention && to->no_feed_forward);
        if (to->kv_heads && !x->shape.kv_heads) x->shape.kv_heads = to->kv_heads;
        if (to->ffn && !x->shape.ffn) x->shape.ffn = to->ffn;
    }
    x->blocks = blocks;
    return hf_read_llama(x, err);
}

enum status hf_arrange_nas(struct hf_model *x, struct error *err)
{
    (void)err;
    for (int64_t i = 0; i < x->layer_count; i++) {
        struct hf_layer *l = &x->layers[i];
        *l = x->blocks[i];
        if (l->ffn == x->shape.ffn) l->ffn = 0;
        if (l->kv_heads == x->shape.kv_heads) l->kv_heads = 0;
    }
    return OK;
}

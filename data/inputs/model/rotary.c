// How rotary positions are stretched: its keys in a model, named as Hugging Face names them.
#include "data/inputs/model/internal.h"

#define NUMBER_MAX 1e15

enum status rotary_get(const struct json *object, struct rotary_scaling *r, struct arena *arena,
                       struct error *err)
{
    struct json_field fields[] = {
        FIELD_TEXT("type", REQUIRED, &r->type),
        FIELD_NUMBER("low_freq_factor", OPTIONAL, &r->low_freq_factor, 0, NUMBER_MAX),
        FIELD_NUMBER("high_freq_factor", OPTIONAL, &r->high_freq_factor, 0, NUMBER_MAX),
        FIELD_COUNT("original_max_position_embeddings", OPTIONAL, &r->original_positions, 0,
                    NUMBER_MAX),
        FIELD_NUMBER("beta_fast", OPTIONAL, &r->beta_fast, 0, NUMBER_MAX),
        FIELD_NUMBER("beta_slow", OPTIONAL, &r->beta_slow, 0, NUMBER_MAX),
        FIELD_NUMBER("mscale", OPTIONAL, &r->mscale, 0, NUMBER_MAX),
        FIELD_NUMBER("mscale_all_dim", OPTIONAL, &r->mscale_all_dim, 0, NUMBER_MAX),
    };
    return JSON_FIELDS(object, fields, arena, err);
}

static void put_number(struct json_writer *w, const char *key, double value)
{
    if (value > 0) json_put_number(w, key, value);
}

void rotary_put(struct json_writer *w, const struct rotary_scaling *r)
{
    if (!r->type) return;
    json_open_flat_object(w, "rotary_scaling");
    json_put_text(w, "type", r->type);
    put_number(w, "low_freq_factor", r->low_freq_factor);
    put_number(w, "high_freq_factor", r->high_freq_factor);
    if (r->original_positions)
        json_put_count(w, "original_max_position_embeddings", r->original_positions);
    put_number(w, "beta_fast", r->beta_fast);
    put_number(w, "beta_slow", r->beta_slow);
    put_number(w, "mscale", r->mscale);
    put_number(w, "mscale_all_dim", r->mscale_all_dim);
    json_close_object(w);
}

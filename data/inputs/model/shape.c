// A model's shape: read, checked, written. docs/FORMATS.md explains every key.
#include "data/inputs/model/internal.h"

const char *const qk_norm_names[] = {"none", "head", "whole", NULL};

#define HIDDEN_MAX (1 << 20)
#define HEAD_WIDTH_MAX (1 << 16)

// ---- reading

// What a person may leave out.
static enum status fill(const struct json *object, struct shape *s, struct error *err)
{
    if (s->vocabulary_multiple == 1) s->vocabulary_multiple = 0;
    if (s->embedding_width == s->hidden) s->embedding_width = 0;
    if (s->norms == 2) s->norms = 0;
    if (!s->kv_heads) s->kv_heads = s->heads;
    if (s->head_width) return OK;
    if (s->hidden % s->heads)
        return json_refuse(
            object, err,
            "key \"head_width\" is missing, and hidden %lld is no multiple of heads %lld",
            (long long)s->hidden, (long long)s->heads);
    s->head_width = s->hidden / s->heads;
    return OK;
}

enum { OF_ENDS = 5 }; // fields of embedding and head, behind the others

enum status shape_get(const struct json *object, struct shape *s, bool of_run, struct arena *arena,
                      struct error *err)
{
    bool final_norm = true, output_bias;
    int norms_of_heads = QK_NORM_NONE;
    struct json rotary = {0};
    struct json_field bias = FIELD_BOOL("linear_bias", OPTIONAL, &s->linear_bias);
    TRY(json_fields(object, &bias, 1, JSON_ENVELOPE, arena, err)); // another's default
    output_bias = s->linear_bias;
    struct json_field fields[] = {
        FIELD_COUNT("hidden", REQUIRED, &s->hidden, 1, HIDDEN_MAX),
        FIELD_COUNT("ffn", REQUIRED, &s->ffn, 1, 1 << 22),
        FIELD_COUNT("heads", REQUIRED, &s->heads, 1, 1 << 16),
        FIELD_COUNT("kv_heads", OPTIONAL, &s->kv_heads, 1, 1 << 16),
        FIELD_COUNT("head_width", OPTIONAL, &s->head_width, 1, HEAD_WIDTH_MAX),
        FIELD_COUNT("query_rank", OPTIONAL, &s->query_rank, 0, HIDDEN_MAX),
        FIELD_COUNT("kv_rank", OPTIONAL, &s->kv_rank, 0, HIDDEN_MAX),
        FIELD_COUNT("rotary_width", OPTIONAL, &s->rotary_width, 0, HEAD_WIDTH_MAX),
        FIELD_COUNT("value_width", OPTIONAL, &s->value_width, 1, HEAD_WIDTH_MAX),
        FIELD_COUNT("positions", OPTIONAL, &s->positions, 0, 1 << 26),
        FIELD_INT("norms", OPTIONAL, &s->norms, 1, 8),
        FIELD_NAME("qk_norm", OPTIONAL, &norms_of_heads, qk_norm_names),
        FIELD_BOOL("gated_ffn", OPTIONAL, &s->gated_ffn),
        FIELD_BOOL("rms_norm", OPTIONAL, &s->rms_norm),
        FIELD_BOOL("plain_norms", OPTIONAL, &s->plain_norms),
        FIELD_BOOL("parallel_residual", OPTIONAL, &s->parallel_residual),
        FIELD_BOOL("qkv_bias", OPTIONAL, &s->qkv_bias),
        FIELD_BOOL("linear_bias", OPTIONAL, &s->linear_bias),
        FIELD_BOOL("output_bias", OPTIONAL, &output_bias),
        FIELD_TEXT("activation", OPTIONAL, &s->activation),
        FIELD_NUMBER("norm_epsilon", OPTIONAL, &s->norm_epsilon, 0, 1),
        FIELD_NUMBER("mtp_loss_scale", OPTIONAL, &s->mtp_loss_scale, 0, 1e6),
        FIELD_NUMBER("rotary_base", OPTIONAL, &s->rotary_base, 0, 1e15),
        FIELD_NUMBER("rotary_share", OPTIONAL, &s->rotary_share, 0, 1),
        FIELD_NUMBER("rotary_factor", OPTIONAL, &s->rotary_factor, 0, 1e15),
        FIELD_OBJECT("rotary_scaling", OPTIONAL, &rotary),
        FIELD_BOOL("dropout", OPTIONAL, &s->dropout),
        FIELD_COUNT("vocabulary", REQUIRED, &s->vocabulary, 1, 1 << 26),
        FIELD_COUNT("embedding_width", OPTIONAL, &s->embedding_width, 1, HIDDEN_MAX),
        FIELD_COUNT("vocabulary_multiple", OPTIONAL, &s->vocabulary_multiple, 1, 1 << 16),
        FIELD_BOOL("final_norm", OPTIONAL, &final_norm),
        FIELD_BOOL("tied_embeddings", OPTIONAL, &s->tied_embeddings),
    };
    TRY(json_fields(object, fields, ARRAY_LENGTH(fields) - (of_run ? OF_ENDS : 0), JSON_STRICT,
                    arena, err));
    if (json_is_present(&rotary)) TRY(rotary_get(&rotary, &s->rotary_scaling, arena, err));
    s->qk_norm = (enum qk_norm)norms_of_heads;
    s->no_final_norm = !final_norm;
    s->output_bias = output_bias == s->linear_bias ? 0 : output_bias ? 1 : -1;
    return fill(object, s, err);
}

// ---- checking

static enum status check_range(const char *where, const char *key, int64_t value, int64_t low,
                               int64_t high, struct error *err)
{
    if (value >= low && value <= high) return OK;
    return fail(err, BAD_INPUT, "%s.%s: expected a whole number from %lld to %lld, found %lld",
                where, key, (long long)low, (long long)high, (long long)value);
}

static enum status check_heads(const struct shape *s, const char *where, struct error *err)
{
    if (s->heads % s->kv_heads)
        return fail(err, BAD_INPUT, "%s.kv_heads: expected a divisor of heads %lld, found %lld",
                    where, (long long)s->heads, (long long)s->kv_heads);
    if (s->heads * s->head_width > 1 << 22 || s->heads * s->value_width > 1 << 22)
        return fail(err, BAD_INPUT,
                    "%s.head_width: expected heads x head_width of at most 4194304, found %lld",
                    where, (long long)(s->heads * s->head_width));
    return OK;
}

// Keys and values of all heads come out of one latent; a part of each key does not.
static enum status check_latents(const struct shape *s, const char *where, struct error *err)
{
    if (!s->kv_rank && (s->query_rank || s->rotary_width || s->value_width))
        return fail(err, BAD_INPUT,
                    "%s.kv_rank: query_rank, rotary_width and value_width are of latent "
                    "attention, which needs it",
                    where);
    if (s->kv_rank && (s->kv_heads != s->heads || s->rotary_width > s->head_width || s->qk_norm))
        return fail(err, BAD_INPUT,
                    "%s.kv_rank: expected kv_heads equal to heads, rotary_width of at most "
                    "head_width and qk_norm \"none\" in latent attention",
                    where);
    return OK;
}

enum status shape_check(const struct shape *s, bool of_run, const char *where, struct error *err)
{
    const struct {
        const char *key;
        int64_t value, low, high;
    } ranges[] = {
        {"hidden", s->hidden, 1, HIDDEN_MAX},
        {"ffn", s->ffn, 1, 1 << 22},
        {"heads", s->heads, 1, 1 << 16},
        {"kv_heads", s->kv_heads, 1, 1 << 16},
        {"head_width", s->head_width, 1, HEAD_WIDTH_MAX},
        {"query_rank", s->query_rank, 0, HIDDEN_MAX},
        {"kv_rank", s->kv_rank, 0, HIDDEN_MAX},
        {"rotary_width", s->rotary_width, 0, HEAD_WIDTH_MAX},
        {"value_width", s->value_width, 0, HEAD_WIDTH_MAX},
        {"vocabulary", s->vocabulary, of_run ? 0 : 1, of_run ? 0 : 1 << 26},
        {"embedding_width", s->embedding_width, 0, HIDDEN_MAX},
        {"positions", s->positions, 0, 1 << 26},
        {"vocabulary_multiple", s->vocabulary_multiple, 0, 1 << 16},
        {"norms", s->norms, 0, 8},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(ranges); i++)
        TRY(check_range(where, ranges[i].key, ranges[i].value, ranges[i].low, ranges[i].high, err));
    TRY(check_heads(s, where, err));
    return check_latents(s, where, err);
}

// ---- writing

static void put_some(struct json_writer *w, const char *key, int64_t value)
{
    if (value) json_put_count(w, key, value);
}

static void put_set(struct json_writer *w, const char *key, bool value)
{
    if (value) json_put_bool(w, key, true);
}

static void put_number(struct json_writer *w, const char *key, double value)
{
    if (value > 0) json_put_number(w, key, value);
}

void shape_put(struct json_writer *w, const struct shape *s, bool of_run)
{
    json_open_object(w, "shape");
    json_put_count(w, "hidden", s->hidden);
    json_put_count(w, "ffn", s->ffn);
    json_put_count(w, "heads", s->heads);
    json_put_count(w, "kv_heads", s->kv_heads);
    json_put_count(w, "head_width", s->head_width);
    put_some(w, "query_rank", s->query_rank);
    put_some(w, "kv_rank", s->kv_rank);
    put_some(w, "rotary_width", s->rotary_width);
    put_some(w, "value_width", s->value_width);
    if (!of_run) json_put_count(w, "vocabulary", s->vocabulary);
    put_some(w, "embedding_width", s->embedding_width);
    json_put_count(w, "positions", s->positions);
    if (s->vocabulary_multiple > 1)
        json_put_count(w, "vocabulary_multiple", s->vocabulary_multiple);
    put_some(w, "norms", s->norms);
    if (s->qk_norm) json_put_text(w, "qk_norm", qk_norm_names[s->qk_norm]);
    json_put_bool(w, "gated_ffn", s->gated_ffn);
    json_put_bool(w, "rms_norm", s->rms_norm);
    put_set(w, "plain_norms", s->plain_norms);
    if (s->no_final_norm) json_put_bool(w, "final_norm", false);
    put_set(w, "parallel_residual", s->parallel_residual);
    json_put_bool(w, "qkv_bias", s->qkv_bias);
    json_put_bool(w, "linear_bias", s->linear_bias);
    if (s->output_bias) json_put_bool(w, "output_bias", s->output_bias > 0);
    json_put_bool(w, "dropout", s->dropout);
    if (!of_run) json_put_bool(w, "tied_embeddings", s->tied_embeddings);
    if (s->activation) json_put_text(w, "activation", s->activation);
    put_number(w, "norm_epsilon", s->norm_epsilon);
    put_number(w, "mtp_loss_scale", s->mtp_loss_scale);
    put_number(w, "rotary_base", s->rotary_base);
    put_number(w, "rotary_share", s->rotary_share);
    put_number(w, "rotary_factor", s->rotary_factor);
    rotary_put(w, &s->rotary_scaling);
    json_close_object(w);
}

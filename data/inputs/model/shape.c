// A model's shape: read, checked, written. docs/FORMATS.md explains every key.
#include "data/inputs/model/internal.h"

static const char *const qk_norm_names[] = {"none", "head", "whole", NULL};

#define HIDDEN_MAX (1 << 20)
#define HEAD_WIDTH_MAX (1 << 16)
#define ROTARY_MAX 1e15

// ---- reading and writing

// Defaults of what a user may omit.
GET_MEMBER(finish_shape)
{
    struct shape *s = to;
    bool as_linear = !json_has(value, "output_bias") || s->output_bias == s->linear_bias;
    s->output_bias = as_linear ? 0 : s->output_bias ? 1 : -1;
    if (s->vocabulary_multiple == 1) s->vocabulary_multiple = 0;
    if (s->embedding_width == s->hidden) s->embedding_width = 0;
    if (s->norms == 2) s->norms = 0;
    if (!s->kv_heads) s->kv_heads = s->heads;
    if (s->head_width) return OK;
    if (s->hidden % s->heads)
        return json_refuse(
            value, err,
            "key \"head_width\" is missing, and hidden %lld is no multiple of heads %lld",
            (long long)s->hidden, (long long)s->heads);
    s->head_width = s->hidden / s->heads;
    return OK;
}

// How rotary positions are stretched, with Hugging Face's names.
static const struct member rotary_rows[] = {
    KEY_TEXT(rotary_scaling, type, REQUIRED),
    KEY_NUMBER(rotary_scaling, low_freq_factor, OPTIONAL, IF_SET, 0, ROTARY_MAX),
    KEY_NUMBER(rotary_scaling, high_freq_factor, OPTIONAL, IF_SET, 0, ROTARY_MAX),
    KEY_OF("original_max_position_embeddings", JSON_COUNT, OPTIONAL, IF_SET,
           offsetof(struct rotary_scaling, original_positions), 0, ROTARY_MAX, NULL, NULL, NULL),
    KEY_NUMBER(rotary_scaling, beta_fast, OPTIONAL, IF_SET, 0, ROTARY_MAX),
    KEY_NUMBER(rotary_scaling, beta_slow, OPTIONAL, IF_SET, 0, ROTARY_MAX),
    KEY_NUMBER(rotary_scaling, mscale, OPTIONAL, IF_SET, 0, ROTARY_MAX),
    KEY_NUMBER(rotary_scaling, mscale_all_dim, OPTIONAL, IF_SET, 0, ROTARY_MAX),
};
static MEMBERS(rotary, struct rotary_scaling, NULL, true, NULL);

static const char *const rule_names[] = {"delta",     "state_space", "selective_scan",
                                         "lightning", "convolution", NULL};

static const struct member linear_rows[] = {
    KEY_NAME(linear_shape, rule, OPTIONAL, IF_SET, rule_names),
    KEY_COUNT(linear_shape, key_heads, OPTIONAL, IF_SET, 0, 1 << 16),
    KEY_COUNT(linear_shape, value_heads, REQUIRED, ALWAYS_WRITTEN, 1, 1 << 16),
    KEY_COUNT(linear_shape, key_width, OPTIONAL, IF_SET, 0, HEAD_WIDTH_MAX),
    KEY_COUNT(linear_shape, value_width, REQUIRED, ALWAYS_WRITTEN, 1, HEAD_WIDTH_MAX),
    KEY_COUNT(linear_shape, convolution, OPTIONAL, IF_SET, 0, 64),
    KEY_UNLESS("norm", linear_shape, no_norm),
    KEY_COUNT(linear_shape, decay_rank, OPTIONAL, IF_SET, 0, HIDDEN_MAX),
    KEY_COUNT(linear_shape, gate_rank, OPTIONAL, IF_SET, 0, HIDDEN_MAX),
};
static MEMBERS(linear, struct linear_shape, NULL, true, NULL);

// A run's own shape lacks what only an embedding and a head have. output_bias and linear_bias:
// output_bias is a separate key only if the two differ. final_norm is the opposite of its member.
#define SHAPE_ROWS(vocabulary, multiple, final_norm, tied)                                         \
    KEY_COUNT(shape, hidden, REQUIRED, ALWAYS_WRITTEN, 1, HIDDEN_MAX),                             \
        KEY_COUNT(shape, ffn, REQUIRED, ALWAYS_WRITTEN, 1, 1 << 22),                               \
        KEY_COUNT(shape, heads, REQUIRED, ALWAYS_WRITTEN, 1, 1 << 16),                             \
        KEY_COUNT(shape, kv_heads, OPTIONAL, ALWAYS_WRITTEN, 1, 1 << 16),                          \
        KEY_COUNT(shape, head_width, OPTIONAL, ALWAYS_WRITTEN, 1, HEAD_WIDTH_MAX),                 \
        KEY_COUNT(shape, query_rank, OPTIONAL, IF_SET, 0, HIDDEN_MAX),                             \
        KEY_COUNT(shape, kv_rank, OPTIONAL, IF_SET, 0, HIDDEN_MAX),                                \
        KEY_COUNT(shape, rotary_width, OPTIONAL, IF_SET, 0, HEAD_WIDTH_MAX),                       \
        KEY_COUNT(shape, value_width, OPTIONAL, IF_SET, 1, HEAD_WIDTH_MAX),                        \
        KEY_COUNT(shape, index_heads, OPTIONAL, IF_SET, 1, 1 << 12),                               \
        KEY_COUNT(shape, index_width, OPTIONAL, IF_SET, 1, HEAD_WIDTH_MAX),                        \
        KEY_COUNT(shape, index_top_k, OPTIONAL, IF_SET, 1, 1 << 26),                               \
        vocabulary KEY_COUNT(shape, positions, OPTIONAL, ALWAYS_WRITTEN, 0, 1 << 26),              \
        multiple KEY_INT(shape, norms, OPTIONAL, IF_SET, 1, 8),                                    \
        KEY_NAME(shape, qk_norm, OPTIONAL, IF_SET, qk_norm_names),                                 \
        KEY_BOOL(shape, gated_attention, OPTIONAL, IF_SET),                                        \
        KEY_BOOL(shape, keys_as_values, OPTIONAL, IF_SET),                                         \
        KEY_BOOL(shape, keys_reused, OPTIONAL, IF_SET),                                            \
        KEY_OBJECT("linear", shape, linear, OPTIONAL, IF_SET, &linear_members),                    \
        KEY_BOOL(shape, gated_ffn, OPTIONAL, ALWAYS_WRITTEN),                                      \
        KEY_BOOL(shape, rms_norm, OPTIONAL, ALWAYS_WRITTEN),                                       \
        KEY_BOOL(shape, plain_norms, OPTIONAL, IF_SET),                                            \
        final_norm KEY_BOOL(shape, parallel_residual, OPTIONAL, IF_SET),                           \
        KEY_BOOL(shape, qkv_bias, OPTIONAL, ALWAYS_WRITTEN),                                       \
        KEY_BOOL(shape, linear_bias, OPTIONAL, ALWAYS_WRITTEN), KEY_FLAG(shape, output_bias),      \
        KEY_BOOL(shape, dropout, OPTIONAL, ALWAYS_WRITTEN),                                        \
        tied KEY_TEXT(shape, activation, OPTIONAL),                                                \
        KEY_NUMBER(shape, norm_epsilon, OPTIONAL, IF_SET, 0, 1),                                   \
        KEY_NUMBER(shape, score_width, OPTIONAL, IF_SET, 0, 1e6),                                  \
        KEY_NUMBER(shape, mtp_loss_scale, OPTIONAL, IF_SET, 0, 1e6),                               \
        KEY_NUMBER(shape, rotary_base, OPTIONAL, IF_SET, 0, 1e15),                                 \
        KEY_NUMBER(shape, rotary_share, OPTIONAL, IF_SET, 0, 1),                                   \
        KEY_NUMBER(shape, rotary_factor, OPTIONAL, IF_SET, 0, ROTARY_MAX),                         \
        KEY_OBJECT("rotary_scaling", shape, rotary_scaling, OPTIONAL, IF_SET, &rotary_members)
#define VOCABULARY                                                                                 \
    KEY_COUNT(shape, vocabulary, REQUIRED, IF_SET, 1, 1 << 26),                                    \
        KEY_COUNT(shape, embedding_width, OPTIONAL, IF_SET, 1, HIDDEN_MAX),
#define MULTIPLE KEY_COUNT(shape, vocabulary_multiple, OPTIONAL, IF_SET, 1, 1 << 16),
#define FINAL_NORM KEY_UNLESS("final_norm", shape, no_final_norm),
#define TIED KEY_BOOL(shape, tied_embeddings, OPTIONAL, ALWAYS_WRITTEN),

static const struct member shape_rows[] = {SHAPE_ROWS(VOCABULARY, MULTIPLE, FINAL_NORM, TIED)};
MEMBERS(shape, struct shape, NULL, false, finish_shape);
static const struct member own_shape_rows[] = {SHAPE_ROWS(, , , )};
MEMBERS(own_shape, struct shape, NULL, false, finish_shape);

void shape_put(struct json_writer *w, const char *key, const struct shape *s,
               const struct members *members)
{
    struct shape written = *s;
    written.output_bias = s->output_bias ? s->output_bias > 0 : -1;
    if (s->vocabulary_multiple == 1) written.vocabulary_multiple = 0;
    members_write(w, key, members, &written, NULL);
}

// ---- checking

static enum status check_heads(const struct shape *s, struct error *err)
{
    if (s->heads % s->kv_heads)
        return refuse(err, "kv_heads: expected a divisor of heads %lld, found %lld",
                      (long long)s->heads, (long long)s->kv_heads);
    if (s->heads * s->head_width > 1 << 22 || s->heads * s->value_width > 1 << 22)
        return refuse(err, "head_width: expected heads x head_width of at most 4194304, found %lld",
                      (long long)(s->heads * s->head_width));
    return OK;
}

// Keys and values of all heads come out of one latent; a part of each key does not.
static enum status check_latents(const struct shape *s, struct error *err)
{
    if (!s->kv_rank && (s->query_rank || s->rotary_width))
        return refuse(
            err, "kv_rank: query_rank and rotary_width are of latent attention, which needs it");
    if (!s->kv_rank && s->value_width && s->gated_attention)
        return refuse(err, "value_width: expected none in gated attention");
    bool all = s->index_heads && s->index_width && s->index_top_k && s->kv_rank;
    if (!all && (s->index_heads || s->index_width || s->index_top_k))
        return refuse(err, "index_heads: expected index_heads, index_width and index_top_k "
                           "together, and a kv_rank");
    if (s->keys_as_values && (s->kv_rank || s->value_width))
        return refuse(err, "keys_as_values: expected false with kv_rank or a value_width");
    if (s->keys_reused && (s->kv_rank || s->keys_as_values))
        return refuse(err, "keys_reused: expected false with kv_rank or keys_as_values");
    if (s->kv_rank && (s->kv_heads != s->heads || s->rotary_width > s->head_width || s->qk_norm ||
                       s->gated_attention))
        return refuse(err,
                      "kv_rank: expected kv_heads equal to heads, rotary_width of at most "
                      "head_width, qk_norm \"none\" and gated_attention false in latent attention");
    return OK;
}

// Which sizes a rule has.
static enum status check_linear_rule(const struct linear_shape *l, struct error *err)
{
    bool state = l->rule != LINEAR_CONVOLUTION, scan = l->rule == LINEAR_SCAN,
         delta = l->rule == LINEAR_DELTA, latents = l->decay_rank || l->gate_rank;
    if (state != (l->key_heads > 0) || state != (l->key_width > 0))
        return refuse(err, "linear.%s: expected %s, found %lld",
                      state != (l->key_heads > 0) ? "key_heads" : "key_width",
                      state ? "at least 1" : "none for rule \"convolution\"",
                      (long long)(state != (l->key_heads > 0) ? l->key_heads : l->key_width));
    if (scan && (l->key_heads != 1 || l->value_width != 1 || !l->decay_rank || l->gate_rank))
        return refuse(err, "linear.rule: expected key_heads 1, value_width 1, a decay_rank and no "
                           "gate_rank for \"selective_scan\"");
    if (latents && !scan && !delta)
        return refuse(err, "linear.%s: expected none for rule \"%s\"",
                      l->decay_rank ? "decay_rank" : "gate_rank", rule_names[l->rule]);
    if (!state && !l->convolution)
        return refuse(err, "linear.convolution: expected at least 1 for rule \"convolution\"");
    return OK;
}

static enum status check_linear(const struct linear_shape *l, struct error *err)
{
    int64_t wider = l->key_width > l->value_width ? l->key_width : l->value_width,
            heads = l->key_heads ? l->key_heads : 1;
    if (!l->value_heads && !l->key_heads) return OK;
    TRY(members_check(&linear_members, l, "linear.", err));
    TRY(check_linear_rule(l, err));
    if (l->value_heads % heads || l->value_heads * wider > 1 << 22)
        return refuse(err,
                      "linear.value_heads: expected a multiple of key_heads %lld, and value_heads "
                      "x width of at most 4194304, found %lld",
                      (long long)l->key_heads, (long long)l->value_heads);
    return OK;
}

enum status shape_check(const struct shape *s, bool of_run, struct error *err)
{
    if (!of_run != (s->vocabulary > 0))
        return refuse(err, "vocabulary: expected %s, found %lld", of_run ? "none" : "at least 1",
                      (long long)s->vocabulary);
    TRY(members_check(of_run ? &own_shape_members : &shape_members, s, "", err));
    TRY(check_heads(s, err));
    TRY(check_linear(&s->linear, err));
    return check_latents(s, err);
}

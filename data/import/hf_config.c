// Hugging Face configs. The file says which class reads it (model_type), and leaves out what equals
// that class's default, so every default here is per class. What the class does and the file never
// says (gated FFN, kind of norm, learned positions) is set by class. Source: the configuration
// classes of transformers; docs/FORMATS.md lists the mapping.
#include "data/import/hf_config.h"

#include <string.h>

enum hf_class {
    HF_LLAMA,
    HF_MISTRAL,
    HF_QWEN2,
    HF_MIXTRAL,
    HF_QWEN2_MOE,
    HF_GPT2,
    HF_GPT_NEOX,
    HF_OPT
};
static const char *const class_names[] = {"llama", "mistral",  "qwen2", "mixtral", "qwen2_moe",
                                          "gpt2",  "gpt_neox", "opt",   NULL};

#define SIZE_MAX_EACH 67108864.0 // 2^26; model_check sets the tighter ranges

static enum status read_lenient(const struct json *root, const struct json_field *fields,
                                size_t count, struct arena *arena, struct error *err)
{
    return json_fields(root, fields, count, JSON_LENIENT, arena, err);
}

static bool is_present(const struct json *root, const char *key, struct arena *arena)
{
    struct error ignored = {OK, ""};
    struct json_field required[] = {{.key = key, .type = JSON_SKIP, .need = REQUIRED}};
    return json_fields(root, required, 1, JSON_ENVELOPE, arena, &ignored) == OK;
}

// ---- what cannot be imported

static enum status refuse_others(const struct json *root, bool experts_known, struct arena *arena,
                                 struct error *err)
{
    static const char *const expert_keys[] = {"num_local_experts", "num_experts",
                                              "n_routed_experts",  "moe_intermediate_size",
                                              "moe_num_experts",   "num_experts_per_tok"};
    static const char *const modality_keys[] = {"text_config", "vision_config", "audio_config"};
    int64_t experts[ARRAY_LENGTH(expert_keys)] = {0};
    for (size_t i = 0; i < ARRAY_LENGTH(modality_keys); i++)
        if (is_present(root, modality_keys[i], arena))
            return json_refuse(root, err,
                               "key \"%s\": models of several modalities cannot be imported",
                               modality_keys[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(expert_keys) && !experts_known; i++) {
        struct json_field fields[] = {
            FIELD_COUNT(expert_keys[i], OPTIONAL, &experts[i], 0, JSON_COUNT_MAX)};
        TRY(read_lenient(root, fields, 1, arena, err));
        if (experts[i] > 0)
            return json_refuse(root, err, "key \"%s\": mixtures of experts cannot be imported",
                               expert_keys[i]);
    }
    bool encoder_decoder = false, cross_attention = false;
    struct json_field fields[] = {
        FIELD_BOOL("is_encoder_decoder", OPTIONAL, &encoder_decoder),
        FIELD_BOOL("add_cross_attention", OPTIONAL, &cross_attention),
    };
    TRY(read_lenient(root, fields, ARRAY_LENGTH(fields), arena, err));
    if (encoder_decoder || cross_attention)
        return json_refuse(root, err, "encoder-decoder models cannot be imported");
    return OK;
}

// ---- by class

// Key and value heads: absent means the class's default (0: as many as heads), null means as many
// as heads.
static enum status read_kv_heads(const struct json *root, struct shape *s, int64_t absent,
                                 struct arena *arena, struct error *err)
{
    const char *key = "num_key_value_heads";
    struct json_field fields[] = {FIELD_COUNT(key, OPTIONAL, &s->kv_heads, 1, SIZE_MAX_EACH)};
    TRY(read_lenient(root, fields, 1, arena, err));
    if (!s->kv_heads && absent && !is_present(root, key, arena)) s->kv_heads = absent;
    if (!s->kv_heads) s->kv_heads = s->heads;
    return OK;
}

static enum status read_llama(const struct json *root, enum hf_class class, struct shape *s,
                              int64_t *layers, struct arena *arena, struct error *err)
{
    bool attention_bias = false, mlp_bias = false;
    double dropout = 0;
    *s = (struct shape){.gated_ffn = true, .rms_norm = true};
    struct json_field fields[] = {
        FIELD_COUNT("hidden_size", REQUIRED, &s->hidden, 1, SIZE_MAX_EACH),
        FIELD_COUNT("intermediate_size", REQUIRED, &s->ffn, 1, SIZE_MAX_EACH),
        FIELD_COUNT("num_hidden_layers", REQUIRED, layers, 1, SIZE_MAX_EACH),
        FIELD_COUNT("num_attention_heads", REQUIRED, &s->heads, 1, SIZE_MAX_EACH),
        FIELD_COUNT("vocab_size", REQUIRED, &s->vocabulary, 1, SIZE_MAX_EACH),
        FIELD_COUNT("head_dim", OPTIONAL, &s->head_width, 1, SIZE_MAX_EACH),
        FIELD_BOOL("tie_word_embeddings", OPTIONAL, &s->tied_embeddings),
        FIELD_BOOL("attention_bias", OPTIONAL, &attention_bias),
        FIELD_BOOL("mlp_bias", OPTIONAL, &mlp_bias),
        FIELD_NUMBER("attention_dropout", OPTIONAL, &dropout, 0, 1),
    };
    TRY(read_lenient(root, fields, ARRAY_LENGTH(fields), arena, err));
    s->qkv_bias = class == HF_QWEN2 || class == HF_QWEN2_MOE ||
                  (class == HF_LLAMA && attention_bias);
    s->linear_bias = class == HF_LLAMA && mlp_bias;
    s->dropout = dropout > 0;
    return read_kv_heads(root, s,
                         class == HF_MISTRAL || class == HF_MIXTRAL ? 8
                         : class == HF_QWEN2                        ? 32
                         : class == HF_QWEN2_MOE                    ? 16
                                                                    : 0,
                         arena, err);
}

// What a mixture's layers have beside what its class shares with llama.
static enum status read_experts(const struct json *root, enum hf_class class, const struct shape *s,
                                struct expert_shape *e, struct arena *arena, struct error *err)
{
    bool mixtral = class == HF_MIXTRAL;
    int64_t step = 1;
    struct json dense = {0};
    *e = (struct expert_shape){.experts = mixtral ? 8 : 60,
                               .top_k = mixtral ? 2 : 4,
                               .ffn = mixtral ? s->ffn : 1408,
                               .shared_ffn = mixtral ? 0 : 5632,
                               .imbalance = 1};
    struct json_field fields[] = {
        FIELD_COUNT(mixtral ? "num_local_experts" : "num_experts", OPTIONAL, &e->experts, 1,
                    SIZE_MAX_EACH),
        FIELD_COUNT("num_experts_per_tok", OPTIONAL, &e->top_k, 1, SIZE_MAX_EACH),
        FIELD_COUNT("moe_intermediate_size", OPTIONAL, &e->ffn, 1, SIZE_MAX_EACH),
        FIELD_COUNT("shared_expert_intermediate_size", OPTIONAL, &e->shared_ffn, 0, SIZE_MAX_EACH),
        FIELD_COUNT("decoder_sparse_step", OPTIONAL, &step, 0, SIZE_MAX_EACH),
        FIELD_ARRAY("mlp_only_layers", OPTIONAL, &dense),
    };
    TRY(read_lenient(root, fields, ARRAY_LENGTH(fields), arena, err));
    if (step != 1 || (json_is_present(&dense) && json_length(&dense)))
        return json_refuse(root, err,
                           "decoder_sparse_step, mlp_only_layers: mixtures with dense layers among "
                           "them cannot be imported");
    return OK;
}

static enum status read_gpt2(const struct json *root, struct shape *s, int64_t *layers,
                             struct arena *arena, struct error *err)
{
    double attention = 0.1, residual = 0.1, embedding = 0.1;
    *s = (struct shape){.qkv_bias = true, .linear_bias = true, .tied_embeddings = true};
    *layers = 0;
    struct json_field aliases[] = {
        // the class takes the common names as well
        FIELD_COUNT("hidden_size", OPTIONAL, &s->hidden, 1, SIZE_MAX_EACH),
        FIELD_COUNT("num_hidden_layers", OPTIONAL, layers, 1, SIZE_MAX_EACH),
        FIELD_COUNT("num_attention_heads", OPTIONAL, &s->heads, 1, SIZE_MAX_EACH),
        FIELD_COUNT("max_position_embeddings", OPTIONAL, &s->positions, 1, SIZE_MAX_EACH),
    };
    TRY(read_lenient(root, aliases, ARRAY_LENGTH(aliases), arena, err));
    struct json_field fields[] = {
        FIELD_COUNT("n_embd", s->hidden ? OPTIONAL : REQUIRED, &s->hidden, 1, SIZE_MAX_EACH),
        FIELD_COUNT("n_layer", *layers ? OPTIONAL : REQUIRED, layers, 1, SIZE_MAX_EACH),
        FIELD_COUNT("n_head", s->heads ? OPTIONAL : REQUIRED, &s->heads, 1, SIZE_MAX_EACH),
        FIELD_COUNT("n_positions", s->positions ? OPTIONAL : REQUIRED, &s->positions, 1,
                    SIZE_MAX_EACH),
        FIELD_COUNT("n_inner", OPTIONAL, &s->ffn, 1, SIZE_MAX_EACH),
        FIELD_COUNT("vocab_size", REQUIRED, &s->vocabulary, 1, SIZE_MAX_EACH),
        FIELD_BOOL("tie_word_embeddings", OPTIONAL, &s->tied_embeddings),
        FIELD_NUMBER("attn_pdrop", OPTIONAL, &attention, 0, 1),
        FIELD_NUMBER("resid_pdrop", OPTIONAL, &residual, 0, 1),
        FIELD_NUMBER("embd_pdrop", OPTIONAL, &embedding, 0, 1),
    };
    TRY(read_lenient(root, fields, ARRAY_LENGTH(fields), arena, err));
    if (!s->ffn) s->ffn = 4 * s->hidden;
    s->kv_heads = s->heads;
    s->dropout = attention > 0 || residual > 0 || embedding > 0;
    return OK;
}

static enum status read_gpt_neox(const struct json *root, struct shape *s, int64_t *layers,
                                 struct arena *arena, struct error *err)
{
    double attention = 0, hidden = 0;
    *s = (struct shape){.qkv_bias = true, .linear_bias = true};
    struct json_field fields[] = {
        FIELD_COUNT("hidden_size", REQUIRED, &s->hidden, 1, SIZE_MAX_EACH),
        FIELD_COUNT("intermediate_size", REQUIRED, &s->ffn, 1, SIZE_MAX_EACH),
        FIELD_COUNT("num_hidden_layers", REQUIRED, layers, 1, SIZE_MAX_EACH),
        FIELD_COUNT("num_attention_heads", REQUIRED, &s->heads, 1, SIZE_MAX_EACH),
        FIELD_COUNT("vocab_size", REQUIRED, &s->vocabulary, 1, SIZE_MAX_EACH),
        FIELD_BOOL("tie_word_embeddings", OPTIONAL, &s->tied_embeddings),
        FIELD_BOOL("attention_bias", OPTIONAL, &s->qkv_bias),
        FIELD_NUMBER("attention_dropout", OPTIONAL, &attention, 0, 1),
        FIELD_NUMBER("hidden_dropout", OPTIONAL, &hidden, 0, 1),
    };
    TRY(read_lenient(root, fields, ARRAY_LENGTH(fields), arena, err));
    s->kv_heads = s->heads;
    s->dropout = attention > 0 || hidden > 0;
    return OK;
}

static enum status read_opt(const struct json *root, struct shape *s, int64_t *layers,
                            struct arena *arena, struct error *err)
{
    double attention = 0, hidden = 0.1;
    int64_t projection = 0, positions = 2048;
    bool bias = true;
    *s = (struct shape){.tied_embeddings = true};
    struct json_field fields[] = {
        FIELD_COUNT("hidden_size", REQUIRED, &s->hidden, 1, SIZE_MAX_EACH),
        FIELD_COUNT("ffn_dim", REQUIRED, &s->ffn, 1, SIZE_MAX_EACH),
        FIELD_COUNT("num_hidden_layers", REQUIRED, layers, 1, SIZE_MAX_EACH),
        FIELD_COUNT("num_attention_heads", REQUIRED, &s->heads, 1, SIZE_MAX_EACH),
        FIELD_COUNT("vocab_size", REQUIRED, &s->vocabulary, 1, SIZE_MAX_EACH),
        FIELD_COUNT("max_position_embeddings", OPTIONAL, &positions, 1, SIZE_MAX_EACH - 2),
        FIELD_COUNT("word_embed_proj_dim", OPTIONAL, &projection, 1, SIZE_MAX_EACH),
        FIELD_BOOL("enable_bias", OPTIONAL, &bias),
        FIELD_BOOL("tie_word_embeddings", OPTIONAL, &s->tied_embeddings),
        FIELD_NUMBER("attention_dropout", OPTIONAL, &attention, 0, 1),
        FIELD_NUMBER("dropout", OPTIONAL, &hidden, 0, 1),
    };
    TRY(read_lenient(root, fields, ARRAY_LENGTH(fields), arena, err));
    if (projection && projection != s->hidden)
        return json_refuse(root, err,
                           "word_embed_proj_dim: expected hidden_size %lld, found %lld: projected "
                           "embeddings cannot be imported",
                           (long long)s->hidden, (long long)projection);
    s->kv_heads = s->heads;
    s->positions = positions + 2; // the class offsets positions by two rows
    s->qkv_bias = s->linear_bias = bias;
    s->dropout = attention > 0 || hidden > 0;
    return OK;
}

// ---- the model

static enum status read_class(const struct json *root, enum hf_class class, struct shape *s,
                              int64_t *layers, struct arena *arena, struct error *err)
{
    switch (class) {
    case HF_LLAMA:
    case HF_MISTRAL:
    case HF_QWEN2:
    case HF_MIXTRAL:
    case HF_QWEN2_MOE: return read_llama(root, class, s, layers, arena, err);
    case HF_GPT2: return read_gpt2(root, s, layers, arena, err);
    case HF_GPT_NEOX: return read_gpt_neox(root, s, layers, arena, err);
    case HF_OPT: return read_opt(root, s, layers, arena, err);
    }
    return OK;
}

static const char *last_part(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static void set_runs(struct model *m, int64_t layers, struct arena *arena)
{
    m->run_count = 3;
    m->runs = TAKE(arena, m->run_count, struct layer_run);
    m->runs[0] = (struct layer_run){.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1};
    m->runs[1] = (struct layer_run){
        .name = "block", .kind = LAYER_BLOCK, .count = (int)layers, .recomputable = true};
    m->runs[2] = (struct layer_run){.name = "head", .kind = LAYER_HEAD, .count = 1};
    m->layer_count = (int)layers + 2;
}

enum status model_import_hf(struct model *m, const char *path, const char *name, const char *output,
                            struct arena *arena, struct error *err)
{
    const char *text, *model_type = NULL, *name_or_path = NULL;
    size_t size;
    struct json root;
    int64_t layers = 0;
    int class = 0;
    struct document config = {.path = arena_copy_text(arena, path)};
    *m = (struct model){.document.path = config.path, .has_shape = true};
    TRY(file_read(path, &text, &size, arena, err));
    sha256_text(text, size, config.sha256);
    TRY(json_parse(&root, config.path, text, size, arena, err));
    struct json_field fields[] = {
        FIELD_TEXT("model_type", REQUIRED, &model_type),
        FIELD_TEXT("_name_or_path", OPTIONAL, &name_or_path),
    };
    TRY(read_lenient(&root, fields, ARRAY_LENGTH(fields), arena, err));
    bool mixture = !strcmp(model_type, class_names[HF_MIXTRAL]) ||
                   !strcmp(model_type, class_names[HF_QWEN2_MOE]);
    TRY(refuse_others(&root, mixture, arena, err));
    struct json_field type[] = {FIELD_NAME("model_type", REQUIRED, &class, class_names)};
    TRY(read_lenient(&root, type, 1, arena, err));
    TRY(read_class(&root, (enum hf_class) class, &m->shape, &layers, arena, err));
    if (!m->shape.head_width) {
        if (m->shape.hidden % m->shape.heads)
            return json_refuse(&root, err,
                               "hidden size: expected a multiple of the %lld heads, found %lld",
                               (long long)m->shape.heads, (long long)m->shape.hidden);
        m->shape.head_width = m->shape.hidden / m->shape.heads;
    }
    if (layers > LAYERS_MAX - 2)
        return json_refuse(&root, err, "expected at most %d layers, found %lld", LAYERS_MAX - 2,
                           (long long)layers);
    set_runs(m, layers, arena);
    if (mixture) {
        m->runs[1].kind = LAYER_MOE;
        TRY(read_experts(&root, (enum hf_class) class, &m->shape, &m->runs[1].experts, arena, err));
    }
    const char *last = last_part(name_or_path);
    m->name = name ? name : last && *last ? last : model_type;
    m->document.sources = TAKE(arena, 1, struct source);
    m->document.sources[0] = source_of("config", &config, output, arena);
    m->document.source_count = 1;
    return model_check(m, err);
}

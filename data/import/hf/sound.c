// Encoders of sound alone: convolutions over samples, blocks, and what reads every frame.
#include <string.h>

#include "data/import/hf/internal.h"

enum { SAMPLES = 160000, CONVOLUTIONS_MOST = 32 }; // ten seconds; the classes accept any length

static const struct sound_class {
    const char *name;
    bool several; // convolutions of positions with weights as they are; otherwise one, normed
    bool related; // positions of keys have a table in the first layer and gates in each
} sound_classes[] = {
    {"wav2vec2", false, false},      {"hubert", false, false}, {"unispeech-sat", false, false},
    {"data2vec-audio", true, false}, {"wavlm", false, true},
};

static const struct sound_class *find_sound_class(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LENGTH(sound_classes); i++)
        if (!strcmp(sound_classes[i].name, name)) return &sound_classes[i];
    return NULL;
}

bool hf_is_of_sound(const char *type) { return find_sound_class(type) != NULL; }

// Widths, kernels and strides of the convolutions, one after the other.
static enum status read_lists(const struct hf_model *x, int64_t **lists, int *count,
                              struct error *err)
{
    static const char *const keys[] = {"conv_dim", "conv_kernel", "conv_stride"};
    static int64_t usual[][7] = {
        {512, 512, 512, 512, 512, 512, 512}, {10, 3, 3, 3, 3, 2, 2}, {5, 2, 2, 2, 2, 2, 2}};
    *count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        struct json array = {0};
        int found = ARRAY_LENGTH(usual[i]);
        struct json_field fields[] = {FIELD_ARRAY(keys[i], OPTIONAL, &array)};
        TRY(HF_FIELDS(x, fields, err));
        lists[i] = usual[i];
        if (json_is_present(&array))
            TRY(json_counts(&array, 1, 65536, &lists[i], &found, x->arena, err));
        if (found < 1 || found > CONVOLUTIONS_MOST || (i && found != *count))
            return json_refuse(x->root, err, "key \"%s\": expected %s, found %d", keys[i],
                               i ? "as many as conv_dim" : "1 to 32 widths", found);
        *count = found;
    }
    return OK;
}

struct sound {
    int64_t layers, frames, channels;
    struct layer_run runs[CONVOLUTIONS_MOST + 4];
    int count;
};

static struct layer_run *add(struct sound *to, const char *name, struct projector_shape shape,
                             int64_t more)
{
    to->runs[to->count] = (struct layer_run){.name = name,
                                             .kind = LAYER_PROJECTOR,
                                             .count = 1,
                                             .tokens = to->frames,
                                             .projector = shape,
                                             .more_values = more};
    return &to->runs[to->count++];
}

// A norm of each convolution, or of the first alone.
static enum status read_convolutions(struct hf_model *x, const struct sound_class *c,
                                     struct sound *to, struct error *err)
{
    int64_t *lists[3], before = 1;
    int count;
    bool bias = false;
    const char *norm = c->several ? "layer" : "group";
    TRY(read_lists(x, lists, &count, err));
    TRY(hf_flag(x, "conv_bias", &bias, err));
    TRY(hf_text(x, "feat_extract_norm", &norm, err));
    to->frames = SAMPLES;
    for (int i = 0; i < count; i++) {
        int64_t wide = lists[0][i], kernel = lists[1][i];
        if (kernel > to->frames || lists[2][i] > to->frames)
            return json_refuse(x->root, err,
                               "key \"conv_kernel\": convolutions longer than ten seconds");
        to->frames = (to->frames - kernel) / lists[2][i] + 1;
        add(to, arena_print(x->arena, "convolution-%d", i + 1),
            (struct projector_shape){before * kernel, 0, wide, bias},
            i && strcmp(norm, "layer") ? 0 : 2 * wide);
        before = wide;
    }
    to->channels = before;
    return OK;
}

// The frames' projection, and convolutions of positions, whose width is shared by groups.
static enum status read_positions(struct hf_model *x, const struct sound_class *c, struct sound *to,
                                  struct error *err)
{
    static const char *const extra[] = {"conv_pos_batch_norm", "add_adapter"};
    int64_t h = x->shape.hidden, kernel = 128, groups = 16, count = 1, adapter = 0;
    bool normed = true;
    struct json_field masks[2];
    double time = 0.05, feature = 0;
    masks[0] = (struct json_field)FIELD_NUMBER("mask_time_prob", OPTIONAL, &time, 0, 1);
    masks[1] = (struct json_field)FIELD_NUMBER("mask_feature_prob", OPTIONAL, &feature, 0, 1);
    TRY(HF_FIELDS(x, masks, err));
    if (c->several) kernel = 19, count = 5;
    TRY(hf_count(x, "num_conv_pos_embeddings", c->several ? &count : &kernel, err));
    if (c->several) TRY(hf_count(x, "conv_pos_kernel_size", &kernel, err));
    TRY(hf_count(x, "num_conv_pos_embedding_groups", &groups, err));
    TRY(hf_flag(x, "feat_proj_layer_norm", &normed, err));
    TRY(hf_count(x, "adapter_attn_dim", &adapter, err));
    for (size_t i = 0; i < ARRAY_LENGTH(extra); i++) {
        bool set = false;
        TRY(hf_flag(x, extra[i], &set, err));
        if (set || adapter)
            return json_refuse(x->root, err, "key \"%s\": expected none: it is not read",
                               adapter ? "adapter_attn_dim" : extra[i]);
    }
    if (!groups || h % groups || kernel > 65536 || count > 64)
        return json_refuse(x->root, err,
                           "key \"num_conv_pos_embedding_groups\": expected a divisor of "
                           "hidden_size, %lld, found %lld",
                           (long long)h, (long long)groups);
    int64_t each = h / groups * kernel, whole = each / h * h, // what is a product of the run
        values = count * (each * h + h) + (c->several ? 0 : kernel);
    add(to, "frames", (struct projector_shape){to->channels, 0, h, true},
        (normed ? 2 * to->channels : 0) + (time > 0 || feature > 0 ? h : 0));
    if (c->several || whole < h) to->runs[to->count - 1].more_values += values + 2 * h;
    else
        add(to, "positions", (struct projector_shape){whole, 0, h, true},
            values - (whole + 1) * h + 2 * h);
    return OK;
}

static enum status read_sizes(struct hf_model *x, struct sound *to, struct error *err)
{
    struct shape *s = &x->shape;
    const char *const keys[] = {"hidden_size", "num_attention_heads", "num_hidden_layers",
                                "intermediate_size"};
    int64_t *const counts[] = {&s->hidden, &s->heads, &to->layers, &s->ffn};
    *s = (struct shape){.hidden = 768,
                        .ffn = 3072,
                        .heads = 12,
                        .norm_epsilon = 1e-5,
                        .qkv_bias = true,
                        .linear_bias = true,
                        .activation = "gelu"};
    *to = (struct sound){.layers = 12};
    struct json_field fields[] = {FIELD_NUMBER("layer_norm_eps", OPTIONAL, &s->norm_epsilon, 0, 1)};
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        TRY(hf_count(x, keys[i], counts[i], err));
        if (*counts[i] < 1 || *counts[i] > 4194304)
            return json_refuse(x->root, err, "key \"%s\": expected 1 to 2^22", keys[i]);
    }
    TRY(HF_FIELDS(x, fields, err));
    TRY(hf_text(x, "hidden_act", &s->activation, err));
    TRY(HF_DROPOUT(x, err, {"attention_dropout", 0.1}, {"hidden_dropout", 0.1}));
    if (s->hidden % s->heads)
        return json_refuse(x->root, err,
                           "key \"hidden_size\": expected a multiple of num_attention_heads, %lld, "
                           "found %lld",
                           (long long)s->heads, (long long)s->hidden);
    s->kv_heads = s->heads, s->head_width = s->hidden / s->heads;
    return OK;
}

// What reads every frame; none of a Model.
static enum status read_end(struct hf_model *x, const char *built, struct sound *to,
                            struct error *err)
{
    int64_t h = x->shape.hidden, inner = 256, outputs = 32;
    bool sorts = strstr(built, "ForSequenceClassification"), weighs = false;
    size_t length = strlen(built);
    if (length > 5 && !strcmp(built + length - 5, "Model")) return OK;
    if (!sorts && !strstr(built, "ForCTC"))
        return json_refuse(x->root, err,
                           "architectures: \"%s\" is not read: of a %s, its Model, ForCTC and "
                           "ForSequenceClassification are",
                           built, x->class->name);
    TRY(hf_count(x, "vocab_size", &outputs, err));
    TRY(hf_count(x, "classifier_proj_size", &inner, err));
    TRY(hf_flag(x, "use_weighted_layer_sum", &weighs, err));
    if (sorts) TRY(hf_read_labels(x, &outputs, err));
    add(to, "end", (struct projector_shape){h, sorts ? inner : 0, outputs, true},
        sorts && weighs ? to->layers + 1 : 0);
    return OK;
}

enum status hf_build_sound(struct model *m, struct hf_model *x, const char *type, struct error *err)
{
    const struct sound_class *c = find_sound_class(type);
    struct sound *to = TAKE(x->arena, 1, struct sound);
    const char *built = NULL;
    struct hf_class *class = TAKE(x->arena, 1, struct hf_class);
    *class = (struct hf_class){.name = c->name, .textless = true};
    x->class = class;
    TRY(hf_read_architecture(x, &built, err));
    if (!built) said_assume(x->asked->said, "architectures: the Model of a %s", type);
    TRY(read_sizes(x, to, err));
    TRY(read_convolutions(x, c, to, err));
    TRY(read_positions(x, c, to, err));
    int64_t heads = x->shape.heads, buckets = 320;
    if (c->related) {
        TRY(hf_count(x, "num_buckets", &buckets, err));
        to->runs[to->count - 1].more_values += buckets * heads;
    }
    to->runs[to->count++] =
        (struct layer_run){.name = "sound",
                           .kind = LAYER_BLOCK,
                           .count = (int)to->layers,
                           .recomputable = true,
                           .bidirectional = true,
                           .tokens = to->frames,
                           .more_values = c->related ? heads + 8 * (x->shape.head_width + 1) : 0};
    TRY(read_end(x, built ? built : "TheModel", to, err));
    m->runs = to->runs, m->run_count = to->count;
    for (int i = 0; i < m->run_count; i++) m->layer_count += m->runs[i].count;
    m->shape = x->shape, m->shape.no_final_norm = true;
    m->shape.vocabulary = run_width_out(m, &m->runs[m->run_count - 1]); // which no run has
    said_assume(x->asked->said,
                "ten seconds of 16 kHz, %lld frames, are a sequence: the model's \"tokens\" can "
                "state another length",
                (long long)to->frames);
    if (c->several || c->related)
        said_line(x->asked->said, "%s: positions are counted in parameters, not in work", type);
    TRY(hf_say_keys(x, m->document.path, err));
    return model_check(m, err);
}

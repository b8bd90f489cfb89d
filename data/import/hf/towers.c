// Towers of models of several modalities: what comes before the text, as runs with their own shape
// and tokens. Sources: the configuration and model classes of transformers; docs/FORMATS.md lists
// the mapping.
#include <string.h>

#include "data/import/hf/internal.h"

enum { QWEN2_VL_PATCHES = 1024 }; // an image of 448 x 448; the class accepts any size

struct part {
    struct hf_model of; // the tower's own config
    bool present;
};

static enum status find_part(const struct hf_model *whole, const char *key, struct json *json,
                             struct part *to, struct error *err)
{
    struct json_field fields[] = {FIELD_OBJECT(key, OPTIONAL, json)};
    struct hf_asked *asked = TAKE(whole->arena, 1, struct hf_asked);
    TRY(HF_FIELDS(whole, fields, err));
    asked->said = whole->asked->said;
    *to = (struct part){.of = {.root = json, .arena = whole->arena, .asked = asked},
                        .present = json_is_present(json)};
    return to->present ? OK : json_parse(json, "", "{}", 2, whole->arena, err);
}

struct named_count {
    const char *key;
    int64_t *to;
};

static enum status read_counts(const struct part *part, const struct named_count *counts,
                               size_t count, struct error *err)
{
    for (size_t i = 0; i < count && part->present; i++) {
        TRY(hf_count(&part->of, counts[i].key, counts[i].to, err));
        if (*counts[i].to < 1)
            return json_refuse(part->of.root, err, "key \"%s\": expected at least 1",
                               counts[i].key);
    }
    return OK;
}

// Layer norms, biases, two matrices: all of these encoders have them.
static enum status finish_shape(struct shape *s, const struct part *part, const char *activation,
                                struct error *err)
{
    s->kv_heads = s->heads, s->qkv_bias = s->linear_bias = true;
    s->activation = activation;
    if (part->present) TRY(hf_text(&part->of, "hidden_act", &s->activation, err));
    if (s->hidden % s->heads)
        return json_refuse(part->present ? part->of.root : NULL, err,
                           "width of the tower: expected a multiple of its %lld heads, found %lld",
                           (long long)s->heads, (long long)s->hidden);
    s->head_width = s->hidden / s->heads;
    return OK;
}

static struct layer_run projector(const char *name, int64_t inputs, int64_t inner, int64_t outputs,
                                  bool bias, int64_t tokens)
{
    return (struct layer_run){.name = name,
                              .kind = LAYER_PROJECTOR,
                              .count = 1,
                              .projector = {inputs, inner, outputs, bias},
                              .tokens = tokens};
}

static struct layer_run encoder(const char *name, const struct shape *s, int64_t layers,
                                int64_t tokens, struct arena *arena)
{
    struct shape *own = TAKE(arena, 1, struct shape);
    *own = *s;
    return (struct layer_run){.name = name,
                              .kind = LAYER_BLOCK,
                              .count = (int)layers,
                              .recomputable = true,
                              .bidirectional = true,
                              .shape = own,
                              .tokens = tokens};
}

// ---- llava: CLIP's vision model, two linear layers

// Hidden states of several layers are concatenated.
static int64_t feature_layers(const struct hf_model *whole)
{
    struct json list = {0};
    struct error ignored = {OK, ""};
    struct json_field fields[] = {FIELD_ARRAY("vision_feature_layer", OPTIONAL, &list)};
    if (HF_FIELDS(whole, fields, &ignored) != OK || !json_is_present(&list)) return 1;
    return json_length(&list);
}

static enum status read_llava(const struct hf_model *whole, int64_t width, struct hf_tower *to,
                              struct error *err)
{
    struct json json = {0};
    struct part part;
    const char *type = "clip_vision_model", *strategy = "default";
    int64_t patches = 0;
    bool bias = true;
    TRY(find_part(whole, "vision_config", &json, &part, err));
    if (part.present) TRY(hf_text(&part.of, "model_type", &type, err));
    if (strcmp(type, "clip_vision_model")) return OK; // only the text
    if (!part.present) type = "llava";
    TRY(hf_text(whole, "vision_feature_select_strategy", &strategy, err));
    TRY(hf_flag(whole, "multimodal_projector_bias", &bias, err));
    TRY(hf_read_image_tower(&part.of, type, "Model", to, &patches, err));
    to->runs[2] = projector("projector", to->runs[0].projector.outputs * feature_layers(whole),
                            width, width, bias, strcmp(strategy, "full") ? patches : patches + 1);
    to->count = 3;
    return OK;
}

// ---- clip, siglip: an encoder of images beside one of texts

// What is made of an image is as wide as what is made of a text, which comes next here.
static enum status read_pair(const struct hf_model *whole, int64_t width, struct hf_tower *to,
                             struct error *err)
{
    struct json json = {0};
    struct part part;
    const char *kind = NULL;
    int64_t patches, outputs = 512;
    TRY(hf_text(whole, "model_type", &kind, err));
    TRY(find_part(whole, "vision_config", &json, &part, err));
    bool clip = !strcmp(kind, "clip");
    TRY(hf_read_image_tower(&part.of, clip ? "clip_vision_model" : "siglip_vision_model",
                            clip ? "WithProjection" : "Model", to, &patches, err));
    if (clip) {
        TRY(hf_count(whole, "projection_dim", &outputs, err));
        to->runs[2].projector.outputs = outputs;
    }
    if (to->count < 3 || to->runs[2].projector.outputs != width)
        return json_refuse(whole->root, err,
                           "vision_config: expected an end as wide as the text's %lld, found %lld",
                           (long long)width,
                           (long long)(to->count < 3 ? 0 : to->runs[2].projector.outputs));
    said_line(whole->asked->said,
              "%s: its images (%lld patches) are planned before its texts; the products of all "
              "pairs of a batch are left out",
              kind, (long long)patches);
    return OK;
}

// ---- qwen2_vl: patches of two frames each, four neighbouring ones of which become a token

static enum status read_qwen2_vl(const struct hf_model *whole, int64_t width, struct hf_tower *to,
                                 struct error *err)
{
    struct json json = {0};
    struct part part;
    struct shape s = {.hidden = 1280, .heads = 16, .norm_epsilon = 1e-6};
    int64_t layers = 32, channels = 3, frames = 2, patch = 14, merged = 2, outputs = 3584;
    double ratio = 4;
    TRY(find_part(whole, "vision_config", &json, &part, err));
    const struct named_count counts[] = {
        {"embed_dim", &s.hidden},        {"depth", &layers},
        {"num_heads", &s.heads},         {"in_channels", &channels},
        {"patch_size", &patch},          {"temporal_patch_size", &frames},
        {"spatial_merge_size", &merged}, {"hidden_size", &outputs},
    };
    struct json_field fields[] = {FIELD_NUMBER("mlp_ratio", OPTIONAL, &ratio, 0.01, 1000)};
    TRY(read_counts(&part, counts, ARRAY_LENGTH(counts), err));
    if (part.present) TRY(HF_FIELDS(&part.of, fields, err));
    s.ffn = (int64_t)((double)s.hidden * ratio);
    TRY(finish_shape(&s, &part, "quick_gelu", err));
    if (outputs != width)
        return json_refuse(part.present ? part.of.root : whole->root, err,
                           "key \"hidden_size\": expected that of the text, %lld, found %lld",
                           (long long)width, (long long)outputs);
    int64_t square = merged * merged, tokens = (QWEN2_VL_PATCHES + square - 1) / square;
    to->runs[0] = projector("patches", channels * frames * patch * patch, 0, s.hidden, false,
                            tokens * square);
    to->runs[1] = encoder("vision", &s, layers, tokens * square, whole->arena);
    to->runs[2] = projector("merger", s.hidden * square, s.hidden * square, width, true, tokens);
    to->runs[2].more_values = 2 * s.hidden; // a norm of each patch
    to->count = 3;
    return OK;
}

// ---- qwen2_audio: Whisper's encoder, every two frames averaged

static enum status read_qwen2_audio(const struct hf_model *whole, int64_t width,
                                    struct hf_tower *to, struct error *err)
{
    struct json json = {0};
    struct part part;
    struct shape s = {.hidden = 1280, .ffn = 5120, .heads = 20, .norm_epsilon = 1e-5};
    int64_t layers = 32, mels = 128, frames = 1500;
    TRY(find_part(whole, "audio_config", &json, &part, err));
    const struct named_count counts[] = {
        {"d_model", &s.hidden},      {"encoder_ffn_dim", &s.ffn},
        {"encoder_layers", &layers}, {"encoder_attention_heads", &s.heads},
        {"num_mel_bins", &mels},     {"max_source_positions", &frames},
    };
    TRY(read_counts(&part, counts, ARRAY_LENGTH(counts), err));
    if (frames < 2)
        return json_refuse(part.of.root, err, "key \"max_source_positions\": expected at least 2");
    TRY(finish_shape(&s, &part, "gelu", err));
    if (part.present) TRY(hf_text(&part.of, "activation_function", &s.activation, err));
    s.qkv_bias = false, s.output_bias = 0, s.positions = frames;
    // Convolutions over three neighbours, the second with a stride of two.
    to->runs[0] = projector("convolution", 3 * mels, 0, s.hidden, true, 2 * frames);
    to->runs[1] = projector("convolution-2", 3 * s.hidden, 0, s.hidden, true, frames);
    to->runs[1].more_values = frames * s.hidden + 2 * s.hidden; // positions; a norm at the end
    to->runs[2] = encoder("audio", &s, layers, frames, whole->arena);
    to->runs[2].more_values = 2 * s.hidden; // keys have no bias, queries and values do
    to->runs[3] = projector("projector", s.hidden, 0, width, true, frames / 2);
    to->count = 4;
    return OK;
}

static const struct {
    const char *type, *part;
    enum status (*read)(const struct hf_model *whole, int64_t width, struct hf_tower *to,
                        struct error *err);
} towers[] = {{"llava", "vision_config", read_llava},
              {"clip", "vision_config", read_pair},
              {"siglip", "vision_config", read_pair},
              {"qwen2_vl", "vision_config", read_qwen2_vl},
              {"qwen2_audio", "audio_config", read_qwen2_audio}};

const char *hf_tower_name(int i) { return i < (int)ARRAY_LENGTH(towers) ? towers[i].type : NULL; }

bool hf_has_tower(const char *type)
{
    for (int i = 0; hf_tower_name(i); i++)
        if (!strcmp(hf_tower_name(i), type)) return true;
    return false;
}

enum status hf_read_tower(const struct hf_model *whole, const char *type, int64_t width,
                          struct hf_tower *to, struct error *err)
{
    *to = (struct hf_tower){.count = 0};
    for (size_t i = 0; i < ARRAY_LENGTH(towers); i++)
        if (!strcmp(towers[i].type, type)) {
            to->part = towers[i].part;
            return towers[i].read(whole, width, to, err);
        }
    return OK;
}

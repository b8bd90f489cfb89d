// Encoders of images, alone or before text: patches, blocks, and what reads the class token.
#include <string.h>

#include "data/import/hf/internal.h"

// Tokens besides the patches: those with positions, those without; values further to them.
struct image_class {
    const char *name, *activation;
    int64_t patch;
    double epsilon;
    int placed;
    bool by_ratio;             // the width of the feed-forward part is mlp_ratio times hidden
    bool dense;                // the model has a dense layer on the class token
    bool clip, siglip, masked; // a norm before the blocks; a head of attention; a mask's token
    int64_t hidden, ffn, heads, layers, size; // 0: 768, 3072, 12, 12 and 224
};
static const struct image_class image_classes[] = {
    {.name = "vit",
     .activation = "gelu",
     .patch = 16,
     .epsilon = 1e-12,
     .placed = 1,
     .dense = true},
    {.name = "deit",
     .activation = "gelu",
     .patch = 16,
     .epsilon = 1e-12,
     .placed = 2,
     .dense = true},
    {.name = "vit_msn", .activation = "gelu", .patch = 16, .epsilon = 1e-6, .placed = 1},
    {.name = "dinov2",
     .activation = "gelu",
     .patch = 14,
     .epsilon = 1e-6,
     .placed = 1,
     .by_ratio = true,
     .masked = true},
    {.name = "dinov2_with_registers",
     .activation = "gelu",
     .patch = 16,
     .epsilon = 1e-6,
     .placed = 1,
     .by_ratio = true,
     .masked = true},
    {.name = "clip_vision_model",
     .activation = "quick_gelu",
     .patch = 32,
     .epsilon = 1e-5,
     .placed = 1,
     .clip = true},
    {.name = "siglip_vision_model",
     .activation = "gelu_pytorch_tanh",
     .patch = 16,
     .epsilon = 1e-6,
     .siglip = true},
    {.name = "llava", // what its class has without a vision_config
     .activation = "quick_gelu",
     .patch = 14,
     .epsilon = 1e-5,
     .placed = 1,
     .clip = true,
     .hidden = 1024,
     .ffn = 4096,
     .heads = 16,
     .layers = 24,
     .size = 336},
};

static const struct image_class *find_image_class(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LENGTH(image_classes); i++)
        if (!strcmp(image_classes[i].name, name)) return &image_classes[i];
    return NULL;
}

bool hf_is_of_images(const char *type)
{
    const struct image_class *c = find_image_class(type);
    return c && !c->size;
}

struct images {
    int64_t layers, patches, channels, patch, registers;
    bool masked;
    double ratio;
};

static enum status read_images(struct hf_model *x, const struct image_class *c, struct images *to,
                               struct error *err)
{
    struct shape *s = &x->shape;
    int64_t size = c->size ? c->size : 224;
    bool gated = false;
    const char *const keys[] = {"hidden_size", "num_attention_heads", "num_hidden_layers",
                                "image_size",  "patch_size",          "num_channels"};
    int64_t *const counts[] = {&s->hidden, &s->heads,  &to->layers,
                               &size,      &to->patch, &to->channels};
    *s = (struct shape){.hidden = c->hidden ? c->hidden : 768,
                        .ffn = c->ffn ? c->ffn : 3072,
                        .heads = c->heads ? c->heads : 12,
                        .norm_epsilon = c->epsilon,
                        .qkv_bias = true,
                        .linear_bias = true,
                        .activation = c->activation};
    *to = (struct images){.layers = c->layers ? c->layers : 12,
                          .channels = 3,
                          .patch = c->patch,
                          .masked = c->masked,
                          .ratio = 4};
    struct json_field fields[] = {FIELD_NUMBER("layer_norm_eps", OPTIONAL, &s->norm_epsilon, 0, 1),
                                  FIELD_NUMBER("mlp_ratio", OPTIONAL, &to->ratio, 0.01, 1000)};
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        TRY(hf_count(x, keys[i], counts[i], err));
        if (*counts[i] < 1)
            return json_refuse(x->root, err, "key \"%s\": expected at least 1", keys[i]);
    }
    TRY(hf_fields(x, fields, c->by_ratio ? 2 : 1, err));
    TRY(hf_text(x, "hidden_act", &s->activation, err));
    if (!c->clip && !c->siglip) TRY(hf_flag(x, "qkv_bias", &s->qkv_bias, err));
    if (!c->by_ratio) TRY(hf_count(x, "intermediate_size", &s->ffn, err));
    else {
        TRY(hf_flag(x, "use_swiglu_ffn", &gated, err));
        TRY(hf_flag(x, "use_mask_token", &to->masked, err));
        s->ffn = (int64_t)((double)s->hidden * to->ratio);
        if (gated) s->ffn = (s->ffn * 2 / 3 + 7) / 8 * 8, s->activation = "silu";
        s->gated_ffn = gated;
    }
    if (!strcmp(c->name, "dinov2_with_registers")) {
        to->registers = 4;
        TRY(hf_count(x, "num_register_tokens", &to->registers, err));
    }
    TRY(HF_DROPOUT(x, err, {"attention_probs_dropout_prob", 0}, {"hidden_dropout_prob", 0},
                   {"attention_dropout", 0}));
    if (s->hidden % s->heads || to->patch > size)
        return json_refuse(x->root, err, "key \"%s\": expected %s, %lld, found %lld",
                           s->hidden % s->heads ? "hidden_size" : "patch_size",
                           s->hidden % s->heads ? "a multiple of num_attention_heads"
                                                : "at most image_size",
                           (long long)(s->hidden % s->heads ? s->heads : size),
                           (long long)(s->hidden % s->heads ? s->hidden : to->patch));
    double across = (double)size / (double)to->patch,
           inputs = (double)to->patch * (double)to->patch;
    if (across > 4096 || inputs * (double)to->channels > HF_SIZE_MAX)
        return json_refuse(x->root, err, "key \"image_size\": too many patches, or too large ones");
    s->output_bias = s->qkv_bias ? 0 : 1;
    s->kv_heads = s->heads, s->head_width = s->hidden / s->heads;
    to->patches = (size / to->patch) * (size / to->patch);
    return OK;
}

// What reads the class token, or SigLIP's own that has seen all: count 0 if nothing does.
static enum status read_end(struct hf_model *x, const struct image_class *c, const char *built,
                            struct layer_run *to, struct error *err)
{
    const struct shape *s = &x->shape;
    int64_t h = s->hidden, outputs = h, labels = 2;
    bool head = true;
    *to = (struct layer_run){.name = "end", .kind = LAYER_PROJECTOR, .tokens = 1};
    const char *task = strstr(built, "ForImageClassification");
    if (task && !strcmp(task, "ForImageClassification") && !c->clip && !c->siglip) {
        TRY(hf_read_labels(x, &labels, err));
        to->projector = (struct projector_shape){c->by_ratio ? 2 * h : h, 0, labels, true};
    } else if (strstr(built, "WithProjection") && c->clip) {
        outputs = 512;
        TRY(hf_count(x, "projection_dim", &outputs, err));
        to->projector = (struct projector_shape){h, 0, outputs, false};
    } else if (strcmp(built + strlen(built) - 5, "Model"))
        return json_refuse(x->root, err, "architectures: \"%s\" is not read: of a %s, its Model%s",
                           built, c->name,
                           c->clip     ? " and ModelWithProjection are"
                           : c->siglip ? " is"
                                       : " and ForImageClassification are");
    else if (c->siglip) {
        TRY(hf_flag(x, "vision_use_head", &head, err));
        to->projector = (struct projector_shape){h, s->ffn, h, true};
        to->more_values = 4 * (h + 1) * h + 3 * h;
        if (!head) return OK;
        said_line(x->asked->said, "%s: its head's attention is counted in parameters, not in work",
                  c->name);
    } else if (c->dense) {
        TRY(hf_count(x, "pooler_output_size", &outputs, err));
        to->projector = (struct projector_shape){h, 0, outputs, true};
    } else return OK;
    to->count = 1;
    return OK;
}

// The runs of an encoder of images, whose shape is x's then; the last one may be its end.
static enum status read_runs(struct hf_model *x, const struct image_class *c, const char *built,
                             struct hf_tower *to, int64_t *patches, struct error *err)
{
    struct images i;
    struct layer_run end;
    TRY(read_images(x, c, &i, err));
    TRY(read_end(x, c, built, &end, err));
    int64_t h = x->shape.hidden, tokens = i.patches + c->placed;
    // Tokens, positions, a norm after the blocks and maybe one before them.
    to->runs[0] = (struct layer_run){
        .name = "patches",
        .kind = LAYER_PROJECTOR,
        .count = 1,
        .tokens = i.patches,
        .projector = {i.channels * i.patch * i.patch, 0, h, !c->clip},
        .more_values = h * (c->placed + i.registers + i.masked + tokens + 2 + 2 * c->clip)};
    to->runs[1] = (struct layer_run){.name = "vision",
                                     .kind = LAYER_BLOCK,
                                     .count = (int)i.layers,
                                     .recomputable = true,
                                     .bidirectional = true,
                                     .tokens = tokens + i.registers,
                                     .more_values = c->by_ratio ? 2 * h : 0};
    if (end.count) to->runs[2] = end;
    to->count = 2 + end.count, *patches = i.patches;
    return OK;
}

enum status hf_read_image_tower(const struct hf_model *part, const char *type, const char *built,
                                struct hf_tower *to, int64_t *patches, struct error *err)
{
    struct hf_model own = *part;
    struct shape *shape = TAKE(part->arena, 1, struct shape);
    TRY(read_runs(&own, find_image_class(type), built, to, patches, err));
    *shape = own.shape, shape->positions = to->runs[1].tokens;
    to->runs[1].shape = shape;
    return OK;
}

enum status hf_build_images(struct model *m, struct hf_model *x, const char *type,
                            struct error *err)
{
    const struct image_class *c = find_image_class(type);
    struct hf_tower tower;
    int64_t patches;
    const char *built = NULL;
    struct hf_class *class = TAKE(x->arena, 1, struct hf_class);
    *class = (struct hf_class){.name = c->name, .textless = true};
    x->class = class;
    TRY(hf_read_architecture(x, &built, err));
    if (!built || strlen(built) < 5) {
        built = "Model";
        said_assume(x->asked->said, "architectures: the Model of a %s", type);
    }
    TRY(read_runs(x, c, built, &tower, &patches, err));
    m->runs = TAKE(x->arena, tower.count, struct layer_run);
    for (int i = 0; i < tower.count; i++) {
        m->runs[m->run_count++] = tower.runs[i];
        m->layer_count += tower.runs[i].count;
    }
    m->shape = x->shape; // no run has a vocabulary
    m->shape.vocabulary = tower.count > 2 ? tower.runs[2].projector.outputs : x->shape.hidden;
    m->shape.no_final_norm = true;
    said_line(x->asked->said, "%s: an image of %lld patches is a sequence", type,
              (long long)patches);
    TRY(hf_say_keys(x, m->document.path, err));
    return model_check(m, err);
}

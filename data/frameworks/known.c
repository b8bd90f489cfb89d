// What layers do that no key of a document says, as it costs no time: of models that are shipped
// (transformers' classes of each at 5.24, Llama4TextModel, Gemma2Model, Gemma3TextModel,
// Olmo2Model, Olmo3Model, MiniMaxM2Model, Starcoder2Model, MptModel, FalconModel, GPTNeoXModel,
// GPTJModel and PhiModel), and of any with GPT-2's or OPT's
// layers.
#include "data/frameworks/models.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct known_model models[] = {
    {.shipped = "olmo-2-13b", .blocks = 40, .norms = NORMS_BEHIND, .layer = "norms_behind"},
    {.shipped = "olmo-3-7b", .blocks = 32, .norms = NORMS_BEHIND, .layer = "norms_behind"},
    {.shipped = "olmo-3-32b", .blocks = 64, .norms = NORMS_BEHIND, .layer = "norms_behind"},
    {.shipped = "minimax-m2", .blocks = 62, .layer = "whole_norms"},
    {.shipped = "gemma-2-9b",
     .blocks = 42,
     .norms = NORMS_AROUND,
     .gemma = true,
     .query_width = 256,
     .score_cap = 50,
     .logit_cap = 30},
    {.shipped = "gemma-2-27b",
     .blocks = 46,
     .norms = NORMS_AROUND,
     .gemma = true,
     .query_width = 144,
     .score_cap = 50,
     .logit_cap = 30},
    {.shipped = "gemma-3-27b",
     .blocks = 62,
     .norms = NORMS_AROUND,
     .gemma = true,
     .query_width = 168,
     .window_base = 10000,
     .provider = "megatron.bridge.models.gemma.gemma3_provider.Gemma3ModelProvider",
     .hidden = 5376,
     .layer = "gemma3"},
    {.shipped = "llama-4-scout",
     .blocks = 48,
     .llama4 = true,
     .unit_norms = true,
     .layer = "unit_norms"},
    {.shipped = "llama-4-maverick", .blocks = 48, .llama4 = true},
    {.shipped = "starcoder2-15b", .blocks = 40},
    {.shipped = "mpt-7b", .blocks = 32, .layer_norms = true, .slopes = true},
    {.shipped = "mpt-30b", .blocks = 48, .layer_norms = true, .slopes = true},
    {.shipped = "falcon-40b", .blocks = 60},
    {.shipped = "gpt-neox-20b", .blocks = 44},
    {.shipped = "gpt-j-6b", .blocks = 28, .pairs = true},
    {.shipped = "phi-2", .blocks = 32},
};
// GPT-2's and OPT's layers without dropout, which flexible attention has none of.
static const struct known_model gpt2 = {.shipped = NULL};

const struct known_model *known_provided(const char *provider, int64_t blocks, int64_t hidden)
{
    for (size_t i = 0; provider && i < ARRAY_LENGTH(models); i++)
        if (models[i].provider && !strcmp(models[i].provider, provider) &&
            models[i].blocks == blocks && models[i].hidden == hidden)
            return &models[i];
    return NULL;
}

const struct known_model *known_provider(const char *provider)
{
    for (size_t i = 0; provider && i < ARRAY_LENGTH(models); i++)
        if (models[i].provider && !strcmp(models[i].provider, provider)) return &models[i];
    return NULL;
}

// Documents before the key was there do not state it.
static bool has_scale(const struct model *model, const struct known_model *known)
{
    double stated = model->shape.score_width, own = known->query_width;
    if (!(own > 0)) own = (double)model->shape.head_width;
    return !(stated > 0) || stated == own;
}

const struct known_model *known_model(const struct model *model, struct arena *arena)
{
    int blocks = model->layer_count - 2 - model_mtp_depth(model);
    for (size_t i = 0; model->has_shape && i < ARRAY_LENGTH(models); i++)
        if (models[i].blocks == blocks && has_scale(model, &models[i]) &&
            model_is_shipped(model, models[i].shipped, arena))
            return &models[i];
    if (!model_is_gemma3(model, arena)) return model_is_gpt2(model, arena) ? &gpt2 : NULL;
    struct known_model *own = TAKE(arena, 1, struct known_model);
    *own = (struct known_model){.blocks = blocks,
                                .norms = NORMS_AROUND,
                                .gemma = true,
                                .query_width = model->shape.score_width,
                                .window_base = 10000};
    own->layer = arena_print(arena, "%s_%.9g", CORE_LAYER_GEMMA, own->query_width);
    return own;
}

const char *core_layer(const struct model *model, struct arena *arena)
{
    const struct known_model *known = known_model(model, arena);
    const struct shape *s = &model->shape;
    if (known && known->layer) return known->layer;
    return s->activation && !strcmp(s->activation, "relu") && !s->gated_ffn ? "relu" : NULL;
}

bool core_layer_is(const char *spec, const char *name)
{
    size_t length = strlen(CORE_LAYER_FILE " ");
    return spec && !strncmp(spec, CORE_LAYER_FILE " ", length) && !strcmp(spec + length, name);
}

double core_gemma_scale(const char *layer)
{
    size_t length = strlen(CORE_LAYER_GEMMA);
    char *end;
    if (!layer || strncmp(layer, CORE_LAYER_GEMMA, length) != 0) return 0;
    if (!layer[length]) return 168; // as the shipped one's
    double width = layer[length] == '_' ? strtod(layer + length + 1, &end) : 0;
    return width > 0 && width <= 1e6 && !*end ? width : 0;
}

double core_spec_scale(const char *spec)
{
    size_t length = strlen(CORE_LAYER_FILE " ");
    bool ours = spec && !strncmp(spec, CORE_LAYER_FILE " ", length);
    return ours ? core_gemma_scale(spec + length) : 0;
}

// By the names of tokenizers and checkpoints on the hub, in letters and digits: the vocab_size of
// their config.json; what is part of another name stands behind it.
int64_t tokenizer_vocabulary(const char *name)
{
    static const struct {
        const char *part;
        int64_t size;
    } known[] = {{"gpt2bpe", 50257},      {"distillllama", 128256}, {"distillqwen15", 151936},
                 {"distillqwen", 152064}, {"llama2", 32000},        {"llama3", 128256},
                 {"llama4", 202048},      {"qwen205", 151936},      {"qwen215", 151936},
                 {"qwen2505", 151936},    {"qwen2515", 151936},     {"qwen253b", 151936},
                 {"qwen2", 152064},       {"qwen35", 248320},       {"qwen3", 151936},
                 {"deepseekv3", 129280},  {"deepseekr1", 129280},   {"deepseekv2", 102400},
                 {"mixtral", 32000},      {"gptoss", 201088},       {"gemma2", 256000},
                 {"kimik2", 163840},      {"moonlight", 163840},    {"glm45", 151552},
                 {"phi3", 32064},         {"minitron", 256000},     {"gptneox20b", 50432},
                 {"starcoder", 49152},    {"smollm2", 49152},       {"smollm3", 128256},
                 {"tinyllama", 32000},    {"minimaxm2", 200064},    {"olmo2", 100352}};
    char letters[128];
    size_t length = 0;
    const char *slash = strrchr(name, '/');
    if (slash && slash[1]) name = slash + 1;
    for (; *name && length < sizeof letters - 1; name++)
        if (isalnum((unsigned char)*name)) letters[length++] = (char)tolower((unsigned char)*name);
    letters[length] = '\0';
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (strstr(letters, known[i].part)) return known[i].size;
    return 0;
}

// What layers do that no key of a document says, as it costs no time: of models that are shipped
// (transformers' classes of each at 5.24, Llama4TextModel, Gemma2Model, Gemma3TextModel,
// Olmo2Model, Olmo3Model and MiniMaxM2Model).
#include "data/frameworks/models.h"

#include <string.h>

static const struct known_model models[] = {
    {.shipped = "olmo-2-13b", .blocks = 40, .norms = NORMS_BEHIND},
    {.shipped = "olmo-3-7b", .blocks = 32, .norms = NORMS_BEHIND},
    {.shipped = "olmo-3-32b", .blocks = 64, .norms = NORMS_BEHIND},
    {.shipped = "minimax-m2", .blocks = 62},
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
     .hidden = 5376},
    {.shipped = "llama-4-scout", .blocks = 48, .llama4 = true, .unit_norms = true},
    {.shipped = "llama-4-maverick", .blocks = 48, .llama4 = true},
};

const struct known_model *known_provided(const char *provider, int64_t blocks, int64_t hidden)
{
    for (size_t i = 0; provider && i < ARRAY_LENGTH(models); i++)
        if (models[i].provider && !strcmp(models[i].provider, provider) &&
            models[i].blocks == blocks && models[i].hidden == hidden)
            return &models[i];
    return NULL;
}

const struct known_model *known_model(const struct model *model, struct arena *arena)
{
    int blocks = model->layer_count - 2 - model_mtp_depth(model);
    for (size_t i = 0; model->has_shape && i < ARRAY_LENGTH(models); i++)
        if (models[i].blocks == blocks && model_is_shipped(model, models[i].shipped, arena))
            return &models[i];
    return NULL;
}

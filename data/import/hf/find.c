// Finds the class of a config by its name; for one that is not read, why, and the nearest.
#include <string.h>

#include "data/base/names.h"
#include "data/import/hf/internal.h"

const struct hf_class *hf_find_class(const char *name)
{
    for (int i = 0; i < hf_class_count; i++)
        if (!strcmp(hf_classes[i].name, name)) return &hf_classes[i];
    return NULL;
}

static const char *const *class_names(struct arena *arena)
{
    int count = hf_class_count, towers = 0;
    while (hf_tower_name(towers)) towers++;
    const char **names = TAKE(arena, count + towers + 1, const char *);
    for (int i = 0; i < count; i++) names[i] = hf_classes[i].name;
    for (int i = 0; i < towers; i++) names[count + i] = hf_tower_name(i);
    return names;
}

// ---- classes that are not supported: why, and the nearest supported one

#define LINEAR "layers of linear attention"
#define SHARED "layers of a state space, and blocks of attention that several of them share"
#define CONVOLVED "convolutions beside its attention"

static const struct unread {
    const char *name, *has, *nearest;
} unread[] = {
    {"recurrent_gemma", LINEAR, "gemma2"},
    {"xlstm", "layers of long short-term memory", "mamba2"},
    {"zamba", SHARED, "bamba"},
    {"zamba2", SHARED ", with adapters for each use", "bamba"},
    {"deepseek_v4", "compressed attention and hyper-connections", "deepseek_v32"},
    {"hy_v4", "hyper-connections", "glm_moe_dsa"},
    {"jetmoe", "mixtures of attention's heads", "mixtral"},
    {"axk2", "gates in its norms", "deepseek_v32"},
    {"blt", "bytes that are patched", "llama"},
    {"dory", "states of unit length, with rates of channels", "afmoe"},
    {"dots3_note", "norms of rotated keys and gates in its latent attention", "deepseek_v32"},
    {"hrm", "layers that are run again", "llama"},
    {"inkling", CONVOLVED, "mixtral"},
    {"inkling2", CONVOLVED, "mixtral"},
    {"inkling2_loop", CONVOLVED ", and layers that are run again", "mixtral"},
    {"modernbert-decoder", "a dense layer before its head", "olmo"},
    {"phi4_multimodal", "adapters for images and sound", "phi3"},
    {"qwen4_exp", "embeddings of several tokens and gated residuals", "qwen3_5_text"},
    {"zaya", "convolved attention and routers of layers", "qwen3_moe"},
};

const char *hf_why_not(const char *type, struct arena *arena)
{
    const char *const *names = class_names(arena);
    int count = 0, meant;
    for (size_t i = 0; i < ARRAY_LENGTH(unread); i++) {
        size_t length = strlen(unread[i].name);
        if (!strncmp(type, unread[i].name, length) &&
            (!type[length] || !strcmp(type + length, "_text")))
            return arena_print(arena, ": it has %s; the nearest that is: %s", unread[i].has,
                               unread[i].nearest);
    }
    while (names[count]) count++;
    meant = name_within(type, names, count, 2);
    if (meant >= 0) return arena_print(arena, "; the nearest name that is: %s", names[meant]);
    return arena_print(
        arena, ", nor a name near it: the %d classes that are stand in docs/FORMATS.md (import hf)",
        count);
}

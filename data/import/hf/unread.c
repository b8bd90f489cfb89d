// Classes that are not supported: why, and the nearest supported class.
#include <string.h>

#include "data/base/names.h"
#include "data/import/hf/internal.h"

#define LINEAR "layers of linear attention"
#define STATES "layers of a state space"
#define CONVOLUTIONS "layers that are convolutions"

static const struct unread {
    const char *name, *has, *nearest;
} unread[] = {
    {"qwen3_next", LINEAR, "qwen3_moe"},
    {"qwen3_5", LINEAR, "qwen3"},
    {"qwen3_5_moe", LINEAR, "qwen3_moe"},
    {"kimi_linear", LINEAR, "deepseek_v3"},
    {"minimax", LINEAR, "minimax_m2"},
    {"minimax_m1", LINEAR, "minimax_m2"},
    {"minimax_text_01", LINEAR, "minimax_m2"},
    {"olmo_hybrid", LINEAR, "olmo3"},
    {"bailing_hybrid", LINEAR, "deepseek_v3"},
    {"rwkv", LINEAR, "llama"},
    {"recurrent_gemma", LINEAR, "gemma2"},
    {"xlstm", "layers of long short-term memory", "llama"},
    {"mamba", STATES, "llama"},
    {"mamba2", STATES, "llama"},
    {"falcon_mamba", STATES, "falcon"},
    {"falcon_h1", STATES, "llama"},
    {"jamba", STATES, "mixtral"},
    {"bamba", STATES, "llama"},
    {"zamba", STATES, "llama"},
    {"zamba2", STATES, "llama"},
    {"nemotron_h", STATES, "nemotron"},
    {"granitemoehybrid", STATES, "granitemoeshared"},
    {"lfm2", CONVOLUTIONS, "llama"},
    {"lfm2_moe", CONVOLUTIONS, "qwen3_moe"},
    {"gemma3n", "embeddings of each layer and layers that share keys", "gemma3"},
    {"gemma4", "embeddings of each layer and layers that share keys", "gemma3"},
    {"longcat_flash", "two attentions a layer and experts that do nothing", "deepseek_v3"},
    {"dbrx", "its sizes under other keys", "mixtral"},
};

const char *hf_why_not(const char *type, struct arena *arena)
{
    const char *const *names = hf_class_names(arena);
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
    const char *list = names[0];
    for (int i = 1; i < count; i++) list = arena_print(arena, "%s, %s", list, names[i]);
    return arena_print(arena, ", but %s are", list);
}

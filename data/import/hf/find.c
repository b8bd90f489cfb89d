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
#define STATES "layers of a state space"

static const struct unread {
    const char *name, *has, *nearest;
} unread[] = {
    {"recurrent_gemma", LINEAR, "gemma2"},
    {"xlstm", "layers of long short-term memory", "mamba2"},
    {"zamba", STATES, "bamba"},
    {"zamba2", STATES, "bamba"},
    {"deepseek_v4", "compressed attention and hyper-connections", "deepseek_v32"},
    {"jetmoe", "mixtures of attention's heads", "mixtral"},
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
    const char *list = names[0];
    for (int i = 1; i < count; i++) list = arena_print(arena, "%s, %s", list, names[i]);
    return arena_print(arena, ", but %s are", list);
}

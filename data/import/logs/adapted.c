// Which products of a layer have an adapter.
#include <string.h>
#include <strings.h>

#include "data/frameworks/setting.h"
#include "data/import/logs/internal.h"

// Which products have an adapter, by their known names alone: any other word may be a person's or a
// host's, and is shown as a question mark. A pattern's are those that it names.
void log_conclude_adapters(struct log *l)
{
    static const char *const names[] = {
        [ADAPTER_QUERY] = "q_proj",      [ADAPTER_KEY] = "k_proj",
        [ADAPTER_VALUE] = "v_proj",      [ADAPTER_OUTPUT] = "o_proj",
        [ADAPTER_GATE] = "gate_proj",    [ADAPTER_UP] = "up_proj",
        [ADAPTER_DOWN] = "down_proj",    [ADAPTER_QKV] = "linear_qkv",
        [ADAPTER_GATE_UP] = "linear_fc1"};
    static const struct shape gated = {.gated_ffn = true};
    struct told_value *v = &l->told[TOLD_ADAPTED];
    const char *words = arena_copy_text(l->arena, v->text), *nearest, *found = "";
    bool set[ADAPTER_MODULE_COUNT] = {false}, all = !strncasecmp(words, "all", 3);
    if (!told(l, TOLD_ADAPTED) || all || !strcasecmp(words, "attention")) {
        if (all) snprintf(v->text, sizeof v->text, "all");
        return;
    }
    adapters_by_words(words, &gated, set);
    for (int m = 0; m < ADAPTER_MODULE_COUNT; m++)
        if (set[m]) found = arena_print(l->arena, "%s%s%s", found, *found ? "," : "", names[m]);
    if (!strpbrk(words, "^$*(\\|") && adapters_unknown_word(words, &nearest, l->arena))
        found = arena_print(l->arena, "%s%s?", found, *found ? "," : "");
    snprintf(v->text, sizeof v->text, "%s", found);
}

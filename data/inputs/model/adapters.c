// Which products of a frozen block have an adapter of low rank: names, keys, and what fits a shape.
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/inputs/model/internal.h"

const char *const adapter_module_names[] = {"query", "key",  "value", "output",  "gate",
                                            "up",    "down", "qkv",   "gate_up", NULL};

bool run_adapts(const struct layer_run *run, const struct shape *s, enum adapter_module module)
{
    if (run->adapter_rank <= 0) return false;
    if (memchr(run->adapter_modules, true, ADAPTER_MODULE_COUNT))
        return run->adapter_modules[module];
    return module <= ADAPTER_DOWN && (module != ADAPTER_GATE || s->gated_ffn);
}

bool adapters_spare_ffn(const bool *modules)
{
    return memchr(modules, true, ADAPTER_MODULE_COUNT) && !modules[ADAPTER_GATE] &&
           !modules[ADAPTER_UP] && !modules[ADAPTER_DOWN] && !modules[ADAPTER_GATE_UP];
}

enum status adapters_check(const struct layer_run *run, const struct shape *s, struct error *err)
{
    const bool *m = run->adapter_modules;
    bool any = memchr(m, true, ADAPTER_MODULE_COUNT), ungated = s && !s->gated_ffn;
    if ((any || run->adapter_dropout) && !run->adapter_rank)
        return refuse(err, "%s: expected it next to an adapter_rank above 0",
                      any ? "adapter_modules" : "adapter_dropout");
    if (run->kind == LAYER_MOE && run->adapter_rank && !adapters_spare_ffn(m))
        return refuse(err, "adapter_modules: expected a moe's to name products of its attention "
                           "alone (query, key, value, output, qkv)");
    if (m[ADAPTER_QKV] && (m[ADAPTER_QUERY] || m[ADAPTER_KEY] || m[ADAPTER_VALUE]))
        return refuse(err, "adapter_modules: expected \"qkv\" alone or query, key and value");
    if (m[ADAPTER_GATE_UP] && (m[ADAPTER_GATE] || m[ADAPTER_UP]))
        return refuse(err, "adapter_modules: expected \"gate_up\" alone or gate and up");
    if (ungated && (m[ADAPTER_GATE] || m[ADAPTER_GATE_UP]))
        return refuse(err, "adapter_modules: expected no \"%s\": the shape has no gated_ffn",
                      adapter_module_names[m[ADAPTER_GATE] ? ADAPTER_GATE : ADAPTER_GATE_UP]);
    return OK;
}

// Names of programs and of models' code: of peft, Megatron-Bridge and NeMo.
static const struct {
    const char *word;
    int modules; // bits of enum adapter_module
} module_words[] = {
#define IS(module) (1 << ADAPTER_##module)
    {"query", IS(QUERY)},
    {"key", IS(KEY)},
    {"value", IS(VALUE)},
    {"q_proj", IS(QUERY)},
    {"k_proj", IS(KEY)},
    {"v_proj", IS(VALUE)},
    {"o_proj", IS(OUTPUT)},
    {"gate_proj", IS(GATE)},
    {"up_proj", IS(UP)},
    {"down_proj", IS(DOWN)},
    {"out_proj", IS(OUTPUT)},
    {"dense", IS(OUTPUT)},
    {"fc1", IS(UP)},
    {"fc2", IS(DOWN)},
    {"c_fc", IS(UP)},
    {"c_proj", IS(OUTPUT) | IS(DOWN)},
    {"qkv_proj", IS(QKV)},
    {"query_key_value", IS(QKV)},
    {"W_pack", IS(QKV)},
    {"wqkv", IS(QKV)},
    {"c_attn", IS(QKV)},
    {"linear_qkv", IS(QKV)},
    {"attention_qkv", IS(QKV)},
    {"linear_q", IS(QUERY)},
    {"linear_k", IS(KEY)},
    {"linear_v", IS(VALUE)},
    {"linear_proj", IS(OUTPUT)},
    {"attention_dense", IS(OUTPUT)},
    {"wo", IS(OUTPUT)},
    {"attention", IS(QKV) | IS(OUTPUT)},
    {"gate_up_proj", IS(GATE_UP)},
    {"linear_fc1", IS(GATE_UP)},
    {"mlp_fc1", IS(GATE_UP)},
    {"dense_h_to_4h", IS(GATE_UP)},
    {"linear_fc1_gate", IS(GATE)},
    {"linear_fc1_up", IS(UP)},
    {"linear_fc2", IS(DOWN)},
    {"mlp_fc2", IS(DOWN)},
    {"dense_4h_to_h", IS(DOWN)},
    {"w1", IS(GATE)},
    {"w3", IS(UP)},
    {"w2", IS(DOWN)},
    {"mlp", IS(GATE_UP) | IS(DOWN)},
#undef IS
};

// parted: of a pattern such as "(mlp|self_attn).(up|q)_proj", in which names are without their end.
static bool is_word(const char *at, size_t length, const char *word, bool parted)
{
    const char *end = strstr(word, "_proj");
    if (parted && !end) return false;
    return !strncasecmp(at, word, length) &&
           (strlen(word) == length || (parted && word + length == end));
}

bool adapters_by_words(const char *text, const struct shape *s, bool *set)
{
    bool any = false, parted = strstr(text, ")_proj");
    for (const char *at = text; *at;) {
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
        // "attention.wqkv": the last part counts, and in a pattern what is behind "\\."
        bool last = at[length] != '.' && (at[length] != '\\' || at[length + 1] != '.');
        for (size_t i = 0; last && length && i < ARRAY_LENGTH(module_words); i++) {
            if (!is_word(at, length, module_words[i].word, parted)) continue;
            for (int m = 0; m < ADAPTER_MODULE_COUNT; m++)
                if (module_words[i].modules & 1 << m) set[m] = any = true;
        }
        at += length ? length : 1;
    }
    if (!s->gated_ffn && (set[ADAPTER_GATE] || set[ADAPTER_GATE_UP]))
        set[ADAPTER_UP] = true, set[ADAPTER_GATE] = set[ADAPTER_GATE_UP] = false;
    if (set[ADAPTER_QKV]) set[ADAPTER_QUERY] = set[ADAPTER_KEY] = set[ADAPTER_VALUE] = false;
    if (set[ADAPTER_GATE_UP]) set[ADAPTER_GATE] = set[ADAPTER_UP] = false;
    return any;
}

const char *adapters_unknown_word(const char *text, const char **nearest, struct arena *arena)
{
    static const struct shape gated = {.gated_ffn = true};
    const char *names[ARRAY_LENGTH(module_words)];
    for (size_t length; *text; text += length ? length : 1) {
        length = 0;
        while (isalnum((unsigned char)text[length]) || text[length] == '_') length++;
        const char *word = arena_print(arena, "%.*s", (int)length, text);
        bool none[ADAPTER_MODULE_COUNT] = {false};
        if (!length || text[length] == '.' || adapters_by_words(word, &gated, none)) continue;
        for (size_t i = 0; i < ARRAY_LENGTH(module_words); i++) names[i] = module_words[i].word;
        *nearest = names[name_nearest(word, names, ARRAY_LENGTH(module_words))];
        return word;
    }
    return NULL;
}

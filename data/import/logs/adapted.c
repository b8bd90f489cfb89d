// Which products of a layer have an adapter; how wide the optimizer's states are.

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
    if (l->reader->no_adapters && !strncmp(l->told[TOLD_ADAPTERS].key, "lora_", 5))
        l->told[TOLD_ADAPTERS].by = BY_NONE;
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

static const char *text_of(const struct log *l, enum told what)
{
    return told(l, what) ? l->told[what].text : NULL;
}

static void put_bytes(struct log *l, enum told what, enum told like, int bytes)
{
    struct told_value *to = &l->told[what];
    *to = l->told[like];
    snprintf(to->text, sizeof to->text, "%d", bytes);
}

// As those who import such settings read them (data/frameworks).
void log_conclude_states(struct log *l)
{
    const char *precision = text_of(l, TOLD_PRECISION), *optimizer = text_of(l, TOLD_ADAM);
    struct run r = {.precision_aware = told_count(l, TOLD_PRECISION_AWARE) > 0,
                    .state_types = {text_of(l, TOLD_MAIN_TYPE), text_of(l, TOLD_MEAN_TYPE),
                                    text_of(l, TOLD_SQUARE_TYPE)},
                    .gradient_type = text_of(l, TOLD_GRADIENT_TYPE),
                    .fp8_recipe = text_of(l, TOLD_FP8_RECIPE)};
    struct job *j = &r.job;
    bool half = precision && !strcmp(precision, "fp16"),
         wide = precision && !strcmp(precision, "fp32"),
         eight = precision && strstr(precision, "fp8");
    j->precision = half ? FP16 : wide ? FP32 : BF16;
    j->layout.offload_optimizer = told_count(l, TOLD_OFFLOAD) > 0;
    r.bf16 = !half && !wide, r.fp8 = eight ? precision : NULL;
    int aware = megatron_state_bytes(&r),
        narrow = optimizer ? eight_bit_state_bytes(optimizer, j->precision) : 0;
    if (narrow) put_bytes(l, TOLD_STATE_BYTES, TOLD_ADAM, narrow);
    else if (aware != job_state_bytes(j))
        put_bytes(l, TOLD_STATE_BYTES, TOLD_PRECISION_AWARE, aware);
    if (r.precision_aware && r.gradient_type && megatron_gradient_bytes(&r) == 2)
        put_bytes(l, TOLD_GRADIENT_BYTES, TOLD_GRADIENT_TYPE, 2);
}

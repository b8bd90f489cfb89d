// The arguments that a run prints when it starts: "  hidden_size ............ 4096", one a line,
// sorted, with what validation made of them. The most complete form there is: also what nobody set.
#include <ctype.h>
#include <string.h>

#include "data/base/names.h"
#include "data/import/jobs/launch.h"

enum { NAME_MAX = 80, DOTS_LEAST = 3 };

// "name ..... value" in a line, behind any prefix; whether it is one.
static bool split_line(const char *from, const char *end, const char **name, size_t *length,
                       const char **value, size_t *size)
{
    const char *dots = from;
    while (dots < end && !(end - dots > DOTS_LEAST + 1 && !memcmp(dots, " ...", 4))) dots++;
    if (dots >= end) return false;
    const char *start = dots;
    while (start > from && (isalnum((unsigned char)start[-1]) || strchr("_-", start[-1]))) start--;
    const char *at = dots + 1;
    while (at < end && *at == '.') at++;
    if (start == dots || dots - start > NAME_MAX || at >= end || *at != ' ') return false;
    while (at < end && *at == ' ') at++;
    while (end > at && isspace((unsigned char)end[-1])) end--;
    if (end - at > 2 && *at == '[' && end[-1] == ']' && !memchr(at, ',', (size_t)(end - at)))
        at++, end--; // a list of one, which Python quotes if it is a word
    if (end - at > 2 && (*at == '\'' || *at == '"') && end[-1] == *at) at++, end--;
    *name = start, *length = (size_t)(dots - start), *value = at, *size = (size_t)(end - at);
    return true;
}

static const char *line_end(const char *at, const char *end)
{
    const char *found = memchr(at, '\n', (size_t)(end - at));
    return found ? found : end;
}

bool launch_is_log(const char *text, size_t size)
{
    enum { LINES_LEAST = 8 };
    const char *end = text + size, *name, *value;
    size_t length, value_length;
    int found = 0;
    for (const char *at = text, *next; at < end && found < LINES_LEAST; at = next + 1) {
        next = line_end(at, end);
        found += split_line(at, next, &name, &length, &value, &value_length);
    }
    return found >= LINES_LEAST;
}

// Names of members that differ from their flags; "!": the flag says the opposite.
static const char *const renamed[][2] = {
    {"add_bias_linear", "!disable-bias-linear"},
    {"apply_rope_fusion", "!no-rope-fusion"},
    {"bias_swiglu_fusion", "!no-bias-swiglu-fusion"},
    {"bias_gelu_fusion", "!no-bias-gelu-fusion"},
    {"overlap_p2p_comm", "!no-overlap-p2p-communication"},
    {"layernorm_epsilon", "norm-epsilon"},
    {"microbatch_group_size_per_vp_stage", "microbatch-group-size-per-virtual-pipeline-stage"},
    {"fp8", "fp8-format"},
    {"padded_vocab_size", "vocab-size"},
    {"world_size", "world-size"},
    {"virtual_pipeline_model_parallel_size", "num-virtual-stages-per-pipeline-rank"},
    {"zero_stage", "zero-stage"}};

static enum status take_line(struct settings *s, const char *name, const char *value,
                             struct error *err)
{
    // Derived, or said better by another member; Megatron prints them all.
    static const char unread[] =
        "num_layers_per_virtual_pipeline_stage vocab_size encoder_num_layers encoder_seq_length "
        "make_vocab_size_divisible_by data_parallel_size rank local_rank nnodes nproc_per_node";
    if (name_is_listed(unread, name, strlen(name))) return OK;
    for (size_t i = 0; i < ARRAY_LENGTH(renamed); i++) {
        if (strcmp(renamed[i][0], name) != 0) continue;
        const char *flag = renamed[i][1];
        if (*flag != '!') return launch_set_value(s, flag, value, err);
        return !strcmp(value, "False") ? launch_set(s, flag + 1, "", err) : OK;
    }
    return launch_set_value(s, name, value, err);
}

// What is printed although nothing uses it.
static void drop_unused(struct settings *s)
{
    static const char *const drops[][2] = {
        {"num-query-groups", "group-query-attention"},
        {"moe-router-topk", "num-experts"},
        {"moe-layer-freq", "num-experts"},
        {"q-lora-rank", "multi-latent-attention"},
        {"kv-lora-rank", "multi-latent-attention"},
        {"qk-head-dim", "multi-latent-attention"},
        {"v-head-dim", "multi-latent-attention"},
        {"rotary-scaling-factor", "use-rope-scaling"},
        {"qk-pos-emb-head-dim", "multi-latent-attention"},
        {"linear-attention-freq", "experimental-attention-variant"},
        {"num-layers-at-start-in-bf16", "first-last-layers-bf16"},
        {"num-layers-at-end-in-bf16", "first-last-layers-bf16"},
        {"grpo-prompts-per-step", "perform-rl-step"},
        {"rl-prompts-per-eval", "perform-rl-step"},
        {"moe-ffn-hidden-size", "num-experts"}};
    for (size_t i = 0; i < ARRAY_LENGTH(drops); i++) {
        struct setting *at = (struct setting *)setting_of(s, drops[i][0]);
        if (!at || setting_of(s, drops[i][1])) continue;
        if (!strcmp(drops[i][0], "rotary-scaling-factor") &&
            setting_of(s, "multi-latent-attention"))
            continue;
        *at = s->items[--s->count];
    }
}

enum status launch_read_log(struct settings *s, const char *text, size_t size, struct error *err)
{
    const char *last = strstr(text, "end of arguments"), // DeepSpeed prints its own behind them
        *end = last ? last : text + size, *name, *value;
    const char *first = strstr(text, "- arguments -");
    size_t length, value_length;
    for (const char *at = first && first < end ? first : text, *next; at < end; at = next + 1) {
        next = line_end(at, end);
        if (!split_line(at, next, &name, &length, &value, &value_length)) continue;
        TRY(take_line(s, arena_print(s->arena, "%.*s", (int)length, name),
                      arena_print(s->arena, "%.*s", (int)value_length, value), err));
    }
    s->dump = true;
    // The vocabulary is padded already, and the width of heads is the default's.
    if (setting_of(s, "vocab-size")) TRY(launch_set(s, "make-vocab-size-divisible-by", "1", err));
    drop_unused(s);
    return OK;
}

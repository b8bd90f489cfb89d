// Flags of a command line as argparse reads them: --name value, --name=value, the last of two
// counts. A launcher (torchrun, srun, deepspeed) has flags of its own before the program's name.
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "data/base/grow.h"
#include "data/base/names.h"
#include "data/import/jobs/launch.h"
#include "data/import/launcher.h"

enum { FLAGS_MAX = 1024 };

static const char *flag_name(struct settings *s, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
    char *name = arena_print(s->arena, "%.*s", (int)length, word + 2);
    while (length && name[length - 1] == ':') name[--length] = '\0';
    for (char *c = name; *c; c++)
        if (*c == '_') *c = '-';
    return name;
}

enum status launch_set(struct settings *s, const char *key, const char *text, struct error *err)
{
    struct setting *at = (struct setting *)setting_of(s, key);
    if (at && strcmp(key, SETTINGS_OF_RANK)) {
        if (*text && *at->text && strcmp(at->text, text) && s->twice_count++ < 4)
            s->twice = arena_print(
                s->arena, "%s%s--%s appears twice, with %.30s and with %.30s, which counts",
                s->twice, *s->twice ? "; " : "", key, script_shown(at->text, s->arena),
                script_shown(text, s->arena));
        at->text = text;
        return OK;
    }
    if (s->count == FLAGS_MAX)
        return refuse(err, "%s: expected at most %d flags", s->document.path, FLAGS_MAX);
    *GROWN(s->arena, s->items, s->count, s->capacity, 64) = (struct setting){key, text, 0};
    return OK;
}

static const struct setting_row *row_of(const struct setting_rows *rows, const char *key)
{
    size_t length = strlen(key);
    for (int i = 0; i < rows->count && length; i++)
        for (const char *at = rows->rows[i].key; (at = strstr(at, key)); at += length)
            if ((at == rows->rows[i].key || at[-1] == ' ') && (!at[length] || at[length] == ' '))
                return &rows->rows[i];
    return NULL;
}

bool launch_is_read(const struct setting_rows *rows, const char *key)
{
    const struct setting_row *row = row_of(rows, key);
    return row && row->use != ONLY_WRITTEN;
}

// The number that "gpu:8" or "ppr:8:node" states; other texts stay as they are.
static const char *number_text(struct settings *s, const char *text)
{
    int64_t number = launcher_number(text);
    return number ? arena_print(s->arena, "%lld", (long long)number) : text;
}

// Whether a flag of a launcher, or of a program that takes those of one, says how many processes
// there are: by the names of torchrun's; *text: its number. Accelerate's others, where the rows
// have them; NULL: none of these.
static const char *of_launcher(struct settings *s, const struct setting_rows *rows,
                               const char *name, const char **text)
{
    static const char *const counts[] = {[LAUNCHER_PROCESSES] = "num-processes",
                                         [LAUNCHER_NODES] = "nnodes",
                                         [LAUNCHER_PER_NODE] = "nproc-per-node",
                                         [LAUNCHER_GPUS] = "nproc-per-node"};
    static const char *const others[][2] = {{"config-file", "config-file"},
                                            {"deepspeed-config-file", "deepspeed"},
                                            {"zero-stage", "zero-stage"},
                                            {"fsdp-sharding-strategy", "fsdp-sharding-strategy"}};
    static const char passed[] =
        "use-fsdp use-deepspeed mixed-precision offload-optimizer-device offload-param-device "
        "fsdp-offload-params fsdp-activation-checkpointing";
    enum launcher_states states;
    const char *word = arena_print(s->arena, "--%s", name);
    if (launcher_option(LAUNCHER_PYTHON, word, *text, &states, text)) return counts[states];
    if (launcher_option(LAUNCHER_SLURM, word, *text, &states, text) &&
        states != LAUNCHER_PROCESSES && states != LAUNCHER_HOSTS) {
        *text = number_text(s, *text);
        return counts[states];
    }
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        if (!strcmp(others[i][0], name))
            return launch_is_read(rows, others[i][1]) ? others[i][1] : NULL;
    bool known = launch_is_read(rows, "use-fsdp") && (name_is_listed(passed, name, strlen(name)) ||
                                                      !strncmp(name, "parallelism-config-", 19));
    return known ? name : NULL;
}

static bool is_flag(const char *word)
{
    return word[0] == '-' && word[1] == '-' && (isalpha((unsigned char)word[2]));
}

static bool takes_list(const char *name)
{
    static const char *const names[] = {"recompute-modules",
                                        "cuda-graph-modules",
                                        "cuda-graph-scope",
                                        "cp-comm-type",
                                        "num-experts",
                                        "window-size",
                                        "spec",
                                        "rampup-batch-size",
                                        "target-modules",
                                        "lora-target",
                                        "lora-target-modules",
                                        "hierarchical-context-parallel-sizes"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

// The position of the program among the words: its flags follow; -1: there is none. Those that are
// launched by a name of their own may have flags that name files in Python.
static int program_at(const char *const *words, int count)
{
    static const char by_name[] = "swift megatron llamafactory-cli trl axolotl litgpt xtuner",
                      verbs[] = "sft rlhf pt train pretrain finetune finetune_full finetune_lora "
                                "dpo grpo kto reward rm";
    int begin = 0; // behind "--": what is before it submits the launch
    for (int i = 1; i + 1 < count; i++)
        if (!strcmp(words[i], "--")) begin = i + 1;
    for (int i = begin; i < count; i++) {
        const char *name = path_name(words[i]), *verb = i + 1 < count ? words[i + 1] : "";
        if (*verb && name_is_listed(by_name, name, strlen(name)) &&
            name_is_listed(verbs, verb, strlen(verb)))
            return -1;
        if (path_ends_with(words[i], ".py")) return i;
        if ((!strcmp(words[i], "-m") || !strcmp(words[i], "--module")) && i + 1 < count &&
            strchr(words[i + 1], '.') && !strstr(words[i + 1], "torch.distributed"))
            return i + 1;
    }
    return -1;
}

static bool is_open(const char *word)
{
    size_t length = strlen(word);
    return length > 2 && word[0] == SCRIPT_OPEN && word[length - 1] == SCRIPT_CLOSE &&
           !strchr(word + 1, SCRIPT_OPEN);
}

static void note_dropped(struct settings *s, const char *word)
{
    const char *shown = script_shown(word, s->arena);
    if (!strstr(s->empty, shown))
        s->empty = arena_print(s->arena, "%s%s%s", s->empty, *s->empty ? ", " : "", shown);
}

// The value of the flag at words[*at], and moves to its last word.
static const char *value_of(struct settings *s, const struct setting_rows *rows, const char *name,
                            const char *const *words, int count, int *at)
{
    const char *equals = strchr(words[*at], '='), *text = equals ? equals + 1 : "";
    const struct setting_row *row = row_of(rows, name);
    bool bare = row && row->kind <= SETTING_SWITCH;
    for (bool first = !equals; *at + 1 < count && !is_flag(words[*at + 1]); first = false) {
        const char *word = words[++*at];
        if (bare && is_open(word)) note_dropped(s, word);
        if (bare && first && !strcasecmp(word, "false")) text = "false"; // of programs on top
        if (bare) continue;
        if (first) text = word;
        else if (takes_list(name)) text = arena_print(s->arena, "%s %s", text, word);
        else if (is_open(word)) note_dropped(s, word);
    }
    return text;
}

// deepspeed's --include HOST:0,1@HOST:0,1: processes of a node, and nodes, if all have as many.
static enum status take_included(struct settings *s, const char *text, struct error *err)
{
    int hosts = 0, slots = 0;
    for (const char *at = text; *at; at += *at == '@') {
        size_t length = strcspn(at, "@");
        const char *colon = memchr(at, ':', length);
        int own = 1;
        for (const char *c = colon; c && c < at + length; c++) own += *c == ',';
        if (!colon || (hosts++ && own != slots)) return OK;
        slots = own, at += length;
    }
    if (!hosts) return OK;
    TRY(launch_set(s, "nproc-per-node", arena_print(s->arena, "%d", slots), err));
    return launch_set(s, "nnodes", arena_print(s->arena, "%d", hosts), err);
}

static enum status take_flag(struct settings *s, const struct setting_rows *rows,
                             const char *const *words, int count, bool launcher, int *at,
                             struct error *err)
{
    const char *word = words[*at], *name = flag_name(s, word);
    const char *blank = strpbrk(word, " \t\n");
    if (blank && !launcher && (strstr(word, " --") || !strncmp(word, "--recompute-", 12)))
        return launch_set(s, SETTINGS_OF_RANK, word, err);
    if (blank && !launcher && (!strchr(word, '=') || strchr(word, '=') > blank)) {
        name = flag_name(s, arena_print(s->arena, "%.*s", (int)(blank - word), word));
        return launch_set(s, name, blank + 1, err);
    }
    const char *text = value_of(s, rows, name, words, count, at),
               *own = of_launcher(s, rows, name, &text);
    if (launcher && !strcmp(name, "include")) return take_included(s, text, err);
    if (launcher && !own) return OK;
    if (launcher && (!strcmp(text, "gpu") || !strcmp(text, "auto"))) return OK;
    return launch_set(s, launcher || !launch_is_read(rows, name) ? own ? own : name : name, text,
                      err);
}

// What mpirun or srun says of how many processes there are.
struct started {
    int of; // the launcher whose words are read
    const char *states[LAUNCHER_STATES];
};

// A launcher begins; one that starts a Python program itself has processes of its own, DeepSpeed's
// one for each GPU that it sees.
static void begin_launcher(struct started *to, int launcher)
{
    const char *nodes = to->states[LAUNCHER_NODES], *gpus = to->states[LAUNCHER_GPUS];
    *to = (struct started){.of = launcher};
    if (!(launcher & LAUNCHER_STARTS)) to->states[LAUNCHER_NODES] = nodes;
    if (launcher == LAUNCHER_DEEPSPEED) to->states[LAUNCHER_GPUS] = gpus;
}

static bool take_started(struct settings *s, struct started *to, const char *word, const char *next)
{
    enum launcher_states states;
    const char *text;
    int64_t hosts, slots;
    if (!(to->of & LAUNCHER_STARTS) || !launcher_option(to->of, word, next, &states, &text))
        return false;
    if (states == LAUNCHER_HOSTS) {
        hosts = launcher_hosts(word, text, &slots);
        if (hosts) to->states[LAUNCHER_NODES] = arena_print(s->arena, "%lld", (long long)hosts);
        if (!slots) return true;
        text = arena_print(s->arena, "%lld", (long long)slots);
    } else if (!launcher_number(text) && !strchr(text, SCRIPT_OPEN)) return true;
    to->states[states] = number_text(s, text);
    return true;
}

static enum status put_started(struct settings *s, const struct started *of, struct error *err)
{
    const char *all = of->states[LAUNCHER_PROCESSES], *each = of->states[LAUNCHER_PER_NODE],
               *gpus = of->states[LAUNCHER_GPUS], *nodes = of->states[LAUNCHER_NODES];
    if (!all && !each) all = of->states[LAUNCHER_HOSTS];
    if (gpus && (!each || !strcmp(each, "1"))) each = gpus;
    s->by_slurm = of->of == LAUNCHER_SLURM && !nodes;
    if (all) {
        TRY(launch_set(s, "num-processes", all, err));
        return launch_set(s, "nnodes", "1", err); // they are those of all nodes
    }
    if (each && !setting_of(s, "nproc-per-node")) TRY(launch_set(s, "nproc-per-node", each, err));
    return nodes && !setting_of(s, "nnodes") ? launch_set(s, "nnodes", nodes, err) : OK;
}

// "litgpt finetune_lora NAME", "trl dpo", where its command does; NULL: it does not.
static const char *named_program(struct settings *s, const char *const *words, int count)
{
    for (int i = 0; i + 1 < count; i++) {
        const char *name = path_name(words[i]);
        if (!strcmp(name, "trl")) return arena_print(s->arena, "trl %s", words[i + 1]);
        if (strcmp(name, "litgpt") != 0) continue;
        const char *model = i + 2 < count && *words[i + 2] != '-' ? words[i + 2] : "";
        return arena_print(s->arena, "litgpt %s%s%s", words[i + 1], *model ? " " : "", model);
    }
    return count > 1 && !strcmp(words[0], "megatron") ? words[0] : NULL;
}

enum status launch_take_words(struct settings *s, const struct setting_rows *rows,
                              const char *const *words, int count, bool program, struct error *err)
{
    int at = program ? program_at(words, count) : -1;
    struct started started = {0};
    if (at >= 0) s->program = words[at];
    else if (program) s->program = named_program(s, words, count);
    for (int i = 0; i < count; i++) {
        int launcher = i < at ? launcher_of(words[i]) : 0;
        if (i == at) TRY(put_started(s, &started, err));
        if (launcher) begin_launcher(&started, launcher);
        else if (i < at && take_started(s, &started, words[i], words[i + 1])) continue;
        else if (is_flag(words[i]))
            TRY(take_flag(s, rows, words, i < at ? at : count, i < at, &i, err));
        else if (is_open(words[i])) note_dropped(s, words[i]);
    }
    return OK;
}

enum status launch_set_value(struct settings *s, const char *key, const char *text,
                             struct error *err)
{
    char *name = arena_copy_text(s->arena, key);
    for (char *c = name; *c; c++)
        if (*c == '_') *c = '-';
    if (!text || !strcmp(text, "None") || !strcmp(text, "null") || !strcmp(text, "False") ||
        !strcmp(text, "false"))
        return OK;
    if (!strcmp(text, "True") || !strcmp(text, "true")) text = "";
    return launch_set(s, name, text, err);
}

enum status launch_take_openrlhf(struct settings *s, struct error *err)
{
    static const char *const names[][2] = {
        {"micro-train-batch-size", "micro-batch-size"},
        {"train.micro-batch-size", "micro-batch-size"},
        {"train-batch-size", "openrlhf.batch"},
        {"train.batch-size", "openrlhf.batch"},
        {"max-len", "max-length"},
        {"data.max-len", "max-length"},
        {"prompt-max-len", "max-prompt-length"},
        {"generate-max-len", "max-completion-length"},
        {"rollout.max-new-tokens", "max-new-tokens"},
        {"pretrain", "model"},
        {"model.model-name-or-path", "model"},
        {"actor.model-name-or-path", "model"},
        {"ds.zero-stage", "zero-stage"},
        {"adam-offload", "offload"},
        {"ds.adam-offload", "offload"},
        {"ds-tensor-parallel-size", "tensor-parallel-size"},
        {"ds.tensor-parallel-size", "tensor-parallel-size"},
        {"ring-attn-size", "context-parallel-size"},
        {"ds.ring-attn-size", "context-parallel-size"},
        {"packing-samples", "packing"},
        {"ds.packing-samples", "packing"},
        {"model.gradient-checkpointing-enable", "gradient-checkpointing"},
        {"actor.gradient-checkpointing-enable", "gradient-checkpointing"},
        {"param-dtype", "dtype"},
        {"ds.param-dtype", "dtype"},
        {"ds.attn-implementation", "attn-implementation"},
        {"ds.load-in-4bit", "load-in-4bit"},
        {"ds.lora.rank", "lora-rank"},
        {"ds.lora.alpha", "lora-alpha"},
        {"ds.lora.dropout", "lora-dropout"},
        {"ds.lora.target-modules", "lora-target-modules"},
        {"ds.use-liger-kernel", "use-liger-kernel"},
        {"actor-num-nodes", "nnodes"},
        {"actor.num-nodes", "nnodes"},
        {"actor-num-gpus-per-node", "nproc-per-node"},
        {"actor.num-gpus-per-node", "nproc-per-node"},
    };
    s->openrlhf = setting_of(s, "micro-train-batch-size") || // its scripts before it was a module
                  (s->program && strstr(s->program, "openrlhf."));
    if (!s->openrlhf) return OK;
    bool sections = false;
    for (int i = 0; i < s->count; i++)
        for (size_t k = 0; k < ARRAY_LENGTH(names); k++) {
            if (strcmp(s->items[i].key, names[k][0]) != 0) continue;
            sections |= strchr(names[k][0], '.') != NULL;
            s->items[i].key = names[k][1];
        }
    if (sections || setting_of(s, "flash-attn")) {
        if (!setting_of(s, "attn-implementation"))
            TRY(launch_set(s, "flash-attn", "flash_attention_2", err));
    } else if (!setting_of(s, "attn-implementation"))
        said_assume(&s->said, "attention is eager, as without --flash_attn");
    if (setting_of(s, "zero-stage")) return OK;
    said_assume(&s->said, "ZeRO 2, OpenRLHF's own");
    return launch_set(s, "zero-stage", "2", err);
}

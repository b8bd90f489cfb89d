// Overrides of a recipe on the command line of a script, "model.context_parallel_size=2" (also with
// + or ++ before it), as the settings of the recipe's file.
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/import/import.h"
#include "data/import/jobs/launch.h"

// The key's length; 0: the word is no override, or one of paths and logs. EasyR1's file of settings
// (config=FILE.yaml) is one.
static size_t key_length(const char *word)
{
    size_t length = 0;
    if (!strncmp(word, "checkpoint.", 11) || !strncmp(word, "logger.", 7)) return 0;
    bool dot = false;
    if (!strncmp(word, "config=", 7) && path_ends_with(word, ".yaml")) return 6;
    if (!isalpha((unsigned char)*word)) return 0;
    for (; isalnum((unsigned char)word[length]) || strchr("._", word[length]); length++) {
        if (!word[length]) return 0;
        dot |= word[length] == '.';
    }
    return dot && word[length] == '=' ? length : 0;
}

static const char *bare(const char *word) { return word + strspn(word, "+"); }

static int count_overrides(const struct script_command *c)
{
    int count = 0;
    for (int i = 0; i < c->count; i++) count += key_length(bare(c->words[i])) > 0;
    return count;
}

static bool has(const struct script_command *c, const char *word)
{
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->words[i], word)) return true;
    return false;
}

// Whether they have the same overrides.
static bool same(const struct script_command *a, const struct script_command *b)
{
    for (int k = 0; k < 2; k++) {
        const struct script_command *from = k ? b : a, *in = k ? a : b;
        for (int i = 0; i < from->count; i++)
            if (key_length(bare(from->words[i])) && !has(in, from->words[i])) return false;
    }
    return true;
}

static const char *first_difference(const struct script_command *a, const struct script_command *b,
                                    struct arena *arena)
{
    for (int i = 0; i < a->count; i++)
        if (key_length(bare(a->words[i])) && !has(b, a->words[i]))
            return script_shown(a->words[i], arena);
    return "none";
}

static void set(struct settings *s, const char *key, const char *text, int line)
{
    bool none = !strcmp(text, "null") || !strcmp(text, "None");
    settings_replace(s, key, none ? NULL : text, line); // the last counts
}

// ---- recipes

// What follows the option, "--recipe NAME" or "--recipe=NAME"; NULL: it is not there.
static const char *value_of(const struct script_command *c, const char *option)
{
    size_t length = strlen(option);
    for (int i = 0; i < c->count; i++) {
        if (strncmp(c->words[i], option, length) != 0) continue;
        if (c->words[i][length] == '=') return c->words[i] + length + 1;
        if (!c->words[i][length] && i + 1 < c->count) return c->words[i + 1];
    }
    return NULL;
}

static const struct bridge_recipe *recipe_of(const char *name)
{
    for (const struct bridge_recipe *r = bridge_recipes; r->names; r++)
        if (name_is_listed(r->names, name, strlen(name))) return r;
    return NULL;
}

static const char *nearest_recipe(const char *name, struct arena *arena)
{
    enum { RECIPES_MAX = 1024 };
    const char **names = TAKE(arena, RECIPES_MAX, const char *);
    int count = 0;
    for (const struct bridge_recipe *r = bridge_recipes; r->names; r++)
        for (const char *at = r->names; *at && count < RECIPES_MAX; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            names[count++] = arena_print(arena, "%.*s", (int)length, at);
            at += length;
        }
    return names[name_nearest(name, names, count)];
}

static void take_codes(struct settings *s, const char *codes, int line)
{
    for (const char *at = codes; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " "), code = strcspn(at, "=");
        const struct recipe_key *k = bridge_recipe_keys;
        while (k->code && (strlen(k->code) != code || strncmp(k->code, at, code) != 0)) k++;
        if (k->code)
            set(s, k->key, arena_print(s->arena, "%.*s", (int)(length - code - 1), at + code + 1),
                line);
        at += length;
    }
}

#define FINETUNE "_finetune_config"
// --recipe NAME, or --model NAME with --mode: pretrain, sft.
static const char *recipe_named(struct settings *s, const struct script_command *c)
{
    const char *name = value_of(c, "--recipe"), *model = value_of(c, "--model"),
               *mode = value_of(c, "--mode");
    if (!name && model && mode && !strpbrk(model, "/ "))
        name = arena_print(s->arena, "%s_%s_config", model, mode);
    if (!name || !*name || *name == '-') return NULL;
    // Until 2026 one function made both, by --peft_scheme.
    size_t length = strlen(name), end = strlen(FINETUNE);
    if (recipe_of(name) || length <= end || strcmp(name + length - end, FINETUNE) != 0) return name;
    const char *split = arena_print(s->arena, "%.*s_%s_config", (int)(length - end), name,
                                    value_of(c, "--peft_scheme") ? "peft" : "sft");
    return recipe_of(split) ? split : name;
}

static void take_recipe(struct settings *s, const char *name, int line)
{
    const struct bridge_recipe *r = name ? recipe_of(name) : NULL;
    if (!name) return;
    take_codes(s, bridge_recipe_usual, line);
    if (!r) {
        said_assume(&s->said,
                    "what is not here is in the recipe %.80s, which has no row here (the nearest "
                    "is %.80s): bf16, the distributed optimizer, overlapped gradients, degrees 1, "
                    "and unless stated one micro-batch of each data rank",
                    script_shown(name, s->arena), nearest_recipe(name, s->arena));
        return;
    }
    s->model = *r->model ? r->model : NULL;
    take_codes(s, r->settings, line);
    said_assume(&s->said, "the recipe %.80s is that of Megatron Bridge at 067f987df03b%s%.80s",
                name, s->model ? ", of the model " : "", s->model ? s->model : "");
}

void launch_take_recipe(struct settings *s)
{
    const struct setting *of = setting_of(s, "recipe.name"), *items = s->items;
    if (!of) of = setting_of(s, "recipe._target_");
    if (!of || !of->text) return;
    const char *dot = strrchr(of->text, '.');
    int count = s->count, line = of->line;
    s->items = NULL, s->count = s->capacity = 0;
    take_recipe(s, dot ? dot + 1 : of->text, line);
    for (int i = 0; i < count; i++) settings_replace(s, items[i].key, items[i].text, items[i].line);
}

static void take(struct settings *s, const struct script_command *c)
{
    take_recipe(s, recipe_named(s, c), c->line);
    for (int i = 0; i < c->count; i++) {
        const char *word = bare(c->words[i]);
        size_t length = key_length(word);
        if (length)
            set(s, arena_print(s->arena, "%.*s", (int)length, word), word + length + 1, c->line);
    }
    // Nearly all recipes state so; without sequence parallelism it is not possible.
    const char *recipe = recipe_named(s, c);
    const struct setting *sequence = setting_of(s, "model.sequence_parallel");
    if (recipe && !recipe_of(recipe) && sequence && sequence->text &&
        !strcasecmp(sequence->text, "true") && !setting_of(s, "model.expert_tensor_parallel_size"))
        take_codes(s, "etp=1", c->line);
    const char *of_node[] = {"--nproc_per_node", "--nproc-per-node", "--gpus-per-node"},
               *nodes[] = {"--nnodes", "--nodes"};
    for (size_t i = 0; i < ARRAY_LENGTH(of_node); i++)
        if (value_of(c, of_node[i])) s->of_node = value_of(c, of_node[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(nodes); i++)
        if (value_of(c, nodes[i])) s->nodes = value_of(c, nodes[i]);
}

// Reinforcement learning has other names, Bridge's scripts/performance settings by GPU.
static enum status refuse_others(const struct settings *s, const struct script_command *c,
                                 struct error *err)
{
    static const char *const parts[] = {"actor_rollout_ref.", "models.policy_trainer."};
    static const char why[] =
        "is of reinforcement learning: plumbline import rl reads how its policy is trained";
    for (int i = 0; i < s->count; i++)
        for (size_t k = 0; k < ARRAY_LENGTH(parts); k++)
            if (!strncmp(s->items[i].key, parts[k], strlen(parts[k])))
                return settings_refuse(s, s->items[i].key, err, "%s", why);
    const char *measured = value_of(c, "--model_recipe_name");
    if (measured)
        return refuse(
            err,
            "%s: line %d: the recipe %.80s of Megatron Bridge's scripts/performance, whose "
            "settings differ by GPU, is not read: write them as YAML (config.to_yaml(...))",
            s->document.path, c->line, measured);
    for (int i = 0; i < c->count; i++)
        if (!strncmp(c->words[i], "verl.", 5))
            return refuse(err, "%s: line %d: %.80s: %s", s->document.path, c->line, c->words[i],
                          why);
    return OK;
}

enum status launch_read_overrides(struct settings *s, const char *path,
                                  const struct launch_asked *asked, struct arena *arena,
                                  struct error *err)
{
    const char *text;
    size_t size;
    struct script script;
    struct script_given *given = TAKE(arena, asked->set.count + 1, struct script_given);
    const struct script_command *found = NULL, *other = NULL;
    int64_t launch = 0;
    *s = settings_empty(arena);
    TRY(import_check_size(path, err));
    TRY(import_read(&s->document, path, &text, &size, arena, err));
    TRY(launch_given(given, &asked->set, arena, err));
    TRY(script_follow(&script, path, text, size, given, asked->set.count, asked->arguments, arena,
                      err));
    for (int i = 0; i < script.command_count; i++) {
        const char *name = recipe_named(s, &script.commands[i]);
        int count = count_overrides(&script.commands[i]) + (name && recipe_of(name));
        if (!count || (asked->launch && ++launch != asked->launch)) continue;
        if (found && !same(found, &script.commands[i])) other = &script.commands[i];
        if (!found) found = &script.commands[i];
    }
    if (other)
        return refuse(err,
                      "%s: launches that differ, %.80s (line %d) and %.80s (line %d): choose one "
                      "with --launch N",
                      path, first_difference(found, other, arena), found->line,
                      first_difference(other, found, arena), other->line);
    if (!found)
        return refuse(err, "%s: expected a launch with overrides (%s), found none: %s", path,
                      asked->rollouts ? "data.train_batch_size=256" : "model.seq_length=4096",
                      asked->rollouts ? "import the script that has it; flags of slime and miles: "
                                        "plumbline import megatron; of OpenRLHF, TRL's YAML: "
                                        "plumbline import trainer"
                                      : "write the run's settings as YAML (config.to_yaml(...), or "
                                        "run_config.yaml of a checkpoint)");
    s->nodes = script.nodes, s->of_node = script.of_node, s->said.with = script.read_in;
    take(s, found);
    return asked->rollouts ? OK : refuse_others(s, found, err);
}

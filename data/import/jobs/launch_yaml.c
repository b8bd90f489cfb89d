// YAML (GPT-NeoX: JSON, too) whose keys are flags: MODEL_ARGS with "--hidden-size: 4096", Primus's
// modules with overrides and its models, FlagScale's system and model with "hidden_size: 4096";
// with ${NAME} of the environment.
#include <string.h>
#include <strings.h>

#include "data/import/jobs/launch.h"

static const char *given(const struct launch_asked *asked, const char *name, size_t length)
{
    for (int i = 0; i < asked->set.count; i++)
        if (!strncmp(asked->set.items[i], name, length) && asked->set.items[i][length] == '=')
            return asked->set.items[i] + length + 1;
    return NULL;
}

// ${NAME} and ${NAME:-value}: what is given, or the default, or left open.
static const char *filled(struct settings *s, const struct launch_asked *asked, const char *text)
{
    const char *out = "", *dollar;
    for (int i = 0; i < 16 && (dollar = strstr(text, "${")); i++) {
        size_t length = strcspn(dollar + 2, ":}"), inside = strcspn(dollar + 2, "}");
        const char *value = given(asked, dollar + 2, length), *name = dollar + 2;
        size_t dash = name[length] == ':' && name[length + 1] == '-'; // Primus has none
        if (!value && name[length] == ':' && inside > length)
            value = arena_print(s->arena, "%.*s", (int)(inside - length - 1 - dash),
                                name + length + 1 + dash);
        if (!value)
            value = arena_print(s->arena, "%c%.*s%c", SCRIPT_OPEN, (int)length, name, SCRIPT_CLOSE);
        out = arena_print(s->arena, "%s%.*s%s", out, (int)(dollar - text), text, value);
        text = name + inside + (name[inside] == '}');
    }
    return arena_print(s->arena, "%s%s", out, text);
}

// "'([0]*1+[1]*60)'": the quotes are for a shell.
static const char *unquoted(struct settings *s, const char *text)
{
    size_t length = strlen(text);
    bool quoted = length > 1 && strchr("'\"", text[0]) && text[length - 1] == text[0];
    return quoted ? arena_print(s->arena, "%.*s", (int)length - 2, text + 1) : text;
}

// The flag that a key states; NULL: it is none. Behind a section, with its element's index.
static const char *flag_of(const char *key, bool arguments)
{
    static const char *const sections[] = {
        "modules.",        "system.",         "model.",
        "train.system.",   "train.model.",    "language_model.",
        "model_parallel.", "data.tokenizer.", "train.data.tokenizer."};
    static const char model_args[] = "MODEL_ARGS.";
    const char *dot = strrchr(key, '.');
    if (arguments) {
        if (!strncmp(key, model_args, sizeof model_args - 1)) key += sizeof model_args - 1;
        else if (strncmp(key, "--", 2) != 0) return NULL;
        return key + (strncmp(key, "--", 2) ? 0 : 2);
    }
    if (!dot) return key;
    for (size_t i = 0; i < ARRAY_LENGTH(sections); i++)
        if (!strncmp(key, sections[i], strlen(sections[i]))) return dot + 1;
    return NULL;
}

static enum status take_flags(struct settings *s, const struct settings *yaml, bool arguments,
                              const struct launch_asked *asked, struct error *err)
{
    for (int i = 0; i < yaml->count; i++) {
        const char *key = flag_of(yaml->items[i].key, arguments), *text = yaml->items[i].text;
        if (!key || !text) continue;
        size_t length = strcspn(key, "[.");
        char *name = arena_print(s->arena, "%.*s", (int)length, key);
        for (char *c = name; *c; c++)
            if (*c == '_') *c = '-';
        if (!arguments && (!strcmp(name, "fp8") || !strcmp(name, "fp4"))) // argparse's other names
            name = arena_print(s->arena, "%s-format", name);
        text = unquoted(s, filled(s, asked, text));
        if (!*text) continue; // set to nothing
        struct setting *before = key[length] == '[' ? (struct setting *)setting_of(s, name) : NULL;
        if (!arguments && !strcmp(name, "activation-func") && !strcmp(text, "swiglu"))
            TRY(launch_set(s, "swiglu", "", err)); // Megatron's --yaml-cfg
        else if (!arguments && !strcmp(name, "activation-func") && !strcmp(text, "squaredrelu"))
            TRY(launch_set(s, "squared-relu", "", err));
        else if (!arguments && !strcmp(name, "add-bias-linear") && !strcasecmp(text, "false"))
            TRY(launch_set(s, "disable-bias-linear", "", err));
        else if (before) before->text = arena_print(s->arena, "%s %s", before->text, text);
        else TRY(launch_set_value(s, name, text, err));
    }
    return OK;
}

// ---- Primus's models, in files of their own

enum { FILES_MOST = 64, FOLDERS_UP = 6 };

// The keys of a model's file in `folder` over those of the files that it names; *left: how many
// files may still be read, negative if that was too few.
static bool take_model_file(struct settings *to, const char *folder, const char *name, int *left)
{
    static const char *const lists[] = {"bases", "includes", "extends"};
    struct settings yaml;
    struct error ignored = {OK, ""};
    if (*left < 0 || strchr(name, '/') || strchr(name, SCRIPT_OPEN) ||
        settings_read_yaml_raw(&yaml, arena_print(to->arena, "%s%s", folder, name), to->arena,
                               &ignored) != OK)
        return false;
    --*left;
    for (size_t k = 0; k < ARRAY_LENGTH(lists); k++)
        for (int i = 0; i < setting_list_length(&yaml, lists[k]); i++) {
            const struct setting *at =
                setting_of(&yaml, arena_print(to->arena, "%s[%d]", lists[k], i));
            if (at && at->text) take_model_file(to, folder, at->text, left);
        }
    for (int i = 0; i < yaml.count; i++)
        if (!strpbrk(yaml.items[i].key, ".["))
            settings_replace(to, yaml.items[i].key, yaml.items[i].text, 0);
    return true;
}

// The model that a file of Primus names, if its repository is here: what the overrides leave of it.
// Whether it is.
static bool find_model(struct settings *to, const struct settings *yaml, const char *path,
                       const struct launch_asked *asked)
{
    static const char *const keys[] = {"modules.pre_trainer", "modules.post_trainer"};
    for (size_t k = 0; k < ARRAY_LENGTH(keys); k++) {
        const struct setting *at = setting_of(yaml, arena_print(to->arena, "%s.model", keys[k]));
        const char *slash = strrchr(path, '/'),
                   *from = slash ? arena_print(to->arena, "%.*s/", (int)(slash - path), path) : "";
        if (!at || !at->text) continue;
        const char *name = filled(to, asked, at->text);
        for (int up = 0; up < FOLDERS_UP; up++, from = arena_print(to->arena, "%s../", from)) {
            const char *folder = arena_print(to->arena, "%sprimus/configs/models/megatron/", from);
            int left = FILES_MOST;
            if (!take_model_file(to, folder, name, &left) || left < 0) continue;
            const struct setting *experts = setting_of(to, "num_experts");
            int kept = 0;
            for (int i = 0; i < to->count; i++) { // without experts their defaults mean nothing
                const char *key = to->items[i].key,
                           *own = arena_print(to->arena, "%s.overrides.%s", keys[k], key);
                bool means = (experts && experts->text) || strncmp(key, "moe_", 4) != 0;
                if (means && !setting_of(yaml, own)) to->items[kept++] = to->items[i];
            }
            to->count = kept;
            said_assume(&to->said, "the model of primus/configs/models/megatron/%.60s", name);
            return true;
        }
    }
    return false;
}

// What Primus's own files of defaults state (configs/modules/megatron at fd1eeabb), unless told.
static enum status take_defaults(struct settings *s, const struct settings *yaml, struct error *err)
{
    static const char *const modules[] = {"modules.pre_trainer", "modules.post_trainer"},
                             *const stated[] = {"use_distributed_optimizer", "bf16"};
    for (size_t i = 0; i < ARRAY_LENGTH(modules); i++) {
        const char *key = arena_print(s->arena, "%s.config", modules[i]);
        const struct setting *at = setting_of(yaml, key);
        if (!at || !at->text ||
            (strcmp(at->text, "pre_trainer.yaml") && strcmp(at->text, "sft_trainer.yaml")))
            continue;
        for (size_t k = 0; k < ARRAY_LENGTH(stated); k++) {
            key = arena_print(s->arena, "%s.overrides.%s", modules[i], stated[k]);
            if (setting_of(yaml, key)) continue;
            TRY(launch_set_value(s, stated[k], "true", err));
            said_assume(&s->said, "%s, as %s states it", stated[k], at->text);
        }
    }
    return OK;
}

// Whether the keys are GPT-NeoX's, whose names and defaults are others.
static bool is_neox(const struct settings *yaml)
{
    static const char *const keys[] = {"pipe_parallel_size", "pos_emb", "no_weight_tying",
                                       "train_micro_batch_size_per_gpu"};
    for (int i = 0; i < yaml->count; i++) {
        size_t length = strlen(yaml->items[i].key);
        for (size_t k = 0; k < ARRAY_LENGTH(keys); k++) {
            size_t same = 0;
            while (same < length && (yaml->items[i].key[same] == keys[k][same] ||
                                     (yaml->items[i].key[same] == '-' && keys[k][same] == '_')))
                same++;
            if (same == length && !keys[k][same]) return true;
        }
    }
    return false;
}

// Keys with dashes in place of underscores; a list as one text. What GPT-NeoX's own defaults say
// is left to megatron.c.
static enum status take_neox(struct settings *s, const struct settings *yaml, struct error *err)
{
    s->neox = true;
    for (int i = 0; i < yaml->count; i++) {
        const char *text = yaml->items[i].text;
        size_t length = settings_base_length(yaml->items[i].key);
        char *key = arena_print(s->arena, "%.*s", (int)length, yaml->items[i].key);
        for (char *c = key; *c; c++)
            if (*c == '_') *c = '-';
        struct setting *before = (struct setting *)setting_of(s, key);
        if (before && text && yaml->items[i].key[length] == '[')
            before->text = arena_print(s->arena, "%s %s", before->text, text);
        else if (text) TRY(launch_set(s, key, text, err));
    }
    return OK;
}

// Primus runs other programs, too, and with Megatron-LM diffusion models (at fd1eeabb).
static enum status refuse_primus(const struct settings *yaml, struct error *err)
{
    static const char *const keys[] = {"modules.pre_trainer.framework",
                                       "modules.post_trainer.framework",
                                       "modules.pre_trainer.trainer_class"};
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        const struct setting *at = setting_of(yaml, keys[i]);
        if (!at || !at->text) continue;
        if (i < 2 && strncmp(at->text, "megatron", strlen("megatron")) != 0)
            return settings_refuse(yaml, keys[i], err,
                                   "expected megatron or megatron_bridge, or torchtitan, which "
                                   "plumbline import torchtitan reads");
        if (i == 2 && (strstr(at->text, "Flux") || strstr(at->text, "Diffusion")))
            return settings_refuse(yaml, keys[i], err,
                                   "trains a diffusion model; those that are read are of language");
    }
    return OK;
}

enum status launch_read_yaml(struct settings *s, const char *path, const struct launch_asked *asked,
                             struct error *err)
{
    enum { READ_LEAST = 3 };
    struct settings yaml;
    bool arguments = false;
    int found = 0;
    if (path_ends_with(path, ".py")) {
        TRY(settings_read_python_file(&yaml, path, s->arena, err));
        if (launch_is_internevo(&yaml)) return launch_take_internevo(s, &yaml, err);
        return refuse(err,
                      "%s: expected InternEvo's configuration (data.seq_len, model.num_layers), "
                      "found none: XTuner's is read by import trainer, torchtitan's by import "
                      "torchtitan",
                      path);
    }
    TRY((path_ends_with(path, ".json") ? settings_read_json
                                       : settings_read_yaml_raw)(&yaml, path, s->arena, err));
    if (is_neox(&yaml)) return take_neox(s, &yaml, err);
    if (path_ends_with(path, ".json"))
        return refuse(
            err,
            "%s: expected GPT-NeoX's keys, found others: a model's config.json is read by "
            "import hf, DeepSpeed's file by import deepspeed",
            path);
    TRY(refuse_primus(&yaml, err));
    for (int i = 0; i < yaml.count; i++) arguments |= flag_of(yaml.items[i].key, true) != NULL;
    TRY(take_defaults(s, &yaml, err));
    struct settings model = settings_empty(s->arena);
    bool found_model = find_model(&model, &yaml, path, asked);
    if (found_model) TRY(take_flags(s, &model, false, asked, err));
    TRY(take_flags(s, &yaml, arguments, asked, err));
    if (found_model) said_assume(&s->said, "%s", model.said.assumed);
    for (int i = 0; i < s->count; i++) found += launch_is_read(asked->rows, s->items[i].key);
    const char *others[] = {"modules.pre_trainer.model", "extends[0]", "bases[0]", "includes[0]"};
    s->presets = !arguments;
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
        const struct setting *other = setting_of(&yaml, others[i]);
        if (!other || !other->text || (found_model && !i)) continue;
        s->hints = arena_print(s->arena, "%s; what is not here is in %.80s, another file", s->hints,
                               other->text);
    }
    if (found >= READ_LEAST) return OK;
    return refuse(
        err,
        "%s: expected flags of Megatron-LM (MODEL_ARGS with --hidden-size: 4096, Primus's or "
        "FlagScale's keys), found %d: other YAML is read by import nemo, nanotron or trainer",
        path, found);
}

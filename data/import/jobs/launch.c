// See launch.h. A script is followed once as it is; where it compares names that are open, once
// more for each value that it names, so that what they decide can be said.
#include "data/import/jobs/launch.h"

#include <string.h>
#include <unistd.h>

#include "data/base/grow.h"
#include "data/import/import.h"
#include "data/import/launcher.h"

enum {
    SCRIPT_SIZE_MAX = 1 << 20,
    FOLLOWS_MAX = 24,
    LAUNCHES_MAX = 64,
    WORDS_MAX = 8192,
    DIFFERENCES_MAX = 4,
    UNSET_MOST = 4
};

struct file {
    const char *path, *text;
    size_t size;
    const struct launch_asked *asked;
    struct arena *arena;
};

static struct settings empty_settings(const struct settings *like)
{
    struct settings s = settings_empty(like->arena);
    s.document = like->document, s.flags = true;
    return s;
}

// ---- the launches of a script

// At blanks, where the text is one that holds several words.
static enum status take_text(struct settings *s, const struct setting_rows *rows, const char *text,
                             struct error *err)
{
    const char **words = NULL;
    int count = 0, capacity = 0;
    for (const char *at = text + strspn(text, " \t\n"); *at; at += strspn(at, " \t\n")) {
        size_t length = 0;
        while (at[length] && !strchr(" \t\n", at[length]))
            length += at[length] == SCRIPT_OPEN ? strcspn(at + length, "\2") : 1;
        GROW(s->arena, words, count, capacity, 64);
        words[count++] = arena_print(s->arena, "%.*s", (int)length, at);
        at += length;
        if (count == WORDS_MAX) break;
    }
    return launch_take_words(s, rows, words, count, false, err);
}

static enum status take_command(struct settings *s, const struct setting_rows *rows,
                                const struct script_command *c, struct error *err)
{
    if (!c->variable) return launch_take_words(s, rows, c->words, c->count, true, err);
    bool ranks = c->count > 1;
    for (int i = 0; i < c->count; i++)
        ranks &= !*c->words[i] || !strncmp(c->words[i], "--recompute-", 12);
    if (ranks || c->count > 1) return launch_take_words(s, rows, c->words, c->count, false, err);
    return take_text(s, rows, c->words[0], err);
}

// How many of the settings are read; all of them count for a list of arguments.
static int read_count(const struct settings *s, const struct setting_rows *rows)
{
    int count = 0;
    for (int i = 0; i < s->count; i++)
        count += launch_is_read(rows, s->items[i].key) && strcmp(s->items[i].key, "nnodes") &&
                 strcmp(s->items[i].key, "nproc-per-node");
    return count;
}

struct launches {
    struct settings *items;
    int *lines;
    int count, capacity;
    const char *beside; // flags behind a launch that a shell would not have taken
};

// A launch that has no settings, with some of its flags.
static const char *seen(const struct settings *at, const struct script_command *c)
{
    enum { FLAGS_MOST = 4 };
    const char *text =
        arena_print(at->arena, "line %d launches %.60s", c->line,
                    script_shown(at->program ? at->program : c->words[0], at->arena));
    for (int i = 0; i < at->count && i < FLAGS_MOST; i++)
        text = arena_print(at->arena, "%s%s --%.40s%s%.40s", text, i ? "," : " with",
                           at->items[i].key, *at->items[i].text ? " " : "",
                           script_shown(at->items[i].text, at->arena));
    return text;
}

// configs: a launch that names a file of settings is one.
static enum status find_launches(struct launches *to, struct settings *s,
                                 const struct script *script, const struct setting_rows *rows,
                                 bool configs, struct error *err)
{
    enum { READ_LEAST = 3 };
    *to = (struct launches){.items = TAKE(s->arena, LAUNCHES_MAX, struct settings),
                            .lines = TAKE(s->arena, LAUNCHES_MAX, int)};
    bool listed = false; // the last one is a list of arguments
    for (int i = 0; i < script->command_count && to->count < LAUNCHES_MAX; i++) {
        const struct script_command *c = &script->commands[i];
        bool goes_on = !strncmp(c->words[0], "--", 2) && to->count;
        struct settings *at = &to->items[goes_on ? to->count - 1 : to->count];
        if (!goes_on) *at = empty_settings(s);
        TRY(take_command(at, rows, c, err));
        if (goes_on && !listed && !to->beside)
            to->beside = arena_print(s->arena,
                                     "line %d: flags on a line of their own are read as "
                                     "the launch's",
                                     c->line);
        bool list = !strncmp(c->words[0], "--", 2),
             named = at->program && (!strcmp(at->program, "megatron") || // ms-swift's
                                     strstr(at->program, "openrlhf.") ||
                                     (configs && (strstr(at->program, LAUNCH_OF_FMS) ||
                                                  !strncmp(at->program, "litgpt ", 7) ||
                                                  strstr(at->program, LAUNCH_OF_TITAN))));
        if (configs && c->config) at->launch = c;
        if (c->accelerate) at->accelerate = c->accelerate;
        named |= configs && at->program && setting_of(at, "plugin"); // ColossalAI's
        const struct setting *batch = setting_of(at, "per-device-train-batch-size");
        if (goes_on) continue;
        if (!list && !named && !(configs && c->config) && read_count(at, rows) < READ_LEAST &&
            !(batch && at->program && launch_is_read(rows, batch->key))) {
            if (at->program || (!list && !s->seen)) s->seen = seen(at, c);
            continue;
        }
        to->lines[to->count++] = c->line, listed = list;
    }
    int kept = 0; // where flags launch, a file of settings is of a program beside it
    for (int i = 0; i < to->count; i++) {
        if (read_count(&to->items[i], rows) < READ_LEAST && to->items[i].launch) continue;
        to->lines[kept] = to->lines[i], to->items[kept++] = to->items[i];
    }
    if (kept) to->count = kept;
    return OK;
}

// Whether all flags of one variable are in another one, which is built from it.
static bool within(const struct settings *a, const struct settings *b)
{
    for (int i = 0; i < a->count; i++)
        if (!setting_of(b, a->items[i].key)) return false;
    return a->count < b->count;
}

static enum status take_values(struct settings *to, const struct script *script,
                               const struct setting_rows *rows, struct error *err)
{
    struct settings *own = TAKE(to->arena, script->value_count, struct settings);
    const char *names = "";
    for (int i = 0; i < script->value_count; i++) {
        own[i] = empty_settings(to);
        TRY(take_command(&own[i], rows, &script->values[i], err));
    }
    for (int i = 0; i < script->value_count; i++) {
        bool inside = !read_count(&own[i], rows) &&
                      strcmp(own[i].count ? own[i].items[0].key : "", SETTINGS_OF_RANK);
        for (int k = 0; k < script->value_count && !inside; k++) inside = within(&own[i], &own[k]);
        if (inside) continue;
        TRY(take_command(to, rows, &script->values[i], err));
        names =
            arena_print(to->arena, "%s%s%s", names, *names ? ", " : "", script->values[i].variable);
    }
    if (*names && script->command_count)
        said_assume(&to->said,
                    "no launch with these flags was found: those of the variables %.200s "
                    "are read",
                    names);
    return OK;
}

// ---- what differs

static bool is_twin(const struct settings *a, const struct settings *b,
                    const struct setting_rows *rows)
{
    if (a->launch && b->launch && strcmp(a->launch->config, b->launch->config) != 0) return false;
    for (int i = 0; i < a->count; i++) {
        const struct setting *at = &a->items[i], *other = setting_of(b, at->key);
        if (launch_is_read(rows, at->key) && (!other || strcmp(other->text, at->text)))
            return false;
    }
    return true;
}

static const char *differences(const struct settings *a, const struct settings *b,
                               const struct setting_rows *rows)
{
    bool other = b->launch && (!a->launch || strcmp(a->launch->config, b->launch->config) != 0);
    const char *text = other ? arena_copy_text(a->arena, b->launch->config) : "";
    int count = 0;
    for (int i = 0; i < b->count; i++) {
        const struct setting *at = &b->items[i], *before = setting_of(a, at->key);
        if (!launch_is_read(rows, at->key) || (before && !strcmp(before->text, at->text))) continue;
        if (count++ < DIFFERENCES_MAX)
            text = arena_print(a->arena, "%s%s--%s%s%.40s", text, *text ? ", " : "", at->key,
                               *at->text ? " " : "", script_shown(at->text, a->arena));
    }
    for (int i = 0; i < a->count; i++)
        if (launch_is_read(rows, a->items[i].key) && !setting_of(b, a->items[i].key) &&
            count++ < DIFFERENCES_MAX)
            text = arena_print(a->arena, "%s%sno --%s", text, *text ? ", " : "", a->items[i].key);
    if (count > DIFFERENCES_MAX)
        text = arena_print(a->arena, "%s and %d more", text, count - DIFFERENCES_MAX);
    return text;
}

static enum status refuse_several(const struct settings *s, const struct launches *l,
                                  const struct setting_rows *rows, struct error *err)
{
    const char *text = "";
    bool same_line = true;
    for (int i = 1; i < l->count; i++) same_line &= l->lines[i] == l->lines[0];
    for (int i = 0; i < l->count && i < 3; i++)
        text = arena_print(s->arena, "%s; %d (line %d): %s", text, i + 1, l->lines[i],
                           differences(&l->items[i ? 0 : 1], &l->items[i], rows));
    return refuse(err, "%s: %d launches that differ%s%.500s: choose one with --launch N%s",
                  s->document.path, l->count, text, l->count > 3 ? "; ..." : "",
                  same_line ? ", or set what the loop goes over with --set NAME=value" : "");
}

// ---- one script

// What stands behind a key in JSON's text: a word, or what its quotes hold; NULL: no such key.
static const char *written(struct settings *s, const char *text, const char *key)
{
    const char *at = text ? strstr(text, arena_print(s->arena, "\"%s\"", key)) : NULL;
    if (!at) return NULL;
    at += strlen(key) + 2, at += strspn(at, " \t:");
    return *at == '"' ? arena_print(s->arena, "%.*s", (int)strcspn(at + 1, "\""), at + 1)
                      : arena_print(s->arena, "%.*s", (int)strcspn(at, " \t\n,}"), at);
}

// How a configuration that the script writes shards states: DeepSpeed's, or FSDP's in JSON.
static void take_written(struct settings *s, const struct script *script)
{
    struct setting *fsdp = (struct setting *)setting_of(s, "fsdp");
    struct error ignored = {OK, ""};
    for (int i = 0; i < script->file_count; i++) {
        const char *text = script->files[i].text,
                   *stage = written(s, strstr(text, "\"zero_optimization\""), "stage"),
                   *shards = written(s, text, "fsdp"),
                   *full = written(s, text, "activation_checkpointing");
        if (stage && setting_of(s, "deepspeed") && !setting_of(s, "zero-stage"))
            launch_set(s, "zero-stage", stage, &ignored);
        if (!shards || !fsdp || !strstr(fsdp->text, ".json")) continue;
        fsdp->text = shards;
        if (full && !strcmp(full, "true")) launch_set(s, "gradient-checkpointing", "", &ignored);
    }
}

static void take_places(struct settings *s, const struct script *script)
{
    s->elsewhere = script->sourced, s->said.with = script->read_in;
    s->processes = script->processes, s->machines = script->machines;
    s->nodes = script->nodes, s->of_node = script->of_node;
    s->world = script->world, s->visible = script->visible;
    if (script->searched)
        said_assume(&s->said, "%.200s: found by the end of their paths", script->read_in);
}

static enum status follow(struct settings *to, struct script *script, const struct file *f,
                          const struct script_given *given, int given_count, bool first,
                          struct error *err)
{
    const struct setting_rows *rows = f->asked->rows;
    struct launches l;
    int64_t chosen = f->asked->launch;
    TRY(script_follow(script, f->path, f->text, f->size, given, given_count, f->asked->arguments,
                      f->arena, err));
    TRY(find_launches(&l, to, script, rows, f->asked->configs, err));
    take_places(to, script);
    if (!l.count) return take_values(to, script, rows, err);
    if (chosen > l.count)
        return refuse(err, "%s: --launch %d: there are %d", f->path, (int)chosen, l.count);
    for (int i = 1; i < l.count && first && !chosen; i++)
        if (!is_twin(&l.items[0], &l.items[i], rows) || !is_twin(&l.items[i], &l.items[0], rows))
            return refuse_several(to, &l, rows, err);
    int64_t at = chosen ? chosen - 1 : 0;
    while (!chosen && at + 1 < l.count && !setting_of(&l.items[at], "nproc-per-node")) at++;
    *to = l.items[at]; // of twins the one that says its processes, else the last
    take_places(to, script);
    take_written(to, script);
    if (l.beside) said_assume(&to->said, "%s", l.beside);
    return OK;
}

static const char *choices_of(const struct script_choice *c, struct arena *arena)
{
    const char *text = "";
    for (int i = 0; i < c->count; i++)
        text = arena_print(arena, "%s%s%.40s", text, i ? i + 1 < c->count ? ", " : " or " : "",
                           c->values[i]);
    return text;
}

// Follows the script with each value of one open name; what that changes is assumed not to be.
static enum status try_choice(struct settings *s, const struct file *f,
                              const struct script_choice *c, struct script_given *given, int count,
                              int *follows, struct error *err)
{
    const char *decided = "", *first = NULL;
    static const char *const set[] = {"1"};
    for (int i = 0; i < (c->presence ? 1 : c->count) && *follows < FOLLOWS_MAX; i++, ++*follows) {
        struct script script;
        struct file again = *f;
        again.arena = arena_open_within(f->arena);
        struct settings other = empty_settings(s);
        other.arena = other.said.arena = again.arena;
        const char *value = c->presence ? set[i] : c->values[i];
        given[count] = (struct script_given){c->name, value};
        const char *what = "";
        if (follow(&other, &script, &again, given, count + 1, false, err) == OK)
            what = differences(s, &other, f->asked->rows);
        arena_close(again.arena);
        if (!*what || *decided) continue;
        decided = what, first = value;
    }
    *err = (struct error){OK, ""};
    if (!*decided) return OK;
    s->hints = arena_print(f->arena, "%s; not set: %.60s%s%s%s: with %.40s %s", s->hints, c->name,
                           c->count > 1 ? " (" : "", c->count > 1 ? choices_of(c, f->arena) : "",
                           c->count > 1 ? ")" : "", c->presence ? "a value" : first, decided);
    return OK;
}

enum status launch_given(struct script_given *given, const struct option_texts *set,
                         struct arena *arena, struct error *err)
{
    for (int i = 0; i < set->count; i++) {
        const char *text = set->items[i], *equals = strchr(text, '=');
        if (!equals || equals == text) return refuse(err, "--set %.80s: expected NAME=value", text);
        given[i] = (struct script_given){arena_print(arena, "%.*s", (int)(equals - text), text),
                                         equals + 1};
    }
    return OK;
}

static enum status read_script(struct settings *s, const struct file *f, struct error *err)
{
    const struct option_texts *set = &f->asked->set;
    struct script_given *given = TAKE(f->arena, set->count + 1, struct script_given);
    struct script script;
    int follows = 0;
    TRY(launch_given(given, set, f->arena, err));
    if (f->size > SCRIPT_SIZE_MAX)
        return refuse(err, "%s: expected a script of at most %d KB", f->path,
                      SCRIPT_SIZE_MAX >> 10);
    TRY(follow(s, &script, f, given, set->count, true, err));
    const char *unset = "";
    for (int i = 0, told = 0; i < script.choice_count && s->seen && told < UNSET_MOST; i++) {
        if (!script.choices[i].presence) continue;
        unset = arena_print(f->arena, "%s%s%.40s", unset,
                            told++ ? ", " : "; not set: ", script.choices[i].name);
    }
    if (s->seen) s->seen = arena_print(f->arena, "%s%s", s->seen, unset);
    if (*script.notes)
        said_assume(&s->said, "%.*s", (int)strcspn(script.notes, "\n"), script.notes);
    for (int i = 0; i < script.choice_count; i++)
        TRY(try_choice(s, f, &script.choices[i], given, set->count, &follows, err));
    return OK;
}

// ---- a file of settings that a launch names

enum status launch_check_file(const struct settings *s, const char *path, struct error *err)
{
    const struct script_command *c = s->launch;
    if (c->config_path) return OK;
    const char *shown = script_shown(c->config, s->arena);
    size_t length = strlen(shown), most = 120;
    return refuse(err, "%s: line %d: the settings are in %s%s, which is %s", path, c->line,
                  length > most ? "..." : "", shown + (length > most ? length - most : 0),
                  c->large ? "larger than 256 KiB: expected a file of settings"
                           : "not here: import it, or put it beside the script");
}

static int64_t started(const struct settings *s, const char *key)
{
    const struct setting *at = setting_of(s, key);
    return at && at->text ? launcher_number(at->text) : 0;
}

// torchtitan/models/llama3/config_registry.py of "--module llama3 --config llama3_8b".
static enum status find_function(struct launched *to, const char *path, struct arena *arena,
                                 struct error *err)
{
    enum { FOLDERS_UP = 4 };
    static const char *const folders[] = {"models", "experiments"};
    const struct setting *module = setting_of(&to->flags, "module"),
                         *config = setting_of(&to->flags, "config");
    const char *slash = strrchr(path, '/'), *from = "";
    if (!module || !config || strchr(module->text, SCRIPT_OPEN) || strstr(module->text, ".."))
        return refuse(err, "%s: no launch of it names a file of settings: import that file", path);
    if (slash) from = arena_print(arena, "%.*s/", (int)(slash - path), path);
    for (int i = 0; i < FOLDERS_UP; i++, from = arena_print(arena, "%s../", from))
        for (size_t k = 0; k < ARRAY_LENGTH(folders); k++) {
            const char *file = arena_print(arena, "%storchtitan/%s/%s/config_registry.py", from,
                                           folders[k], module->text);
            if (access(file, R_OK)) continue;
            to->path = file, to->function = config->text;
            return OK;
        }
    return refuse(err,
                  "%s: the settings are the function %.60s of torchtitan's %.60s, whose "
                  "config_registry.py is not here: import it with --config %.60s",
                  path, config->text, module->text, config->text);
}

enum status launch_find_file(struct launched *to, const char *path, struct launch_asked asked,
                             struct arena *arena, struct error *err)
{
    static const struct setting_rows none = {0};
    struct settings *s = &to->flags;
    struct error unset = {OK, ""};
    *to = (struct launched){.path = NULL};
    asked.rows = &none, asked.configs = true, asked.named = false;
    TRY(launch_read(s, path, &asked, arena, err));
    TRY(s->launch ? launch_check_file(s, path, err) : find_function(to, path, arena, err));
    struct run r = {.wants_job = true, .processes = started(s, "num-processes"), .nodes = 1};
    if (!r.processes) r.processes = started(s, "nproc-per-node"), r.nodes = started(s, "nnodes");
    bool open = setting_of(s, "nnodes") && !r.nodes;
    if (settings_take_environment(&r, s, &unset) != OK) open = true;
    if (!open) settings_take_slurm(&r, s);
    if (s->launch) to->path = s->launch->config_path;
    to->gpus = open ? 0 : r.processes * (r.nodes ? r.nodes : 1);
    return OK;
}

void launch_override(struct settings *s, const struct settings *flags)
{
    for (int i = 0; i < flags->count; i++) {
        char *key = arena_copy_text(s->arena, flags->items[i].key), *dot = strrchr(key, '.');
        const char *text = flags->items[i].text;
        for (char *at = key; *at; at++)
            if (*at == '-') *at = '_';
        if (!dot || path_is_yaml(text) || path_ends_with(text, ".toml")) continue;
        bool off = !*text && !strncmp(dot, ".no_", 4);
        if (off) memmove(dot + 1, dot + 4, strlen(dot + 4) + 1);
        settings_replace(s, key, off ? "false" : *text ? text : "true", 0);
    }
}

// The YAML that a launch without flags names, as Primus's and GPT-NeoX's.
static enum status read_named(struct settings *s, const char *path,
                              const struct launch_asked *asked, struct error *err)
{
    struct launched to;
    struct error no = {OK, ""};
    if (launch_find_file(&to, path, *asked, s->arena, &no) != OK) {
        if (to.flags.launch) *err = no;
        return err->status;
    }
    TRY(launch_read_yaml(s, to.path, asked, err));
    said_assume(&s->said, "settings of %.80s, which the launch names", to.flags.launch->config);
    if (!to.gpus) return OK;
    const char *gpus = arena_print(s->arena, "%lld", (long long)to.gpus);
    TRY(launch_set(s, "nproc-per-node", gpus, err));
    return launch_set(s, "nnodes", "1", err);
}

enum status launch_read(struct settings *s, const char *path, const struct launch_asked *asked,
                        struct arena *arena, struct error *err)
{
    struct file f = {.path = path, .asked = asked, .arena = arena};
    *s = empty_settings(&(struct settings){.arena = arena});
    bool settings = !asked->text && (path_is_yaml(path) || path_ends_with(path, ".json") ||
                                     path_ends_with(path, ".py"));
    if (settings || script_is_name(path)) TRY(import_check_size(path, err));
    if (asked->text) f.text = asked->text, f.size = strlen(f.text), s->document.path = path;
    else TRY(import_read(&s->document, path, &f.text, &f.size, arena, err));
    if (settings) return launch_read_yaml(s, path, asked, err);
    if (launch_is_log(f.text, f.size)) return launch_read_log(s, f.text, f.size, err);
    TRY(read_script(s, &f, err));
    return s->count || !asked->named ? OK : read_named(s, path, asked, err);
}

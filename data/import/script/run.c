// Follows the tree of commands.
#include <string.h>

#include "data/base/file.h"
#include "data/base/grow.h"
#include "data/base/names.h"
#include "data/import/launcher.h"
#include "data/import/script/internal.h"

bool script_step(struct follow *f)
{
    if (++f->steps > SCRIPT_STEPS_MAX) f->over = true;
    return !f->over;
}

// ---- choices

void script_choose(struct follow *f, const char *open, const char *value)
{
    struct script *s = f->script;
    const char *name = script_open_name(open, s->arena);
    struct script_choice *c = NULL;
    enum { CHOICES_MAX = 64 };
    if (!name || f->capture) return;
    for (int i = 0; i < s->choice_count; i++)
        if (!strcmp(s->choices[i].name, name)) c = &s->choices[i];
    if (!c && s->choice_count == CHOICES_MAX) return;
    if (!c) {
        c = GROWN(s->arena, s->choices, s->choice_count, s->choice_capacity, 8);
        *c = (struct script_choice){.name = name, .line = f->line, .presence = true};
    }
    if (!value || !*value || strchr(value, SCRIPT_OPEN)) return;
    c->presence = false;
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->values[i], value)) return;
    if (c->count < SCRIPT_VALUES_MAX) c->values[c->count++] = arena_copy_text(s->arena, value);
}

// A question that only the machine answers: as given, else no.
static enum truth answered(struct follow *f, enum truth truth, const char *words)
{
    if (truth != UNKNOWN) return truth;
    const char *given = script_value(f, words, strlen(words));
    if (given) return !strcmp(given, "true") ? YES : NO;
    script_choose(f, script_open(f, words, strlen(words)), "true");
    return NO;
}

// ---- commands

static const char *joined(struct follow *f, const char **words, int count)
{
    struct part t = {0};
    part_add(f, &t, "", 0);
    for (int i = 0; i < count; i++) {
        if (i) part_put(f, &t, ' ');
        part_add(f, &t, words[i], strlen(words[i]));
    }
    return t.s ? t.s : "";
}

// "model.size=3", of a recipe's settings.
static bool is_override(const char *word)
{
    size_t name = strspn(word, "+abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    return word[name] == '=' && memchr(word, '.', name);
}

void script_keep_processes(struct follow *f)
{
    struct script *s = f->script;
    const char *processes = script_value(f, "NPROC_PER_NODE", 14),
               *machines = script_value(f, "NNODES", 6);
    const char *all = script_value(f, "WORLD_SIZE", 10);
    if (all && *all != SCRIPT_OPEN) s->world = arena_copy_text(s->arena, all);
    const char *visible = script_value(f, "CUDA_VISIBLE_DEVICES", 20);
    if (visible && *visible && !visible[strspn(visible, "0123456789, ")])
        s->visible = arena_copy_text(s->arena, visible);
    if (processes && *processes != SCRIPT_OPEN) s->processes = arena_copy_text(s->arena, processes);
    if (machines) s->machines = arena_copy_text(s->arena, machines);
}

static bool ends_with_xtuner(const char *word) { return !strcmp(path_name(word), "xtuner"); }

// The YAML file that a program in Python is launched with; NULL: none. Accelerate's own is none.
static const char *config_in(struct follow *f, const char **words, int count)
{
    static const char launchers[] = "python python3 torchrun accelerate deepspeed tune litgpt "
                                    "composer axolotl swift trl llamafactory-cli xtuner",
                      own[] = "--config_file --config-file --deepspeed --deepspeed_config --fsdp",
                      others[] = "export eval chat api webui webchat infer serve merge preprocess";
    const char *found = NULL;
    bool launches = false, begun = false; // begun: the program's own words
    for (int i = 0; i < count; i++) {
        const char *word = words[i], *slash = strrchr(word, '/'),
                   *equals = *word == '-' ? strchr(word, '=') : NULL,
                   *flag = i && *words[i - 1] == '-' ? words[i - 1] : "";
        if (equals) flag = arena_print(f->arena, "%.*s", (int)(equals - word), word);
        const char *file = equals ? equals + 1 : word, *name = slash ? slash + 1 : word;
        launches |= name_is_listed(launchers, name, strlen(name));
        if (i && name_is_listed(others, name, strlen(name))) return NULL;
        bool yaml = path_is_yaml(file) && (begun || !name_is_listed(own, flag, strlen(flag)));
        yaml |= path_ends_with(file, ".py") && // InternEvo's, XTuner's
                (begun ? !strcmp(flag, "--config")
                       : i > 1 && !strcmp(words[i - 1], "train") && ends_with_xtuner(words[i - 2]));
        if (!found && !strchr(file, '=') && (yaml || (begun && path_ends_with(file, ".toml"))))
            found = file;
        begun |= (path_ends_with(word, ".py") && found != file) || !strcmp(word, "-m");
    }
    return launches ? found : NULL;
}

// Where Accelerate's own configuration is; NULL: it is not here, or none is named.
static const char *accelerate_in(struct follow *f, const char **words, int count)
{
    const char *file = NULL, *text;
    bool launches = false;
    for (int i = 0; i < count && !file && !path_ends_with(words[i], ".py"); i++) {
        launches |= launcher_of(words[i]) == LAUNCHER_ACCELERATE;
        if (launches)
            file = launcher_value(words[i], "--config-file", words[i + 1 < count ? i + 1 : i]);
    }
    const char *path = file ? script_file(f, file, &text) : NULL;
    return path ? arena_copy_text(f->script->arena, path) : NULL;
}

static void record(struct follow *f, const char **words, int count)
{
    struct script *s = f->script;
    int flags = 0;
    const char *config = config_in(f, words, count), *text;
    enum { LAUNCH_FLAGS = 8 };
    for (int i = 0; i < count; i++)
        flags += !strncmp(words[i], "--", 2) || strstr(words[i], " --") ||
                 strstr(words[i], "\n--") || is_override(words[i]);
    if (!flags && !config) return;
    f->launched |= flags >= LAUNCH_FLAGS;
    script_keep_processes(f);
    GROW(s->arena, s->commands, s->command_count, s->command_capacity, 16);
    struct script_command *c = &s->commands[s->command_count++];
    *c = (struct script_command){
        .count = count, .line = f->line, .words = TAKE(s->arena, count, const char *)};
    for (int i = 0; i < count; i++) c->words[i] = arena_copy_text(s->arena, words[i]);
    c->accelerate = accelerate_in(f, words, count);
    if (config) {
        f->large = false;
        const char *path = script_file(f, config, &text);
        c->large = f->large;
        c->config = arena_copy_text(s->arena, config);
        c->config_path = path ? arena_copy_text(s->arena, path) : NULL;
    }
    f->bytes += strlen(joined(f, words, count));
}

static bool is_shell(const char *command)
{
    static const char *const shells[] = {"bash", "sh", "sbatch", "srun", "ssh", NULL};
    int i = 0;
    while (shells[i] && strcmp(shells[i], command) != 0) i++;
    return shells[i] != NULL;
}

// What a here-document says; one that is a script is followed.
static void keep_here(struct follow *f, struct node *n, const char *command)
{
    struct script *s = f->script;
    if (!n->here.at || f->capture) return;
    const char *text = arena_print(f->arena, "%.*s", (int)(n->here.end - n->here.at), n->here.at);
    struct part t = {0};
    part_add(f, &t, "", 0);
    if (!n->here_raw) script_expand(f, &t, n->here, true);
    GROW(s->arena, s->files, s->file_count, s->file_capacity, 4);
    if (!n->here_raw && t.s) text = t.s;
    const char *name = n->output.at ? script_expanded(f, n->output) : "";
    s->files[s->file_count++] = (struct script_file){arena_copy_text(s->arena, name),
                                                     arena_copy_text(s->arena, text), f->line};
    size_t length = strlen(name);
    if (is_shell(command) || (length > 3 && !strcmp(name + length - 3, ".sh")))
        script_run_text(f, text, f->line);
}

static enum truth run_function(struct follow *f, const char **words, int count)
{
    for (int i = 0; i < f->function_count; i++) {
        if (strcmp(f->functions[i].name, words[0]) != 0) continue;
        const char **arguments = f->arguments;
        int argument_count = f->argument_count;
        f->arguments = words + 1, f->argument_count = count - 1;
        f->calls++;
        if (++f->depth <= FOLLOW_DEPTH_MAX) script_run(f, f->functions[i].body);
        f->depth--, f->calls--, f->returned = false;
        f->arguments = arguments, f->argument_count = argument_count;
        return YES;
    }
    return UNKNOWN;
}

// ---- NAME=value before a command, which is that command's alone

static struct variable *set_before(struct follow *f, struct node *n, int count)
{
    struct variable *kept = TAKE(f->arena, count, struct variable);
    for (int i = 0; i < count && !f->over; i++) {
        struct piece w = n->words[i];
        size_t length = script_name_length(w.at, w.end);
        struct variable *v = script_variable(f, w.at, length, true);
        if (!v || v->pinned) continue;
        kept[i] = *v;
        v->items = NULL, v->keys = NULL, v->capacity = 0, v->count = 0;
        for (int k = 0; k < kept[i].count; k++)
            script_set_item(f, v, kept[i].keys[k], kept[i].items[k], false);
        v->array = kept[i].array;
        script_assign(f, w);
        v = script_variable(f, w.at, length, false);
        if (v) v->exported = true;
    }
    return kept;
}

static void set_back(struct follow *f, const struct variable *kept, int count)
{
    for (int i = count; i-- > 0;) {
        const char *name = kept[i].name;
        struct variable *v = name ? script_variable(f, name, strlen(name), false) : NULL;
        if (v) *v = kept[i];
    }
}

static enum truth run_words(struct follow *f, struct node *n, const char **words, int count)
{
    if (strchr(words[0], ' ') && count == 1) { // "$CMD"
        script_run_text(f, words[0], n->line);
        return YES;
    }
    enum truth done = script_builtin(f, n, words, count);
    if (done == UNKNOWN) done = run_function(f, words, count);
    if (done == UNKNOWN && script_call(f, words, count)) done = YES;
    if (done != UNKNOWN) return done;
    keep_here(f, n, words[0]);
    f->capture_unknown = true;
    if (!f->capture) record(f, words, count);
    return UNKNOWN;
}

static enum truth run_simple(struct follow *f, struct node *n)
{
    const char **words = NULL;
    int count = 0, capacity = 0, from = 0;
    while (from < n->word_count && script_is_assignment(n->words[from])) from++;
    for (int i = from; i < n->word_count && !f->over; i++)
        count = script_fields(f, n->words[i], &words, &capacity, count);
    struct variable *kept = count && from ? set_before(f, n, from) : NULL;
    for (int i = 0; i < from && !kept; i++) script_assign(f, n->words[i]);
    enum truth done = count && !f->over ? run_words(f, n, words, count) : YES;
    if (kept) set_back(f, kept, from);
    return done;
}

static enum truth run_test(struct follow *f, struct node *n)
{
    const char **words = TAKE(f->arena, n->word_count + 1, const char *);
    for (int i = 0; i < n->word_count && !f->over; i++) words[i] = script_pattern(f, n->words[i]);
    return f->over ? NO : script_test(f, words, n->word_count, true);
}

static const char *source_of(struct follow *f, const struct node *n)
{
    enum { SHOWN_MAX = 60 };
    if (!n || n->kind != NODE_SIMPLE || !n->word_count)
        return arena_print(f->arena, "the condition of line %d", n ? n->line : 0);
    const char *at = n->words[0].at, *end = n->words[n->word_count - 1].end;
    size_t length = strcspn(at, "\n");
    if ((size_t)(end - at) < length) length = (size_t)(end - at);
    return arena_print(f->arena, "%.*s", (int)(length < SHOWN_MAX ? length : SHOWN_MAX), at);
}

// The last command of a list is its condition.
static enum truth run_commands(struct follow *f, struct node *list, struct node **last)
{
    enum truth truth = YES;
    *last = list;
    for (struct node *n = list; n && !f->over; n = n->next) truth = script_run(f, n), *last = n;
    return truth;
}

static enum truth run_condition(struct follow *f, struct node *list)
{
    struct node *last;
    enum truth truth = run_commands(f, list, &last);
    return answered(f, truth, source_of(f, last));
}

// ---- branches and loops

static void run_case(struct follow *f, struct node *n)
{
    const char *value = script_expanded(f, n->words[0]), *open = script_open_name(value, f->arena);
    bool found = false;
    for (struct node *arm = n->first; arm; arm = arm->next)
        for (int i = 0; i < arm->word_count && !f->over; i++) {
            const char *pattern = script_pattern(f, arm->words[i]);
            if (open && !strpbrk(pattern, "*?[")) script_choose(f, value, pattern);
            if (found || !script_matches(pattern, open ? "" : value)) continue;
            found = true;
            script_run_list(f, arm->first);
        }
}

// After a turn: whether the loop goes on.
static bool goes_on(struct follow *f)
{
    if (f->skip && f->left > 0) {
        f->left--;
        if (f->left > 0) return false; // of an outer loop
        f->skip = false;
        return f->again;
    }
    return !f->skip && !f->returned && !f->ended && !f->over;
}

static void run_for(struct follow *f, struct node *n)
{
    const char **values = f->arguments;
    int count = f->argument_count, capacity = 0;
    struct piece name = n->words[0];
    if (!n->plain) {
        values = NULL, count = 0;
        for (int i = 1; i < n->word_count && !f->over; i++)
            count = script_fields(f, n->words[i], &values, &capacity, count);
    }
    for (int i = 0; i < count && i < LOOP_MAX && script_step(f); i++) {
        script_set(f, name.at, (size_t)(name.end - name.at), values[i], false);
        script_run_list(f, n->first);
        if (!goes_on(f)) break;
    }
}

static enum truth run_sum(struct follow *f, struct piece text)
{
    int64_t value = 0;
    const char *open = NULL, *expanded = script_expanded(f, text);
    if (script_arithmetic(f, expanded, &value, &open)) return value ? YES : NO;
    if (open) script_choose(f, script_open(f, open, strlen(open)), "1");
    if (open) script_choose(f, script_open(f, open, strlen(open)), "2");
    return open ? NO : UNKNOWN;
}

static void run_count(struct follow *f, struct node *n)
{
    if (n->word_count > 0) run_sum(f, n->words[0]);
    for (int i = 0; i < LOOP_MAX && script_step(f); i++) {
        if (n->word_count > 1 && run_sum(f, n->words[1]) != YES) break;
        script_run_list(f, n->first);
        if (!goes_on(f)) break;
        if (n->word_count > 2) run_sum(f, n->words[2]);
    }
}

// "while true": what starts a run again and again, and does not end here.
static bool is_endless(const struct node *n)
{
    const struct node *c = n->first;
    const struct piece *word = c && !c->next && c->word_count == 1 ? c->words : NULL;
    size_t length = word ? (size_t)(word->end - word->at) : 0;
    return !n->plain &&
           ((length == 4 && !strncmp(word->at, "true", 4)) || (length == 1 && *word->at == ':'));
}

static void run_while(struct follow *f, struct node *n)
{
    int most = is_endless(n) ? ENDLESS_MAX : LOOP_MAX;
    for (int i = 0; i < most && script_step(f); i++) {
        struct node *last; // what only the machine knows ends the loop
        if (run_commands(f, n->first, &last) != (n->plain ? NO : YES)) break;
        script_run_list(f, n->second);
        if (!goes_on(f)) break;
    }
}

static void add_function(struct follow *f, struct node *n)
{
    if (!n->word_count || !n->first) return;
    GROW(f->arena, f->functions, f->function_count, f->function_capacity, 8);
    for (int i = f->function_count; i > 0; i--) f->functions[i] = f->functions[i - 1];
    f->functions[0] = (struct function){
        arena_print(f->arena, "%.*s", (int)(n->words[0].end - n->words[0].at), n->words[0].at),
        n->first};
    f->function_count++;
}

static void run_if(struct follow *f, struct node *n)
{
    enum truth truth = run_condition(f, n->first);
    if (f->over) return;
    if (truth == YES) script_run_list(f, n->second);
    else if (n->third && n->third->kind == NODE_IF && !n->third->next) script_run(f, n->third);
    else script_run_list(f, n->third);
}

// What the text before "|" becomes; NULL: open. echo "..." | bc is a sum.
static const char *piped(struct follow *f, struct node *to, const char *text)
{
    const char **words = NULL, *open = NULL;
    int count = 0, capacity = 0;
    int64_t value = 0;
    if (!to || to->kind != NODE_SIMPLE || !to->word_count) return NULL;
    for (int i = 0; i < to->word_count && !f->over; i++)
        count = script_fields(f, to->words[i], &words, &capacity, count);
    if (!count || f->over) return NULL;
    if (strcmp(words[0], "bc") != 0) return script_filtered(f, words, count, text);
    return script_arithmetic(f, text, &value, &open)
               ? arena_print(f->arena, "%lld\n", (long long)value)
               : NULL;
}

static enum truth run_pipe(struct follow *f, struct node *n)
{
    if (!f->capture) {
        script_run(f, n->first);
        return script_run(f, n->second) == NO ? NO : UNKNOWN;
    }
    size_t from = f->capture->length;
    script_run(f, n->first);
    const char *text = f->capture_unknown || !f->capture->s || f->over
                           ? NULL
                           : piped(f, n->second, f->capture->s + from);
    if (!text) {
        f->capture_unknown = true;
        return UNKNOWN;
    }
    text = arena_copy_text(f->arena, text);
    f->capture->length = from, f->capture->s[from] = '\0';
    part_add(f, f->capture, text, strlen(text));
    return YES;
}

enum truth script_run(struct follow *f, struct node *n)
{
    enum truth truth = YES;
    if (!n || f->skip || f->returned || f->ended || !script_step(f)) return YES;
    if (++f->depth > FOLLOW_DEPTH_MAX) return f->depth--, UNKNOWN;
    f->line = n->line;
    switch (n->kind) {
    case NODE_SIMPLE: truth = run_simple(f, n); break;
    case NODE_AND:
        truth = script_run(f, n->first);
        if (truth != NO) truth = script_run(f, n->second);
        break;
    case NODE_OR:
        truth = script_run(f, n->first);
        if (truth == NO) truth = script_run(f, n->second);
        break;
    case NODE_NOT:
        truth = script_run(f, n->first);
        if (truth != UNKNOWN) truth = truth == YES ? NO : YES;
        break;
    case NODE_PIPE: truth = run_pipe(f, n); break;
    case NODE_IF: run_if(f, n); break;
    case NODE_CASE: run_case(f, n); break;
    case NODE_ARM: break;
    case NODE_FOR: run_for(f, n); break;
    case NODE_COUNT: run_count(f, n); break;
    case NODE_WHILE: run_while(f, n); break;
    case NODE_FUNCTION: add_function(f, n); break;
    case NODE_GROUP: script_run_list(f, n->first); break;
    case NODE_ARITHMETIC: truth = run_sum(f, n->words[0]); break;
    case NODE_TEST: truth = run_test(f, n); break;
    }
    f->depth--;
    return truth;
}

void script_run_list(struct follow *f, struct node *list)
{
    for (struct node *n = list; n && !f->over && !f->skip && !f->returned && !f->ended; n = n->next)
        script_run(f, n);
}

void script_run_text(struct follow *f, const char *text, int line)
{
    enum { TREE_BYTES = 24 };
    struct parser p;
    if (++f->depth <= FOLLOW_DEPTH_MAX) {
        f->bytes += TREE_BYTES * strlen(text);
        if (f->bytes > SCRIPT_BYTES_MAX) f->over = true;
        else script_take_directives(f, text);
        if (!f->over)
            script_run_list(f, script_parse(&p, text, text + strlen(text), line, f->arena));
    }
    f->depth--;
}

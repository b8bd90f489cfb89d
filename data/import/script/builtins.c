// The shell's own commands, as far as scripts of launches need them: assignments, tests, printing.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/import/script/internal.h"

// ---- assignments

// NAME=, NAME+=, NAME[index]=; the position of the value, NULL: it is none.
static const char *value_at(struct piece w, size_t *name, struct piece *index, bool *add)
{
    const char *s = w.at + (*name = script_name_length(w.at, w.end));
    *index = (struct piece){NULL, NULL};
    if (!*name) return NULL;
    if (s < w.end && *s == '[') {
        const char *close = memchr(s, ']', (size_t)(w.end - s));
        if (!close) return NULL;
        *index = (struct piece){s + 1, close};
        s = close + 1;
    }
    *add = s + 1 < w.end && *s == '+' && s[1] == '=';
    s += *add;
    return s < w.end && *s == '=' ? s + 1 : NULL;
}

bool script_is_assignment(struct piece w)
{
    size_t name;
    struct piece index;
    bool add;
    return value_at(w, &name, &index, &add) != NULL;
}

// ( word word [key]=word ): what it names of the list itself is the list as it was.
static void assign_list(struct follow *f, struct piece name, struct piece inside, bool add)
{
    struct parser p = {.at = inside.at, .end = inside.end};
    const char **words = NULL, **keys = NULL; // a key: of the word at its place
    int count = 0, capacity = 0, key_count = 0, key_capacity = 0;
    for (const char *s = inside.at;;) {
        s = script_skip_blanks(&p, s, true);
        if (s >= inside.end || f->over) break;
        const char *end = script_word_end(&p, s), *close, *key = NULL;
        if (end == s) end++;
        if (*s == '[' && (close = memchr(s, ']', (size_t)(end - s))) && close + 1 < end &&
            close[1] == '=') {
            key = script_expanded(f, (struct piece){s + 1, close});
            GROW(f->arena, words, count, capacity, 16);
            words[count++] = script_expanded(f, (struct piece){close + 2, end});
        } else {
            count = script_fields(f, (struct piece){s, end}, &words, &capacity, count);
        }
        while (key_count < count) {
            *GROWN(f->arena, keys, key_count, key_capacity, 16) = key;
        }
        s = end;
    }
    struct variable *v = script_variable(f, name.at, (size_t)(name.end - name.at), true);
    if (!v || v->pinned) return;
    if (!add) v->count = 0;
    v->unset = false, v->array = true, v->line = f->line;
    for (int i = 0; i < count; i++) script_set_item(f, v, keys[i], words[i], false);
}

void script_assign(struct follow *f, struct piece w)
{
    size_t name;
    struct piece index;
    bool add = false;
    const char *value = value_at(w, &name, &index, &add);
    if (!value) return;
    if (value < w.end && *value == '(' && w.end[-1] == ')') {
        assign_list(f, (struct piece){w.at, w.at + name}, (struct piece){value + 1, w.end - 1},
                    add);
        return;
    }
    const char *text = script_expanded(f, (struct piece){value, w.end});
    const char *open = script_open(f, w.at, name);
    if (w.end - value > 3 && !memcmp(value, "$((", 3) && !strcmp(text, open)) {
        script_set(f, w.at, name, "0", false); // a counter that begins here: N=$((N + 1))
        text = script_expanded(f, (struct piece){value, w.end});
    }
    struct variable *v = index.at ? script_variable(f, w.at, name, true) : NULL;
    if (v) script_set_item(f, v, script_expanded(f, index), text, add);
    else script_set(f, w.at, name, text, add);
}

// export NAME=..., declare -a NAME=...: words of the source, since lists may be among them.
static void refer(struct follow *f, struct piece w)
{
    size_t length = script_name_length(w.at, w.end);
    const char *to = script_expanded(f, (struct piece){w.at + length + 1, w.end});
    struct variable *v = NULL; // itself, not what it refers to
    for (int i = 0; i < f->variable_count; i++) {
        struct variable *at = &f->variables[i];
        if (!strncmp(at->name, w.at, length) && !at->name[length]) v = at;
    }
    if (!v) v = script_variable(f, w.at, length, true);
    if (v && !strchr(to, SCRIPT_OPEN)) v->refers = to;
}

static void declare(struct follow *f, struct node *n)
{
    bool refers = n->word_count > 2 && n->words[1].end - n->words[1].at == 2 &&
                  !memcmp(n->words[1].at, "-n", 2) && n->words[0].at[0] != 'e';
    for (int i = 1; i < n->word_count; i++) {
        struct piece w = n->words[i];
        size_t length = script_name_length(w.at, w.end);
        bool exports = n->words[0].at[0] == 'e' ||
                       (n->word_count > 2 && !strncmp(n->words[1].at, "-x", 2));
        if (exports && length) {
            struct variable *v = script_variable(f, w.at, length, true);
            if (v) v->exported = true;
        }
        if (refers && script_is_assignment(w)) {
            refer(f, w);
        } else if (script_is_assignment(w)) {
            script_assign(f, w);
        } else if (length && w.at + length == w.end && n->words[0].at[0] != 'e') {
            struct variable *v = script_variable(f, w.at, length, true);
            if (v && v->unset && !v->pinned) v->unset = false, v->count = 0;
        }
    }
}

// ---- printing

static void print(struct follow *f, const char *text)
{
    if (f->capture) part_add(f, f->capture, text, strlen(text));
}

static void echo(struct follow *f, const char **words, int count)
{
    bool ends = true;
    int i = 1;
    for (; i < count && words[i][0] == '-' && strspn(words[i] + 1, "neE") &&
           !words[i][1 + strspn(words[i] + 1, "neE")];
         i++)
        ends &= !strchr(words[i], 'n');
    for (int first = i; i < count; i++) {
        if (i > first) print(f, " ");
        print(f, words[i]);
    }
    if (ends) print(f, "\n");
}

// printf: %s and %d, until all words are used.
static const char *printed(struct follow *f, const char **words, int count)
{
    struct part t = {0};
    int used = 1;
    part_add(f, &t, "", 0);
    do {
        int before = used;
        for (const char *s = words[0]; *s && !f->over; s++) {
            if (*s == '\\' && s[1]) {
                s++;
                part_put(f, &t, *s == 'n' ? '\n' : *s == 't' ? '\t' : *s);
            } else if (*s == '%' && s[1] == '%') {
                part_put(f, &t, *s++);
            } else if (*s == '%') {
                s += 1 + strspn(s + 1, "-+ 0123456789.");
                const char *word = used < count ? words[used] : "";
                used++;
                part_add(f, &t, word, strlen(word));
                if (!*s) break;
            } else {
                part_put(f, &t, *s);
            }
        }
        if (used == before) break;
    } while (used < count && !f->over);
    return t.s ? t.s : "";
}

static void run_printf(struct follow *f, const char **words, int count)
{
    int from = 1;
    if (count > 3 && !strcmp(words[1], "-v")) {
        script_set(f, words[2], strlen(words[2]), printed(f, words + 3, count - 3), false);
        return;
    }
    if (from < count && !strcmp(words[from], "--")) from++;
    if (from < count) print(f, printed(f, words + from, count - from));
}

static void run_seq(struct follow *f, const char **words, int count)
{
    long first = count > 2 ? strtol(words[1], NULL, 10) : 1,
         step = count > 3 ? strtol(words[2], NULL, 10) : 1,
         last = strtol(words[count - 1], NULL, 10);
    for (int i = 0; i < count; i++)
        if (strchr(words[i], SCRIPT_OPEN)) f->capture_unknown = true;
    if (step < 1 || labs(first) > 1 << 20) return;
    for (int i = 0; i < LOOP_MAX && first <= last; i++, first += step)
        print(f, arena_print(f->arena, "%ld\n", first));
}

// The words but the first, each with a space behind it.
static const char *joined(struct follow *f, const char **words, int count)
{
    struct part t = {0};
    part_add(f, &t, "", 0);
    for (int i = 1; i < count; i++) {
        part_add(f, &t, words[i], strlen(words[i]));
        part_put(f, &t, ' ');
    }
    return t.s ? t.s : "";
}

// expr A + B: a sum, with one word each.
static bool run_expr(struct follow *f, const char **words, int count)
{
    int64_t value;
    const char *open;
    if (!script_arithmetic(f, joined(f, words, count), &value, &open)) return false;
    print(f, arena_print(f->arena, "%" PRId64 "\n", value));
    return true;
}

// basename PATH [SUFFIX], dirname PATH
static void run_path(struct follow *f, const char **words, int count)
{
    const char *slash = strrchr(words[1], '/'), *name = slash ? slash + 1 : words[1];
    if (!strcmp(words[0], "dirname")) {
        print(f, slash ? arena_print(f->arena, "%.*s", (int)(slash - words[1]), words[1]) : ".");
        return;
    }
    size_t length = strlen(name), suffix = count > 2 ? strlen(words[2]) : 0;
    if (suffix && suffix < length && !strcmp(name + length - suffix, words[2])) length -= suffix;
    print(f, arena_print(f->arena, "%.*s", (int)length, name));
}

// pwd, readlink -f PATH, realpath PATH
static void print_path(struct follow *f, const char *path)
{
    bool option = *path == '-' || !strcmp(path, "pwd");
    const char *whole = script_path(f, option ? "." : path);
    if (whole) print(f, arena_print(f->arena, "%s\n", whole));
    else f->capture_unknown = true;
}

// ---- control

static void leave(struct follow *f, const char **words, int count, bool again)
{
    long levels = count > 1 ? strtol(words[1], NULL, 10) : 1;
    f->skip = true, f->again = again;
    f->left = levels > 0 && levels < 100 ? (int)levels : 1;
}

static void shift(struct follow *f, const char **words, int count)
{
    long by = count > 1 ? strtol(words[1], NULL, 10) : 1;
    if (by < 0 || by > f->argument_count) return;
    f->arguments += by, f->argument_count -= (int)by;
}

static void unset(struct follow *f, const char **words, int count)
{
    for (int i = 1; i < count; i++) {
        struct variable *v = script_variable(f, words[i], strlen(words[i]), false);
        if (v && !v->pinned) v->unset = true, v->count = 0;
    }
}

// Words of the text, by the characters of IFS: one for each name, the rest for the last.
static void read_words(struct follow *f, const char *text, const char **names, int count, bool list)
{
    const char *ifs = script_value(f, "IFS", 3);
    if (!ifs || *ifs == SCRIPT_OPEN) ifs = " \t\n";
    struct variable *v = list ? script_variable(f, names[0], strlen(names[0]), true) : NULL;
    if (list && v) v->count = v->pinned ? v->count : 0, v->unset = false;
    for (int i = 0; list ? *text && script_step(f) : i < count; i++) {
        text += strspn(text, " \t\n");
        size_t length = *ifs ? strcspn(text, ifs) : strlen(text);
        if (!list && i == count - 1) length = strcspn(text, "\n");
        const char *word = arena_print(f->arena, "%.*s", (int)length, text);
        f->bytes += length + 1;
        if (list && v) script_set_item(f, v, NULL, word, false);
        else if (!list) script_set(f, names[i], strlen(names[i]), word, false);
        text += length + (text[length] != 0);
    }
}

// read NAME ...: from a here-document or a string; what comes from elsewhere is open.
static enum truth run_read(struct follow *f, struct node *n, const char **words, int count)
{
    int from = 1;
    bool list = false, whole = false;
    for (; from < count && words[from][0] == '-'; from++) {
        list |= strchr(words[from], 'a') != NULL;
        whole |= strchr(words[from], 'd') != NULL;
        from += strchr("dnptiu", words[from][strlen(words[from]) - 1]) != NULL;
    }
    if (from >= count) return YES;
    if (n->string.at) {
        read_words(f, script_expanded(f, n->string), words + from, count - from, list);
        return YES;
    }
    if (!n->here.at) {
        unset(f, words + from - 1, count - from + 1);
        return NO;
    }
    struct part t = {0};
    part_add(f, &t, "", 0);
    if (n->here_raw) part_add(f, &t, n->here.at, (size_t)(n->here.end - n->here.at));
    else script_expand(f, &t, n->here, true);
    const char *text = t.s ? t.s : "", *name = words[count - 1];
    if (whole) script_set(f, name, strlen(name), text, false);
    else read_words(f, text, words + from, count - from, list);
    return YES;
}

// What a launcher is given as one word (bcprun -c, ngc's --commandline) and that has flags.
static bool is_line(const char **words, int i)
{
    return (!strcmp(words[i], "-c") || !strcmp(words[i], "--commandline")) &&
           strpbrk(words[i + 1], " \n") && strstr(words[i + 1], "--") &&
           !strstr(words[0], "python") && !strstr(words[i - 1], "python");
}

// bash -c TEXT, also behind srun and the like, eval WORDS: text that is followed in its place.
static bool run_nested(struct follow *f, const char **words, int count)
{
    const char *name = strrchr(words[0], '/') ? strrchr(words[0], '/') + 1 : words[0];
    if (!strcmp(name, "eval")) {
        script_run_text(f, joined(f, words, count), f->line);
        return true;
    }
    for (int i = 0; i + 2 < count; i++) {
        const char *slash = strrchr(words[i], '/'), *shell = slash ? slash + 1 : words[i];
        if (strcmp(shell, "bash") != 0 && strcmp(shell, "sh") != 0) continue;
        int at = i + 1; // "-x -c TEXT"
        while (at + 1 < count && words[at][0] == '-' && words[at][1] != '-' &&
               !strchr(words[at], 'c'))
            at++;
        if (at + 1 >= count || words[at][0] != '-' || words[at][1] == '-') continue;
        script_run_text(f, words[at + 1], f->line);
        return true;
    }
    for (int i = 1; i + 1 < count; i++)
        if (is_line(words, i)) return script_run_text(f, words[i + 1], f->line), true;
    return false;
}

static enum truth run_test(struct follow *f, const char **words, int count)
{
    if (words[0][0] == '[' && count > 1 && !strcmp(words[count - 1], "]")) count--;
    return script_test(f, words + 1, count - 1, false);
}

void script_keep_source(struct follow *f, const char *name)
{
    struct script *s = f->script;
    const char *slash = strrchr(name, '/'),
               *shown = script_shown(slash ? slash + 1 : name, s->arena);
    if (strlen(s->sourced) < 200 && !strstr(s->sourced, shown))
        s->sourced = arena_print(s->arena, "%s%s%.60s", s->sourced, *s->sourced ? ", " : "", shown);
}

static bool is(const char *word, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (!strcmp(word, names[i])) return true;
    return false;
}

enum truth script_builtin(struct follow *f, struct node *n, const char **words, int count)
{
    static const char *const declares[] = {"export",   "declare", "local",
                                           "readonly", "typeset", NULL},
                             *const silent[] = {":",     "true",   "pushd",  "popd",  "trap",
                                                "wait",  "ulimit", "mkdir",  "sleep", "umask",
                                                "shopt", "alias",  "module", NULL};
    const char *w = words[0];
    if (is(w, declares)) return declare(f, n), YES;
    if (is(w, silent)) return f->capture_unknown |= w[0] == 'p', YES;
    if (!strcmp(w, "[") || !strcmp(w, "test")) return run_test(f, words, count);
    if ((!strcmp(w, "source") || !strcmp(w, ".")) && count > 1)
        return script_source(f, words, count) ? YES : (script_keep_source(f, words[1]), YES);
    if (!strcmp(w, "cd")) return script_go(f, count > 1 ? words[count - 1] : ""), YES;
    if (!strcmp(w, "pwd") || !strcmp(w, "readlink") || !strcmp(w, "realpath"))
        return print_path(f, words[count - 1]), YES;
    if (!strcmp(w, "false")) return NO;
    if (!strcmp(w, "date")) return print(f, "DATE"), YES; // in names of files
    if (!strcmp(w, "echo")) return echo(f, words, count), YES;
    if (!strcmp(w, "printf")) return run_printf(f, words, count), YES;
    if (!strcmp(w, "yq") && script_yq(f, words, count)) return YES;
    if (!strcmp(w, "expr") && run_expr(f, words, count)) return YES;
    if (!strcmp(w, "seq") && count > 1) return run_seq(f, words, count), YES;
    if ((!strcmp(w, "basename") || !strcmp(w, "dirname")) && count > 1)
        return run_path(f, words, count), YES;
    if (!strcmp(w, "break") || !strcmp(w, "continue"))
        return leave(f, words, count, w[0] == 'c'), YES;
    if (!strcmp(w, "shift")) return shift(f, words, count), YES;
    if (!strcmp(w, "unset")) return unset(f, words, count), YES;
    if (!strcmp(w, "read")) return run_read(f, n, words, count);
    if (!strcmp(w, "return")) return f->returned = f->calls > 0, YES;
    if (!strcmp(w, "exit")) { // before a launch: a check of the arguments
        if (f->launched) f->ended = true;
        return YES;
    }
    if (!strcmp(w, "let") && count > 1) {
        int64_t value;
        const char *open;
        script_arithmetic(f, words[1], &value, &open);
        return YES;
    }
    if (!strcmp(w, "set")) {
        for (int i = 1; i < count; i++)
            if (!strcmp(words[i], "--"))
                f->arguments = words + i + 1, f->argument_count = count - i - 1;
        return YES;
    }
    return run_nested(f, words, count) ? YES : UNKNOWN;
}

// The functions of a Python file that make a configuration by assignments and calls
// ("config.training.steps = 10", "return Trainer.Config(parallelism=ParallelismConfig(...))") as
// settings: arguments under the key of their call, whose own text is the name of what is called.
// Nothing is run: what depends on more than this file is left out, and recipes are noted.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/import/jobs/settings.h"

enum { CALLS_MOST = 16, NAMES_LISTED = 20 };

struct variable {
    const char *name, *at; // its expression
    int line;
};

struct python {
    struct settings_source source;
    const char *root; // the variable that is the configuration
    struct variable *variables;
    int variable_count, variable_capacity, depth;
};

static struct settings *settings_in(struct python *p) { return p->source.s; }

// ---- words and blanks

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool at_text(const struct python *p, const char *text)
{
    size_t length = strlen(text), left = (size_t)(p->source.end - p->source.at);
    return left >= length && !memcmp(p->source.at, text, length);
}

// Also over line ends and comments: inside brackets they mean nothing.
static void skip_space(struct python *p)
{
    struct settings_source *r = &p->source;
    for (; r->at < r->end; r->at++) {
        if (*r->at == '#')
            while (r->at < r->end && *r->at != '\n') r->at++;
        if (r->at < r->end && *r->at == '\n') r->line++;
        if (r->at == r->end || !isspace((unsigned char)*r->at)) return;
    }
}

static void skip_line(struct python *p)
{
    struct settings_source *r = &p->source;
    while (r->at < r->end && *r->at != '\n') r->at++;
    if (r->at < r->end) r->at++, r->line++;
}

// "a", 'a' or """a""", which a prefix of letters precedes.
static void skip_string(struct python *p)
{
    struct settings_source *r = &p->source;
    char quote = *r->at;
    bool three = r->end - r->at > 2 && r->at[1] == quote && r->at[2] == quote;
    r->at += three ? 3 : 1;
    for (; r->at < r->end; r->at++) {
        if (*r->at == '\n') r->line++;
        if (*r->at == '\\' && r->at + 1 < r->end) r->at++;
        else if (*r->at == quote && !three) break;
        else if (three && r->end - r->at > 2 && r->at[0] == quote && r->at[1] == quote &&
                 r->at[2] == quote) {
            r->at += 2;
            break;
        }
    }
    if (r->at < r->end) r->at++;
}

// To the comma, the bracket or the line end that ends an expression.
static void skip_expression(struct python *p, bool in_brackets)
{
    struct settings_source *r = &p->source;
    int depth = 0;
    while (r->at < r->end) {
        char c = *r->at;
        if (!depth && (c == ',' || (!in_brackets && c == '\n'))) return;
        if (c == '"' || c == '\'') {
            skip_string(p);
            continue;
        }
        if (c == '#') {
            while (r->at < r->end && *r->at != '\n') r->at++;
            continue;
        }
        if (strchr("([{", c)) depth++;
        if (strchr(")]}", c) && depth-- == 0) return;
        if (c == '\n') r->line++;
        r->at++;
    }
}

// a.b.c; "": none.
static const char *read_name(struct python *p)
{
    struct settings_source *r = &p->source;
    const char *from = r->at;
    if (r->at < r->end && isdigit((unsigned char)*r->at)) return "";
    while (r->at < r->end && (in_name(*r->at) || (*r->at == '.' && r->at > from))) r->at++;
    return arena_print(r->s->arena, "%.*s", (int)(r->at - from), from);
}

// ---- values

// What was stated of the key and of what is in it.
static void drop(struct settings *s, const char *key)
{
    size_t length = strlen(key);
    int kept = 0;
    for (int i = 0; i < s->count; i++) {
        const char *k = s->items[i].key;
        bool below = !strncmp(k, key, length) && (!k[length] || strchr(".[", k[length]));
        if (!below) s->items[kept++] = s->items[i];
    }
    s->count = kept;
}

static enum status read_value(struct python *p, const char *key, bool in_brackets,
                              struct error *err);

static enum status read_arguments(struct python *p, const char *key, char close, struct error *err)
{
    struct settings_source *r = &p->source;
    int index = 0;
    for (skip_space(p); r->at < r->end && *r->at != close; skip_space(p)) {
        const char *start = r->at, *name = close == ')' ? read_name(p) : "";
        int line = r->line;
        skip_space(p);
        bool named = *name && r->end - r->at > 1 && *r->at == '=' && r->at[1] != '=';
        if (named) r->at++, skip_space(p);
        else r->at = start, r->line = line;
        TRY(read_value(
            p, named ? source_join(r, key, name) : arena_print(r->s->arena, "%s[%d]", key, index++),
            true, err));
        skip_space(p);
        if (r->at < r->end && *r->at == ',') r->at++;
        else if (r->at < r->end && *r->at != close)
            return source_refuse(r, err, "expected , or %c, found '%c'", close, *r->at);
    }
    if (r->at == r->end) return source_refuse(r, err, "expected %c, found the end", close);
    return r->at++, OK;
}

// Products of whole numbers; another number as it is written.
static enum status read_number(struct python *p, const char *key, struct error *err)
{
    struct settings_source *r = &p->source;
    const char *from = r->at;
    long long product = 1;
    char *end;
    while (true) {
        long long factor = strtoll(r->at, &end, 10);
        if (end == r->at || strchr(".eE_", *end) ||
            __builtin_mul_overflow(product, factor, &product))
            break;
        r->at = end;
        source_skip_blanks(r);
        if (r->at == r->end || *r->at != '*' || r->at[1] == '*')
            return source_add(r, key, arena_print(r->s->arena, "%lld", product), err);
        r->at++;
        source_skip_blanks(r);
    }
    r->at = from;
    while (r->at < r->end && (in_name(*r->at) || strchr("+-.", *r->at))) r->at++;
    return source_add(r, key, arena_print(r->s->arena, "%.*s", (int)(r->at - from), from), err);
}

static const struct variable *variable_named(const struct python *p, const char *name)
{
    for (int i = p->variable_count - 1; i >= 0; i--)
        if (!strcmp(p->variables[i].name, name)) return &p->variables[i];
    return NULL;
}

static enum status read_variable(struct python *p, const struct variable *v, const char *key,
                                 struct error *err)
{
    struct settings_source *r = &p->source;
    const char *after = r->at;
    int line = r->line;
    if (p->depth == CALLS_MOST) return OK;
    p->depth++, r->at = v->at, r->line = v->line;
    TRY(read_value(p, key, false, err));
    p->depth--, r->at = after, r->line = line;
    return OK;
}

static enum status read_word(struct python *p, const char *key, struct error *err)
{
    struct settings_source *r = &p->source;
    const char *name = read_name(p);
    size_t length = strlen(name);
    if (!strcmp(name, "True") || !strcmp(name, "False"))
        return source_add(r, key, *name == 'T' ? "true" : "false", err);
    if (!strcmp(name, "None")) return source_add(r, key, NULL, err);
    source_skip_blanks(r);
    if (r->at == r->end || *r->at != '(') {
        const struct variable *v = variable_named(p, name);
        return v ? read_variable(p, v, key, err) : OK;
    }
    r->at++;
    bool config = length > 7 && !strcmp(name + length - 7, ".Config");
    if (*key)
        TRY(source_add(
            r, key, arena_print(r->s->arena, "%.*s", (int)(length - (config ? 7 : 0)), name), err));
    return read_arguments(p, key, ')', err);
}

static enum status read_value(struct python *p, const char *key, bool in_brackets,
                              struct error *err)
{
    struct settings_source *r = &p->source;
    const char *text;
    if (*key) drop(settings_in(p), key);
    if (r->at == r->end) return source_refuse(r, err, "%.60s: expected a value", key);
    if (*r->at == '"' || *r->at == '\'') {
        const char *from = r->at;
        int line = r->line;
        skip_string(p);
        const char *behind = r->at;
        int there = r->line;
        if (behind - from > 5 && from[1] == *from && from[2] == *from) return OK; // three quotes
        r->at = from, r->line = line;
        TRY(source_string(r, &text, err));
        r->at = behind, r->line = there;
        TRY(source_add(r, key, text, err));
    } else if (*r->at == '[') {
        r->at++;
        TRY(read_arguments(p, key, ']', err));
    } else if (isdigit((unsigned char)*r->at) || *r->at == '-') {
        TRY(read_number(p, key, err));
    } else if (in_name(*r->at)) {
        TRY(read_word(p, key, err));
    }
    // An operation on it: its value is not known.
    const char *behind = r->at;
    skip_expression(p, in_brackets);
    for (; behind < r->at; behind++)
        if (!isspace((unsigned char)*behind) && *key) {
            if (*behind != '#') drop(settings_in(p), key);
            break;
        }
    return OK;
}

// ---- functions

struct function {
    const char *name, *body;
    int line;
};

static bool find_function(struct python *p, const char *name, struct function *to)
{
    struct settings_source r = p->source;
    p->source.at = p->source.s->begin, p->source.line = 1;
    bool found = false;
    while (p->source.at < p->source.end && !found) {
        if (!at_text(p, "def ")) {
            skip_line(p);
            continue;
        }
        p->source.at += 4;
        const char *own = read_name(p);
        found = !strcmp(own, name);
        while (found && p->source.at < p->source.end && *p->source.at != ':')
            if (*p->source.at == '(') p->source.at++, skip_expression(p, true);
            else p->source.at++;
        skip_line(p);
        *to = (struct function){own, p->source.at, p->source.line};
    }
    p->source = r;
    return found;
}

static enum status read_function(struct python *p, const struct function *f, struct error *err);

// torchtitan's Trainer.Config, or that of a class on top of it, which is kept.
static bool is_trainer(struct python *p, const char *name)
{
    static const char config[] = "Trainer.Config";
    size_t length = strlen(name), end = sizeof config - 1;
    if (length < end || strcmp(name + length - end, config) != 0) return false;
    if (length > end)
        settings_in(p)->program =
            arena_print(settings_in(p)->arena, "%.*s", (int)(length - strlen(".Config")), name);
    return true;
}

// "f()": what a function of this file returns, or a recipe of elsewhere.
static enum status read_base(struct python *p, const char *name, struct error *err)
{
    struct function f;
    if (find_function(p, name, &f)) return read_function(p, &f, err);
    said_assume(&settings_in(p)->said,
                "%s() is not in this file: what it sets and the file does not is taken to be as "
                "in torchtitan by default",
                name);
    return OK;
}

static int indent_of(const struct python *p)
{
    const char *at = p->source.at;
    while (at < p->source.end && (*at == ' ' || *at == '\t')) at++;
    return (int)(at - p->source.at);
}

static bool is_blank_line(const struct python *p)
{
    const char *at = p->source.at + indent_of(p);
    return at == p->source.end || *at == '\n' || *at == '\r' || *at == '#';
}

static void skip_block(struct python *p, int indent)
{
    while (p->source.at < p->source.end && (is_blank_line(p) || indent_of(p) > indent)) {
        if (is_blank_line(p)) {
            skip_line(p);
            continue;
        }
        skip_expression(p, false);
        while (p->source.at < p->source.end && *p->source.at == ',') // of a tuple
            p->source.at++, skip_expression(p, false);
        skip_line(p);
    }
}

static enum status assign(struct python *p, const char *name, struct error *err)
{
    struct settings_source *r = &p->source;
    const char *dot = strchr(name, '.'), *start = r->at;
    int line = r->line;
    if (dot) {
        size_t length = (size_t)(dot - name);
        if (!p->root || strlen(p->root) != length || strncmp(name, p->root, length)) return OK;
        return read_value(p, dot + 1, false, err);
    }
    const char *called = read_name(p);
    source_skip_blanks(r);
    bool call = *called && r->at < r->end && *r->at == '(', plain = call && r->at[1] == ')';
    if (call && is_trainer(p, called)) {
        p->root = name;
        r->at++;
        return read_arguments(p, "", ')', err);
    }
    struct function f;
    if (plain && (find_function(p, called, &f) || !p->root)) {
        p->root = NULL;
        TRY(read_base(p, called, err));
        p->root = name;
        return OK;
    }
    GROW(r->s->arena, p->variables, p->variable_count, p->variable_capacity, 16);
    p->variables[p->variable_count++] = (struct variable){name, start, line};
    return OK;
}

// One line of a function, or a block: of two, the first is torchtitan 0.3's.
static enum status read_statement(struct python *p, int indent, bool *returned, struct error *err)
{
    struct settings_source *r = &p->source;
    bool of_version = at_text(p, "if hasattr(");
    if (of_version) return skip_line(p), OK; // its block follows like other lines
    if (at_text(p, "if ") || at_text(p, "else") || at_text(p, "elif ") || at_text(p, "for ") ||
        at_text(p, "while ") || at_text(p, "with ") || at_text(p, "def ")) {
        skip_expression(p, false);
        skip_line(p);
        skip_block(p, indent);
        return OK;
    }
    if (at_text(p, "return ")) {
        *returned = true;
        r->at += strlen("return ");
        const char *name = read_name(p);
        if (r->at < r->end && *r->at == '(')
            return r->at++,
                   is_trainer(p, name) ? read_arguments(p, "", ')', err) : read_base(p, name, err);
        return OK;
    }
    const char *name = read_name(p);
    source_skip_blanks(r);
    if (*name && r->end - r->at > 1 && *r->at == '=' && r->at[1] != '=') {
        r->at++;
        source_skip_blanks(r);
        TRY(assign(p, name, err));
    }
    skip_expression(p, false);
    skip_line(p);
    return OK;
}

static enum status read_function(struct python *p, const struct function *f, struct error *err)
{
    struct settings_source before = p->source;
    const char *root = p->root;
    bool returned = false;
    if (p->depth == CALLS_MOST)
        return source_refuse(&p->source, err, "%.60s: more than %d functions call each other",
                             f->name, CALLS_MOST);
    p->depth++, p->root = NULL;
    p->source.at = f->body, p->source.line = f->line;
    while (p->source.at < p->source.end && !returned) {
        if (is_blank_line(p)) {
            skip_line(p);
            continue;
        }
        int indent = indent_of(p);
        if (!indent) break;
        p->source.at += indent;
        TRY(read_statement(p, indent, &returned, err));
    }
    p->depth--, p->root = root;
    p->source.at = before.at, p->source.line = before.line;
    return OK;
}

// ---- the file

// The functions that return a configuration; one that is called "plan" is meant before others.
static enum status choose(struct python *p, const char **name, struct error *err)
{
    struct settings_source *r = &p->source;
    struct arena *arena = r->s->arena;
    const char *list = "", *plan = NULL;
    int count = 0;
    for (r->at = r->s->begin; r->at < r->end; skip_line(p)) {
        if (!at_text(p, "def ")) continue;
        r->at += 4;
        const char *own = read_name(p), *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
        char head[200];
        snprintf(head, sizeof head, "%.*s", (int)((end ? end : r->end) - r->at), r->at);
        if (!strstr(head, "Trainer.Config")) continue;
        *name = own;
        if (!strcmp(own, "plan")) plan = own;
        if (count++ < NAMES_LISTED)
            list = arena_print(arena, "%s%s%s", list, *list ? ", " : "", own);
    }
    r->at = r->s->begin, r->line = 1;
    if (plan) *name = plan;
    if (count == 1 || plan) return OK;
    return refuse(err,
                  count
                      ? "%s: has %d functions that return a Trainer.Config: name one with --config "
                        "(%.400s%s)"
                      : "%s: expected a function that returns a Trainer.Config (torchtitan 0.3 and "
                        "later), found none: of other programs' Python nothing is read; take the "
                        "model from its config.json (plumbline import hf)",
                  r->s->document.path, count, list, count > NAMES_LISTED ? " ..." : "");
}

// The package that model_registry is of: of an import, or the file's folder.
static const char *model_of(const struct python *p)
{
    static const char before[] = "from torchtitan.models.", behind[] = " import model_registry";
    const struct settings *s = p->source.s;
    const char *path = s->document.path, *slash = strrchr(path, '/');
    for (const char *at = strstr(s->begin, before); at; at = strstr(at + 1, before)) {
        const char *from = at + strlen(before);
        size_t length = strcspn(from, " .\n");
        if (!strncmp(from + length, behind, strlen(behind)))
            return arena_print(s->arena, "%.*s", (int)length, from);
    }
    if (!slash || !strstr(s->begin, "from . import model_registry")) return NULL;
    const char *from = slash;
    while (from > path && from[-1] != '/') from--;
    return arena_print(s->arena, "%.*s", (int)(slash - from), from);
}

enum status settings_read_python(struct settings *s, const char *path, const char *name,
                                 struct arena *arena, struct error *err)
{
    struct python p = {.root = NULL};
    struct function f;
    TRY(source_open(&p.source, s, path, arena, err));
    s->last_wins = true;
    if (!name) TRY(choose(&p, &name, err));
    if (!find_function(&p, name, &f)) return refuse(err, "%s: has no function %.80s", path, name);
    TRY(read_function(&p, &f, err));
    const char *model = model_of(&p);
    if (model) TRY(source_add(&p.source, "model.name", model, err));
    return OK;
}

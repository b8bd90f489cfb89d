// The functions of a Python file that make a configuration by assignments and calls
// ("config.training.steps = 10", "return Trainer.Config(parallelism=ParallelismConfig(...))") as
// settings: arguments under the key of their call, whose own text is the name of what is called.
// Nothing is run: what depends on more than this file is left out, and recipes are noted.
#include "data/import/jobs/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"

enum { NAMES_LISTED = 20 };

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
        if (!python_at(p, "def ")) {
            python_skip_line(p);
            continue;
        }
        p->source.at += 4;
        const char *own = python_name(p);
        found = !strcmp(own, name);
        while (found && p->source.at < p->source.end && *p->source.at != ':')
            if (*p->source.at == '(') p->source.at++, python_skip_expression(p, true);
            else p->source.at++;
        python_skip_line(p);
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
        python_settings(p)->program =
            arena_print(python_settings(p)->arena, "%.*s", (int)(length - strlen(".Config")), name);
    return true;
}

// "f()": what a function of this file returns, or a recipe of elsewhere.
static enum status read_base(struct python *p, const char *name, struct error *err)
{
    struct function f;
    if (find_function(p, name, &f)) return read_function(p, &f, err);
    said_assume(&python_settings(p)->said,
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

// "config.training.steps = x" where it may not be run, or "*= x": not known any more.
static enum status lose_assigned(struct python *p, struct error *err)
{
    struct settings_source *r = &p->source, before = *r;
    const char *name = python_name(p);
    size_t length = p->root ? strlen(p->root) : 0, sign = 0;
    if (python_at(p, "return ") || !strcmp(name, "return"))
        said_assume(&r->s->said, "line %d: what a branch returns is not taken", r->line);
    source_skip_blanks(r);
    while (r->at + sign < r->end && sign < 2 && strchr("+-*/%|", r->at[sign])) sign++;
    bool assigns = r->end - r->at > (long)sign + 1 && r->at[sign] == '=' && r->at[sign + 1] != '=';
    *r = before;
    if (!length || !assigns || strncmp(name, p->root, length) || name[length] != '.') return OK;
    return source_add(r, name + length + 1, python_unknown(p, before.at), err);
}

// What is assigned there is not known any more, unless it is for another version.
static enum status skip_block(struct python *p, int indent, bool of_version, struct error *err)
{
    while (p->source.at < p->source.end && (is_blank_line(p) || indent_of(p) > indent)) {
        if (is_blank_line(p)) {
            python_skip_line(p);
            continue;
        }
        p->source.at += indent_of(p);
        if (!of_version) TRY(lose_assigned(p, err));
        python_skip_expression(p, false);
        while (p->source.at < p->source.end && *p->source.at == ',') // of a tuple
            p->source.at++, python_skip_expression(p, false);
        python_skip_line(p);
    }
    return OK;
}

static enum status assign(struct python *p, const char *name, struct error *err)
{
    struct settings_source *r = &p->source;
    const char *dot = strchr(name, '.'), *start = r->at;
    int line = r->line;
    if (dot) {
        size_t length = (size_t)(dot - name);
        if (!p->root || strlen(p->root) != length || strncmp(name, p->root, length)) return OK;
        return python_value(p, dot + 1, false, err);
    }
    const char *called = python_name(p);
    source_skip_blanks(r);
    bool call = *called && r->at < r->end && *r->at == '(', plain = call && r->at[1] == ')';
    if (call && is_trainer(p, called)) {
        p->root = name;
        r->at++;
        return python_arguments(p, "", ')', err);
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
    bool of_other = p->version_indent == indent && python_at(p, "else");
    if (indent <= p->version_indent) p->version_indent = 0;
    if (python_at(p, "if hasattr(")) { // its block follows like other lines
        p->version_indent = indent;
        return python_skip_line(p), OK;
    }
    if (python_at(p, "if ") || python_at(p, "else") || python_at(p, "elif ") ||
        python_at(p, "for ") || python_at(p, "while ") || python_at(p, "with ") ||
        python_at(p, "def ")) {
        python_skip_expression(p, false);
        python_skip_line(p);
        return skip_block(p, indent, of_other, err);
    }
    if (python_at(p, "return ")) {
        *returned = true;
        r->at += strlen("return ");
        const char *name = python_name(p);
        if (r->at < r->end && *r->at == '(')
            return r->at++, is_trainer(p, name) ? python_arguments(p, "", ')', err)
                                                : read_base(p, name, err);
        return OK;
    }
    struct settings_source begin = *r;
    const char *name = python_name(p);
    source_skip_blanks(r);
    if (*name && r->end - r->at > 1 && strchr("+-*/%|", *r->at)) {
        *r = begin;
        TRY(lose_assigned(p, err));
    } else if (*name && r->end - r->at > 1 && *r->at == '=' && r->at[1] != '=') {
        r->at++;
        source_skip_blanks(r);
        TRY(assign(p, name, err));
    }
    python_skip_expression(p, false);
    python_skip_line(p);
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
            python_skip_line(p);
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
    for (r->at = r->s->begin; r->at < r->end; python_skip_line(p)) {
        if (!python_at(p, "def ")) continue;
        r->at += 4;
        const char *own = python_name(p), *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
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

// "N = 2" of the file, which its functions name.
static void keep_constants(struct python *p)
{
    struct settings_source *r = &p->source;
    for (r->at = r->s->begin; r->at < r->end; python_skip_line(p)) {
        const char *name = !strchr(" \t#", *r->at) ? python_name(p) : "";
        source_skip_blanks(r);
        if (!*name || r->end - r->at < 2 || *r->at != '=' || r->at[1] == '=') continue;
        r->at++;
        source_skip_blanks(r);
        GROW(r->s->arena, p->variables, p->variable_count, p->variable_capacity, 16);
        p->variables[p->variable_count++] = (struct variable){name, r->at, r->line};
    }
    r->at = r->s->begin, r->line = 1;
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
    keep_constants(&p);
    if (!find_function(&p, name, &f)) return refuse(err, "%s: has no function %.80s", path, name);
    TRY(read_function(&p, &f, err));
    if (!s->count)
        return refuse(err, "%s: line %d: %.80s returns nothing that is read without running it",
                      path, f.line, name);
    const char *model = model_of(&p);
    if (model) TRY(source_add(&p.source, "model.name", model, err));
    return OK;
}

// ---- a file that is a configuration itself

// The names before the sign are not known any more: what is assigned in a block or to several at
// once, deleted, or changed by a call.
static enum status forget(struct python *p, const char *key, const char *from, struct error *err)
{
    struct setting *at = (struct setting *)setting_of(p->source.s, key);
    const char *text = python_unknown(p, from);
    if (at) at->text = text, at->line = p->source.line;
    return at ? OK : source_add(&p->source, key, text, err);
}

static bool is_set(const struct settings *s, const char *key)
{
    size_t length = strlen(key);
    for (int i = 0; i < s->count; i++)
        if (!strncmp(s->items[i].key, key, length) && strchr(".[", s->items[i].key[length]))
            return true;
    return false;
}

// "a, b = c" and "a.update(b)".
static enum status read_other(struct python *p, const char *key, const char *from,
                              struct error *err)
{
    struct settings_source *r = &p->source;
    const char *line = r->at, *dot = strrchr(key, '.');
    if (*r->at == '(' && dot) {
        const char *of = arena_print(r->s->arena, "%.*s", (int)(dot - key), key);
        return is_set(r->s, of) ? forget(p, of, from, err) : OK;
    }
    const char *sign = *r->at == ',' ? memchr(line, '=', strcspn(line, "\n")) : NULL;
    if (!sign || sign[1] == '=') return OK;
    while (*key) {
        TRY(forget(p, key, from, err));
        while (r->at < sign && strchr(", \t", *r->at)) r->at++;
        key = r->at < sign ? python_key(p) : "";
    }
    return OK;
}

// "a = b", "a.b = c", "a["b"] = c", "a: int = b", "a *= b": under the names before the sign.
static enum status read_assignment(struct python *p, bool in_block, struct error *err)
{
    struct settings_source *r = &p->source;
    bool deletes = python_at(p, "del ");
    if (deletes) r->at += strlen("del ");
    const char *from = r->at, *key = python_key(p), *text;
    double old, other;
    source_skip_blanks(r);
    if (*key && deletes) return forget(p, key, from, err);
    if (*key && r->at < r->end && *r->at == ':')
        while (r->at < r->end && !strchr("=\n", *r->at)) r->at++;
    size_t sign = 0, left = (size_t)(r->end - r->at);
    while (sign < 2 && sign < left && strchr("+-*/%|", r->at[sign])) sign++;
    bool assigns = *key && sign < left && r->at[sign] == '=' &&
                   (sign + 1 == left || r->at[sign + 1] != '=');
    char by = sign == 1 ? *r->at : 0;
    if (!*key || r->at == r->end) return OK;
    if (!assigns) return read_other(p, key, from, err);
    if (in_block) return forget(p, key, from, err);
    r->at += sign + 1;
    source_skip_blanks(r);
    if (!sign) return python_value(p, key, false, err);
    const struct setting *at = setting_of(r->s, key);
    if (!at || !at->text || !by || !strchr("+-*/", by) || !python_number(p, &other))
        return forget(p, key, from, err);
    char *end;
    old = strtod(at->text, &end);
    if (*end || end == at->text || (by == '/' && other == 0)) return forget(p, key, from, err);
    text = python_number_text(p, by == '+'   ? old + other
                                 : by == '-' ? old - other
                                 : by == '*' ? old * other
                                             : old / other);
    return settings_replace(r->s, key, text, r->line), OK;
}

// The words that begin a block; what stands behind its colon is in it.
static bool begins_block(struct python *p, bool *makes)
{
    static const char *const words[] = {"if ",  "else",   "elif ", "for ",   "while ", "with ",
                                        "try:", "except", "def ",  "class ", "async "};
    struct settings_source *r = &p->source;
    size_t i = 0;
    while (i < ARRAY_LENGTH(words) && !python_at(p, words[i])) i++;
    if (i == ARRAY_LENGTH(words)) return false;
    *makes = i >= 8;
    while (r->at < r->end && *r->at != ':' && *r->at != '\n')
        if (strchr("\"'", *r->at)) python_skip_string(p);
        else if (strchr("([{", *r->at++)) python_skip_expression(p, true);
    if (r->at < r->end && *r->at == ':') r->at++;
    source_skip_blanks(r);
    return true;
}

static bool takes_from_beside(struct python *p)
{
    return python_at(p, "from .") || python_at(p, "with read_base") || python_at(p, "_base_");
}

enum status settings_read_python_file(struct settings *s, const char *path, struct arena *arena,
                                      struct error *err)
{
    struct python p = {.module = true};
    struct settings_source *r = &p.source;
    bool makes = false, block = false, same = false; // a function or a class; the same line
    TRY(source_open(r, s, path, arena, err));
    s->last_wins = true;
    while (r->at < r->end) {
        int indent = indent_of(&p);
        if (is_blank_line(&p) || (indent && makes)) {
            python_skip_line(&p), same = false;
            continue;
        }
        r->at += indent;
        block = indent > 0 || (same && block);
        if (takes_from_beside(&p))
            said_assume(&s->said,
                        "line %d: what it takes from another file is not read: what is "
                        "not stated here is a default",
                        r->line);
        if (!block) block = begins_block(&p, &makes);
        else
            while (begins_block(&p, &(bool){false})) {
            }
        if (!block) makes = false;
        if (r->at == r->end) break;
        if (strchr("\"'", *r->at)) python_skip_string(&p);
        else if (!makes) TRY(read_assignment(&p, block, err));
        python_skip_expression(&p, false);
        if (r->at < r->end && strchr(",)]};", *r->at)) { // of a tuple, another statement
            r->at++, same = true;
            source_skip_blanks(r);
        } else python_skip_line(&p), same = false;
    }
    return OK;
}

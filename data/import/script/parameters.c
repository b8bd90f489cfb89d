// What stands between ${ and }: a parameter, and what is done with its value.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "data/import/script/internal.h"

struct parameter {
    const char *name, *operation, *end; // operation: behind the name and its index
    size_t length;
    const char **items; // its values; scalar: one
    int count;
    bool list, unset;
};

static const char *argument(struct follow *f, long at)
{
    if (at == 0) return f->zero;
    return at <= f->argument_count ? f->arguments[at - 1] : NULL;
}

static void one(struct follow *f, struct parameter *p, const char *value)
{
    p->items = TAKE(f->arena, 1, const char *);
    p->unset = !value, p->count = 1;
    p->items[0] = value ? value : script_open(f, p->name, p->length);
}

// $@, $1, $#, $? ...
static void take_special(struct follow *f, struct parameter *p)
{
    char c = *p->name;
    if (c == '@' || c == '*') {
        p->items = f->arguments, p->count = f->argument_count, p->list = c == '@';
        p->unset = !p->count;
    } else if (isdigit((unsigned char)c)) {
        one(f, p, argument(f, strtol(p->name, NULL, 10)));
    } else {
        one(f, p, c == '#' ? arena_print(f->arena, "%d", f->argument_count) : c == '-' ? "" : "0");
    }
}

// NAME[index], with the bracket at s; returns what is behind it.
static const char *take_item(struct follow *f, struct parameter *p, struct variable *v,
                             const char *s)
{
    const char *close = memchr(s, ']', (size_t)(p->end - s));
    if (!close) return s;
    bool all = close - s == 2 && (s[1] == '@' || s[1] == '*');
    if (all) {
        p->list = s[1] == '@', p->unset = !v || v->unset;
        if (v) p->items = v->items, p->count = v->count;
        return close + 1;
    }
    const char *key = script_expanded(f, (struct piece){s + 1, close}), *value = NULL, *open;
    int64_t number;
    for (int i = 0; v && i < v->count && !value; i++)
        if (!strcmp(v->keys[i], key)) value = v->items[i];
    if (v && !value && script_arithmetic(f, key, &number, &open)) {
        if (number < 0) number += v->count;
        if (number >= 0 && number < v->count) value = v->items[number];
    }
    one(f, p, value ? value : v && !v->unset ? "" : NULL);
    return close + 1;
}

static void take_name(struct follow *f, struct parameter *p, const char *s)
{
    p->name = s, p->length = script_name_length(s, p->end);
    if (!p->length) {
        while (s + p->length < p->end && isdigit((unsigned char)s[p->length])) p->length++;
        if (!p->length) p->length = s < p->end;
        take_special(f, p);
        p->operation = s + p->length;
        return;
    }
    struct variable *v = script_variable(f, s, p->length, false);
    bool path = p->length == 11 && !memcmp(s, "BASH_SOURCE", 11);
    p->operation = s + p->length;
    if (p->operation < p->end && *p->operation == '[') {
        p->operation = take_item(f, p, v, p->operation);
        if (path) one(f, p, f->file);
        return;
    }
    one(f, p, path ? f->file : v && !v->unset && v->count ? v->items[0] : NULL);
    if (v && !v->unset && !v->count) p->items[0] = "", p->unset = false;
}

// ---- what is done with a value

// The length of the part of the text that the pattern takes away.
static size_t matched(struct follow *f, const char *pattern, const char *text, bool front,
                      bool longest)
{
    size_t size = strlen(text), best = 0;
    bool found = false;
    char *copy = arena_copy_text(f->arena, text);
    for (size_t i = 0; i <= size && script_step(f); i++) {
        char *end = front ? copy + i : copy + size, kept = *end;
        *end = '\0';
        bool fits = script_matches(pattern, front ? copy : copy + size - i);
        *end = kept;
        if (!fits) continue;
        best = i, found = true;
        if (!longest) break;
    }
    return found ? best : 0;
}

static const char *replaced(struct follow *f, const char *text, struct piece how)
{
    bool all = how.at < how.end && *how.at == '/';
    const char *from = how.at + all, *cut = from;
    while (cut < how.end && *cut != '/') cut += *cut == '\\' && cut + 1 < how.end ? 2 : 1;
    if (cut > how.end) cut = how.end;
    const char *old = script_expanded(f, (struct piece){from, cut});
    const char *new = cut < how.end ? script_expanded(f, (struct piece){cut + 1, how.end}) : "";
    struct part t = {0};
    size_t length = strlen(old);
    part_add(f, &t, "", 0);
    for (const char *s = text; *s && !f->over;) {
        if (length && !strncmp(s, old, length) && (all || new)) {
            part_add(f, &t, new, strlen(new));
            s += length;
            if (!all) length = 0;
        } else {
            part_put(f, &t, *s++);
        }
    }
    return t.s ? t.s : "";
}

static const char *cut_out(struct follow *f, const char *text, struct piece how)
{
    const char *colon = memchr(how.at, ':', (size_t)(how.end - how.at)), *open;
    int64_t from = 0, count = 0, size = (int64_t)strlen(text);
    const char *first = script_expanded(f, (struct piece){how.at, colon ? colon : how.end});
    if (!script_arithmetic(f, first, &from, &open)) return text;
    if (from < 0) from += size;
    if (from < 0 || from > size) return "";
    count = size - from;
    if (colon &&
        script_arithmetic(f, script_expanded(f, (struct piece){colon + 1, how.end}), &count,
                          &open) &&
        count < 0)
        count += size - from;
    if (count < 0) count = 0;
    if (count > size - from) count = size - from;
    return arena_print(f->arena, "%.*s", (int)count, text + from);
}

static const char *cased(struct follow *f, const char *text, bool upper, bool all)
{
    char *copy = arena_copy_text(f->arena, text);
    f->bytes += strlen(text);
    for (char *c = copy; *c; c++) {
        *c = (char)(upper ? toupper((unsigned char)*c) : tolower((unsigned char)*c));
        if (!all) break;
    }
    return copy;
}

static const char *changed(struct follow *f, const char *text, struct piece how)
{
    char c = *how.at;
    bool twice = how.end - how.at > 1 && how.at[1] == c;
    if (strchr(text, SCRIPT_OPEN)) return text;
    struct piece rest = {how.at + 1 + twice, how.end};
    size_t size = strlen(text);
    f->bytes += size;
    switch (c) {
    case '#': return text + matched(f, script_pattern(f, rest), text, true, twice);
    case '%':
        return arena_print(f->arena, "%.*s",
                           (int)(size - matched(f, script_pattern(f, rest), text, false, twice)),
                           text);
    case '/': return replaced(f, text, (struct piece){how.at + 1, how.end});
    case ':': return cut_out(f, text, (struct piece){how.at + 1, how.end});
    case '^':
    case ',': return cased(f, text, c == '^', twice);
    }
    return text;
}

// ---- all

// An open name and nothing else: an argument of the script, which is empty for the shell.
static bool is_open(const char *text)
{
    return text[0] == SCRIPT_OPEN && text[1] != '$' && !text[1 + strcspn(text + 1, "\1\2") + 1];
}

// :- - := = :? ? :+ +; whether it was one of them.
static bool otherwise(struct follow *f, struct part *t, struct parameter *p, bool quoted)
{
    const char *s = p->operation;
    bool colon = *s == ':';
    if (colon && s + 1 == p->end) return false;
    char c = s[colon];
    if (!strchr("-=?+", c)) return false;
    struct piece other = {s + colon + 1, p->end};
    const struct variable *v = script_variable(f, p->name, p->length, false);
    bool argument = p->count == 1 && is_open(p->items[0]) && !(v && v->command);
    bool empty = p->unset || (colon && (!p->count || argument || (p->count == 1 && !*p->items[0])));
    if (c == '+') {
        if (!empty) script_expand(f, t, other, quoted);
        return true;
    }
    p->operation = p->end; // the value as it is
    if (!empty || c == '?') return false;
    if (c == '=') script_set(f, p->name, p->length, script_expanded(f, other), false);
    script_expand(f, t, other, quoted);
    t->quoted |= other.at < other.end && strchr("'\"", *other.at);
    return true;
}

// ${@:2}, ${list[@]:1:3}: a part of a list, of which $1 is the first.
static void cut_list(struct follow *f, struct parameter *p)
{
    const char *from = p->operation + 1, *open;
    bool special = *p->name == '@' || *p->name == '*';
    if (!p->list || from > p->end || p->operation == p->end || *p->operation != ':') return;
    const char *colon = memchr(from, ':', (size_t)(p->end - from));
    int64_t first = 0, most = p->count;
    if (!script_arithmetic(f, script_expanded(f, (struct piece){from, colon ? colon : p->end}),
                           &first, &open))
        return;
    if (colon &&
        !script_arithmetic(f, script_expanded(f, (struct piece){colon + 1, p->end}), &most, &open))
        return;
    if (first < 0) first += p->count;
    else if (special && first > 0) first--;
    if (first < 0 || first > p->count) first = p->count;
    p->items += first, p->count -= (int)first, p->operation = p->end;
    if (most < p->count) p->count = most > 0 ? (int)most : 0;
}

static void add_all(struct follow *f, struct part *t, const struct parameter *p, bool quoted)
{
    const char *ifs = script_value(f, "IFS", 3);
    char between = p->list || !ifs || !*ifs ? ' ' : *ifs;
    bool apart = t->fields && (p->list || !quoted);
    for (int i = 0; i < p->count && !f->over; i++) {
        const char *item = p->items[i];
        if (p->operation < p->end) item = changed(f, item, (struct piece){p->operation, p->end});
        if (i) part_put(f, t, apart ? FIELD : between);
        script_add_value(f, t, item, quoted);
    }
    if (!p->count && p->list) f->empty_list = true;
}

static void add_keys(struct follow *f, struct part *t, const struct variable *v)
{
    for (int i = 0; v && i < v->count; i++) {
        if (i) part_put(f, t, t->fields ? FIELD : ' ');
        part_add(f, t, v->keys[i], strlen(v->keys[i]));
    }
}

void script_parameter(struct follow *f, struct part *t, struct piece inside, bool quoted)
{
    struct parameter p = {.end = inside.end};
    const char *s = inside.at;
    bool length = inside.end - s > 1 && *s == '#', indirect = inside.end - s > 1 && *s == '!';
    if (length && strchr(":-=?+", s[1])) length = false;
    take_name(f, &p, s + (length || indirect));
    bool open = p.count == 1 && p.items[0][0] == SCRIPT_OPEN;
    if (indirect && p.list) {
        add_keys(f, t, script_variable(f, p.name, p.length, false));
        return;
    }
    if (indirect && !open && p.count) {
        const char *name = p.items[0], *value = script_value(f, name, strlen(name));
        one(f, &p, value);
        if (!value) p.items[0] = script_open(f, name, strlen(name));
    }
    if (length) {
        int size = p.list ? p.count : p.count && !p.unset ? (int)strlen(p.items[0]) : 0;
        const char *text = arena_print(f->arena, "%d", size);
        if (!p.list && open) text = p.items[0];
        script_add_value(f, t, text, quoted);
        return;
    }
    if (p.operation < p.end && otherwise(f, t, &p, quoted)) return;
    cut_list(f, &p);
    add_all(f, t, &p, quoted);
}

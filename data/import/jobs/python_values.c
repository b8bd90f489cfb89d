// Values of Python, read as settings without running anything. See settings.h.
#include "data/import/jobs/settings.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 64 };

struct settings *python_settings(struct python *p) { return p->source.s; }

// ---- words and blanks

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool python_at(const struct python *p, const char *text)
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

void python_skip_line(struct python *p)
{
    struct settings_source *r = &p->source;
    while (r->at < r->end && *r->at != '\n') r->at++;
    if (r->at < r->end) r->at++, r->line++;
}

// "a", 'a' or """a""", which a prefix of letters precedes.
void python_skip_string(struct python *p)
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
void python_skip_expression(struct python *p, bool in_brackets)
{
    struct settings_source *r = &p->source;
    int depth = 0;
    while (r->at < r->end) {
        char c = *r->at;
        if (!depth && (c == ',' || (!in_brackets && (c == '\n' || c == ';')))) return;
        if (c == '"' || c == '\'') {
            python_skip_string(p);
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
const char *python_name(struct python *p)
{
    struct settings_source *r = &p->source;
    const char *from = r->at;
    if (r->at < r->end && isdigit((unsigned char)*r->at)) return "";
    while (r->at < r->end && (in_name(*r->at) || (*r->at == '.' && r->at > from))) r->at++;
    return arena_print(r->s->arena, "%.*s", (int)(r->at - from), from);
}

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

const char *python_unknown(const struct python *p, const char *from)
{
    enum { SHOWN = 60 };
    size_t length = strcspn(from, "\r\n");
    return arena_print(p->source.s->arena, "%c%.*s", PYTHON_UNKNOWN,
                       (int)(length < SHOWN ? length : SHOWN), from);
}

// What the name has in the file so far, under the key too.
static enum status copy_named(struct python *p, const char *name, const char *key, bool *found,
                              struct error *err)
{
    struct settings_source *r = &p->source;
    size_t length = strlen(name);
    int count = r->s->count;
    for (int i = 0; *name && i < count; i++) {
        const struct setting at = r->s->items[i];
        if (strncmp(at.key, name, length) || (at.key[length] && !strchr(".[", at.key[length])))
            continue;
        *found = true;
        if (!*key && !at.key[length]) continue;
        TRY(source_add(r, arena_print(r->s->arena, "%s%s", key, at.key + length + !*key), at.text,
                       err));
    }
    return OK;
}

// "**name" among arguments or in braces: all that the name has, where the file sets it.
static enum status read_several(struct python *p, const char *key, struct error *err)
{
    struct settings_source *r = &p->source;
    const char *from = r->at;
    bool known = false;
    r->at += 2;
    if (p->module) TRY(copy_named(p, python_key(p), key, &known, err));
    skip_space(p);
    if (known && r->at < r->end && strchr(",)}", *r->at)) return OK;
    python_skip_expression(p, true);
    return source_add(r, *key ? key : "**", python_unknown(p, from), err);
}

enum status python_arguments(struct python *p, const char *key, char close, struct error *err)
{
    struct settings_source *r = &p->source;
    int index = 0;
    for (skip_space(p); r->at < r->end && *r->at != close; skip_space(p)) {
        const char *start = r->at, *name = close == ')' ? python_name(p) : "";
        int line = r->line;
        skip_space(p);
        bool named = *name && r->end - r->at > 1 && *r->at == '=' && r->at[1] != '=';
        if (named) r->at++, skip_space(p);
        else r->at = start, r->line = line;
        bool several = python_at(p, "**");
        if (several) TRY(read_several(p, key, err));
        else
            TRY(python_value(p,
                             named ? source_join(r, key, name)
                                   : arena_print(r->s->arena, "%s[%d]", key, index++),
                             true, err));
        skip_space(p);
        if (r->at < r->end && *r->at == ',') r->at++;
        else if (r->at < r->end && *r->at != close)
            return source_refuse(r, err, "expected , or %c, found '%c'", close, *r->at);
    }
    if (r->at == r->end) return source_refuse(r, err, "expected %c, found the end", close);
    return r->at++, OK;
}

// ---- arithmetic

const char *python_key(struct python *p)
{
    struct settings_source *r = &p->source;
    const char *key = python_name(p), *text;
    struct error ignored = {OK, ""};
    while (*key && r->end - r->at > 2 && *r->at == '[' && strchr("\"'", r->at[1])) {
        r->at++;
        if (source_string(r, &text, &ignored) != OK || r->at == r->end || *r->at != ']') return "";
        r->at++, key = source_join(r, key, text);
    }
    return key;
}

static const struct variable *variable_named(const struct python *p, const char *name)
{
    for (int i = p->variable_count - 1; i >= 0; i--)
        if (!strcmp(p->variables[i].name, name)) return &p->variables[i];
    return NULL;
}

static bool read_sum(struct python *p, double *to);

static void skip_blanks(struct python *p)
{
    if (p->brackets) skip_space(p);
    else source_skip_blanks(&p->source);
}

static bool read_factor(struct python *p, double *to)
{
    struct settings_source *r = &p->source;
    char text[64], *end;
    size_t length = 0;
    skip_blanks(p);
    if (r->at == r->end || p->depth == CALLS_MOST) return false;
    if (*r->at == '(' || python_at(p, "int(") || python_at(p, "float(")) {
        bool whole = *r->at == 'i';
        r->at = (const char *)memchr(r->at, '(', (size_t)(r->end - r->at)) + 1;
        p->depth++, p->brackets++;
        bool read = read_sum(p, to);
        skip_blanks(p);
        p->depth--, p->brackets--;
        if (!read || r->at == r->end || *r->at++ != ')') return false;
        if (whole) *to = trunc(*to);
        return true;
    }
    if (*r->at == '-') return r->at++, read_factor(p, to) ? (*to = -*to, true) : false;
    if (isdigit((unsigned char)*r->at) || *r->at == '.') {
        const char *from = r->at;
        for (; r->at < r->end && length < sizeof text - 1; r->at++) {
            bool sign = strchr("+-", *r->at) && r->at > from && strchr("eE", r->at[-1]);
            if (!in_name(*r->at) && *r->at != '.' && !sign) break;
            if (*r->at != '_') text[length++] = *r->at;
        }
        text[length] = '\0', *to = strtod(text, &end);
        return !*end && end > text;
    }
    const char *name = python_key(p);
    const struct variable *v = p->module ? NULL : variable_named(p, name);
    if (v) {
        struct settings_source before = *r;
        p->depth++, r->at = v->at, r->line = v->line;
        bool read = python_number(p, to);
        return p->depth--, *r = before, read;
    }
    const struct setting *at = p->module ? setting_of(r->s, name) : NULL;
    return at && at->text && *at->text && (*to = strtod(at->text, &end), !*end);
}

static bool read_product(struct python *p, double *to)
{
    struct settings_source *r = &p->source;
    double other;
    if (!read_factor(p, to)) return false;
    for (skip_blanks(p); r->at < r->end && strchr("*/%", *r->at); skip_blanks(p)) {
        char sign = *r->at++;
        bool twice = r->at < r->end && *r->at == sign;
        r->at += twice;
        if (!read_factor(p, &other) || (sign != '*' && other == 0)) return false;
        *to = sign == '%'   ? fmod(*to, other)
              : sign == '/' ? (twice ? floor(*to / other) : *to / other)
                            : (twice ? pow(*to, other) : *to * other);
    }
    return true;
}

static bool read_sum(struct python *p, double *to)
{
    struct settings_source *r = &p->source;
    double other;
    if (!read_product(p, to)) return false;
    for (; r->at < r->end && strchr("+-", *r->at); skip_blanks(p)) {
        char sign = *r->at++;
        if (!read_product(p, &other)) return false;
        *to += sign == '+' ? other : -other;
    }
    return isfinite(*to);
}

bool python_number(struct python *p, double *number)
{
    struct settings_source *r = &p->source;
    const char *from = r->at;
    int depth = p->depth, line = r->line;
    bool read = read_sum(p, number);
    if (read && (r->at == r->end || strchr(",)]};\n#\r", *r->at))) return true;
    return p->depth = depth, p->brackets = 0, r->at = from, r->line = line, false;
}

const char *python_number_text(const struct python *p, double number)
{
    bool whole = fabs(number) < 1e15 && number == floor(number);
    return arena_print(p->source.s->arena, whole ? "%.0f" : "%.9g", number);
}

// As it is written, unless it is worked out.
static enum status read_number(struct python *p, const char *key, struct error *err)
{
    struct settings_source *r = &p->source;
    const char *from = r->at;
    double number;
    while (r->at < r->end && (in_name(*r->at) || strchr("+-.", *r->at))) r->at++;
    const char *behind = r->at,
               *text = arena_print(r->s->arena, "%.*s", (int)(behind - from), from);
    r->at = from;
    if (!python_number(p, &number)) r->at = behind;
    else if (r->at > behind + strspn(behind, " \t\r") || strpbrk(text, "_+"))
        text = python_number_text(p, number);
    return source_add(r, key, text, err);
}

// ---- values

static enum status read_variable(struct python *p, const struct variable *v, const char *key,
                                 struct error *err)
{
    struct settings_source *r = &p->source;
    const char *after = r->at;
    int line = r->line;
    if (p->depth == CALLS_MOST) return OK;
    p->depth++, r->at = v->at, r->line = v->line;
    TRY(python_value(p, key, false, err));
    p->depth--, r->at = after, r->line = line;
    return OK;
}

static enum status read_word(struct python *p, const char *key, struct error *err)
{
    struct settings_source *r = &p->source;
    const char *from = r->at, *name = p->module ? python_key(p) : python_name(p);
    size_t length = strlen(name);
    if (!strcmp(name, "True") || !strcmp(name, "False"))
        return source_add(r, key, *name == 'T' ? "true" : "false", err);
    if (!strcmp(name, "None")) return source_add(r, key, NULL, err);
    source_skip_blanks(r);
    if (r->at < r->end && strchr("\"'", *r->at)) // f"{NAME}", r"..."
        return p->module || !*key ? OK : source_add(r, key, python_unknown(p, from), err);
    if (r->at == r->end || *r->at != '(') {
        const struct variable *v = p->module ? NULL : variable_named(p, name);
        bool found = false;
        if (p->module) TRY(copy_named(p, name, key, &found, err));
        if (p->module) return found || !*key ? OK : source_add(r, key, name, err);
        if (v) return read_variable(p, v, key, err);
        return *key ? source_add(r, key, python_unknown(p, from), err) : OK;
    }
    r->at++;
    bool config = length > 7 && !strcmp(name + length - 7, ".Config");
    if (*key && strcmp(name, "dict") != 0)
        TRY(source_add(
            r, key, arena_print(r->s->arena, "%.*s", (int)(length - (config ? 7 : 0)), name), err));
    return python_arguments(p, key, ')', err);
}

// {"key": value}
static enum status read_braces(struct python *p, const char *key, struct error *err)
{
    struct settings_source *r = &p->source;
    const char *name;
    for (r->at++, skip_space(p); r->at < r->end && *r->at != '}'; skip_space(p)) {
        bool named = strchr("\"'", *r->at) != NULL;
        if (named) TRY(source_string(r, &name, err));
        skip_space(p);
        if (!named && python_at(p, "**")) {
            TRY(read_several(p, key, err));
        } else if (!named || r->at == r->end || *r->at != ':') { // a set
            python_skip_expression(p, true);
        } else {
            r->at++, skip_space(p);
            TRY(python_value(p, source_join(r, key, name), true, err));
        }
        skip_space(p);
        if (r->at < r->end && *r->at == ',') r->at++;
        else if (r->at < r->end && *r->at != '}')
            return source_refuse(r, err, "expected , or }, found '%c'", *r->at);
    }
    if (r->at == r->end) return source_refuse(r, err, "expected }, found the end");
    return r->at++, OK;
}

// Whether "(...)" is what stands in it, no tuple.
static bool in_round_brackets(struct python *p)
{
    struct settings_source *r = &p->source, before = *r;
    r->at++, skip_space(p);
    const char *from = r->at;
    python_skip_expression(p, true);
    bool one = r->at < r->end && *r->at == ')' && r->at > from;
    return *r = before, one;
}

enum status python_value(struct python *p, const char *key, bool in_brackets, struct error *err)
{
    struct settings_source *r = &p->source;
    const char *text, *from = r->at;
    double number;
    if (*key) drop(python_settings(p), key);
    if (r->at == r->end) return source_refuse(r, err, "%.60s: expected a value", key);
    if (++r->depth > DEPTH_MOST)
        return source_refuse(r, err, "%.60s: nested deeper than %d", key, DEPTH_MOST);
    if (*r->at == '"' || *r->at == '\'') {
        from = r->at;
        int line = r->line;
        python_skip_string(p);
        const char *behind = r->at;
        int there = r->line;
        if (behind - from > 5 && from[1] == *from && from[2] == *from) // three quotes
            return r->depth--, OK;
        r->at = from, r->line = line;
        TRY(source_string(r, &text, err));
        r->at = behind, r->line = there;
        TRY(source_add(r, key, text, err));
    } else if (!isdigit((unsigned char)*r->at) && python_number(p, &number)) {
        TRY(source_add(r, key, python_number_text(p, number), err));
    } else if (*r->at == '(' && in_round_brackets(p)) {
        r->at++, skip_space(p);
        TRY(python_value(p, key, true, err));
        skip_space(p);
        if (r->at == r->end || *r->at++ != ')') return source_refuse(r, err, "expected )");
    } else if (strchr("[(", *r->at)) {
        char close = *r->at++ == '[' ? ']' : ')';
        TRY(python_arguments(p, key, close, err));
    } else if (*r->at == '{') {
        TRY(read_braces(p, key, err));
    } else if (isdigit((unsigned char)*r->at) || *r->at == '-') {
        TRY(read_number(p, key, err));
    } else if (in_name(*r->at)) {
        TRY(read_word(p, key, err));
    }
    r->depth--;
    // An operation on it: its value is not known.
    const char *behind = r->at;
    python_skip_expression(p, in_brackets);
    for (; behind < r->at; behind++)
        if (!isspace((unsigned char)*behind) && *key) {
            if (*behind == '#' || *behind == ';') break;
            drop(python_settings(p), key);
            return source_add(r, key, python_unknown(p, from), err);
        }
    return OK;
}

enum status python_check_known(const struct settings *s, const char *key, struct error *err)
{
    for (int i = 0; i < s->count; i++) {
        const struct setting *at = &s->items[i];
        size_t own = strlen(at->key), of = strlen(key), least = own < of ? own : of;
        char behind = own < of ? key[own] : at->key[least];
        if (at->text && *at->text == PYTHON_UNKNOWN && !strncmp(at->key, key, least) &&
            (!behind || strchr(".[", behind)))
            return settings_refuse(s, at->key, err,
                                   "expected a value, found \"%.60s\", which is not "
                                   "run here: write its value",
                                   at->text + 1);
    }
    return OK;
}

// Arithmetic of $(( )), with whole numbers of 64 bits. Names stand for their variables' values,
// which are expressions themselves.
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/import/script/internal.h"

enum { DEPTH_MAX = 40 };

struct sum {
    struct follow *f;
    const char *at;
    int depth;
    bool wrong, dry; // dry: a branch that is not taken, without assignments
    const char *open;
};

static int64_t read_choice(struct sum *s);

static void blanks(struct sum *s)
{
    while (isspace((unsigned char)*s->at)) s->at++;
}

static bool take(struct sum *s, const char *sign)
{
    size_t length = strlen(sign);
    blanks(s);
    if (strncmp(s->at, sign, length) != 0) return false;
    s->at += length;
    return true;
}

static int64_t value_of(struct sum *s, const char *text)
{
    int64_t value = 0;
    struct sum inner = {.f = s->f, .at = text, .depth = s->depth + 1, .dry = s->dry};
    if (inner.depth > DEPTH_MAX || !script_step(s->f)) return s->wrong = true, 0;
    blanks(&inner);
    if (*inner.at) value = read_choice(&inner);
    blanks(&inner);
    if (*inner.at) inner.wrong = true;
    s->wrong |= inner.wrong;
    if (!s->open) s->open = inner.open;
    return value;
}

static void set(struct sum *s, const char *name, size_t length, int64_t value)
{
    if (!s->dry && !s->wrong && !s->open)
        script_set(s->f, name, length, arena_print(s->f->arena, "%" PRId64, value), false);
}

static int64_t wrap(uint64_t value) { return (int64_t)value; }

static int64_t applied(struct sum *s, char sign, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    if (strchr("/%", sign) && (b == 0 || (b == -1 && a == INT64_MIN))) return s->wrong = true, 0;
    switch (sign) {
    case '+': return wrap(x + y);
    case '-': return wrap(x - y);
    case '*': return wrap(x * y);
    case '/': return a / b;
    default: return a % b;
    }
}

// NAME, NAME[...], NAME++, NAME = ..., NAME += ...
static int64_t read_name(struct sum *s)
{
    const char *name = s->at;
    size_t length = script_name_length(name, name + strlen(name));
    s->at += length;
    if (*s->at == '[') {
        size_t inside = strcspn(s->at, "]");
        const char *key =
            arena_print(s->f->arena, "${%.*s%.*s]}", (int)length, name, (int)inside, s->at);
        s->at += inside + (s->at[inside] == ']');
        return value_of(s, script_expanded(s->f, (struct piece){key, key + strlen(key)}));
    }
    const char *text = script_value(s->f, name, length);
    blanks(s);
    if (*s->at == '=' && s->at[1] != '=') {
        s->at++;
        int64_t value = read_choice(s);
        return set(s, name, length, value), value;
    }
    if (!text) {
        if (!s->open) s->open = arena_print(s->f->arena, "%.*s", (int)length, name);
        text = "0";
    }
    int64_t value = value_of(s, text);
    if (*s->at && strchr("+-*/%", *s->at) && s->at[1] == '=') {
        char sign = *s->at;
        s->at += 2;
        value = applied(s, sign, value, read_choice(s));
        set(s, name, length, value);
    } else if (take(s, "++")) {
        set(s, name, length, value + 1);
    } else if (take(s, "--")) {
        set(s, name, length, value - 1);
    }
    return value;
}

static int64_t read_number(struct sum *s)
{
    char *end;
    long long value = strtoll(s->at, &end, 0);
    if (*end == '#') value = strtoll(end + 1, &end, value > 1 && value < 37 ? (int)value : 10);
    s->at = end;
    while (isalnum((unsigned char)*s->at) || *s->at == '.' || *s->at == '_')
        s->at++, s->wrong = true;
    return value;
}

static int64_t read_unary(struct sum *s)
{
    int64_t value = 0;
    blanks(s);
    if (++s->depth > DEPTH_MAX || !script_step(s->f)) s->wrong = true, s->at += strlen(s->at);
    if (*s->at == SCRIPT_OPEN) {
        const char *end = strchr(s->at, SCRIPT_CLOSE);
        if (!s->open) s->open = script_open_name(s->at, s->f->arena);
        s->at = end ? end + 1 : s->at + strlen(s->at);
    } else if (take(s, "++") || take(s, "--")) {
        int step = s->at[-1] == '+' ? 1 : -1;
        const char *name = (blanks(s), s->at);
        size_t length = script_name_length(name, name + strlen(name));
        value = length ? read_name(s) + step : 0;
        if (length) set(s, name, length, value);
        else s->wrong = true;
    } else if (take(s, "-")) value = wrap(0 - (uint64_t)read_unary(s));
    else if (take(s, "+")) value = read_unary(s);
    else if (take(s, "!")) value = !read_unary(s);
    else if (take(s, "~")) value = ~read_unary(s);
    else if (take(s, "(")) {
        do value = read_choice(s);
        while (take(s, ","));
        s->wrong |= !take(s, ")");
    } else if (isdigit((unsigned char)*s->at)) value = read_number(s);
    else if (script_name_length(s->at, s->at + strlen(s->at))) value = read_name(s);
    else s->wrong = true;
    s->depth--;
    return value;
}

static int64_t raised(int64_t base, int64_t to)
{
    uint64_t value = 1, square = (uint64_t)base;
    for (; to > 0; to >>= 1, square *= square)
        if (to & 1) value *= square;
    return wrap(value);
}

// The operators of two sides, by how closely they bind; 0: none is here.
static int operator_here(struct sum *s, const char **sign)
{
    static const char *const signs[][7] = {{"||", NULL},
                                           {"&&", NULL},
                                           {"|", NULL},
                                           {"^", NULL},
                                           {"&", NULL},
                                           {"==", "!=", NULL},
                                           {"<=", ">=", "<", ">", NULL},
                                           {"<<", ">>", NULL},
                                           {"+", "-", NULL},
                                           {"*", "/", "%", NULL},
                                           {"**", NULL}};
    int found = 0;
    size_t longest = 0;
    blanks(s);
    for (int k = 0; k < (int)ARRAY_LENGTH(signs); k++)
        for (int i = 0; signs[k][i]; i++) {
            size_t length = strlen(signs[k][i]);
            if (length > longest && !strncmp(s->at, signs[k][i], length))
                longest = length, found = k + 1, *sign = signs[k][i];
        }
    return found;
}

static int64_t joined(struct sum *s, const char *sign, int64_t a, int64_t b)
{
    char c = sign[0], d = sign[1];
    if (c == '|') return d ? a || b : (a | b);
    if (c == '&') return d ? a && b : (a & b);
    if (c == '^') return a ^ b;
    if (c == '=') return a == b;
    if (c == '!') return a != b;
    if (c == '<') return d == '<' ? wrap((uint64_t)a << (b & 63)) : d ? a <= b : a < b;
    if (c == '>') return d == '>' ? a >> (b & 63) : d ? a >= b : a > b;
    if (c == '*' && d) return b < 0 ? (s->wrong = true, 0) : raised(a, b);
    return applied(s, c, a, b);
}

static int64_t read_binary(struct sum *s, int least)
{
    const char *sign = "";
    int64_t value = read_unary(s);
    for (int level; !s->wrong && (level = operator_here(s, &sign)) >= least && level;) {
        s->at += strlen(sign);
        value = joined(s, sign, value, read_binary(s, level + (strcmp(sign, "**") != 0)));
    }
    return value;
}

static int64_t read_choice(struct sum *s)
{
    int64_t value = read_binary(s, 1);
    if (!take(s, "?")) return value;
    bool dry = s->dry, open = s->open != NULL;
    s->dry = dry || !value || open;
    int64_t first = read_choice(s);
    s->wrong |= !take(s, ":");
    s->dry = dry || value || open;
    int64_t second = read_choice(s);
    s->dry = dry;
    return value ? first : second;
}

bool script_arithmetic(struct follow *f, const char *text, int64_t *value, const char **open)
{
    struct sum s = {.f = f, .at = text};
    *value = 0;
    blanks(&s);
    if (*s.at) {
        do *value = read_choice(&s);
        while (take(&s, ","));
    }
    blanks(&s);
    *open = s.open;
    return !s.wrong && !*s.at && !s.open;
}

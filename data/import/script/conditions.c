// [ ... ], [[ ... ]] and test. An open name is empty, as an unset variable is; what it was compared
// with is noted. Questions about files and unlike texts with open parts in them have no answer.
#include <string.h>

#include "data/base/names.h"
#include "data/import/script/internal.h"

struct test {
    struct follow *f;
    const char **words;
    int at, count, depth;
    bool patterns; // [[ ]]
};

static enum truth read_or(struct test *t);

static enum truth opposite(enum truth a) { return a == UNKNOWN ? UNKNOWN : a == NO ? YES : NO; }

static bool is(const struct test *t, int at, const char *text)
{
    return at < t->count && !strcmp(t->words[at], text);
}

static bool take(struct test *t, const char *text)
{
    bool found = is(t, t->at, text);
    t->at += found;
    return found;
}

// The text with its open names left out.
static const char *closed(struct follow *f, const char *text)
{
    if (!strchr(text, SCRIPT_OPEN)) return text;
    char *copy = arena_copy_text(f->arena, text), *to = copy;
    for (const char *s = text; *s; s++) {
        if (*s != SCRIPT_OPEN) *to++ = *s;
        else s += strcspn(s, "\2") - (strchr(s, SCRIPT_CLOSE) == NULL);
    }
    *to = '\0';
    return copy;
}

static const char *plain(struct follow *f, const char *pattern)
{
    char *copy = arena_copy_text(f->arena, pattern), *to = copy;
    for (const char *s = pattern; *s; s++)
        if (*s != '\\' || !s[1]) *to++ = *s;
    *to = '\0';
    return copy;
}

static enum truth same(struct test *t, const char *a, const char *b)
{
    struct follow *f = t->f;
    script_choose(f, a, plain(f, b));
    if (!t->patterns) script_choose(f, b, a);
    a = closed(f, a), b = closed(f, b);
    return (t->patterns ? script_matches(b, a) : !strcmp(a, b)) ? YES : NO;
}

static enum truth compare_numbers(struct test *t, const char *a, const char *sign, const char *b)
{
    int64_t x = 0, y = 0;
    const char *open_a = NULL, *open_b = NULL;
    bool known_a = script_arithmetic(t->f, plain(t->f, a), &x, &open_a);
    bool known_b = script_arithmetic(t->f, plain(t->f, b), &y, &open_b);
    if (!known_a || !known_b) {
        bool a_is_open = open_a && known_b;
        for (int64_t d = -1; d <= 1 && (a_is_open || (open_b && known_a)); d++)
            if ((a_is_open ? y : x) + d > 0)
                script_choose(
                    t->f, a_is_open ? a : b,
                    arena_print(t->f->arena, "%lld", (long long)((a_is_open ? y : x) + d)));
        return *closed(t->f, a) && *closed(t->f, b) ? UNKNOWN : NO;
    }
    if (!strcmp(sign, "-eq")) return x == y ? YES : NO;
    if (!strcmp(sign, "-ne")) return x != y ? YES : NO;
    if (!strcmp(sign, "-lt")) return x < y ? YES : NO;
    if (!strcmp(sign, "-le")) return x <= y ? YES : NO;
    if (!strcmp(sign, "-gt")) return x > y ? YES : NO;
    return x >= y ? YES : NO;
}

// An expression without signs of its own is a text to be found.
static enum truth expression(struct test *t, const char *text, const char *pattern)
{
    const char *inside = pattern + (*pattern == '^');
    size_t length = strlen(inside);
    bool start = inside > pattern, end = length && inside[length - 1] == '$';
    char *want = arena_copy_text(t->f->arena, inside);
    want[length - end] = '\0';
    if (strpbrk(want, "*+?[](){}|.\\^$")) return UNKNOWN;
    const char *at = strstr(text, want);
    if (start && end) return !strcmp(text, want) ? YES : NO;
    if (start) return at == text ? YES : NO;
    if (end) {
        size_t size = strlen(text), tail = strlen(want);
        return size >= tail && !strcmp(text + size - tail, want) ? YES : NO;
    }
    return at ? YES : NO;
}

static bool is_number_sign(const char *s)
{
    return name_is_listed("-eq -ne -lt -le -gt -ge", s, strlen(s));
}

static enum truth read_two(struct test *t)
{
    const char *a = t->words[t->at], *sign = t->words[t->at + 1], *b = t->words[t->at + 2];
    t->at += 3;
    const char *left = t->patterns ? plain(t->f, a) : a;
    if (!strcmp(sign, "=") || !strcmp(sign, "==")) return same(t, left, b);
    if (!strcmp(sign, "!=")) return opposite(same(t, left, b));
    if (!strcmp(sign, "=~")) return expression(t, closed(t->f, left), b);
    if (is_number_sign(sign)) return compare_numbers(t, a, sign, b);
    int order = strcmp(left, plain(t->f, b));
    return (*sign == '<' ? order < 0 : order > 0) ? YES : NO;
}

static bool is_two_sign(const struct test *t)
{
    if (t->at + 2 >= t->count) return false;
    const char *sign = t->words[t->at + 1];
    return name_is_listed("= == != =~ < >", sign, strlen(sign)) || is_number_sign(sign);
}

// -z, -n, -v, -f ...: the letter, 0: it is no such sign.
static char unary_sign(const struct test *t)
{
    const char *w = t->at < t->count ? t->words[t->at] : "";
    bool sign = w[0] == '-' && w[1] && !w[2] && strchr("znvfdesrwxhLpSbcgkuOGNt", w[1]);
    return sign && t->at + 1 < t->count && !is_two_sign(t) ? w[1] : '\0';
}

static enum truth read_one(struct test *t)
{
    struct follow *f = t->f;
    char sign = unary_sign(t);
    if (!sign) {
        const char *word = t->words[t->at++];
        script_choose(f, word, NULL);
        return *closed(f, word) ? YES : NO;
    }
    const char *word = t->words[t->at + 1];
    t->at += 2;
    if (sign == 'z' || sign == 'n') {
        script_choose(f, word, NULL);
        return (*closed(f, word) != 0) == (sign == 'n') ? YES : NO;
    }
    if (sign == 'v') {
        struct part value = {0};
        size_t length = strlen(word);
        part_add(f, &value, "", 0);
        if (!strchr(word, '[')) return script_value(f, word, length) ? YES : NO;
        script_parameter(f, &value, (struct piece){word, word + length}, true);
        return value.s && *value.s && !strchr(value.s, SCRIPT_OPEN) ? YES : NO;
    }
    return UNKNOWN;
}

static enum truth read_primary(struct test *t)
{
    enum truth truth = NO;
    if (t->at >= t->count || ++t->depth > FOLLOW_DEPTH_MAX) return NO;
    if (is(t, t->at, "!") && !is_two_sign(t)) {
        t->at++;
        truth = opposite(read_primary(t));
    } else if (is(t, t->at, "(") && !is_two_sign(t)) {
        t->at++;
        truth = read_or(t);
        take(t, ")");
    } else if (is_two_sign(t)) {
        truth = read_two(t);
    } else {
        truth = read_one(t);
    }
    t->depth--;
    return truth;
}

static enum truth read_and(struct test *t)
{
    enum truth all = read_primary(t);
    while (take(t, "-a") || take(t, "&&")) {
        enum truth next = read_primary(t);
        all = all == NO || next == NO ? NO : all == UNKNOWN || next == UNKNOWN ? UNKNOWN : YES;
    }
    return all;
}

static enum truth read_or(struct test *t)
{
    enum truth any = read_and(t);
    while (take(t, "-o") || take(t, "||")) {
        enum truth next = read_and(t);
        any = any == YES || next == YES ? YES : any == UNKNOWN || next == UNKNOWN ? UNKNOWN : NO;
    }
    return any;
}

enum truth script_test(struct follow *f, const char **words, int count, bool patterns)
{
    struct test t = {.f = f, .words = words, .count = count, .patterns = patterns};
    return count ? read_or(&t) : NO;
}

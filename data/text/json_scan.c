// See json_scan.h. Nothing is built here: a value is read over, counted, and refused where it is
// not JSON.
#include "data/text/json_scan.h"

#include <string.h>
#include <strings.h>

#include "data/base/plain.h"

enum { NESTING_MAX = 64, NUMBER_MAX = 63, FOUND_MAX = 8, SHOWN_MAX = 16 };

struct scan {
    const char *file, *text, *at, *end;
    struct json_counts *counts;
    struct error *err;
};

// ---- messages

static int line_of(const struct scan *s, const char *at)
{
    int line = 1;
    for (const char *c = s->text; c < at; c++) line += *c == '\n';
    return line;
}

static enum status refuse(const struct scan *s, const char *at, const char *why)
{
    return fail(s->err, BAD_INPUT, "%s: line %d: %s", s->file, line_of(s, at), why);
}

static enum status refuse_shown(const struct scan *s, const char *at, const char *why, int most)
{
    if (s->end - at < most) most = (int)(s->end - at);
    return fail(s->err, BAD_INPUT, "%s: line %d: %s '%.*s'", s->file, line_of(s, at), why, most,
                at);
}

static bool comes_word(const struct scan *s, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(s->end - s->at) >= length && !strncasecmp(s->at, word, length);
}

static enum status refuse_here(const struct scan *s)
{
    if (s->at >= s->end) return refuse(s, s->end, "the document is cut short");
    if (comes_word(s, "nan") || comes_word(s, "inf"))
        return refuse_shown(s, s->at, "expected a finite number, found", FOUND_MAX);
    if ((unsigned char)*s->at < 0x20)
        return fail(s->err, BAD_INPUT, "%s: line %d: control character %d outside a string",
                    s->file, line_of(s, s->at), *s->at);
    return refuse_shown(s, s->at, "not valid JSON here:", SHOWN_MAX);
}

// ---- scalars

static void skip_blanks(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool comes(const struct scan *s, char c) { return s->at < s->end && *s->at == c; }

static bool skip(struct scan *s, char c)
{
    bool there = comes(s, c);
    s->at += there;
    return there;
}

static bool skip_digits(struct scan *s)
{
    const char *begin = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9') s->at++;
    return s->at > begin;
}

// false: there is no number here. "01" is not 0 and 1.
static bool skip_number(struct scan *s)
{
    skip(s, '-');
    if (!skip(s, '0') && !skip_digits(s)) return false;
    if (skip(s, '.') && !skip_digits(s)) return false;
    if (skip(s, 'e') || skip(s, 'E')) {
        if (!skip(s, '+')) skip(s, '-');
        if (!skip_digits(s)) return false;
    }
    return s->at == s->end || (*s->at && strchr(" \t\r\n,]}", *s->at));
}

static enum status scan_number(struct scan *s)
{
    const char *begin = s->at;
    if (!skip_number(s)) return refuse_shown(s, begin, "expected a number, found", FOUND_MAX);
    return s->at - begin <= NUMBER_MAX ? OK : refuse(s, begin, "a number of over 63 characters");
}

static bool skip_word(struct scan *s, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length)) return false;
    s->at += length;
    return true;
}

// ---- strings

// The number in "\uXXXX" at c; -1: there is none.
static int unit_at(const char *c, const char *end)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    int unit = 0;
    if (end - c < 6 || c[0] != '\\' || c[1] != 'u') return -1;
    for (int i = 2; i < 6; i++) {
        const char *digit = c[i] ? strchr(digits, c[i]) : NULL;
        if (!digit) return -1;
        unit = 16 * unit + (int)(digit - digits) % 16;
    }
    return unit;
}

// NULL, or what is wrong with the escape.
static const char *scan_escape(struct scan *s, const char *close)
{
    if (s->at[1] && strchr("\"\\/bfnrt", s->at[1])) {
        s->at += 2;
        return NULL;
    }
    int unit = unit_at(s->at, close),
        low = unit >= 0xd800 && unit < 0xdc00 ? unit_at(s->at + 6, close) : 0;
    if (unit == 0) return "NUL in a string";
    if (unit < 0 || (unit >= 0xdc00 && unit < 0xe000) || (low && (low < 0xdc00 || low >= 0xe000)))
        return "an escape that JSON does not have, in a string";
    s->at += low ? 12 : 6;
    return NULL;
}

static const char *scan_character(struct scan *s, const char *close)
{
    if (*s->at == '\\') return scan_escape(s, close);
    if ((unsigned char)*s->at < 0x20) return "control character in a string";
    int length = utf8_length((const unsigned char *)s->at, (const unsigned char *)close);
    s->at += length;
    return length ? NULL : "invalid UTF-8 in a string";
}

static enum status scan_string(struct scan *s)
{
    const char *begin = s->at, *close = begin + 1, *wrong = NULL;
    while (close < s->end && *close != '"') close += *close == '\\' ? 2 : 1;
    if (close >= s->end) return refuse(s, begin, "the string does not end");
    for (s->at++; s->at < close && !wrong;) wrong = scan_character(s, close);
    if (wrong) return refuse(s, begin, wrong);
    s->counts->texts++;
    s->counts->text_bytes += (size_t)(close - begin);
    s->at++;
    return OK;
}

// ---- values

static enum status scan_key(struct scan *s)
{
    skip_blanks(s);
    if (!comes(s, '"')) return refuse_here(s);
    TRY(scan_string(s));
    skip_blanks(s);
    return skip(s, ':') ? OK : refuse_here(s);
}

static enum status scan_value(struct scan *s, int depth)
{
    skip_blanks(s);
    s->counts->values++;
    if (comes(s, '"')) return scan_string(s);
    if (s->at < s->end && *s->at && strchr("-+0123456789", *s->at)) return scan_number(s);
    if (skip_word(s, "null") || skip_word(s, "true") || skip_word(s, "false")) return OK;
    bool is_object = comes(s, '{');
    if (!is_object && !comes(s, '[')) return refuse_here(s);
    if (depth == NESTING_MAX)
        return fail(s->err, BAD_INPUT, "%s: line %d: nested deeper than %d", s->file,
                    line_of(s, s->at), NESTING_MAX);
    char close = is_object ? '}' : ']';
    s->at++;
    skip_blanks(s);
    for (bool more = !skip(s, close); more;) {
        if (is_object) TRY(scan_key(s));
        TRY(scan_value(s, depth + 1));
        skip_blanks(s);
        more = skip(s, ',');
        if (!more && !skip(s, close)) return refuse_here(s);
    }
    return OK;
}

enum status json_scan(struct json_counts *counts, const char *file, const char *text, size_t size,
                      struct error *err)
{
    struct scan s = {
        .file = file, .text = text, .at = text, .end = text + size, .counts = counts, .err = err};
    *counts = (struct json_counts){0};
    TRY(scan_value(&s, 0));
    skip_blanks(&s);
    return s.at == s.end ? OK : refuse_here(&s);
}

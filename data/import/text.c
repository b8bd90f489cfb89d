// See text.h.
#include "data/import/text.h"
#include "data/text/json_stream.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

void text_open(struct text_lines *t, const char *path, const char *text, size_t size,
               struct arena *arena)
{
    *t = (struct text_lines){
        .path = path, .at = text, .end = text + size, .copy = TAKE(arena, TEXT_LINE_MAX + 1, char)};
}

// Skips an escape sequence that begins at p: ESC [ parameters, ended by a letter.
static const char *past_escape(const char *p, const char *end)
{
    if (++p == end || *p != '[') return p;
    for (p++; p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x40; p++) {
    }
    return p < end ? p + 1 : p;
}

enum status text_next(struct text_lines *t, bool *more, struct error *err)
{
    *more = t->at < t->end;
    if (!*more) return OK;
    const char *line_end = memchr(t->at, '\n', (size_t)(t->end - t->at));
    if (!line_end) line_end = t->end;
    t->line++;
    t->word_count = 0;
    t->source_end = line_end;
    if (line_end - t->at > TEXT_LINE_MAX)
        return text_refuse(t, err, "expected lines of at most %d bytes, found a longer one",
                           TEXT_LINE_MAX);
    char *to = t->copy;
    bool in_word = false;
    for (const char *p = t->at; p < line_end;) {
        if (*p == 0x1b) {
            p = past_escape(p, line_end);
            continue;
        }
        if (is_blank(*p)) {
            if (in_word) *to++ = '\0';
            in_word = false;
        } else {
            if (!in_word) {
                if (t->word_count == TEXT_WORDS_MAX)
                    return text_refuse(t, err, "expected at most %d words in a line, found more",
                                       TEXT_WORDS_MAX);
                t->rest_of[t->word_count] = p;
                t->words[t->word_count++] = to;
            }
            in_word = true;
            *to++ = *p;
        }
        p++;
    }
    *to = '\0';
    t->at = line_end < t->end ? line_end + 1 : t->end;
    return OK;
}

char *text_without_bars(const char *text, size_t size, struct arena *arena)
{
    char *bare = memcpy(TAKE(arena, size + 1, char), text, size);
    for (char *bar = bare; (bar = memchr(bar, '|', size - (size_t)(bar - bare)));) *bar = ' ';
    return bare;
}

const char *text_rest(const struct text_lines *t, int word, struct arena *arena)
{
    if (word >= t->word_count) return "";
    const char *from = t->rest_of[word], *end = t->source_end;
    char *rest = TAKE(arena, (size_t)(end - from) + 1, char), *to = rest;
    while (from < end)
        if (*from == 0x1b) from = past_escape(from, end);
        else *to++ = *from++;
    while (to > rest && is_blank(to[-1])) to--;
    *to = '\0';
    return rest;
}

static size_t decimals(const char *word)
{
    const char *point = strchr(word, '.');
    return point ? strspn(point + 1, "0123456789") : 0;
}

bool text_ends_short(const struct text_lines *t, const char *like)
{
    return t->source_end == t->end && t->word_count &&
           decimals(t->words[t->word_count - 1]) != decimals(like);
}

enum status line_refuse(const char *path, int line, struct error *err, const char *format, ...)
{
    char text[ERROR_TEXT_MAX / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return refuse(err, "%s: line %d: %s", path, line, text);
}

bool word_is_whole(const char *word, int64_t *value)
{
    if (!*word || strlen(word) > 16 || strspn(word, "0123456789") != strlen(word)) return false;
    *value = strtoll(word, NULL, 10);
    return (double)*value <= JSON_COUNT_MAX;
}

bool word_is_number(const char *word, double *value)
{
    char *end;
    if (strspn(word, "+-.0123456789eE") != strlen(word))
        return false; // strtod also accepts nan, inf and hexadecimal
    *value = strtod(word, &end);
    return end != word && !*end && isfinite(*value);
}

// ---- JSON

// Letters and signs outside of texts that are such a word.
static size_t python_word(const char *at, const char *end)
{
    char word[16] = "";
    size_t length = 0;
    while (at + length < end && (isalpha((unsigned char)at[length]) || at[length] == '-') &&
           length < sizeof word - 1)
        word[length] = at[length], length++;
    return json_is_python_word(word) ? length : 0;
}

enum status text_json(struct json *root, const char *path, const char *text, size_t size,
                      struct arena *arena, struct error *err)
{
    const char *end = text + size;
    char *copy = TAKE(arena, 2 * size + 1, char), *to = copy; // null is longer than NaN
    bool inside = false;
    for (const char *at = text; at < end;) {
        size_t length = inside ? 0 : python_word(at, end);
        if (length) {
            memcpy(to, "null", 4);
            to += 4, at += length;
            continue;
        }
        if (inside && *at == '\\' && at + 1 < end) *to++ = *at++;
        else if (*at == '"') inside = !inside;
        *to++ = *at++;
    }
    return json_parse(root, path, copy, (size_t)(to - copy), arena, err);
}

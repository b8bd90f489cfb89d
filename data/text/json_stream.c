// The grammar of RFC 8259 as a machine with one state and a stack of brackets. Texts longer than
// STREAM_TEXT_MAX are cut at a whole character; a number longer than 63 characters is refused, as
// is nesting deeper than STREAM_DEPTH_MAX.
#include "data/text/json_stream.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

enum {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END,
    EXPECT_KEY,
    EXPECT_KEY_OR_END,
    EXPECT_COMMA,
    EXPECT_NOTHING
};
enum { NUMBER_MAX = 63, FILE_ENDS = -1 };

void stream_begin(struct json_stream *s, const char *name, FILE *file)
{
    s->name = name;
    s->file = file;
    s->bytes = s->buffer;
    s->line = 1;
    s->expected = EXPECT_VALUE;
    s->depth = 0;
    s->python = false;
    s->length = s->at = s->size = 0;
}

void stream_begin_text(struct json_stream *s, const char *name, const char *text, size_t size)
{
    stream_begin(s, name, NULL);
    s->bytes = (const unsigned char *)text;
    s->size = size;
}

enum status stream_refuse(const struct json_stream *s, struct error *err, const char *format, ...)
{
    char why[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return refuse(err, "%s: line %lld: %s", s->name, s->line, why);
}

// ---- bytes

static int peek(struct json_stream *s)
{
    if (s->at == s->size && s->file) {
        s->at = 0;
        s->size = fread(s->buffer, 1, sizeof s->buffer, s->file);
    }
    return s->at < s->size ? s->bytes[s->at] : FILE_ENDS;
}

static int take(struct json_stream *s)
{
    int c = peek(s);
    if (c == FILE_ENDS) return c;
    s->at++;
    s->line += c == '\n';
    return c;
}

static int peek_behind_blanks(struct json_stream *s)
{
    int c = peek(s);
    while (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        take(s);
        c = peek(s);
    }
    return c;
}

static bool is_unreadable(const struct json_stream *s) { return s->file && ferror(s->file); }

static enum status refuse_byte(const struct json_stream *s, int c, const char *expected,
                               struct error *err)
{
    if (c == FILE_ENDS && is_unreadable(s))
        return refuse(err, "%s: cannot be read: %s", s->name, strerror(errno));
    if (c == FILE_ENDS) return stream_refuse(s, err, "expected %s, but the file ends", expected);
    if (c > 0x20 && c < 0x7f) return stream_refuse(s, err, "expected %s, found '%c'", expected, c);
    return stream_refuse(s, err, "expected %s, found byte 0x%02x", expected, (unsigned)c);
}

// ---- texts

// Appends a whole character, or nothing once one did not fit.
static void append(struct json_stream *s, const unsigned char *bytes, size_t count, bool *cut)
{
    *cut = *cut || s->length + count >= sizeof s->text;
    if (*cut) return;
    memcpy(s->text + s->length, bytes, count);
    s->length += count;
}

static size_t encode(unsigned long code, unsigned char bytes[4])
{
    size_t count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = count; i-- > 1; code >>= 6) bytes[i] = (unsigned char)(0x80 | (code & 0x3f));
    bytes[0] = (unsigned char)(heads[count] | code);
    return count;
}

static enum status take_hex(struct json_stream *s, unsigned long *code, struct error *err)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        int c = take(s);
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return refuse_byte(s, c, "four hexadecimal digits after \\u", err);
        *code = *code * 16 + (unsigned long)digit;
    }
    return OK;
}

static enum status take_escape(struct json_stream *s, bool *cut, struct error *err)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    int c = take(s);
    const char *at = c > 0 ? strchr(letters, c) : NULL;
    unsigned char bytes[4];
    unsigned long code, low;
    if (at) {
        append(s, (const unsigned char *)&meant[at - letters], 1, cut);
        return OK;
    }
    if (c != 'u') return refuse_byte(s, c, "an escape after \\", err);
    TRY(take_hex(s, &code, err));
    if (!code) return stream_refuse(s, err, "NUL in a string");
    if (code >= 0xd800 && code < 0xe000) {
        if (code >= 0xdc00 || take(s) != '\\' || take(s) != 'u')
            return stream_refuse(s, err, "half a surrogate pair in a string");
        TRY(take_hex(s, &low, err));
        if (low < 0xdc00 || low > 0xdfff)
            return stream_refuse(s, err, "half a surrogate pair in a string");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append(s, bytes, encode(code, bytes), cut);
    return OK;
}

// A character of more than one byte, starting with `head`.
static enum status take_long(struct json_stream *s, int head, bool *cut, struct error *err)
{
    unsigned char bytes[4] = {(unsigned char)head};
    size_t count = head >= 0xf0 && head <= 0xf4   ? 4
                   : head >= 0xe0 && head < 0xf0  ? 3
                   : head >= 0xc2 && head <= 0xdf ? 2
                                                  : 0;
    for (size_t i = 1; i < count; i++) {
        int c = take(s);
        int low = i > 1          ? 0x80
                  : head == 0xe0 ? 0xa0
                  : head == 0xf0 ? 0x90
                                 : 0x80,
            high = i > 1          ? 0xbf
                   : head == 0xed ? 0x9f
                   : head == 0xf4 ? 0x8f
                                  : 0xbf;
        if (c < low || c > high) return stream_refuse(s, err, "invalid UTF-8 in a string");
        bytes[i] = (unsigned char)c;
    }
    if (!count) return stream_refuse(s, err, "invalid UTF-8 in a string");
    append(s, bytes, count, cut);
    return OK;
}

static enum status take_text(struct json_stream *s, struct error *err)
{
    long long line = s->line;
    bool cut = false;
    s->length = 0;
    take(s);
    for (;;) {
        int c = take(s);
        if (c == '"') break;
        if (c == FILE_ENDS) {
            s->line = line;
            return is_unreadable(s) ? refuse_byte(s, c, "", err)
                                    : stream_refuse(s, err, "the string does not end");
        }
        if (c < 0x20) return stream_refuse(s, err, "control character %d in a string", c);
        unsigned char byte = (unsigned char)c;
        if (c == '\\') TRY(take_escape(s, &cut, err));
        else if (c >= 0x80) TRY(take_long(s, c, &cut, err));
        else append(s, &byte, 1, &cut);
    }
    s->text[s->length] = '\0';
    return OK;
}

// ---- numbers and words

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_number(const char *p)
{
    if (*p == '-') p++;
    if (!is_digit(*p)) return false;
    if (*p == '0') p++;
    else
        while (is_digit(*p)) p++;
    if (*p == '.') {
        if (!is_digit(*++p)) return false;
        while (is_digit(*p)) p++;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-') p++;
        if (!is_digit(*p)) return false;
        while (is_digit(*p)) p++;
    }
    return !*p;
}

// NaN, -Infinity: what programs write that do not know better.
static bool is_not_finite(const char *word)
{
    word += strspn(word, "+-");
    return !strncasecmp(word, "nan", 3) || !strncasecmp(word, "inf", 3);
}

bool json_is_python_word(const char *word)
{
    return !strcmp(word, "NaN") || !strcmp(word, "Infinity") || !strcmp(word, "-Infinity");
}

static enum status take_scalar(struct json_stream *s, enum stream_token *token, struct error *err)
{
    int c = peek(s);
    s->length = 0;
    while (c == '-' || c == '+' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z')) {
        if (s->length == NUMBER_MAX)
            return stream_refuse(s, err, "a number or word of more than %d characters", NUMBER_MAX);
        s->text[s->length++] = (char)take(s);
        c = peek(s);
    }
    s->text[s->length] = '\0';
    if (!s->length) return refuse_byte(s, c, "a value", err);
    if (s->python && json_is_python_word(s->text)) strcpy(s->text, "null");
    *token = is_number(s->text) ? STREAM_NUMBER : STREAM_WORD;
    if (*token == STREAM_WORD && strcmp(s->text, "true") && strcmp(s->text, "false") &&
        strcmp(s->text, "null"))
        return stream_refuse(s, err, "expected a %s, found '%s'",
                             is_not_finite(s->text) ? "finite number" : "value", s->text);
    return OK;
}

// ---- tokens

static void end_value(struct json_stream *s)
{
    s->expected = s->depth ? EXPECT_COMMA : EXPECT_NOTHING;
}

static enum status open_bracket(struct json_stream *s, int bracket, enum stream_token *token,
                                struct error *err)
{
    if (s->depth == STREAM_DEPTH_MAX)
        return stream_refuse(s, err, "nested deeper than %d", STREAM_DEPTH_MAX);
    take(s);
    s->open[s->depth++] = (char)bracket;
    s->expected = bracket == '{' ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    *token = bracket == '{' ? STREAM_OBJECT : STREAM_ARRAY;
    return OK;
}

static enum status take_key(struct json_stream *s, enum stream_token *token, struct error *err)
{
    int c = peek_behind_blanks(s);
    if (c != '"') return refuse_byte(s, c, "a key", err);
    TRY(take_text(s, err));
    c = peek_behind_blanks(s);
    if (c != ':') return refuse_byte(s, c, "':' after a key", err);
    take(s);
    s->expected = EXPECT_VALUE;
    *token = STREAM_KEY;
    return OK;
}

enum status stream_next(struct json_stream *s, enum stream_token *token, struct error *err)
{
    int c = peek_behind_blanks(s);
    bool may_end = s->expected == EXPECT_COMMA || s->expected == EXPECT_KEY_OR_END ||
                   s->expected == EXPECT_VALUE_OR_END;
    if (s->expected == EXPECT_NOTHING) {
        *token = STREAM_END;
        return c == FILE_ENDS && !is_unreadable(s)
                   ? OK
                   : refuse_byte(s, c, "nothing after the document", err);
    }
    if (may_end && s->depth && c == (s->open[s->depth - 1] == '{' ? '}' : ']')) {
        take(s);
        *token = c == '}' ? STREAM_OBJECT_END : STREAM_ARRAY_END;
        s->depth--;
        end_value(s);
        return OK;
    }
    if (s->expected == EXPECT_COMMA) {
        if (c != ',')
            return refuse_byte(s, c, s->open[s->depth - 1] == '{' ? "',' or '}'" : "',' or ']'",
                               err);
        take(s);
        s->expected = s->open[s->depth - 1] == '{' ? EXPECT_KEY : EXPECT_VALUE;
        c = peek_behind_blanks(s);
    }
    if (s->expected == EXPECT_KEY || s->expected == EXPECT_KEY_OR_END)
        return take_key(s, token, err);
    if (c == '{' || c == '[') return open_bracket(s, c, token, err);
    *token = STREAM_TEXT;
    if (c == '"') TRY(take_text(s, err));
    else TRY(take_scalar(s, token, err));
    end_value(s);
    return OK;
}

void stream_copy(char *to, size_t room, const struct json_stream *s)
{
    size_t n = s->length < room ? s->length : room - 1;
    memcpy(to, s->text, n);
    to[n] = '\0';
}

enum status stream_skip(struct json_stream *s, enum stream_token token, struct error *err)
{
    if (token != STREAM_OBJECT && token != STREAM_ARRAY) return OK;
    for (int depth = s->depth - 1; s->depth > depth;) TRY(stream_next(s, &token, err));
    return OK;
}

// See json.h. One pass over the text; each value is recorded where it starts, and nothing is read
// twice.
#include "solve/checker/read/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NESTING_MOST = 20, KEYS_MOST = 64, DIGITS_MOST = 18, VALUES_MOST = 8000000 };

struct parser {
    const struct reader *reader;
    const char *start, *at, *end;
    int depth;
    int64_t values;
    struct arena *arena;
};

enum status check_refuse(const struct reader *r, const char *where, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fail(r->err, BAD_INPUT, "%s: %s%s%s", r->file, where, *where ? ": " : "", text);
}

static enum status refuse_here(const struct parser *p, const char *what)
{
    int line = 1;
    for (const char *c = p->start; c < p->at; c++) line += *c == '\n';
    return fail(p->reader->err, BAD_INPUT, "%s: line %d: %s", p->reader->file, line, what);
}

static void skip_blanks(struct parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

static bool comes(const struct parser *p, char c) { return p->at < p->end && *p->at == c; }

// ---- text

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// The length of the UTF-8 sequence at c; 0 if it is invalid, or a character that no line of a
// statement can show: a control, a line separator, a mark that turns what follows.
static int shown_length(const char *c, const char *end)
{
    const unsigned char *b = (const unsigned char *)c;
    int length = *b < 0x80                 ? 1
                 : *b >= 0xc2 && *b < 0xe0 ? 2
                 : *b >= 0xe0 && *b < 0xf0 ? 3
                 : *b >= 0xf0 && *b < 0xf5 ? 4
                                           : 0;
    if (end - c < length) return 0;
    uint32_t code = length == 1 ? *b : *b & (0x7fu >> length);
    for (int i = 1; i < length; i++) {
        if ((b[i] & 0xc0) != 0x80) return 0;
        code = code * 64 + (b[i] & 0x3f);
    }
    if (code < 0x20 || (code > 0x7e && code < 0xa0) || (code > 0x2027 && code < 0x202f) ||
        (code > 0x2065 && code < 0x206a))
        return 0;
    return length;
}

// Below 2^16.
static char *put_utf8(char *to, unsigned code)
{
    static const unsigned heads[] = {0, 0xc0, 0xe0};
    int behind = code < 0x80 ? 0 : code < 0x800 ? 1 : 2;
    *to++ = (char)(heads[behind] | code >> 6 * behind);
    while (behind-- > 0) *to++ = (char)(0x80 | (code >> 6 * behind & 63));
    return to;
}

// After a backslash. Surrogates are refused: no name needs them.
static enum status read_escape(struct parser *p, char **to)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *found = p->at < p->end && *p->at ? strchr(names, *p->at) : NULL;
    if (found) {
        char meant = meanings[found - names];
        if (!shown_length(&meant, &meant + 1))
            return refuse_here(p, "an escape that no name needs");
        *(*to)++ = meant;
        p->at++;
        return OK;
    }
    unsigned code = 0;
    if (!comes(p, 'u') || p->end - p->at < 5)
        return refuse_here(p, "an escape that JSON does not have");
    for (int i = 1; i <= 4; i++) {
        int digit = hex_digit(p->at[i]);
        if (digit < 0) return refuse_here(p, "an escape that JSON does not have");
        code = 16 * code + (unsigned)digit;
    }
    if (code == 0 || (code >= 0xd800 && code < 0xe000))
        return refuse_here(p, "an escape that no name needs");
    char *from = *to;
    *to = put_utf8(from, code);
    if (!shown_length(from, *to)) return refuse_here(p, "an escape that no name needs");
    p->at += 5;
    return OK;
}

static enum status read_text(struct parser *p, const char **text)
{
    const char *close = ++p->at;
    while (close < p->end && *close != '"') close += *close == '\\' && close + 1 < p->end ? 2 : 1;
    if (close >= p->end) return refuse_here(p, "a text without an end");
    char *copy = TAKE(p->arena, close - p->at + 1, char), *to = copy;
    while (p->at < close) {
        int length = shown_length(p->at, p->end);
        if (!length) return refuse_here(p, "a text that is not UTF-8, or a control character");
        if (*p->at == '\\') {
            p->at++;
            TRY(read_escape(p, &to));
            continue;
        }
        memcpy(to, p->at, (size_t)length);
        to += length;
        p->at += length;
    }
    if (p->at != close) return refuse_here(p, "a text without an end");
    p->at++;
    *text = copy;
    return OK;
}

// ---- other values

static enum status read_number(struct parser *p, int64_t *number)
{
    bool negative = comes(p, '-');
    int digits = 0;
    if (negative) p->at++;
    bool zero = comes(p, '0');
    *number = 0;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++) {
        if (++digits > DIGITS_MOST) return refuse_here(p, "a number of more than 18 digits");
        *number = 10 * *number + (*p->at - '0');
    }
    if (!digits) return refuse_here(p, "expected a value");
    if (zero && digits > 1) return refuse_here(p, "a number that starts with 0");
    if (zero && negative) return refuse_here(p, "a zero with a sign");
    if (comes(p, '.') || comes(p, 'e') || comes(p, 'E'))
        return refuse_here(p, "expected a whole number");
    if (negative) *number = -*number;
    return OK;
}

static bool read_word(struct parser *p, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length)) return false;
    p->at += length;
    return true;
}

static enum status read_value(struct parser *p, struct value **value);

static enum status read_key(struct parser *p, const struct value *object, const char **key)
{
    skip_blanks(p);
    if (!comes(p, '"')) return refuse_here(p, "expected a key");
    TRY(read_text(p, key));
    for (const struct value *v = object->first; v; v = v->next)
        if (!strcmp(v->key, *key)) return refuse_here(p, "a key stands twice in an object");
    skip_blanks(p);
    if (!comes(p, ':')) return refuse_here(p, "expected ':'");
    p->at++;
    return OK;
}

static enum status read_elements(struct parser *p, struct value *v)
{
    char close = v->type == VALUE_OBJECT ? '}' : ']';
    struct value **last = &v->first;
    if (++p->depth > NESTING_MOST) return refuse_here(p, "nested too deeply");
    p->at++;
    skip_blanks(p);
    for (bool more = !comes(p, close); more;) {
        const char *key = NULL;
        if (v->type == VALUE_OBJECT) TRY(read_key(p, v, &key));
        TRY(read_value(p, last));
        (*last)->key = key;
        last = &(*last)->next;
        v->count++;
        if (v->type == VALUE_OBJECT && v->count > KEYS_MOST)
            return refuse_here(p, "an object of too many keys");
        skip_blanks(p);
        more = comes(p, ',');
        if (more) p->at++;
        else if (!comes(p, close))
            return refuse_here(p, "expected ',' or the end of an object or array");
    }
    p->at++;
    p->depth--;
    return OK;
}

static enum status read_value(struct parser *p, struct value **value)
{
    if (++p->values > VALUES_MOST) return refuse_here(p, "more values than are read");
    struct value *v = *value = TAKE(p->arena, 1, struct value);
    skip_blanks(p);
    if (comes(p, '{') || comes(p, '[')) {
        v->type = comes(p, '{') ? VALUE_OBJECT : VALUE_ARRAY;
        return read_elements(p, v);
    }
    if (comes(p, '"')) {
        v->type = VALUE_TEXT;
        return read_text(p, &v->text);
    }
    v->type = VALUE_NULL;
    if (read_word(p, "null")) return OK;
    v->type = VALUE_BOOL;
    v->number = read_word(p, "true");
    if (v->number || read_word(p, "false")) return OK;
    v->type = VALUE_NUMBER;
    return read_number(p, &v->number);
}

enum status check_parse(const struct reader *r, const char *text, size_t size, struct value **root,
                        struct arena *arena)
{
    struct parser p = {.reader = r, .start = text, .at = text, .end = text + size, .arena = arena};
    TRY(read_value(&p, root));
    skip_blanks(&p);
    return p.at == p.end ? OK : refuse_here(&p, "something stands behind the document's end");
}

// ---- extracting values

const struct value *value_get(const struct value *object, const char *key)
{
    for (const struct value *v = object->first; v; v = v->next)
        if (!strcmp(v->key, key)) return v;
    return NULL;
}

enum status value_expect(const struct reader *r, const struct value *v, const char *where,
                         enum value_type type)
{
    static const char *const names[] = {"a value", "null",     "true or false", "a whole number",
                                        "a text",  "an array", "an object"};
    if (v && (v->type == type || type == VALUE_ANY)) return OK;
    return check_refuse(r, where, "expected %s, found %s", names[type],
                        v ? names[v->type] : "nothing");
}

enum status value_name(const struct reader *r, const struct value *v, const char *where,
                       const char *const *names, int *to)
{
    TRY(value_expect(r, v, where, VALUE_TEXT));
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], v->text)) {
            *to = i;
            return OK;
        }
    return check_refuse(r, where, "\"%.40s\" is unknown here", v->text);
}

enum status value_row(const struct reader *r, const struct value *v, const char *where,
                      const char *words, int count, int64_t *to)
{
    const struct value *e = v->type == VALUE_ARRAY && v->count == count ? v->first : NULL;
    for (; e && e->type == VALUE_NUMBER; e = e->next) *to++ = e->number, count--;
    return count ? check_refuse(r, where, "expected arrays of %s", words) : OK;
}

enum status value_integers(const struct reader *r, const struct value *v, const char *where,
                           int count, int64_t low, int64_t high, int64_t **to, struct arena *arena)
{
    TRY(value_expect(r, v, where, VALUE_ARRAY));
    if (v->count != count)
        return check_refuse(r, where, "expected %d numbers, found %d", count, v->count);
    *to = TAKE(arena, count, int64_t);
    int i = 0;
    for (const struct value *e = v->first; e; e = e->next, i++) {
        TRY(value_expect(r, e, where, VALUE_NUMBER));
        if (e->number < low || e->number > high)
            return check_refuse(r, where, "entry %d: expected %lld to %lld, found %lld", i,
                                (long long)low, (long long)high, (long long)e->number);
        (*to)[i] = e->number;
    }
    return OK;
}

static enum value_type type_of(const struct value_field *f)
{
    return f->flag                ? VALUE_BOOL
           : f->text || f->names  ? VALUE_TEXT
           : f->small || f->large ? VALUE_NUMBER
           : f->numbers           ? VALUE_ARRAY
                                  : f->type;
}

static enum status read_field(const struct reader *r, const struct value *v, const char *where,
                              const struct value_field *f, struct arena *arena)
{
    TRY(value_expect(r, v, where, type_of(f)));
    if (f->names) return value_name(r, v, where, f->names, f->small);
    if (f->numbers)
        return value_integers(r, v, where, f->count, f->low, f->high, f->numbers, arena);
    if (f->flag) *f->flag = v->number != 0;
    if (f->text) *f->text = v->text;
    if (f->value) *f->value = v;
    if (!f->small && !f->large) return OK;
    if (v->number < f->low || v->number > f->high)
        return check_refuse(r, where, "expected %lld to %lld, found %lld", (long long)f->low,
                            (long long)f->high, (long long)v->number);
    if (f->small) *f->small = (int)v->number;
    else *f->large = v->number;
    return OK;
}

enum status value_fields(const struct reader *r, const struct value *object, const char *where,
                         const struct value_field *fields, struct arena *arena)
{
    int found = 0;
    TRY(value_expect(r, object, where, VALUE_OBJECT));
    for (const struct value_field *f = fields; f->key; f++) {
        bool may_lack = *f->key == '?';
        const char *key = f->key + may_lack;
        const struct value *v = value_get(object, key);
        char path[2 * CHECK_PATH_MAX];
        if (!v && may_lack) continue;
        if (!v) return check_refuse(r, where, "the key \"%s\" is missing", key);
        snprintf(path, sizeof path, "%.90s%s%.90s", where, *where ? "." : "", key);
        TRY(read_field(r, v, path, f, arena));
        found++;
    }
    for (const struct value *v = object->first; v && found < object->count; v = v->next) {
        const struct value_field *f = fields;
        while (f->key && strcmp(f->key + (*f->key == '?'), v->key)) f++;
        if (!f->key) return check_refuse(r, where, "unknown key \"%.40s\"", v->key);
    }
    return OK;
}

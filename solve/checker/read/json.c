// See json.h. The text is read over once, before cJSON makes its tree: what is not such a document
// is refused, numbers are read by their digits.
#include "solve/checker/read/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NESTING_MOST = 20, KEYS_MOST = 64, DIGITS_MOST = 18, VALUES_MOST = 8000000 };

struct scan {
    const struct reader *reader;
    const char *start, *at, *end;
    int depth;
    size_t values, bytes; // what cJSON's tree takes, with the allocator's own share
    int64_t *number;      // the next one: they are in the text's order
};

enum status check_refuse(const struct reader *r, const char *where, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return refuse(r->err, "%s: %s%s%s", r->file, where, *where ? ": " : "", text);
}

static enum status refuse_here(const struct scan *s, const char *what)
{
    int line = 1;
    for (const char *c = s->start; c < s->at; c++) line += *c == '\n';
    return refuse(s->reader->err, "%s: line %d: %s", s->reader->file, line, what);
}

static bool comes(const struct scan *s, char c) { return s->at < s->end && *s->at == c; }

static bool skip(struct scan *s, char c)
{
    bool there = comes(s, c);
    s->at += there;
    return there;
}

static void skip_blanks(struct scan *s)
{
    while (skip(s, ' ') || skip(s, '\n') || skip(s, '\t') || skip(s, '\r')) {
    }
}

// ---- text

// Not so: a character that no line of a statement can show: a control, a line separator, a mark
// that turns what follows.
static bool is_shown(uint32_t code)
{
    return code >= 0x20 && (code < 0x7f || code > 0x9f) && (code < 0x2028 || code > 0x202e) &&
           (code < 0x2066 || code > 0x2069);
}

// The length of the UTF-8 sequence at c; 0 if it is invalid, or not shown.
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
    return is_shown(code) ? length : 0;
}

// After a backslash, inside a text. Surrogates are refused: no name needs them.
static enum status scan_escape(struct scan *s)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    uint32_t code = 0;
    if (skip(s, '"') || skip(s, '\\') || skip(s, '/')) return OK;
    if (*s->at && strchr("bfnrt", *s->at)) return refuse_here(s, "an escape that no name needs");
    bool is_code = comes(s, 'u');
    for (int i = 1; i <= 4 && is_code; i++) {
        const char *digit = s->at[i] ? strchr(digits, s->at[i]) : NULL;
        is_code = digit;
        if (digit) code = 16 * code + (uint32_t)(digit - digits) % 16;
    }
    if (!is_code) return refuse_here(s, "an escape that JSON does not have");
    if (!is_shown(code) || (code >= 0xd800 && code < 0xe000))
        return refuse_here(s, "an escape that no name needs");
    s->at += 5;
    return OK;
}

static enum status scan_text(struct scan *s)
{
    const char *begin = ++s->at, *close = begin;
    while (close < s->end && *close != '"') close += *close == '\\' && close + 1 < s->end ? 2 : 1;
    if (close >= s->end) return refuse_here(s, "a text without an end");
    while (s->at < close) {
        int length = shown_length(s->at, close);
        if (!length) return refuse_here(s, "a text that is not UTF-8, or a control character");
        s->at += length;
        if (s->at[-1] == '\\') TRY(scan_escape(s));
    }
    s->bytes += (size_t)(close - begin) + 32;
    s->at++;
    return OK;
}

// ---- other values

static enum status scan_number(struct scan *s)
{
    bool negative = skip(s, '-'), zero = comes(s, '0');
    int digits = 0;
    int64_t number = 0;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        if (++digits > DIGITS_MOST) return refuse_here(s, "a number of more than 18 digits");
        number = 10 * number + (*s->at - '0');
    }
    if (!digits) return refuse_here(s, "expected a value");
    if (zero && digits > 1) return refuse_here(s, "a number that starts with 0");
    if (zero && negative) return refuse_here(s, "a zero with a sign");
    if (comes(s, '.') || comes(s, 'e') || comes(s, 'E'))
        return refuse_here(s, "expected a whole number");
    *s->number++ = negative ? -number : number;
    return OK;
}

static bool skip_word(struct scan *s, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length)) return false;
    s->at += length;
    return true;
}

static enum status scan_value(struct scan *s);

static enum status scan_key(struct scan *s)
{
    skip_blanks(s);
    if (!comes(s, '"')) return refuse_here(s, "expected a key");
    TRY(scan_text(s));
    skip_blanks(s);
    return skip(s, ':') ? OK : refuse_here(s, "expected ':'");
}

static enum status scan_elements(struct scan *s, bool is_object)
{
    char close = is_object ? '}' : ']';
    if (++s->depth > NESTING_MOST) return refuse_here(s, "nested too deeply");
    s->at++;
    skip_blanks(s);
    for (bool more = !skip(s, close); more;) {
        if (is_object) TRY(scan_key(s));
        TRY(scan_value(s));
        skip_blanks(s);
        more = skip(s, ',');
        if (!more && !skip(s, close))
            return refuse_here(s, "expected ',' or the end of an object or array");
    }
    s->depth--;
    return OK;
}

static enum status scan_value(struct scan *s)
{
    if (++s->values > VALUES_MOST) return refuse_here(s, "more values than are read");
    s->bytes += sizeof(cJSON) + 16;
    skip_blanks(s);
    if (comes(s, '{') || comes(s, '[')) return scan_elements(s, comes(s, '{'));
    if (comes(s, '"')) return scan_text(s);
    if (skip_word(s, "null") || skip_word(s, "true") || skip_word(s, "false")) return OK;
    return scan_number(s);
}

// ---- the tree

// Keys of an object differ; a number gets what a double cannot hold of it.
static enum status walk(const struct reader *r, cJSON *v, int64_t **number)
{
    int keys = 0;
    if (cJSON_IsNumber(v)) v->valueint = (int)(*(*number)++ - (int64_t)v->valuedouble);
    for (cJSON *e = v->child; e; e = e->next) {
        for (const cJSON *other = v->child; e->string && other != e; other = other->next)
            if (!strcmp(other->string, e->string))
                return check_refuse(r, "", "a key appears twice in an object: \"%.40s\"",
                                    e->string);
        if (e->string && ++keys > KEYS_MOST)
            return check_refuse(r, "", "an object of too many keys");
        TRY(walk(r, e, number));
    }
    return OK;
}

static void release(void *tree) { cJSON_Delete(tree); }

enum status check_parse(const struct reader *r, const char *text, size_t size, cJSON **root,
                        struct arena *arena)
{
    size_t most = size / 2 + 1 < VALUES_MOST ? size / 2 + 1 : VALUES_MOST;
    struct arena *scratch = arena_open_within(arena);
    int64_t *numbers = TAKE(scratch, most, int64_t);
    struct scan s = {.reader = r, .start = text, .at = text, .end = text + size, .number = numbers};
    TRY(scan_value(&s));
    skip_blanks(&s);
    if (s.at != s.end) return refuse_here(&s, "text after the document's end");
    TRY(arena_hold(arena, s.bytes, r->file, r->err));
    *root = cJSON_ParseWithLength(text, size);
    if (!*root) arena_exhaust(arena); // nothing else can fail: the text is JSON
    arena_defer(arena, release, *root);
    TRY(walk(r, *root, &numbers));
    arena_close(scratch);
    return OK;
}

// ---- extracting values

const cJSON *value_get(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

int64_t value_number(const cJSON *v) { return (int64_t)v->valuedouble + v->valueint; }

static const char *type_name(int type)
{
    return type & cJSON_Object   ? "an object"
           : type & cJSON_Array  ? "an array"
           : type & cJSON_String ? "a text"
           : type & cJSON_Number ? "a whole number"
           : type & VALUE_BOOL   ? "true or false"
                                 : "null";
}

enum status value_expect(const struct reader *r, const cJSON *v, const char *where, int type)
{
    if (v && (v->type & type || type == VALUE_ANY)) return OK;
    return check_refuse(r, where, "expected %s, found %s",
                        type == VALUE_ANY ? "a value" : type_name(type),
                        v ? type_name(v->type) : "nothing");
}

enum status value_name(const struct reader *r, const cJSON *v, const char *where,
                       const char *const *names, int *to)
{
    TRY(value_expect(r, v, where, cJSON_String));
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], v->valuestring)) {
            *to = i;
            return OK;
        }
    return check_refuse(r, where, "\"%.40s\" is unknown here", v->valuestring);
}

enum status value_row(const struct reader *r, const cJSON *v, const char *where, const char *words,
                      int count, int64_t *to)
{
    const cJSON *e = cJSON_IsArray(v) && cJSON_GetArraySize(v) == count ? v->child : NULL;
    for (; cJSON_IsNumber(e); e = e->next) *to++ = value_number(e), count--;
    return count ? check_refuse(r, where, "expected arrays of %s", words) : OK;
}

enum status value_integers(const struct reader *r, const cJSON *v, const char *where, int count,
                           int64_t low, int64_t high, int64_t **to, struct arena *arena)
{
    TRY(value_expect(r, v, where, cJSON_Array));
    int found = cJSON_GetArraySize(v), i = 0;
    if (found != count)
        return check_refuse(r, where, "expected %d numbers, found %d", count, found);
    *to = TAKE(arena, count, int64_t);
    for (const cJSON *e = v->child; e; e = e->next, i++) {
        TRY(value_expect(r, e, where, cJSON_Number));
        int64_t number = (*to)[i] = value_number(e);
        if (number < low || number > high)
            return check_refuse(r, where, "entry %d: expected %lld to %lld, found %lld", i,
                                (long long)low, (long long)high, (long long)number);
    }
    return OK;
}

static int type_of(const struct value_field *f)
{
    return f->flag                ? VALUE_BOOL
           : f->text || f->names  ? cJSON_String
           : f->small || f->large ? cJSON_Number
           : f->numbers           ? cJSON_Array
                                  : f->type;
}

static enum status read_field(const struct reader *r, const cJSON *v, const char *where,
                              const struct value_field *f, struct arena *arena)
{
    TRY(value_expect(r, v, where, type_of(f)));
    if (f->names) return value_name(r, v, where, f->names, f->small);
    if (f->numbers)
        return value_integers(r, v, where, f->count, f->low, f->high, f->numbers, arena);
    if (f->flag) *f->flag = cJSON_IsTrue(v);
    if (f->text) *f->text = v->valuestring;
    if (f->value) *f->value = v;
    if (!f->small && !f->large) return OK;
    int64_t number = value_number(v);
    if (number < f->low || number > f->high)
        return check_refuse(r, where, "expected %lld to %lld, found %lld", (long long)f->low,
                            (long long)f->high, (long long)number);
    if (f->small) *f->small = (int)number;
    else *f->large = number;
    return OK;
}

enum status value_fields(const struct reader *r, const cJSON *object, const char *where,
                         const struct value_field *fields, struct arena *arena)
{
    int found = 0;
    TRY(value_expect(r, object, where, cJSON_Object));
    for (const struct value_field *f = fields; f->key; f++) {
        bool may_lack = *f->key == '?';
        const char *key = f->key + may_lack;
        const cJSON *v = value_get(object, key);
        char path[2 * CHECK_PATH_MAX];
        if (!v && may_lack) continue;
        if (!v) return check_refuse(r, where, "the key \"%s\" is missing", key);
        snprintf(path, sizeof path, "%.90s%s%.90s", where, *where ? "." : "", key);
        TRY(read_field(r, v, path, f, arena));
        found++;
    }
    if (found == cJSON_GetArraySize(object)) return OK;
    for (const cJSON *v = object->child; v; v = v->next) {
        const struct value_field *f = fields;
        while (f->key && strcmp(f->key + (*f->key == '?'), v->string)) f++;
        if (!f->key) return check_refuse(r, where, "unknown key \"%.40s\"", v->string);
    }
    return OK;
}

#include "data/json.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NESTING_MAX = 64, FOUND_MAX = 60 };

static void release_tree(void *tree) { cJSON_Delete(tree); }

// ---- the text before cJSON sees it: what cJSON 1.7 passes although JSON does not, and what it counts too late

static int line_of(const char *text, const char *at)
{
    int line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

// Number grammar of RFC 8259 at p; returns its end, NULL if it is none.
static const char *number_end(const char *p, const char *end)
{
    if (p < end && *p == '-') p++;
    if (p == end || *p < '0' || *p > '9') return NULL;
    if (*p == '0') p++;
    else while (p < end && *p >= '0' && *p <= '9') p++;
    if (p < end && *p == '.') {
        if (++p == end || *p < '0' || *p > '9') return NULL;
        while (p < end && *p >= '0' && *p <= '9') p++;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        if (p == end || *p < '0' || *p > '9') return NULL;
        while (p < end && *p >= '0' && *p <= '9') p++;
    }
    return p == end || strchr(" \t\r\n,]}", *p) ? p : NULL;      // "01" is not 0 and 1
}

// Bytes of a valid UTF-8 sequence at p, 0 if it is none.
static int utf8_length(const unsigned char *p, const unsigned char *end)
{
    if (*p < 0x80) return 1;
    int n = *p >= 0xf0 && *p <= 0xf4 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc2 && *p <= 0xdf ? 2 : 0;
    if (!n || *p > 0xf4 || end - p < n) return 0;
    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f)) return 0;
    return n;
}

static const char *string_end(const char *p, const char *end, const char **why)
{
    for (p++; p < end && *p != '"';) {
        if ((unsigned char)*p < 0x20) { *why = "control character in a string"; return NULL; }
        if (*p == '\\') {
            if (end - p >= 6 && !strncmp(p, "\\u0000", 6)) { *why = "NUL in a string"; return NULL; }
            p += 2;
            continue;
        }
        int n = utf8_length((const unsigned char *)p, (const unsigned char *)end);
        if (!n) { *why = "invalid UTF-8 in a string"; return NULL; }
        p += n;
    }
    if (p >= end) { *why = "the string does not end"; return NULL; }
    return p + 1;
}

static enum status scan(const char *file, const char *text, size_t size, struct error *err)
{
    const char *end = text + size, *why = NULL;
    int depth = 0;
    for (const char *p = text; p < end && !why;) {
        if (*p == '"') {
            const char *q = string_end(p, end, &why);
            if (q) p = q;
            else return fail(err, BAD_INPUT, "%s: line %d: %s", file, line_of(text, p), why);
        } else if (*p == '-' || *p == '+' || (*p >= '0' && *p <= '9')) {
            const char *q = number_end(p, end);
            if (!q) return fail(err, BAD_INPUT, "%s: line %d: expected a number, found '%.8s'", file, line_of(text, p), p);
            p = q;
        } else {
            if (*p == '[' || *p == '{') depth++;
            if (*p == ']' || *p == '}') depth--;
            if (depth > NESTING_MAX) return fail(err, BAD_INPUT, "%s: line %d: nested deeper than %d", file, line_of(text, p), NESTING_MAX);
            if ((unsigned char)*p < 0x20 && (!*p || !strchr("\t\r\n", *p)))
                return fail(err, BAD_INPUT, "%s: line %d: control character %d outside a string", file, line_of(text, p), *p);
            p++;
        }
    }
    return OK;
}

// ---- duplicates

static int compare_keys(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static char *child_path(struct arena *arena, const char *path, const char *key)
{
    return arena_print(arena, "%s%s%s", path, *path ? "." : "", key);
}

static enum status refuse_duplicates(const cJSON *item, const struct json *where, struct arena *arena, struct error *err)
{
    int count = 0;
    for (const cJSON *c = item->child; c; c = c->next) count++;
    if (cJSON_IsObject(item) && count > 1) {
        struct arena_mark mark = arena_set_mark(arena);
        const char **keys = TAKE(arena, count, const char *);
        int n = 0;
        for (const cJSON *c = item->child; c; c = c->next) keys[n++] = c->string;
        qsort(keys, (size_t)n, sizeof *keys, compare_keys);
        for (int i = 1; i < n; i++)
            if (!strcmp(keys[i - 1], keys[i])) return json_refuse(where, err, "key \"%s\" stands twice", keys[i]);
        arena_reset(arena, mark);
    }
    int index = 0;
    for (const cJSON *c = item->child; c; c = c->next, index++) {
        if (!c->child) continue;
        struct arena_mark mark = arena_set_mark(arena);
        struct json inner = {c, where->file, c->string ? child_path(arena, where->path, c->string) : arena_print(arena, "%s[%d]", where->path, index)};
        TRY(refuse_duplicates(c, &inner, arena, err));
        arena_reset(arena, mark);
    }
    return OK;
}

enum status json_parse(struct json *root, const char *file, const char *text, size_t size, struct arena *arena, struct error *err)
{
    cJSON_Hooks hooks = {memory_take, memory_give};
    cJSON_InitHooks(&hooks);
    TRY(scan(file, text, size, err));
    char *copy = arena_take(arena, size + 1, 1);        // cJSON wants an end
    memcpy(copy, text, size);
    const char *stopped = NULL;
    long before = memory_taken();
    cJSON *tree = cJSON_ParseWithLengthOpts(copy, size + 1, &stopped, 1);
    if (!tree) {
        // cJSON does not tell a failed allocation from bad text: ask the allocator whether it works.
        void *probe = memory_taken() > before ? memory_take(1) : copy;
        if (!probe) return fail(err, SYSTEM, "%s: out of memory", file);
        if (probe != copy) memory_give(probe);
        int line = line_of(copy, stopped ? stopped : copy);
        if (stopped && (!strncasecmp(stopped, "nan", 3) || !strncasecmp(stopped, "inf", 3)))
            return fail(err, BAD_INPUT, "%s: line %d: expected a finite number, found '%.8s'", file, line, stopped);
        if (!stopped || stopped >= copy + size) return fail(err, BAD_INPUT, "%s: line %d: the document is cut short", file, line);
        return fail(err, BAD_INPUT, "%s: line %d: not valid JSON here: '%.16s'", file, line, stopped);
    }
    arena_defer(arena, release_tree, tree);
    *root = (struct json){tree, file, ""};
    return refuse_duplicates(tree, root, arena, err);
}

// ---- values

static const char *found(const cJSON *item, char *text, size_t size)
{
    if (cJSON_IsNumber(item)) snprintf(text, size, "%.17g", item->valuedouble);
    else if (cJSON_IsString(item)) snprintf(text, size, "\"%.40s\"", item->valuestring);
    else snprintf(text, size, "%s", cJSON_IsObject(item) ? "an object" : cJSON_IsArray(item) ? "an array" : cJSON_IsNull(item) ? "null" :
                  cJSON_IsTrue(item) ? "true" : "false");
    return text;
}

enum status json_refuse(const struct json *value, struct error *err, const char *format, ...)
{
    char text[ERROR_TEXT_MAX / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fail(err, BAD_INPUT, "%s: %s%s%s", value->file, value->path, *value->path ? ": " : "", text);
}

static enum status expected(const struct json *value, const char *what, struct error *err)
{
    char text[FOUND_MAX];
    return json_refuse(value, err, "expected %s, found %s", what, found(value->node, text, sizeof text));
}

static enum status read_number(const struct json *value, bool whole, double low, double high, double *to, struct error *err)
{
    const cJSON *item = value->node;
    char what[96];
    bool bounded = high < (whole ? JSON_COUNT_MAX : HUGE_VAL);
    if (bounded) snprintf(what, sizeof what, "a %snumber from %.17g to %.17g", whole ? "whole " : "", low, high);
    else snprintf(what, sizeof what, "a %snumber of at least %.17g", whole ? "whole " : "", low);
    if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble)) return expected(value, what, err);
    double x = item->valuedouble;
    if (whole && fabs(x) > JSON_COUNT_MAX) return expected(value, "a whole number of at most 2^53", err);
    if (x < low || x > high || (whole && x != floor(x))) return expected(value, what, err);
    *to = x;
    return OK;
}

static enum status read_name(const struct json *value, const char *const *names, int *to, struct error *err)
{
    const cJSON *item = value->node;
    char what[400] = "one of";
    for (int i = 0; names[i]; i++) {
        if (cJSON_IsString(item) && !strcmp(item->valuestring, names[i])) { *to = i; return OK; }
        size_t n = strlen(what);
        snprintf(what + n, sizeof what - n, "%s \"%s\"", i ? "," : "", names[i]);
    }
    return expected(value, what, err);
}

enum status json_expect(const struct json *value, enum json_type type, struct error *err)
{
    if (type == JSON_OBJECT && !cJSON_IsObject((const cJSON *)value->node)) return expected(value, "an object", err);
    if (type == JSON_ARRAY && !cJSON_IsArray((const cJSON *)value->node)) return expected(value, "an array", err);
    if (type == JSON_TEXT && !cJSON_IsString((const cJSON *)value->node)) return expected(value, "a string", err);
    return OK;
}

static enum status read_field(const struct json *value, const struct json_field *f, struct arena *arena, struct error *err)
{
    const cJSON *item = value->node;
    double x;
    switch (f->type) {
    case JSON_TEXT:
        TRY(json_expect(value, JSON_TEXT, err));
        *(const char **)f->to = arena_copy_text(arena, item->valuestring);
        return OK;
    case JSON_INT:
        TRY(read_number(value, true, f->low, f->high, &x, err));
        *(int *)f->to = (int)x;
        return OK;
    case JSON_COUNT:
        TRY(read_number(value, true, f->low, f->high, &x, err));
        *(int64_t *)f->to = (int64_t)x;
        return OK;
    case JSON_NUMBER: return read_number(value, false, f->low, f->high, f->to, err);
    case JSON_BOOL:
        if (!cJSON_IsBool(item)) return expected(value, "true or false", err);
        *(bool *)f->to = cJSON_IsTrue(item);
        return OK;
    case JSON_NAME: return read_name(value, f->names, f->to, err);
    case JSON_OBJECT:
    case JSON_ARRAY:
        TRY(json_expect(value, f->type, err));
        *(struct json *)f->to = *value;
        return OK;
    case JSON_SKIP: return OK;
    }
    return OK;
}

enum status json_fields(const struct json *object, const struct json_field *fields, size_t field_count,
                        enum json_strictness strictness, struct arena *arena, struct error *err)
{
    TRY(json_expect(object, JSON_OBJECT, err));
    const cJSON *item = object->node;
    for (const cJSON *c = item->child; c && strictness == JSON_STRICT; c = c->next) {
        size_t i = 0;
        while (i < field_count && strcmp(fields[i].key, c->string)) i++;
        if (i == field_count) return json_refuse(object, err, "unknown key \"%.60s\"", c->string);
    }
    for (size_t i = 0; i < field_count; i++) {
        const cJSON *c = cJSON_GetObjectItemCaseSensitive(item, fields[i].key);
        if (c && strictness == JSON_LENIENT && cJSON_IsNull(c)) c = NULL;
        if (!c && fields[i].need == REQUIRED) return json_refuse(object, err, "key \"%s\" is missing", fields[i].key);
        if (!c) continue;
        struct json value = {c, object->file, child_path(arena, object->path, fields[i].key)};
        TRY(read_field(&value, &fields[i], arena, err));
    }
    return OK;
}

int json_length(const struct json *array) { return array->node ? cJSON_GetArraySize(array->node) : 0; }
bool json_is_present(const struct json *value) { return value->node != NULL; }

struct json json_element(const struct json *array, int index, struct arena *arena)
{
    const cJSON *item = cJSON_GetArrayItem(array->node, index);
    assert(item);
    return (struct json){item, array->file, arena_print(arena, "%s[%d]", array->path, index)};
}

enum status json_members(const struct json *object, const char *const **keys, struct json **values, int *count, struct arena *arena,
                         struct error *err)
{
    TRY(json_expect(object, JSON_OBJECT, err));
    *count = json_length(object);
    const char **names = TAKE(arena, *count, const char *);
    *values = TAKE(arena, *count, struct json);
    int i = 0;
    for (const cJSON *c = ((const cJSON *)object->node)->child; c; c = c->next, i++) {
        names[i] = arena_copy_text(arena, c->string);
        (*values)[i] = (struct json){c, object->file, child_path(arena, object->path, c->string)};
    }
    *keys = names;
    return OK;
}

static enum status read_numbers(const struct json *array, bool whole, double low, double high, void *values, struct arena *arena, struct error *err)
{
    int i = 0;
    for (const cJSON *c = ((const cJSON *)array->node)->child; c; c = c->next, i++) {
        double x;
        struct json element = {c, array->file, array->path};
        if (!cJSON_IsNumber(c) || !isfinite(c->valuedouble) || c->valuedouble < low || c->valuedouble > high) element = json_element(array, i, arena);
        TRY(read_number(&element, whole, low, high, &x, err));
        if (whole) ((int64_t *)values)[i] = (int64_t)x;
        else ((double *)values)[i] = x;
    }
    return OK;
}

enum status json_numbers(const struct json *array, double low, double high, double **values, int *count, struct arena *arena, struct error *err)
{
    *count = json_length(array);
    *values = TAKE(arena, *count, double);
    return *count ? read_numbers(array, false, low, high, *values, arena, err) : OK;
}

enum status json_cells(const struct json *array, double **values, int *count, struct arena *arena, struct error *err)
{
    int i = 0;
    *count = json_length(array);
    *values = TAKE(arena, *count, double);
    for (const cJSON *c = *count ? ((const cJSON *)array->node)->child : NULL; c; c = c->next, i++) {
        bool known = cJSON_IsNumber(c) && isfinite(c->valuedouble);
        struct json element = {c, array->file, array->path};
        if (!known && !cJSON_IsNull(c)) element = json_element(array, i, arena);
        if (!known && !cJSON_IsNull(c)) return expected(&element, "a finite number, or null", err);
        (*values)[i] = known ? c->valuedouble : NAN;
    }
    return OK;
}

enum status json_counts(const struct json *array, double low, double high, int64_t **values, int *count, struct arena *arena, struct error *err)
{
    *count = json_length(array);
    *values = TAKE(arena, *count, int64_t);
    return *count ? read_numbers(array, true, low, high, *values, arena, err) : OK;
}

enum status json_texts(const struct json *array, const char ***values, int *count, struct arena *arena, struct error *err)
{
    *count = json_length(array);
    *values = TAKE(arena, *count, const char *);
    for (int i = 0; i < *count; i++) {
        struct json element = json_element(array, i, arena);
        TRY(json_expect(&element, JSON_TEXT, err));
        (*values)[i] = arena_copy_text(arena, ((const cJSON *)element.node)->valuestring);
    }
    return OK;
}

// ---- writing

static void append(struct json_writer *w, const char *text, size_t length)
{
    if (w->length + length + 1 > w->capacity) {
        size_t capacity = 2 * w->capacity + length + 256;
        w->text = arena_grow(w->arena, w->text, w->length, capacity, 1);
        w->capacity = capacity;
    }
    memcpy(w->text + w->length, text, length);
    w->length += length;
    w->text[w->length] = '\0';
}

static void append_text(struct json_writer *w, const char *text) { append(w, text, strlen(text)); }

static void new_line(struct json_writer *w)
{
    if (w->flat) {
        if (!w->empty) append_text(w, " ");
        return;
    }
    append_text(w, "\n");
    for (int i = 0; i < w->depth; i++) append_text(w, "  ");
}

static void append_quoted(struct json_writer *w, const char *text)
{
    append_text(w, "\"");
    for (const char *p = text; *p;) {
        size_t plain = 0;
        while ((unsigned char)p[plain] >= 0x20 && p[plain] != '"' && p[plain] != '\\') plain++;
        append(w, p, plain);
        p += plain;
        if (!*p) break;
        char escaped[8];
        if (*p == '"' || *p == '\\') snprintf(escaped, sizeof escaped, "\\%c", *p++);
        else snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)(unsigned char)*p++);
        append_text(w, escaped);
    }
    append_text(w, "\"");
}

static void begin_value(struct json_writer *w, const char *key)
{
    if (w->depth > 0) {
        if (!w->empty) append_text(w, ",");
        new_line(w);
    }
    w->empty = false;
    if (!key) return;
    append_quoted(w, key);
    append_text(w, ": ");
}

void json_begin(struct json_writer *w, struct arena *arena) { *w = (struct json_writer){.arena = arena, .empty = true}; }

const char *json_end(struct json_writer *w, size_t *length)
{
    assert(w->depth == 0);
    append_text(w, "\n");
    if (length) *length = w->length;
    return w->text;
}

static void open_value(struct json_writer *w, const char *key, const char *bracket, bool flat)
{
    begin_value(w, key);
    append_text(w, bracket);
    w->depth++;
    w->empty = true;
    if (flat && !w->flat) {
        w->flat = true;
        w->flat_depth = w->depth;
    }
}

static void close_value(struct json_writer *w, const char *bracket)
{
    bool was_flat = w->flat;
    if (w->flat && w->flat_depth == w->depth) w->flat = false;
    w->depth--;
    assert(w->depth >= 0);
    if (!w->empty && !was_flat) new_line(w);
    append_text(w, bracket);
    w->empty = false;
}

void json_open_object(struct json_writer *w, const char *key) { open_value(w, key, "{", false); }
void json_open_array(struct json_writer *w, const char *key) { open_value(w, key, "[", false); }
void json_open_flat_object(struct json_writer *w, const char *key) { open_value(w, key, "{", true); }
void json_open_flat_array(struct json_writer *w, const char *key) { open_value(w, key, "[", true); }
void json_close_object(struct json_writer *w) { close_value(w, "}"); }
void json_close_array(struct json_writer *w) { close_value(w, "]"); }

void json_put_text(struct json_writer *w, const char *key, const char *text)
{
    begin_value(w, key);
    append_quoted(w, text);
}

void json_put_count(struct json_writer *w, const char *key, int64_t value)
{
    char text[32], *end = text + sizeof text, *digit = end;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    begin_value(w, key);
    do *--digit = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0) *--digit = '-';
    append(w, digit, (size_t)(end - digit));
}

void json_put_number(struct json_writer *w, const char *key, double value)
{
    char text[40];
    assert(isfinite(value));
    begin_value(w, key);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    append_text(w, text);
}

void json_put_bool(struct json_writer *w, const char *key, bool value)
{
    begin_value(w, key);
    append_text(w, value ? "true" : "false");
}

void json_put_null(struct json_writer *w, const char *key)
{
    begin_value(w, key);
    append_text(w, "null");
}

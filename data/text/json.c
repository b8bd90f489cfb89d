// Fields of JSON objects, read by a table of them, and the writer.
#include "data/base/grow.h"
#include "data/base/plain.h"
#include "data/text/json_nodes.h"
#include "data/text/unit.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOUND_MAX = 60 };

static char *child_path(struct arena *arena, const char *path, const char *key)
{
    return arena_print(arena, "%s%s%s", path, *path ? "." : "", key);
}

// ---- values

static const char *found(const struct json_node *item, char *text, size_t size)
{
    static const char *const names[] = {"null", "false", "true", "", "", "an array", "an object"};
    if (item->type == NODE_NUMBER) snprintf(text, size, "%.17g", item->number);
    else if (item->type == NODE_TEXT) snprintf(text, size, "\"%.40s\"", item->text);
    else snprintf(text, size, "%s", names[item->type]);
    return text;
}

enum status json_refuse(const struct json *value, struct error *err, const char *format, ...)
{
    char text[ERROR_TEXT_MAX / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fail(err, BAD_INPUT, "%s: %s%s%s", value->file, value->path, *value->path ? ": " : "",
                text);
}

static enum status expected(const struct json *value, const char *what, struct error *err)
{
    char text[FOUND_MAX];
    if (!value->node) return json_refuse(value, err, "expected %s, but it is missing", what);
    return json_refuse(value, err, "expected %s, found %s", what,
                       found(value->node, text, sizeof text));
}

static enum status read_number(const struct json *value, bool whole, double low, double high,
                               double *to, struct error *err)
{
    const struct json_node *item = value->node;
    enum key_unit kind = item->type == NODE_TEXT ? unit_of_path(value->path) : KEY_UNITLESS;
    char what[160];
    bool bounded = high < (whole ? JSON_COUNT_MAX : HUGE_VAL);
    if (bounded)
        snprintf(what, sizeof what, "a %snumber from %.17g to %.17g", whole ? "whole " : "", low,
                 high);
    else snprintf(what, sizeof what, "a %snumber of at least %.17g", whole ? "whole " : "", low);
    if (kind) {
        size_t n = strlen(what);
        snprintf(what + n, sizeof what - n, ", or one with its unit as \"%s\"", unit_example(kind));
    }
    double x = item->type == NODE_NUMBER ? item->number : NAN;
    if (kind ? !unit_read(item->text, kind, &x) : !isfinite(x)) return expected(value, what, err);
    if (whole && fabs(x) > JSON_COUNT_MAX)
        return expected(value, "a whole number of at most 2^53", err);
    if (x < low || x > high || (whole && x != floor(x))) return expected(value, what, err);
    *to = x;
    return OK;
}

enum status json_name(const struct json *value, const char *const *names, int *to,
                      struct error *err)
{
    const struct json_node *item = value->node;
    char what[400] = "one of";
    for (int i = 0; names[i]; i++) {
        if (item && item->type == NODE_TEXT && !strcmp(item->text, names[i])) {
            *to = i;
            return OK;
        }
        size_t n = strlen(what);
        snprintf(what + n, sizeof what - n, "%s \"%s\"", i ? "," : "", names[i]);
    }
    return expected(value, what, err);
}

// A text that is used: it may be a name, and names are printed.
static enum status expect_plain(const struct json *value, const char *text, struct error *err)
{
    char found[PLAIN_FOUND_MAX];
    if (text_is_plain(text, strlen(text), found)) return OK;
    return json_refuse(value, err, "expected plain text, found a %s", found);
}

enum status json_expect(const struct json *value, enum json_type type, struct error *err)
{
    const struct json_node *item = value->node;
    if (type == JSON_OBJECT && (!item || item->type != NODE_OBJECT))
        return expected(value, "an object", err);
    if (type == JSON_ARRAY && (!item || item->type != NODE_ARRAY))
        return expected(value, "an array", err);
    if (type == JSON_TEXT && (!item || item->type != NODE_TEXT))
        return expected(value, "a string", err);
    if (!item) return expected(value, "a value", err);
    return type == JSON_TEXT ? expect_plain(value, item->text, err) : OK;
}

const char *json_text(const struct json *value, struct arena *arena)
{
    assert(value->node->type == NODE_TEXT);
    return arena_copy_text(arena, value->node->text);
}

static enum status read_field(const struct json *value, const struct json_field *f,
                              struct arena *arena, struct error *err)
{
    const struct json_node *item = value->node;
    double x;
    switch (f->type) {
    case JSON_TEXT:
        TRY(json_expect(value, JSON_TEXT, err));
        *(const char **)f->to = arena_copy_text(arena, item->text);
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
    case JSON_FLAG:
    case JSON_UNLESS:
        if (item->type != NODE_TRUE && item->type != NODE_FALSE)
            return expected(value, "true or false", err);
        if (f->type == JSON_FLAG) *(int *)f->to = item->type == NODE_TRUE;
        else *(bool *)f->to = (item->type == NODE_TRUE) == (f->type == JSON_BOOL);
        return OK;
    case JSON_NAME: return json_name(value, f->names, f->to, err);
    case JSON_OBJECT:
    case JSON_ARRAY:
    case JSON_VALUE:
        TRY(json_expect(value, f->type, err));
        *(struct json *)f->to = *value;
        return OK;
    case JSON_SKIP: return item->type == NODE_TEXT ? expect_plain(value, item->text, err) : OK;
    }
    return OK;
}

// A part that is missing still says where it would be, for those who expect it.
static void place_absent(const struct json *object, const struct json_field *f, struct arena *arena)
{
    if (f->type == JSON_OBJECT || f->type == JSON_ARRAY || f->type == JSON_VALUE)
        *(struct json *)f->to =
            (struct json){NULL, object->file, child_path(arena, object->path, f->key)};
}

enum status json_fields(const struct json *object, const struct json_field *fields,
                        size_t field_count, enum json_strictness strictness, struct arena *arena,
                        struct error *err)
{
    TRY(json_expect(object, JSON_OBJECT, err));
    const struct json_node *item = object->node;
    for (const struct json_node *c = node_first(item); c && strictness == JSON_STRICT;
         c = c->next) {
        size_t i = 0;
        while (i < field_count && strcmp(fields[i].key, c->key)) i++;
        if (i == field_count) return json_refuse(object, err, "unknown key \"%.60s\"", c->key);
    }
    for (size_t i = 0; i < field_count; i++) {
        const struct json_node *c = node_member(item, fields[i].key);
        if (c && strictness == JSON_LENIENT && c->type == NODE_NULL) c = NULL;
        if (!c && fields[i].need == REQUIRED)
            return json_refuse(object, err, "key \"%s\" is missing", fields[i].key);
        if (!c) {
            place_absent(object, &fields[i], arena);
            continue;
        }
        struct json value = {c, object->file, child_path(arena, object->path, fields[i].key)};
        TRY(read_field(&value, &fields[i], arena, err));
    }
    return OK;
}

int json_length(const struct json *array) { return array->node ? array->node->count : 0; }
bool json_has(const struct json *object, const char *key)
{
    return object->node && node_member(object->node, key) != NULL;
}

bool json_is_present(const struct json *value) { return value->node != NULL; }

struct json json_member(const struct json *object, const char *key, struct arena *arena)
{
    return (struct json){node_member(object->node, key), object->file,
                         child_path(arena, object->path, key)};
}

struct json json_element(const struct json *array, int index, struct arena *arena)
{
    const struct json_node *item = node_element(array->node, index);
    return (struct json){item, array->file, arena_print(arena, "%s[%d]", array->path, index)};
}

enum status json_members(const struct json *object, const char *const **keys, struct json **values,
                         int *count, struct arena *arena, struct error *err)
{
    TRY(json_expect(object, JSON_OBJECT, err));
    *count = json_length(object);
    const char **names = TAKE(arena, *count, const char *);
    *values = TAKE(arena, *count, struct json);
    int i = 0;
    for (const struct json_node *c = node_first(object->node); c; c = c->next, i++) {
        TRY(expect_plain(object, c->key, err));
        names[i] = arena_copy_text(arena, c->key);
        (*values)[i] = (struct json){c, object->file, child_path(arena, object->path, c->key)};
    }
    *keys = names;
    return OK;
}

static enum status read_numbers(const struct json *array, bool whole, double low, double high,
                                void *values, struct arena *arena, struct error *err)
{
    int i = 0;
    for (const struct json_node *c = node_first(array->node); c; c = c->next, i++) {
        double x;
        struct json element = {c, array->file, array->path};
        if (c->type != NODE_NUMBER || !isfinite(c->number) || c->number < low || c->number > high)
            element = json_element(array, i, arena);
        TRY(read_number(&element, whole, low, high, &x, err));
        if (whole) ((int64_t *)values)[i] = (int64_t)x;
        else ((double *)values)[i] = x;
    }
    return OK;
}

enum status json_numbers(const struct json *array, double low, double high, double **values,
                         int *count, struct arena *arena, struct error *err)
{
    *count = json_length(array);
    *values = TAKE(arena, *count, double);
    return *count ? read_numbers(array, false, low, high, *values, arena, err) : OK;
}

enum status json_cells(const struct json *array, double **values, int *count, struct arena *arena,
                       struct error *err)
{
    int i = 0;
    *count = json_length(array);
    *values = TAKE(arena, *count, double);
    for (const struct json_node *c = *count ? node_first(array->node) : NULL; c; c = c->next, i++) {
        bool known = c->type == NODE_NUMBER && isfinite(c->number);
        struct json element = {c, array->file, array->path};
        if (!known && c->type != NODE_NULL) element = json_element(array, i, arena);
        if (!known && c->type != NODE_NULL)
            return expected(&element, "a finite number, or null", err);
        (*values)[i] = known ? c->number : NAN;
    }
    return OK;
}

enum status json_counts(const struct json *array, double low, double high, int64_t **values,
                        int *count, struct arena *arena, struct error *err)
{
    *count = json_length(array);
    *values = TAKE(arena, *count, int64_t);
    return *count ? read_numbers(array, true, low, high, *values, arena, err) : OK;
}

enum status json_texts(const struct json *array, const char ***values, int *count,
                       struct arena *arena, struct error *err)
{
    *count = json_length(array);
    *values = TAKE(arena, *count, const char *);
    for (int i = 0; i < *count; i++) {
        struct json element = json_element(array, i, arena);
        TRY(json_expect(&element, JSON_TEXT, err));
        (*values)[i] = arena_copy_text(arena, element.node->text);
    }
    return OK;
}

// ---- writing

static void append(struct json_writer *w, const char *text, size_t length)
{
    GROW_BYTES(w->arena, w->text, w->length, length, w->capacity);
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

// What could not be read again is noted; a document with it is not written.
static void note_fault(struct json_writer *w, const char *text)
{
    if (!*w->found) text_is_plain(text, strlen(text), w->found);
}

static void append_quoted(struct json_writer *w, const char *text)
{
    note_fault(w, text);
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

void json_begin(struct json_writer *w, struct arena *arena)
{
    *w = (struct json_writer){.arena = arena, .empty = true};
}

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
void json_open_flat_object(struct json_writer *w, const char *key)
{
    open_value(w, key, "{", true);
}
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

static void put_node(struct json_writer *w, const char *key, const struct json_node *node)
{
    switch (node->type) {
    case NODE_NULL: json_put_null(w, key); return;
    case NODE_NUMBER: json_put_number(w, key, node->number); return;
    case NODE_TEXT: json_put_text(w, key, node->text); return;
    case NODE_OBJECT: json_open_object(w, key); break;
    case NODE_ARRAY: json_open_array(w, key); break;
    default: json_put_bool(w, key, node->type == NODE_TRUE); return;
    }
    for (const struct json_node *c = node_first(node); c; c = c->next) put_node(w, c->key, c);
    if (node->type == NODE_OBJECT) json_close_object(w);
    else json_close_array(w);
}

void json_put_value(struct json_writer *w, const char *key, const struct json *value)
{
    put_node(w, key, value->node);
}

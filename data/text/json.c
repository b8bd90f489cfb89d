// Documents through cJSON: trees that the arena deletes, their fields by a table of them, and the
// writer.
#include "data/text/json.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/names.h"
#include "data/text/json_stream.h"

enum { FOUND_MAX = 60 };

// An array's elements: requested in order, they cost one step each.
struct json_cursor {
    const cJSON *at;
    int index, count; // index: of `at`
};

// ---- trees

// key: NULL for an element.
static char *child_path(struct arena *arena, const char *path, const char *key, int index)
{
    if (!key) return arena_print(arena, "%s[%d]", path, index);
    size_t outer = strlen(path), inner = strlen(key);
    char *whole = TAKE(arena, outer + inner + 2, char), *to = whole;
    memcpy(to, path, outer);
    to += outer;
    if (outer) *to++ = '.';
    memcpy(to, key, inner);
    return whole;
}

static struct json value_at(const cJSON *node, const char *file, const char *path,
                            struct arena *arena)
{
    struct json value = {node, file, path, NULL};
    if (!cJSON_IsArray(node)) return value;
    value.cursor = TAKE(arena, 1, struct json_cursor);
    *value.cursor = (struct json_cursor){node->child, 0, cJSON_GetArraySize(node)};
    return value;
}

static struct json member_at(const struct json *object, const cJSON *node, const char *key,
                             struct arena *arena)
{
    return value_at(node, object->file, child_path(arena, object->path, key, 0), arena);
}

static void release(void *tree) { cJSON_Delete(tree); }

// cJSON takes more than JSON has, and does not know how much memory it may take: a text goes
// through the stream first, which refuses what is not JSON. *bytes: of the tree, with the
// allocator's share.
static enum status count_tree(const char *file, const char *text, size_t size, size_t *bytes,
                              struct error *err)
{
    enum { NODE = sizeof(cJSON) + 16, TEXT = 32 };
    static const size_t of[] = {
        [STREAM_OBJECT] = NODE, [STREAM_ARRAY] = NODE,       [STREAM_NUMBER] = NODE,
        [STREAM_WORD] = NODE,   [STREAM_TEXT] = NODE + TEXT, [STREAM_KEY] = TEXT};
    struct json_stream stream;
    enum stream_token token;
    stream_begin_text(&stream, file, text, size);
    *bytes = size;
    do {
        TRY(stream_next(&stream, &token, err));
        *bytes += of[token];
    } while (token != STREAM_END);
    return OK;
}

static const char *doubled_key(const cJSON *object, int count, struct arena *arena)
{
    const char **keys = TAKE(arena, count, const char *), *doubled = NULL;
    int n = 0;
    for (const cJSON *c = object->child; c; c = c->next) keys[n++] = c->string;
    qsort(keys, (size_t)n, sizeof *keys, compare_texts);
    for (int i = 1; i < n && !doubled; i++)
        if (!strcmp(keys[i - 1], keys[i])) doubled = keys[i];
    return doubled;
}

static enum status refuse_doubled(const struct json *value, struct arena *arena, struct error *err)
{
    struct arena_mark mark = arena_set_mark(arena);
    const cJSON *c;
    int index = 0;
    cJSON_ArrayForEach(c, value->node)
    {
        struct json inner = {c, value->file, "", NULL};
        if (c->child) {
            inner.path = child_path(arena, value->path, c->string, index);
            TRY(refuse_doubled(&inner, arena, err));
            arena_reset(arena, mark);
        }
        index++;
    }
    const char *doubled =
        cJSON_IsObject(value->node) && index > 1 ? doubled_key(value->node, index, arena) : NULL;
    return doubled ? json_refuse(value, err, "key \"%s\" appears twice", doubled) : OK;
}

enum status json_parse(struct json *root, const char *file, const char *text, size_t size,
                       struct arena *arena, struct error *err)
{
    size_t bytes;
    TRY(count_tree(file, text, size, &bytes, err));
    TRY(arena_hold(arena, bytes, file, err));
    cJSON *tree = cJSON_ParseWithLength(text, size);
    if (!tree) arena_exhaust(arena); // nothing else can fail: the text is JSON
    arena_defer(arena, release, tree);
    *root = value_at(tree, file, "", arena);
    struct arena_mark mark = arena_set_mark(arena);
    TRY(refuse_doubled(root, arena, err));
    arena_reset(arena, mark);
    return OK;
}

// ---- values

static const char *found(const cJSON *item, char *text, size_t size)
{
    if (cJSON_IsNumber(item)) snprintf(text, size, "%.17g", item->valuedouble);
    else if (cJSON_IsString(item)) snprintf(text, size, "\"%.40s\"", item->valuestring);
    else
        snprintf(text, size, "%s",
                 cJSON_IsObject(item)  ? "an object"
                 : cJSON_IsArray(item) ? "an array"
                 : cJSON_IsNull(item)  ? "null"
                 : cJSON_IsTrue(item)  ? "true"
                                       : "false");
    return text;
}

enum status json_refuse(const struct json *value, struct error *err, const char *format, ...)
{
    char text[ERROR_TEXT_MAX / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return refuse(err, "%s: %s%s%s", value->file, value->path, *value->path ? ": " : "", text);
}

static enum status expected(const struct json *value, const char *what, struct error *err)
{
    char text[FOUND_MAX];
    if (!value->node) return json_refuse(value, err, "expected %s, but it is missing", what);
    return json_refuse(value, err, "expected %s, found %s", what,
                       found(value->node, text, sizeof text));
}

static enum status expected_number(const struct json *value, bool whole, double low, double high,
                                   enum key_unit kind, struct error *err)
{
    char what[160];
    bool bounded = high < (whole ? JSON_COUNT_MAX : HUGE_VAL);
    int n = bounded ? snprintf(what, sizeof what, "a %snumber from %.17g to %.17g",
                               whole ? "whole " : "", low, high)
                    : snprintf(what, sizeof what, "a %snumber of at least %.17g",
                               whole ? "whole " : "", low);
    if (kind)
        snprintf(what + n, sizeof what - (size_t)n, ", or one with its unit as \"%s\"",
                 unit_example(kind));
    return expected(value, what, err);
}

static enum status read_number(const struct json *value, bool whole, double low, double high,
                               double *to, struct error *err)
{
    const cJSON *item = value->node;
    enum key_unit kind = cJSON_IsString(item) ? unit_of_path(value->path) : KEY_UNITLESS;
    double x = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    bool there = kind ? unit_read(item->valuestring, kind, &x) : isfinite(x);
    if (there && whole && fabs(x) > JSON_COUNT_MAX)
        return expected(value, "a whole number of at most 2^53", err);
    if (!there || x < low || x > high || (whole && x != floor(x)))
        return expected_number(value, whole, low, high, kind, err);
    *to = x;
    return OK;
}

// More names than a line has room for: the nearest is said alone.
enum { NAMES_SHOWN = 12 };

enum status json_name(const struct json *value, const char *const *names, int *to,
                      struct error *err)
{
    const cJSON *item = value->node;
    char what[400] = "one of";
    int count = 0;
    for (; names[count]; count++) {
        if (cJSON_IsString(item) && !strcmp(item->valuestring, names[count])) {
            *to = count;
            return OK;
        }
        size_t n = strlen(what);
        snprintf(what + n, sizeof what - n, "%s \"%s\"", count ? "," : "", names[count]);
    }
    const char *text = cJSON_IsString(item) ? item->valuestring : "";
    char odd[PLAIN_FOUND_MAX];
    size_t length = strlen(text);
    if (count <= NAMES_SHOWN || !length || length > 40 || !text_is_plain(text, length, odd))
        return expected(value, what, err);
    return json_refuse(value, err, "expected one of %d names, found \"%s\"; nearest: %s", count,
                       text, names[name_nearest(text, names, count)]);
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
    const cJSON *item = value->node;
    if (type == JSON_OBJECT && !cJSON_IsObject(item)) return expected(value, "an object", err);
    if (type == JSON_ARRAY && !cJSON_IsArray(item)) return expected(value, "an array", err);
    if (type == JSON_TEXT && !cJSON_IsString(item)) return expected(value, "a string", err);
    if (!item) return expected(value, "a value", err);
    return type == JSON_TEXT ? expect_plain(value, item->valuestring, err) : OK;
}

enum status json_expect_count(const struct json *array, int count, const char *what,
                              struct error *err)
{
    int found = json_length(array);
    if (found == count) return OK;
    return json_refuse(array, err, "expected %d %s, found %d", count, what, found);
}

const char *json_text(const struct json *value, struct arena *arena)
{
    assert(cJSON_IsString(value->node));
    return arena_copy_text(arena, value->node->valuestring);
}

static enum status read_field(const struct json *value, const struct json_field *f,
                              struct arena *arena, struct error *err)
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
    case JSON_FLAG:
    case JSON_UNLESS:
        if (!cJSON_IsBool(item)) return expected(value, "true or false", err);
        if (f->type == JSON_FLAG) *(int *)f->to = cJSON_IsTrue(item);
        else *(bool *)f->to = cJSON_IsFalse(item) == (f->type == JSON_UNLESS);
        return OK;
    case JSON_NAME: return json_name(value, f->names, f->to, err);
    case JSON_OBJECT:
    case JSON_ARRAY:
    case JSON_VALUE:
        TRY(json_expect(value, f->type, err));
        *(struct json *)f->to = *value;
        return OK;
    case JSON_SKIP: return cJSON_IsString(item) ? expect_plain(value, item->valuestring, err) : OK;
    }
    return OK;
}

// A part that is missing still says where it would be, for those who expect it.
static void place_absent(const struct json *object, const struct json_field *f, struct arena *arena)
{
    if (f->type == JSON_OBJECT || f->type == JSON_ARRAY || f->type == JSON_VALUE)
        *(struct json *)f->to = member_at(object, NULL, f->key, arena);
}

static enum status refuse_key(const struct json *object, const char *key,
                              const struct json_field *fields, size_t count, struct arena *arena,
                              struct error *err)
{
    const char **names = TAKE(arena, (int)count, const char *);
    for (size_t i = 0; i < count; i++) names[i] = fields[i].key;
    int meant = name_meant(key, names, (int)count);
    if (meant < 0) return json_refuse(object, err, "unknown key \"%.60s\"", key);
    return json_refuse(object, err, "unknown key \"%.60s\"; the nearest is \"%s\"", key,
                       names[meant]);
}

enum status json_fields(const struct json *object, const struct json_field *fields,
                        size_t field_count, enum json_strictness strictness, struct arena *arena,
                        struct error *err)
{
    TRY(json_expect(object, JSON_OBJECT, err));
    const cJSON *item = object->node;
    for (const cJSON *c = item->child; c && strictness == JSON_STRICT; c = c->next) {
        size_t i = 0;
        while (i < field_count && strcmp(fields[i].key, c->string)) i++;
        if (i == field_count) return refuse_key(object, c->string, fields, field_count, arena, err);
    }
    for (size_t i = 0; i < field_count; i++) {
        const cJSON *c = cJSON_GetObjectItemCaseSensitive(item, fields[i].key);
        if (c && strictness == JSON_LENIENT && cJSON_IsNull(c)) c = NULL;
        if (!c && fields[i].need == REQUIRED)
            return json_refuse(object, err, "key \"%s\" is missing", fields[i].key);
        if (!c) {
            place_absent(object, &fields[i], arena);
            continue;
        }
        struct json value = member_at(object, c, fields[i].key, arena);
        TRY(read_field(&value, &fields[i], arena, err));
    }
    return OK;
}

int json_length(const struct json *array)
{
    if (array->cursor) return array->cursor->count;
    return array->node ? cJSON_GetArraySize(array->node) : 0;
}

bool json_has(const struct json *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object->node, key) != NULL;
}

bool json_is_present(const struct json *value) { return value->node != NULL; }

struct json json_member(const struct json *object, const char *key, struct arena *arena)
{
    return member_at(object, cJSON_GetObjectItemCaseSensitive(object->node, key), key, arena);
}

struct json json_element(const struct json *array, int index, struct arena *arena)
{
    struct json_cursor *c = array->cursor;
    assert(index >= 0 && index < c->count);
    if (index < c->index) c->at = array->node->child, c->index = 0;
    for (; c->index < index; c->index++) c->at = c->at->next;
    return value_at(c->at, array->file, child_path(arena, array->path, NULL, index), arena);
}

enum status json_members(const struct json *object, const char *const **keys, struct json **values,
                         int *count, struct arena *arena, struct error *err)
{
    TRY(json_expect(object, JSON_OBJECT, err));
    *count = json_length(object);
    const char **names = TAKE(arena, *count, const char *);
    *values = TAKE(arena, *count, struct json);
    int i = 0;
    for (const cJSON *c = object->node->child; c; c = c->next, i++) {
        TRY(expect_plain(object, c->string, err));
        names[i] = arena_copy_text(arena, c->string);
        (*values)[i] = member_at(object, c, c->string, arena);
    }
    *keys = names;
    return OK;
}

static enum status read_numbers(const struct json *array, bool whole, double low, double high,
                                void *values, struct arena *arena, struct error *err)
{
    int i = 0;
    const cJSON *c;
    cJSON_ArrayForEach(c, array->node)
    {
        double x = cJSON_IsNumber(c) ? c->valuedouble : NAN;
        struct json element = {c, array->file, array->path, NULL};
        if (!isfinite(x) || x < low || x > high) element = json_element(array, i, arena);
        TRY(read_number(&element, whole, low, high, &x, err));
        if (whole) ((int64_t *)values)[i++] = (int64_t)x;
        else ((double *)values)[i++] = x;
    }
    return OK;
}

enum status json_numbers(const struct json *array, double low, double high, double **values,
                         int *count, struct arena *arena, struct error *err)
{
    *count = json_length(array);
    *values = TAKE(arena, *count, double);
    return read_numbers(array, false, low, high, *values, arena, err);
}

enum status json_cells(const struct json *array, double **values, int *count, struct arena *arena,
                       struct error *err)
{
    int i = 0;
    const cJSON *c;
    *count = json_length(array);
    *values = TAKE(arena, *count, double);
    cJSON_ArrayForEach(c, array->node)
    {
        bool known = cJSON_IsNumber(c) && isfinite(c->valuedouble);
        if (!known && !cJSON_IsNull(c)) {
            struct json element = json_element(array, i, arena);
            return expected(&element, "a finite number, or null", err);
        }
        (*values)[i++] = known ? c->valuedouble : NAN;
    }
    return OK;
}

enum status json_counts(const struct json *array, double low, double high, int64_t **values,
                        int *count, struct arena *arena, struct error *err)
{
    *count = json_length(array);
    *values = TAKE(arena, *count, int64_t);
    return read_numbers(array, true, low, high, *values, arena, err);
}

enum status json_ints(const struct json *array, double low, double high, int **values, int *count,
                      struct arena *arena, struct error *err)
{
    int64_t *whole;
    TRY(json_counts(array, low, high, &whole, count, arena, err));
    *values = TAKE(arena, *count, int);
    for (int i = 0; i < *count; i++) (*values)[i] = (int)whole[i];
    return OK;
}

enum status json_texts(const struct json *array, const char ***values, int *count,
                       struct arena *arena, struct error *err)
{
    *count = json_length(array);
    *values = TAKE(arena, *count, const char *);
    for (int i = 0; i < *count; i++) {
        struct json element = json_element(array, i, arena);
        TRY(json_expect(&element, JSON_TEXT, err));
        (*values)[i] = arena_copy_text(arena, element.node->valuestring);
    }
    return OK;
}

// ---- writing

size_t json_quote(const char *text, char *to, size_t room)
{
    cJSON item = {.type = cJSON_String, .valuestring = (char *)text};
    bool fits = cJSON_PrintPreallocated(&item, to, (int)room, false);
    assert(fits);
    return strlen(to);
}

static void put_node(struct json_writer *w, const char *key, const cJSON *node)
{
    bool is_object = cJSON_IsObject(node);
    if (cJSON_IsNumber(node)) json_put_number(w, key, node->valuedouble);
    else if (cJSON_IsString(node)) json_put_text(w, key, node->valuestring);
    else if (cJSON_IsNull(node)) json_put_null(w, key);
    else if (cJSON_IsBool(node)) json_put_bool(w, key, cJSON_IsTrue(node));
    else {
        if (is_object) json_open_object(w, key);
        else json_open_array(w, key);
        for (const cJSON *c = node->child; c; c = c->next) put_node(w, c->string, c);
        if (is_object) json_close_object(w);
        else json_close_array(w);
    }
}

void json_put_value(struct json_writer *w, const char *key, const struct json *value)
{
    put_node(w, key, value->node);
}

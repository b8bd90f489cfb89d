// Reads, writes and checks structures by tables of their members.
#include "data/text/members.h"

#include <assert.h>
#include <string.h>

static const void *place_in(const struct member *m, const void *whole)
{
    const char *at = (const char *)whole + m->at;
    return m->pointed ? *(const char *const *)at + m->inside : at;
}

static void *place_of(const struct member *m, void *whole) { return (void *)place_in(m, whole); }

// ---- reading

static enum status read_names(const struct json *array, const char *const *names, int **to,
                              struct arena *arena, struct error *err)
{
    int count = json_length(array);
    *to = TAKE(arena, count, int);
    for (int i = 0; i < count; i++) {
        struct json element = json_element(array, i, arena);
        TRY(json_name(&element, names, &(*to)[i], err));
    }
    return OK;
}

static enum status read_numbers(const struct json *array, const struct member *m, void *to,
                                struct arena *arena, struct error *err)
{
    int count;
    if (m->element == JSON_NUMBER)
        return json_numbers(array, m->low, m->high, (double **)to, &count, arena, err);
    if (m->element == JSON_NAME) return read_names(array, m->names, to, arena, err);
    if (m->element == JSON_TEXT) return json_texts(array, to, &count, arena, err);
    if (m->element == JSON_COUNT)
        return json_counts(array, m->low, m->high, (int64_t **)to, &count, arena, err);
    return json_ints(array, m->low, m->high, (int **)to, &count, arena, err);
}

static enum status read_list(const struct json *array, const struct member *m, void *whole,
                             const void *context, struct arena *arena, struct error *err)
{
    int count = json_length(array);
    if (m->element == JSON_FLAG)
        return set_get(array, m->names, (bool *)((char *)whole + m->at), arena, err);
    if (m->element == JSON_TEXT && json_is_present(array) && count < m->low)
        return json_refuse(array, err, "expected %.0f to %d names, found %d", m->low, m->most,
                           count);
    if (count > m->most)
        return json_refuse(array, err, "expected at most %d %s, found %d", m->most,
                           m->of ? m->key : "values", count);
    *(int *)((char *)whole + m->count_at) = count;
    if (!m->of) return read_numbers(array, m, (char *)whole + m->at, arena, err);
    void *elements = *(void **)((char *)whole + m->at) =
        TAKE(arena, (size_t)count * m->of->size, char);
    return members_read_each(array, m->of, elements, context, arena, err);
}

static enum status read_object(const struct json *object, const struct members *m,
                               const struct member *range, void *to, const void *context,
                               struct arena *arena, struct error *err);

static enum status read_part(const struct json *value, const struct member *m, void *whole,
                             const void *context, struct arena *arena, struct error *err)
{
    void *to = place_of(m, whole);
    if (m->get) return m->get(value, to, context, arena, err);
    if (m->type != JSON_OBJECT && m->type != JSON_ARRAY) return OK;
    if (m->type == JSON_ARRAY) return read_list(value, m, whole, context, arena, err);
    if (json_is_present(value)) return read_object(value, m->of, m, to, context, arena, err);
    if (m->of->initial) memcpy(to, m->of->initial, m->of->size);
    return OK;
}

// Fields for all members; objects and arrays go to `parts`.
static void fields_of(const struct members *m, const struct member *range, void *to,
                      struct json_field *fields, struct json *parts)
{
    assert(m->count <= MEMBERS_MAX);
    if (m->initial) memcpy(to, m->initial, m->size);
    memset(parts, 0, m->count * sizeof *parts);
    for (size_t i = 0; i < m->count; i++) {
        const struct member *row = &m->rows[i];
        bool part = row->type == JSON_OBJECT || row->type == JSON_ARRAY || row->type == JSON_VALUE;
        fields[i] = (struct json_field){
            row->key, row->type, row->need, part ? (void *)&parts[i] : place_of(row, to),
            row->low, row->high, row->names};
    }
    if (range && range->high > range->low) fields->low = range->low, fields->high = range->high;
}

static enum status read_parts(const struct json *object, const struct members *m, void *to,
                              const struct json *parts, const void *context, struct arena *arena,
                              struct error *err)
{
    for (size_t i = 0; i < m->count; i++)
        TRY(read_part(&parts[i], &m->rows[i], to, context, arena, err));
    return m->finish ? m->finish(object, to, context, arena, err) : OK;
}

static enum status read_object(const struct json *object, const struct members *m,
                               const struct member *range, void *to, const void *context,
                               struct arena *arena, struct error *err)
{
    struct json_field fields[MEMBERS_MAX];
    struct json parts[MEMBERS_MAX];
    fields_of(m, range, to, fields, parts);
    TRY(json_fields(object, fields, m->count, JSON_STRICT, arena, err));
    return read_parts(object, m, to, parts, context, arena, err);
}

enum status members_read(const struct json *object, const struct members *m, void *to,
                         const void *context, struct arena *arena, struct error *err)
{
    return read_object(object, m, NULL, to, context, arena, err);
}

enum status members_read_each(const struct json *array, const struct members *m, void *to,
                              const void *context, struct arena *arena, struct error *err)
{
    for (int i = 0; i < json_length(array); i++) {
        struct json element = json_element(array, i, arena);
        TRY(members_read(&element, m, (char *)to + (size_t)i * m->size, context, arena, err));
    }
    return OK;
}

enum status document_load(struct document *d, const char *path, const char *kind,
                          const struct members *m, void *to, const void *context,
                          struct arena *arena, struct error *err)
{
    struct json_field fields[MEMBERS_MAX];
    struct json parts[MEMBERS_MAX];
    TRY(document_read(d, path, kind, arena, err));
    fields_of(m, NULL, to, fields, parts);
    TRY(document_fields(d, fields, m->count, arena, err));
    return read_parts(&d->root, m, to, parts, context, arena, err);
}

enum status document_save(const struct document *d, const char *kind, const struct members *m,
                          const void *from, const void *context, const char *path,
                          struct arena *arena, struct error *err)
{
    struct json_writer w;
    document_begin(&w, kind, d->sources, d->source_count, arena);
    members_put(&w, m, from, context);
    return document_write(&w, path, err);
}

// ---- values of members

static bool any_is_set(const struct members *m, const void *from);

static bool any_of(const char *const *names, const bool *set)
{
    for (int i = 0; names[i]; i++)
        if (set[i]) return true;
    return false;
}

// Numbers as they are; for others, whether there is a value.
static double value_of(const struct member *m, const void *whole)
{
    const void *at = place_in(m, whole);
    switch (m->type) {
    case JSON_INT:
    case JSON_NAME:
    case JSON_FLAG: return *(const int *)at;
    case JSON_COUNT: return (double)*(const int64_t *)at;
    case JSON_NUMBER: return *(const double *)at;
    case JSON_BOOL:
    case JSON_UNLESS: return *(const bool *)at;
    case JSON_TEXT: return *(const char *const *)at != NULL;
    case JSON_OBJECT: return m->of ? any_is_set(m->of, at) : 1;
    case JSON_ARRAY:
        if (m->element == JSON_FLAG) return any_of(m->names, at);
        return m->get ? 1 : *(const int *)((const char *)whole + m->count_at);
    case JSON_VALUE:
    case JSON_SKIP: break;
    }
    return 1;
}

static bool any_is_set(const struct members *m, const void *from)
{
    for (size_t i = 0; i < m->count; i++)
        if (value_of(&m->rows[i], from) > 0) return true;
    return false;
}

// ---- writing

static void put_list(struct json_writer *w, const struct member *m, const void *whole,
                     const void *context)
{
    if (m->element == JSON_FLAG) {
        set_put(w, m->key, m->names, place_in(m, whole));
        return;
    }
    const void *elements = *(const void *const *)((const char *)whole + m->at);
    int count = *(const int *)((const char *)whole + m->count_at);
    if (m->of) {
        members_write_each(w, m->key, m->of, elements, count, context);
        return;
    }
    json_open_flat_array(w, m->key);
    for (int i = 0; i < count; i++) switch (m->element) {
        case JSON_INT: json_put_count(w, NULL, ((const int *)elements)[i]); break;
        case JSON_COUNT: json_put_count(w, NULL, ((const int64_t *)elements)[i]); break;
        case JSON_NAME: json_put_text(w, NULL, m->names[((const int *)elements)[i]]); break;
        case JSON_TEXT: json_put_text(w, NULL, ((const char *const *)elements)[i]); break;
        default: json_put_number(w, NULL, ((const double *)elements)[i]);
        }
    json_close_array(w);
}

static void put_member(struct json_writer *w, const struct member *m, const void *whole,
                       const void *context)
{
    const void *from = place_in(m, whole);
    switch (m->type) {
    case JSON_TEXT:
        if (*(const char *const *)from) json_put_text(w, m->key, *(const char *const *)from);
        return;
    case JSON_INT: json_put_count(w, m->key, *(const int *)from); return;
    case JSON_COUNT: json_put_count(w, m->key, *(const int64_t *)from); return;
    case JSON_NUMBER: json_put_number(w, m->key, *(const double *)from); return;
    case JSON_BOOL: json_put_bool(w, m->key, *(const bool *)from); return;
    case JSON_FLAG: json_put_bool(w, m->key, *(const int *)from); return;
    case JSON_UNLESS: json_put_bool(w, m->key, !*(const bool *)from); return;
    case JSON_NAME: json_put_text(w, m->key, m->names[*(const int *)from]); return;
    case JSON_OBJECT: members_write(w, m->key, m->of, from, context); return;
    case JSON_ARRAY: put_list(w, m, whole, context); return;
    case JSON_VALUE:
    case JSON_SKIP: return;
    }
}

void members_put(struct json_writer *w, const struct members *m, const void *from,
                 const void *context)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct member *row = &m->rows[i];
        if (row->put) row->put(w, row->key, place_in(row, from), context);
        else if (value_of(row, from) > row->above) put_member(w, row, from, context);
    }
}

void members_write(struct json_writer *w, const char *key, const struct members *m,
                   const void *from, const void *context)
{
    if (m->flat) json_open_flat_object(w, key);
    else json_open_object(w, key);
    members_put(w, m, from, context);
    json_close_object(w);
}

void members_write_each(struct json_writer *w, const char *key, const struct members *m,
                        const void *from, int count, const void *context)
{
    json_open_array(w, key);
    for (int i = 0; i < count; i++)
        members_write(w, NULL, m, (const char *)from + (size_t)i * m->size, context);
    json_close_array(w);
}

// ---- checking

enum status members_check(const struct members *m, const void *of, const char *where,
                          struct error *err)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct member *row = &m->rows[i];
        bool whole = row->type == JSON_INT || row->type == JSON_COUNT;
        if (!whole && row->type != JSON_NUMBER) continue;
        double value = value_of(row, of);
        if ((value >= row->low && value <= row->high) ||
            !(value < row->above || value > row->above))
            continue;
        return refuse(err, "%s%s: expected a %snumber from %.17g to %.17g, found %.17g", where,
                      row->key, whole ? "whole " : "", row->low, row->high, value);
    }
    return OK;
}

// ---- sets of names

void set_put(struct json_writer *w, const char *key, const char *const *names, const bool *set)
{
    json_open_flat_array(w, key);
    for (int i = 0; names[i]; i++)
        if (set[i]) json_put_text(w, NULL, names[i]);
    json_close_array(w);
}

// "a", "b" or "c".
enum status set_get(const struct json *array, const char *const *names, bool *set,
                    struct arena *arena, struct error *err)
{
    for (int i = 0, at; i < json_length(array); i++) {
        struct json element = json_element(array, i, arena);
        TRY(json_name(&element, names, &at, err));
        if (set[at]) return json_refuse(&element, err, "\"%s\" appears twice", names[at]);
        set[at] = true;
    }
    return OK;
}

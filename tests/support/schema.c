// Writes JSON schemas from tables of members.
#include "tests/support/schema.h"

#include <limits.h>
#include <string.h>

#include "data/hardware/designs.h"
#include "data/inputs/job_fields.h"
#include "data/inputs/problem.h"
#include "data/numbers/samples.h"
#include "data/inputs/space.h"
#include "data/priced/priced.h"
#include "data/results/checked.h"
#include "data/results/layouts.h"
#include "data/results/plan_run.h"
#include "data/results/verdict.h"
#include "data/kinds/schedules.h"
#include "data/text/json.h"
#include "solve/batch/batch.h"

const struct schema schemas[] = {
    {"budget", &budget_members, true},   {"checked", &checked_members, false},
    {"cluster", &cluster_members, true}, {"costs", &costs_members, true},
    {"designs", &designs_members, true}, {"job", &job_members, true},
    {"layout", &layout_members, true},   {"layouts", &layouts_members, false},
    {"model", &model_members, true},     {"plan", &plan_members, false},
    {"priced", &priced_members, false},  {"problem", &problem_members, true},
    {"rule", &rule_members, true},       {"run", &plan_run_members, false},
    {"samples", &samples_members, true}, {"space", &space_members, true},
    {"status", &result_members, false},  {"verdict", &verdict_members, false},
};
const int schema_count = ARRAY_LENGTH(schemas);

// The state of writing a schema; the existing schema is the other source.
struct pen {
    const struct schema *schema;
    struct json definitions;
    struct arena *arena;
    const char *missing;
};

static bool find(const struct json *object, const char *key, struct json *value,
                 struct arena *arena)
{
    const char *const *keys;
    struct json *values;
    int count;
    struct error err = {OK, ""};
    if (!json_is_present(object) || json_members(object, &keys, &values, &count, arena, &err) != OK)
        return false;
    for (int i = 0; i < count; i++)
        if (!strcmp(keys[i], key)) return *value = values[i], true;
    return false;
}

static struct json child(const struct json *object, const char *key, struct arena *arena)
{
    struct json value = {0};
    find(object, key, &value, arena);
    return value;
}

// Copies from the existing schema what no table states.
static void put_rest(struct json_writer *w, const struct json *now, const char *const *but,
                     struct arena *arena)
{
    const char *const *keys;
    struct json *values;
    int count;
    struct error err = {OK, ""};
    if (!json_is_present(now) || json_members(now, &keys, &values, &count, arena, &err) != OK)
        return;
    for (int i = 0; i < count; i++) {
        int k = 0;
        while (but[k] && strcmp(but[k], keys[i])) k++;
        if (!but[k]) json_put_value(w, keys[i], &values[i]);
    }
}

// ---- numbers

static void put_range(struct json_writer *w, bool whole, double low, double high)
{
    json_put_text(w, "type", whole ? "integer" : "number");
    if (low > -HUGE_VAL) json_put_number(w, "minimum", low);
    if (high < HUGE_VAL) json_put_number(w, "maximum", high);
}

static void put_number(struct json_writer *w, const struct member *row, const char *path,
                       const struct pen *pen)
{
    static const char *const patterns[] = {[KEY_BYTES] = "([kKMGTP]i?)?B$",
                                           [KEY_BYTES_PER_S] = "([kKMGTP]i?)?(B|b|bit)(/s|ps)$",
                                           [KEY_FLOP_PER_S] = "[kKMGTP]?(FLOP/s|FLOPs/s|FLOPS)$",
                                           [KEY_SECONDS] = "(s|ms|us|µs|μs|ns)$"};
    enum key_unit unit = pen->schema->units ? unit_of_path(path) : KEY_UNITLESS;
    bool whole = row->type != JSON_NUMBER;
    if (!unit) {
        put_range(w, whole, row->low, row->high);
        return;
    }
    json_open_array(w, "anyOf");
    json_open_object(w, NULL);
    put_range(w, whole, row->low, row->high);
    json_close_object(w);
    json_open_object(w, NULL);
    json_put_text(w, "type", "string");
    json_put_text(w, "pattern", arena_print(pen->arena, "^[0-9]+(\\.[0-9]*)? *%s", patterns[unit]));
    json_close_object(w);
    json_close_array(w);
}

static void put_names(struct json_writer *w, const char *const *names)
{
    json_open_array(w, "enum");
    for (int i = 0; names[i]; i++) json_put_text(w, NULL, names[i]);
    json_close_array(w);
}

// ---- objects

static void put_row(struct json_writer *w, const char *key, const struct member *row,
                    const char *path, const struct json *now, struct pen *pen);

static void put_members(struct json_writer *w, const struct members *m, const struct member *range,
                        const char *path, const struct json *now, struct pen *pen)
{
    struct json properties = child(now, "properties", pen->arena);
    for (size_t i = 0; i < m->count; i++) {
        struct member row = m->rows[i];
        if (!i && range && range->high > range->low) row.low = range->low, row.high = range->high;
        struct json one = child(&properties, row.key, pen->arena);
        put_row(w, row.key, &row, arena_print(pen->arena, "%s.%s", path, row.key), &one, pen);
    }
}

static void put_required(struct json_writer *w, const struct members *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->rows[i].need == REQUIRED) json_put_text(w, NULL, m->rows[i].key);
}

static void put_object(struct json_writer *w, const struct members *m, const struct member *range,
                       const char *path, const struct json *now, struct pen *pen)
{
    json_put_text(w, "type", "object");
    json_put_bool(w, "additionalProperties", false);
    json_open_array(w, "required");
    put_required(w, m);
    json_close_array(w);
    json_open_object(w, "properties");
    put_members(w, m, range, path, now, pen);
    json_close_object(w);
}

static void put_array(struct json_writer *w, const struct member *row, const char *path,
                      const struct json *now, struct pen *pen)
{
    struct json items = child(now, "items", pen->arena);
    struct member element = *row;
    element.type = row->of ? JSON_OBJECT : row->element == JSON_FLAG ? JSON_NAME : row->element;
    element.get = NULL;
    json_put_text(w, "type", "array");
    put_row(w, "items", &element, arena_print(pen->arena, "%s[]", path), &items, pen);
    if (row->most < INT_MAX) json_put_count(w, "maxItems", row->most);
}

// ---- one key

static void put_whole(struct json_writer *w, const char *key, const struct member *row,
                      const char *path, const struct json *now, struct pen *pen)
{
    static const char *const said[] = {"type",     "minimum",
                                       "maximum",  "enum",
                                       "items",    "$ref",
                                       "anyOf",    "properties",
                                       "required", "additionalProperties",
                                       NULL},
                             *const said_of_arrays[] = {"type", "items", "maxItems", "$ref", NULL};
    json_open_object(w, key);
    switch (row->type) {
    case JSON_TEXT: json_put_text(w, "type", "string"); break;
    case JSON_INT:
    case JSON_COUNT:
    case JSON_NUMBER: put_number(w, row, path, pen); break;
    case JSON_NAME: put_names(w, row->names); break;
    case JSON_OBJECT: put_object(w, row->of, row, path, now, pen); break;
    case JSON_ARRAY: put_array(w, row, path, now, pen); break;
    default: json_put_text(w, "type", "boolean");
    }
    put_rest(w, now, row->type == JSON_ARRAY && row->most < INT_MAX ? said_of_arrays : said,
             pen->arena);
    json_close_object(w);
}

static const char *text_of(struct json_writer *w)
{
    size_t length;
    return json_end(w, &length);
}

// The equivalent definition; NULL: none.
static const char *find_definition(const struct member *row, const char *path, struct pen *pen)
{
    const char *const *keys;
    struct json *values;
    int count;
    struct error err = {OK, ""};
    struct pen trial = *pen; // keys missing in another definition do not count as missing
    if (!json_is_present(&pen->definitions) ||
        json_members(&pen->definitions, &keys, &values, &count, pen->arena, &err) != OK)
        return NULL;
    for (int i = 0; i < count; i++) {
        struct json_writer as_is, made;
        json_begin(&as_is, pen->arena);
        json_put_value(&as_is, NULL, &values[i]);
        json_begin(&made, pen->arena);
        put_whole(&made, NULL, row, path, &values[i], &trial);
        if (!strcmp(text_of(&as_is), text_of(&made))) return keys[i];
    }
    return NULL;
}

static void put_reference(struct json_writer *w, const char *key, const char *to)
{
    json_open_object(w, key);
    json_put_text(w, "$ref", to);
    json_close_object(w);
}

static const char *own_document(const struct member *row)
{
    if (row->type == JSON_NAME && row->names == schedule_names) return "schedule";
    if (row->type == JSON_NAME && row->names == recompute_names) return "recompute";
    if (row->type == JSON_NAME && row->names == recompute_setting_names) return "recompute_setting";
    for (int i = 0; i < schema_count; i++)
        if (row->type == JSON_OBJECT && row->of == schemas[i].of) return schemas[i].name;
    return NULL;
}

static void put_row(struct json_writer *w, const char *key, const struct member *row,
                    const char *path, const struct json *now, struct pen *pen)
{
    bool numbers = row->type == JSON_INT || row->type == JSON_COUNT || row->type == JSON_NUMBER,
         by_hand =
             row->type == JSON_SKIP || row->type == JSON_VALUE || (row->get && !row->of) ||
             ((numbers || row->type == JSON_TEXT) && json_is_present(now) && json_has(now, "enum"));
    struct json to = child(now, "$ref", pen->arena), now_or_it = *now;
    const char *text = json_is_present(&to) ? json_text(&to, pen->arena) : "", *other;
    if (by_hand) {
        if (!json_is_present(now)) pen->missing = path + 1;
        else json_put_value(w, key, now);
        return;
    }
    if ((other = own_document(row))) {
        put_reference(w, key, arena_print(pen->arena, "%s.schema.json", other));
        return;
    }
    if ((*text == '#' || !json_is_present(now)) && (other = find_definition(row, path, pen))) {
        put_reference(w, key, arena_print(pen->arena, "#/$defs/%s", other));
        return;
    }
    if (*text == '#') now_or_it = child(&pen->definitions, strrchr(text, '/') + 1, pen->arena);
    put_whole(w, key, row, path, &now_or_it, pen);
}

// ---- documents

static void put_root(struct json_writer *w, const struct json *now, struct pen *pen)
{
    static const char *const envelope[] = {"kind", "version", "made_by", "made_from"},
                             *const said[] = {"$schema",  "title",      "type",
                                              "required", "properties", "additionalProperties",
                                              NULL};
    struct json properties = child(now, "properties", pen->arena),
                required = child(now, "required", pen->arena), value;
    json_open_object(w, NULL);
    value = child(now, "$schema", pen->arena), json_put_value(w, "$schema", &value);
    value = child(now, "title", pen->arena), json_put_value(w, "title", &value);
    json_put_text(w, "type", "object");
    json_put_bool(w, "additionalProperties", false);
    json_open_array(w, "required");
    for (size_t i = 0; i < ARRAY_LENGTH(envelope); i++)
        for (int k = 0; k < json_length(&required); k++) {
            value = json_element(&required, k, pen->arena);
            if (!strcmp(json_text(&value, pen->arena), envelope[i]))
                json_put_text(w, NULL, envelope[i]);
        }
    put_required(w, pen->schema->of);
    json_close_array(w);
    json_open_object(w, "properties");
    for (size_t i = 0; i < ARRAY_LENGTH(envelope); i++)
        if (find(&properties, envelope[i], &value, pen->arena))
            json_put_value(w, envelope[i], &value);
    put_members(w, pen->schema->of, NULL, "", now, pen);
    json_close_object(w);
    put_rest(w, now, said, pen->arena);
    json_close_object(w);
}

const char *schema_text(const struct schema *s, const char **missing, struct arena *arena,
                        struct error *err)
{
    const char *path = arena_print(arena, "docs/schemas/%s.schema.json", s->name), *text;
    size_t size;
    struct json now;
    struct json_writer w;
    if (file_read(path, &text, &size, arena, err) != OK ||
        json_parse(&now, path, text, size, arena, err) != OK)
        return NULL;
    struct pen pen = {s, child(&now, "$defs", arena), arena, NULL};
    json_begin(&w, arena);
    put_root(&w, &now, &pen);
    *missing = pen.missing;
    return text_of(&w);
}

const char *schema_of_names(const char *title, const char *const *names, struct arena *arena)
{
    struct json_writer w;
    json_begin(&w, arena);
    json_open_object(&w, NULL);
    json_put_text(&w, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_put_text(&w, "title", title);
    put_names(&w, names);
    json_close_object(&w);
    return text_of(&w);
}

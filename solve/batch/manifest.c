// Manifests: lines of JSON, each an instance or a sweep.
#include <string.h>

#include "data/base/file.h"
#include "data/base/grow.h"
#include "solve/batch/batch.h"

// ---- lines

// "key": value, or "key": [value, value, ...].
static enum status read_axis(struct axis *axis, const char *key, const struct json *value,
                             struct arena *arena, struct error *err)
{
    struct error unread = {OK, ""};
    bool many = json_expect(value, JSON_ARRAY, &unread) == OK;
    axis->key = key;
    axis->count = many ? json_length(value) : 1;
    axis->values = TAKE(arena, axis->count, struct json);
    for (int i = 0; i < axis->count; i++)
        axis->values[i] = many ? json_element(value, i, arena) : *value;
    return axis->count ? OK : json_refuse(value, err, "expected at least one value, found none");
}

static enum status read_axes(struct line *l, const struct json *object, bool options,
                             struct arena *arena, struct error *err)
{
    const char *const *keys;
    struct json *values;
    int count;
    if (!json_is_present(object)) return OK;
    TRY(json_members(object, &keys, &values, &count, arena, err));
    l->axes = arena_grow(arena, l->axes, (size_t)l->axis_count, (size_t)(l->axis_count + count + 1),
                         sizeof *l->axes);
    for (int i = 0; i < count; i++) {
        struct axis *axis = &l->axes[l->axis_count++];
        TRY(read_axis(axis, keys[i], &values[i], arena, err));
        axis->is_option = options;
    }
    return OK;
}

static enum status read_line(struct line *l, const char *text, size_t size, struct arena *arena,
                             struct error *err)
{
    struct json root, problem = {0}, sweep = {0}, options = {0};
    TRY(json_parse(&root, l->file, text, size, arena, err));
    struct json_field fields[] = {
        FIELD_TEXT("name", OPTIONAL, &l->name),
        {"problem", JSON_SKIP, OPTIONAL, NULL, 0, 0, NULL},
        FIELD_OBJECT("sweep", OPTIONAL, &sweep),
        FIELD_OBJECT("options", OPTIONAL, &options),
    };
    TRY(JSON_FIELDS(&root, fields, arena, err));
    const char *const *keys;
    struct json *values;
    int count;
    TRY(json_members(&root, &keys, &values, &count, arena, err));
    for (int i = 0; i < count; i++)
        if (!strcmp(keys[i], "problem")) problem = values[i];
    if (json_is_present(&problem) == json_is_present(&sweep))
        return json_refuse(&root, err, "expected one of \"problem\" and \"sweep\"");
    if (json_is_present(&problem)) {
        l->axes = TAKE(arena, 1, struct axis);
        TRY(read_axis(&l->axes[l->axis_count++], "problem", &problem, arena, err));
    }
    TRY(read_axes(l, &sweep, false, arena, err));
    return read_axes(l, &options, true, arena, err);
}

// ---- points of a sweep

const struct json *point_value(const struct point *c, const char *key)
{
    for (int i = 0; i < c->line->axis_count; i++)
        if (!c->line->axes[i].is_option && !strcmp(c->line->axes[i].key, key))
            return &c->line->axes[i].values[c->at[i]];
    return NULL;
}

// A single line, without the quotes of a text.
const char *value_text(const struct json *value, struct arena *arena)
{
    struct error unread = {OK, ""};
    struct json_writer w;
    size_t length;
    if (json_expect(value, JSON_TEXT, &unread) == OK) return json_text(value, arena);
    json_begin(&w, arena);
    json_open_flat_array(&w, NULL);
    json_put_value(&w, NULL, value);
    json_close_array(&w);
    const char *text = json_end(&w, &length);
    return arena_print(arena, "%.*s", (int)length - 3, text + 1);
}

static void set_keys(struct instance *i, const struct point *c, struct arena *arena)
{
    const struct line *l = c->line;
    i->keys = TAKE(arena, l->axis_count + 1, struct batch_key);
    if (l->name) i->keys[i->key_count++] = (struct batch_key){"name", l->name};
    for (int k = 0; k < l->axis_count; k++)
        i->keys[i->key_count++] =
            (struct batch_key){l->axes[k].key, value_text(&l->axes[k].values[c->at[k]], arena)};
}

// The same search for a part of the space, with files of its own.
static struct instance part_of(const struct instance *whole, int part, struct arena *arena)
{
    struct instance i = *whole;
    char hash[SHA256_TEXT];
    const char *text = arena_print(arena, "%s part %d", whole->id, part);
    sha256_text(text, strlen(text), hash);
    snprintf(i.id, sizeof i.id, "%.16s", hash);
    memcpy(i.whole, whole->id, sizeof i.whole);
    i.part = part;
    return i;
}

static enum status add_point(struct batch *b, const struct point *c, struct arena *arena,
                             struct error *err)
{
    struct instance i = {.threads = 1};
    set_keys(&i, c, arena);
    TRY(point_options(&i, c, arena, err));
    TRY(point_place(b, &i, c, err));
    TRY(point_suits(&i, c, batch_path(b, i.id, "problem.json", c->scratch), arena, err));
    if (batch_find(b, i.id)) return OK; // duplicate
    if (i.parts) i.estimate /= i.parts;
    for (int part = 0; part <= i.parts; part++) {
        struct instance one = part ? part_of(&i, part, c->scratch) : i;
        if (part) TRY(file_make_folder(batch_path(b, one.id, "", c->scratch), err));
        *GROWN(arena, b->items, b->count, b->capacity, 64) = one;
    }
    return OK;
}

static bool next_point(struct point *c)
{
    for (int i = c->line->axis_count - 1; i >= 0; i--) {
        if (++c->at[i] < c->line->axes[i].count) return true;
        c->at[i] = 0;
    }
    return false;
}

static enum status check_size(const struct line *l, struct error *err)
{
    double all = 1;
    for (int i = 0; i < l->axis_count; i++) all *= l->axes[i].count;
    if (all <= INSTANCES_MAX) return OK;
    return refuse(err, "%s: expected at most %d instances, found %.0f", l->file, INSTANCES_MAX,
                  all);
}

// What does not fit is left out, unless nothing fits: then the line is wrong.
static enum status expand(struct batch *b, const struct line *l, struct arena *arena,
                          struct error *err)
{
    struct arena *scratch = arena_open_within(arena);
    const struct arena_mark mark = arena_set_mark(scratch);
    struct point c = {l, TAKE(arena, l->axis_count, int), scratch};
    struct error first = {OK, ""};
    int tried = 0, refused = 0;
    TRY(check_size(l, err));
    do {
        struct error why = {OK, ""};
        tried++;
        arena_reset(scratch, mark);
        if (add_point(b, &c, arena, &why) == OK) continue;
        if (why.status != BAD_INPUT) return fail(err, why.status, "%s: %s", l->file, why.text);
        if (!refused++) first = why;
    } while (next_point(&c));
    if (refused == tried) {
        bool says_where = !strncmp(first.text, l->file, strlen(l->file));
        return refuse(err, "%s%s%.900s", says_where ? "" : l->file, says_where ? "" : ": ",
                      first.text);
    }
    if (refused)
        fprintf(stderr, "%s: %d of %d do not fit and are left out, the first: %s\n", l->file,
                refused, tried, first.text);
    return OK;
}

enum status batch_read(struct batch *b, const char *manifest, struct arena *arena,
                       struct error *err)
{
    const char *text;
    size_t size, length;
    TRY(file_read(manifest, &text, &size, arena, err));
    TRY(file_make_folder(b->folder, err));
    for (int number = 1; *text; number++, text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        size_t blanks = strspn(text, " \t\r");
        if (blanks >= length || text[blanks] == '#') continue;
        struct line l = {.manifest = manifest,
                         .file = arena_print(arena, "%s line %d", manifest, number)};
        TRY(read_line(&l, text, length, arena, err));
        TRY(expand(b, &l, arena, err));
    }
    if (!b->count) return refuse(err, "%s: expected an instance, found none", manifest);
    return OK;
}

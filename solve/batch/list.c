// The instances of a batch as a file: a line of JSON for each.
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/base/names.h"
#include "data/inputs/space.h"
#include "solve/batch/batch.h"

const struct instance *batch_find(const struct batch *b, const char *id)
{
    for (int i = 0; i < b->count; i++)
        if (!strcmp(b->items[i].id, id)) return &b->items[i];
    return NULL;
}

const char *instance_key(const struct instance *i, const char *key)
{
    for (int k = 0; k < i->key_count; k++)
        if (!strcmp(i->keys[k].key, key)) return i->keys[k].text;
    return NULL;
}

// ---- what distinguishes them

// Whether its value differs; or, if `all` must state it, is missing somewhere.
static bool varies(const struct batch *b, const char *key, bool all)
{
    const char *first = NULL;
    for (int i = 0; i < b->count; i++) {
        const char *text = instance_key(&b->items[i], key);
        if (!text && all) return true;
        if (text && first && strcmp(text, first)) return true;
        if (text) first = text;
    }
    return false;
}

static bool is_among(const char *const *keys, int count, const char *key)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(keys[i], key)) return true;
    return false;
}

// If lines have names, a line's name stands for its problem, unless it has several problems.
static bool names_stand_for_problems(const struct batch *b)
{
    for (int i = 0; i < b->count; i++) {
        const struct instance *last = &b->items[i ? i - 1 : 0], *here = &b->items[i];
        const char *name = instance_key(here, "name"), *problem = instance_key(here, "problem"),
                   *last_name = instance_key(last, "name"),
                   *last_problem = instance_key(last, "problem");
        if (!name && problem) return false;
        if (!name || !last_name) continue;
        if (problem && last_problem && !strcmp(name, last_name) && strcmp(problem, last_problem))
            return false;
    }
    return true;
}

static void find_varying(const struct batch *b, const char *const *seen, int seen_count, bool all,
                         const char **found)
{
    bool named = names_stand_for_problems(b);
    int count = 0;
    for (int k = 0; k < seen_count; k++)
        if (varies(b, seen[k], all || !strcmp(seen[k], "name")) &&
            !(named && !strcmp(seen[k], "problem")))
            found[count++] = seen[k];
    found[count] = NULL;
}

const char *const *batch_keys(const struct batch *b, int *count, struct arena *arena)
{
    const char **seen = NULL;
    int capacity = 0;
    *count = 0;
    for (int i = 0; i < b->count; i++)
        for (int k = 0; k < b->items[i].key_count; k++) {
            if (is_among(seen, *count, b->items[i].keys[k].key)) continue;
            GROW(arena, seen, *count, capacity, 16);
            seen[(*count)++] = b->items[i].keys[k].key;
        }
    return seen;
}

// Texts stand alone; numbers and switches are shown with their key.
static const char *told(const char *key, const char *text, struct arena *arena)
{
    static const char file[] = "/problem.json", prefix[] = "job.";
    bool plain = strspn(text, "0123456789.+-e") == strlen(text) || !strcmp(text, "true") ||
                 !strcmp(text, "false");
    if (path_ends_with(text, file))
        return arena_print(arena, "%.*s", (int)(strlen(text) - strlen(file)), text);
    if (!strncmp(key, prefix, strlen(prefix))) key += strlen(prefix);
    return plain ? arena_print(arena, "%s %s", key, text) : text;
}

const char *instance_label(const struct instance *i, const char *const *varying,
                           struct arena *arena)
{
    const char *label = "", *name = instance_key(i, "name");
    for (int k = 0; varying[k]; k++) {
        const char *text = instance_key(i, varying[k]);
        if (!text) continue;
        if (!strcmp(varying[k], "name")) label = name;
        else
            label = arena_print(arena, "%s%s%s", label, *label ? ", " : "",
                                told(varying[k], text, arena));
    }
    if (!*label) label = name ? name : i->problem;
    return i->part ? arena_print(arena, "%s, part %d/%d", label, i->part, i->parts) : label;
}

static bool tells_apart(const struct batch *b, const char *const *varying, struct arena *arena)
{
    const char **labels = TAKE(arena, b->count, const char *);
    for (int i = 0; i < b->count; i++) labels[i] = instance_label(&b->items[i], varying, arena);
    qsort(labels, (size_t)b->count, sizeof *labels, compare_texts);
    for (int i = 1; i < b->count; i++)
        if (!strcmp(labels[i], labels[i - 1])) return false;
    return true;
}

const char *const *batch_varying(const struct batch *b, struct arena *arena)
{
    int seen_count;
    const char *const *seen = batch_keys(b, &seen_count, arena);
    const char **found = TAKE(arena, seen_count + 1, const char *);
    find_varying(b, seen, seen_count, false, found);
    if (!tells_apart(b, found, arena)) find_varying(b, seen, seen_count, true, found);
    return found;
}

// ---- the file

static const char *list_path(const char *folder, struct arena *arena)
{
    return arena_print(arena, "%s/instances.jsonl", folder);
}

// ---- reading

static enum status read_keys(struct instance *i, const struct json *keys, struct arena *arena,
                             struct error *err)
{
    const char *const *names;
    struct json *values;
    TRY(json_members(keys, &names, &values, &i->key_count, arena, err));
    i->keys = TAKE(arena, i->key_count, struct batch_key);
    for (int k = 0; k < i->key_count; k++) {
        const char *text;
        struct json_field field = FIELD_TEXT(names[k], REQUIRED, &text);
        TRY(json_fields(keys, &field, 1, JSON_ENVELOPE, arena, err));
        i->keys[k] = (struct batch_key){names[k], text};
    }
    return OK;
}

static enum status read_line(struct instance *i, const struct json *root, struct arena *arena,
                             struct error *err)
{
    const char *id, *whole = "";
    struct json keys, words;
    struct json_field fields[] = {
        FIELD_TEXT("id", REQUIRED, &id),
        FIELD_TEXT("problem", REQUIRED, &i->problem),
        FIELD_OBJECT("keys", REQUIRED, &keys),
        FIELD_ARRAY("options", REQUIRED, &words),
        FIELD_INT("parts", OPTIONAL, &i->parts, 0, SPACE_PARTS_MAX),
        FIELD_INT("part", OPTIONAL, &i->part, 0, SPACE_PARTS_MAX),
        FIELD_TEXT("whole", OPTIONAL, &whole),
        FIELD_BOOL("certificate", REQUIRED, &i->certified),
        FIELD_INT("threads", REQUIRED, &i->threads, 1, 1 << 10),
        FIELD_NUMBER("estimate", REQUIRED, &i->estimate, 0, 1e300),
    };
    TRY(JSON_FIELDS(root, fields, arena, err));
    if (strlen(id) != ID_SIZE - 1 || strspn(id, "0123456789abcdef") != ID_SIZE - 1)
        return json_refuse(root, err, "id: expected %d hexadecimal digits, found \"%.20s\"",
                           ID_SIZE - 1, id);
    memcpy(i->id, id, ID_SIZE);
    if (i->part > i->parts || (i->part ? strlen(whole) != ID_SIZE - 1 : *whole))
        return json_refuse(root, err, "expected part up to parts, and whole beside it");
    memcpy(i->whole, whole, strlen(whole) + 1);
    TRY(json_texts(&words, &i->words, &i->word_count, arena, err));
    return read_keys(i, &keys, arena, err);
}

static bool parts_follow(const struct batch *b, int whole)
{
    const struct instance *i = &b->items[whole];
    if (!i->parts || i->part) return true;
    for (int k = 1; k <= i->parts; k++)
        if (whole + k >= b->count || i[k].part != k || i[k].parts != i->parts ||
            strcmp(i[k].whole, i->id))
            return false;
    return true;
}

enum status batch_load(struct batch *b, const char *folder, struct arena *arena, struct error *err)
{
    const char *path = list_path(folder, arena), *text, *end;
    size_t size;
    *b = (struct batch){.folder = folder};
    TRY(file_read(path, &text, &size, arena, err));
    for (int line = 1; (end = strchr(text, '\n')); text = end + 1, line++) {
        struct json root;
        const char *file = arena_print(arena, "%s line %d", path, line);
        TRY(json_parse(&root, file, text, (size_t)(end - text), arena, err));
        GROW(arena, b->items, b->count, b->capacity, 64);
        TRY(read_line(&b->items[b->count++], &root, arena, err));
    }
    for (int i = 0; i < b->count; i++)
        if (!parts_follow(b, i))
            return refuse(err, "%s: expected the %d parts of %s after it", path, b->items[i].parts,
                          b->items[i].id);
    return OK;
}

// ---- writing

static void put_line(struct json_writer *w, const struct instance *i)
{
    json_open_flat_object(w, NULL);
    json_put_text(w, "id", i->id);
    json_put_text(w, "problem", i->problem);
    json_open_object(w, "keys");
    for (int k = 0; k < i->key_count; k++) json_put_text(w, i->keys[k].key, i->keys[k].text);
    json_close_object(w);
    json_open_array(w, "options");
    for (int k = 0; k < i->word_count; k++) json_put_text(w, NULL, i->words[k]);
    json_close_array(w);
    if (i->parts) json_put_count(w, "parts", i->parts);
    if (i->part) json_put_count(w, "part", i->part), json_put_text(w, "whole", i->whole);
    json_put_bool(w, "certificate", i->certified);
    json_put_count(w, "threads", i->threads);
    json_put_number(w, "estimate", i->estimate);
    json_close_object(w);
}

static const char *list_text(const struct batch *b, size_t *size, struct arena *arena)
{
    char *text = NULL;
    size_t capacity = 0;
    *size = 0;
    for (int i = 0; i < b->count; i++) {
        struct json_writer w;
        size_t length;
        json_begin(&w, arena);
        put_line(&w, &b->items[i]);
        const char *line = json_end(&w, &length);
        GROW_BYTES(arena, text, *size, length, capacity);
        memcpy(text + *size, line, length);
        *size += length;
    }
    return text;
}

static bool stands_there(const char *path, const char *text, size_t size, struct arena *arena)
{
    struct error unread = {OK, ""};
    const char *old;
    size_t old_size;
    return file_read(path, &old, &old_size, arena, &unread) == OK && old_size == size &&
           !memcmp(old, text, size);
}

// All that work with one list share the lock; changing the list requires it exclusively. Those
// that only write the list hold it briefly.
enum status batch_save(const struct batch *b, struct arena *arena, struct error *err)
{
    enum { TRIES = 40 };
    const char *path = list_path(b->folder, arena),
               *lock = arena_print(arena, "%s/lock", b->folder);
    size_t size;
    const char *text = list_text(b, &size, arena);
    int file = -1;
    bool same = false;
    for (int i = 0; i < TRIES && file < 0; i++) {
        if (i) signals_sleep(0.05);
        same = stands_there(path, text, size, arena);
        TRY(lock_take(&file, lock, same, err));
    }
    if (file < 0)
        return refuse(err, "%s: another batch is running here with other instances", b->folder);
    if (same) return OK;
    TRY(file_write(path, text, size, err));
    return lock_share(file, lock, err);
}

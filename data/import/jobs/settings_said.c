// What an import says of a file: one line each of what it read, what it assumes, and what changes
// nothing; keys that nobody knows, with the nearest one; refusals.
#include "data/import/jobs/settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "data/base/names.h"
#include "data/import/script/script.h"

enum { CLOSE_MOST = 300, NAMES_MOST = 4096 };

struct settings settings_empty(struct arena *arena)
{
    return (struct settings){
        .arena = arena, .said.arena = arena, .twice = "", .empty = "", .hints = "", .open = ""};
}

size_t settings_base_length(const char *key) { return strcspn(key, "["); }

static const char *dashes(const struct settings *s) { return s->flags ? "--" : ""; }

static const char *shown_key(struct settings *s, const char *key, size_t length)
{
    return arena_print(s->arena, "%s%.*s", dashes(s), (int)length, key);
}

void settings_say_read(struct settings *s, const char *key)
{
    said_read(&s->said, shown_key(s, key, settings_base_length(key)));
}

// ---- what nobody has set

void settings_say_open(struct settings *s, const struct setting *at)
{
    const char *name = script_open_name(at->text, s->arena);
    s->open = arena_print(s->arena, "%s%s%s (%s%s)", s->open, *s->open ? ", " : "",
                          name ? name : "", dashes(s), at->key);
}

enum status settings_check_open(const struct settings *s, struct error *err)
{
    if (!*s->open) return OK;
    bool gpus = strstr(s->open, "(--nproc-per-node)") || strstr(s->open, "(--nnodes)");
    return fail(err, BAD_INPUT,
                "%s: not set in the file: %.600s: give each with --set NAME=value%s",
                s->document.path, s->open, gpus ? ", the number of GPUs with --gpus" : "");
}

void settings_hint(const struct settings *s, struct error *err)
{
    size_t length = strlen(err->text);
    if (*s->hints && length + 8 < sizeof err->text)
        snprintf(err->text + length, sizeof err->text - length, "%s", s->hints);
    length = strlen(err->text);
    if (s->elsewhere && *s->elsewhere && length + 60 < sizeof err->text)
        snprintf(err->text + length, sizeof err->text - length,
                 "; what is not here may be in %s, which it reads in or runs", s->elsewhere);
}

// ---- keys that are not read

static int add_names(const char **to, int count, const char *names, struct arena *arena)
{
    for (const char *at = names; at && *at && count < NAMES_MOST; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        to[count++] = arena_print(arena, "%.*s", (int)length, at);
        at += length;
    }
    return count;
}

// All that a program knows.
static const char **names_of(struct settings *s, const struct setting_rows *rows, int *count)
{
    if (s->names) return *count = s->name_count, s->names;
    s->names = TAKE(s->arena, NAMES_MOST, const char *), *count = 0;
    for (int i = 0; i < rows->count; i++)
        if (strcmp(rows->rows[i].key, "*")) s->names[(*count)++] = rows->rows[i].key;
    for (size_t k = 0; k < ARRAY_LENGTH(rows->names); k++)
        for (const struct setting_names *n = rows->names[k]; n && n->names; n++)
            *count = add_names(s->names, *count, n->names, s->arena);
    s->name_count = *count;
    return s->names;
}

static const char *last_part(const struct setting_rows *rows, const char *key)
{
    const char *dot = rows->last_parts ? strrchr(key, '.') : NULL;
    return dot ? dot + 1 : key;
}

// Whether a key with the same last part is read: this one is in another section, then. Words like
// "name" are in many.
static bool is_read_elsewhere(const struct setting_rows *rows, const char *last)
{
    size_t length = settings_base_length(last);
    for (int i = 0; memchr(last, '_', length) && i < rows->count; i++) {
        const char *other = last_part(rows, rows->rows[i].key);
        if (rows->rows[i].kind != SETTING_LEFT && rows->rows[i].use != ONLY_WRITTEN &&
            !strncmp(other, last, length) && !other[length])
            return true;
    }
    return false;
}

static bool is_listed_name(const struct setting_rows *rows, const char *key)
{
    if (rows->last_parts && is_read_elsewhere(rows, key = last_part(rows, key))) return false;
    for (size_t k = 0; k < ARRAY_LENGTH(rows->names); k++)
        for (const struct setting_names *n = rows->names[k]; n && n->names; n++)
            if (setting_named(n->names, key, settings_base_length(key))) return true;
    return false;
}

static void say_unknown(struct settings *s, const struct setting_rows *rows,
                        const struct setting *at)
{
    int count;
    const char *last = last_part(rows, at->key),
               *key = shown_key(s, at->key, (size_t)(last - at->key) + settings_base_length(last));
    if (s->said.unknown &&
        strstr(s->said.unknown, arena_print(s->arena, " %.120s is unknown", key)))
        return;
    const char **names = names_of(s, rows, &count);
    int meant = name_meant(key + strlen(dashes(s)), names, count);
    if (meant < 0) meant = name_meant(last_part(rows, key), names, count);
    const char *line = s->flags ? "" : arena_print(s->arena, "line %d: ", at->line);
    said_unknown(&s->said, "%s: %s%.120s is unknown and left out%s%s%s%s", s->document.path, line,
                 key, meant < 0 ? "" : "; did you mean ", meant < 0 ? "" : dashes(s),
                 meant < 0 ? "" : names[meant], meant < 0 ? "" : "?");
}

// For a section without any known key, only the first name.
static const char *left_name(struct settings *s, const struct setting_rows *rows, const char *key)
{
    size_t length = strcspn(key, ".[") + 1;
    for (int i = 0; i < rows->count && key[length - 1] == '.'; i++)
        if (!strncmp(rows->rows[i].key, key, length)) return key;
    return arena_print(s->arena, "%.*s", (int)length - 1, key);
}

// For "section.*": whether another key of the section is read.
static bool is_read(const struct setting_rows *rows, const char *section)
{
    size_t length = strlen(section);
    if (length < 2 || strcmp(section + length - 2, ".*")) return false;
    for (int i = 0; i < rows->count; i++)
        if (rows->rows[i].kind != SETTING_LEFT && !strncmp(rows->rows[i].key, section, length - 1))
            return true;
    return false;
}

static void say_left(struct settings *s, const char *name)
{
    size_t length = settings_base_length(name);
    if (length > 1 && !strcmp(name + length - 2, ".*")) length -= 2;
    said_ignore(&s->said, shown_key(s, name, length));
}

// _target_, _call_ ...: how an object is constructed, not what it contains.
static bool is_python(const char *key)
{
    const char *dot = strrchr(key, '.');
    return (dot ? dot + 1 : key)[0] == '_';
}

void settings_leave(struct settings *s, const struct setting_rows *rows, const struct setting *at)
{
    int count;
    const struct setting_row *row = rows->rows, *end = row + rows->count;
    while (row < end && (!strcmp(row->key, "*") || !setting_is_known(row, at->key))) row++;
    bool any = rows->count && !strcmp(rows->rows[rows->count - 1].key, "*");
    const char **names = names_of(s, rows, &count);
    if (is_python(at->key)) return;
    if (row < end) say_left(s, is_read(rows, row->key) ? at->key : row->key);
    else if (rows->last_parts && !at->text) return;
    else if (is_listed_name(rows, at->key))
        say_left(s, rows->last_parts && any ? left_name(s, rows, at->key) : at->key);
    else if (!any || rows->names[0]) say_unknown(s, rows, at);
    else if (s->said.ignored_count < CLOSE_MOST && name_within(at->key, names, count, 2) >= 0)
        say_unknown(s, rows, at);
    else if (at->text) say_left(s, left_name(s, rows, at->key));
}

// ---- at the end

void settings_conclude(struct settings *s)
{
    if (*s->twice) said_assume(&s->said, "%s", s->twice);
    if (*s->empty) said_assume(&s->said, "not set, taken as empty: %.200s", s->empty);
    if (*s->hints) said_assume(&s->said, "%s", s->hints + 2);
}

enum status settings_refuse(const struct settings *s, const char *key, struct error *err,
                            const char *format, ...)
{
    char text[ERROR_TEXT_MAX / 2];
    const struct setting *at = setting_of(s, key);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (at && !s->flags)
        return fail(err, BAD_INPUT, "%s: line %d: %s: %s", s->document.path, at->line, key, text);
    return fail(err, BAD_INPUT, "%s: %s%s: %s", s->document.path, dashes(s), key, text);
}

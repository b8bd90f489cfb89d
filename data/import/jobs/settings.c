// See settings.h.
#include "data/import/jobs/settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/import/text.h"
#include "data/kinds/schedules.h"

const struct setting *setting_of(const struct settings *s, const char *key)
{
    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->items[i].key, key)) return &s->items[i];
    return NULL;
}

// The part after "key[N]"; NULL: the setting is in no such list.
static const char *behind_element(const struct setting *at, const char *key, int *number)
{
    size_t length = strlen(key);
    int read = 0;
    if (strncmp(at->key, key, length) || sscanf(at->key + length, "[%d]%n", number, &read) < 1)
        return NULL;
    return at->key + length + read;
}

bool setting_lists(const struct settings *s, const char *key, const char *text)
{
    int number;
    for (int i = 0; i < s->count; i++)
        if (behind_element(&s->items[i], key, &number) && s->items[i].text &&
            !strcasecmp(s->items[i].text, text))
            return true;
    return false;
}

int setting_list_length(const struct settings *s, const char *key)
{
    int most = 0, number;
    for (int i = 0; i < s->count; i++)
        if (behind_element(&s->items[i], key, &number) && number >= most) most = number + 1;
    return most;
}

// ---- messages

enum { UNKNOWN_TOLD = 20, LEFT_TOLD = 300 };

static const char *dashes(const struct settings *s) { return s->flags ? "--" : ""; }

void settings_note(struct settings *s, const char *format, ...)
{
    char text[ERROR_TEXT_MAX / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    s->notes = arena_print(s->arena, "%s%s: %s\n", s->notes, s->document.path, text);
}

void settings_tell(const struct settings *s)
{
    if (*s->left) fprintf(stderr, "%s: not part of a job, left out: %s", s->document.path, s->left);
    if (s->left_count > LEFT_TOLD) fprintf(stderr, " and %d more", s->left_count - LEFT_TOLD);
    if (*s->left) fputc('\n', stderr);
    fputs(s->notes, stderr);
    if (s->unknown > UNKNOWN_TOLD)
        fprintf(stderr, "%s: %d more keys are unknown and left out\n", s->document.path,
                s->unknown - UNKNOWN_TOLD);
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

// ---- taking

// The length of the key up to the index of a list element.
static size_t base_length(const char *key) { return strcspn(key, "["); }

static bool is_known(const struct setting_row *known, const char *key)
{
    if (!strcmp(known->key, "*")) return true;
    size_t length = strlen(known->key), base = base_length(key);
    if (length > 1 && !strcmp(known->key + length - 2, ".*"))
        return !strncmp(known->key, key, length - 1) ||
               (base == length - 2 && !strncmp(known->key, key, base));
    return base == length && !strncmp(known->key, key, length);
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

static void note_left(struct settings *s, const char *name)
{
    size_t length = base_length(name);
    if (length > 1 && !strcmp(name + length - 2, ".*")) length -= 2;
    const char *word = arena_print(s->arena, "%s%.*s", dashes(s), (int)length, name);
    length = strlen(word);
    for (const char *at = s->left; (at = strstr(at, word)); at++)
        if ((at == s->left || at[-1] == ' ') && (!at[length] || at[length] == ',')) return;
    if (s->left_count++ < LEFT_TOLD)
        s->left = arena_print(s->arena, "%s%s%s", s->left, *s->left ? ", " : "", word);
}

static const char **names_of(const struct settings *s, const struct setting_rows *rows)
{
    const char **names = TAKE(s->arena, rows->count, const char *);
    for (int i = 0; i < rows->count; i++) names[i] = rows->rows[i].key;
    return names;
}

static void note_unknown(struct settings *s, const struct setting_rows *rows,
                         const struct setting *at)
{
    const char **names = names_of(s, rows);
    const char *key =
        arena_print(s->arena, "%s%.*s", dashes(s), (int)base_length(at->key), at->key);
    if (s->unknown > UNKNOWN_TOLD && s->unknown++) return;
    if (strstr(s->notes, arena_print(s->arena, " %.120s is not known", key)) ||
        ++s->unknown > UNKNOWN_TOLD)
        return;
    int meant = name_meant(key + strlen(dashes(s)), names, rows->count);
    const char *line = s->flags ? "" : arena_print(s->arena, "line %d: ", at->line);
    settings_note(s, "%s%.120s is unknown and left out%s%s%s%s", line, key,
                  meant < 0 ? "" : "; did you mean ", meant < 0 ? "" : dashes(s),
                  meant < 0 ? "" : names[meant], meant < 0 ? "" : "?");
}

// _target_, _call_ ...: how an object is constructed, not what it contains.
static bool is_python(const char *key)
{
    const char *dot = strrchr(key, '.');
    return (dot ? dot + 1 : key)[0] == '_';
}

static void note_rest(struct settings *s, const struct setting_rows *rows, const struct setting *at)
{
    if (s->left_count < LEFT_TOLD &&
        name_within(at->key, names_of(s, rows), rows->count - 1, 2) >= 0)
        note_unknown(s, rows, at);
    else if (at->text && !is_python(at->key)) note_left(s, left_name(s, rows, at->key));
}

// 4_096, as in TOML.
static const char *without_underscores(struct settings *s, const struct setting_row *row,
                                       const char *text)
{
    if (row->kind < SETTING_INT || row->kind > SETTING_SHARE) return text;
    char *copy = arena_copy_text(s->arena, text), *to = copy;
    for (const char *from = text; *from; from++)
        if (*from != '_') *to++ = *from;
    *to = '\0';
    return copy;
}

enum { NUMBER_MOST = 1000000000 };

static bool is_whole(const struct setting_row *row, const char *text, int64_t *value)
{
    if (row->kind == SETTING_WHOLE && !strcmp(text, "-1")) return *value = -1, true;
    return word_is_whole(text, value) && *value <= NUMBER_MOST;
}

static bool is_truth(const struct settings *s, const char *text, bool *value)
{
    *value = s->flags || !strcasecmp(text, "true");
    return *value || !strcasecmp(text, "false");
}

// Whether the text is a value of this kind.
static bool set_value(const struct settings *s, const struct setting_row *row, const char *text,
                      void *to, const char **expected)
{
    int64_t whole = 0;
    int found = 0;
    bool truth;
    switch (row->kind) {
    case SETTING_FLAG:
    case SETTING_TRUE:
    case SETTING_UNLESS:
    case SETTING_SWITCH:
        *expected = "true or false";
        if (!is_truth(s, text, &truth)) return false;
        if (row->kind == SETTING_SWITCH) *(int *)to = truth;
        else *(bool *)to = truth != (row->kind == SETTING_UNLESS);
        return true;
    case SETTING_INT:
    case SETTING_COUNT:
    case SETTING_WHOLE:
        *expected = row->kind == SETTING_WHOLE ? "a whole number from -1 to 1e9"
                                               : "a whole number from 0 to 1e9";
        if (!is_whole(row, text, &whole)) return false;
        if (row->kind == SETTING_INT) *(int *)to = (int)whole;
        else *(int64_t *)to = whole;
        return true;
    case SETTING_NUMBER:
    case SETTING_ROUND:
    case SETTING_SHARE: *expected = "a number"; return word_is_number(text, to);
    case SETTING_NAMED:
        for (found = 1; found && strcasecmp(row->names[found], text);) found--;
        return *(bool *)to = found, true;
    case SETTING_NAME:
        *expected = row->names[0];
        for (int i = 1; row->names[i]; i++)
            *expected = arena_print(s->arena, "%s%s%s", *expected,
                                    row->names[i + 1] ? ", " : " or ", row->names[i]);
        while (row->names[found] && strcasecmp(row->names[found], text)) found++;
        return *(int *)to = found, row->names[found] != NULL;
    case SETTING_TEXT:
    case SETTING_RAW: *(const char **)to = text; return true;
    case SETTING_LATER:
    case SETTING_LEFT: break;
    }
    return true;
}

enum status settings_take(struct settings *s, const struct setting_rows *table, struct run *run,
                          struct error *err)
{
    struct setting_rows all = setting_rows_of(table, s->arena), *rows = &all;
    for (int i = 0; i < s->count; i++) {
        const struct setting *at = &s->items[i];
        const struct setting_row *row = rows->rows, *end = row + rows->count;
        const char *expected = "";
        while (row < end && !is_known(row, at->key)) row++;
        if (row == end) note_unknown(s, rows, at);
        else if (!strcmp(row->key, "*")) note_rest(s, rows, at);
        else if (row->kind == SETTING_LEFT || row->use == ONLY_WRITTEN)
            note_left(s, is_read(rows, row->key) ? at->key : row->key);
        else if (s->flags && !*at->text && row->kind > SETTING_SWITCH)
            return settings_refuse(s, at->key, err, "a value is missing");
        else if (at->text && strcmp(at->text, "auto") &&
                 !set_value(s, row, without_underscores(s, row, at->text), (char *)run + row->at,
                            &expected))
            return settings_refuse(s, at->key, err, "expected %s, found \"%.60s\"", expected,
                                   at->text);
    }
    return OK;
}

// ---- the job

struct job job_imported(const char *name, const struct settings *s)
{
    struct job j = {.document = s->document,
                    .name = name,
                    .gradient_bytes_per_value = 4,
                    .adam = true,
                    .budget = {-1, -1, -1, 0},
                    .memory_fraction = MEMORY_FRACTION_DEFAULT,
                    .layout = {LAYOUT_PLAIN(1), .tensor = 1, .context = 1,
                               .schedule = SCHEDULE_1F1B, .fused_attention = true}};
    j.recompute[RECOMPUTE_NONE] = true;
    return j;
}

enum status settings_divide(const char *file, const char *what, int64_t all, int64_t by, int *to,
                            struct error *err)
{
    if (by < 1 || all < by || all % by || all / by > 1 << 30)
        return fail(err, BAD_INPUT, "%s: %s: expected a multiple of %lld, found %lld", file, what,
                    (long long)by, (long long)all);
    *to = (int)(all / by);
    return OK;
}

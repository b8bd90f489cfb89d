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
        fprintf(stderr, "%s: %d more keys are not known and left out\n", s->document.path,
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
    if (at)
        return fail(err, BAD_INPUT, "%s: line %d: %s: %s", s->document.path, at->line, key, text);
    return fail(err, BAD_INPUT, "%s: %s: %s", s->document.path, key, text);
}

// ---- taking

// The length of the key up to the index of a list element.
static size_t base_length(const char *key) { return strcspn(key, "["); }

static bool is_known(const struct setting_known *known, const char *key)
{
    if (!strcmp(known->key, "*")) return true;
    size_t length = strlen(known->key), base = base_length(key);
    if (length > 1 && !strcmp(known->key + length - 2, ".*"))
        return !strncmp(known->key, key, length - 1) ||
               (base == length - 2 && !strncmp(known->key, key, base));
    return base == length && !strncmp(known->key, key, length);
}

// For a section without any known key, only the first name.
static const char *left_name(struct settings *s, const struct setting_known *table, int count,
                             const char *key)
{
    size_t length = strcspn(key, ".[") + 1;
    for (int i = 0; i < count && key[length - 1] == '.'; i++)
        if (!strncmp(table[i].key, key, length)) return key;
    return arena_print(s->arena, "%.*s", (int)length - 1, key);
}

// For "section.*": whether another key of the section is read.
static bool is_read(const struct setting_known *table, int count, const char *section)
{
    size_t length = strlen(section);
    if (length < 2 || strcmp(section + length - 2, ".*")) return false;
    for (int i = 0; i < count; i++)
        if (table[i].kind != TAKE_NOT && !strncmp(table[i].key, section, length - 1)) return true;
    return false;
}

static void note_left(struct settings *s, const char *name)
{
    size_t length = base_length(name);
    if (length > 1 && !strcmp(name + length - 2, ".*")) length -= 2;
    const char *word = arena_print(s->arena, "%.*s", (int)length, name);
    for (const char *at = s->left; (at = strstr(at, word)); at++)
        if ((at == s->left || at[-1] == ' ') && (!at[length] || at[length] == ',')) return;
    if (s->left_count++ < LEFT_TOLD)
        s->left = arena_print(s->arena, "%s%s%s", s->left, *s->left ? ", " : "", word);
}

static void note_unknown(struct settings *s, const struct setting_known *table, int count,
                         const struct setting *at)
{
    const char **names = TAKE(s->arena, count, const char *);
    const char *key = arena_print(s->arena, "%.*s", (int)base_length(at->key), at->key);
    if (s->unknown > UNKNOWN_TOLD && s->unknown++) return;
    if (strstr(s->notes, arena_print(s->arena, " %.120s is not known", key)) ||
        ++s->unknown > UNKNOWN_TOLD)
        return;
    for (int i = 0; i < count; i++) names[i] = table[i].key;
    int meant = name_meant(key, names, count);
    settings_note(s, "line %d: %.120s is not known and left out%s%s%s", at->line, key,
                  meant < 0 ? "" : "; did you mean ", meant < 0 ? "" : names[meant],
                  meant < 0 ? "" : "?");
}

// _target_, _call_ ...: how an object is constructed, not what it contains.
static bool is_python(const char *key)
{
    const char *dot = strrchr(key, '.');
    return (dot ? dot + 1 : key)[0] == '_';
}

static void note_rest(struct settings *s, const struct setting_known *table, int count,
                      const struct setting *at)
{
    const char **names = TAKE(s->arena, count, const char *);
    for (int i = 0; i < count; i++) names[i] = table[i].key;
    if (s->left_count < LEFT_TOLD && name_within(at->key, names, count, 2) >= 0)
        note_unknown(s, table, count, at);
    else if (at->text && !is_python(at->key)) note_left(s, left_name(s, table, count, at->key));
}

// 4_096, as in TOML.
static const char *without_underscores(struct settings *s, const char *text)
{
    char *copy = arena_copy_text(s->arena, text), *to = copy;
    for (const char *from = text; *from; from++)
        if (*from != '_') *to++ = *from;
    *to = '\0';
    return copy;
}

static enum status set_value(struct settings *s, const struct setting_known *known,
                             const struct setting *at, void *to, struct error *err)
{
    static const char *const words[] = {[TAKE_FLAG] = "true or false",
                                        [TAKE_COUNT] = "a whole number, 0 or more",
                                        [TAKE_WHOLE] = "a whole number, -1 or more",
                                        [TAKE_NUMBER] = "a number"};
    const char *text = at->text, *number = without_underscores(s, text);
    bool truth = !strcasecmp(text, "true");
    if (known->kind == TAKE_FLAG && (truth || !strcasecmp(text, "false"))) *(bool *)to = truth;
    else if (known->kind == TAKE_WHOLE && !strcmp(text, "-1")) *(int64_t *)to = -1;
    else if ((known->kind == TAKE_WHOLE || known->kind == TAKE_COUNT) &&
             word_is_whole(number, to)) {
    } else if (known->kind == TAKE_NUMBER && word_is_number(number, to)) {
    } else if (known->kind == TAKE_TEXT) *(const char **)to = text;
    else
        return settings_refuse(s, at->key, err, "expected %s, found \"%.60s\"", words[known->kind],
                               text);
    return OK;
}

enum status settings_take(struct settings *s, const struct setting_known *table, int count,
                          void *to, struct error *err)
{
    for (int i = 0; i < s->count; i++) {
        const struct setting *at = &s->items[i];
        int k = 0;
        while (k < count && !is_known(&table[k], at->key)) k++;
        if (k == count) note_unknown(s, table, count, at);
        else if (!strcmp(table[k].key, "*")) note_rest(s, table, count - 1, at);
        else if (table[k].kind == TAKE_NOT)
            note_left(s, is_read(table, count, table[k].key) ? at->key : table[k].key);
        else if (table[k].kind != TAKE_LATER && at->text && strcmp(at->text, "auto"))
            TRY(set_value(s, &table[k], at, (char *)to + table[k].offset, err));
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
                    .layout = {LAYOUT_PLAIN(1), .schedule = SCHEDULE_1F1B}};
    j.recompute[RECOMPUTE_NONE] = true;
    return j;
}

enum status settings_divide(const struct settings *s, const char *what, int64_t all, int64_t by,
                            int *to, struct error *err)
{
    if (by < 1 || all < by || all % by || all / by > 1 << 30)
        return fail(err, BAD_INPUT, "%s: %s: expected a multiple of %lld, found %lld",
                    s->document.path, what, (long long)by, (long long)all);
    *to = (int)(all / by);
    return OK;
}

enum status settings_save_job(struct settings *s, struct job *j, const char *output,
                              struct error *err)
{
    struct source source = source_of("config", &s->document, output, s->arena);
    TRY(job_check(j, err));
    j->document.sources = &source;
    j->document.source_count = 1;
    TRY(job_save(j, output, s->arena, err));
    settings_tell(s);
    return OK;
}

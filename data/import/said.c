// See said.h.
#include "data/import/said.h"

#include <stdarg.h>
#include <string.h>

#include "data/base/plain.h"

enum { KEYS_TOLD = 300, UNKNOWN_TOLD = 20 };

// Whether the list, with ", " between its words, has the word.
static bool is_listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at && (at = strstr(at, word)); at++)
        if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ',')) return true;
    return false;
}

static void list(struct said *s, const char **to, int *count, const char *key)
{
    char *shown = arena_copy_text(s->arena, key);
    plain_make(shown);
    if (is_listed(*to, shown) || (*count)++ >= KEYS_TOLD) return;
    *to = *to ? arena_print(s->arena, "%s, %s", *to, shown) : shown;
}

void said_read(struct said *s, const char *key) { list(s, &s->read, &s->read_count, key); }

void said_ignore(struct said *s, const char *key) { list(s, &s->ignored, &s->ignored_count, key); }

static void add(struct said *s, const char **to, const char *between, const char *format,
                va_list arguments)
{
    char text[ERROR_TEXT_MAX];
    vsnprintf(text, sizeof text, format, arguments);
    plain_make(text);
    *to = arena_print(s->arena, "%s%s%s", *to ? *to : "", *to ? between : "", text);
}

void said_assume(struct said *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(s, &s->assumed, "; ", format, arguments);
    va_end(arguments);
}

void said_unknown(struct said *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (s->unknown_count++ < UNKNOWN_TOLD) add(s, &s->unknown, "\n", format, arguments);
    va_end(arguments);
}

void said_line(struct said *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(s, &s->lines, "\n", format, arguments);
    va_end(arguments);
}

enum status said_check_strict(const struct said *s, const char *path, struct error *err)
{
    if (s->assumed) return refuse(err, "%s: --strict: would be assumed: %.800s", path, s->assumed);
    if (!s->unknown) return OK;
    size_t begin = strncmp(s->unknown, path, strlen(path)) ? 0 : strlen(path) + 2;
    return refuse(err, "%s: --strict: %.*s", path, (int)strcspn(s->unknown + begin, "\n"),
                  s->unknown + begin);
}

void said_tell(const struct said *s, const char *path, FILE *to)
{
    bool with = s->with && *s->with;
    if (s->read)
        fprintf(to, "%s: read%s%s: %s\n", path, with ? " with " : "", with ? s->with : "", s->read);
    if (s->assumed) fprintf(to, "%s: assumed: %s\n", path, s->assumed);
    if (s->ignored) fprintf(to, "%s: ignored (harmless): %s", path, s->ignored);
    if (s->ignored_count > KEYS_TOLD) fprintf(to, " and %d more", s->ignored_count - KEYS_TOLD);
    if (s->ignored) fputc('\n', to);
    if (s->unknown) fprintf(to, "%s\n", s->unknown);
    if (s->unknown_count > UNKNOWN_TOLD)
        fprintf(to, "%s: %d more keys are unknown and left out\n", path,
                s->unknown_count - UNKNOWN_TOLD);
    if (s->lines) fprintf(to, "%s\n", s->lines);
}

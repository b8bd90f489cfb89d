// Text that grows in an arena.
#include "data/text/pieces.h"

#include "data/base/grow.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void text_begin(struct text *t, struct arena *arena)
{
    *t = (struct text){.arena = arena};
    text_put(t, "%s", "");
}

// Most pieces are short: a row's head, a term, a bound. A longer one is printed twice.
void text_put_list(struct text *t, const char *format, va_list arguments)
{
    enum { PIECE = 128 };
    va_list again;
    va_copy(again, arguments);
    GROW_BYTES(t->arena, t->text, t->length, PIECE, t->capacity);
    int length = vsnprintf(t->text + t->length, PIECE, format, arguments);
    assert(length >= 0);
    if (length >= PIECE) {
        GROW_BYTES(t->arena, t->text, t->length, (size_t)length, t->capacity);
        vsnprintf(t->text + t->length, (size_t)length + 1, format, again);
    }
    va_end(again);
    t->length += (size_t)length;
}

void text_put(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_put_list(t, format, arguments);
    va_end(arguments);
}

void text_put_part(struct text *t, const char *parts, const char *part, const char *const *values)
{
    const char *line = arena_print(t->arena, "#: %s\n", part), *at = strstr(parts, line);
    assert(at);
    at += strlen(line);
    for (const char *end = strstr(at, "\n#: "); *at && at != end + 1;) {
        const char *const *value = values;
        while (*value && strncmp(at, *value, strlen(*value)) != 0) value += 2;
        if (*value) text_put(t, "%s", value[1]);
        else text_put(t, "%c", *at);
        at += *value ? strlen(*value) : 1;
    }
}

enum status text_end(const struct text *t, const char **text, size_t *length)
{
    *text = t->text, *length = t->length;
    return OK;
}

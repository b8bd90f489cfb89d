// Text that grows in an arena.
#include "data/text/pieces.h"

#include "data/base/grow.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

// One call prints a short piece: a row's head, a term, a bound.
enum { PIECE_MAX = 512 };

void text_put(struct text *t, const char *format, ...)
{
    GROW_BYTES(t->arena, t->text, t->length, PIECE_MAX, t->capacity);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(t->text + t->length, PIECE_MAX, format, arguments);
    va_end(arguments);
    assert(length >= 0 && length < PIECE_MAX);
    t->length += (size_t)length;
}

// Text that grows in an arena, into which the writers of programs print.
#ifndef PLUMBLINE_DATA_TEXT_PIECES_H
#define PLUMBLINE_DATA_TEXT_PIECES_H

#include <stddef.h>

#include "data/base/arena.h"

struct text {
    struct arena *arena;
    char *text;
    size_t length, capacity;
};

void text_put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

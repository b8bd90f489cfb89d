// Text that grows in an arena: programs, reports, settings of frameworks.
#pragma once

#include <stdarg.h>

#include "data/base/arena.h"

struct text {
    struct arena *arena;
    char *text;
    size_t length, capacity;
};

void text_begin(struct text *t, struct arena *arena); // "", where it may stay empty
void text_put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum status text_end(const struct text *t, const char **text, size_t *length); // OK
void text_put_list(struct text *t, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
// A part of a text: from behind the line "#: PART" to the next such line. values: pairs of a word
// and what stands for it, ended by NULL.
void text_put_part(struct text *t, const char *parts, const char *part, const char *const *values);

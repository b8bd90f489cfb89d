// What an import says of a file, the same for every door: what it read, what it assumes, what
// changes nothing, keys that nobody knows, and what else the reader tells; one line each. Refusals
// are errors. --strict refuses a file of which anything is assumed or unknown.
#pragma once

#include <stdio.h>

#include "data/base/arena.h"

struct said {
    struct arena *arena;
    const char *read, *with;     // keys; the files that were read, too; NULL: nothing
    const char *assumed;         // parts of a sentence
    const char *ignored, *lines; // keys; further lines
    const char *unknown;         // lines, one for each key
    int read_count, ignored_count, unknown_count;
};

void said_read(struct said *s, const char *key);
void said_ignore(struct said *s, const char *key);
void said_assume(struct said *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Whole lines, without their ends. unknown: the first few are told, all count.
void said_unknown(struct said *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void said_line(struct said *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
// BAD_INPUT: something is assumed or unknown.
enum status said_check_strict(const struct said *s, const char *path, struct error *err);
void said_tell(const struct said *s, const char *path, FILE *to);

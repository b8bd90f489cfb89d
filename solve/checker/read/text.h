// The text of a document: what it holds, and its hash.
#pragma once

#include "solve/checker/read/json.h"

struct check_text {
    const char *file, *text;
    size_t size;
};

enum { CHECK_HASH = 65 };
void check_hash(const char *text, size_t size, char hex[CHECK_HASH]); // SHA-256

// The parsed text; a text that the arena holds is parsed only once.
enum status check_parse_text(const struct reader *r, const struct check_text *text, cJSON **root,
                             struct arena *arena);

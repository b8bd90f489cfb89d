// Documents by format: one interface to load and save any of them, for tests that treat all formats
// alike, and the planted damages that both the loaders and the published schemas must refuse.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "data/base/arena.h"
#include "data/base/status.h"

enum format {
    FORMAT_MODEL,
    FORMAT_CLUSTER,
    FORMAT_COSTS,
    FORMAT_JOB,
    FORMAT_PROBLEM,
    FORMAT_PRICED,
    FORMAT_PLAN,
    FORMAT_SAMPLES,
    FORMAT_CONFIG, // a Hugging Face config.json, which loads as a model
    FORMAT_COUNT,
};
extern const char *const format_names[]; // "model" ..., NULL

// Loads `path`; saves it to `again` unless that is NULL.
enum status format_load(enum format format, const char *path, const char *again,
                        struct arena *arena, struct error *err);

// tests/documents/FORMAT.json
const char *format_example(enum format format, struct arena *arena);

// One damage to an example: the first `from` becomes `to`. `where` must occur in the error.
struct planted {
    enum format format;
    const char *from, *to, *where;
    bool by_schema; // the schema detects it too (it does not detect cross-references, sums and
                    // duplicate keys)
};
extern const struct planted planted_damages[];
extern const size_t planted_count;

// The example with the damage done; NULL if `from` does not occur.
const char *planted_text(const struct planted *p, struct arena *arena);

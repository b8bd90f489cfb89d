// JSON schemas of documents, written from the tables that read them (data/text/members.h).
#pragma once

#include <stdbool.h>

#include "data/text/members.h"

struct schema {
    const char *name; // docs/schemas/NAME.schema.json
    const struct members *of;
    bool units; // users may write numbers with their units
};
extern const struct schema schemas[];
extern const int schema_count;

// The schema's text from the table: keys, types, ranges, names, what is required. What no table
// states is taken from the existing schema: titles, definitions, conditions, and keys with their
// own reading functions. *missing: such a key that the schema does not have; NULL: none.
const char *schema_text(const struct schema *s, const char **missing, struct arena *arena,
                        struct error *err);
// One that only lists names.
const char *schema_of_names(const char *title, const char *const *names, struct arena *arena);

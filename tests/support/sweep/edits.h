// Edits of a document: every value of its tree is left out, emptied, shortened, lengthened and
// changed, one at a time.
#pragma once

#include <stdbool.h>

#include "data/base/arena.h"

enum edit { EDIT_DELETE, EDIT_EMPTY, EDIT_SHORTEN, EDIT_LENGTHEN, EDIT_CHANGE, EDIT_COUNT };
extern const char *const edit_names[];

struct edited {
    const char *path;    // "stages[3].forward_ns"
    const char *pattern; // the same with [] for every index
    const char *key;     // the last key of the path
    enum edit edit;
    const char *text; // the document with it
};

// Calls visit for each edit that changes the document; of long arrays only some elements are
// edited. Everything in *e lasts until visit returns.
typedef void edit_visit(const struct edited *e, void *argument);
void edits_each(const char *document, edit_visit *visit, void *argument, struct arena *arena);
// The same for the cells of a table of comma-separated values, its header among them: "line 2,
// column 3", both from 1.
void edits_each_cell(const char *table, edit_visit *visit, void *argument, struct arena *arena);

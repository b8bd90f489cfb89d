// Documents that come with the program: models, clusters, costs, by their names.
#ifndef PLUMBLINE_DATA_BASE_SHIPPED_H
#define PLUMBLINE_DATA_BASE_SHIPPED_H

#include "data/base/arena.h"
#include "data/base/status.h"

// The file of a document: folder is "models", "clusters" or "costs". Looked for under
// $PLUMBLINE_DATA, then beside the running program, and beside the shared library that this is in,
// as installed (../share/plumbline/data) and as built (../data): there, or in a folder of it. A
// name with '/' or ".json" is a file itself, as is one of a file that is there. BAD_INPUT: nothing
// of that name; the nearest is told.
enum status shipped_find(const char **path, const char *folder, const char *name,
                         struct arena *arena, struct error *err);

// The names in the first of those places that has any, in order. BAD_INPUT: none has.
enum status shipped_list(const char *const **names, int *count, const char *folder,
                         struct arena *arena, struct error *err);
// The GPUs of those clusters in the folder that have one kind of them, in order, each once.
enum status shipped_gpus(const char *const **names, int *count, const char *folder,
                         struct arena *arena, struct error *err);

#endif

// Documents shipped with the program: models, clusters and costs, by name.
#pragma once

#include "data/base/arena.h"

// The running program's own file; NULL: the system does not state it.
const char *program_file(struct arena *arena);
// The file of this name in its folder; NULL: likewise.
const char *program_beside(const char *name, struct arena *arena);

// The file of a document; folder is "models", "clusters" or "costs". Searched under
// $PLUMBLINE_DATA, then next to the running program and next to the shared library that contains
// this code, as installed (../share/plumbline/data) and as built (../data): there, or in a
// subfolder of it. A name with '/' or ".json" is a file itself, as is the name of an existing file.
// BAD_INPUT: there is nothing of that name; the error names the nearest one.
enum status shipped_find(const char **path, const char *folder, const char *name,
                         struct arena *arena, struct error *err);

// A file of a folder in the same places. BAD_INPUT: it is in none of them.
enum status shipped_file(const char **path, const char *folder, const char *name,
                         struct arena *arena, struct error *err);

// The names in the first of these places that has any, in order. BAD_INPUT: none has any.
enum status shipped_list(const char *const **names, int *count, const char *folder,
                         struct arena *arena, struct error *err);
// The GPUs of those clusters in the folder that have only one kind of GPU, in order, each once.
enum status shipped_gpus(const char *const **names, int *count, const char *folder,
                         struct arena *arena, struct error *err);

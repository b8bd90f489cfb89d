// Files: read as a whole, written as a whole or not at all, named relative to each other, hashed.
#pragma once

#include <stdio.h>

#include "data/base/arena.h"

enum { SHA256_TEXT = 65 }; // 64 hexadecimal digits and the end
enum { FILE_NAME_MAX = 4096 };

// The whole file, followed by a '\0'. BAD_INPUT: missing, unreadable, not a regular file, larger
// than 256 MiB.
enum status file_read(const char *path, const char **text, size_t *size, struct arena *arena,
                      struct error *err);

// For files too long to hold in memory: opens the file at its beginning, whatever its length; it is
// closed with the arena.
enum status file_open(FILE **file, const char *path, struct arena *arena, struct error *err);

// Writes a temporary file next to `path`, flushes it to disk and renames it: the file has the old
// content or the new, never a part. "-" is standard output. BAD_INPUT: cannot be written; nothing
// is left behind.
enum status file_write(const char *path, const char *text, size_t size, struct error *err);
// The same of a text that comes in parts, each valid until the next; next: false behind the last.
typedef bool file_part(void *argument, const char **text, size_t *size);
enum status file_write_parts(const char *path, file_part *next, void *argument, struct error *err);

// From here on this thread, and processes forked from it, note the temporary file's name in
// note[FILE_NAME_MAX] while there is one, so that another process can remove it; "": there is none.
void file_note_temporaries(char *note);

// Makes a folder, and those that it is in, unless they are there.
enum status file_make_folder(const char *path, struct error *err);

// Whether file_write could put a file there, to be checked before hours of work: BAD_INPUT if not.
// Leaves nothing behind.
enum status file_check_place(const char *path, struct error *err);

void sha256_text(const char *text, size_t size, char hex[SHA256_TEXT]);

// Whether the path ends with `ending` (".json") and has more before it.
bool path_ends_with(const char *path, const char *ending);
bool path_is_yaml(const char *path);     // .yaml, .yml
const char *path_name(const char *path); // without the folders before it
// `path`, or the file `name` in it if that is a folder.
const char *path_of_document(const char *path, const char *name, struct arena *arena);
// `path` without a final ".json".
const char *path_stem(const char *path, struct arena *arena);
// `path` relative to the folder of the file `base` (absolute paths stay): this is how documents
// name each other.
const char *path_beside(const char *base, const char *path, struct arena *arena);
// The path that path_beside(from, result) turns into `to` again. Relative wherever possible.
const char *path_relative(const char *from, const char *to, struct arena *arena);

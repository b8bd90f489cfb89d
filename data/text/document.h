// The envelope of every document: kind, version, made_by, made_from (the inputs with their hashes).
#pragma once

#include "data/base/file.h"
#include "data/text/json.h"

enum { DOCUMENT_VERSION = 1 };

// One input from which a document was made. path is relative to the document that names it.
struct source {
    const char *role; // "model", "cluster", "costs", "job", "problem", "priced", "samples"
    const char *path;
    char sha256[SHA256_TEXT];
};

struct document {
    const char *path;         // as given by the user; for messages and for paths relative to it
    char sha256[SHA256_TEXT]; // of the file's bytes
    const char *made_by;      // NULL if a person wrote it
    struct source *sources;
    int source_count;
    struct json root; // the body's keys are next to the envelope's
};

// For messages; `otherwise`: of one that has no file.
static inline const char *document_name(const struct document *d, const char *otherwise)
{
    return d->path ? d->path : otherwise;
}

// Reads the file and its envelope. `kind` is the kind that it must have, for example
// "plumbline.model".
enum status document_read(struct document *d, const char *path, const char *kind,
                          struct arena *arena, struct error *err);

bool document_is(const char *path, const char *kind, struct arena *arena); // whether it can be read

// json_fields on the root, strict, ignoring the envelope's own keys.
enum status document_fields(const struct document *d, const struct json_field *fields,
                            size_t field_count, struct arena *arena, struct error *err);

// Opens the root object and writes the envelope, with made_by naming this program. The caller
// writes the body and calls document_write.
void document_begin(struct json_writer *w, const char *kind, const struct source *sources,
                    int source_count, struct arena *arena);
enum status document_write(struct json_writer *w, const char *path, struct error *err);
// The same for what took long to find: if it cannot be written, it goes to standard output, and the
// error says so.
enum status document_keep(struct json_writer *w, const char *path,
                          struct error *err);                     // closes the root
const char *document_text(struct json_writer *w, size_t *length); // instead of a file

// What a document made from `of` states about it: role, path relative to `maker_path`, hash.
struct source source_of(const char *role, const struct document *of, const char *maker_path,
                        struct arena *arena);

// The source with this role, and its hash; NULL: none.
const struct source *source_with_role(const struct document *d, const char *role);
const char *source_hash(const struct document *d, const char *role);

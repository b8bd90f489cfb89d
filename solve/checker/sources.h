// Kinds of documents, what they state that they were made from, and their hashes: everything
// around a proof.
#pragma once

#include "solve/checker/check.h"

enum status check_read_envelope(const struct reader *r, const struct check_text *certificate,
                                cJSON **root, struct arena *arena);
// The path and hash that the list (NULL: none) states for a role, at most once; NULL: not stated.
// check_find_priced: the same for the priced document, which a certificate must state.
enum status check_find_priced(const struct reader *r, const cJSON *certificate, const char **path,
                              const char **hash);

struct check_input {
    const char *role;
    struct check_text text;
}; // a document that prices come from

// Each input is stated with its own hash in the first or the second list (NULL: none), and nowhere
// with another hash.
enum status check_same_sources(const struct reader *r, const cJSON *list, const cJSON *other,
                               const struct check_input *inputs, int count);

// What a document (a certificate, a priced document) states that it was made from.
struct check_source {
    const char *role, *path, *sha256;
};
enum status check_list_sources(struct check_source **list, int *count,
                               const struct check_text *document, struct arena *arena,
                               struct error *err);
// Whether it is a problem (*is_problem) or a priced document; BAD_INPUT: neither.
enum status check_is_problem(bool *is_problem, const struct check_text *document,
                             struct arena *arena, struct error *err);

// The path that the certificate states for the priced document it was made from.
enum status check_priced_path(const char **path, const struct check_text *certificate,
                              struct arena *arena, struct error *err);

// What the certificate is about: one layout, a whole space of layouts
// (solve/checker/space/space.h), or placements on nodes (solve/checker/places/places.h).
enum check_certificate_kind { CERTIFICATE_OF_LAYOUT, CERTIFICATE_OF_SPACE, CERTIFICATE_OF_PLACES };
enum status check_certificate_kind(enum check_certificate_kind *kind,
                                   const struct check_text *certificate, struct arena *arena,
                                   struct error *err);

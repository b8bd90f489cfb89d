// A problem's prices by the judge, for the commands that audit certificates. inputs: the problem
// and the documents it names, as the checker hashed them; BAD_INPUT where other bytes are read
// here.
#pragma once

#include "solve/checker/places/places.h"

// For a job with a space.
enum status space_open(struct check_space *space, struct check_pricer pricers[2],
                       const char *problem_path, const struct check_input *inputs, int input_count,
                       struct arena *arena, struct error *err);
// struct check_space's audit_on_nodes: those who audit a space set it.
enum status space_audit_on_nodes(struct check_result *result, const struct check_space *s,
                                 const struct check_layout *layout, const struct reader *r,
                                 const cJSON *places, uint64_t *work, struct arena *arena);

// For a job with one layout: every table that its priced document has. BAD_INPUT: no certificate
// is about such a problem.
enum status space_open_one(struct check_problem **own, const char *problem_path,
                           const struct check_input *inputs, int input_count, struct arena *arena,
                           struct error *err);

// For a job with one layout on a cluster with places.
enum status space_open_places(struct check_places *places, const char *problem_path,
                              const struct check_input *inputs, int input_count,
                              struct arena *arena, struct error *err);

// The bytes of a file, in an arena that keeps what it reads (data/base/file.h), so that what is
// hashed is what is read.
enum status space_read_file(struct check_text *to, const char *path, struct arena *arena,
                            struct error *err);

// BAD_INPUT: no certificate of one layout is about this kind of problem, which is named. A problem
// that cannot be read passes.
enum status space_check_kind_of(const char *path, struct arena *arena, struct error *err);

// Compares a priced document with the judge's tables: every number, word and name. Returns the
// number of numbers, or NOT_PROVEN with the first difference.
enum status check_same_prices(const struct check_problem *document, const struct check_problem *own,
                              int64_t *compared, struct error *err);
// For a check_basis: the same, and the hashes of its inputs.
enum status check_confirm(const struct check_basis *basis, const struct check_problem *priced,
                          const cJSON *made_from, int64_t *confirmed);

// A problem's prices by the judge, for the commands that audit certificates. inputs: the problem
// and what it names as the checker hashed them; BAD_INPUT where other bytes are read here.
#ifndef PLUMBLINE_SOLVE_CHECKER_PRICES_OPEN_H
#define PLUMBLINE_SOLVE_CHECKER_PRICES_OPEN_H

#include "solve/checker/places/places.h"
#include "solve/checker/space/space.h"

// Of a job with a space.
enum status space_open(struct check_space *space, struct check_pricer pricers[2],
                       const char *problem_path, const struct check_input *inputs, int input_count,
                       struct arena *arena, struct error *err);
// Of a job with one layout: every table that a priced document of it has. BAD_INPUT: a problem that
// no certificate is about.
enum status space_open_one(struct check_problem **own, const char *problem_path,
                           const struct check_input *inputs, int input_count, struct arena *arena,
                           struct error *err);

// Of a job with one layout on a cluster with places.
enum status space_open_places(struct check_places *places, const char *problem_path,
                              const struct check_input *inputs, int input_count,
                              struct arena *arena, struct error *err);

// The bytes of a file, in an arena that holds what it reads (data/base/file.h): what is hashed is
// what is read.
enum status space_read_file(struct check_text *to, const char *path, struct arena *arena,
                            struct error *err);

// BAD_INPUT: the problem is of a kind that no certificate of one layout is about, named. One that
// cannot be read is let pass.
enum status space_check_kind_of(const char *path, struct arena *arena, struct error *err);

// A priced document beside the judge's tables, every number, word and name of it: how many numbers,
// or NOT_PROVEN with the first that differs.
enum status check_same_prices(const struct check_problem *document, const struct check_problem *own,
                              int64_t *compared, struct error *err);
// Of a check_basis: the same, and the hashes of its inputs.
enum status check_confirm(const struct check_basis *basis, const struct check_problem *priced,
                          const struct value *made_from, int64_t *confirmed);

#endif

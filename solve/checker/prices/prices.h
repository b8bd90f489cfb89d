// A job's space as the checker of spaces takes it (solve/checker/space/space.h), and what its
// layouts cost: the judge's own prices (solve/judge/price/verify_price.h), in the tables that the
// checker reads. The planner's pricing has no part in it.
#ifndef PLUMBLINE_SOLVE_CHECKER_PRICES_PRICES_H
#define PLUMBLINE_SOLVE_CHECKER_PRICES_PRICES_H

#include "data/inputs/problem.h"
#include "solve/checker/places/places.h"
#include "solve/checker/space/space.h"

struct check_option;
struct compression_form check_form_of(const struct check_option *o); // as jobs have it

// The problem's job has a space.
void space_read(struct check_space *to, const struct problem *problem, struct arena *arena);
struct check_layout space_layout(const struct layout *layout);
struct layout space_layout_back(const struct check_layout *layout, const struct layout *base);

// The pricer's tables live in the arena, and are its own.
enum status space_pricer_open(struct check_pricer *to, const struct problem *problem,
                              struct arena *arena, struct error *err);
// What becomes of its doubtful prices (struct price_audit); error: at least so much is reckoned
// with.
void space_pricer_lean(struct check_pricer *pricer, int direction, long double error);
// The two of an audit: of a doubtful price (there is hardly ever one) the first takes what is
// less, the second what is more.
enum status space_pricers_open(struct check_pricer pricers[2], const struct problem *problem,
                               struct arena *arena, struct error *err);

// problem_load, of the very bytes that the checker hashed.
enum status space_load_problem(struct problem *to, const char *path,
                               const struct check_input *inputs, int count, struct arena *arena,
                               struct error *err);
// BAD_INPUT: a problem of a kind that the certificate is not about; the kind is named.
enum status space_check_kind(const struct problem *problem, enum check_certificate_kind kind,
                             struct error *err);
// A job's one layout: see space_open_one.
enum status space_one_prices(struct check_problem **own, const struct problem *problem,
                             struct arena *arena, struct error *err);
// A job's one layout on a cluster with places: see space_open_places. The problem stays where it
// is.
enum status space_places(struct check_places *to, const struct problem *problem,
                         struct arena *arena, struct error *err);

#endif

// A job's space as the checker of spaces reads it (solve/checker/space/space.h), and the costs of
// its layouts: the judge's own prices (solve/judge/price/verify_price.h) in the checker's tables.
// The planner's pricing takes no part.
#ifndef PLUMBLINE_SOLVE_CHECKER_PRICES_PRICES_H
#define PLUMBLINE_SOLVE_CHECKER_PRICES_PRICES_H

#include "data/inputs/problem.h"
#include "solve/checker/places/places.h"
#include "solve/checker/space/space.h"

struct check_option;
struct compression_form check_form_of(const struct check_option *o); // as in jobs
void check_read_options(struct check_problem *p, const struct job *j, struct arena *arena);

// The problem's job must have a space.
void space_read(struct check_space *to, const struct problem *problem, struct arena *arena);
struct check_layout space_layout(const struct layout *layout);
// Sets the switches that a layout of the problem's space has.
void space_switch(struct job *to, const struct problem *problem, const struct check_layout *l);
struct layout space_layout_back(const struct check_layout *layout, const struct layout *base);

// The pricer's tables live in the arena and belong to it alone.
enum status space_pricer_open(struct check_pricer *to, const struct problem *problem,
                              struct arena *arena, struct error *err);
// How it treats doubtful prices (struct price_audit); error: the least error assumed.
void space_pricer_lean(struct check_pricer *pricer, int direction, long double error);
// The two pricers of an audit: for a doubtful price, which is rare, the first takes the lower
// value and the second the higher.
enum status space_pricers_open(struct check_pricer pricers[2], const struct problem *problem,
                               struct arena *arena, struct error *err);

// For a cluster with places: as if no link took time. space_pricers_open opens two of these there.
enum status space_free_pricer_open(struct check_pricer *to, const struct problem *problem,
                                   struct arena *arena, struct error *err);

// problem_load, of exactly the bytes that the checker hashed.
enum status space_load_problem(struct problem *to, const char *path,
                               const struct check_input *inputs, int count, struct arena *arena,
                               struct error *err);
// BAD_INPUT: the certificate is not about problems of this kind, which is named.
enum status space_check_kind(const struct problem *problem, enum check_certificate_kind kind,
                             struct error *err);
// For a job with one layout: see space_open_one.
enum status space_one_prices(struct check_problem **own, const struct problem *problem,
                             struct arena *arena, struct error *err);
// For a job with one layout on a cluster with places: see space_open_places. The problem is not
// copied.
enum status space_places(struct check_places *to, const struct problem *problem,
                         struct arena *arena, struct error *err);

// What Pipette's objective needs of the nodes. false: a price exceeds the countable range.
struct price_audit;
struct check_rows;
bool space_rows(struct check_rows *to, const struct price_audit *whole, struct arena *arena);

// mixed.c: a run in another layout than the document's: as its audit prices it; tensor: the degree
// of the vocabulary, 0: sharded further. Returns how many there are, in the order of the document.
struct other_run {
    const struct price_audit *audit;
    int run, tensor;
};
int space_other_runs(struct other_run **runs, const struct problem *p,
                     const struct price_audit *own, struct arena *arena);

#endif

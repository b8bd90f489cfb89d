// A job's space as the checker of spaces reads it (solve/checker/space/space.h), and the costs of
// its layouts: the judge's own prices (solve/judge/price/verify_price.h) in the checker's tables.
// The planner's pricing takes no part.
#pragma once

#include "data/inputs/problem.h"
#include "solve/checker/places/places.h"

struct check_option;
struct compression_form check_form_of(const struct check_option *o); // as in jobs
void check_read_options(struct check_problem *p, const struct job *j, struct arena *arena);

// rules.c: [group of the checker], the node groups that rules name.
void check_read_job_rules(struct check_problem *p, const char *const *node_groups,
                          const struct problem *problem, struct arena *arena);

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

// seats.c: stages with widths of their own (docs/FORMULAS.md 23). Groups of the checker are then
// seats, each with the prices of the layout in which all stages have its width.
struct seat;
struct seat_prices {
    struct seat *seats; // [group]
    int count;
    struct problem *one; // [group]
    struct price_audit *at;
};
void seats_open(struct seat_prices *s, const struct problem *p, struct arena *arena);
// The checker's groups, without prices.
void seats_put_groups(const struct seat_prices *s, const struct problem *p,
                      struct check_problem *to);
// For a layout, whose audit is `as`.
void seats_take_layout(struct seat_prices *s, const struct problem *p,
                       const struct price_audit *as);
// Room for what a run has by seat.
void seats_open_run(const struct check_problem *p, struct check_run *r,
                    const struct layer_run *layers, struct arena *arena);
// Of the layers' bytes by seat, the greatest of each.
void seats_raise_bytes(struct check_run *most, const struct check_run *own);
// What the message before a measured layer takes of a stage that begins with it: of its rank, and
// of the link. false: the layer does not state it.
bool seats_entry(const struct seat_prices *s, int run, int group, int64_t ns[2]);

// mixed.c: a run in another layout than the document's: as its audit prices it; tensor: the degree
// of the vocabulary, 0: sharded further. Returns how many there are, in the order of the document.
struct other_run {
    const struct price_audit *audit;
    int run, tensor;
};
int space_other_runs(struct other_run **runs, const struct problem *p,
                     const struct price_audit *own, struct arena *arena);

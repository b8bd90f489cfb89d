// The checker of certificates: does a file prove what it says of a priced document? It believes
// neither the solver nor the file, shares no code with what plans (nor with the judge), and
// computes in integers alone. What it verifies, what it assumes and how the file is written stands
// in docs/PROOFS.md.
#ifndef PLUMBLINE_SOLVE_CHECKER_CHECK_H
#define PLUMBLINE_SOLVE_CHECKER_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/base/arena.h"
#include "data/base/status.h"

enum { CHECK_REASON_MAX = 400 };

struct check_problem;

struct check_result {
    bool accepted;
    char reason[CHECK_REASON_MAX]; // why not
    bool infeasible;               // claimed: there is no plan at all
    int64_t iteration_ns;          // of the plan in the file; -1: it holds none
    int64_t bound_ns;              // no plan takes less; -1 where infeasible is claimed
    int64_t operations, choices, paths, rounds, boxes, splits, leaves;
    int64_t confirmed; // numbers of the priced document that the problem's own prices are; 0: they
                       // are assumed
    int64_t parts;     // of a tree over placements
    int64_t doubtful;  // prices met on the way that could be one more or less
    uint64_t work;     // steps taken
    const struct check_problem *problem; // as it was read; NULL: it was not
};

struct check_text {
    const char *file, *text;
    size_t size;
};
struct check_input {
    const char *role;
    struct check_text text;
}; // a document that prices come from

#define CHECK_WORK_DEFAULT 100000000000 // a few minutes

// OK: audited; *result says whether it is proven. BAD_INPUT: one of the two files is none that can
// be audited.
enum status check_certificate(struct check_result *result, const struct check_text *certificate,
                              const struct check_text *priced, uint64_t work_limit,
                              struct arena *arena, struct error *err);

// Compares a priced document with other tables of the same problem (check_same_prices of
// solve/checker/prices/prices.h): how many numbers, or NOT_PROVEN with the first that differs.
typedef enum status check_price_comparison(const struct check_problem *document,
                                           const struct check_problem *own, int64_t *compared,
                                           struct error *err);

// The same of a problem. own: its tables as somebody prices it who is no planner
// (solve/checker/prices/prices.h); every number of the priced document must be as there. inputs:
// the problem and what it names; certificate or priced document must state the hash of each, and
// neither another one.
struct check_basis {
    const struct check_problem *own;
    check_price_comparison *same_prices;
    const struct check_input *inputs;
    int input_count;
};
enum status check_certificate_of(struct check_result *result, const struct check_text *certificate,
                                 const struct check_text *priced, const struct check_basis *basis,
                                 uint64_t work_limit, struct arena *arena, struct error *err);

// What a document (a certificate, a priced document) says it was made from.
struct check_source {
    const char *role, *path, *sha256;
};
enum status check_list_sources(struct check_source **list, int *count,
                               const struct check_text *document, struct arena *arena,
                               struct error *err);
// Whether it is a priced document or a problem (*is_problem); BAD_INPUT: neither.
enum status check_is_problem(bool *is_problem, const struct check_text *document,
                             struct arena *arena, struct error *err);

// The path that the certificate gives for the priced document it was made from.
enum status check_priced_path(const char **path, const struct check_text *certificate,
                              struct arena *arena, struct error *err);

// What the certificate is about: one layout, a whole space of them (solve/checker/space/space.h),
// placements on nodes (solve/checker/places/places.h).
enum check_certificate_kind { CERTIFICATE_OF_LAYOUT, CERTIFICATE_OF_SPACE, CERTIFICATE_OF_PLACES };
enum status check_certificate_kind(enum check_certificate_kind *kind,
                                   const struct check_text *certificate, struct arena *arena,
                                   struct error *err);

#endif

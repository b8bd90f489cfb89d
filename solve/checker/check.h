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
#define CHECK_WORK_DEFAULT 100000000000 // a few minutes

// OK: audited; *result says whether it is proven. BAD_INPUT: one of the two files is none that can
// be audited.
enum status check_certificate(struct check_result *result, const struct check_text *certificate,
                              const struct check_text *priced, uint64_t work_limit,
                              struct arena *arena, struct error *err);

// The same of a problem. confirm: whether the priced document has the prices of that problem, and
// it or the certificate (made_from) the hashes of what they are from; how many numbers it compared.
struct value;
struct check_basis {
    enum status (*confirm)(const struct check_basis *basis, const struct check_problem *priced,
                           const struct value *made_from, int64_t *confirmed);
    const struct check_problem *own;  // its tables as somebody prices it who is no planner
    const struct check_input *inputs; // the problem and what it names (solve/checker/sources.h)
    int input_count;
};
enum status check_certificate_of(struct check_result *result, const struct check_text *certificate,
                                 const struct check_text *priced, const struct check_basis *basis,
                                 uint64_t work_limit, struct arena *arena, struct error *err);

#endif

// The checker of certificates: does a file prove what it claims about a priced document? It trusts
// neither the solver nor the file, shares no code with the planner or the judge, and computes only
// in integers. docs/PROOFS.md says what it verifies, what it assumes and how the file is written.
#pragma once

#include "solve/checker/read/json.h"

enum { CHECK_REASON_MAX = 400 };

struct check_problem;

struct check_result {
    bool accepted;
    char reason[CHECK_REASON_MAX]; // why it was not accepted
    bool infeasible;               // claimed: there is no plan at all
    int objective;                 // enum check_objective: what the two below are about
    int64_t iteration_ns;          // of the plan in the file, or its objective; -1: it has none
    int64_t bound_ns;              // a lower bound on every plan; -1 where infeasible is claimed
    int64_t operations, choices, paths, rounds, boxes, splits, leaves;
    int64_t confirmed; // numbers of the priced document that equal the problem's own prices; 0:
                       // prices are assumed
    int64_t parts;     // of a tree over placements
    int64_t doubtful;  // prices used that could be one more or less
    uint64_t work;     // steps taken
    const struct check_problem *problem; // as read; NULL: it was not read
};

#define CHECK_WORK_DEFAULT 100000000000 // a few minutes

// OK: audited, and *result says whether the claim is proven. BAD_INPUT: one of the two files
// cannot be audited.
enum status check_certificate(struct check_result *result, const struct check_text *certificate,
                              const struct check_text *priced, uint64_t work_limit,
                              struct arena *arena, struct error *err);

// The same for a problem. confirm checks that the priced document has the prices of the problem,
// and that it or the certificate (made_from) states the hashes of its sources; it returns how many
// numbers it compared.
struct cJSON;
struct check_basis {
    enum status (*confirm)(const struct check_basis *basis, const struct check_problem *priced,
                           const struct cJSON *made_from, int64_t *confirmed);
    const struct check_problem *own;  // its tables as priced by someone other than the planner
    const struct check_input *inputs; // the problem and its inputs (solve/checker/sources.h)
    int input_count;
};
enum status check_certificate_of(struct check_result *result, const struct check_text *certificate,
                                 const struct check_text *priced, const struct check_basis *basis,
                                 uint64_t work_limit, struct arena *arena, struct error *err);

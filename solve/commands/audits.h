// Verifying and checking, for the commands and the library (library/).
#pragma once

#include "data/results/plan.h"
#include "data/results/verdict.h"
#include "solve/checker/claim.h"

// ---- verify.c

struct verify_request {
    const char *problem_path, *certificate; // NULL: the problem that the plan names; no certificate
    const struct problem *at_hand;          // instead of both; NULL: not used
    struct problem loaded;                  // what was read
    struct check_claim claim;               // of the certificate, once audited
};
// Judges the plan, unless an input is not the one it was made from; the result is v->accepted.
enum status verify_run(struct verdict *v, const struct plan *plan, struct verify_request *r,
                       struct arena *arena, struct error *err);
void verify_print(FILE *to, const struct verdict *v, const struct plan *plan,
                  const char *certificate, struct arena *arena);

// ---- check.c

struct check_request {
    const char *certificate, *against; // against: priced document or problem, NULL: not given
    const char *verdict, *statement, *elaborated; // files to write; NULL: none
    uint64_t work_limit;
    int64_t memory_mib; // for the command
};
// Prints the findings to `to`.
enum status check_run(bool *proven, const struct check_request *r, FILE *to, struct arena *arena,
                      struct error *err);

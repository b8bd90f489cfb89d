// Verifying and checking, as the commands and the library (library/) do it.
#ifndef PLUMBLINE_SOLVE_COMMANDS_AUDITS_H
#define PLUMBLINE_SOLVE_COMMANDS_AUDITS_H

#include <stdio.h>

#include "data/inputs/problem.h"
#include "data/results/plan.h"
#include "data/results/verdict.h"
#include "solve/checker/claim.h"

// ---- verify.c

struct verify_request {
    const char *problem_path, *certificate; // NULL: the problem that the plan names; none
    const struct problem *at_hand;          // instead of both; NULL: not
    struct problem loaded;                  // what was read
    struct check_claim claim;               // of the certificate, once it was audited
};
// Judges, unless an input is not the one the plan was made from; v->accepted says how.
enum status verify_run(struct verdict *v, const struct plan *plan, struct verify_request *r,
                       struct arena *arena, struct error *err);
void verify_print(FILE *to, const struct verdict *v, const struct plan *plan,
                  const char *certificate);

// ---- check.c

struct check_request {
    const char *certificate, *against; // against: priced document or problem, NULL: not given
    const char *verdict, *statement;   // files to be written; NULL: none
    uint64_t work_limit;
};
// What was found is printed to `to`.
enum status check_run(bool *proven, const struct check_request *r, FILE *to, struct arena *arena,
                      struct error *err);

#endif

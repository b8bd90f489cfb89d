// The request to plumbline solve: its options, read and checked against the problem.
#pragma once

#include "solve/certificate/certificate.h"
#include "solve/commands/verbs.h"

struct solve_request {
    const char *problem_path, *plan_path, *start_path, *priced_path, *layouts_path,
        *certificate_path;
    struct solve_settings settings;
    int64_t front, memory_limit_mib;
    bool *unwritten; // set where a document could not be written
    bool progress, quiet, shrink;
    struct cluster_change change;
    struct option_texts resume, known, join;
    const char *part_text, *share_path;
    struct space_part part;
    const volatile int *stop; // set by a signal
    bool answer_only;         // "what if", with no file for the plan
};

// What follows from the options as they were read.
enum status solve_request_complete(struct solve_request *r, struct error *err);
// Solves, and writes what was requested (solve.c).
enum status solve_request_run(void *request, int *exit_code, struct arena *arena,
                              struct error *err);
// Checks that all files can be written: before hours of work, not after them.
enum status solve_request_check_places(const struct solve_request *r, struct error *err);
// Refuses options that do not apply to the problem, before anything is written.
enum status solve_request_suits(const struct solve_request *r, const struct problem *problem,
                                struct error *err);

// What is left of it after the search. lost: only its plan is left, so there is nothing to
// prove the bound from, and no time for more plans; says so.
struct solve_request solve_request_left(const struct solve_request *r, bool lost);

// ---- certify.c

struct certify_request {
    const struct solve_request *asked; // with a certificate_path
    struct solved *solved;
    const struct part_text *parts; // of --join
};
// Writes the certificate. Afterwards the results state what it proves: bound, outcome, claim.
// SOLVER: nothing can be proven; they then state that nothing shows their bound.
enum status solve_certify(const struct certify_request *c, struct arena *arena, struct error *err);

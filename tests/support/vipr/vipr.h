// A reader of proofs in the format of VIPR, for tests (Cheung, Gleixner and Steffy, IPCO 2017;
// format 1.0 and 1.1), of any mixed-integer linear program. All numbers are rationals of arbitrary
// precision. It is strict where the format's own checker is known to be lenient (docs/PROOFS.md 9):
// every solution is checked against every constraint; rounding requires integer coefficients, on
// integer variables only; a disjunction requires an integer right-hand side; nothing is referred to
// before it is defined.
#pragma once

#include "solve/checker/check.h"

struct check_vipr_result {
    bool accepted;
    char reason[CHECK_REASON_MAX]; // why not
    bool infeasible;               // there is no solution, whichever way the file says it
    bool minimises;
    const char *lower,
        *upper; // or: the range that the file states ("-inf", "inf"), as it writes it
    int variables, integers, constraints, solutions, derivations, assumptions, combinations,
        roundings, disjunctions;
    uint64_t work;
};

// OK: audited; *result says whether it is proven. BAD_INPUT: a file that is not of this format.
enum status check_vipr(struct check_vipr_result *result, const struct check_text *file,
                       uint64_t work_limit, struct arena *arena, struct error *err);

// What an accepted file proves, in words: that there is no solution, or what was derived of all of
// them and what one of them reaches. Where the file holds no solution nothing is said about
// whether there is one.
const char *check_vipr_words(const struct check_vipr_result *r, struct arena *arena);

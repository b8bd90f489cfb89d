// A random small problem with all plans enumerated, to compare with solve.
#pragma once

#include "data/inputs/problem.h"
#include "solve/layout/solve.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/trials/certified.h"

struct exact_trial {
    struct problem problem;
    struct priced priced;
    struct schedule schedule;
    struct oracle oracle;
    struct solve_result result;
    struct certified certified;
};

// The problem's price, schedule and enumeration. false: it has more plans than `plans_max`.
bool exact_trial_enumerate(struct exact_trial *t, int64_t plans_max, struct arena *arena);
// Fails unless solve finds the least time, with that bound, or that there is no plan; the judge
// accepts it; the checker accepts its certificate, which proves just that. By the seed the search
// goes this way or that.
void exact_trial_check(struct exact_trial *t, uint64_t seed, struct arena *arena);
// Fails unless planner, judge and checker price the problem identically, term by term. Returns how
// many numbers of the priced document the checker compared.
int64_t exact_trial_prices(const struct exact_trial *t, uint64_t seed, struct arena *arena);
// Fails unless the textbook program by glp_intopt finds it, too.
void exact_trial_textbook(const struct exact_trial *t, uint64_t seed, struct arena *arena);

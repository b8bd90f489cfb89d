// Proofs of one layout, as in a certificate: the solver's own, with weights, prices, splits and
// counted resources changed, and rounds of random mixtures. For each, the largest bound for which
// the checker accepts it.
#pragma once

#include "tests/support/claims/truth.h"
#include "tests/support/problems.h"

struct check_problem;
struct cJSON;

// INT64_MAX: that there is no plan; -1: none. truth_ns only directs the search.
int64_t mixture_largest(const struct check_problem *p, int64_t truth_ns, struct random *rng,
                        struct arena *arena);

// The solver's proof for the layout, parsed; NULL: it wrote nothing. bound_ns: its claim.
struct cJSON *proof_of_layout(const struct layout_truth *l, struct arena *arena);
void proof_change(struct cJSON *proof, struct random *rng, struct arena *arena);
int64_t proof_largest(const struct check_problem *p, const struct cJSON *proof, int64_t truth_ns,
                      struct arena *arena);

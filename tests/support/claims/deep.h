// Claims that take longer than a bound from prices: searches and their documents, solves of one
// layout, proofs, certificates.
#pragma once

#include "tests/support/claims/judge.h"
#include "tests/support/problems.h"

// Mixtures for every layout; the solver's own proof and `changes` changed ones for one of them, and
// likewise where memory is tight for all with several stages a rank.
void claims_proofs(struct claims *c, const struct space_truth *t, int changes, struct random *rng);
// A search to the end, one with a gap, one that is stopped at once; solves of one layout.
void claims_search(struct claims *c, const struct space_truth *t, struct random *rng);
// The writer's certificate, and the largest claim for all layouts for which a certificate can be
// assembled.
void claims_certificate(struct claims *c, const struct space_truth *t);

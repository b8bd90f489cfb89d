// The planner's search by boxes on the checker's problem of placements, including what the checker
// adds for chains of device groups.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_CHAINED_H
#define PLUMBLINE_SOLVE_CERTIFICATE_CHAINED_H

#include "solve/checker/read/problem.h"
#include "solve/layout/solve.h"

// p: with a chain (solve/checker/boxes/chain.h). priced: the same prices, and everything else.
// evidence->proof_bound_ns becomes what the records prove, at most target_ns; 0: nothing.
enum status certificate_search_chained(struct solve_evidence *evidence,
                                       const struct check_problem *p, const struct priced *priced,
                                       int64_t target_ns, struct arena *arena, struct error *err);

#endif

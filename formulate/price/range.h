// How far the costs' intervals leave a plan's time open: the same decision with every number of the
// costs at the fast and at the slow end of its interval.
#ifndef PLUMBLINE_FORMULATE_PRICE_RANGE_H
#define PLUMBLINE_FORMULATE_PRICE_RANGE_H

#include "data/results/plan.h"
#include "data/inputs/problem.h"

// Fills in iteration_low_ns and iteration_high_ns, and whether runner_up_ns lies between them.
// `problem` has the plan's layout. Where an end of the costs cannot be priced both stay 0.
enum status range_of_plan(struct plan *plan, const struct problem *problem, struct arena *arena,
                          struct error *err);

#endif

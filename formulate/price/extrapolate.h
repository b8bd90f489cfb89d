// Which numbers of the costs a plan's prices used outside the samples they were fitted on
// (valid_low, valid_high; first and last size of tables and segments). Products are checked one by
// one, attention and elementwise parts pass by pass, then messages and all-reduces.
#ifndef PLUMBLINE_FORMULATE_PRICE_EXTRAPOLATE_H
#define PLUMBLINE_FORMULATE_PRICE_EXTRAPOLATE_H

#include "data/results/plan.h"
#include "data/inputs/problem.h"

// Sets plan->extrapolated. `problem` has the plan's layout.
enum status extrapolation_of_plan(struct plan *plan, const struct problem *problem,
                                  struct arena *arena, struct error *err);

#endif

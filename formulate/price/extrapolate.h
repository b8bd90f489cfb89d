// Which numbers of the costs a plan's prices took beyond the samples they were fitted on
// (valid_low, valid_high; tables' and segments' first and last size). Products one by one,
// attention and elementwise parts pass by pass, messages, all-reduces.
#ifndef PLUMBLINE_FORMULATE_PRICE_EXTRAPOLATE_H
#define PLUMBLINE_FORMULATE_PRICE_EXTRAPOLATE_H

#include "data/results/plan.h"
#include "data/inputs/problem.h"

// Fills in plan->extrapolated. `problem` has the plan's layout.
enum status extrapolation_of_plan(struct plan *plan, const struct problem *problem,
                                  struct arena *arena, struct error *err);

#endif

// The problem that a plan was made from, at the place that the plan states.
#pragma once

#include "data/results/plan.h"

// Whether the plan was made from the document as it is now ("model", "costs" ...).
bool origin_matches(const struct plan *plan, const char *role, const struct document *now);
// false: it is missing, or has changed. Does not include its costs.
bool origin_problem(const struct plan *plan, struct problem *problem, struct arena *arena);

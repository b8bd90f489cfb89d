// Finds the problem that a plan was made from, at the place that the plan states.
#ifndef PLUMBLINE_SOLVE_COMMANDS_ORIGIN_H
#define PLUMBLINE_SOLVE_COMMANDS_ORIGIN_H

#include "data/inputs/problem.h"
#include "data/results/plan.h"

// Whether the plan was made from the document as it is now ("model", "costs" ...).
bool origin_matches(const struct plan *plan, const char *role, const struct document *now);
// false: it is missing, or has changed. Does not include its costs.
bool origin_problem(const struct plan *plan, struct problem *problem, struct arena *arena);
// With its costs; NULL: missing, or changed.
const struct problem *origin_whole_problem(const struct plan *plan, struct arena *arena);

// BAD_INPUT: the plan's stages do not hold the layers of its problem, each once and in order. NULL:
// the problem is missing.
enum status origin_check_layers(const struct plan *plan, const struct problem *problem,
                                struct error *err);

#endif

// The nearest plan to one whose stages recompute differently, for a framework with one setting for
// all stages, or for all stages of a rank: the same layers on the same devices, with the setting
// that fits into memory and takes the least time (for a rank: the least work).
#ifndef PLUMBLINE_SOLVE_COMMANDS_ONE_RECOMPUTE_H
#define PLUMBLINE_SOLVE_COMMANDS_ONE_RECOMPUTE_H

#include "data/inputs/framework.h"
#include "data/inputs/problem.h"
#include "data/results/plan.h"

// Megatron-LM's settings: none, selective, full, or the first n layers of each stage; other
// frameworks': those of framework_recomputes except the last. *to is the plan with stages, ranks
// and iteration_ns of that setting, priced anew (with a placement, the syncs stay those of the
// plan), or NULL: the plan is not one of the problem. BAD_INPUT: no setting fits.
enum status one_recompute_find(const struct plan **to, const struct plan *plan,
                               const struct problem *problem, enum framework framework,
                               bool by_rank, struct arena *arena, struct error *err);

#endif

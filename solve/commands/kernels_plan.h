// A plan as its kernels alone would take it, without what a trainer's step adds to them.
#ifndef PLUMBLINE_SOLVE_COMMANDS_KERNELS_PLAN_H
#define PLUMBLINE_SOLVE_COMMANDS_KERNELS_PLAN_H

#include "data/results/plan_run.h"
#include "solve/report/against/against.h"

// The plan that a run is compared with: for own kernels the decision at the costs of its problem
// without their step factors, else the plan itself; also where its problem is not available.
enum status plan_for_run(struct plan *to, const struct plan *plan, const struct plan_run *run,
                         struct arena *arena, struct error *err);
// Brings the run to the speed of the machine at which its plan's costs were measured, if both have
// a yardstick.
void plan_bring_run(struct plan_run *run, const struct plan *plan, struct arena *arena);
// Whether the plan's stages would fit if none recomputed anything: *kept; known false where its
// problem is not available.
void plan_find_kept(struct against_kept *kept, const struct plan *plan, struct arena *arena);

#endif

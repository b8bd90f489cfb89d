// How far the costs' intervals leave an iteration's time open. Each group of costs moves the time
// by what it differs by with all of the group at one end; the groups err independently of each
// other, and of what the formulas leave open, so the differences add up in squares
// (docs/FORMULAS.md 19).
#ifndef PLUMBLINE_FORMULATE_PRICE_RANGE_H
#define PLUMBLINE_FORMULATE_PRICE_RANGE_H

#include "data/inputs/cost_keys.h"
#include "data/results/plan.h"
#include "data/inputs/problem.h"

// Costs with one group of them at one end.
struct moved_costs {
    enum cost_group group;
    enum cost_end end;
    struct costs costs;
};
struct moved_costs_list {
    int count;
    struct moved_costs items[COST_GROUPS * COST_ENDS];
};
// Leaves out groups that no time can depend on.
void range_move_costs(struct moved_costs_list *list, const struct costs *costs,
                      struct arena *arena);

struct range {
    int64_t ns;                // with the costs as they are
    double squares[COST_ENDS]; // of what the time differs by, in nanoseconds
};
struct range range_begin(int64_t ns, const struct costs *costs);
void range_add(struct range *r, enum cost_end end, int64_t moved_ns);
int64_t range_end_ns(const struct range *r, enum cost_end end);

// The iteration time of the plan's decision with each of `moved`, ns[moved->count]; 0: it cannot be
// priced so. For a plan with stages and without a placement.
enum status range_times(int64_t *ns, const struct moved_costs_list *moved, const struct plan *plan,
                        const struct problem *problem, struct arena *arena, struct error *err);

// Fills in iteration_low_ns and iteration_high_ns, and whether runner_up_ns lies between them.
// `problem` has the plan's layout. Where some costs moved cannot be priced both stay 0.
enum status range_of_plan(struct plan *plan, const struct problem *problem, struct arena *arena,
                          struct error *err);

#endif

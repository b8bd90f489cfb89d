// How much of an iteration's time the intervals of the costs leave open. Each group of costs
// changes the time by a factor when the whole group is at one end of its intervals. The groups err
// independently of each other and of the error of the formulas, so the squares of the factors'
// logarithms add up; but a trainer's factor comes from whole iterations, priced with these kernels,
// and contains their errors, so of the two the greater counts, and of a factor that was fitted to
// the machine's own runs that of the factor. Where runs of the very program were
// predicted, what they show bounds all of this but the host (docs/FORMULAS.md 19). And which
// numbers of the costs lie outside the samples they were fitted on (extrapolate.c).
#pragma once

#include "data/inputs/cost_keys.h"
#include "data/results/plan.h"

// Costs with one group of them at one end of their intervals.
struct moved_costs {
    enum cost_group group;
    enum cost_end end;
    struct costs costs;
};
struct moved_costs_list {
    int count;
    struct moved_costs items[COST_GROUPS * COST_ENDS];
};
// Leaves out groups that no time depends on. Those that move compute alone come first.
void range_move_costs(struct moved_costs_list *list, const struct costs *costs,
                      struct arena *arena);

// What published runs of a program show: the logarithm of the factor within which three to four in
// five are predicted with such costs; of the interval of what a host takes to launch, the part that
// another host leaves open where the program's operations are known. 0: nothing. launched: hosts
// took a good part of these runs, so that their doubt is in `off`, too.
struct shown_runs {
    double off, host;
    bool launched;
};

struct range {
    int64_t ns;  // with the costs as they are
    double host; // part of the interval of launches
    // The squared logarithms of what published runs of its program show, and of what they show
    // nothing of, as it is done once an iteration; 0: nothing.
    double shown, once;
    // The squared logarithms of the time's factors: by what the formulas are off, by groups of
    // costs, by cases.
    double own, squares[COST_GROUPS][COST_ENDS], cases[COST_ENDS];
    bool fitted;             // the trainer's factor, to iterations
    bool launched;           // what is shown is of launches, too
    double joint[COST_ENDS]; // of one case that changes all of these at once
};
// Costs that were fitted to runs have their own: nothing is shown of these.
struct range range_begin(int64_t ns, const struct problem *problem, struct shown_runs shown);
void range_add(struct range *r, enum cost_group group, enum cost_end end, int64_t moved_ns);
// false: whatever this group does to the time, published runs show less than is added already.
bool range_needs(const struct range *r, enum cost_group group, enum cost_end end);
// The time in a case that may be, which is inside the range.
void range_add_case(struct range *r, enum cost_end end, int64_t moved_ns);
// The time in a case that takes the place of all others: the greater doubt counts.
void range_add_joint_case(struct range *r, int64_t moved_ns);
int64_t range_end_ns(const struct range *r, enum cost_end end);
// What widens it most at its slow end, and the time with that alone.
const char *range_widest(const struct range *r, int64_t *ns);

// The iteration time of the plan's decision with each of `moved`: ns[moved->count]; 0: it cannot be
// priced with these costs. For a plan that has stages and no placement.
enum status range_times(int64_t *ns, const struct moved_costs_list *moved, const struct plan *plan,
                        const struct problem *problem, struct arena *arena, struct error *err);

// Sets iteration_low_ns and iteration_high_ns, and whether runner_up_ns is between them. `problem`
// has the plan's layout. If some of the moved costs cannot be priced, both stay 0.
enum status range_of_plan(struct plan *plan, const struct problem *problem, struct arena *arena,
                          struct error *err);

// Sets plan->extrapolated: the numbers that the plan's prices used outside their samples
// (valid_low, valid_high; first and last size of tables and segments). Products are checked one by
// one, attention and elementwise parts pass by pass, then messages and all-reduces. `problem` has
// the plan's layout.
enum status extrapolation_of_plan(struct plan *plan, const struct problem *problem,
                                  struct arena *arena, struct error *err);

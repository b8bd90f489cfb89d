// One complete decision: whether its parts fit together, and its iteration time, by replay of the
// graph.
#ifndef PLUMBLINE_SOLVE_CHECKER_PLAN_H
#define PLUMBLINE_SOLVE_CHECKER_PLAN_H

#include "solve/checker/choices.h"

// What couples the stages besides the layers: the slots of each group, then the budgets of
// boundaries, stages and cost. Limit -1: none.
int check_resource_count(const struct check_problem *p);
int64_t check_resource_limit(const struct check_problem *p, int resource);
int64_t check_use(const struct check_problem *p, int stage, int resource,
                  const struct check_choice *c);

// Whether a decision keeps all that couples its stages. NULL: yes; else what it breaks.
const char *check_misfit(const struct check_graph *g, const struct check_choice *const *chosen);

struct check_replay {
    const struct check_graph *g;
    int64_t *durations;            // [symbol]
    int64_t *end, *start, *handed; // [operation]; handed: by the previous iteration
    int *symbol;                   // [operation]
    bool *opens;                   // [operation]: waits for the previous iteration
    int open_count;
    uint64_t *work;
};

void check_open_replay(struct check_replay *r, const struct check_graph *g, uint64_t *work,
                       struct arena *arena);
// Durations of all symbols for these choices, which fit together.
void check_take_durations(struct check_replay *r, const struct check_choice *const *chosen);
// *within: whether an iteration with these durations takes at most t_ns.
enum status check_takes_at_most(struct check_replay *r, int64_t t_ns, bool *within);

// The duration of a boundary's symbol: part `part` of a transfer of kind KIND_SEND_* and slice,
// between two choices.
int64_t check_transfer_ns(const struct check_problem *p, int boundary, int kind, int slice,
                          const struct check_choice *from, const struct check_choice *to);
// Whether transfers can go from one group to the other over this boundary.
bool check_is_joined(const struct check_problem *p, int boundary, int from_group, int cut,
                     int to_group);

#endif

// Solves one box's relaxation: separates until no path is violated, and bounds it exactly. Inside a
// job only.
#ifndef PLUMBLINE_SOLVE_TREE_NODE_H
#define PLUMBLINE_SOLVE_TREE_NODE_H

#include "solve/tree/job.h"

struct subtree {
    const struct task *job;
    struct job_result *result;
    struct program *program;
    struct bound_scratch scratch;
    struct lp *lp;
    bool *closed;      // [column_count], of the current box
    double *values;    // [column_count], ns for times
    double *symbol_ns; // [symbol_count]
    int *time_columns;
    int time_column_count;
    int64_t target_ns, best_ns; // bound at which a box is closed; time that a plan must beat
    double elastic_price;
    struct box *stack;
    int stack_count, stack_capacity;
    struct arena *arena;
};

enum settled { SETTLED_CLOSED, SETTLED_OPEN, SETTLED_BLIND }; // BLIND: no relaxation to branch on
enum settled settle(struct subtree *t, struct box *box);

// By the current relaxation: the highest fractional level, else a fractional choice. false: all
// choices are whole.
bool split_by_relaxation(struct split *s, const struct subtree *t, const struct box *box);
// The decision of the current relaxation if all choices are whole.
void relaxed_decision(const struct subtree *t, const struct box *box, int *chosen);

#endif

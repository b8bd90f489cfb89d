// Solves one box's relaxation: separates until no path is violated, and bounds it exactly. Inside a
// job only.
#pragma once

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
    const struct level_rows *levels; // NULL: the relaxation has no levels
    struct box *stack;
    int stack_count, stack_capacity;
    struct arena *arena;
};

// The rows of the program that represent levels, for a relaxation with them.
struct level_rows {
    int **of_level;    // [stage][level]: the row that defines the level
    int *stage_of_row; // [first_path_row]: of a row that says that a stage has one choice, else -1
};
const struct level_rows *level_rows_find(const struct program *p, struct arena *arena);

// Bound of the box by the current multipliers, as an exact sum; false: nothing is known. A better
// bound is stored in the box.
bool bound_box(struct subtree *t, struct box *box, wide *exact);
// Adds rows of violated paths; false: there are none.
bool separate(struct subtree *t);
// Adds the record that ends the box, if its bound reaches the target.
bool close_box(struct subtree *t, struct box *box);

enum settled { SETTLED_CLOSED, SETTLED_OPEN, SETTLED_BLIND }; // BLIND: no relaxation to branch on
enum settled settle(struct subtree *t, struct box *box);

// ---- job.c

void push_box(struct subtree *t, const struct box *box); // open ones
// Notes a plan that is better than the best so far, which may lower the target.
void note_plan(struct subtree *t, const int *chosen);
// Whether there is only one decision, or none: no relaxation is needed, and the box has ended.
bool is_leaf(struct subtree *t, struct box *box, int *chosen);

// ---- branch.c

// Works on the job's box by glp_intopt; what is left is pushed. Nothing may be done at all.
void branch_by_glpk(struct subtree *t);

// ---- node.c

// By the current relaxation: the highest fractional level, else a fractional choice. false: all
// choices are whole.
bool split_by_relaxation(struct split *s, const struct subtree *t, const struct box *box);
// The decision of the current relaxation if all choices are whole.
void relaxed_decision(const struct subtree *t, const struct box *box, int *chosen);

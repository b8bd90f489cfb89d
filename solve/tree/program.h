// A program as the tree sees it: the formulation, its choices numbered consecutively, and the pool
// of path rows. Path rows are global: each is a path of the graph and holds for every plan of the
// layout.
#ifndef PLUMBLINE_SOLVE_TREE_PROGRAM_H
#define PLUMBLINE_SOLVE_TREE_PROGRAM_H

#include "formulate/graph/pool.h"
#include "formulate/program/formulate.h"

struct program {
    struct formulation *formulation;
    const struct choices *choices;
    struct graph *graph;
    int stage_count, symbol_count;
    int choice_count;          // over all stages; a choice's number is first_choice[stage] + index
    int *first_choice;         // [stage_count + 1]
    int *stage_of, *column_of; // [choice_count]
    int *by_load;              // [choice_count]: each stage's choices in ascending load
    int64_t *load_ns;          // [choice_count]
    int unit_log2;
    int64_t hopeless_ns; // more than any plan takes: a box with such a bound has no plan
    int first_path_row;
    struct path_pool paths;
    int64_t *durations; // scratch, [symbol_count]
    int *counts;
    struct arena *arena;
};

void program_prepare(struct program *p, struct formulation *f, struct graph *graph,
                     int64_t time_upper_ns, struct arena *arena);

// The row of a path; *is_new: it was added.
int program_add_path(struct program *p, const int *counts, bool *is_new);
// Forgets the paths after the first path_count, so that a worker's program is the same before every
// box.
void program_forget_paths(struct program *p, int path_count);

// The longest path at column values (times in ns, fractional): its counts[], and its length in ns.
double program_longest_at(struct program *p, const double *symbol_ns, int *counts);

// Exact time of a decision, or -1 if the stages do not fit together.
int64_t program_time(struct program *p, const int *chosen);
// The counts of its longest path, in p->counts; false if the stages do not fit together.
bool program_critical(struct program *p, const int *chosen);

#endif

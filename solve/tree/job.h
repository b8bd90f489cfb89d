// One job of the tree: a box is explored depth first, the lighter half of every split first, up to
// a number of relaxations; what is left is returned as open boxes. A job depends only on its
// request and on the program with the paths known at the start of the round, so the answer does not
// depend on which process does it, or when.
#pragma once

#include "formulate/graph/pool.h"
#include "formulate/program/formulate.h"
#include "solve/tree/lp.h"
#include "solve/process/worker.h"

// Exact lower bounds. For any row multipliers y of the right sign, sum y x right-hand side + sum
// over the columns of the residual (c - yA) times the column bound that makes it least, is a lower
// bound of the program in a box (Neumaier and Shcherbina 2004). Here y are whole multiples of
// 2^-40, all data are integers, and the sum is computed in 128-bit integers with overflow checks,
// so the result is proven, whatever the simplex method did.

enum { BOUND_FRACTION_BITS = 40 };
__extension__ typedef __int128 wide;

// A row's multiplier is value x 2^-40 ns per unit of the row; for rows without a time column, times
// 2^unit_log2.
struct multipliers {
    int *rows; // ascending
    int64_t *values;
    int count;
    int unit_log2;
};

struct bound_scratch {
    wide *residual; // [column_count], 2^-40 ns; valid after bound_evaluate
    int *touched;   // columns with entries in rows that have multipliers
    int touched_count;
    bool *is_touched;
    const struct milp *milp;
    int *symbol_row;   // [column_count]: the ROW_SYMBOL that defines a symbol column, -1
    bool *is_time_row; // [row_known]; later rows are inspected
    int row_known;
};
void bound_prepare(struct bound_scratch *s, const struct milp *m, struct arena *arena);

// Rounds the multipliers that the simplex method left, in the program's own units, to whole ones:
// right signs, and the residuals of the time column and of the symbols exactly zero (symbol rows
// are equations, so any multiplier is allowed there).
void bound_round(struct multipliers *m, struct bound_scratch *s, const int *rows,
                 const double *values, int count, int unit_log2, struct arena *arena);

// The bound of the box in which the closed columns are 0, in whole ns, rounded up (the time of a
// plan is whole). false: overflow, or an unusable residual; then nothing is known. *exact (may be
// NULL) is the sum in 2^-40 ns.
bool bound_evaluate(int64_t *bound_ns, wide *exact, const struct milp *m, const bool *closed,
                    const struct multipliers *y, struct bound_scratch *s);

// A program as the tree sees it: the formulation, its choices numbered consecutively, and the pool
// of path rows. Path rows are global: each is a path of the graph and holds for every plan of the
// layout.

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

// A box of the tree: which choices are still allowed in every stage, and the bound that it
// inherits. Splitting a box at a level of a stage's load splits the stage's allowed choices in two;
// so does every other branching.
//
// Records are what the tree proves: they are kept in full, can be evaluated a second time
// (recheck.c), and certificates are written from them.

// The margin with which a dynamic programme that rounds slightly differently proves the same: 2^-4
// ns.
enum { AMPLE_BITS = BOUND_FRACTION_BITS - 4 };

struct box {
    int64_t number;   // 0: the root; a child's is larger than its parent's
    int64_t bound_ns; // exact
    bool ample;       // before rounding up it was above bound_ns - 1 by more than 2^-4 ns
    int depth;
    uint64_t *allowed; // one bit for each choice number
    struct multipliers
        proof; // of bound_ns in this box or an enclosing one; count 0: the bound is the root's
    struct lp_basis basis;
};

static inline int box_words(const struct program *p) { return (p->choice_count + 63) / 64; }
static inline bool box_allows(const struct box *b, int choice)
{
    return b->allowed[choice / 64] >> (choice % 64) & 1;
}
static inline void box_forbid(struct box *b, int choice)
{
    b->allowed[choice / 64] &= ~((uint64_t)1 << (choice % 64));
}
int box_allowed_count(const struct box *b, const struct program *p, int stage);
void box_whole(struct box *b, const struct program *p, struct arena *arena);
void box_copy(struct box *to, const struct box *from, const struct program *p, struct arena *arena);
// One: a single decision is left, in chosen[]. Zero: no stage is without a choice, and there is
// more than one decision. -1: a stage has no choice.
int box_single(const struct box *b, const struct program *p, int *chosen);
// Sets closed[column] of the program for this box; all other columns false.
void box_close_columns(const struct box *b, const struct program *p, bool *closed);

// A split: some of the stage's choices against the others.
struct split {
    int stage;
    bool by_load;
    int64_t load_ns;
    int choice;
}; // first part: load below load_ns; or this one choice
void split_apply(struct box *first, struct box *second, const struct box *of, const struct split *s,
                 const struct program *p, struct arena *arena);
// Without using a relaxation: the stage with the most choices left, halved by load or by one
// choice.
bool split_blindly(struct split *s, const struct box *b, const struct program *p);

enum record_kind {
    RECORD_CLOSED,  // bound_ns by the multipliers in the box `allowed`
    RECORD_EMPTY,   // a stage has no choice left
    RECORD_LEAF,    // one decision with exact time bound_ns (program's hopeless_ns: it does not fit
                    // together)
    RECORD_REMOVED, // by the multipliers, no plan of this box better than target_ns has a choice in
                    // `removed`
    RECORD_SPLIT,   // into the boxes first and first + 1
};

struct record {
    enum record_kind kind;
    int64_t box;
    int64_t bound_ns, target_ns;
    bool ample;
    int64_t first;
    uint64_t *allowed, *removed;
    struct multipliers proof;
    struct split split;
};

struct record_list {
    struct record *items;
    int count, capacity;
};
struct record *record_add(struct record_list *list, enum record_kind kind, const struct box *b,
                          const struct program *p, struct arena *arena);

void box_put(struct message *m, const struct box *b, const struct program *p);
void box_get(struct box *b, struct message *m, const struct program *p, struct arena *arena);
void record_put(struct message *m, const struct record *r, const struct program *p);
void record_get(struct record *r, struct message *m, const struct program *p, struct arena *arena);

struct task {
    int64_t target_ns; // of the best plan known: only better ones are reported
    int attempt;       // 0; later attempts are more careful and do less
    int box_limit;
    bool by_glpk;     // glp_intopt chooses boxes and branches (branch.c)
    bool keep_target; // alternatives are wanted: a plan found does not lower the target
    double gap; // boxes are closed at bounds within this gap of the target, or at bounds that reach
                // the cut-off
    int64_t cutoff_ns;
    struct box box;
    const struct watch *watch; // ends the job early; NULL: never
};

struct found_plan {
    int *chosen;
    int64_t time_ns;
};

enum {
    LOCAL_NUMBERS = 1 << 30
}; // boxes created by the job are numbered from here; the master renumbers them

struct job_result {
    int box_count; // boxes created
    int64_t explored, relaxations;
    int path_count; // new ones
    int *paths;
    struct found_plan *plans;
    int plan_count, plan_capacity;
    struct record_list records;
    struct box *open;
    int open_count;
};

void job_run(struct job_result *r, const struct task *job, struct program *p, struct arena *arena);

void job_put(struct message *m, const struct task *job, const struct program *p);
void job_get(struct task *job, struct message *m, const struct program *p, struct arena *arena);
void job_result_put(struct message *m, const struct job_result *r, const struct program *p);
void job_result_get(struct job_result *r, struct message *m, const struct program *p,
                    struct arena *arena);

// Shared by the files that write VIPR.
#pragma once

#include "solve/tree/tree.h"
#include "solve/certificate/vipr/vipr.h"

// A linear combination of rows of the file.
struct combination {
    int *rows;
    wide *values;
    int count, capacity;
    wide right; // sum of the right-hand sides
    bool bad;   // something overflowed
};

struct row_set {
    const int *items;
    int count;
}; // assumptions, ascending

struct vipr_maker {
    const struct vipr_request *request;
    struct schedule schedule;
    struct choices choices;
    struct graph *graph;
    struct formulation formulation;
    struct program program;
    const struct milp *milp;
    struct tree tree;
    int64_t target_ns;               // every box reaches it
    struct multipliers *leaf_proof;  // [record]
    int *first_record, *next_record; // of a box, in order; -1: none
    int *row_of;                     // [milp row]: its number in the file, -1: left out
    int constraint_count, path_rows;
    struct text head, lines;
    int line_count, line_capacity;
    struct row_set *sets; // [line]
    int below; // the row T <= target - 1: an assumption, or the bound of T where there is no plan
    int *one_row; // [stage]: the row "one choice", -1: not derived yet
    struct combination sum;
    struct bound_scratch scratch;
    bool *closed; // [column], of the current box
    struct arena *arena;
};

static inline int vipr_lower(int column) { return 2 * column; } // rows of column bounds
static inline int vipr_upper(int column) { return 2 * column + 1; }

// Multipliers that close the single decision of a record.
enum status vipr_close_leaf(struct vipr_maker *m, const struct record *r, struct multipliers *y,
                            struct error *err);
// The same multipliers with as few bits as suffice.
void vipr_shorten(struct vipr_maker *m, const struct record *r, struct multipliers *y);
// Header to SOL.
enum status vipr_write_problem(struct vipr_maker *m, const int *chosen, int64_t iteration_ns,
                               struct error *err);

// ---- lines. Each returns the row's number in the file
void sum_begin(struct combination *c);
void sum_add(struct vipr_maker *m, int row, wide value, int64_t right);
struct claim {
    char sense;
    int64_t right;
    const int *columns;
    int count;
    bool objective;
}; // sum of the columns; or the objective
int vipr_assume(struct vipr_maker *m, const struct claim *claim);
int vipr_combine(struct vipr_maker *m, const struct claim *claim, bool rounds,
                 wide divisor); // the current sum / divisor
int vipr_unsplit(struct vipr_maker *m, const struct claim *claim, int low, int low_side, int high,
                 int high_side);
bool vipr_rests_on(const struct vipr_maker *m, int row, int assumption);
// The boxes: returns the row of the absurdity in which the tree ends.
enum status vipr_walk(struct vipr_maker *m, int *row, struct error *err);

extern const struct claim vipr_absurd;

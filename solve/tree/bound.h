// Exact lower bounds. For any row multipliers y of the right sign, sum y x right-hand side + sum
// over the columns of the residual (c - yA) times the column bound that makes it least, is a lower
// bound of the program in a box (Neumaier and Shcherbina 2004). Here y are whole multiples of
// 2^-40, all data are integers, and the sum is computed in 128-bit integers with overflow checks,
// so the result is proven, whatever the simplex method did.
#ifndef PLUMBLINE_SOLVE_TREE_BOUND_H
#define PLUMBLINE_SOLVE_TREE_BOUND_H

#include "data/program/milp.h"

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

#endif

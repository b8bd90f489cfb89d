// The units in which a program is written for other solvers. They are powers of ten, so that every
// whole number is a decimal of the file, exactly. In nanoseconds and bytes, coefficients differ by
// a factor of 1e10 or more, which is beyond the tolerances of floating-point solvers.
#ifndef PLUMBLINE_FORMULATE_PROGRAM_UNITS_H
#define PLUMBLINE_FORMULATE_PROGRAM_UNITS_H

#include "data/program/milp.h"
#include "data/text/pieces.h"

struct milp_units {
    int time_log10; // a time of 10^this ns is written as 1
    int *row_log10; // [row_count]: both sides of the row are divided by 10^this
};

// The greatest coefficient in ns is written as less than 100. Rows without a column in ns (memory
// of ranks with several stages, budgets) have a power of ten of their own where their coefficients
// are large.
struct milp_units milp_units_of(const struct milp *m, struct arena *arena);
int milp_units_column_log10(const struct milp_units *u, const struct milp_column *c);
int64_t milp_units_power(int log10); // 10^log10, at most 10^18

// value / 10^log10 as a decimal without an exponent and without needless digits.
void milp_units_put(struct text *t, int64_t value, int log10);
// The lines that say what the numbers mean, each after `mark`, a format's sign for comments.
void milp_units_explain(struct text *t, const struct milp *m, const struct milp_units *u,
                        const char *mark);

#endif

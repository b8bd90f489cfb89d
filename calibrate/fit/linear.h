// A time as a sum of terms, none of them negative: time = sum of x[j] * design[j]. Weighted least
// squares with 95 % intervals.
#ifndef PLUMBLINE_CALIBRATE_FIT_LINEAR_H
#define PLUMBLINE_CALIBRATE_FIT_LINEAR_H

#include <stdbool.h>

#include "data/base/arena.h"
#include "data/base/status.h"

enum { LINEAR_TERMS_MAX = 4 };

// A number and its 95 % interval.
struct interval {
    double value, low, high;
};

struct linear {
    struct interval x[LINEAR_TERMS_MAX];
    bool held[LINEAR_TERMS_MAX]; // at 0, because it would be negative in the unconstrained optimum
    int terms;                   // not held
    double scatter; // root of chi-square per degree of freedom: 1 where points scatter as much as
                    // their deviations state
    double chi_square;
    int freedom;
};

// design[rows][columns] row by row; rows >= columns, columns <= LINEAR_TERMS_MAX; deviation[rows]
// > 0 gives the points' weights. Their scale comes from the scatter if there are more points than
// terms. BAD_INPUT if the columns are not distinguishable.
enum status fit_linear(struct linear *f, int rows, int columns, const double *design,
                       const double *observed, const double *deviation, struct arena *arena,
                       struct error *err);

#endif

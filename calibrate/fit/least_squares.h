// Weighted linear least squares: minimise the sum over rows of ((observed - design . x) /
// deviation)^2.
#ifndef PLUMBLINE_CALIBRATE_FIT_LEAST_SQUARES_H
#define PLUMBLINE_CALIBRATE_FIT_LEAST_SQUARES_H

#include "data/base/arena.h"
#include "data/base/status.h"

struct solution {
    double *x;          // [columns]
    double *covariance; // [columns][columns], taking deviations as true standard deviations
    double chi_square;  // the minimum
};

// design[rows][columns] row by row, rows >= columns >= 1; deviation[rows] > 0. BAD_INPUT if the
// columns are not distinguishable (the design is rank deficient).
enum status least_squares(struct solution *s, int rows, int columns, const double *design,
                          const double *observed, const double *deviation, struct arena *arena,
                          struct error *err);

#endif

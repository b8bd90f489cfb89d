// How far predictions are from measurements: errors as fractions of the measured value, rank
// correlations, regret, and how well running out of memory was predicted. No averages over
// sources.
#ifndef PLUMBLINE_CALIBRATE_RUNS_SCORES_H
#define PLUMBLINE_CALIBRATE_RUNS_SCORES_H

#include <stdbool.h>

#include "data/base/arena.h"

enum { GROUP_ROWS_MIN = 4 }; // for a rank correlation and a regret in a group

// One row that was predicted. group: equal for rows of one model, GPU count and global batch; >= 0.
struct scored {
    double measured, predicted;
    double low, high; // range left open by the prediction; NAN: unknown
    int group;
};

// A score for which there are too few rows is NAN.
struct scores {
    int rows;
    double median_abs_error, mean_abs_error, p90_abs_error, mean_error; // mean_error is signed
    double kendall_tau;                                                 // tau-b, mean over groups
    double spearman;                                                    // over all rows
    double regret_median,
        regret_mean; // measured time of the predicted best over the best measured - 1, over groups
    int groups;
    double inside,
        width; // share of rows measured from low to high; mean of (high - low) / predicted
};

// lower_is_better false (rates): the best is the greatest. Scratch is taken from the arena and
// released.
struct scores score_rows(const struct scored *rows, int count, bool lower_is_better,
                         struct arena *arena);

double kendall_tau_b(const double *x, const double *y, int count); // NAN: all of one are equal
double spearman_rho(const double *x, const double *y, int count, struct arena *arena);
double quantile(const double *sorted, int count,
                double share); // linear between the order statistics

#endif

// Samples as the fits use them: each sample's median and its uncertainty.
#ifndef PLUMBLINE_CALIBRATE_FIT_POINTS_H
#define PLUMBLINE_CALIBRATE_FIT_POINTS_H

#include "data/numbers/samples.h"

// One sample.
struct fit_point {
    const struct sample *sample; // NULL: not from a sample
    const char *operation;
    double work;               // FLOP, bytes, blocks
    double traffic;            // bytes moved in addition; 0: none, or not fitted
    double seconds, low, high; // the median and its 95 % rank interval
    double deviation;   // standard error of the median, for weights; 0: half the interval / 1.96
    double explained_s; // part of it that another rate accounts for; not fitted
};

// What launches and conditions of the samples show for a set of points.
struct point_notes {
    double launch_effect; // the greatest deviation of one launch's median from that of all
                          // launches, as a share: median over the points
    int launches;         // the most that any point has
    int throttled_repetitions, outlier_repetitions, repetitions;
    double throttled_slowdown; // median over points that have both: throttled over unthrottled
                               // median; 0: none has both
};

// BAD_INPUT: a median of 0. `path` and `index` name the sample in messages.
enum status point_of_sample(struct fit_point *p, const struct sample *s, double work,
                            const char *path, int index, struct arena *arena, struct error *err);
struct point_notes points_note(const struct fit_point *points, int count, struct arena *arena);

// Weights: the points' relative deviations are assumed equal (their median), because an interval
// from few repetitions is itself uncertain. A point ten times as wide as that gets less weight.
// deviation[count], in seconds, above 0.
void points_deviations(double *deviation, const struct fit_point *points, int count,
                       struct arena *arena);

// Ascending in work; equal works in an order independent of the samples' order.
void points_sort(struct fit_point *points, int count);
double median_of(double *values, int count); // sorts them; 0 if there are none

#endif

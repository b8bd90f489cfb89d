// The samples of one kind as a sum of few terms: time = overhead + work / rate, and where it helps
// + traffic / traffic rate.
#ifndef PLUMBLINE_CALIBRATE_FIT_FIT_H
#define PLUMBLINE_CALIBRATE_FIT_FIT_H

#include <stdbool.h>

#include "calibrate/fit/linear.h"
#include "calibrate/fit/points.h"

struct fit {
    const char *name;
    const struct fit_point *points; // ascending in work
    int point_count;
    struct interval overhead_s;   // never negative
    struct interval rate;         // work per second
    struct interval traffic_rate; // bytes per second, beside the work; all 0: no such term
    bool through_zero; // overhead is held at 0: asked for, or the free line met the axis below 0
    double scatter;    // root of chi-square per degree of freedom: above 1, the points lie further
                       // off than their own intervals allow
    double residual;   // median of |line / measured - 1| over the points fitted
    double
        held_out; // the same over points left out, one operation after the other; 0: not worked out
    double
        apart; // what launches or documents differ by, as a share; the intervals are widened by it
    struct point_notes notes;
};

enum line { LINE_WITH_OVERHEAD, LINE_THROUGH_ZERO, LINE_WITH_TRAFFIC };

// Fits the points in any order (they are sorted first, so that the order cannot change a digit).
// BAD_INPUT: fewer than two sizes, or a time that does not grow with the work; `file` is named in
// the message.
enum status fit_line(struct fit *f, const char *file, const char *name, enum line line,
                     struct fit_point *points, int point_count, struct arena *arena,
                     struct error *err);

// Points of one work, of which no overhead can be told apart: the median of their rates, from the
// least to the greatest that their own intervals allow.
void fit_one_size(struct fit *f, const char *name, struct fit_point *points, int point_count,
                  struct arena *arena);

// Of several forms the one that predicts operations it was not fitted on best: each operation is
// left out in turn (of less than three operations, each sample). A form with more terms is taken
// only where its held-out error is below nine tenths of the simpler one's.
enum status fit_best(struct fit *f, const char *file, const char *name, const enum line *forms,
                     int form_count, struct fit_point *points, int point_count, struct arena *arena,
                     struct error *err);

// A launch or document that differs from the line by this share could have been the only one: the
// intervals are widened by it.
void fit_widen(struct fit *f, double share);

// The line at this point's work and traffic, in seconds, without the explained part.
double fit_seconds(const struct fit *f, const struct fit_point *at);

#endif

// The samples of one kind as a sum of a few terms: time = overhead + work / rate, plus traffic /
// traffic rate where that helps.
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
    struct interval traffic_rate; // bytes per second, in addition to the work; all 0: no such term
    bool through_zero; // overhead is held at 0: requested, or the free line's was negative
    double scatter;    // root of chi-square per degree of freedom: above 1, points scatter more
                       // than their own intervals allow
    double residual;   // median of |line / measured - 1| over the points fitted
    double held_out;   // the same over left-out points, one operation at a time; 0: not computed
    double apart;      // relative difference between launches or documents; it widens the intervals
    struct point_notes notes;
};

enum line { LINE_WITH_OVERHEAD, LINE_THROUGH_ZERO, LINE_WITH_TRAFFIC };

// Fits the points in any order (they are sorted first, so the order affects no digit). BAD_INPUT:
// fewer than two sizes, or a time that does not grow with the work; `file` is named in the
// message.
enum status fit_line(struct fit *f, const char *file, const char *name, enum line line,
                     struct fit_point *points, int point_count, struct arena *arena,
                     struct error *err);

// Points with equal work, from which no overhead can be determined: the median of their rates,
// with the least and greatest that their own intervals allow.
void fit_one_size(struct fit *f, const char *name, struct fit_point *points, int point_count,
                  struct arena *arena);

// Of several forms, the one that best predicts operations it was not fitted on: each operation is
// left out in turn (with fewer than three operations, each sample). A form with more terms is
// chosen only if its held-out error is below nine tenths of the simpler one's.
enum status fit_best(struct fit *f, const char *file, const char *name, const enum line *forms,
                     int form_count, struct fit_point *points, int point_count, struct arena *arena,
                     struct error *err);

struct interval interval_widened(struct interval x, double share);
// Widens the intervals by this share: the relative difference of a launch or document, which could
// have been the only one.
void fit_widen(struct fit *f, double share);

// The fitted time of this point's work and traffic, and the explained part, in seconds.
double fit_seconds(const struct fit *f, const struct fit_point *at);

#endif

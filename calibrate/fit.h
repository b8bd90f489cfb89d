// One straight line through the samples of one kind: time = overhead + work / rate.
#ifndef PLUMBLINE_CALIBRATE_FIT_H
#define PLUMBLINE_CALIBRATE_FIT_H

#include <stdbool.h>

#include "data/arena.h"
#include "data/status.h"

// One sample as the fit sees it.
struct fit_point {
    const char *operation;
    double work;                    // FLOP, bytes, blocks
    double seconds, low, high;      // the median and its 95 % rank interval
    double explained_s;             // part of it that another rate accounts for; not fitted
};

// A number and its 95 % interval.
struct interval { double value, low, high; };

struct fit {
    const char *name;
    const struct fit_point *points;     // ascending in work
    int point_count;
    struct interval overhead_s;         // never negative
    struct interval rate;               // work per second
    bool through_zero;                  // overhead is held at 0: asked for, or the free line met the axis below 0
    double scatter;                     // root of chi-square per degree of freedom: above 1, the points lie further
                                        // off than their own intervals allow, and the fit's intervals are widened by it
};

enum line { LINE_WITH_OVERHEAD, LINE_THROUGH_ZERO };

// Fits the points in any order (they are sorted first, so that the order cannot change a digit). BAD_INPUT: fewer than
// two sizes, or a time that does not grow with the work; `file` is named in the message.
enum status fit_line(struct fit *f, const char *file, const char *name, enum line line, struct fit_point *points,
                     int point_count, struct arena *arena, struct error *err);

// The line at this work, in seconds, without the explained part.
double fit_seconds(const struct fit *f, double work);

#endif

// Times of messages by size: straight lines, each for a range of sizes, as where a protocol
// switches to another.
#ifndef PLUMBLINE_CALIBRATE_FIT_SEGMENTS_H
#define PLUMBLINE_CALIBRATE_FIT_SEGMENTS_H

#include "calibrate/fit/linear.h"
#include "calibrate/fit/points.h"

enum { SEGMENT_FITS_MAX = 6 };

struct segment_fit {
    double from_bytes;       // 0 for the first; half-way between two sizes, on a logarithmic scale
    struct interval seconds; // at from_bytes
    struct interval rate;    // bytes per second beyond it
    int first, count;        // its points
};

struct segmented {
    const char *name;
    const struct fit_point *points; // ascending in size
    int point_count;
    struct segment_fit segments[SEGMENT_FITS_MAX];
    int segment_count;
    double scatter, residual; // as in a fit
    struct point_notes notes;
};

// BAD_INPUT: no points. A single size gives a rate through zero.
enum status fit_segments(struct segmented *f, const char *name, struct fit_point *points, int count,
                         struct arena *arena, struct error *err);
// Lines with the ranges of `like`, fitted to other points. A range with too few of them keeps
// like's line.
enum status fit_segments_like(struct segmented *f, const struct segmented *like, const char *name,
                              struct fit_point *points, int count, struct arena *arena,
                              struct error *err);
double segmented_seconds(const struct segmented *f, double bytes);
struct interval segmented_latency(const struct segmented *f); // of the smallest message
// What a long message takes besides its bytes at the rate: a protocol's hand-shake, too. Not less
// than the smallest message's latency.
double segmented_start(const struct segmented *f);
struct interval segmented_rate(const struct segmented *f); // of the largest ones

#endif

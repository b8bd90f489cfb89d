// How certain a sample's median is, whatever ended its repetitions. If the data decide when to
// stop, chance has several attempts to produce an interval that misses; here these attempts are
// counted (docs/FORMULAS.md, section 12).
#pragma once

#include "data/numbers/samples.h"

int compare_numbers(const void *a, const void *b); // two doubles, ascending: for qsort
double median_of(double *values, int count);       // sorts them; 0 if there are none

// Numbers of repetitions at which the data may decide whether to go on, and the rank of the
// interval used there.
struct look {
    int count, rank;
};
enum { LOOK_COUNT = 16, LOOK_FIRST = 8, LOOK_LAST = 3140 };
extern const struct look looks[]; // [LOOK_COUNT] ascending

int look_after(int count); // the next look above; 0: there is none
bool look_is_at(int count);

// [x(l), x(count + 1 - l)] covers the median with at least 95 % under any rule that looks at the
// data only at looks, and also under one that stops between them. 0: there is no such interval,
// because the count is below the first look.
int look_rank(int count);

// A median with its 95 % interval; of a shared machine's sample the lower tenth in its place.
struct median {
    double value, low, high;
    double
        coverage; // what the interval reaches at least: 0.95, or less where repetitions are too few
    double deviation; // standard error for weights: half the interval / 1.96, plus the scatter of
                      // launches' medians
    int launches;     // that have repetitions
};

// stopped_by determines the interval: that of looks or, after "count" and "imported", that of a
// fixed number. Several launches: the mean of their medians, and an interval that includes their
// scatter.
struct median sample_median(const struct sample *s, struct arena *arena);

// The stopping rule: a look is reached, and the interval's width is at most `width` of the median.
// One launch.
bool sample_is_narrow(const struct sample *s, double width, struct arena *arena);

// Marks those repetitions of each launch that are further from its median than 5 x 1.4826 x the
// median absolute deviation (which counts as at least 0.1 % of the median). None is ever dropped;
// the marks show where to look.
void sample_flag_outliers(struct sample *s, struct arena *arena);

int sample_launches(
    const struct sample *s); // entries of launch_repetitions that count, 1 if there are none

// |t| stays below this with the given probability; freedom >= 1.
double student_quantile(double coverage, int freedom);

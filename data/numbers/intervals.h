// How sure a sample's median is, whatever ended its repetitions. Deciding from the data when to
// stop gives chance several throws at an interval that misses; here the throws are counted
// (docs/FORMULAS.md, section 12).
#ifndef PLUMBLINE_DATA_NUMBERS_INTERVALS_H
#define PLUMBLINE_DATA_NUMBERS_INTERVALS_H

#include "data/inputs/samples.h"

int compare_numbers(const void *a, const void *b); // two doubles, ascending: for qsort

// Counts of repetitions at which the data may decide about going on, and the rank of the interval
// that counts there.
struct look {
    int count, rank;
};
enum { LOOK_COUNT = 16, LOOK_FIRST = 8, LOOK_LAST = 3140 };
extern const struct look looks[]; // [LOOK_COUNT] ascending

int look_after(int count); // the least look above; 0: there is none
bool look_is_at(int count);

// [x(l), x(count + 1 - l)] covers the median with at least 95 % under any rule that looks at the
// data at looks only, and also under one that stops between them. 0: there is no such interval, the
// count is below the first look.
int look_rank(int count);

// A median with its 95 % interval.
struct median {
    double value, low, high;
    double
        coverage; // what the interval reaches at least: 0.95, or less where repetitions are too few
    double deviation; // standard error for weights: half the interval / 1.96, and the scatter of
                      // launches' medians
    int launches;     // that have repetitions
};

// stopped_by tells which interval is right: that of looks, or, after "count" and "imported", that
// of a fixed number. Several launches: the mean of their medians, and an interval that their
// scatter enters.
struct median sample_median(const struct sample *s, struct arena *arena);

// The stopping rule: at a look, and the interval's width at most `width` of the median. One launch.
bool sample_is_narrow(const struct sample *s, double width, struct arena *arena);

// Marks, of each launch's repetitions, those further from its median than 5 x 1.4826 x the median
// absolute deviation (of at least 0.1 % of the median). None is dropped anywhere; the marks tell
// where to look.
void sample_flag_outliers(struct sample *s, struct arena *arena);

int sample_launches(
    const struct sample *s); // entries of launch_repetitions that count, 1 without them

// |t| stays below this with the given probability; freedom >= 1.
double student_quantile(double coverage, int freedom);

#endif

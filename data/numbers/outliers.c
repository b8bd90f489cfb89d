// Outliers are marked, not removed: medians and rank intervals do not need their removal, and a
// machine with hiccups is worth knowing about. 1.4826 x the median absolute deviation estimates the
// standard deviation of a normal core whatever the tails are; 5 of them exclude 6e-7 of normal
// noise and about 1 % of Student's t with 3 degrees of freedom.
#include <math.h>

#include "data/numbers/intervals.h"

static const double deviations_far = 5, deviation_of_median = 1.4826, deviation_floor = 1e-3;

static void flag_launch(struct sample *s, int first, int count, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    double *scratch = TAKE_COPY(arena, s->seconds + first, count);
    double median = median_of(scratch, count);
    for (int i = 0; i < count; i++) scratch[i] = fabs(s->seconds[first + i] - median);
    double far = deviations_far *
                 fmax(deviation_of_median * median_of(scratch, count), deviation_floor * median);
    for (int i = first; i < first + count; i++)
        if (fabs(s->seconds[i] - median) > far) s->outliers[s->outlier_count++] = i;
    arena_reset(arena, mark);
}

void sample_flag_outliers(struct sample *s, struct arena *arena)
{
    s->outliers = TAKE(arena, s->repetitions, int);
    s->outlier_count = 0;
    if (!s->launch_repetitions && s->repetitions) flag_launch(s, 0, s->repetitions, arena);
    for (int i = 0, first = 0; s->launch_repetitions && first < s->repetitions;
         first += s->launch_repetitions[i++])
        if (s->launch_repetitions[i]) flag_launch(s, first, s->launch_repetitions[i], arena);
}

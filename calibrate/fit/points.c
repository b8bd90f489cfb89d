// Medians with their rank intervals; effects of launches and throttling are reported separately.
#include "calibrate/fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double normal_95 = 1.959963984540054;
// No clock and no machine is steadier than this share of the time; it keeps chance agreement from
// dominating a line.
static const double deviation_floor = 1e-3;
static const double wide_interval = 10;

enum status point_of_sample(struct fit_point *p, const struct sample *s, double work,
                            const char *path, int index, struct arena *arena, struct error *err)
{
    struct arena_mark mark = arena_set_mark(arena);
    struct median m = sample_median(s, arena);
    arena_reset(arena, mark);
    *p = (struct fit_point){.sample = s,
                            .operation = s->operation,
                            .work = work,
                            .seconds = m.value,
                            .low = m.low,
                            .high = m.high,
                            .deviation = m.deviation};
    if (p->seconds > 0) return OK;
    return refuse(err, "%s: samples[%d].seconds: expected a median above 0, found %g", path, index,
                  p->seconds);
}

// ---- launches and throttling

// The greatest deviation of a launch's median from that of all, as a share.
static double launch_deviation(const struct fit_point *p, int launch_count, double *scratch)
{
    const struct sample *s = p->sample;
    double greatest = 0;
    for (int launch = 0, first = 0; launch < launch_count;
         first += s->launch_repetitions[launch++]) {
        int count = s->launch_repetitions[launch];
        if (!count) continue;
        memcpy(scratch, s->seconds + first, (size_t)count * sizeof *scratch);
        greatest = fmax(greatest, fabs(median_of(scratch, count) / p->seconds - 1));
    }
    return greatest;
}

// Entries of launch_repetitions up to the one with the last repetition.
static int count_launches(const struct sample *s)
{
    int sum = 0, count = 0;
    while (s->launch_repetitions && sum < s->repetitions) sum += s->launch_repetitions[count++];
    return s->launch_repetitions ? count : 1;
}

// Median of the throttled over that of the other repetitions; 0 if there are none of either.
static double throttled_ratio(const struct sample *s, double *throttled, double *others,
                              int *throttled_count)
{
    int t = 0, o = 0;
    for (int i = 0; i < s->repetitions; i++) {
        if (s->condition_count && sample_is_throttled(s, i)) throttled[t++] = s->seconds[i];
        else others[o++] = s->seconds[i];
    }
    *throttled_count = t;
    return t && o ? median_of(throttled, t) / median_of(others, o) : 0;
}

struct point_notes points_note(const struct fit_point *points, int count, struct arena *arena)
{
    struct point_notes n = {.launches = 1};
    struct arena_mark mark = arena_set_mark(arena);
    double *effects = TAKE(arena, count, double), *ratios = TAKE(arena, count, double);
    int effect_count = 0, ratio_count = 0;
    for (int i = 0; i < count; i++) {
        const struct sample *s = points[i].sample;
        if (!s) continue;
        struct arena_mark inner = arena_set_mark(arena);
        double *a = TAKE(arena, s->repetitions, double), *b = TAKE(arena, s->repetitions, double);
        int launches = count_launches(s), throttled;
        double ratio = throttled_ratio(s, a, b, &throttled);
        if (ratio > 0) ratios[ratio_count++] = ratio;
        if (launches > 1) effects[effect_count++] = launch_deviation(&points[i], launches, a);
        if (launches > n.launches) n.launches = launches;
        n.throttled_repetitions += throttled;
        n.outlier_repetitions += s->outlier_count;
        n.repetitions += s->repetitions;
        arena_reset(arena, inner);
    }
    n.launch_effect = median_of(effects, effect_count);
    n.throttled_slowdown = median_of(ratios, ratio_count);
    arena_reset(arena, mark);
    return n;
}

// ---- weights

static double own_deviation(const struct fit_point *p)
{
    return p->deviation > 0 ? p->deviation : (p->high - p->low) / (2 * normal_95);
}

void points_deviations(double *deviation, const struct fit_point *points, int count,
                       struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    double *share = TAKE(arena, count, double);
    for (int i = 0; i < count; i++) share[i] = own_deviation(&points[i]) / points[i].seconds;
    double typical = fmax(median_of(share, count), deviation_floor);
    for (int i = 0; i < count; i++)
        deviation[i] = fmax(typical * points[i].seconds, own_deviation(&points[i]) / wide_interval);
    arena_reset(arena, mark);
}

static int compare_points(const void *a, const void *b)
{
    const struct fit_point *p = a, *q = b;
    if (p->work != q->work) return p->work < q->work ? -1 : 1;
    if (p->seconds != q->seconds) return p->seconds < q->seconds ? -1 : 1;
    if (p->high - p->low != q->high - q->low) return p->high - p->low < q->high - q->low ? -1 : 1;
    if (p->explained_s != q->explained_s) return p->explained_s < q->explained_s ? -1 : 1;
    return strcmp(p->operation, q->operation);
}

void points_sort(struct fit_point *points, int count)
{
    if (count) qsort(points, (size_t)count, sizeof *points, compare_points);
}

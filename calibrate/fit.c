// A line by weighted least squares. A point's deviation is that of its median, read off the rank interval; a fit that
// misses its points by more than that (chi-square above the degrees of freedom) gets its errors widened by the excess,
// so that the interval covers the model's own misfit. Intervals are 95 %, by Student's t.
#include "calibrate/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/least_squares.h"
#include "data/intervals.h"

static const double normal_95 = 1.959963984540054;
// No clock and no machine is steadier than this share of the time; keeps one lucky point from deciding the line.
static const double deviation_floor = 1e-3;

static int compare_points(const void *a, const void *b)
{
    const struct fit_point *p = a, *q = b;
    if (p->work != q->work) return p->work < q->work ? -1 : 1;
    if (p->seconds != q->seconds) return p->seconds < q->seconds ? -1 : 1;
    if (p->high - p->low != q->high - q->low) return p->high - p->low < q->high - q->low ? -1 : 1;
    if (p->explained_s != q->explained_s) return p->explained_s < q->explained_s ? -1 : 1;
    return strcmp(p->operation, q->operation);
}

static double point_deviation(const struct fit_point *p)
{
    double of_median = (p->high - p->low) / (2 * normal_95);
    return fmax(of_median, deviation_floor * p->seconds);
}

// The line with (columns 2) or without (columns 1) an overhead; the last unknown is the slope.
static enum status solve_line(struct solution *s, const struct fit *f, int columns, struct arena *arena,
                              struct error *err)
{
    double *design = TAKE(arena, f->point_count * columns, double);
    double *observed = TAKE(arena, f->point_count, double), *deviation = TAKE(arena, f->point_count, double);
    for (int i = 0; i < f->point_count; i++) {
        design[i * columns] = 1;
        design[i * columns + columns - 1] = f->points[i].work;
        observed[i] = f->points[i].seconds - f->points[i].explained_s;
        deviation[i] = point_deviation(&f->points[i]);
    }
    return least_squares(s, f->point_count, columns, design, observed, deviation, arena, err);
}

// Half the 95 % interval of unknown j, and the scatter.
static double half_width(const struct fit *f, const struct solution *s, int columns, int j, double *scatter)
{
    int freedom = f->point_count - columns;
    *scatter = freedom > 0 ? sqrt(s->chi_square / freedom) : 0;
    double quantile = freedom > 0 ? student_quantile(0.95, freedom) : normal_95;
    return quantile * fmax(*scatter, 1) * sqrt(s->covariance[j * columns + j]);
}

enum status fit_line(struct fit *f, const char *file, const char *name, enum line line, struct fit_point *points,
                     int point_count, struct arena *arena, struct error *err)
{
    if (point_count) qsort(points, (size_t)point_count, sizeof *points, compare_points);
    *f = (struct fit){.name = name,
                      .points = points,
                      .point_count = point_count,
                      .through_zero = line == LINE_THROUGH_ZERO};
    if (point_count < 2 || !(points[0].work < points[point_count - 1].work))
        return fail(err, BAD_INPUT, "%s: %s: a line needs samples of at least two sizes, found %d sample%s", file, name,
                    point_count, point_count == 1 ? "" : "s");
    struct solution s;
    double half;
    if (!f->through_zero) {
        TRY(solve_line(&s, f, 2, arena, err));
        half = half_width(f, &s, 2, 0, &f->scatter);
        f->overhead_s = (struct interval){fmax(s.x[0], 0), fmax(s.x[0] - half, 0), fmax(s.x[0] + half, 0)};
        f->through_zero = s.x[0] < 0;
    }
    int columns = f->through_zero ? 1 : 2;
    if (f->through_zero) TRY(solve_line(&s, f, columns, arena, err));
    double slope = s.x[columns - 1];
    if (!(slope > 0))
        return fail(err, BAD_INPUT, "%s: %s: the time does not grow with the work; no rate follows from these samples",
                    file, name);
    half = half_width(f, &s, columns, columns - 1, &f->scatter);
    f->rate = (struct interval){1 / slope, 1 / (slope + half), 0};
    // A slope whose interval reaches 0 leaves the upper end open: take it as far above the value, in ratio, as the
    // lower end is below.
    f->rate.high = slope > half ? 1 / (slope - half) : f->rate.value * (f->rate.value / f->rate.low);
    return OK;
}

double fit_seconds(const struct fit *f, double work) { return f->overhead_s.value + work / f->rate.value; }

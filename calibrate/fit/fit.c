// A line by weighted least squares on the medians. Intervals are 95 %, by Student's t on the
// points' own scatter about the line, so they include the model's misfit; differences between
// launches widen them.
#include "calibrate/fit/fit.h"

#include <math.h>
#include <string.h>

static const double worth_a_term = 0.9, error_floor = 1e-6; // below it no term is worth anything

static int columns_of(enum line line)
{
    return line == LINE_THROUGH_ZERO ? 1 : line == LINE_WITH_OVERHEAD ? 2 : 3;
}

double fit_seconds(const struct fit *f, const struct fit_point *at)
{
    return f->overhead_s.value + at->work / f->rate.value +
           (f->traffic_rate.value > 0 ? at->traffic / f->traffic_rate.value : 0) + at->explained_s;
}

// Columns: the work; one; the traffic.
static void put_row(double *row, const struct fit_point *p, int columns)
{
    const double values[] = {p->work, 1, p->traffic};
    for (int j = 0; j < columns; j++) row[j] = values[j];
}

// Deviations are shares of the time, in the end of the line's own: shares of the measured time
// would favour points that were fast by chance.
enum { REWEIGHTINGS = 4, REWEIGHTING_MOST = 4 };

static enum status solve_line(struct linear *x, enum line line, const struct fit_point *points,
                              int count, struct arena *arena, struct error *err)
{
    int columns = columns_of(line);
    double *design = TAKE(arena, count * columns, double), *observed = TAKE(arena, count, double),
           *deviation = TAKE(arena, count, double), *share = TAKE(arena, count, double);
    points_deviations(deviation, points, count, arena);
    for (int i = 0; i < count; i++) {
        put_row(&design[i * columns], &points[i], columns);
        observed[i] = points[i].seconds - points[i].explained_s;
        share[i] = deviation[i] / points[i].seconds;
    }
    TRY(fit_linear(x, count, columns, design, observed, deviation, arena, err));
    for (int round = 0; round < REWEIGHTINGS; round++) {
        for (int i = 0; i < count; i++) {
            double predicted = points[i].explained_s;
            for (int j = 0; j < columns; j++) predicted += design[i * columns + j] * x->x[j].value;
            deviation[i] = share[i] * fmax(predicted, points[i].seconds / REWEIGHTING_MOST);
        }
        TRY(fit_linear(x, count, columns, design, observed, deviation, arena, err));
    }
    return OK;
}

// Work per second from seconds per work. A slope whose interval reaches 0 leaves the upper end
// open; it is then set as far above the value, in ratio, as the lower end is below.
static struct interval rate_of(const struct interval *slope)
{
    struct interval rate = {1 / slope->value, 1 / slope->high, 0};
    rate.high = slope->low > 0 ? 1 / slope->low : rate.value * (rate.value / rate.low);
    return rate;
}

struct interval interval_widened(struct interval x, double share)
{
    double below = hypot(x.value - x.low, share * x.value),
           above = hypot(x.high - x.value, share * x.value);
    return (struct interval){x.value, fmax(x.value - below, x.value > 0 ? x.value * 1e-3 : 0),
                             x.value + above};
}

void fit_widen(struct fit *f, double share)
{
    if (!(share > f->apart)) return;
    double more = sqrt(share * share - f->apart * f->apart);
    f->rate = interval_widened(f->rate, more);
    f->overhead_s = interval_widened(f->overhead_s, more);
    if (f->traffic_rate.value > 0) f->traffic_rate = interval_widened(f->traffic_rate, more);
    f->apart = share;
}

static double median_error(const struct fit *f, const struct fit_point *points, int count,
                           struct arena *arena)
{
    double *errors = TAKE(arena, count, double);
    for (int i = 0; i < count; i++)
        errors[i] = fabs(fit_seconds(f, &points[i]) / points[i].seconds - 1);
    return median_of(errors, count);
}

static void take_line(struct fit *f, const struct linear *x, enum line line)
{
    f->scatter = x->scatter;
    f->rate = rate_of(&x->x[0]);
    f->overhead_s = line == LINE_THROUGH_ZERO ? (struct interval){0, 0, 0} : x->x[1];
    f->through_zero = line == LINE_THROUGH_ZERO || x->held[1];
    f->traffic_rate = (struct interval){0, 0, 0};
    if (line == LINE_WITH_TRAFFIC && !x->held[2]) f->traffic_rate = rate_of(&x->x[2]);
}

enum status fit_line(struct fit *f, const char *file, const char *name, enum line line,
                     struct fit_point *points, int point_count, struct arena *arena,
                     struct error *err)
{
    points_sort(points, point_count);
    *f = (struct fit){.name = name, .points = points, .point_count = point_count};
    if (point_count < 2 || point_count < columns_of(line) ||
        !(points[0].work < points[point_count - 1].work))
        return refuse(err, "%s: %s: a line needs samples of at least two sizes, found %d sample%s",
                      file, name, point_count, point_count == 1 ? "" : "s");
    struct linear x;
    TRY(solve_line(&x, line, points, point_count, arena, err));
    if (x.held[0] || !(x.x[0].value > 0))
        return refuse(
            err, "%s: %s: the time does not grow with the work; no rate follows from these samples",
            file, name);
    take_line(f, &x, line);
    f->notes = points_note(points, point_count, arena);
    fit_widen(f, f->notes.launches > 1 ? f->notes.launch_effect : 0);
    f->residual = median_error(f, points, point_count, arena);
    return OK;
}

void fit_one_size(struct fit *f, const char *name, struct fit_point *points, int point_count,
                  struct arena *arena)
{
    double *rates = TAKE(arena, point_count, double), low = INFINITY, high = 0;
    points_sort(points, point_count);
    for (int i = 0; i < point_count; i++) {
        const struct fit_point *p = &points[i];
        double least = fmax(p->low - p->explained_s, 0.1 * p->seconds);
        rates[i] = p->work / (p->seconds - p->explained_s);
        low = fmin(low, p->work / fmax(p->high - p->explained_s, least));
        high = fmax(high, p->work / least);
    }
    *f = (struct fit){.name = name,
                      .points = points,
                      .point_count = point_count,
                      .rate = {median_of(rates, point_count), low, high},
                      .through_zero = true,
                      .notes = points_note(points, point_count, arena)};
    f->residual = median_error(f, points, point_count, arena);
}

// ---- held-out errors

static bool same_fold(const struct fit_point *points, int a, int b, bool by_operation)
{
    return by_operation ? !strcmp(points[a].operation, points[b].operation) : a == b;
}

static int count_operations(const struct fit_point *points, int count)
{
    int operations = 0;
    for (int i = 0; i < count; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++) seen = seen || same_fold(points, i, k, true);
        operations += !seen;
    }
    return operations;
}

// Median error on points that the line was not fitted to. Infinite if some part cannot be fitted
// without them.
static double held_out_error(enum line line, const struct fit_point *points, int count,
                             struct arena *arena)
{
    bool by_operation = count_operations(points, count) >= 3;
    double *errors = TAKE(arena, count, double);
    struct fit_point *rest = TAKE(arena, count, struct fit_point);
    for (int i = 0; i < count; i++) {
        struct error unused = {OK, ""};
        struct linear x;
        struct fit f = {.name = NULL};
        int n = 0;
        for (int k = 0; k < count; k++)
            if (!same_fold(points, i, k, by_operation)) rest[n++] = points[k];
        if (n < columns_of(line) || solve_line(&x, line, rest, n, arena, &unused) != OK ||
            x.held[0])
            return INFINITY;
        take_line(&f, &x, line);
        errors[i] = fabs(fit_seconds(&f, &points[i]) / points[i].seconds - 1);
    }
    return median_of(errors, count);
}

enum status fit_best(struct fit *f, const char *file, const char *name, const enum line *forms,
                     int form_count, struct fit_point *points, int point_count, struct arena *arena,
                     struct error *err)
{
    enum line best = forms[0];
    double least = INFINITY;
    points_sort(points, point_count);
    for (int i = 0; i < form_count; i++) {
        struct arena_mark mark = arena_set_mark(arena);
        double error = held_out_error(forms[i], points, point_count, arena);
        arena_reset(arena, mark);
        if (i && (least < error_floor || !(error < worth_a_term * least))) continue;
        best = forms[i];
        least = error;
    }
    TRY(fit_line(f, file, name, best, points, point_count, arena, err));
    if (best == LINE_THROUGH_ZERO && form_count > 1 && point_count > 2) {
        // An overhead too small for a term may still exist.
        struct linear x;
        TRY(solve_line(&x, LINE_WITH_OVERHEAD, points, point_count, arena, err));
        f->overhead_s.high = x.x[1].high;
    }
    f->held_out = isfinite(least) ? least : 0;
    return OK;
}

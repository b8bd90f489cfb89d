// Where the lines change is found by an exact dynamic programme: of all ways to cut the sizes into
// at most SEGMENT_FITS_MAX ranges of at least three sizes, for each number of ranges the one with
// the least chi-square, and of those the one with the least
//     n ln max(1, chi-square / n) + 3 ln(n) (ranges),
// the Bayes information criterion (S Schwarz 1978): a range has three numbers, its line and where
// it begins. Deviations are at least 1 % of the time: what is nearer to the points than that is no
// reason for another range. Nothing makes the lines meet.
#include "calibrate/fit/fit.h"

#include <math.h>

static const double deviation_floor = 0.01, numbers_per_segment = 3;
static const double endless_rate = 1e21; // for a line that does not rise
enum { SIZES_MIN = 3 };

struct cutter {
    const struct fit_point *points;
    const double *deviation;
    int count;
    double *cost; // [first * count + last]
};

// ---- one range

// Chi-square of the best line that does not fall, in closed form (normal equations about the
// weighted mean).
static double line_cost(const struct cutter *c, int first, int last)
{
    double w = 0, x = 0, y = 0, xx = 0, xy = 0, chi = 0;
    for (int i = first; i <= last; i++) {
        double weight = 1 / (c->deviation[i] * c->deviation[i]);
        w += weight, x += weight * c->points[i].work, y += weight * c->points[i].seconds;
    }
    x /= w, y /= w;
    for (int i = first; i <= last; i++) {
        double weight = 1 / (c->deviation[i] * c->deviation[i]), dx = c->points[i].work - x;
        xx += weight * dx * dx, xy += weight * dx * (c->points[i].seconds - y);
    }
    double slope = xx > 0 ? fmax(xy / xx, 0) : 0;
    for (int i = first; i <= last; i++) {
        double off = (c->points[i].seconds - y - slope * (c->points[i].work - x)) / c->deviation[i];
        chi += off * off;
    }
    return chi;
}

static int count_sizes(const struct fit_point *points, int first, int last)
{
    int sizes = 1;
    for (int i = first + 1; i <= last; i++) sizes += points[i].work > points[i - 1].work;
    return sizes;
}

// ---- all cuts

// The least cost of the first `end` points in k ranges is best[k * (count + 1) + end]; its last
// range begins at from[...].
static void fill_tables(const struct cutter *c, int most, double *best, int *from)
{
    int n = c->count;
    for (int i = 0; i <= most * (n + 1) + n; i++) best[i] = INFINITY;
    best[0] = 0;
    for (int k = 1; k <= most; k++)
        for (int end = 1; end <= n; end++)
            for (int begin = 0; begin < end; begin++) {
                double cost = best[(k - 1) * (n + 1) + begin] + c->cost[begin * n + end - 1];
                if (!(cost < best[k * (n + 1) + end])) continue;
                best[k * (n + 1) + end] = cost;
                from[k * (n + 1) + end] = begin;
            }
}

static void fill_costs(struct cutter *c)
{
    for (int first = 0; first < c->count; first++)
        for (int last = 0; last < c->count; last++) {
            bool cuts = (first == 0 || c->points[first].work > c->points[first - 1].work) &&
                        (last == c->count - 1 || c->points[last].work < c->points[last + 1].work);
            bool whole = first == 0 && last == c->count - 1;
            bool allowed = last >= first && cuts &&
                           (whole || count_sizes(c->points, first, last) >= SIZES_MIN);
            c->cost[first * c->count + last] = allowed ? line_cost(c, first, last) : INFINITY;
        }
}

static void find_cuts(struct segmented *f, const double *deviation, struct arena *arena)
{
    int n = f->point_count, most = SEGMENT_FITS_MAX, chosen = 1;
    struct arena_mark mark = arena_set_mark(arena);
    struct cutter c = {f->points, deviation, n, TAKE(arena, n * n, double)};
    double *best = TAKE(arena, (most + 1) * (n + 1), double), least = INFINITY;
    int *from = TAKE(arena, (most + 1) * (n + 1), int);
    fill_costs(&c);
    fill_tables(&c, most, best, from);
    for (int k = 1; k <= most; k++) {
        double chi = best[k * (n + 1) + n],
               score = n * log(fmax(1, chi / n)) + numbers_per_segment * log(n) * k;
        if (!isfinite(chi) || !(score < least)) continue;
        least = score;
        chosen = k;
    }
    f->segment_count = chosen;
    for (int k = chosen, end = n; k > 0; k--) {
        int begin = from[k * (n + 1) + end];
        f->segments[k - 1] = (struct segment_fit){.first = begin, .count = end - begin};
        end = begin;
    }
    arena_reset(arena, mark);
    for (int k = 1; k < chosen; k++) {
        double below = f->points[f->segments[k].first - 1].work,
               above = f->points[f->segments[k].first].work;
        f->segments[k].from_bytes = fmin(above, fmax(ceil(sqrt(below * above)), floor(below) + 1));
    }
}

// ---- the lines

static struct interval rate_of(const struct linear *x)
{
    struct interval slope = x->x[1];
    if (!(slope.value > 1 / endless_rate))
        return (struct interval){endless_rate,
                                 slope.high > 1 / endless_rate ? 1 / slope.high : endless_rate,
                                 endless_rate};
    return (struct interval){1 / slope.value, 1 / slope.high,
                             slope.low > 1 / endless_rate ? 1 / slope.low : endless_rate};
}

static enum status fit_one(struct segmented *f, struct segment_fit *s, const double *deviation,
                           struct arena *arena, struct error *err)
{
    const struct fit_point *p = &f->points[s->first];
    struct linear x;
    if (count_sizes(p, 0, s->count - 1) < 2) { // through zero
        double *seconds = TAKE(arena, s->count, double);
        for (int i = 0; i < s->count; i++) seconds[i] = p[i].seconds;
        double typical = median_of(seconds, s->count), bytes = fmax(p[0].work, 1);
        s->rate =
            (struct interval){bytes / typical, bytes / p[s->count - 1].high,
                              p[0].low > 0 ? fmin(bytes / p[0].low, endless_rate) : endless_rate};
        return OK;
    }
    double *design = TAKE(arena, 2 * s->count, double), *observed = TAKE(arena, s->count, double);
    for (int i = 0; i < s->count; i++) {
        design[2 * i] = 1;
        design[2 * i + 1] = p[i].work - s->from_bytes;
        observed[i] = p[i].seconds;
    }
    TRY(fit_linear(&x, s->count, 2, design, observed, &deviation[s->first], arena, err));
    s->seconds = x.x[0];
    s->rate = rate_of(&x);
    return OK;
}

static enum status fit_lines(struct segmented *f, struct arena *arena, struct error *err)
{
    double *deviation = TAKE(arena, f->point_count, double),
           *errors = TAKE(arena, f->point_count, double);
    points_deviations(deviation, f->points, f->point_count, arena);
    for (int k = 0; k < f->segment_count; k++)
        if (f->segments[k].count) TRY(fit_one(f, &f->segments[k], deviation, arena, err));
    for (int i = 0; i < f->point_count; i++)
        errors[i] = fabs(segmented_seconds(f, f->points[i].work) / f->points[i].seconds - 1);
    f->residual = median_of(errors, f->point_count);
    f->notes = points_note(f->points, f->point_count, arena);
    return OK;
}

enum status fit_segments(struct segmented *f, const char *name, struct fit_point *points, int count,
                         struct arena *arena, struct error *err)
{
    points_sort(points, count);
    *f = (struct segmented){.name = name, .points = points, .point_count = count};
    if (!count) return refuse(err, "%s: no samples", name);
    double *deviation = TAKE(arena, count, double);
    points_deviations(deviation, points, count, arena);
    for (int i = 0; i < count; i++)
        deviation[i] = fmax(deviation[i], deviation_floor * points[i].seconds);
    find_cuts(f, deviation, arena);
    return fit_lines(f, arena, err);
}

enum status fit_segments_like(struct segmented *f, const struct segmented *like, const char *name,
                              struct fit_point *points, int count, struct arena *arena,
                              struct error *err)
{
    points_sort(points, count);
    *f = *like;
    f->name = name;
    f->points = points;
    f->point_count = count;
    for (int k = 0, at = 0; k < f->segment_count; k++) {
        struct segment_fit *s = &f->segments[k];
        s->first = at;
        while (at < count &&
               (k + 1 == f->segment_count || points[at].work < f->segments[k + 1].from_bytes))
            at++;
        s->count = at - s->first;
        if (s->count && count_sizes(&points[s->first], 0, s->count - 1) < SIZES_MIN &&
            f->segment_count > 1)
            s->count = 0;
    }
    return fit_lines(f, arena, err);
}

double segmented_seconds(const struct segmented *f, double bytes)
{
    int k = f->segment_count - 1;
    while (k > 0 && f->segments[k].from_bytes > bytes) k--;
    return f->segments[k].seconds.value +
           (bytes - f->segments[k].from_bytes) / f->segments[k].rate.value;
}

struct interval segmented_latency(const struct segmented *f) { return f->segments[0].seconds; }
double segmented_start(const struct segmented *f)
{
    const struct segment_fit *last = &f->segments[f->segment_count - 1];
    return fmax(f->segments[0].seconds.value,
                last->seconds.value - last->from_bytes / last->rate.value);
}
struct interval segmented_rate(const struct segmented *f)
{
    return f->segments[f->segment_count - 1].rate;
}

// Scores, directly from their definitions: groups are small, so pairs are counted one by one.
#include "calibrate/runs/runs.h"
#include "data/numbers/intervals.h"

#include <stdlib.h>

double quantile(const double *sorted, int count, double share)
{
    if (count == 0) return NAN;
    double at = share * (count - 1);
    int low = (int)at;
    return low + 1 < count ? sorted[low] + (at - low) * (sorted[low + 1] - sorted[low])
                           : sorted[count - 1];
}

// (concordant - discordant) / sqrt(pairs untied in x . pairs untied in y)
double kendall_tau_b(const double *x, const double *y, int count)
{
    double concordance = 0, untied_x = 0, untied_y = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++) {
            int a = (x[i] > x[k]) - (x[i] < x[k]), b = (y[i] > y[k]) - (y[i] < y[k]);
            concordance += a * b;
            untied_x += a != 0;
            untied_y += b != 0;
        }
    return untied_x > 0 && untied_y > 0 ? concordance / sqrt(untied_x * untied_y) : NAN;
}

struct ranked {
    double value;
    int index;
};

static int by_value(const void *a, const void *b)
{
    return compare_numbers(&((const struct ranked *)a)->value, &((const struct ranked *)b)->value);
}

// Ranks from 1; ties share their mean.
static double *ranks_of(const double *x, int count, struct arena *arena)
{
    struct ranked *sorted = TAKE(arena, count, struct ranked);
    double *ranks = TAKE(arena, count, double);
    for (int i = 0; i < count; i++) sorted[i] = (struct ranked){x[i], i};
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    for (int i = 0, end; i < count; i = end) {
        for (end = i; end < count && sorted[end].value == sorted[i].value; end++) {
        }
        for (int k = i; k < end; k++) ranks[sorted[k].index] = (i + 1 + end) / 2.0;
    }
    return ranks;
}

double spearman_rho(const double *x, const double *y, int count, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    const double *a = ranks_of(x, count, arena), *b = ranks_of(y, count, arena);
    double mean = (count + 1) / 2.0, xx = 0, yy = 0, xy = 0;
    for (int i = 0; i < count; i++) {
        xx += (a[i] - mean) * (a[i] - mean);
        yy += (b[i] - mean) * (b[i] - mean);
        xy += (a[i] - mean) * (b[i] - mean);
    }
    arena_reset(arena, mark);
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

// ---- groups

struct group_rows {
    double *measured, *predicted;
    int count;
};

static int collect_group(struct group_rows *g, const struct scored *rows, int count, int group)
{
    g->count = 0;
    for (int i = 0; i < count; i++) {
        if (rows[i].group != group) continue;
        g->measured[g->count] = rows[i].measured;
        g->predicted[g->count++] = rows[i].predicted;
    }
    return g->count;
}

// Of several predicted bests, the one with the worst measurement: a tie earns nothing.
static double regret_of(const struct group_rows *g, double sign)
{
    double best = g->measured[0], chosen = g->measured[0], predicted = g->predicted[0];
    for (int i = 1; i < g->count; i++) {
        bool better = sign * g->predicted[i] < sign * predicted,
             equal = g->predicted[i] == predicted;
        if (better || (equal && sign * g->measured[i] > sign * chosen)) {
            chosen = g->measured[i];
            predicted = g->predicted[i];
        }
        if (sign * g->measured[i] < sign * best) best = g->measured[i];
    }
    return sign > 0 ? chosen / best - 1 : best / chosen - 1;
}

static void score_groups(struct scores *s, const struct scored *rows, int count, double sign,
                         struct arena *arena)
{
    struct group_rows g = {TAKE(arena, count, double), TAKE(arena, count, double), 0};
    double *regrets = TAKE(arena, count, double), taus = 0, sum = 0;
    int last = -1, tau_count = 0;
    for (int i = 0; i < count; i++)
        if (rows[i].group > last) last = rows[i].group;
    for (int group = 0; group <= last; group++) {
        if (collect_group(&g, rows, count, group) < GROUP_ROWS_MIN) continue;
        double tau = kendall_tau_b(g.measured, g.predicted, g.count);
        if (!isnan(tau)) taus += tau, tau_count++;
        regrets[s->groups] = regret_of(&g, sign);
        sum += regrets[s->groups++];
    }
    if (tau_count) s->kendall_tau = taus / tau_count;
    if (!s->groups) return;
    qsort(regrets, (size_t)s->groups, sizeof *regrets, compare_numbers);
    s->regret_median = quantile(regrets, s->groups, 0.5);
    s->regret_mean = sum / s->groups;
}

static void score_ranges(struct scores *s, const struct scored *rows, int count)
{
    int inside = 0, ranges = 0;
    double width = 0;
    for (int i = 0; i < count; i++) {
        if (isnan(rows[i].low)) continue;
        ranges++;
        inside += rows[i].low <= rows[i].measured && rows[i].measured <= rows[i].high;
        width += (rows[i].high - rows[i].low) / rows[i].predicted;
    }
    if (!ranges) return;
    s->inside = (double)inside / ranges;
    s->width = width / ranges;
}

struct scores score_rows(const struct scored *rows, int count, bool lower_is_better,
                         struct arena *arena)
{
    struct scores s = {count, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, NAN, NAN};
    if (count == 0) return s;
    struct arena_mark mark = arena_set_mark(arena);
    double *errors = TAKE(arena, count, double), *measured = TAKE(arena, count, double),
           *predicted = TAKE(arena, count, double), sum = 0, total = 0;
    for (int i = 0; i < count; i++) {
        double error = (rows[i].predicted - rows[i].measured) / rows[i].measured;
        measured[i] = rows[i].measured;
        predicted[i] = rows[i].predicted;
        errors[i] = fabs(error);
        sum += error;
        total += errors[i];
    }
    qsort(errors, (size_t)count, sizeof *errors, compare_numbers);
    s.median_abs_error = quantile(errors, count, 0.5);
    s.p90_abs_error = quantile(errors, count, 0.9);
    s.mean_abs_error = total / count;
    s.mean_error = sum / count;
    s.spearman = spearman_rho(measured, predicted, count, arena);
    score_groups(&s, rows, count, lower_is_better ? 1 : -1, arena);
    score_ranges(&s, rows, count);
    arena_reset(arena, mark);
    return s;
}

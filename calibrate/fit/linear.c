// Least squares with nonnegative terms: every set of terms held at 0 is tried (at most 2^4), and
// of those whose other terms are positive, the one with the least chi-square is the answer (the
// problem is convex, so it is the minimum). Intervals are Student's t on the scatter of the
// points, whatever the scale of their deviations. The medians' own intervals show well which
// points to trust but not how much, and a line's misfit belongs in its intervals.
#include "calibrate/fit/fit.h"

#include <assert.h>
#include <math.h>

static const double coverage = 0.95, normal_95 = 1.959963984540054;

struct trial {
    struct solution solution;
    int columns[LINEAR_TERMS_MAX], count;
};

// The terms of the mask alone.
static enum status solve_terms(struct trial *t, unsigned mask, int rows, int columns,
                               const double *design, const double *observed,
                               const double *deviation, struct arena *arena, struct error *err)
{
    double *part = TAKE(arena, rows * columns, double);
    t->count = 0;
    for (int j = 0; j < columns; j++)
        if (mask >> j & 1) t->columns[t->count++] = j;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < t->count; j++)
            part[i * t->count + j] = design[i * columns + t->columns[j]];
    return least_squares(&t->solution, rows, t->count, part, observed, deviation, arena, err);
}

static bool is_feasible(const struct trial *t)
{
    for (int j = 0; j < t->count; j++)
        if (t->solution.x[j] < 0) return false;
    return true;
}

static double half_width(const struct trial *t, int j, int freedom, double scatter)
{
    double deviation = sqrt(t->solution.covariance[j * t->count + j]);
    return freedom > 0 ? student_quantile(coverage, freedom) * scatter * deviation
                       : normal_95 * deviation;
}

static void take_intervals(struct linear *f, const struct trial *all, const struct trial *best,
                           int rows, int columns)
{
    int left = rows - best->count;
    f->scatter = left > 0 ? sqrt(best->solution.chi_square / left) : 0;
    for (int j = 0; j < columns; j++) f->held[j] = true, f->x[j] = (struct interval){0, 0, 0};
    for (int k = 0; k < best->count; k++) {
        double value = best->solution.x[k], half = half_width(best, k, left, f->scatter);
        f->x[best->columns[k]] = (struct interval){value, fmax(value - half, 0), value + half};
        f->held[best->columns[k]] = false;
    }
    // A held term may be positive by as much as the free sum allows.
    int freedom = rows - columns;
    double scatter = freedom > 0 ? sqrt(all->solution.chi_square / freedom) : 0;
    for (int j = 0; j < columns; j++)
        if (f->held[j])
            f->x[j].high = fmax(0, all->solution.x[j] + half_width(all, j, freedom, scatter));
}

enum status fit_linear(struct linear *f, int rows, int columns, const double *design,
                       const double *observed, const double *deviation, struct arena *arena,
                       struct error *err)
{
    assert(columns >= 1 && columns <= LINEAR_TERMS_MAX && rows >= columns);
    struct trial all, best;
    unsigned every = (1u << columns) - 1;
    TRY(solve_terms(&all, every, rows, columns, design, observed, deviation, arena, err));
    best = all;
    bool found = is_feasible(&all);
    for (unsigned mask = every - 1; mask > 0 && !is_feasible(&all); mask--) {
        struct trial t;
        TRY(solve_terms(&t, mask, rows, columns, design, observed, deviation, arena, err));
        if (!is_feasible(&t) || (found && t.solution.chi_square >= best.solution.chi_square))
            continue;
        best = t;
        found = true;
    }
    if (!found) return refuse(err, "least squares: no non-negative sum of terms fits the points");
    take_intervals(f, &all, &best, rows, columns);
    return OK;
}

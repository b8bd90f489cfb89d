// The game of paths against plans solved exactly, as the linear program it is: the plans' side is
// max sum z  subject to  sum over plans of length x z <= 1 for every path,  z >= 0,  whose slack
// basis is feasible. Each step on the dense tableau exchanges a basic and a non-basic variable.
// Right-hand sides are perturbed slightly, so in practice it cannot cycle, and the number of steps
// is limited. Floating point: the results are shares, nothing is proven here.
#include <assert.h>
#include <math.h>

#include "solve/boxes/game_internal.h"

enum { PIVOTS_MAX = 4000 };

// Rows are paths, the last one the objective; columns are plans, the last one the right-hand side.
struct tableau {
    double *cells;
    int rows, columns, stride;
    int *row_is, *column_is; // which variable: plans 0 .., then paths
};

static double *row_of(const struct tableau *t, int row)
{
    return t->cells + (size_t)row * (size_t)t->stride;
}

static void fill(struct tableau *t, const struct game *g)
{
    double longest = 0;
    for (int p = 0; p < g->path_count; p++)
        for (int x = 0; x < g->plan_count; x++)
            if (g->length[p * g->plans_max + x] > longest)
                longest = g->length[p * g->plans_max + x];
    for (int p = 0; p < g->path_count; p++) {
        double *row = row_of(t, p);
        for (int x = 0; x < g->plan_count; x++)
            row[x] = longest > 0 ? g->length[p * g->plans_max + x] / longest : 0;
        row[t->columns] = 1 + 1e-9 * (double)((p * 7919 + 13) % 1009);
        t->row_is[p] = t->columns + p;
    }
    for (int x = 0; x <= t->columns; x++) row_of(t, t->rows)[x] = x < t->columns ? -1 : 0;
    for (int x = 0; x < t->columns; x++) t->column_is[x] = x;
}

static int entering(const struct tableau *t)
{
    const double *objective = row_of(t, t->rows);
    int at = -1;
    for (int x = 0; x < t->columns; x++)
        if (objective[x] < -1e-9 && (at < 0 || objective[x] < objective[at])) at = x;
    return at;
}

static int leaving(const struct tableau *t, int column)
{
    int at = -1;
    double least = 0;
    for (int p = 0; p < t->rows; p++) {
        const double *row = row_of(t, p);
        if (row[column] < 1e-10) continue;
        double ratio = row[t->columns] / row[column];
        if (at < 0 || ratio < least) at = p, least = ratio;
    }
    return at;
}

static void exchange(struct tableau *t, int pivot_row, int pivot_column)
{
    double *pivot = row_of(t, pivot_row), inverse = 1 / pivot[pivot_column];
    pivot[pivot_column] = 1;
    for (int x = 0; x <= t->columns; x++) pivot[x] *= inverse;
    for (int p = 0; p <= t->rows; p++) {
        double *restrict row = row_of(t, p), factor = row[pivot_column];
        if (p == pivot_row || factor == 0) continue;
        row[pivot_column] = 0;
        for (int x = 0; x <= t->columns; x++) row[x] -= factor * pivot[x];
    }
    int kept = t->row_is[pivot_row];
    t->row_is[pivot_row] = t->column_is[pivot_column];
    t->column_is[pivot_column] = kept;
}

// The share of a basic plan is its row's right-hand side, that of a non-basic path its entry in the
// objective.
static void read_shares(const struct tableau *t, struct game *g)
{
    double plans = 0, paths = 0;
    for (int x = 0; x < g->plan_count; x++) g->plan_share[x] = 0;
    for (int p = 0; p < g->path_count; p++) g->path_share[p] = 0;
    for (int p = 0; p < t->rows; p++)
        if (t->row_is[p] < t->columns)
            plans += g->plan_share[t->row_is[p]] = fmax(0, row_of(t, p)[t->columns]);
    for (int x = 0; x < t->columns; x++)
        if (t->column_is[x] >= t->columns)
            paths += g->path_share[t->column_is[x] - t->columns] = fmax(0, row_of(t, t->rows)[x]);
    for (int x = 0; x < g->plan_count && plans > 0; x++) g->plan_share[x] /= plans;
    for (int p = 0; p < g->path_count && paths > 0; p++) g->path_share[p] /= paths;
}

void game_solve_exactly(struct game *g)
{
    if (!g->path_count || !g->plan_count) return;
    struct tableau t = {g->tableau,        g->path_count, g->plan_count,
                        g->plan_count + 1, g->row_is,     g->column_is};
    assert(t.rows <= g->paths_max && t.columns <= g->plans_max); // the tableau's room
    fill(&t, g);
    for (int pivots = 0; pivots < PIVOTS_MAX; pivots++) {
        int column = entering(&t), row = column < 0 ? -1 : leaving(&t, column);
        if (row < 0) break;
        exchange(&t, row, column);
    }
    read_shares(&t, g);
}

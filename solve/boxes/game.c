// Regret matching for the game of paths against plans (box_internal.h): each side plays in
// proportion to its positive regrets, negative ones are dropped, and the average of the later plays
// converges to the solution. A few hundred steps on a small matrix cost less than one run of the
// dynamic programme.
#include "solve/boxes/box_internal.h"

#include <string.h>

struct game {
    int symbols, path_size, paths_max, plans_max, path_count, plan_count;
    int *ids;                   // [path], the caller's
    int *counts;                // [path * path_size + symbol]
    int *passed, *passed_count; // [path * symbols + i]: the symbols on a path; their number
    int64_t *durations;         // [plan * symbols + symbol]
    double *length;             // [path * plans_max + plan]
    double *path_regret, *plan_regret, *path_share, *plan_share, *path_play, *plan_play, *path_gain,
        *plan_gain;
    double *tableau; // of the exact solution
    int *row_is, *column_is;
};

struct game *game_open(int symbols, int paths_max, int plans_max, struct arena *arena)
{
    struct game *g = TAKE(arena, 1, struct game);
    assert(symbols > 0 && paths_max > 0 && plans_max > 0);
    *g = (struct game){.symbols = symbols,
                       .path_size = path_size(symbols),
                       .paths_max = paths_max,
                       .plans_max = plans_max};
    g->ids = TAKE(arena, paths_max, int);
    g->counts = TAKE(arena, g->path_size * paths_max, int);
    g->passed = TAKE(arena, symbols * paths_max, int);
    g->passed_count = TAKE(arena, paths_max, int);
    g->durations = TAKE(arena, symbols * plans_max, int64_t);
    g->length = TAKE(arena, paths_max * plans_max, double);
    g->tableau = TAKE(arena, (size_t)(paths_max + 1) * (size_t)(plans_max + 1), double);
    g->row_is = TAKE(arena, paths_max, int);
    g->column_is = TAKE(arena, plans_max, int);
    double **path_arrays[] = {&g->path_regret, &g->path_share, &g->path_play, &g->path_gain};
    double **plan_arrays[] = {&g->plan_regret, &g->plan_share, &g->plan_play, &g->plan_gain};
    for (int i = 0; i < 4; i++) {
        *path_arrays[i] = TAKE(arena, paths_max, double);
        *plan_arrays[i] = TAKE(arena, plans_max, double);
    }
    return g;
}

static double length_at(const struct game *g, int path, const int64_t *durations)
{
    const int *counts = g->counts + (size_t)path * (size_t)g->path_size;
    const int *passed = g->passed + (size_t)path * (size_t)g->symbols;
    double length = 0;
    for (int i = 0; i < g->passed_count[path]; i++)
        length += (double)counts[passed[i]] * (double)durations[passed[i]];
    return length / path_laps(counts, g->symbols);
}

static double length_of(const struct game *g, int path, int plan)
{
    return length_at(g, path, g->durations + (size_t)plan * (size_t)g->symbols);
}

double game_longest(const struct game *g, const int64_t *durations)
{
    double longest = 0;
    for (int p = 0; p < g->path_count; p++) {
        double length = length_at(g, p, durations);
        longest = length > longest ? length : longest;
    }
    return longest;
}

// Where the next one goes: after the others, or in place of the one with the least share.
static int place_for(const double *share, int *count, int most)
{
    if (*count < most) return (*count)++;
    int at = 0;
    for (int i = 1; i < most; i++)
        if (share[i] < share[at]) at = i;
    return at;
}

void game_add_path(struct game *g, int id, const int *counts)
{
    for (int i = 0; i < g->path_count; i++)
        if (g->ids[i] == id) return;
    assert(path_laps(counts, g->symbols) >= 1);
    int at = place_for(g->path_share, &g->path_count, g->paths_max);
    g->ids[at] = id;
    memcpy(g->counts + (size_t)at * (size_t)g->path_size, counts,
           (size_t)g->path_size * sizeof *counts);
    g->passed_count[at] = 0;
    for (int k = 0; k < g->symbols; k++)
        if (counts[k]) g->passed[at * g->symbols + g->passed_count[at]++] = k;
    for (int x = 0; x < g->plan_count; x++) g->length[at * g->plans_max + x] = length_of(g, at, x);
    g->path_regret[at] = g->path_share[at] = 0;
}

int game_add_plan(struct game *g, const int64_t *durations)
{
    int at = place_for(g->plan_share, &g->plan_count, g->plans_max);
    memcpy(g->durations + (size_t)at * (size_t)g->symbols, durations,
           (size_t)g->symbols * sizeof *durations);
    for (int p = 0; p < g->path_count; p++) g->length[p * g->plans_max + at] = length_of(g, p, at);
    g->plan_regret[at] = g->plan_share[at] = 0;
    return at;
}

void game_move_plan(struct game *g, int from, int to)
{
    size_t symbols = (size_t)g->symbols;
    assert(to >= 0 && to <= from && from < g->plan_count);
    memmove(g->durations + (size_t)to * symbols, g->durations + (size_t)from * symbols,
            symbols * sizeof *g->durations);
    for (int p = 0; p < g->path_count; p++)
        g->length[p * g->plans_max + to] = g->length[p * g->plans_max + from];
    g->plan_share[to] = g->plan_share[from];
}

void game_truncate_plans(struct game *g, int count)
{
    assert(count >= 0 && count <= g->plan_count);
    g->plan_count = count;
}

// Plays in proportion to the positive regrets; uniformly if there are none.
static void play(double *plays, const double *regret, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += regret[i];
    if (sum > 0)
        for (int i = 0; i < count; i++) plays[i] = regret[i] / sum;
    else
        for (int i = 0; i < count; i++) plays[i] = 1.0 / count;
}

static void regret_more(double *regret, const double *gain, const double *plays, int count,
                        double sign)
{
    double value = 0;
    for (int i = 0; i < count; i++) value += plays[i] * gain[i];
    for (int i = 0; i < count; i++) {
        double sum = regret[i] + sign * (gain[i] - value);
        regret[i] = sum > 0 ? sum : 0;
    }
}

static void average(double *share, const double *plays, int count, double weight)
{
    for (int i = 0; i < count; i++) share[i] += weight * (plays[i] - share[i]);
}

// Adds a path to every plan's gain, and computes its own gain against the plans played.
static void add_gains(struct game *g, int path)
{
    const double *length = g->length + path * g->plans_max;
    double play = g->path_play[path], *gain = g->plan_gain;
    for (int x = 0; x < g->plan_count; x++) gain[x] += play * length[x];
}

static double gain_of(const struct game *g, int path)
{
    const double *length = g->length + path * g->plans_max, *play = g->plan_play;
    double gain = 0;
    for (int x = 0; x < g->plan_count; x++) gain += play[x] * length[x];
    return gain;
}

void game_solve(struct game *g, int steps)
{
    if (!g->path_count || !g->plan_count) return;
    for (int i = 0; i < g->path_count; i++) g->path_regret[i] = 0;
    for (int i = 0; i < g->plan_count; i++) g->plan_regret[i] = 0;
    play(g->plan_play, g->plan_regret, g->plan_count);
    for (int step = 1; step <= steps; step++) {
        play(g->path_play, g->path_regret, g->path_count);
        memset(g->plan_gain, 0, (size_t)g->plan_count * sizeof *g->plan_gain);
        for (int p = 0; p < g->path_count; p++)
            if (g->path_play[p] > 0) add_gains(g, p);
        regret_more(g->plan_regret, g->plan_gain, g->plan_play, g->plan_count, -1);
        play(g->plan_play, g->plan_regret, g->plan_count);
        for (int p = 0; p < g->path_count; p++) g->path_gain[p] = gain_of(g, p);
        regret_more(g->path_regret, g->path_gain, g->path_play, g->path_count, 1);
        double weight = 3.0 / (step + 2); // later plays count more, as the square of the step
        average(g->path_share, g->path_play, g->path_count, step == 1 ? 1 : weight);
        average(g->plan_share, g->plan_play, g->plan_count, step == 1 ? 1 : weight);
    }
}

int game_weights(const struct game *g, int *ids, int64_t *weights)
{
    int64_t left = (int64_t)1 << WEIGHT_BITS;
    int count = 0;
    for (int p = 0; p < g->path_count; p++) {
        int64_t weight = (int64_t)floor(ldexp(g->path_share[p], WEIGHT_BITS));
        weight = (weight < left ? weight : left) /
                 path_laps(g->counts + (size_t)p * (size_t)g->path_size, g->symbols);
        if (weight <= 0) continue;
        left -= weight * path_laps(g->counts + (size_t)p * (size_t)g->path_size, g->symbols);
        ids[count] = g->ids[p];
        weights[count++] = weight;
    }
    assert(left >= 0); // weight x laps sums to at most one
    return count;
}

void game_mean_durations(const struct game *g, int64_t *durations)
{
    for (int k = 0; k < g->symbols; k++) {
        double mean = 0;
        for (int x = 0; x < g->plan_count; x++)
            mean += g->plan_share[x] *
                    (double)g->durations[(size_t)x * (size_t)g->symbols + (size_t)k];
        durations[k] = (int64_t)(mean + 0.5);
    }
}

int game_plan_count(const struct game *g) { return g->plan_count; }

double game_plan_share(const struct game *g, int plan)
{
    assert(plan >= 0 && plan < g->plan_count);
    return g->plan_share[plan];
}

// ---- solved exactly
// As the linear program it is: the plans' side is max sum z subject to sum over plans of length x z
// <= 1 for every path, z >= 0, whose slack basis is feasible. Each step on the dense tableau
// exchanges a basic and a non-basic variable. Right-hand sides are perturbed slightly, so in
// practice it cannot cycle, and the number of steps is limited. Floating point: the results are
// shares, nothing is proven here.

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

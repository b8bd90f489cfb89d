// See simplex.h. Variables, and the slack of each row, are basic or not; a basic one is its value
// plus a sum over the others, which are 0. A variable at its upper end is taken as its distance
// from there (turned). Each step exchanges the basic variable that is farthest out of its range for
// another, such that no other cost becomes negative; the costs begin slightly perturbed, so in
// practice it cannot cycle, and the number of steps is limited.
#include "solve/boxes/simplex/simplex.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double out_least = 1e-8, pivot_least = 1e-9;

// Cells are by row; the last column holds the values.
struct simplex {
    int variables, variables_max, rows_max, rows, stride;
    double *cells, *cost, *upper; // upper[variable]
    int *basic, *other, *place;   // by row; by column; of a variable: its column, or -1 - row
    bool *turned;                 // [variable]
    int barred;                   // a row that no solution keeps, or -1
    double climbed;               // the multiplier of its basic variable's range
};

static double *row_of(const struct simplex *s, int row)
{
    return s->cells + (size_t)row * (size_t)s->stride;
}

struct simplex *simplex_open(int variables_max, int rows_max, struct arena *arena)
{
    struct simplex *s = TAKE(arena, 1, struct simplex);
    assert(variables_max > 0 && rows_max > 0);
    *s = (struct simplex){.variables_max = variables_max, .rows_max = rows_max};
    s->cells = TAKE(arena, (size_t)rows_max * (size_t)(variables_max + 1), double);
    s->cost = TAKE(arena, variables_max + 1, double);
    s->upper = TAKE(arena, variables_max + rows_max, double);
    s->basic = TAKE(arena, rows_max, int);
    s->other = TAKE(arena, variables_max, int);
    s->place = TAKE(arena, variables_max + rows_max, int);
    s->turned = TAKE(arena, variables_max + rows_max, bool);
    return s;
}

void simplex_begin(struct simplex *s, int variables, const double *upper)
{
    assert(variables > 0 && variables <= s->variables_max);
    s->variables = variables, s->stride = variables + 1;
    s->rows = 0;
    s->cost[s->variables] = 0;
    for (int j = 0; j < s->variables; j++) {
        s->upper[j] = j ? upper[j] : INFINITY;
        s->cost[j] = j ? 1e-9 * (double)((j * 7919 + 13) % 1009) / 1009 : 1;
        s->other[j] = s->place[j] = j;
        s->turned[j] = false;
    }
}

bool simplex_add_row(struct simplex *s, const double *row, double least)
{
    if (s->rows == s->rows_max) return false;
    int r = s->rows++, slack = s->variables + r;
    double *to = row_of(s, r);
    memset(to, 0, (size_t)s->stride * sizeof *to);
    to[s->variables] = -least;
    for (int j = 0; j < s->variables; j++) {
        double factor = s->turned[j] ? -row[j] : row[j];
        if (row[j] == 0) continue;
        if (s->turned[j]) to[s->variables] += row[j] * s->upper[j];
        if (s->place[j] >= 0) {
            to[s->place[j]] += factor;
            continue;
        }
        const double *from = row_of(s, -1 - s->place[j]);
        for (int x = 0; x <= s->variables; x++) to[x] += factor * from[x];
    }
    s->upper[slack] = INFINITY;
    s->turned[slack] = false;
    s->basic[r] = slack;
    s->place[slack] = -1 - r;
    return true;
}

// The row farthest out of its range; -1: none.
static int leaving(const struct simplex *s)
{
    int at = -1;
    double most = out_least;
    for (int r = 0; r < s->rows; r++) {
        double value = row_of(s, r)[s->variables],
               out = fmax(-value, value - s->upper[s->basic[r]]);
        if (out > most) at = r, most = out;
    }
    return at;
}

// Below 0 from here on.
static void turn(struct simplex *s, int row)
{
    double *cells = row_of(s, row);
    int variable = s->basic[row];
    for (int x = 0; x <= s->variables; x++) cells[x] = -cells[x];
    cells[s->variables] += s->upper[variable];
    s->turned[variable] = !s->turned[variable];
}

// Of columns whose cost rises alike, the one with the largest cell.
static int entering(const struct simplex *s, int row)
{
    const double *cells = row_of(s, row);
    int at = -1;
    double least = INFINITY;
    for (int x = 0; x < s->variables; x++) {
        if (cells[x] < pivot_least || s->upper[s->other[x]] <= 0) continue;
        double ratio = fmax(s->cost[x], 0) / cells[x];
        if (at >= 0 && (ratio > least + 1e-13 || (ratio > least - 1e-13 && cells[x] < cells[at])))
            continue;
        at = x, least = fmin(ratio, least);
    }
    return at;
}

static void substitute(double *restrict to, const double *restrict pivot, int column, int count)
{
    double factor = to[column];
    if (factor == 0) return;
    to[column] = 0;
    for (int x = 0; x < count; x++) to[x] += factor * pivot[x];
}

static void exchange(struct simplex *s, int row, int column)
{
    double *pivot = row_of(s, row), inverse = 1 / pivot[column];
    for (int x = 0; x <= s->variables; x++) pivot[x] *= -inverse;
    pivot[column] = inverse;
    for (int r = 0; r < s->rows; r++)
        if (r != row) substitute(row_of(s, r), pivot, column, s->stride);
    substitute(s->cost, pivot, column, s->stride);
    int out = s->basic[row], in = s->other[column];
    s->basic[row] = in, s->place[in] = -1 - row;
    s->other[column] = out, s->place[out] = column;
}

bool simplex_solve(struct simplex *s, int steps_max)
{
    s->barred = -1, s->climbed = 0;
    for (int step = 0; step < steps_max; step++) {
        int row = leaving(s);
        if (row < 0) return true;
        if (row_of(s, row)[s->variables] > 0) turn(s, row);
        int column = entering(s, row);
        if (column < 0) {
            s->barred = row;
            return false;
        }
        exchange(s, row, column);
    }
    return false;
}

bool simplex_climb(struct simplex *s, double value)
{
    if (s->barred < 0) return false;
    const double *row = row_of(s, s->barred);
    s->climbed = fmax(0, (value - s->cost[s->variables]) / -row[s->variables]);
    for (int x = 0; x <= s->variables; x++) s->cost[x] -= s->climbed * row[x];
    return true;
}

int simplex_row_count(const struct simplex *s) { return s->rows; }

double simplex_value(const struct simplex *s, int variable)
{
    int place = s->place[variable];
    double value = place < 0 ? row_of(s, -1 - place)[s->variables] : 0;
    return s->turned[variable] ? s->upper[variable] - value : value;
}

double simplex_multiplier(const struct simplex *s, int row)
{
    int place = s->place[s->variables + row];
    return place >= 0 ? fmax(0, s->cost[place]) : place == -1 - s->barred ? s->climbed : 0;
}

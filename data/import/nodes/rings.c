// See rings.h. A linear program: one column per undirected cycle, one row per pair of GPUs, the sum
// of the columns maximised. Columns are added as they are needed: under the rows' prices, the
// cheapest cycle is found by recursion over subsets (Held and Karp). One that costs at least 1
// proves that no other cycle would help. Every row has a little more room than it states, each
// another amount, so that no two variables reach zero at once and every step raises the sum: hence
// an end. The rows' prices at that end times what they state is the sum without it.
#include "data/import/nodes/rings.h"

#include <math.h>
#include <string.h>

enum { ROWS_MAX = RINGS_GPUS_MAX * (RINGS_GPUS_MAX - 1) / 2, STEPS_MAX = 20000 };
static const double tolerance = 1e-9;

struct program {
    int count, rows;
    int row[RINGS_GPUS_MAX][RINGS_GPUS_MAX]; // of a pair with links; -1: it has none
    double price[ROWS_MAX], room[ROWS_MAX];
    double *inverse; // [rows * rows] of the basis
    double *value;   // [rows] of its variables
    double *worth;   // [rows] 1: a cycle; 0: what a row has left
    // Shortest paths from GPU 0 through the others: length[set * others + last], and the one
    // before.
    double *length;
    signed char *before;
};

static void open_program(struct program *p, const double *capacity, int count, double unit,
                         struct arena *arena)
{
    *p = (struct program){.count = count};
    memset(p->row, -1, sizeof p->row);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (capacity[i * count + j] > 0) {
                p->room[p->rows] = capacity[i * count + j] / unit;
                p->row[i][j] = p->row[j][i] = p->rows++;
            }
    p->inverse = TAKE(arena, p->rows * p->rows, double);
    p->value = TAKE(arena, p->rows, double);
    p->worth = TAKE(arena, p->rows, double);
    for (int r = 0; r < p->rows; r++) {
        p->inverse[r * p->rows + r] = 1;
        p->value[r] = p->room[r] * (1 + 1e-6 * fmod((r + 1) * 0.6180339887498949, 1));
    }
    size_t sets = (size_t)1 << (count - 1);
    p->length = TAKE(arena, sets * (size_t)(count - 1), double);
    p->before = TAKE(arena, sets * (size_t)(count - 1), signed char);
}

static void find_prices(struct program *p)
{
    for (int column = 0; column < p->rows; column++) {
        p->price[column] = 0;
        for (int r = 0; r < p->rows; r++)
            p->price[column] += p->worth[r] * p->inverse[r * p->rows + column];
        if (p->price[column] < 0) p->price[column] = 0; // rows that have something left are free
    }
}

static double cost(const struct program *p, int a, int b)
{
    return p->row[a][b] < 0 ? INFINITY : p->price[p->row[a][b]];
}

// The cheapest cycle: rows[count], INFINITY if there is none. GPU k + 1 is bit k of a set.
static double find_cycle(struct program *p, int *rows)
{
    int others = p->count - 1, all = (1 << others) - 1, last = -1;
    double best = INFINITY;
    for (int set = 1; set <= all; set++)
        for (int k = 0; k < others; k++) {
            double *to = &p->length[set * others + k];
            int rest = set & ~(1 << k);
            *to = INFINITY;
            if (rest == set) continue;
            if (!rest) *to = cost(p, 0, k + 1);
            for (int j = 0; j < others && rest; j++) {
                double through = p->length[rest * others + j] + cost(p, j + 1, k + 1);
                if (!(rest >> j & 1) || !(through < *to)) continue;
                *to = through;
                p->before[set * others + k] = (signed char)j;
            }
        }
    for (int k = 0; k < others; k++) {
        double through = p->length[all * others + k] + cost(p, k + 1, 0);
        if (through < best) best = through, last = k;
    }
    if (last < 0) return INFINITY;
    rows[0] = p->row[last + 1][0];
    for (int set = all, at = 1; at < p->count; at++) {
        int rest = set & ~(1 << last), next = rest ? p->before[set * others + last] : -1;
        rows[at] = p->row[last + 1][next + 1];
        set = rest, last = next;
    }
    return best;
}

// The column enters, and the variable that it first drives to zero leaves: of equal ones the first.
static bool enter(struct program *p, const double *column, double worth)
{
    int n = p->rows, leaves = -1;
    double step = INFINITY;
    for (int r = 0; r < n; r++)
        if (column[r] > tolerance && p->value[r] / column[r] < step)
            step = p->value[r] / column[r], leaves = r;
    if (leaves < 0) return false;
    for (int r = 0; r < n; r++) {
        if (r == leaves || column[r] == 0) continue;
        p->value[r] = fmax(0, p->value[r] - step * column[r]);
        for (int k = 0; k < n; k++)
            p->inverse[r * n + k] -= column[r] / column[leaves] * p->inverse[leaves * n + k];
    }
    for (int k = 0; k < n; k++) p->inverse[leaves * n + k] /= column[leaves];
    p->value[leaves] = step, p->worth[leaves] = worth;
    return true;
}

// A row whose price is below zero: what it has left enters.
static int row_to_free(const struct program *p)
{
    for (int column = 0; column < p->rows; column++) {
        double price = 0;
        for (int r = 0; r < p->rows; r++) price += p->worth[r] * p->inverse[r * p->rows + column];
        if (price < -tolerance) return column;
    }
    return -1;
}

static bool improve(struct program *p)
{
    double column[ROWS_MAX] = {0};
    int rows[RINGS_GPUS_MAX], n = p->rows, free = row_to_free(p);
    if (free >= 0) {
        for (int r = 0; r < n; r++) column[r] = p->inverse[r * n + free];
        return enter(p, column, 0);
    }
    find_prices(p);
    if (!(find_cycle(p, rows) < 1 - tolerance)) return false;
    for (int r = 0; r < n; r++)
        for (int i = 0; i < p->count; i++) column[r] += p->inverse[r * n + rows[i]];
    return enter(p, column, 1);
}

double rings_rate(const double *capacity, int count, struct arena *arena)
{
    struct program *p = TAKE(arena, 1, struct program);
    double unit = 0, sum = 0;
    if (count == 2) return capacity[1];
    for (int i = 0; i < count * count; i++) unit = fmax(unit, capacity[i]);
    if (!(unit > 0)) return 0;
    open_program(p, capacity, count, unit, arena);
    for (int step = 0; step < STEPS_MAX && improve(p); step++) {
    }
    find_prices(p);
    for (int r = 0; r < p->rows; r++) sum += p->price[r] * p->room[r];
    return 2 * sum * unit;
}

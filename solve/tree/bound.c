// Exact lower bounds of a relaxation from whole-number multipliers.
#include "solve/tree/job.h"

#include <stdlib.h>

static const wide one_ns = (wide)1 << BOUND_FRACTION_BITS;

void bound_prepare(struct bound_scratch *s, const struct milp *m, struct arena *arena)
{
    *s = (struct bound_scratch){.milp = m, .row_known = m->row_count};
    assert(m->column_count > 0 && m->columns[0].time);
    s->residual = TAKE(arena, m->column_count, wide);
    s->touched = TAKE(arena, m->column_count, int);
    s->is_touched = TAKE(arena, m->column_count, bool);
    s->symbol_row = TAKE(arena, m->column_count, int);
    for (int j = 0; j < m->column_count; j++) s->symbol_row[j] = -1;
    s->is_time_row = TAKE(arena, m->row_count, bool);
    for (int i = 0; i < m->row_count; i++) {
        const struct milp_row *r = &m->rows[i];
        s->is_time_row[i] = milp_row_in_time(m, r);
        for (int e = r->first; r->role == ROW_SYMBOL && e < r->first + r->count; e++)
            if (m->columns[m->entry_column[e]].role == COLUMN_SYMBOL)
                s->symbol_row[m->entry_column[e]] = i;
    }
}

// A row's multiplier in 2^-40 ns per unit of the row.
static wide full_value(const struct bound_scratch *s, const struct milp *m, int row, int64_t value,
                       int unit_log2)
{
    bool time = row < s->row_known ? s->is_time_row[row] : milp_row_in_time(m, &m->rows[row]);
    return time ? (wide)value : (wide)value * ((wide)1 << unit_log2);
}

static void start(struct bound_scratch *s)
{
    for (int k = 0; k < s->touched_count; k++)
        s->residual[s->touched[k]] = 0, s->is_touched[s->touched[k]] = false;
    s->touched_count = 0;
    s->touched[s->touched_count++] = 0;
    s->is_touched[0] = true;
    s->residual[0] = one_ns;
}

static bool subtract_row(struct bound_scratch *s, const struct milp *m, int row, wide y)
{
    const struct milp_row *r = &m->rows[row];
    bool bad = false;
    for (int e = r->first; e < r->first + r->count; e++) {
        int j = m->entry_column[e];
        wide term;
        if (!s->is_touched[j]) s->is_touched[j] = true, s->touched[s->touched_count++] = j;
        bad |= __builtin_mul_overflow(y, (wide)m->entry_value[e], &term);
        bad |= __builtin_sub_overflow(s->residual[j], term, &s->residual[j]);
    }
    return !bad;
}

static bool right_sign(const struct milp_row *r, int64_t y)
{
    return r->sense == ROW_EQUAL || (r->sense == ROW_AT_LEAST ? y >= 0 : y <= 0);
}

bool bound_evaluate(int64_t *bound_ns, wide *exact, const struct milp *m, const bool *closed,
                    const struct multipliers *y, struct bound_scratch *s)
{
    wide sum = 0, term;
    bool bad = false;
    start(s);
    for (int k = 0; k < y->count; k++) {
        assert(y->rows[k] >= 0 && y->rows[k] < m->row_count);
        const struct milp_row *r = &m->rows[y->rows[k]];
        if (!right_sign(r, y->values[k])) return false;
        wide value = full_value(s, m, y->rows[k], y->values[k], y->unit_log2);
        bad |= __builtin_mul_overflow(value, (wide)r->right, &term);
        bad |= __builtin_add_overflow(sum, term, &sum);
        bad |= !subtract_row(s, m, y->rows[k], value);
    }
    for (int k = 0; k < s->touched_count; k++) {
        int j = s->touched[k];
        wide residual = s->residual[j];
        int64_t at = residual > 0 ? m->columns[j].lower : closed[j] ? 0 : m->columns[j].upper;
        bad |= __builtin_mul_overflow(residual, (wide)at, &term);
        bad |= __builtin_add_overflow(sum, term, &sum);
    }
    if (bad) return false;
    if (exact) *exact = sum;
    wide whole = sum >= 0 ? (sum + one_ns - 1) / one_ns : -(-sum / one_ns);
    if (whole > INT64_MAX / 2 || whole < INT64_MIN / 2) return false;
    *bound_ns = (int64_t)whole;
    return true;
}

// ---- rounding

static int64_t whole_multiplier(const struct milp_row *r, double value)
{
    double scaled = ldexp(value, BOUND_FRACTION_BITS);
    if (!(fabs(scaled) < 4e18)) return 0;
    int64_t y = (int64_t)llround(scaled);
    return right_sign(r, y) ? y : 0;
}

static int64_t entry_of(const struct milp *m, int row, int column)
{
    const struct milp_row *r = &m->rows[row];
    for (int e = r->first; e < r->first + r->count; e++)
        if (m->entry_column[e] == column) return m->entry_value[e];
    return 0;
}

static wide floor_of(wide a, wide b) { return a / b - (a % b < 0); }

// Moves the rest of a column's residual into one row that has an entry there, if the sign allows.
// If that entry is not +1 or -1 (a path of several laps) a residual may stay: in the time column,
// above zero, where it costs nothing.
static void clear_residual(struct multipliers *y, int k, const struct milp *m, int column,
                           struct bound_scratch *s)
{
    int64_t a = entry_of(m, y->rows[k], column);
    if (a != 1 && a != -1 && (column || a < 1)) return;
    wide next = (wide)y->values[k] +
                (a == -1 ? -s->residual[column] : floor_of(s->residual[column], a));
    if (next > INT64_MAX || next < INT64_MIN || !right_sign(&m->rows[y->rows[k]], (int64_t)next))
        return;
    y->values[k] = (int64_t)next;
}

static int find_row(const struct multipliers *y, int row)
{
    int low = 0, high = y->count - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (y->rows[middle] == row) return middle;
        if (y->rows[middle] < row) low = middle + 1;
        else high = middle - 1;
    }
    return -1;
}

static void drop_zeros(struct multipliers *y)
{
    int n = 0;
    for (int k = 0; k < y->count; k++)
        if (y->values[k]) y->rows[n] = y->rows[k], y->values[n++] = y->values[k];
    y->count = n;
}

struct keyed {
    int row;
    double value;
};

static int by_row(const void *a, const void *b)
{
    int x = ((const struct keyed *)a)->row, y = ((const struct keyed *)b)->row;
    return (x > y) - (x < y);
}

// Path rows first (their sum clears the time column), then the symbol rows that they require, so
// that no residual is left where column bounds are loose.
void bound_round(struct multipliers *y, struct bound_scratch *s, const int *rows,
                 const double *values, int count, int unit_log2, struct arena *arena)
{
    const struct milp *m = s->milp;
    assert(count >= 0 && unit_log2 >= 0);
    struct keyed *sorted = TAKE(arena, count, struct keyed);
    *y = (struct multipliers){.rows = TAKE(arena, count, int),
                              .values = TAKE(arena, count, int64_t),
                              .count = count,
                              .unit_log2 = unit_log2};
    for (int k = 0; k < count; k++) sorted[k] = (struct keyed){rows[k], values[k]};
    qsort(sorted, (size_t)count, sizeof *sorted, by_row);
    int largest = -1;
    start(s);
    for (int k = 0; k < count; k++) {
        const struct milp_row *r = &m->rows[sorted[k].row];
        y->rows[k] = sorted[k].row;
        if (r->role == ROW_SYMBOL) continue;
        y->values[k] = whole_multiplier(r, sorted[k].value);
        if (!y->values[k]) continue;
        if (entry_of(m, y->rows[k], 0) &&
            (largest < 0 || llabs(y->values[k]) > llabs(y->values[largest])))
            largest = k;
        subtract_row(s, m, y->rows[k], full_value(s, m, y->rows[k], y->values[k], unit_log2));
    }
    if (largest >= 0 && s->residual[0]) {
        int64_t before = y->values[largest];
        clear_residual(y, largest, m, 0, s);
        subtract_row(s, m, y->rows[largest], (wide)y->values[largest] - before);
    }
    for (int t = 0; t < s->touched_count; t++) {
        int j = s->touched[t], row = s->symbol_row[j];
        if (row < 0 || !s->residual[j]) continue;
        int k = find_row(y, row);
        if (k >= 0) clear_residual(y, k, m, j, s);
    }
    drop_zeros(y);
    for (int k = 1; k < y->count; k++) assert(y->rows[k - 1] < y->rows[k]);
}

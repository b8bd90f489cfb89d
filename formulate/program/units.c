// Powers of ten for the numbers of a written program.
#include "formulate/program/formulate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "data/base/least.h"

enum { LOG10_MAX = 18, PLAIN_MOST = 10000 };

int64_t milp_units_power(int log10)
{
    int64_t power = 1;
    assert(log10 >= 0 && log10 <= LOG10_MAX);
    while (log10--) power *= 10;
    return power;
}

// The least power of ten below which the value is less than `most`.
static int log10_below(int64_t value, int64_t most)
{
    int log10 = 0;
    for (; value >= most; value /= 10) log10++;
    return log10;
}

static int64_t largest_coefficient(const struct milp *m, const struct milp_row *r)
{
    int64_t largest = llabs(r->right);
    for (int e = r->first; e < r->first + r->count; e++)
        largest = larger(largest, llabs(m->entry_value[e]));
    return largest;
}

// The greatest number in ns: upper bounds of columns, and what the others count for in their rows.
static int64_t slowest_of(const struct milp *m)
{
    int64_t slowest = 0;
    for (int j = 0; j < m->column_count; j++)
        if (m->columns[j].time && m->columns[j].role != COLUMN_TIME)
            slowest = larger(slowest, m->columns[j].upper);
    for (int i = 0; i < m->row_count; i++) {
        const struct milp_row *r = &m->rows[i];
        if (!milp_row_in_time(m, r)) continue;
        for (int e = r->first; e < r->first + r->count; e++)
            if (!m->columns[m->entry_column[e]].time)
                slowest = larger(slowest, llabs(m->entry_value[e]));
    }
    return slowest;
}

struct milp_units milp_units_of(const struct milp *m, struct arena *arena)
{
    struct milp_units u = {log10_below(slowest_of(m), 100), TAKE(arena, m->row_count, int)};
    for (int i = 0; i < m->row_count; i++) {
        int64_t largest = largest_coefficient(m, &m->rows[i]);
        u.row_log10[i] = milp_row_in_time(m, &m->rows[i]) ? u.time_log10
                         : largest > PLAIN_MOST           ? log10_below(largest, 1000)
                                                          : 0;
    }
    return u;
}

int milp_units_column_log10(const struct milp_units *u, const struct milp_column *c)
{
    return c->time ? u->time_log10 : 0;
}

void milp_units_put(struct text *t, int64_t value, int log10)
{
    int64_t power = milp_units_power(log10), whole = llabs(value / power),
            part = llabs(value % power);
    text_put(t, "%s%" PRId64, value < 0 ? "-" : "", whole);
    if (!part) return;
    for (; part % 10 == 0; part /= 10) log10--;
    text_put(t, ".%0*" PRId64, log10, part);
}

static int path_rows_of(const struct milp *m)
{
    int count = 0;
    for (int i = 0; i < m->row_count; i++) count += m->rows[i].role == ROW_PATH;
    return count;
}

void milp_units_explain(struct text *t, const struct milp *m, const struct milp_units *u,
                        const char *mark)
{
    text_put(t, "%s minimise column T, in the unit of time\n", mark);
    text_put(t, "%s unit of time: %" PRId64 " ns (columns T and symbol_...)\n", mark,
             milp_units_power(u->time_log10));
    text_put(t,
             "%s rows without times may be divided by a power of ten; every number is exact\n"
             "%s %d path rows: each holds for every plan; where a path has no row, T may be less\n"
             "%s than a plan's time, which plumbline verify --solution detects\n",
             mark, mark, path_rows_of(m), mark);
}

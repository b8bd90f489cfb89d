// Columns, rows and names of an integer program that grows.
#include "data/program/milp.h"

#include "data/base/grow.h"

#include <assert.h>
#include <stdio.h>

void milp_begin(struct milp *m, struct arena *arena) { *m = (struct milp){.arena = arena}; }

int milp_add_column(struct milp *m, struct milp_column column)
{
    assert(column.lower <= column.upper);
    GROW(m->arena, m->columns, m->column_count, m->column_capacity, 64);
    m->columns[m->column_count] = column;
    return m->column_count++;
}

void milp_add_entry(struct milp *m, int column, int64_t value)
{
    assert(column >= 0 && column < m->column_count);
    if (!value) return;
    int capacity = m->entry_capacity;
    GROW(m->arena, m->entry_column, m->entry_count, capacity, 64);
    GROW(m->arena, m->entry_value, m->entry_count, m->entry_capacity, 64);
    m->entry_column[m->entry_count] = column;
    m->entry_value[m->entry_count++] = value;
}

int milp_add_row(struct milp *m, enum row_role role, enum row_sense sense, int64_t right)
{
    int first = m->row_count ? m->rows[m->row_count - 1].first + m->rows[m->row_count - 1].count
                             : 0;
    GROW(m->arena, m->rows, m->row_count, m->row_capacity, 64);
    m->rows[m->row_count] = (struct milp_row){role, sense, right, first, m->entry_count - first};
    return m->row_count++;
}

bool milp_row_in_time(const struct milp *m, const struct milp_row *row)
{
    for (int e = row->first; e < row->first + row->count; e++)
        if (m->columns[m->entry_column[e]].time) return true;
    return false;
}

const char *milp_column_name(const struct milp *m, int column, char name[64])
{
    static const char *const roles[] = {"T",     "symbol", "choice",  "level",
                                        "state", "flow",   "working", "x"};
    assert(m->columns[column].role < ARRAY_LENGTH(roles));
    const struct milp_column *c = &m->columns[column];
    if (c->role == COLUMN_TIME) snprintf(name, 64, "T");
    else if (c->role == COLUMN_FLOW)
        snprintf(name, 64, "flow_%d_%d_%d_%d", c->a, c->b, c->c, column);
    else snprintf(name, 64, "%s_%d_%d_%d", roles[c->role], c->a, c->b, column);
    return name;
}

const char *milp_row_name(const struct milp *m, int row, char name[64])
{
    static const char *const roles[] = {"cover",   "one",    "slots", "budget",   "state",
                                        "symbol",  "flow",   "level", "position", "rank",
                                        "working", "memory", "path",  "row"};
    assert(m->rows[row].role < ARRAY_LENGTH(roles));
    snprintf(name, 64, "%s_%d", roles[m->rows[row].role], row);
    return name;
}

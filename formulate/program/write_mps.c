// Free-format MPS, with every number written exactly, in the units of
// formulate/program/formulate.h. GLPK's own writer keeps 9 digits, which gives a different program.
#include "formulate/program/formulate.h"

// Entries by column, as MPS requires: start[column]..start[column + 1) of order[] are entry
// indices, by row.
static void sort_by_column(const struct milp *m, struct arena *arena, int **start, int **order,
                           int **row_of)
{
    *start = TAKE(arena, m->column_count + 1, int);
    *order = TAKE(arena, m->entry_count, int);
    *row_of = TAKE(arena, m->entry_count, int);
    int *next = TAKE(arena, m->column_count + 1, int);
    for (int e = 0; e < m->entry_count; e++) (*start)[m->entry_column[e] + 1]++;
    for (int j = 0; j < m->column_count; j++) next[j + 1] = (*start)[j + 1] += (*start)[j];
    for (int i = 0; i < m->row_count; i++)
        for (int e = m->rows[i].first; e < m->rows[i].first + m->rows[i].count; e++) {
            (*order)[next[m->entry_column[e]]++] = e;
            (*row_of)[e] = i;
        }
}

static void put_number(struct text *t, const char *a, const char *b, int64_t value, int log10)
{
    text_put(t, " %s %s ", a, b);
    milp_units_put(t, value, log10);
    text_put(t, "\n");
}

static void put_columns(struct text *t, const struct milp *m, const struct milp_units *u,
                        struct arena *arena)
{
    int *start, *order, *row_of, markers = 0;
    bool integer = false;
    char name[64], row[64];
    sort_by_column(m, arena, &start, &order, &row_of);
    text_put(t, "COLUMNS\n");
    for (int j = 0; j < m->column_count; j++) {
        if (m->columns[j].integer != integer)
            text_put(t, " M%d 'MARKER' '%s'\n", markers++, integer ? "INTEND" : "INTORG");
        integer = m->columns[j].integer;
        milp_column_name(m, j, name);
        if (j == 0) text_put(t, " %s objective 1\n", name);
        // A column that is in no row is listed all the same, so that its bounds are defined.
        else if (start[j] == start[j + 1]) text_put(t, " %s objective 0\n", name);
        for (int k = start[j]; k < start[j + 1]; k++)
            put_number(t, name, milp_row_name(m, row_of[order[k]], row), m->entry_value[order[k]],
                       u->row_log10[row_of[order[k]]] - milp_units_column_log10(u, &m->columns[j]));
    }
    if (integer) text_put(t, " M%d 'MARKER' 'INTEND'\n", markers);
}

enum status milp_write_mps(const struct milp *m, const char *path, struct arena *arena,
                           struct error *err)
{
    static const char senses[] = {[ROW_AT_MOST] = 'L', [ROW_EQUAL] = 'E', [ROW_AT_LEAST] = 'G'};
    struct text t = {.arena = arena};
    char name[64];
    struct milp_units u = milp_units_of(m, arena);
    milp_units_explain(&t, m, &u, "*");
    text_put(&t, "NAME plumbline FREE\nROWS\n N objective\n");
    for (int i = 0; i < m->row_count; i++)
        text_put(&t, " %c %s\n", senses[m->rows[i].sense], milp_row_name(m, i, name));
    put_columns(&t, m, &u, arena);
    text_put(&t, "RHS\n");
    for (int i = 0; i < m->row_count; i++)
        if (m->rows[i].right)
            put_number(&t, "rhs", milp_row_name(m, i, name), m->rows[i].right, u.row_log10[i]);
    text_put(&t, "BOUNDS\n");
    for (int j = 0; j < m->column_count; j++) {
        const struct milp_column *c = &m->columns[j];
        int log10 = milp_units_column_log10(&u, c);
        milp_column_name(m, j, name);
        if (c->lower == c->upper) {
            put_number(&t, "FX bounds", name, c->lower, log10);
            continue;
        }
        if (c->lower) put_number(&t, "LO bounds", name, c->lower, log10);
        put_number(&t, "UP bounds", name, c->upper, log10);
    }
    text_put(&t, "ENDATA\n");
    return file_write(path, t.text, t.length, err);
}

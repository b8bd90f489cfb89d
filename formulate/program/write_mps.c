// Free-format MPS, with every number written as an integer. GLPK's own writer keeps 9 digits, which
// gives a different program.
#include "formulate/program/formulate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "data/base/file.h"
#include "data/text/pieces.h"

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

static void put_columns(struct text *t, const struct milp *m, struct arena *arena)
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
            text_put(t, " %s %s %" PRId64 "\n", name, milp_row_name(m, row_of[order[k]], row),
                     m->entry_value[order[k]]);
    }
    if (integer) text_put(t, " M%d 'MARKER' 'INTEND'\n", markers);
}

enum status milp_write_mps(const struct milp *m, const char *path, struct arena *arena,
                           struct error *err)
{
    static const char senses[] = {[ROW_AT_MOST] = 'L', [ROW_EQUAL] = 'E', [ROW_AT_LEAST] = 'G'};
    struct text t = {.arena = arena};
    char name[64];
    text_put(
        &t,
        "* minimise column T, the iteration time in ns\nNAME plumbline FREE\nROWS\n N objective\n");
    for (int i = 0; i < m->row_count; i++)
        text_put(&t, " %c %s\n", senses[m->rows[i].sense], milp_row_name(m, i, name));
    put_columns(&t, m, arena);
    text_put(&t, "RHS\n");
    for (int i = 0; i < m->row_count; i++)
        if (m->rows[i].right)
            text_put(&t, " rhs %s %" PRId64 "\n", milp_row_name(m, i, name), m->rows[i].right);
    text_put(&t, "BOUNDS\n");
    for (int j = 0; j < m->column_count; j++) {
        milp_column_name(m, j, name);
        if (m->columns[j].lower == m->columns[j].upper) {
            text_put(&t, " FX bounds %s %" PRId64 "\n", name, m->columns[j].lower);
            continue;
        }
        if (m->columns[j].lower)
            text_put(&t, " LO bounds %s %" PRId64 "\n", name, m->columns[j].lower);
        text_put(&t, " UP bounds %s %" PRId64 "\n", name, m->columns[j].upper);
    }
    text_put(&t, "ENDATA\n");
    return file_write(path, t.text, t.length, err);
}

// CPLEX-LP format, with every number written as an integer.
#include "formulate/program/formulate.h"

#include <inttypes.h>

#include "data/base/file.h"
#include "data/text/pieces.h"

enum { TERMS_PER_LINE = 8 };

static void put_row(struct text *t, const struct milp *m, int row)
{
    static const char *const senses[] = {
        [ROW_AT_MOST] = "<=", [ROW_EQUAL] = "=", [ROW_AT_LEAST] = ">="};
    const struct milp_row *r = &m->rows[row];
    char name[64];
    text_put(t, " %s:", milp_row_name(m, row, name));
    if (!r->count)
        text_put(t, " 0 %s", milp_column_name(m, 0, name)); // the format has no empty rows
    for (int k = 0; k < r->count; k++) {
        int64_t value = m->entry_value[r->first + k];
        milp_column_name(m, m->entry_column[r->first + k], name);
        if (k && k % TERMS_PER_LINE == 0) text_put(t, "\n ");
        text_put(t, value < 0 ? " -" : k ? " +" : "");
        if (value == 1 || value == -1) text_put(t, " %s", name);
        else text_put(t, " %" PRId64 " %s", value < 0 ? -value : value, name);
    }
    text_put(t, " %s %" PRId64 "\n", senses[r->sense], r->right);
}

static void put_bounds(struct text *t, const struct milp *m)
{
    char name[64];
    text_put(t, "Bounds\n");
    for (int j = 0; j < m->column_count; j++) {
        milp_column_name(m, j, name);
        if (m->columns[j].lower == m->columns[j].upper)
            text_put(t, " %s = %" PRId64 "\n", name, m->columns[j].lower);
        else
            text_put(t, " %" PRId64 " <= %s <= %" PRId64 "\n", m->columns[j].lower, name,
                     m->columns[j].upper);
    }
}

enum status milp_write_lp(const struct milp *m, const char *path, struct arena *arena,
                          struct error *err)
{
    struct text t = {.arena = arena};
    char name[64];
    bool any = false;
    text_put(
        &t,
        "\\ minimise column T, the iteration time in ns\nMinimize\n objective: %s\nSubject To\n",
        milp_column_name(m, 0, name));
    for (int i = 0; i < m->row_count; i++) put_row(&t, m, i);
    put_bounds(&t, m);
    for (int j = 0; j < m->column_count; j++) {
        if (!m->columns[j].integer) continue;
        if (!any) text_put(&t, "Generals\n");
        any = true;
        text_put(&t, " %s\n", milp_column_name(m, j, name));
    }
    text_put(&t, "End\n");
    return file_write(path, t.text, t.length, err);
}

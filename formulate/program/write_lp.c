// CPLEX-LP format, with every number written exactly, in the units of
// formulate/program/formulate.h.
#include "formulate/program/formulate.h"

enum { TERMS_PER_LINE = 8 };

static void put_row(struct text *t, const struct milp *m, const struct milp_units *u, int row)
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
        int log10 = milp_units_column_log10(u, &m->columns[m->entry_column[r->first + k]]);
        text_put(t, " ");
        if (value < 0) value = -value;
        if (value != milp_units_power(u->row_log10[row] - log10)) {
            milp_units_put(t, value, u->row_log10[row] - log10);
            text_put(t, " ");
        }
        text_put(t, "%s", name);
    }
    text_put(t, " %s ", senses[r->sense]);
    milp_units_put(t, r->right, u->row_log10[row]);
    text_put(t, "\n");
}

static void put_bounds(struct text *t, const struct milp *m, const struct milp_units *u)
{
    char name[64];
    text_put(t, "Bounds\n");
    for (int j = 0; j < m->column_count; j++) {
        const struct milp_column *c = &m->columns[j];
        int log10 = milp_units_column_log10(u, c);
        milp_column_name(m, j, name);
        text_put(t, " ");
        if (c->lower == c->upper) text_put(t, "%s = ", name);
        else {
            milp_units_put(t, c->lower, log10);
            text_put(t, " <= %s <= ", name);
        }
        milp_units_put(t, c->upper, log10);
        text_put(t, "\n");
    }
}

enum status milp_write_lp(const struct milp *m, const char *path, struct arena *arena,
                          struct error *err)
{
    struct text t = {.arena = arena};
    char name[64];
    bool any = false;
    struct milp_units u = milp_units_of(m, arena);
    milp_units_explain(&t, m, &u, "\\");
    text_put(&t, "Minimize\n objective: %s\nSubject To\n", milp_column_name(m, 0, name));
    for (int i = 0; i < m->row_count; i++) put_row(&t, m, &u, i);
    put_bounds(&t, m, &u);
    for (int j = 0; j < m->column_count; j++) {
        if (!m->columns[j].integer) continue;
        if (!any) text_put(&t, "Generals\n");
        any = true;
        text_put(&t, " %s\n", milp_column_name(m, j, name));
    }
    text_put(&t, "End\n");
    return file_write(path, t.text, t.length, err);
}

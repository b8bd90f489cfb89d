// Tables as comma-separated values and for LaTeX.

#include "solve/batch/table.h"
#include "solve/report/report.h"

static const char not_known[] = "--";

void table_csv(struct text *out, const struct batch_table *t, const int *columns, int count)
{
    for (int k = 0; k < count; k++) {
        text_put(out, k ? "," : "");
        report_csv_text(out, t->columns[columns[k]].key);
    }
    text_put(out, "\r\n");
    for (int i = 0; i < t->row_count; i++) {
        for (int k = 0; k < count; k++) {
            const char *cell = t->rows[i].values[columns[k]].text;
            text_put(out, k ? "," : "");
            report_csv_text(out, cell ? cell : "");
        }
        text_put(out, "\r\n");
    }
}

static void put_tex_group(struct text *out, const struct batch_table *t, int row, int count)
{
    const struct batch_row *here = &t->rows[row];
    if (t->group < 0 || (row && t->rows[row - 1].group == here->group)) return;
    const char *name = arena_print(t->arena, "%s %s", t->columns[t->group].heading,
                                   *t->groups[here->group] ? t->groups[here->group] : not_known);
    text_put(out, "%s  \\multicolumn{%d}{l}{\\emph{%s}} \\\\\n", row ? "  \\addlinespace\n" : "",
             count, report_escape_tex(name, t->arena));
}

enum { ROWS_OF_A_PAGE = 40 };

void table_tex(struct text *out, const struct batch_table *t, const int *columns, int count)
{
    bool long_one = t->row_count > ROWS_OF_A_PAGE; // may span pages, with its heading on each
    const char *kind = long_one ? "longtable" : "tabular";
    text_put(out,
             "%% plumbline batch collect; needs \\usepackage{booktabs%s} and "
             "\\usepackage[T1]{fontenc}\n\\begin{%s}{",
             long_one ? ",longtable" : "", kind);
    for (int k = 0; k < count; k++) text_put(out, t->columns[columns[k]].places < 0 ? "l" : "r");
    text_put(out, "}\n  \\toprule\n ");
    for (int k = 0; k < count; k++)
        text_put(out, "%s %s", k ? " &" : "",
                 report_escape_tex(t->columns[columns[k]].heading, t->arena));
    text_put(out, " \\\\\n  \\midrule\n%s", long_one ? "  \\endhead\n" : "");
    for (int i = 0; i < t->row_count; i++) {
        put_tex_group(out, t, i, count);
        text_put(out, " ");
        for (int k = 0; k < count; k++) {
            const char *cell = value_shown(t, &t->rows[i], columns[k]);
            text_put(out, "%s %s", k ? " &" : "",
                     cell ? report_escape_tex(cell, t->arena) : not_known);
        }
        text_put(out, " \\\\\n");
    }
    text_put(out, "  \\bottomrule\n\\end{%s}\n", kind);
}

// Tables as comma-separated values and for LaTeX.
#include <string.h>

#include "solve/batch/table.h"
#include "solve/report/report.h"

static const char not_known[] = "--";

void table_csv(const struct batch_table *t, const int *columns, int count, const char **text,
               size_t *length)
{
    struct report_out out;
    report_out_begin(&out, t->arena);
    for (int k = 0; k < count; k++) {
        report_print(&out, k ? "," : "");
        report_csv_text(&out, t->columns[columns[k]].key);
    }
    report_print(&out, "\r\n");
    for (int i = 0; i < t->row_count; i++) {
        for (int k = 0; k < count; k++) {
            const char *cell = t->rows[i].values[columns[k]].text;
            report_print(&out, k ? "," : "");
            report_csv_text(&out, cell ? cell : "");
        }
        report_print(&out, "\r\n");
    }
    *text = out.text, *length = out.length;
}

static void put_tex_group(struct report_out *out, const struct batch_table *t, int row, int count)
{
    const struct batch_row *here = &t->rows[row];
    if (t->group < 0 || (row && t->rows[row - 1].group == here->group)) return;
    const char *name = arena_print(t->arena, "%s %s", t->columns[t->group].heading,
                                   *t->groups[here->group] ? t->groups[here->group] : not_known);
    report_print(out, "%s  \\multicolumn{%d}{l}{\\emph{%s}} \\\\\n",
                 row ? "  \\addlinespace\n" : "", count, report_escape_tex(name, t->arena));
}

enum { ROWS_OF_A_PAGE = 40 };

void table_tex(const struct batch_table *t, const int *columns, int count, const char **text,
               size_t *length)
{
    struct report_out out;
    bool long_one = t->row_count > ROWS_OF_A_PAGE; // may span pages, with its heading on each
    const char *kind = long_one ? "longtable" : "tabular";
    report_out_begin(&out, t->arena);
    report_print(&out,
                 "%% plumbline batch collect; needs \\usepackage{booktabs%s} and "
                 "\\usepackage[T1]{fontenc}\n\\begin{%s}{",
                 long_one ? ",longtable" : "", kind);
    for (int k = 0; k < count; k++)
        report_print(&out, t->columns[columns[k]].places < 0 ? "l" : "r");
    report_print(&out, "}\n  \\toprule\n ");
    for (int k = 0; k < count; k++)
        report_print(&out, "%s %s", k ? " &" : "",
                     report_escape_tex(t->columns[columns[k]].heading, t->arena));
    report_print(&out, " \\\\\n  \\midrule\n%s", long_one ? "  \\endhead\n" : "");
    for (int i = 0; i < t->row_count; i++) {
        put_tex_group(&out, t, i, count);
        report_print(&out, " ");
        for (int k = 0; k < count; k++) {
            const char *cell = value_shown(t, &t->rows[i], columns[k]);
            report_print(&out, "%s %s", k ? " &" : "",
                         cell ? report_escape_tex(cell, t->arena) : not_known);
        }
        report_print(&out, " \\\\\n");
    }
    report_print(&out, "  \\bottomrule\n\\end{%s}\n", kind);
    *text = out.text, *length = out.length;
}

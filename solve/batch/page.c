// A batch as one page for a browser: results, drawings, the table.
#include <string.h>

#include "solve/batch/table.h"
#include "solve/report/html/html.h"

static const char *const plot_titles[PLOT_COUNT] = {
    [PLOT_TIME] = "Iteration time against GPUs",
    [PLOT_PARETO] = "Time and price of a million tokens",
    [PLOT_GAP] = "Gap over time",
    [PLOT_SCALING] = "Throughput against GPUs, with the ideal"};

static int count_of(const struct batch_table *t, int column, const char *text)
{
    int count = 0;
    for (int i = 0; i < t->row_count; i++) {
        const char *here = t->rows[i].values[column].text;
        count += here && !strcmp(here, text);
    }
    return count;
}

static void put_summary(struct text *out, const struct batch_table *t)
{
    static const char *const outcomes[] = {"optimal", "open",    "infeasible", "no_plan",
                                           "failed",  "running", "waiting"};
    static const char *const meant[] = {"solved to the requested gap",
                                        "open",
                                        "infeasible",
                                        "without a plan so far",
                                        "failed",
                                        "running",
                                        "waiting"};
    text_put(out, "<h1>%s</h1>\n<p>%d instances", html_escape(t->batch->folder, t->arena),
             t->row_count);
    for (size_t i = 0; i < ARRAY_LENGTH(outcomes); i++) {
        int count = count_of(t, COLUMN_OUTCOME, outcomes[i]);
        if (count) text_put(out, ", %d %s", count, meant[i]);
    }
    text_put(out, "; the bounds of %d are certified: the checker accepted a certificate.</p>\n",
             count_of(t, COLUMN_CLAIM, claim_words(CLAIM_CERTIFIED, NULL, 0, t->arena)));
    text_put(
        out,
        "<p>Times are predicted from the instance's costs, of one iteration. Bound: no plan takes "
        "less; gap: (time - bound) / time. Claim: certified (the checker accepted a certificate of "
        "the bound), or what the solver states, not audited. MFU: model FLOP of all GPUs over "
        "their peak. A micro-batch and a global batch are counted in sequences; degrees that are 1 "
        "everywhere are left out, whether they were searched is stated below; ZeRO is its stage. "
        "Solve, check: seconds on the machine that solved.</p>\n");
}

static void put_plots(struct text *out, const struct batch_table *t)
{
    for (int p = 0; p < PLOT_COUNT; p++) {
        struct text svg;
        const char *lacking;
        if (!table_plot(&svg, t, (enum plot)p, &lacking)) continue;
        text_put(out, "<section><h2>%s</h2>\n", plot_titles[p]);
        html_scroll(out, plot_titles[p]);
        text_put(out, "%.*s</div></section>\n", (int)svg.length, svg.text);
    }
}

static void put_rows(struct text *out, const struct batch_table *t, const int *columns, int count,
                     int group)
{
    struct report_table table;
    const char **headings = TAKE(t->arena, count, const char *);
    char *align = TAKE(t->arena, count + 1, char);
    for (int k = 0; k < count; k++) {
        headings[k] = t->columns[columns[k]].heading;
        align[k] = t->columns[columns[k]].places < 0 ? 'l' : 'r';
    }
    report_table_begin(&table, headings, align, t->arena);
    for (int i = 0; i < t->row_count; i++)
        for (int k = 0; k < count && t->rows[i].group == group; k++) {
            const char *cell = value_shown(t, &t->rows[i], columns[k]);
            report_cell(&table, cell ? cell : "-");
        }
    html_table(out, &table, arena_print(t->arena, "instances-%d", group));
}

// What was searched, if equal for all; and the documents of all layouts.
static void put_searched(struct text *out, const struct batch_table *t)
{
    const char *all = NULL;
    bool alike = true, linked = false;
    for (int i = 0; i < t->row_count; i++) {
        const char *here = t->rows[i].values[COLUMN_SEARCHED].text;
        alike = alike && (!here || !all || !strcmp(here, all));
        if (here) all = here;
        linked = linked || t->rows[i].values[COLUMN_LAYOUTS].text;
    }
    text_put(out, "<section><h2>What was searched</h2>\n");
    if (all && alike) text_put(out, "<p>For every layout: %s.</p>\n", all);
    if (all && !alike)
        text_put(out, "<p>This differs between instances: see the column Searched.</p>\n");
    if (!all) text_put(out, "<p>Nothing has been solved.</p>\n");
    if (linked) text_put(out, "<p>All layouts and their outcomes:</p>\n<ul>\n");
    for (int i = 0; i < t->row_count; i++) {
        const struct batch_row *row = &t->rows[i];
        const char *layouts = row->values[COLUMN_LAYOUTS].text;
        if (!layouts) continue;
        const char *path = arena_print(t->arena, "%s/%s", t->batch->folder, layouts);
        if (strcmp(t->to, "-")) path = path_relative(t->to, path, t->arena);
        text_put(out, "<li><a href=\"%s\">%s</a></li>\n", html_escape(path, t->arena),
                 html_escape(row->values[COLUMN_NAME].text, t->arena));
    }
    text_put(out, "%s</section>\n", linked ? "</ul>\n" : "");
}

void table_page(struct text *out, const struct batch_table *t, const int *columns, int count)
{
    html_begin(out, t->batch->folder);
    text_put(out, "<main>\n");
    put_summary(out, t);
    put_plots(out, t);
    for (int g = 0; g < (t->group < 0 ? 1 : t->group_count); g++) {
        const char *name = t->group < 0 ? "Instances"
                                        : arena_print(t->arena, "%s %s",
                                                      t->columns[t->group].heading, t->groups[g]);
        text_put(out, "<section><h2>%s</h2>\n", html_escape(name, t->arena));
        put_rows(out, t, columns, count, g);
        text_put(out, "</section>\n");
    }
    put_searched(out, t);
    html_end(out);
}

// The comparison as text, a page for a browser, LaTeX (booktabs) or CSV.
#include <string.h>

#include "solve/report/compare/compare.h"
#include "solve/report/html/html.h"

struct report_table *compare_open(struct comparison *c, const char *title)
{
    struct compare_section *s = &c->sections[c->section_count++];
    const char **headings = TAKE(c->arena, c->count + 1, const char *);
    char *align = TAKE(c->arena, c->count + 2, char);
    headings[0] = "what";
    for (int k = 0; k < c->count; k++) headings[k + 1] = c->plans[k].of.name;
    memset(align, 'l', (size_t)c->count + 1);
    s->title = title;
    report_table_begin(&s->table, headings, align, c->arena);
    return &s->table;
}

static void put_text(struct text *out, const struct comparison *c)
{
    for (int i = 0; i < c->section_count; i++) {
        text_put(out, "%s%s\n", i ? "\n" : "", c->sections[i].title);
        report_table_print(out, &c->sections[i].table);
    }
}

static void put_page(struct text *out, const struct comparison *c)
{
    html_begin(out, "plans side by side");
    text_put(out, "<main>\n<h1>Plans side by side</h1>\n");
    for (int i = 0; i < c->section_count; i++) {
        text_put(out, "<section>\n<h2>%s</h2>\n", html_escape(c->sections[i].title, c->arena));
        html_table(out, &c->sections[i].table, arena_print(c->arena, "section-%d", i + 1));
        text_put(out, "</section>\n");
    }
    html_end(out);
}

// One tabular: the sections' titles are between its lines.
static void put_tex(struct text *out, const struct comparison *c)
{
    char *columns = TAKE(c->arena, c->count + 1, char);
    memset(columns, 'l', (size_t)c->count);
    text_put(out,
             "%% plumbline compare --format latex; needs \\usepackage{booktabs} and "
             "\\usepackage[T1]{fontenc}\n\\begin{tabular}{l%s}\n  \\toprule\n ",
             columns);
    for (int k = 0; k < c->count; k++)
        text_put(out, " & %s", report_escape_tex(c->plans[k].of.name, c->arena));
    text_put(out, " \\\\\n");
    for (int i = 0; i < c->section_count; i++) {
        const struct report_table *t = &c->sections[i].table;
        text_put(out, "  \\midrule\n  \\multicolumn{%d}{l}{\\emph{%s}} \\\\\n", c->count + 1,
                 report_escape_tex(c->sections[i].title, c->arena));
        for (int cell = 0; cell < t->cell_count; cell++) {
            int column = cell % t->column_count;
            text_put(out, "%s%s", column ? " & " : "  ",
                     report_escape_tex(t->cells[cell], c->arena));
            if (column == c->count) text_put(out, " \\\\\n");
        }
    }
    text_put(out, "  \\bottomrule\n\\end{tabular}\n");
}

static void put_csv(struct text *out, const struct comparison *c)
{
    text_put(out, "section,what");
    for (int k = 0; k < c->count; k++) {
        text_put(out, ",");
        report_csv_text(out, c->plans[k].of.name);
    }
    text_put(out, "\r\n");
    for (int i = 0; i < c->section_count; i++) {
        const struct report_table *t = &c->sections[i].table;
        for (int cell = 0; cell < t->cell_count; cell++) {
            int column = cell % t->column_count;
            if (!column) report_csv_text(out, c->sections[i].title);
            text_put(out, ",");
            report_csv_text(out, t->cells[cell]);
            if (column == c->count) text_put(out, "\r\n");
        }
    }
}

// ----

static struct report_use mean_use(const struct compared_plan *p)
{
    struct report_use mean = {{0}, 0, 0, 0, 0};
    int ranks = p->replay.schedule.request.rank_count;
    for (int rank = 0; rank < ranks; rank++) {
        struct report_use u = report_use_of(&p->replay, p->of.plan, rank);
        for (int k = 0; k <= SYMBOL_WEIGHT; k++) mean.compute_ns[k] += u.compute_ns[k];
        mean.blocked_ns += u.blocked_ns, mean.sync_ns += u.sync_ns;
        mean.optimizer_ns += u.optimizer_ns, mean.idle_ns += u.idle_ns;
    }
    for (int k = 0; k <= SYMBOL_WEIGHT; k++) mean.compute_ns[k] /= ranks;
    mean.blocked_ns /= ranks, mean.sync_ns /= ranks;
    mean.optimizer_ns /= ranks, mean.idle_ns /= ranks;
    return mean;
}

static void find_fullest(struct compared_plan *p)
{
    int64_t least = INT64_MAX, limit;
    for (int s = 0; s < plan_memory_count(p->of.plan); s++) {
        const struct memory_parts *m = plan_memory(p->of.plan, s, &limit);
        int64_t left = limit - memory_total(m);
        if (left >= least) continue;
        least = left;
        p->fullest = s, p->memory = *m, p->limit_bytes = limit;
    }
}

enum status report_compare(struct text *out, const struct compared *items, int count,
                           enum compare_format format, struct error *err)
{
    static void (*const put[])(struct text *,
                               const struct comparison *) = {[COMPARE_TEXT] = put_text,
                                                             [COMPARE_HTML] = put_page,
                                                             [COMPARE_LATEX] = put_tex,
                                                             [COMPARE_CSV] = put_csv};
    struct comparison c = {.plans = TAKE(out->arena, count, struct compared_plan),
                           .count = count,
                           .arena = out->arena};
    for (int k = 0; k < count; k++) {
        c.plans[k].of = items[k];
        TRY(report_replay(&c.plans[k].replay, items[k].plan, out->arena, err));
        c.plans[k].use = mean_use(&c.plans[k]);
        find_fullest(&c.plans[k]);
        if (items[k].problem && items[k].plan->iteration_ns > 0)
            report_figures_of(&c.plans[k].figures, items[k].plan, items[k].problem);
    }
    compare_facts(&c);
    compare_moves(&c);
    put[format](out, &c);
    return OK;
}

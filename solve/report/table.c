// A paper's table: one row for each plan, with the checker's verdict on its certificate; LaTeX
// (booktabs) or comma-separated values after RFC 4180. A verdict belongs to the plan made from the
// same priced document. Times and bounds are whole nanoseconds and written in full; rounded values
// (gaps, sizes, seconds of checking) are rounded up. For another objective than the iteration
// time, bound and gap are of that objective, and so is the time in LaTeX.
#include <string.h>

#include "data/text/table.h"
#include "solve/report/report.h"

enum { ROW_COLUMNS = 7 };

// ---- joining

static bool proves_plan(const struct checked *c, const struct plan *p)
{
    const char *a = source_hash(&c->document, "priced"), *b = source_hash(&p->document, "priced");
    return a && b && !strcmp(a, b);
}

static enum status join(struct report_row *row, const struct checked *c, struct error *err)
{
    const struct plan *p = row->plan;
    const char *file = c->document.path;
    if (row->checked)
        return refuse(err, "%s: the second verdict on %s, after %s", file, p->document.path,
                      row->checked->document.path);
    if (c->infeasible && p->stage_count)
        return refuse(err, "%s: proves that there is no plan, but %s is one", file,
                      p->document.path);
    int64_t proven_ns = checked_value_ns(c), value_ns = p->stage_count ? plan_value_ns(p) : -1;
    if (p->stage_count && c->objective != (int)p->objective)
        return refuse(err, "%s: is about %s, but %s is for %s", file, objective_names[c->objective],
                      p->document.path, objective_names[p->objective]);
    if (proven_ns >= 0 && proven_ns != value_ns)
        return refuse(err, "%s: is about a plan of %lld ns, but %s takes %lld ns", file,
                      (long long)proven_ns, p->document.path, (long long)value_ns);
    if (p->stage_count && c->bound_ns > value_ns)
        return refuse(err, "%s: proves that %s takes longer than it states", file,
                      p->document.path);
    row->checked = c;
    return OK;
}

enum status report_join(struct report_row *rows, int *count, const struct checked *c,
                        struct error *err)
{
    if (!c->accepted)
        return refuse(err, "%s: the certificate was not accepted: %.200s", c->document.path,
                      c->reason);
    bool found = false;
    for (int i = 0; i < *count; i++) {
        if (!rows[i].plan || !proves_plan(c, rows[i].plan)) continue;
        TRY(join(&rows[i], c, err));
        found = true;
    }
    if (!found) rows[(*count)++] = (struct report_row){.checked = c};
    return OK;
}

// ---- what a row states

struct line {
    const char *name;
    enum objective objective;
    int64_t iteration_ns, value_ns,
        bound_ns; // value_ns: of the objective, as the bound; -1: none
    bool infeasible;
    const char *claim;                              // data/results/claim.h
    int64_t boxes, certificate_bytes, microseconds; // -1: unknown
    // Of the run (docs/FORMULAS.md 18); a figure of 0 is unknown.
    struct figures figures;
};

// A verdict's bound takes precedence: it was checked.
static struct line line_of(const struct report_row *row, struct arena *arena)
{
    const struct plan *p = row->plan;
    const struct checked *c = row->checked;
    struct line l = {.name = c ? c->name : p->name,
                     .claim = c && c->accepted ? claim_words(CLAIM_CERTIFIED, NULL, 0, arena)
                              : p              ? plan_claim_words(p, arena)
                                               : "",
                     .iteration_ns = -1,
                     .value_ns = -1,
                     .bound_ns = -1,
                     .boxes = -1,
                     .certificate_bytes = -1,
                     .microseconds = -1};
    if (p) {
        l.name = p->name;
        l.objective = p->objective;
        l.iteration_ns = p->stage_count ? p->iteration_ns : -1;
        l.value_ns = p->stage_count ? plan_value_ns(p) : -1;
        l.infeasible = p->outcome == OUTCOME_INFEASIBLE;
        l.bound_ns = l.infeasible ? -1 : p->bound_ns;
        l.boxes = p->effort.boxes;
        if (row->problem && l.iteration_ns > 0) report_figures_of(&l.figures, p, row->problem);
    }
    if (!c) return l;
    if (!p) {
        l.objective = (enum objective)c->objective;
        l.iteration_ns = c->iteration_ns;
        l.value_ns = checked_value_ns(c);
        l.boxes = c->boxes;
    }
    l.infeasible = c->infeasible || (l.infeasible && c->bound_ns < 0);
    l.bound_ns = c->bound_ns;
    l.certificate_bytes = c->certificate_bytes;
    l.microseconds = c->microseconds;
    return l;
}

// ---- LaTeX

static const char *const none = "--";

const char *report_escape_tex(const char *text, struct arena *arena)
{
    static const struct {
        char from;
        const char *to;
    } specials[] = {
        {'\\', "\\textbackslash{}"},
        {'{', "\\{"},
        {'}', "\\}"},
        {'$', "\\$"},
        {'&', "\\&"},
        {'#', "\\#"},
        {'%', "\\%"},
        {'_', "\\_"},
        {'^', "\\textasciicircum{}"},
        {'~', "\\textasciitilde{}"},
        {'<', "\\textless{}"},
        {'>', "\\textgreater{}"},
        {'|', "\\textbar{}"},
        {'"', "\\textquotedbl{}"},
        {'[', "{[}"}, // the end of a line takes what follows in brackets, or a star, as its own
        {'*', "{*}"},
    };
    struct text out;
    text_begin(&out, arena);
    for (const char *c = text; *c; c++) {
        size_t i = 0;
        while (i < ARRAY_LENGTH(specials) && specials[i].from != *c) i++;
        if (i < ARRAY_LENGTH(specials)) text_put(&out, "%s", specials[i].to);
        else text_put(&out, "%c", (unsigned char)*c < 0x20 || *c == 0x7f ? ' ' : *c);
    }
    return out.text;
}

// ns as ms, microseconds as s: with all six decimals.
static const char *million_text(int64_t value, struct arena *arena)
{
    return arena_print(arena, "%lld.%06lld", (long long)(value / 1000000),
                       (long long)(value % 1000000));
}

static int64_t rounded_up(int64_t value, int64_t unit)
{
    return value / unit + (value % unit != 0);
}

int64_t report_gap_millionths(int64_t value_ns, int64_t bound_ns)
{
    __extension__ typedef __int128 wide;
    if (bound_ns >= value_ns) return 0;
    return (int64_t)(((wide)(value_ns - bound_ns) * 1000000 + value_ns - 1) / value_ns);
}

// In percent, rounded up to four decimals.
static const char *gap_text(const struct line *l, struct arena *arena)
{
    if (l->value_ns < 0 || l->bound_ns < 0) return none;
    if (l->bound_ns >= l->value_ns) return "0";
    int64_t parts = report_gap_millionths(l->value_ns, l->bound_ns);
    return arena_print(arena, "%lld.%04lld", (long long)(parts / 10000),
                       (long long)(parts % 10000));
}

// A figure, or that it is unknown.
static void print_tex_figure(struct text *out, int places, double value)
{
    if (value > 0) text_put(out, " & %.*f", places, value);
    else text_put(out, " & %s", none);
}

static void print_tex_figures(struct text *out, const struct figures *f)
{
    print_tex_figure(out, 0, f->tokens_per_s);
    print_tex_figure(out, 1, f->tflops_per_gpu);
    print_tex_figure(out, 2, f->mfu_percent);
    print_tex_figure(out, 4, f->price_per_million_tokens);
    print_tex_figure(out, 0, f->run_price);
}

static void print_tex_row(struct text *out, const struct line *l, bool figures)
{
    struct arena *a = out->arena;
    const char *cells[ROW_COLUMNS] = {
        report_escape_tex(l->objective == OBJECTIVE_ITERATION_TIME
                              ? l->name
                              : arena_print(a, "%s (%s)", l->name, objective_names[l->objective]),
                          a),
        l->value_ns < 0 ? none : million_text(l->value_ns, a),
        l->infeasible     ? "infeasible"
        : l->bound_ns < 0 ? none
                          : million_text(l->bound_ns, a),
        gap_text(l, a),
        l->boxes < 0 ? none : arena_print(a, "%lld", (long long)l->boxes),
        l->certificate_bytes < 0
            ? none
            : arena_print(a, "%lld.%lld", (long long)(rounded_up(l->certificate_bytes, 100) / 10),
                          (long long)(rounded_up(l->certificate_bytes, 100) % 10)),
        l->microseconds < 0
            ? none
            : arena_print(a, "%lld.%03lld", (long long)(rounded_up(l->microseconds, 1000) / 1000),
                          (long long)(rounded_up(l->microseconds, 1000) % 1000)),
    };
    for (int i = 0; i < ROW_COLUMNS; i++) text_put(out, "%s%s", i ? " & " : "  ", cells[i]);
    if (figures) print_tex_figures(out, &l->figures);
    text_put(out, " \\\\\n");
}

// Figures of the runs have columns if the problem of one of them is available.
static void print_tex(struct text *out, const struct report_row *rows, int count)
{
    bool figures = false;
    for (int i = 0; i < count; i++) figures = figures || rows[i].problem;
    text_put(
        out,
        "%% plumbline report --format latex; needs \\usepackage{booktabs} and "
        "\\usepackage[T1]{fontenc}\n"
        "%% a bound in a row with a certificate is the certified one, the others are not audited\n"
        "\\begin{tabular}{lrrrrrr%s}\n  \\toprule\n"
        "  Instance & Time (ms) & Bound (ms) & Gap (\\%%) & Nodes & Certificate (kB) & Check (s)%s "
        "\\\\\n  \\midrule\n",
        figures ? "rrrrr" : "",
        figures ? " & Tokens/s & TFLOP/s per GPU & MFU (\\%) & Price per $10^6$ tokens & Price of "
                  "the run"
                : "");
    for (int i = 0; i < count; i++) {
        struct line l = line_of(&rows[i], out->arena);
        print_tex_row(out, &l, figures);
    }
    text_put(out, "  \\bottomrule\n\\end{tabular}\n");
}

// ---- comma-separated values

void report_csv_text(struct text *out, const char *text)
{
    text_put(out, "%s", csv_cell(text, out->arena));
}

static void put_number(struct text *out, int64_t value)
{
    text_put(out, value < 0 ? "," : ",%lld", (long long)value);
}

// Six digits; empty if unknown.
static void put_figures(struct text *out, const struct figures *f)
{
    const double values[] = {f->tokens_per_s,
                             f->tflops_per_gpu,
                             f->mfu_percent / 100,
                             f->causal_tflops_per_gpu,
                             f->causal_mfu_percent / 100,
                             f->price_per_hour,
                             f->price_per_million_tokens,
                             f->run_hours,
                             f->run_price};
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++)
        text_put(out, values[i] > 0 ? ",%.6g" : ",", values[i]);
}

static void print_csv_row(struct text *out, const struct report_row *row)
{
    struct line l = line_of(row, out->arena);
    const struct checked *c = row->checked;
    const char *priced = source_hash(row->plan ? &row->plan->document : &c->document, "priced");
    report_csv_text(out, l.name);
    text_put(out, ",%s",
             l.infeasible               ? "infeasible"
             : row->plan                ? outcome_names[row->plan->outcome]
             : l.value_ns == l.bound_ns ? "optimal"
                                        : "open");
    put_number(out, l.iteration_ns);
    put_number(out, l.bound_ns);
    text_put(out, ",%s", l.value_ns < 0 || l.bound_ns < 0 ? "" : gap_text(&l, out->arena));
    put_number(out, l.boxes);
    text_put(out, row->plan ? ",%.3f" : ",", row->plan ? row->plan->effort.seconds : 0);
    put_number(out, l.certificate_bytes);
    put_number(out, c ? c->boxes : -1);
    text_put(out, ",%s", l.microseconds < 0 ? "" : million_text(l.microseconds, out->arena));
    text_put(out, ",%s,%s,%s", c ? source_hash(&c->document, "certificate") : "",
             priced ? priced : "", objective_names[l.objective]);
    put_number(out, l.value_ns);
    put_figures(out, &l.figures);
    text_put(out, ",");
    report_csv_text(out, l.claim);
    text_put(out, "\r\n");
}

static void print_csv(struct text *out, const struct report_row *rows, int count)
{
    text_put(out, "instance,outcome,iteration_ns,bound_ns,gap_percent,nodes,solve_s,"
                  "certificate_bytes,certificate_boxes,check_s,certificate_sha256,priced_sha256,"
                  "objective,objective_ns,tokens_per_s,model_tflops_per_gpu,mfu,"
                  "causal_tflops_per_gpu,causal_mfu,price_per_hour,price_per_million_tokens,"
                  "run_hours,run_price,claim\r\n");
    for (int i = 0; i < count; i++) print_csv_row(out, &rows[i]);
}

void report_table_of(struct text *out, const struct report_row *rows, int count, bool csv)
{
    if (csv) print_csv(out, rows, count);
    else print_tex(out, rows, count);
}

// plumbline batch collect, batch plot: the results as tables and drawings.

#include "data/base/file.h"
#include "solve/batch/table.h"

static const char *const format_names[] = {"csv", "tex", "html", NULL};

struct options {
    struct option_texts where;
    const char *folder, *sort, *group, *columns, *to;
    int format, plot;
};

static const struct option_row choice_rows[] = {
    {"FOLDER", OPTION_PATH, OPT(folder), .low = 1},
    {"--where", OPTION_TEXT, OPT(where),
     "keep rows with KEY=VALUE, also != < <= > >= and ~ (contains); if repeated, all must hold",
     .many = OPTION_ANY_NUMBER},
    {"--sort", OPTION_TEXT, OPT(sort), "sort by KEY,KEY,...; -KEY: descending"},
    {"--group", OPTION_TEXT, OPT(group), "group rows by KEY"},
};
static const struct option_table choice = OPTION_TABLE(choice_rows);

static enum status fill(struct batch_table *t, struct batch *b, const struct options *a,
                        struct arena *arena, struct error *err)
{
    TRY(batch_load(b, a->folder, arena, err));
    TRY(table_fill(t, b, arena, err));
    for (int i = 0; i < a->where.count; i++) TRY(table_where(t, a->where.items[i], err));
    if (a->sort) TRY(table_sort(t, a->sort, err));
    return a->group ? table_group(t, a->group, err) : OK;
}

static int format_of(const char *path)
{
    return path_ends_with(path, ".tex")    ? BATCH_TEX
           : path_ends_with(path, ".html") ? BATCH_HTML
                                           : BATCH_CSV;
}

// Files have all columns, pages those with content.
static enum status choose_columns(const struct batch_table *t, const struct options *a, int format,
                                  int **columns, int *count, struct error *err)
{
    TRY(table_columns(t, a->columns, columns, count, err));
    if (a->columns || format != BATCH_CSV) return OK;
    for (*count = 0; *count < t->column_count; (*count)++) (*columns)[*count] = *count;
    return OK;
}

static const struct option_row collect_rows[] = {
    {"-o", OPTION_TEXT, OPT(to),
     "output file, whose extension sets the format: .csv, .tex or .html (default: standard "
     "output)"},
    {"--format", OPTION_NAME, OPT(format), "format, regardless of the file's extension",
     .names = format_names},
    {"--columns", OPTION_TEXT, OPT(columns),
     "KEY,KEY,... (default: all in CSV, otherwise those that differ or have content)"},
};

COMMAND_RUN(collect)
{
    static void (*const write[])(struct text * out, const struct batch_table *t, const int *columns,
                                 int count) = {table_csv, table_tex, table_page};
    const struct options *a = options;
    int format = a->format >= 0 ? a->format : format_of(a->to), *columns, count;
    struct batch b;
    struct batch_table t;
    struct text out;
    TRY(fill(&t, &b, a, arena, err));
    t.to = a->to;
    TRY(choose_columns(&t, a, format, &columns, &count, err));
    text_begin(&out, arena);
    write[format](&out, &t, columns, count);
    return file_write(a->to, out.text, out.length, err);
}

const struct command batch_collect = {
    .name = "collect",
    .text = "make a table with one row per instance: CSV, LaTeX or HTML",
    .usage = "plumbline batch collect FOLDER [-o TABLE.csv|.tex|.html]",
    READS(struct options, collect_rows, {.to = "-", .format = -1, .plot = -1}),
    .shared[0].table = &choice,
    .run = collect,
};

static const struct option_row plot_rows[] = {
    {"--of", OPTION_NAME, OPT(plot),
     "time or scaling: against GPUs; pareto: time against price; gap: over time",
     .names = plot_names},
    {"-o", OPTION_TEXT, OPT(to), "output file, .svg (default: standard output)"},
};

COMMAND_RUN(plot)
{
    const struct options *a = options;
    struct batch b;
    struct batch_table t;
    struct text svg;
    const char *lacking;
    TRY(fill(&t, &b, a, arena, err));
    if (!table_plot(&svg, &t, (enum plot)a->plot, &lacking))
        return refuse(err, "%s: expected %s, found none", a->folder, lacking);
    return file_write(a->to, svg.text, svg.length, err);
}

const struct command batch_plot = {
    .name = "plot",
    .text = "plot time, gap, scaling, or time against price",
    .usage = "plumbline batch plot FOLDER --of time|pareto|gap|scaling",
    READS(struct options, plot_rows, {.to = "-", .format = -1, .plot = -1}),
    .shared[0].table = &choice,
    .needs = "--of",
    .run = plot,
};

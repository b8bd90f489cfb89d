// plumbline batch collect, batch plot: the results as tables and drawings.
#include <stdio.h>

#include "data/base/file.h"
#include "solve/batch/table.h"

static const char *const format_names[] = {"csv", "tex", "html", NULL};

struct asked {
    struct option_texts where;
    const char *folder, *sort, *group, *columns, *to;
    int format, plot;
    bool helped;
};

#define WHERE_OPTION(a)                                                                            \
    {                                                                                              \
        "--where", OPTION_TEXTS, &(a)->where, 0, 0, NULL,                                          \
            "keep rows with KEY=VALUE, also != < <= > >= and ~ (contains); if repeated, all must " \
            "hold"                                                                                 \
    }
#define SORT_OPTION(a)                                                                             \
    {                                                                                              \
        "--sort", OPTION_TEXT, &(a)->sort, 0, 0, NULL, "sort by KEY,KEY,...; -KEY: descending"     \
    }
#define GROUP_OPTION(a)                                                                            \
    {                                                                                              \
        "--group", OPTION_TEXT, &(a)->group, 0, 0, NULL, "group rows by KEY"                       \
    }

static enum status fill(struct batch_table *t, struct batch *b, const struct asked *a,
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
static enum status choose_columns(const struct batch_table *t, const struct asked *a, int format,
                                  int **columns, int *count, struct error *err)
{
    TRY(table_columns(t, a->columns, columns, count, err));
    if (a->columns || format != BATCH_CSV) return OK;
    for (*count = 0; *count < t->column_count; (*count)++) (*columns)[*count] = *count;
    return OK;
}

enum status batch_collect(int argc, char **argv, int *exit_code, struct arena *arena,
                          struct error *err)
{
    static void (*const write[])(const struct batch_table *t, const int *columns, int count,
                                 const char **text,
                                 size_t *length) = {table_csv, table_tex, table_page};
    struct asked a = {.to = "-", .format = -1};
    struct batch b;
    struct batch_table t;
    const char *text;
    size_t length;
    int *columns, count;
    (void)exit_code;
    a.where = (struct option_texts){TAKE(arena, argc, const char *), 0, argc};
    const struct option options[] = {
        {"-o", OPTION_TEXT, &a.to, 0, 0, NULL,
         "output file, whose extension sets the format: .csv, .tex or .html (default: standard "
         "output)"},
        {"--format", OPTION_NAME, &a.format, 0, 0, format_names,
         "format, regardless of the file's extension"},
        WHERE_OPTION(&a),
        SORT_OPTION(&a),
        GROUP_OPTION(&a),
        {"--columns", OPTION_TEXT, &a.columns, 0, 0, NULL,
         "KEY,KEY,... (default: all in CSV, otherwise those that differ or have content)"},
    };
    TRY(options_read(argc, argv, "plumbline batch collect FOLDER [-o TABLE.csv|.tex|.html]",
                     options, ARRAY_LENGTH(options), &a.folder, 1, 1, NULL, &a.helped, err));
    if (a.helped) return OK;
    int format = a.format >= 0 ? a.format : format_of(a.to);
    TRY(fill(&t, &b, &a, arena, err));
    t.to = a.to;
    TRY(choose_columns(&t, &a, format, &columns, &count, err));
    write[format](&t, columns, count, &text, &length);
    return file_write(a.to, text, length, err);
}

enum status batch_plot(int argc, char **argv, int *exit_code, struct arena *arena,
                       struct error *err)
{
    struct asked a = {.to = "-", .plot = -1};
    struct batch b;
    struct batch_table t;
    const char *text, *lacking;
    size_t length;
    (void)exit_code;
    a.where = (struct option_texts){TAKE(arena, argc, const char *), 0, argc};
    const struct option options[] = {
        {"--of", OPTION_NAME, &a.plot, 0, 0, plot_names,
         "time or scaling: against GPUs; pareto: time against price; gap: over time"},
        {"-o", OPTION_TEXT, &a.to, 0, 0, NULL, "output file, .svg (default: standard output)"},
        WHERE_OPTION(&a),
        SORT_OPTION(&a),
        GROUP_OPTION(&a),
    };
    TRY(options_read(argc, argv, "plumbline batch plot FOLDER --of time|pareto|gap|scaling",
                     options, ARRAY_LENGTH(options), &a.folder, 1, 1, NULL, &a.helped, err));
    if (a.helped) return OK;
    if (a.plot < 0) return fail(err, BAD_INPUT, "--of time, pareto, gap or scaling is missing");
    TRY(fill(&t, &b, &a, arena, err));
    if (!table_plot(&t, (enum plot)a.plot, &text, &length, &lacking))
        return fail(err, BAD_INPUT, "%s: expected %s, found none", a.folder, lacking);
    return file_write(a.to, text, length, err);
}

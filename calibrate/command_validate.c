// plumbline validate: tables of measured runs in, scores of our predictions out.
#include <string.h>

#include "data/base/file.h"
#include "calibrate/commands.h"
#include "calibrate/runs/validate.h"

struct wishes {
    const char *set, *fit, *fit_rows, *rows;
    int64_t folds;
    int by;
    double margin;
    int64_t margin_bytes;
    bool json, list, table, likelihood;
    struct run_choice choice;
    struct predict_settings predict;
};

static enum status read_mode(struct validate_settings *s, struct wishes *w, struct arena *arena,
                             struct error *err)
{
    *s = (struct validate_settings){.by = (enum fold_by)w->by,
                                    .folds = (int)(w->folds < 0 ? 5 : w->folds),
                                    .margin_bytes = w->margin_bytes,
                                    .ran_below = 0.75};
    for (int m = 0; m < OOM_MARGINS; m++)
        s->margins[m] = w->margin + (1 - w->margin) * m / (OOM_MARGINS - 1);
    if (w->margin == 1) s->margins[1] = 0;
    if (w->table && (w->fit || w->fit_rows || w->folds >= 0))
        return fail(err, BAD_INPUT,
                    "--table does its own fitting: expected no --fit, --fit-rows or --folds");
    if (w->table) s->mode = VALIDATE_TABLE;
    if (!w->fit && w->likelihood) return fail(err, BAD_INPUT, "--likelihood: requires --fit");
    if (!w->fit && (w->fit_rows || w->folds >= 0))
        return fail(err, BAD_INPUT, "--fit-rows and --folds: require --fit");
    if (!w->fit) return OK;
    if (!w->fit_rows == (w->folds < 0))
        return fail(err, BAD_INPUT,
                    "--fit: requires --folds N or --fit-rows ROWS: rows are not scored with "
                    "constants fitted on them");
    s->mode = w->fit_rows ? VALIDATE_STATED : VALIDATE_FOLDS;
    TRY(fit_keys_read(&s->keys, w->fit, arena, err));
    return fit_keys_by_likelihood(&s->keys, w->likelihood, err);
}

// --fit-rows gives conditions on the current tables, or a table of its own, all of whose rows are
// used for fitting.
static enum status load_runs(struct run_set *set, struct wishes *w, const char *const *paths,
                             int count, struct error *err)
{
    struct run_choice *choice = &w->choice;
    TRY(filter_read(&choice->rows, "--rows", w->rows ? w->rows : "", set->arena, err));
    choice->fits = w->fit_rows && !path_ends_with(w->fit_rows, ".csv");
    if (choice->fits)
        TRY(filter_read(&choice->fit_rows, "--fit-rows", w->fit_rows, set->arena, err));
    for (int i = 0; i < count; i++) TRY(runs_add(set, paths[i], choice, err));
    if (!w->fit_rows || choice->fits) return OK;
    struct run_choice all = {.exclude = choice->exclude,
                             .defaults = choice->defaults,
                             .fits = true,
                             .read_notes = choice->read_notes};
    return runs_add(set, w->fit_rows, &all, err);
}

enum status command_validate(int argc, char **argv, int *exit_code, struct arena *arena,
                             struct error *err)
{
    enum { TABLES_MAX = 64 };
    const char *tables[TABLES_MAX];
    struct wishes w = {.folds = -1, .margin = 0.8, .predict = {.margin = 0.8}};
    int count;
    bool helped;
    const struct option options[] = {
        {"--json", OPTION_FLAG, &w.json, 0, 0, NULL,
         "print a JSON array with one object for each source and metric"},
        {"--list", OPTION_FLAG, &w.list, 0, 0, NULL,
         "print a table of all rows, measured and predicted"},
        {"--rows", OPTION_TEXT, &w.rows, 0, 0, NULL,
         "use only rows that meet all conditions, such as pp>1,hidden=1024,notes~fp16,row%5=0"},
        {"--exclude", OPTION_TEXT, &w.choice.exclude, 0, 0, NULL,
         "IDs of rows to exclude from scoring and fitting; they are listed"},
        {"--default", OPTION_TEXT, &w.choice.defaults, 0, 0, NULL,
         "values of blank cells: column=value,..."},
        {"--cluster", OPTION_CLUSTER, &w.predict.cluster, 0, 0, NULL,
         "shipped name or file (default: the shipped cluster with the row's GPU)"},
        {"--costs", OPTION_COSTS, &w.predict.costs, 0, 0, NULL,
         "shipped name or file (default: kernels; with --fit or --table: published)"},
        {"--set", OPTION_TEXT, &w.set, 0, 0, NULL, "override numbers of the costs: name=value,..."},
        {"--fit", OPTION_TEXT, &w.fit, 0, 0, NULL,
         "numbers of the costs to fit: name,... (a+b: one constant for both)"},
        OPTION_LIKELIHOOD(&w.likelihood),
        {"--folds", OPTION_INT, &w.folds, 0, 1000, NULL,
         "score each of N folds with constants fitted on the others (0: every cell or model is a "
         "fold)"},
        {"--by", OPTION_NAME, &w.by, 0, 0, fold_by_names,
         "what stays together in one fold (row: row number modulo N)"},
        {"--fit-rows", OPTION_TEXT, &w.fit_rows, 0, 0, NULL,
         "fit on these rows (conditions, or another table) and score the others"},
        {"--table", OPTION_FLAG, &w.table, 0, 0, NULL,
         "take layer times from the rows with pp=1, cell by cell, and score the rows with pp>1"},
        {"--margin", OPTION_NUMBER, &w.margin, 0.01, 1, NULL,
         "usable share of a GPU's memory: the lowest of five up to 1 (default: 0.8)"},
        {"--margin-bytes", OPTION_INT, &w.margin_bytes, 0, 1LL << 50, NULL,
         "bytes to keep free within that share (default: 0)"},
        OPTION_READ_NOTES(&w.choice.read_notes),
    };
    (void)exit_code;
    TRY(options_read(argc, argv, "plumbline validate DATA.csv ... [OPTION ...]", options,
                     ARRAY_LENGTH(options), tables, 1, TABLES_MAX, &count, &helped, err));
    if (helped) return OK;
    struct validate_settings settings;
    struct run_set set = {.arena = arena};
    struct predictor *p;
    struct validation v;
    TRY(read_mode(&settings, &w, arena, err));
    TRY(load_runs(&set, &w, tables, count, err));
    w.predict.margin = w.margin, w.predict.margin_bytes = w.margin_bytes;
    if ((w.fit || w.table) && !w.predict.costs) w.predict.costs = "published";
    TRY(predictor_open(&p, &w.predict, arena, err));
    if (w.set) TRY(predictor_set(p, w.set, err));
    TRY(validate(&v, &set, p, &settings, arena, err));
    if (w.list) validation_show_rows(&set, arena, stdout);
    else if (w.json) validation_show_json(&v, &set, arena, stdout);
    else validation_show(&v, &set, &settings, stdout);
    return OK;
}

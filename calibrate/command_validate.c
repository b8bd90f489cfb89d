// plumbline validate: tables of measured runs in, scores of our predictions out.

#include "calibrate/commands.h"
#include "calibrate/runs/runs.h"

struct options {
    struct option_texts tables;
    const char *set, *fit, *fit_rows, *rows;
    int64_t folds;
    int by;
    double margin;
    int64_t margin_bytes;
    bool json, list, table, likelihood, suggest;
    struct run_choice choice;
    struct predict_settings predict;
};

static enum status read_mode(struct validate_settings *s, struct options *w, struct arena *arena,
                             struct error *err)
{
    *s = (struct validate_settings){.by = (enum fold_by)w->by,
                                    .folds = (int)(w->folds < 0 ? 5 : w->folds),
                                    .margin_bytes = w->margin_bytes,
                                    .ran_below = 0.75};
    for (int m = 0; m < OOM_MARGINS; m++)
        s->margins[m] = w->margin + (1 - w->margin) * m / (OOM_MARGINS - 1);
    if (w->margin == 1) s->margins[1] = 0;
    if (w->table) s->mode = VALIDATE_TABLE;
    if (!w->fit && w->likelihood) return refuse(err, "--likelihood: requires --fit");
    if (!w->fit) return OK;
    s->mode = w->fit_rows ? VALIDATE_STATED : VALIDATE_FOLDS;
    TRY(fit_keys_read(&s->keys, w->fit, arena, err));
    return fit_keys_by_likelihood(&s->keys, w->likelihood, err);
}

// --fit-rows gives conditions on the current tables, or a table of its own, all of whose rows are
// used for fitting.
static enum status load_runs(struct run_set *set, struct options *w, struct error *err)
{
    struct run_choice *choice = &w->choice;
    TRY(filter_read(&choice->rows, "--rows", w->rows ? w->rows : "", set->arena, err));
    choice->fits = w->fit_rows && !path_ends_with(w->fit_rows, ".csv");
    if (choice->fits)
        TRY(filter_read(&choice->fit_rows, "--fit-rows", w->fit_rows, set->arena, err));
    for (int i = 0; i < w->tables.count; i++) TRY(runs_add(set, w->tables.items[i], choice, err));
    if (!w->fit_rows || choice->fits) return OK;
    struct run_choice all = {.exclude = choice->exclude,
                             .defaults = choice->defaults,
                             .fits = true,
                             .read_notes = choice->read_notes};
    return runs_add(set, w->fit_rows, &all, err);
}

static const struct option_row rows[] = {
    {"DATA.csv", OPTION_PATH, OPT(tables), .low = 1, .many = OPTION_ANY_NUMBER},
    {"--json", OPTION_FLAG, OPT(json),
     "print a JSON array with one object for each source and metric"},
    {"--list", OPTION_FLAG, OPT(list), "print a table of all rows, measured and predicted"},
    {"--rows", OPTION_TEXT, OPT(rows),
     "use only rows that meet all conditions, such as pp>1,hidden=1024,notes~fp16,row%5=0"},
    {"--exclude", OPTION_TEXT, OPT(choice.exclude),
     "IDs of rows to exclude from scoring and fitting; they are listed"},
    {"--default", OPTION_TEXT, OPT(choice.defaults), "values of blank cells: column=value,..."},
    {"--cluster", OPTION_CLUSTER, OPT(predict.cluster),
     "shipped name or file (default: the shipped cluster with the row's GPU)"},
    {"--costs", OPTION_COSTS, OPT(predict.costs),
     "shipped name or file (default: kernels; with --fit or --table: published)"},
    {"--gpu-like", OPTION_GPU, OPT(predict.likeness.known),
     "shipped GPU in whose nodes and with whose costs a GPU that no cluster has is taken, as an "
     "assumption"},
    LIKENESS_ROWS(OPT(predict.likeness)),
    {"--set", OPTION_TEXT, OPT(set), "override numbers of the costs: name=value,..."},
    {"--fit", OPTION_TEXT, OPT(fit),
     "numbers of the costs to fit: name,... (a+b: one constant for both)",
     .needs = "--folds|--fit-rows"},
    LIKELIHOOD_ROW(OPT(likelihood)),
    {"--folds", OPTION_INT, OPT(folds),
     "score each of N folds with constants fitted on the others (0: every cell or model is a fold)",
     0, 1000, .needs = "--fit", .excludes = "--fit-rows"},
    {"--by", OPTION_NAME, OPT(by), "what stays together in one fold (row: row number modulo N)",
     .names = fold_by_names},
    {"--fit-rows", OPTION_TEXT, OPT(fit_rows),
     "fit on these rows (conditions, or another table) and score the others", .needs = "--fit"},
    {"--table", OPTION_FLAG, OPT(table),
     "take layer times from the rows with pp=1, cell by cell, and score the rows with pp>1",
     .excludes = "--fit --fit-rows --folds"},
    {"--margin", OPTION_NUMBER, OPT(margin),
     "usable share of a GPU's memory: the lowest of five up to 1 (default: 0.8)", 0.01, 1},
    {"--margin-bytes", OPTION_INT, OPT(margin_bytes),
     "bytes to keep free within that share (default: 0)", 0, 1LL << 50},
    {"--suggest", OPTION_FLAG, OPT(suggest),
     "name the few unstated columns that bring predictions to what was measured",
     .excludes = "--json --list"},
    READ_NOTES_ROW(OPT(choice.read_notes)),
};

static enum status require_scores(const struct validation *v, const struct run_set *set,
                                  struct error *err)
{
    for (int i = 0; i < v->source_count; i++)
        if (v->sources[i].scores.rows || v->sources[i].oom[0].total || v->sources[i].oom[0].ran_all)
            return OK;
    return refuse(err, "%s: expected a row that can be scored, found none of %d",
                  set->files[0].label, set->count);
}

COMMAND_RUN(run)
{
    struct options *w = options;
    struct validate_settings settings;
    struct run_set set = {.arena = arena};
    struct predictor *p;
    struct validation v;
    TRY(read_mode(&settings, w, arena, err));
    TRY(load_runs(&set, w, err));
    w->predict.margin = w->margin, w->predict.margin_bytes = w->margin_bytes;
    if ((w->fit || w->table) && !w->predict.costs) w->predict.costs = "published";
    TRY(predictor_open(&p, &w->predict, arena, err));
    if (w->set) TRY(predictor_set(p, w->set, err));
    TRY(validate(&v, &set, p, &settings, arena, err));
    if (w->list) validation_show_rows(&set, arena, stdout);
    else if (w->json) validation_show_json(&v, &set, arena, stdout);
    else {
        unstated_show_overfull(&set, p, stdout);
        validation_show(&v, &set, &settings, stdout);
    }
    for (int file = 0; w->suggest && file < set.file_count; file++)
        unstated_suggest(&set, file, p, stdout);
    return require_scores(&v, &set, err);
}

const struct command command_validate = {
    .name = "validate",
    .text = "predictions against measured runs: error tables by source",
    .about = "Predicts each row of tables of measured runs and reports the prediction errors.",
    .usage = "plumbline validate DATA.csv ... [OPTION ...]",
    READS(struct options, rows, {.folds = -1, .margin = 0.8, .predict = {.margin = 0.8}}),
    .run = run,
};

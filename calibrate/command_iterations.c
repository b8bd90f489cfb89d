// plumbline calibrate --iterations: measured runs in, costs with the fitted constants out.
// Everything else in the costs stays.
#include <string.h>

#include "calibrate/commands.h"
#include "calibrate/runs/runs.h"

// If the ends of an interval are this far apart, the value is undetermined.
enum { FREE_FACTOR = 100 };

static const char *source_of_rows(const struct iterations_fit *fit, const struct run_file *file,
                                  const struct filter *rows, struct arena *arena)
{
    if (fit->keys.by_likelihood)
        return arena_print(arena,
                           "%d rows of %s%s%s, SHA-256 %.16s...: %d failed, %d ran, %d peaks; "
                           "likelihood, spread %.1f %%",
                           fit->rows, file->label, rows->count ? " where " : "", rows->text,
                           file->sha256, fit->failed, fit->ran, fit->rows - fit->failed - fit->ran,
                           100 * fit->spread);
    return arena_print(arena, "%d rows of %s%s%s, SHA-256 %.16s...; mean error of these %.2f %%",
                       fit->rows, file->label, rows->count ? " where " : "", rows->text,
                       file->sha256, 100 * fit->mean_abs_error);
}

static void show(const struct iterations_fit *fit)
{
    int peaks = fit->rows - fit->failed - fit->ran;
    if (fit->keys.by_likelihood)
        fprintf(stderr, "%d runs failed, %d ran, %d peaks (mean error %.2f %%), spread %.1f %%\n",
                fit->failed, fit->ran, peaks, 100 * fit->mean_abs_error, 100 * fit->spread);
    else
        fprintf(stderr, "%d rows, mean error %.2f %%, %d steps\n", fit->rows,
                100 * fit->mean_abs_error, fit->steps);
    for (int k = 0; k < fit->keys.count; k++) {
        const struct fitted *f = &fit->constants[k];
        fprintf(stderr, "  %-32s %.6g   95 %%: %.6g to %.6g%s\n", fit->keys.items[k].name, f->value,
                f->low, f->high,
                f->high > FREE_FACTOR * f->low
                    ? "; these rows hardly determine it: fit fewer numbers, or use more rows"
                    : "");
    }
}

static enum status begin_like(struct predictor *p, const char *like, struct arena *arena,
                              struct error *err)
{
    const char *equals = strchr(like, '=');
    if (!equals || equals == like || !equals[1])
        return refuse(err, "--like: expected NEW=GPU, as in b300-288gb=b200-180gb, found '%s'",
                      like);
    TRY(costs_add_like(predictor_costs(p), arena_print(arena, "%.*s", (int)(equals - like), like),
                       equals + 1, arena, err));
    predictor_costs_changed(p);
    return OK;
}

void name_sources(struct costs *costs, const char *role, const char *path, const char *sha256,
                  const char *output, struct arena *arena)
{
    struct document from = costs->document;
    struct source *sources = TAKE(arena, 2, struct source);
    const char *maker = strcmp(output, "-") ? output : "standard-output";
    sources[0] = source_of("costs", &from, maker, arena);
    sources[1] = (struct source){.role = role, .path = path_relative(maker, path, arena)};
    memcpy(sources[1].sha256, sha256, sizeof sources[1].sha256);
    costs->document.sources = sources;
    costs->document.source_count = 2;
}

struct options {
    const char *data, *out, *fit, *rows, *set, *name, *like;
    struct predict_settings settings;
    struct run_choice choice;
    bool iterations, likelihood;
};

static const struct option_row rows[] = {
    {"DATA.csv", OPTION_PATH, OPT(data), .low = 1},
    {"--iterations", OPTION_FLAG, OPT(iterations), "fit to measured iterations"},
    {"--fit", OPTION_TEXT, OPT(fit), "numbers of the costs to fit: name,..."},
    LIKELIHOOD_ROW(OPT(likelihood)),
    {"--rows", OPTION_TEXT, OPT(rows),
     "use only rows that meet all conditions, such as pp=1,hidden>1024,row%3=0"},
    {"--exclude", OPTION_TEXT, OPT(choice.exclude), "IDs of rows to leave out"},
    {"--default", OPTION_TEXT, OPT(choice.defaults), "values of blank cells: column=value,..."},
    {"--cluster", OPTION_CLUSTER, OPT(settings.cluster),
     "shipped name or file (default: the shipped cluster with the row's GPU)"},
    {"--costs", OPTION_COSTS, OPT(settings.costs),
     "start values, and all numbers that are not fitted (default: published)"},
    {"--set", OPTION_TEXT, OPT(set), "override numbers of these costs: name=value,..."},
    {"--like", OPTION_TEXT, OPT(like),
     "NEW=GPU: start NEW, a GPU of the cluster that these costs lack, from the numbers of GPU"},
    READ_NOTES_ROW(OPT(choice.read_notes)),
    {"--name", OPTION_TEXT, OPT(name), "name of the costs"},
    {"-o", OPTION_PATH, OPT(out), "output file for the costs (default: standard output)"},
};

COMMAND_RUN(run)
{
    struct options *o = options;
    struct fit_keys keys;
    struct run_set set = {.arena = arena};
    struct predictor *p;
    struct iterations_fit fit;
    TRY(fit_keys_read(&keys, o->fit, arena, err));
    TRY(fit_keys_by_likelihood(&keys, o->likelihood, err));
    TRY(filter_read(&o->choice.rows, "--rows", o->rows, arena, err));
    TRY(runs_add(&set, o->data, &o->choice, err));
    TRY(predictor_open(&p, &o->settings, arena, err));
    if (o->like) TRY(begin_like(p, o->like, arena, err));
    if (o->set) TRY(predictor_set(p, o->set, err));
    bool *all = TAKE(arena, set.count, bool);
    for (int i = 0; i < set.count; i++) all[i] = true;
    TRY(fit_iterations(&fit, &keys, p, &set, all, arena, err));
    show(&fit);
    struct costs *costs = predictor_costs(p);
    if (o->name) costs->name = o->name;
    iterations_put(&fit, costs, source_of_rows(&fit, &set.files[0], &o->choice.rows, arena));
    name_sources(costs, "runs", set.files[0].path, set.files[0].sha256, o->out, arena);
    return costs_save(costs, o->out, arena, err);
}

const struct command calibrate_iterations = {
    .name = "--iterations",
    .text = "measured runs -> costs",
    .usage = "plumbline calibrate --iterations DATA.csv --fit NAMES [OPTION ...]",
    READS(struct options, rows,
          {.out = "-", .rows = "", .settings = {.margin = 0.8, .costs = "published"}}),
    .needs = "--fit",
    .run = run,
};

// Validation: fits if requested, predicts every row once with constants that were not fitted on
// it, scores by source and metric.
#include "calibrate/runs/runs.h"

#include <stdlib.h>

#include "data/numbers/intervals.h"

// ---- predicting

static void find_range(struct run *run)
{
    struct prediction fast = run->prediction, slow = run->prediction;
    fast.iteration_ns = fast.low_ns, slow.iteration_ns = slow.high_ns;
    double first = run_prediction(&run->row, &fast), second = run_prediction(&run->row, &slow);
    run->low = first == second ? NAN : fmin(first, second);
    run->high = first == second ? NAN : fmax(first, second);
}

static void predict_run(struct predictor *p, struct run *run, struct arena *arena)
{
    if (run->excluded) return;
    predict_row(p, &run->row, &run->prediction);
    if (*run->prediction.reason) {
        run->excluded = arena_copy_text(arena, run->prediction.reason);
        return;
    }
    run->predicted = run_prediction(&run->row, &run->prediction);
    if (metric_is_share(run->row.metric) && !(run->predicted > 0))
        run->excluded = "the peak of its GPU is not known";
    find_range(run);
}

static void predict_runs(struct predictor *p, struct run_set *set, const bool *which,
                         struct arena *arena)
{
    predictor_ask_ranges(p, true);
    for (int i = 0; i < set->count; i++)
        if (which[i]) predict_run(p, &set->runs[i], arena);
    predictor_ask_ranges(p, false);
}

static void restore(struct predictor *p, const struct costs *original, struct arena *arena)
{
    *predictor_costs(p) = costs_copy(original, arena);
    predictor_costs_changed(p);
}

// Each fold with the constants of the others; each fit starts from the first one's start.
static enum status predict_folds(struct validation *v, struct run_set *set, struct predictor *p,
                                 const struct validate_settings *settings, struct arena *arena,
                                 struct error *err)
{
    struct costs original = costs_copy(predictor_costs(p), arena);
    bool *others = TAKE(arena, set->count, bool), *own = TAKE(arena, set->count, bool);
    v->fit_count = runs_deal(set, settings->by, settings->folds);
    if (v->fit_count < 2)
        return refuse(err, "--folds: the rows make %d fold; at least two are needed", v->fit_count);
    v->fits = TAKE(arena, v->fit_count, struct iterations_fit);
    for (int fold = 0; fold < v->fit_count; fold++) {
        for (int i = 0; i < set->count; i++) {
            own[i] = set->runs[i].fold == fold;
            others[i] = !own[i];
        }
        restore(p, &original, arena);
        TRY(fit_iterations(&v->fits[fold], &settings->keys, p, set, others, arena, err));
        iterations_put(&v->fits[fold], predictor_costs(p), "");
        predict_runs(p, set, own, arena);
    }
    return OK;
}

static enum status predict_stated(struct validation *v, struct run_set *set, struct predictor *p,
                                  const struct validate_settings *settings, struct arena *arena,
                                  struct error *err)
{
    bool *stated = TAKE(arena, set->count, bool), *others = TAKE(arena, set->count, bool);
    for (int i = 0; i < set->count; i++) {
        stated[i] = set->runs[i].fitted_on;
        others[i] = !stated[i];
    }
    v->fits = TAKE(arena, 1, struct iterations_fit);
    v->fit_count = 1;
    TRY(fit_iterations(v->fits, &settings->keys, p, set, stated, arena, err));
    iterations_put(v->fits, predictor_costs(p), "");
    predict_runs(p, set, others, arena);
    for (int i = 0; i < set->count; i++)
        if (stated[i] && !set->runs[i].excluded) set->runs[i].excluded = "fitted on";
    return OK;
}

static void predict_all(struct run_set *set, struct predictor *p, struct arena *arena)
{
    bool *all = TAKE(arena, set->count, bool);
    for (int i = 0; i < set->count; i++) all[i] = true;
    predict_runs(p, set, all, arena);
}

// ---- scoring

static bool is_flag(int metric) { return metric == METRIC_OOM || metric == METRIC_FAILED_OR_OOM; }

// Whether the run bears on it: a layout that no run has fails for certain.
static bool counts_for_oom(const struct run *run)
{
    return !run->excluded ||
           (run->row.metric == METRIC_FAILED_OR_OOM && run->prediction.impossible);
}

static bool has_failed(const struct run *run)
{
    return is_flag(run->row.metric) && run->row.value > 0;
}

static void count_oom(struct oom_scores *o, const struct run *run,
                      const struct validate_settings *settings)
{
    const struct prediction *x = &run->prediction;
    // The whole capacity is no margin: nothing of it is kept free.
    double free = o->margin < 1 ? (double)settings->margin_bytes : 0;
    bool over = x->impossible ||
                (double)x->device_bytes > o->margin * (double)x->capacity_bytes - free;
    if (has_failed(run)) {
        o->total++, o->caught += over;
    } else {
        bool low = run->row.metric != METRIC_PEAK_MEMORY ||
                   run->row.value < settings->ran_below * (double)x->capacity_bytes;
        o->ran_all++;
        o->ran_over += over;
        o->ran_total += low;
        o->false_alarms += low && over;
    }
}

static struct oom_scores count_ooms(double margin, int file, const struct run_set *set,
                                    const struct validate_settings *settings)
{
    struct oom_scores o = {.margin = margin};
    bool peaks = file_has_peaks(set, file), flags = true;
    for (int i = 0; i < set->count; i++)
        flags = flags && (set->runs[i].file != file || is_flag(set->runs[i].row.metric));
    for (int i = 0; i < set->count; i++) {
        const struct run *run = &set->runs[i];
        // Where nothing else says which ran, those that did not fail did.
        bool ran = flags ? run->row.metric == METRIC_FAILED_OR_OOM : run_ran(run, peaks);
        if (run->file == file && counts_for_oom(run) && (ran || has_failed(run)))
            count_oom(&o, run, settings);
    }
    return o;
}

static void score_oom(struct source_scores *s, const struct run_set *set,
                      const struct validate_settings *settings, struct arena *arena)
{
    for (int m = 0; m < OOM_MARGINS && settings->margins[m] > 0; m++)
        s->oom[m] = count_ooms(settings->margins[m], s->file, set, settings);
    double *filled = TAKE(arena, set->count, double);
    int failed = 0;
    for (int i = 0; i < set->count; i++) {
        const struct run *run = &set->runs[i];
        const struct prediction *x = &run->prediction;
        if (run->file == s->file && counts_for_oom(run) && has_failed(run))
            filled[failed++] = x->impossible ? HUGE_VAL
                                             : (double)x->device_bytes / (double)x->capacity_bytes;
    }
    if (!failed) return;
    qsort(filled, (size_t)failed, sizeof *filled, compare_numbers);
    // Nine tenths of them, rounded up, exceed a margin just below the next one after the others.
    double margin = floor(1000 * nextafter(filled[failed / 10], 0)) / 1000;
    s->best = count_ooms(margin, s->file, set, settings);
}

static void score_source(struct source_scores *s, const struct run_set *set,
                         const struct validate_settings *settings, struct arena *arena)
{
    struct scored *rows = TAKE(arena, set->count, struct scored);
    int count = 0;
    for (int i = 0; i < set->count; i++) {
        const struct run *run = &set->runs[i];
        if (run->excluded || run->file != s->file || run->row.metric != s->metric ||
            is_flag(s->metric))
            continue;
        rows[count++] =
            (struct scored){run->row.value, run->predicted, run->low, run->high, run->group};
    }
    s->scores = score_rows(rows, count, !metric_is_rate(s->metric), arena);
    score_oom(s, set, settings, arena);
}

static void score(struct validation *v, const struct run_set *set,
                  const struct validate_settings *settings, struct arena *arena)
{
    v->sources = TAKE(arena, set->file_count * METRIC_COUNT, struct source_scores);
    for (int file = 0; file < set->file_count; file++)
        for (int metric = 0; metric < METRIC_COUNT; metric++) {
            bool there = false;
            for (int i = 0; i < set->count; i++)
                there = there || (set->runs[i].file == file && set->runs[i].row.metric == metric);
            if (!there) continue;
            struct source_scores *s = &v->sources[v->source_count++];
            *s = (struct source_scores){.file = file, .metric = metric};
            score_source(s, set, settings, arena);
        }
}

enum status validate(struct validation *v, struct run_set *set, struct predictor *p,
                     const struct validate_settings *settings, struct arena *arena,
                     struct error *err)
{
    *v = (struct validation){0};
    switch (settings->mode) {
    case VALIDATE_AS_GIVEN: predict_all(set, p, arena); break;
    case VALIDATE_FOLDS: TRY(predict_folds(v, set, p, settings, arena, err)); break;
    case VALIDATE_TABLE: TRY(predict_by_cells(&v->table, p, set, arena, err)); break;
    case VALIDATE_STATED: TRY(predict_stated(v, set, p, settings, arena, err)); break;
    }
    score(v, set, settings, arena);
    return OK;
}

// A validation for people and for programs.
#include <string.h>

#include "calibrate/runs/runs.h"

static const char *percent(char text[16], double share)
{
    if (isnan(share)) return "-";
    snprintf(text, 16, "%.2f %%", 100 * share);
    return text;
}

static const char *plain(char text[16], double x)
{
    if (isnan(x)) return "-";
    snprintf(text, 16, "%.3f", x);
    return text;
}

static void show_fits(const struct validation *v, FILE *to)
{
    if (!v->fit_count) return;
    const struct fit_keys *keys = &v->fits[0].keys;
    if (keys->by_likelihood) {
        int failed = 0, ran = 0, rows = 0;
        double spread = 0;
        for (int i = 0; i < v->fit_count; i++) {
            failed += v->fits[i].failed, ran += v->fits[i].ran, rows += v->fits[i].rows;
            spread += v->fits[i].spread / v->fit_count;
        }
        fprintf(to, "By likelihood: %d failed, %d ran, %d peaks%s; spread %.1f %%\n", failed, ran,
                rows - failed - ran, v->fit_count > 1 ? " (over all fits)" : "", 100 * spread);
    }
    fprintf(to, "Constants fitted: %d%s\n", keys->count,
            v->fit_count > 1 ? ", once for each fold, on the rows of the others" : "");
    for (int k = 0; k < keys->count; k++) {
        double low = INFINITY, high = 0, sum = 0;
        for (int i = 0; i < v->fit_count; i++) {
            low = fmin(low, v->fits[i].constants[k].value);
            high = fmax(high, v->fits[i].constants[k].value);
            sum += v->fits[i].constants[k].value / v->fit_count;
        }
        fprintf(to, "  %-44s %.5g", keys->items[k].name, sum);
        if (v->fit_count > 1) fprintf(to, "   (over the folds %.5g to %.5g)\n", low, high);
        else
            fprintf(to, "   95 %%: %.5g to %.5g; %d rows, mean error of these %.2f %%\n",
                    v->fits[0].constants[k].low, v->fits[0].constants[k].high, v->fits[0].rows,
                    100 * v->fits[0].mean_abs_error);
    }
}

static void show_oom(const struct source_scores *s, const struct validate_settings *settings,
                     FILE *to)
{
    for (int m = 0; m <= OOM_MARGINS; m++) {
        const struct oom_scores *o = m < OOM_MARGINS ? &s->oom[m] : &s->best;
        if (!(o->margin > 0)) continue;
        bool best = m == OOM_MARGINS;
        fprintf(to, "    out of memory at margin %.*f%s: %d of %d predicted; ", best ? 3 : 2,
                o->margin, best ? ", the largest that predicts 9 of 10" : "", o->caught, o->total);
        fprintf(to,
                "predicted not to fit: %d of %d that ran, %d of %d of those below %.0f %% of the "
                "memory\n",
                o->ran_over, o->ran_all, o->false_alarms, o->ran_total, 100 * settings->ran_below);
    }
}

static int count_excluded(const struct run_set *set, int file, const char *reason, int from)
{
    int count = 0;
    for (int i = from; i < set->count; i++)
        count += set->runs[i].file == file && set->runs[i].excluded &&
                 !strcmp(set->runs[i].excluded, reason);
    return count;
}

static bool is_first(const struct run_set *set, int at)
{
    for (int i = 0; i < at; i++)
        if (set->runs[i].file == set->runs[at].file && set->runs[i].excluded &&
            !strcmp(set->runs[i].excluded, set->runs[at].excluded))
            return false;
    return true;
}

// Each reason once, with the first rows to which it applies.
static void show_excluded(const struct run_set *set, int file, FILE *to)
{
    enum { SHOWN = 8 };
    for (int i = 0; i < set->count; i++) {
        if (set->runs[i].file != file || !set->runs[i].excluded || !is_first(set, i)) continue;
        const char *reason = set->runs[i].excluded;
        int count = count_excluded(set, file, reason, i), shown = 0;
        fprintf(to, "    not scored, %s: %d row%s:", reason, count, count == 1 ? "" : "s");
        for (int k = i; k < set->count && shown < SHOWN; k++) {
            const struct run *run = &set->runs[k];
            if (run->file != file || !run->excluded || strcmp(run->excluded, reason)) continue;
            if (run->row.id.length) fprintf(to, " %.*s", run->row.id.length, run->row.id.text);
            else fprintf(to, " line %d", run->row.line);
            shown++;
        }
        fprintf(to, "%s\n", count > shown ? " ..." : "");
    }
}

static void show_rest(const struct run_set *set, int file, FILE *to)
{
    unstated_show_assumed(set, file, to);
    show_excluded(set, file, to);
    if (*set->files[file].ignored)
        fprintf(to, "    columns not read: %s\n", set->files[file].ignored);
}

static bool is_scored(const struct validation *v, int file)
{
    for (int i = 0; i < v->source_count; i++)
        if (v->sources[i].file == file) return true;
    return false;
}

void validation_show(const struct validation *v, const struct run_set *set,
                     const struct validate_settings *settings, FILE *to)
{
    char text[10][16];
    show_fits(v, to);
    if (v->table.cells)
        fprintf(to, "Table: %d cells, %d numbers read off %d rows without a pipeline\n",
                v->table.cells, v->table.constants, v->table.rows_fitted);
    fprintf(to, "%-34s %-20s %5s %9s %9s %9s %9s %8s %9s %10s %10s %9s %9s\n", "source", "metric",
            "rows", "median", "mean", "p90", "signed", "tau-b", "spearman", "regret med", "mean",
            "inside", "width");
    for (int i = 0; i < v->source_count; i++) {
        const struct source_scores *s = &v->sources[i];
        const struct scores *x = &s->scores;
        bool last = i + 1 == v->source_count || v->sources[i + 1].file != s->file;
        if (s->metric != METRIC_OOM && s->metric != METRIC_FAILED_OR_OOM)
            fprintf(to, "%-34s %-20s %5d %9s %9s %9s %9s %8s %9s %10s %10s %9s %9s\n",
                    set->files[s->file].label, run_metric_names[s->metric], x->rows,
                    percent(text[0], x->median_abs_error), percent(text[1], x->mean_abs_error),
                    percent(text[2], x->p90_abs_error), percent(text[7], x->mean_error),
                    plain(text[3], x->kendall_tau), plain(text[4], x->spearman),
                    percent(text[5], x->regret_median), percent(text[6], x->regret_mean),
                    percent(text[8], x->inside), percent(text[9], x->width));
        if (!last) continue;
        if (s->oom[0].total) show_oom(s, settings, to);
        show_rest(set, s->file, to);
    }
    for (int file = 0; file < set->file_count; file++) {
        if (is_scored(v, file)) continue;
        fprintf(to, "%-34s no row has a known metric (expected columns metric and value)\n",
                set->files[file].label);
        show_rest(set, file, to);
    }
}

static void put_score(struct json_writer *w, const char *key, double x)
{
    if (!isfinite(x)) json_put_null(w, key);
    else json_put_number(w, key, x);
}

void validation_show_json(const struct validation *v, const struct run_set *set,
                          struct arena *arena, FILE *to)
{
    struct json_writer w;
    size_t length;
    json_begin(&w, arena);
    json_open_array(&w, NULL);
    for (int i = 0; i < v->source_count; i++) {
        const struct source_scores *s = &v->sources[i];
        json_open_object(&w, NULL);
        json_put_text(&w, "source", set->files[s->file].label);
        json_put_text(&w, "metric", run_metric_names[s->metric]);
        json_put_count(&w, "rows", s->scores.rows);
        put_score(&w, "median_abs_error", s->scores.median_abs_error);
        put_score(&w, "mean_abs_error", s->scores.mean_abs_error);
        put_score(&w, "p90_abs_error", s->scores.p90_abs_error);
        put_score(&w, "kendall_tau", s->scores.kendall_tau);
        put_score(&w, "regret_median", s->scores.regret_median);
        put_score(&w, "regret_mean", s->scores.regret_mean);
        put_score(&w, "spearman", s->scores.spearman);
        put_score(&w, "inside", s->scores.inside);
        put_score(&w, "width", s->scores.width);
        json_put_count(&w, "oom_caught", s->oom[0].caught);
        json_put_count(&w, "oom_total", s->oom[0].total);
        json_put_count(&w, "false_alarms", s->oom[0].false_alarms);
        json_put_count(&w, "ran_total", s->oom[0].ran_total);
        json_close_object(&w);
    }
    json_close_array(&w);
    const char *text = json_end(&w, &length);
    fwrite(text, 1, length, to);
}

void validation_show_rows(const struct run_set *set, struct arena *arena, FILE *to)
{
    fprintf(to, "source,id,metric,measured,predicted,error,memory_bytes,fold,excluded,low,high\n");
    for (int i = 0; i < set->count; i++) {
        const struct run *r = &set->runs[i];
        const char *metric = r->row.metric >= 0 && r->row.metric < METRIC_COUNT
                                 ? run_metric_names[r->row.metric]
                                 : "";
        fprintf(to, "%s,%s,%s,%.9g,", csv_cell(set->files[r->file].label, arena),
                csv_cell(cell_copy(r->row.id, arena), arena), metric, r->row.value);
        if (r->excluded) fprintf(to, ",,,,%s,,\n", csv_cell(r->excluded, arena));
        else
            fprintf(to, r->high > 0 ? "%.9g,%.6f,%lld,%d,,%.9g,%.9g\n" : "%.9g,%.6f,%lld,%d,,,\n",
                    r->predicted, r->predicted / r->row.value - 1,
                    (long long)r->prediction.device_bytes, r->fold, r->low, r->high);
    }
}

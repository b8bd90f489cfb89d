// Fits the allocator's factor to the runs of a set that ran out of memory and those that did not.
#include "calibrate/runs/runs.h"

#include "calibrate/fit/fit.h"

bool file_has_peaks(const struct run_set *set, int file)
{
    for (int i = 0; i < set->count; i++)
        if (set->runs[i].file == file && !set->runs[i].excluded &&
            set->runs[i].row.metric == METRIC_PEAK_MEMORY)
            return true;
    return false;
}

bool run_ran(const struct run *run, bool file_has_peaks)
{
    return file_has_peaks ? run->row.metric == METRIC_PEAK_MEMORY : metric_is_time(run->row.metric);
}

// false: the row does not bear on the factor; for example, a figure of the last rank is only what
// was requested, and a flag of 0 does not say that the run ran: it may have failed otherwise.
static bool read_sign(struct memory_sign *sign, const struct run *run, bool peaks,
                      const struct prediction *x, double factor)
{
    const struct run_row *row = &run->row;
    bool flag = row->metric == METRIC_OOM;
    double outside = (double)x->outside_bytes, total = (double)x->device_bytes;
    if (flag ? !(row->value > 0) : !run_ran(run, peaks)) return false;
    *sign =
        (struct memory_sign){flag ? SIGN_FAILED : SIGN_RAN, 0, outside, (double)x->capacity_bytes};
    if (!flag && row->metric == METRIC_PEAK_MEMORY) {
        total = run_prediction(row, x);
        if (total == (double)x->held_bytes)
            total = (double)x->device_bytes - outside, sign->outside_bytes = outside = 0;
        else if (total != (double)x->device_bytes && total != (double)x->ends_bytes) return false;
        sign->kind = SIGN_PEAK, sign->bytes = row->value;
    }
    sign->inside_bytes = (total - outside) / factor;
    return sign->inside_bytes > 0;
}

static int collect_signs(struct memory_sign *signs, struct iterations_fit *fit, struct predictor *p,
                         const struct run_set *set, const bool *take)
{
    double factor = fmax(predictor_costs(p)->allocator_factor.value, 1);
    int count = 0, file = -1;
    bool peaks = false;
    for (int i = 0; i < set->count; i++) {
        const struct run *run = &set->runs[i];
        struct prediction x;
        if (!take[i] || run->excluded) continue;
        if (run->file != file) file = run->file, peaks = file_has_peaks(set, file);
        predict_row(p, &run->row, &x);
        if (*x.reason || !read_sign(&signs[count], run, peaks, &x, factor)) continue;
        count++;
        if (!fit->gpu_count) fit->gpus[fit->gpu_count++] = x.gpu; // all share the factor
    }
    return count;
}

enum status fit_memory(struct iterations_fit *fit, struct predictor *p, const struct run_set *set,
                       const bool *take, struct arena *arena, struct error *err)
{
    struct memory_sign *signs = TAKE(arena, set->count, struct memory_sign);
    struct factor_fit f;
    fit->gpus = TAKE(arena, 1, const char *);
    fit->rows = collect_signs(signs, fit, p, set, take);
    TRY(factor_fit(&f, signs, fit->rows, err));
    for (int i = 0; i < fit->rows; i++)
        if (signs[i].kind == SIGN_PEAK)
            fit->mean_abs_error +=
                fabs((f.factor * signs[i].inside_bytes + signs[i].outside_bytes) / signs[i].bytes -
                     1) /
                f.counts[SIGN_PEAK];
    fit->constants[0] = (struct fitted){f.factor, f.low, f.high};
    fit->failed = f.counts[SIGN_FAILED], fit->ran = f.counts[SIGN_RAN], fit->spread = f.spread;
    predictor_costs(p)->allocator_factor.value = f.factor;
    return OK;
}

// Levenberg-Marquardt over least_squares.c. The unknowns are logarithms, so that rates stay
// positive and steps are relative; derivatives are differences. Rows are weighted as by the loss 2
// s^2 (sqrt(1 + (r/s)^2) - 1), s = 5 %, which grows like |r| for rows far off, so that a few rows
// that the model does not explain do not distort the constants.
#include "calibrate/runs/runs.h"

#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/fit.h"

static const double loss_scale = 0.05, difference = 1e-3, damping_first = 1e-2, damping_max = 1e8;
enum { STEPS_MAX = 60 };
#define BOUND_SHARE 0.9
#define SCATTER_ASSUMED                                                                            \
    0.03 // of published runs: what no source explains of its own repetitions (docs/VALIDATION.md)

static bool has_key(const struct fit_keys *k, int key)
{
    for (int i = 0; i < k->count; i++)
        for (int t = 0; t < k->items[i].count; t++)
            if (k->items[i].keys[t] == key) return true;
    return false;
}

// One constant, "a+b" without a comma.
static enum status read_key(struct fit_keys *k, const char *text, int length, struct arena *arena,
                            struct error *err)
{
    if (k->count == FIT_KEYS_MAX)
        return refuse(err, "--fit: expected at most %d constants", FIT_KEYS_MAX);
    struct fit_key *item = &k->items[k->count++];
    *item = (struct fit_key){.name = ""};
    for (int at = 0; at <= length;) {
        int end = at;
        while (end < length && text[end] != '+') end++;
        const char *name = arena_print(arena, "%.*s", end - at, text + at);
        int key = cost_key_find(name);
        if (key < 0)
            return refuse(err, "--fit: expected numbers of the costs, found '%s'; nearest: %s",
                          name, cost_key_nearest(name));
        if (has_key(k, key)) return refuse(err, "--fit: %s appears twice", cost_keys[key].name);
        if (item->count == FIT_TIED_MAX)
            return refuse(err, "--fit: expected at most %d numbers that are equal", FIT_TIED_MAX);
        item->keys[item->count++] = key;
        item->name = arena_print(arena, "%s%s%s", item->name, at ? "+" : "", cost_keys[key].name);
        at = end + 1;
    }
    return OK;
}

enum status fit_keys_read(struct fit_keys *k, const char *text, struct arena *arena,
                          struct error *err)
{
    *k = (struct fit_keys){0};
    for (const char *at = text; *at;) {
        int length = (int)strcspn(at, ",");
        TRY(read_key(k, at, length, arena, err));
        at += length + (at[length] == ',');
    }
    return k->count ? OK : refuse(err, "--fit: expected numbers of the costs, found nothing");
}

enum status fit_keys_by_likelihood(struct fit_keys *k, bool asked, struct error *err)
{
    k->by_likelihood = asked;
    if (!asked || (k->count == 1 && k->items[0].count == 1 &&
                   k->items[0].keys[0] == cost_key_find("allocator_factor")))
        return OK;
    return refuse(err, "--likelihood: expected --fit allocator_factor alone, found %s",
                  k->items[0].name);
}

// Starting values of the search: of every number that a constant stands for, in the order in which
// they are visited.
enum { STARTS_MAX = 512 };
struct starts {
    double values[STARTS_MAX];
    int count, at;
};

struct search {
    struct predictor *predictor;
    const struct fit_keys *keys;
    const struct run **runs;
    int count;
    const char **gpus; // of the rows
    int gpu_count, value_bytes;
    double *residuals, *changed, *jacobian, *observed, *deviation; // the last two: [count + keys]
    double x[FIT_KEYS_MAX];                                        // logarithms
    const char *refusal;   // why the first skipped row cannot be predicted; NULL: none
    struct starts *starts; // [key]
};

// ---- the constants in the costs

// A number that is not stated stays so, but for memory's factor, which is 1 then.
static void note_start(struct estimate *e, const struct cost_key *key, void *context)
{
    struct starts *s = context;
    double least = key->sense == COST_BYTES ? key->low : 0;
    if (s->count < STARTS_MAX) s->values[s->count++] = fmax(e->value, least);
}

// What a constant does to its numbers: it scales all by one factor, so that their ratios (of GPUs,
// of precisions) stay.
struct scaling {
    struct starts *starts;
    double factor;
};

static void put_value(struct estimate *e, const struct cost_key *key, void *context)
{
    struct scaling *s = context;
    if (s->starts->at == s->starts->count) return;
    double start = s->starts->values[s->starts->at++];
    if (start > 0) e->value = fmin(fmax(start * s->factor, key->low), key->high);
}

// Within the range of a document.
static double bounded(const struct fit_key *item, double value)
{
    for (int t = 0; t < item->count; t++)
        value = fmin(fmax(value, cost_keys[item->keys[t]].low), cost_keys[item->keys[t]].high);
    return value;
}

static void visit_item(const struct fit_key *item, struct costs *costs, const char *const *gpus,
                       int gpu_count, int value_bytes, cost_visitor *visit, void *context)
{
    for (int t = 0; t < item->count; t++)
        for (int g = 0; g < gpu_count; g++)
            costs_visit(costs, item->keys[t], gpus[g], value_bytes, visit, context);
}

static void set_constants(const struct search *s, const double *x)
{
    for (int k = 0; k < s->keys->count; k++) {
        struct scaling scaling = {&s->starts[k],
                                  bounded(&s->keys->items[k], exp(x[k])) / s->starts[k].values[0]};
        scaling.starts->at = 0;
        visit_item(&s->keys->items[k], predictor_costs(s->predictor), s->gpus, s->gpu_count,
                   s->value_bytes, put_value, &scaling);
    }
}

static enum status start(struct search *s, struct arena *arena, struct error *err)
{
    s->starts = TAKE(arena, s->keys->count, struct starts);
    for (int k = 0; k < s->keys->count; k++) {
        struct starts *starts = &s->starts[k];
        visit_item(&s->keys->items[k], predictor_costs(s->predictor), s->gpus, s->gpu_count,
                   s->value_bytes, note_start, starts);
        if (!starts->count || !(starts->values[0] > 0))
            return refuse(err, "--fit: %s is 0 in these costs; --set it to a start value",
                          s->keys->items[k].name);
        s->x[k] = log(starts->values[0]);
    }
    return OK;
}

// ---- rows

static bool says_something(const struct fit_keys *keys, int metric)
{
    for (int k = 0; k < keys->count; k++)
        if (cost_keys[keys->items[k].keys[0]].sense == COST_BYTES ? metric_is_memory(metric)
                                                                  : metric_is_time(metric))
            return true;
    return false;
}

static void note_gpu(struct search *s, const char *gpu)
{
    for (int g = 0; g < s->gpu_count; g++)
        if (!strcmp(s->gpus[g], gpu)) return;
    s->gpus[s->gpu_count++] = gpu;
}

static void collect(struct search *s, const struct run_set *set, const bool *take,
                    struct arena *arena)
{
    s->runs = TAKE(arena, set->count, const struct run *);
    s->gpus = TAKE(arena, set->count + 1, const char *);
    for (int i = 0; i < set->count; i++) {
        const struct run *run = &set->runs[i];
        struct prediction x;
        if (run->excluded && !s->refusal) s->refusal = run->excluded;
        if (!take[i] || run->excluded || !says_something(s->keys, run->row.metric)) continue;
        predict_row(s->predictor, &run->row, &x);
        if (*x.reason && !s->refusal) s->refusal = arena_copy_text(arena, x.reason);
        if (*x.reason || !(run_prediction(&run->row, &x) > 0)) continue;
        s->value_bytes = s->count == 0 || s->value_bytes == x.value_bytes ? x.value_bytes : 0;
        s->runs[s->count++] = run;
        note_gpu(s, x.gpu);
    }
}

static void find_residuals(const struct search *s, const double *x, double *residuals)
{
    set_constants(s, x);
    for (int i = 0; i < s->count; i++) {
        struct prediction prediction;
        const struct run_row *row = &s->runs[i]->row;
        predict_row(s->predictor, row, &prediction);
        double predicted = *prediction.reason ? 0 : run_prediction(row, &prediction);
        residuals[i] = predicted > 0 ? log(predicted / row->value)
                                     : 10; // a step outside the domain is not taken
    }
}

static double loss(const struct search *s, const double *residuals)
{
    double sum = 0;
    for (int i = 0; i < s->count; i++) sum += sqrt(1 + pow(residuals[i] / loss_scale, 2)) - 1;
    return 2 * loss_scale * loss_scale * sum;
}

// For the least-squares row with the same gradient.
static double root_weight(double residual) { return pow(1 + pow(residual / loss_scale, 2), -0.25); }

// Where products are priced by shape, their single rate has no effect.
static const char *instead_of(const struct search *s, const struct fit_key *item)
{
    const struct gpu_costs *g = costs_find_gpu(predictor_costs(s->predictor), s->gpus[0]);
    bool by_shapes = g && g->precision_count && g->precisions[0].product_flop_per_s.value > 0;
    return by_shapes && item->keys[0] == cost_key_find("gemm_flop_per_s")
               ? ": these costs price products by product_flop_per_s and product_tile_flop_per_s"
               : "";
}

// The rows after those of the runs hold the damping, each column's length. A constant that has
// moved to where no row depends on it gets a length of 1 and stays there.
static enum status find_jacobian(struct search *s, bool first, struct error *err)
{
    int n = s->keys->count;
    for (int k = 0; k < n; k++) {
        double x[FIT_KEYS_MAX], length = 0;
        memcpy(x, s->x, sizeof x);
        x[k] += difference;
        find_residuals(s, x, s->changed);
        for (int i = 0; i < s->count; i++) {
            double slope = (s->changed[i] - s->residuals[i]) / difference *
                           root_weight(s->residuals[i]);
            s->jacobian[i * n + k] = slope;
            length += slope * slope;
        }
        bool none = length < 1e-14 * s->count;
        if (none && first)
            return refuse(err, "--fit: no row depends on %s%s", s->keys->items[k].name,
                          instead_of(s, &s->keys->items[k]));
        for (int i = 0; i < n; i++) s->jacobian[(s->count + i) * n + k] = 0;
        s->jacobian[(s->count + k) * n + k] = none ? 1 : sqrt(length);
    }
    return OK;
}

// The step that solves the damped linear problem.
static enum status solve_step(struct search *s, double damping, double *step, struct arena *arena,
                              struct error *err)
{
    struct solution solution;
    int n = s->keys->count;
    for (int i = 0; i < s->count + n; i++) {
        s->observed[i] = i < s->count ? -s->residuals[i] * root_weight(s->residuals[i]) : 0;
        s->deviation[i] = i < s->count ? 1 : 1 / sqrt(damping);
    }
    TRY(least_squares(&solution, s->count + n, n, s->jacobian, s->observed, s->deviation, arena,
                      err));
    memcpy(step, solution.x, (size_t)n * sizeof *step);
    return OK;
}

static double longest(const double *step, int count)
{
    double most = 0;
    for (int k = 0; k < count; k++) most = fmax(most, fabs(step[k]));
    return most;
}

// Takes the first step, from bold to cautious, that lowers the loss. *moved false: none does, or
// only negligibly.
static enum status improve(struct search *s, bool first, double *damping, bool *moved,
                           struct arena *arena, struct error *err)
{
    double before = loss(s, s->residuals), step[FIT_KEYS_MAX], x[FIT_KEYS_MAX];
    *moved = false;
    TRY(find_jacobian(s, first, err));
    for (; *damping < damping_max; *damping *= 10) {
        TRY(solve_step(s, *damping, step, arena, err));
        for (int k = 0; k < s->keys->count; k++) x[k] = s->x[k] + fmin(fmax(step[k], -1), 1);
        find_residuals(s, x, s->changed);
        double after = loss(s, s->changed);
        if (!(after < before)) continue;
        memcpy(s->x, x, sizeof x);
        memcpy(s->residuals, s->changed, (size_t)s->count * sizeof *s->residuals);
        *damping = fmax(*damping / 10, 1e-9);
        *moved = before - after > 1e-9 * before && longest(step, s->keys->count) > 1e-6;
        return OK;
    }
    return OK;
}

// ---- the result

static double find_error_bound(const struct search *s, struct arena *arena)
{
    int count = 0, rank = (int)ceil(BOUND_SHARE * (s->count + 1));
    double *errors = TAKE(arena, s->count, double);
    for (int i = 0; i < s->count; i++)
        if (metric_is_time(s->runs[i]->row.metric)) errors[count++] = fabs(s->residuals[i]);
    if (count < s->count || s->count <= s->keys->count) return 0;
    qsort(errors, (size_t)count, sizeof *errors, compare_numbers);
    return fmin(expm1(errors[(rank < count ? rank : count) - 1]), ITERATION_SPREAD_MAX);
}

static enum status answer(struct iterations_fit *fit, struct search *s, struct arena *arena,
                          struct error *err)
{
    struct solution solution;
    int n = s->keys->count;
    double square = 0;
    find_residuals(s, s->x, s->residuals);
    TRY(find_jacobian(s, false, err));
    find_residuals(s, s->x, s->residuals); // sets the costs to the result
    for (int i = 0; i < s->count + n; i++) {
        s->observed[i] = 0;
        s->deviation[i] = i < s->count ? 1 : 1e3; // negligible, but keeps a constant without effect
                                                  // from making it singular
        if (i >= s->count) continue;
        double root = root_weight(s->residuals[i]);
        square += root * root * s->residuals[i] * s->residuals[i];
        fit->mean_abs_error += fabs(exp(s->residuals[i]) - 1) / s->count;
    }
    TRY(least_squares(&solution, s->count + n, n, s->jacobian, s->observed, s->deviation, arena,
                      err));
    // With as many rows as constants there is no scatter: that of single published runs is
    // assumed.
    int freedom = s->count - n;
    double scatter = freedom > 0 ? sqrt(square / freedom) : SCATTER_ASSUMED,
           quantile = freedom > 0 ? student_quantile(0.95, freedom) : 1.96;
    for (int k = 0; k < n; k++) {
        const struct fit_key *item = &s->keys->items[k];
        double width = quantile * scatter * sqrt(solution.covariance[k * n + k]);
        double value = bounded(item, exp(s->x[k]));
        fit->constants[k] = (struct fitted){value, bounded(item, value * exp(-width)),
                                            bounded(item, value * exp(width))};
    }
    fit->rows = s->count;
    fit->error_bound = find_error_bound(s, arena);
    fit->gpus = s->gpus;
    fit->gpu_count = s->gpu_count;
    fit->value_bytes = s->value_bytes;
    return OK;
}

struct origin_note {
    const struct fitted *fitted;
    const char *source;
};

// The fit has already set the value.
static void put_fitted(struct estimate *e, const struct cost_key *key, void *context)
{
    const struct origin_note *note = context;
    const struct fitted *f = note->fitted;
    if (!(e->value > 0)) return;
    *e = estimate_fitted(e->value, fmin(fmax(e->value * f->low / f->value, key->low), e->value),
                         fmax(fmin(e->value * f->high / f->value, key->high), e->value),
                         note->source);
}

void iterations_put(const struct iterations_fit *fit, struct costs *costs, const char *source)
{
    for (int k = 0; k < fit->keys.count; k++) {
        struct origin_note note = {&fit->constants[k], source};
        visit_item(&fit->keys.items[k], costs, fit->gpus, fit->gpu_count, fit->value_bytes,
                   put_fitted, &note);
    }
    if (fit->error_bound > 0)
        costs->iteration_spread =
            estimate_fitted(fit->error_bound, fit->error_bound, fit->error_bound, source);
}

enum status fit_iterations(struct iterations_fit *fit, const struct fit_keys *keys,
                           struct predictor *p, const struct run_set *set, const bool *take,
                           struct arena *arena, struct error *err)
{
    struct search s = {.predictor = p, .keys = keys};
    *fit = (struct iterations_fit){.keys = *keys};
    if (keys->by_likelihood) return fit_memory(fit, p, set, take, arena, err);
    collect(&s, set, take, arena);
    if (s.count < keys->count)
        return refuse(err, "--fit: %d constants from %d rows that can be predicted%s%s",
                      keys->count, s.count, s.refusal ? "; of another row: " : "",
                      s.refusal ? s.refusal : "");
    int all = s.count + keys->count;
    s.residuals = TAKE(arena, s.count, double);
    s.changed = TAKE(arena, s.count, double);
    s.jacobian = TAKE(arena, all * keys->count, double);
    s.observed = TAKE(arena, all, double);
    s.deviation = TAKE(arena, all, double);
    TRY(start(&s, arena, err));
    find_residuals(&s, s.x, s.residuals);
    double damping = damping_first;
    for (bool moved = true; moved && fit->steps < STEPS_MAX; fit->steps++) {
        struct arena_mark mark = arena_set_mark(arena);
        TRY(improve(&s, fit->steps == 0, &damping, &moved, arena, err));
        arena_reset(arena, mark);
    }
    return answer(fit, &s, arena, err);
}

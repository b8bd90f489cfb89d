// Gauss-Newton on logarithms, with steps halved until they help. Samples are weighted as by the
// loss 2 s^2 (sqrt(1 + (r / s)^2) - 1), s = 5 %, since a library's poor choice of a kernel must
// not distort the numbers. Errors within a shape of weights are correlated, so the scatter of the
// numbers comes from fits that each leave out a tenth of the shapes (delete-a-group jackknife).
#include "calibrate/fit/fit.h"

#include <stdlib.h>

#include "formulate/price/price.h"

enum { STEPS_MAX = 60, HALVINGS_MAX = 12, FOLDS = 10, SHAPES_MIN = 8, LONG_ROWS = 1024 };
static const double loss_scale = 0.05, difference = 1e-3, small_step = 1e-7,
                    reach_max = 2.303, // what samples do not determine is open by a factor of 10
    ridge = 1e-6,                      // a number that no sample depends on stays unchanged
    power_s = 1e-3;                    // averaging time of the power that sets the clock

struct fitter {
    const struct product_sample *samples;
    const int *fold; // of each sample
    int count, left_out;
    enum product_number active[PRODUCT_NUMBERS];
    int active_count;
    struct gpu_costs gpu;
    struct precision_costs rates;
    struct product_conditions conditions;
    struct arena *arena;
};

static struct estimate *number_of(struct gpu_costs *gpu, struct precision_costs *rates, int number)
{
    switch (number) {
    case PRODUCT_TILES: return &rates->product_tile_flop_per_s;
    case PRODUCT_SQUARE: return &rates->product_square_tile_share;
    case PRODUCT_FLOP: return &rates->product_flop_per_s;
    case PRODUCT_BYTES: return &rates->product_bytes_per_s;
    default: return &gpu->product_launch_s;
    }
}

static double *value_of(struct fitter *f, int k)
{
    switch (f->active[k]) {
    case PRODUCT_LONG: return &f->conditions.long_factor;
    case PRODUCT_ZEROS: return &f->conditions.zeros_factor;
    default: return &number_of(&f->gpu, &f->rates, f->active[k])->value;
    }
}

static void put_numbers(struct fitter *f, const double *x)
{
    for (int k = 0; k < f->active_count; k++)
        *value_of(f, k) = f->active[k] == PRODUCT_SQUARE ? fmin(1, exp(x[k])) : exp(x[k]);
}

static double predicted_s(const struct product_sample *s, const struct product_conditions *c,
                          const struct gpu_costs *gpu, const struct precision_costs *rates)
{
    struct precision_costs here = *rates;
    double *rate = &here.product_flop_per_s.value,
           work = 2 * s->rows * s->columns * s->depth / *rate;
    *rate /= 1 - (1 - 1 / c->long_factor) * power_s / (power_s + work);
    if (s->zeros) *rate *= c->zeros_factor;
    return product_kernel_s(gpu, &here, s->rows, s->columns, s->depth);
}

static double residual(struct fitter *f, const double *x, int sample)
{
    const struct product_sample *s = &f->samples[sample];
    put_numbers(f, x);
    return log(predicted_s(s, &f->conditions, &f->gpu, &f->rates) / s->seconds);
}

static double loss(struct fitter *f, const double *x)
{
    double sum = 0;
    for (int i = 0; i < f->count; i++)
        if (f->fold[i] != f->left_out) sum += sqrt(1 + pow(residual(f, x, i) / loss_scale, 2)) - 1;
    return sum;
}

static enum status step_of(struct fitter *f, const double *x, double *step, struct error *err)
{
    int rows = 0, numbers = f->active_count, room = f->count + numbers;
    double *design = TAKE(f->arena, room * numbers, double),
           *observed = TAKE(f->arena, room, double), *deviation = TAKE(f->arena, room, double);
    for (int i = 0; i < f->count; i++) {
        if (f->fold[i] == f->left_out) continue;
        double here = residual(f, x, i);
        for (int k = 0; k < numbers; k++) {
            double moved[PRODUCT_NUMBERS];
            for (int n = 0; n < numbers; n++) moved[n] = x[n] + (n == k ? difference : 0);
            design[rows * numbers + k] = (residual(f, moved, i) - here) / difference;
        }
        observed[rows] = -here;
        deviation[rows++] = sqrt(sqrt(1 + pow(here / loss_scale, 2)));
    }
    for (int k = 0; k < numbers; k++, rows++) {
        for (int n = 0; n < numbers; n++) design[rows * numbers + n] = n == k ? ridge : 0;
        observed[rows] = 0, deviation[rows] = 1;
    }
    struct solution s;
    TRY(least_squares(&s, rows, numbers, design, observed, deviation, f->arena, err));
    for (int k = 0; k < numbers; k++) step[k] = s.x[k];
    return OK;
}

// From x to the least loss without one fold's samples (-1: with all).
static enum status search(struct fitter *f, int left_out, double *x, struct error *err)
{
    f->left_out = left_out;
    double best = loss(f, x), moved = 1;
    for (int steps = 0; steps < STEPS_MAX && moved > small_step; steps++) {
        double step[PRODUCT_NUMBERS], next[PRODUCT_NUMBERS], share = 1, reached = INFINITY;
        TRY(step_of(f, x, step, err));
        for (int halved = 0; halved < HALVINGS_MAX && !(reached < best); halved++, share /= 2) {
            for (int k = 0; k < f->active_count; k++) next[k] = x[k] + share * step[k];
            reached = loss(f, next);
        }
        if (!(reached < best)) return OK;
        moved = best - reached, best = reached;
        for (int k = 0; k < f->active_count; k++) x[k] = next[k];
    }
    return OK;
}

// ---- shapes

static int compare_shapes(const void *a, const void *b)
{
    const struct product_sample *x = *(const struct product_sample *const *)a,
                                *y = *(const struct product_sample *const *)b;
    if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
    return x->columns < y->columns ? -1 : x->columns > y->columns;
}

// Assigns neighbouring shapes to different folds.
static int share_out(const struct product_sample *samples, int count, int *fold,
                     struct arena *arena)
{
    const struct product_sample **sorted = TAKE(arena, count, const struct product_sample *);
    int shapes = 0;
    for (int i = 0; i < count; i++) sorted[i] = &samples[i];
    qsort(sorted, (size_t)count, sizeof *sorted, compare_shapes);
    for (int i = 0; i < count; i++) {
        shapes += i == 0 || compare_shapes(&sorted[i - 1], &sorted[i]) != 0;
        fold[sorted[i] - samples] = (shapes - 1) % FOLDS;
    }
    return shapes;
}

struct product_errors products_errors(const struct product_sample *samples, int count,
                                      const struct product_conditions *conditions,
                                      const struct gpu_costs *gpu,
                                      const struct precision_costs *rates)
{
    struct product_errors sum = {0};
    int long_ones = 0;
    for (int i = 0; i < count; i++) {
        const struct product_sample *s = &samples[i];
        double error = fabs(predicted_s(s, conditions, gpu, rates) / s->seconds - 1);
        sum.all += error / count;
        if (s->rows >= LONG_ROWS) sum.long_ones += error, long_ones++;
    }
    sum.long_ones = long_ones ? sum.long_ones / long_ones : 0;
    return sum;
}

// For the samples left out of a fit, weighted as parts of all.
static void add_errors(struct fitter *f, const double *x, int left_out, int long_count,
                       struct product_errors *sum)
{
    struct product_sample *own = TAKE(f->arena, f->count, struct product_sample);
    int count = 0, long_ones = 0;
    for (int i = 0; i < f->count; i++)
        if (f->fold[i] == left_out) {
            long_ones += f->samples[i].rows >= LONG_ROWS;
            own[count++] = f->samples[i];
        }
    put_numbers(f, x);
    struct product_errors e = products_errors(own, count, &f->conditions, &f->gpu, &f->rates);
    sum->all += e.all * count / f->count;
    if (long_count) sum->long_ones += e.long_ones * long_ones / long_count;
}

static bool can_begin(const struct gpu_costs *gpu, const struct precision_costs *rates)
{
    struct gpu_costs g = *gpu;
    struct precision_costs r = *rates;
    for (int k = 0; k <= PRODUCT_LAUNCH; k++)
        if (k != PRODUCT_SQUARE && !(number_of(&g, &r, k)->value > 0)) return false;
    return gpu->processors.value > 0;
}

static void choose_numbers(struct fitter *f, bool alone)
{
    bool zeros = false;
    for (int i = 0; i < f->count; i++) zeros |= f->samples[i].zeros;
    f->active_count = 0, f->conditions = (struct product_conditions){1, 1};
    for (int k = 0; k < PRODUCT_NUMBERS; k++) {
        bool fitted = k == PRODUCT_LONG     ? alone
                      : k == PRODUCT_ZEROS  ? zeros
                      : k == PRODUCT_SQUARE ? f->rates.product_square_tile_share.value > 0
                                            : true;
        if (fitted) f->active[f->active_count++] = (enum product_number)k;
    }
}

static double rounded(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.3e", x);
    return strtod(text, NULL);
}

// x: found with all samples; kept[i]: without those of fold i.
static void put_intervals(const struct fitter *f, const double *x, double (*kept)[PRODUCT_NUMBERS],
                          int folds, struct product_fit *fit)
{
    for (int k = 0; k < f->active_count; k++) {
        double mean = 0, scatter = 0, value = rounded(exp(x[k]));
        for (int i = 0; i < folds; i++) mean += kept[i][k] / folds;
        for (int i = 0; i < folds; i++) scatter += pow(kept[i][k] - mean, 2);
        double reach = fmin(reach_max, student_quantile(0.95, folds - 1) *
                                           sqrt(scatter * (folds - 1) / folds));
        struct estimate *e = &fit->numbers[f->active[k]];
        *e =
            estimate_fitted(value, rounded(value * exp(-reach)), rounded(value * exp(reach)), NULL);
        if (f->active[k] == PRODUCT_SQUARE)
            e->value = fmin(1, e->value), e->low = fmin(1, e->low), e->high = fmin(1, e->high);
    }
}

bool products_can_fit(const struct product_sample *samples, int count, const struct gpu_costs *gpu,
                      const struct precision_costs *rates, struct arena *arena)
{
    return can_begin(gpu, rates) &&
           share_out(samples, count, TAKE(arena, count, int), arena) >= SHAPES_MIN;
}

static enum status fit_numbers(struct fitter *f, struct product_fit *fit, struct error *err)
{
    double x[PRODUCT_NUMBERS], kept[FOLDS][PRODUCT_NUMBERS];
    int long_count = 0, folds = fit->shape_count < FOLDS ? fit->shape_count : FOLDS;
    for (int k = 0; k < f->active_count; k++) x[k] = log(*value_of(f, k));
    TRY(search(f, -1, x, err));
    put_numbers(f, x);
    fit->fitted = products_errors(f->samples, f->count, &f->conditions, &f->gpu, &f->rates);
    for (int i = 0; i < f->count; i++) long_count += f->samples[i].rows >= LONG_ROWS;
    for (int i = 0; i < folds; i++) {
        for (int k = 0; k < f->active_count; k++) kept[i][k] = x[k];
        TRY(search(f, i, kept[i], err));
        add_errors(f, kept[i], i, long_count, &fit->kept_back);
    }
    put_intervals(f, x, kept, folds, fit);
    return OK;
}

enum status products_fit(struct product_fit *fit, const struct product_sample *samples, int count,
                         bool alone, const struct gpu_costs *gpu,
                         const struct precision_costs *rates, struct arena *arena,
                         struct error *err)
{
    int *fold = TAKE(arena, count, int);
    struct fitter f = {.samples = samples,
                       .fold = fold,
                       .count = count,
                       .gpu = *gpu,
                       .rates = *rates,
                       .arena = arena};
    const struct product_fit none = {.sample_count = count,
                                     .shape_count = share_out(samples, count, fold, arena)};
    *fit = none;
    if (fit->shape_count < SHAPES_MIN)
        return refuse(err, "%s: expected products of at least %d shapes, found %d", gpu->gpu,
                      SHAPES_MIN, fit->shape_count);
    if (!can_begin(gpu, rates))
        return refuse(err,
                      "%s: expected start values of processors, product_launch_s and the three "
                      "product rates, found one missing",
                      gpu->gpu);
    choose_numbers(&f, alone);
    TRY(fit_numbers(&f, fit, err));
    if (!alone || fit->numbers[PRODUCT_LONG].low > 1) return OK;
    f.gpu = *gpu, f.rates = *rates, *fit = none;
    choose_numbers(&f, false);
    return fit_numbers(&f, fit, err);
}

struct product_conditions products_conditions(const struct product_fit *fit)
{
    double slower = fit->numbers[PRODUCT_LONG].value, faster = fit->numbers[PRODUCT_ZEROS].value;
    return (struct product_conditions){slower > 0 ? slower : 1, faster > 0 ? faster : 1};
}

void products_put(const struct product_fit *fit, struct gpu_costs *gpu,
                  struct precision_costs *rates, const char *source)
{
    for (int k = 0; k <= PRODUCT_LAUNCH; k++) {
        if (!(fit->numbers[k].value > 0)) continue;
        struct estimate *e = number_of(gpu, rates, k);
        *e = fit->numbers[k];
        e->source = source;
    }
}

// Gauss-Newton on logarithms, steps halved until they help. A sample weighs as by the loss
// 2 s^2 (sqrt(1 + (r / s)^2) - 1), s = 5 %: a library's unlucky choice of a kernel must not pull
// the numbers. Intervals: the samples of a shape of weights err together, so the numbers' scatter
// is taken from fits that leave out a tenth of the shapes each (delete-a-group jackknife).
#include "calibrate/fit/products.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/fit/least_squares.h"
#include "data/numbers/intervals.h"
#include "formulate/price/price.h"

enum { STEPS_MAX = 60, HALVINGS_MAX = 12, FOLDS = 10, SHAPES_MIN = 8, LONG_ROWS = 1024 };
static const double loss_scale = 0.05, difference = 1e-3, small_step = 1e-7,
                    reach_max = 2.303; // what samples do not tell apart is open by a factor of 10

struct fitter {
    const struct product_sample *samples;
    const int *fold; // of each sample
    int count, left_out;
    struct gpu_costs gpu;
    struct precision_costs rates;
    struct arena *arena;
};

static struct estimate *number_of(struct gpu_costs *gpu, struct precision_costs *rates, int number)
{
    switch (number) {
    case PRODUCT_TILES: return &rates->product_tile_flop_per_s;
    case PRODUCT_FLOP: return &rates->product_flop_per_s;
    case PRODUCT_BYTES: return &rates->product_bytes_per_s;
    default: return &gpu->product_launch_s;
    }
}

static void put_numbers(struct fitter *f, const double *x)
{
    for (int k = 0; k < PRODUCT_NUMBERS; k++) number_of(&f->gpu, &f->rates, k)->value = exp(x[k]);
}

static double residual(struct fitter *f, const double *x, int sample)
{
    const struct product_sample *s = &f->samples[sample];
    put_numbers(f, x);
    return log(product_kernel_s(&f->gpu, &f->rates, s->rows, s->columns, s->depth) / s->seconds);
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
    double *design = TAKE(f->arena, f->count * PRODUCT_NUMBERS, double),
           *observed = TAKE(f->arena, f->count, double),
           *deviation = TAKE(f->arena, f->count, double);
    int rows = 0;
    for (int i = 0; i < f->count; i++) {
        if (f->fold[i] == f->left_out) continue;
        double here = residual(f, x, i);
        for (int k = 0; k < PRODUCT_NUMBERS; k++) {
            double moved[PRODUCT_NUMBERS];
            for (int n = 0; n < PRODUCT_NUMBERS; n++) moved[n] = x[n] + (n == k ? difference : 0);
            design[rows * PRODUCT_NUMBERS + k] = (residual(f, moved, i) - here) / difference;
        }
        observed[rows] = -here;
        deviation[rows++] = sqrt(sqrt(1 + pow(here / loss_scale, 2)));
    }
    struct solution s;
    TRY(least_squares(&s, rows, PRODUCT_NUMBERS, design, observed, deviation, f->arena, err));
    for (int k = 0; k < PRODUCT_NUMBERS; k++) step[k] = s.x[k];
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
            for (int k = 0; k < PRODUCT_NUMBERS; k++) next[k] = x[k] + share * step[k];
            reached = loss(f, next);
        }
        if (!(reached < best)) return OK;
        moved = best - reached, best = reached;
        for (int k = 0; k < PRODUCT_NUMBERS; k++) x[k] = next[k];
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

// Neighbouring shapes into different folds.
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
                                      const struct gpu_costs *gpu,
                                      const struct precision_costs *rates)
{
    struct product_errors sum = {0};
    int long_ones = 0;
    for (int i = 0; i < count; i++) {
        const struct product_sample *s = &samples[i];
        double error =
            fabs(product_kernel_s(gpu, rates, s->rows, s->columns, s->depth) / s->seconds - 1);
        sum.all += error / count;
        if (s->rows >= LONG_ROWS) sum.long_ones += error, long_ones++;
    }
    sum.long_ones = long_ones ? sum.long_ones / long_ones : 0;
    return sum;
}

// Of the samples that a fit has left out; weighed as parts of all.
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
    struct product_errors e = products_errors(own, count, &f->gpu, &f->rates);
    sum->all += e.all * count / f->count;
    if (long_count) sum->long_ones += e.long_ones * long_ones / long_count;
}

static double rounded(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.3e", x);
    return strtod(text, NULL);
}

static bool can_begin(const struct gpu_costs *gpu, const struct precision_costs *rates)
{
    struct gpu_costs g = *gpu;
    struct precision_costs r = *rates;
    for (int k = 0; k < PRODUCT_NUMBERS; k++)
        if (!(number_of(&g, &r, k)->value > 0)) return false;
    return gpu->processors.value > 0;
}

bool products_can_fit(const struct product_sample *samples, int count, const struct gpu_costs *gpu,
                      const struct precision_costs *rates, struct arena *arena)
{
    return can_begin(gpu, rates) &&
           share_out(samples, count, TAKE(arena, count, int), arena) >= SHAPES_MIN;
}

enum status products_fit(struct product_fit *fit, const struct product_sample *samples, int count,
                         const struct gpu_costs *gpu, const struct precision_costs *rates,
                         struct arena *arena, struct error *err)
{
    int *fold = TAKE(arena, count, int);
    struct fitter f = {samples, fold, count, -1, *gpu, *rates, arena};
    double x[PRODUCT_NUMBERS], kept[FOLDS][PRODUCT_NUMBERS], mean[PRODUCT_NUMBERS] = {0};
    *fit = (struct product_fit){.sample_count = count};
    fit->shape_count = share_out(samples, count, fold, arena);
    if (fit->shape_count < SHAPES_MIN)
        return fail(err, BAD_INPUT, "%s: expected products of at least %d shapes, found %d",
                    gpu->gpu, SHAPES_MIN, fit->shape_count);
    if (!can_begin(gpu, rates))
        return fail(err, BAD_INPUT,
                    "%s: expected processors, product_launch_s and the three product rates where "
                    "the search begins, found one of them not stated",
                    gpu->gpu);
    for (int k = 0; k < PRODUCT_NUMBERS; k++) x[k] = log(number_of(&f.gpu, &f.rates, k)->value);
    TRY(search(&f, -1, x, err));
    put_numbers(&f, x);
    fit->fitted = products_errors(samples, count, &f.gpu, &f.rates);
    int long_count = 0;
    for (int i = 0; i < count; i++) long_count += samples[i].rows >= LONG_ROWS;
    int folds = fit->shape_count < FOLDS ? fit->shape_count : FOLDS;
    for (int i = 0; i < folds; i++) {
        for (int k = 0; k < PRODUCT_NUMBERS; k++) kept[i][k] = x[k];
        TRY(search(&f, i, kept[i], err));
        add_errors(&f, kept[i], i, long_count, &fit->kept_back);
        for (int k = 0; k < PRODUCT_NUMBERS; k++) mean[k] += kept[i][k] / folds;
    }
    for (int k = 0; k < PRODUCT_NUMBERS; k++) {
        double scatter = 0, value = rounded(exp(x[k]));
        for (int i = 0; i < folds; i++) scatter += pow(kept[i][k] - mean[k], 2);
        double reach = fmin(reach_max, student_quantile(0.95, folds - 1) *
                                           sqrt(scatter * (folds - 1) / folds));
        fit->numbers[k] = (struct estimate){.value = value,
                                            .low = rounded(value * exp(-reach)),
                                            .high = rounded(value * exp(reach)),
                                            .origin = ORIGIN_FITTED};
    }
    return OK;
}

void products_put(const struct product_fit *fit, struct gpu_costs *gpu,
                  struct precision_costs *rates, const char *source)
{
    for (int k = 0; k < PRODUCT_NUMBERS; k++) {
        struct estimate *e = number_of(gpu, rates, k);
        *e = fit->numbers[k];
        e->source = source;
    }
}

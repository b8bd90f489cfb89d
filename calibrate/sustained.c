// Passes of blocks without a rest over the same passes after one: what power and heat take from the
// clocks in a training step, where the kernels of a device were timed one by one.

#include "calibrate/calibrate.h"

static bool is_twin(const struct layer_check *a, const struct layer_check *b)
{
    bool same = a->kind == b->kind && a->pass == b->pass &&
                a->sample->precision == b->sample->precision &&
                !sample_compare_shapes(&a->model->shape, &b->model->shape);
    for (int i = 0; same && i < a->sample->dimension_count; i++)
        same = a->sample->dimensions[i] == b->sample->dimensions[i];
    return same;
}

static const struct layer_check *twin_of(const struct layer_fits *f, const struct layer_check *k)
{
    for (int i = 0; i < f->check_count; i++)
        if (is_twin(&f->checks[i], k)) return &f->checks[i];
    return NULL;
}

void sustained_fit(struct layer_fits *f, struct arena *arena)
{
    double *value = TAKE(arena, f->load_count, double), *low = TAKE(arena, f->load_count, double),
           *high = TAKE(arena, f->load_count, double);
    for (int back = 0; back < 2; back++) {
        struct load_fit *to = &f->sustained[back];
        *to = (struct load_fit){.factor = {1, 1, 1}};
        for (int i = 0; i < f->load_count; i++) {
            const struct layer_check *k = &f->loads[i], *twin = twin_of(f, k);
            if (!twin || k->kind != LAYER_BLOCK || k->pass != (enum layer_pass)back) continue;
            value[to->count] = k->point.seconds / twin->point.seconds;
            low[to->count] = k->point.low / twin->point.high;
            high[to->count++] = k->point.high / twin->point.low;
            if (k->sample->busy_devices > to->busy_devices)
                to->busy_devices = k->sample->busy_devices;
        }
        if (!to->count) continue;
        double middle = median_of(value, to->count);
        to->factor = (struct interval){middle, fmin(middle, median_of(low, to->count)),
                                       fmax(middle, median_of(high, to->count))};
    }
}

struct interval sustained_factor(const struct load_fit *load, struct interval rested)
{
    const struct interval *x = &load->factor;
    double value = rested.value * x->value;
    double below = hypot(log(rested.value / rested.low), log(x->value / x->low)),
           above = hypot(log(rested.high / rested.value), log(x->high / x->value));
    return (struct interval){value, value * exp(-below), value * exp(above)};
}

// The numbers of products by shape, from samples. Where the base costs price products this way,
// those numbers must not remain next to measured ones.
#include "calibrate/calibrate.h"

// *alone: all of them were timed after a rest.
static int collect(struct product_sample *to, bool *alone, const struct samples *all,
                   enum precision precision, struct arena *arena)
{
    int count = 0;
    *alone = true;
    for (int i = 0; i < all->sample_count; i++) {
        const struct sample *s = &all->samples[i];
        if (s->kind != SAMPLE_GEMM || s->precision != precision || s->dimension_count != 3)
            continue;
        *alone = *alone && s->before == BEFORE_REST;
        to[count++] = (struct product_sample){.rows = (double)s->dimensions[0],
                                              .columns = (double)s->dimensions[1],
                                              .depth = (double)s->dimensions[2],
                                              .seconds = sample_median(s, arena).value};
    }
    return count;
}

// The form counts launches kernel by kernel, including a layer's overhead, the sum of those of the
// lines.
static void take_launches(struct gpu_costs *g, const struct calibration *c)
{
    const struct fit *small = c->kernels[KERNEL_ELEMENTWISE];
    g->layer_overhead_s = estimate_fitted(0, 0, 0, "launches are counted kernel by kernel");
    g->backward_overhead_s = (struct estimate){0};
    if (small)
        g->elementwise_launch_s = estimate_fitted(small->overhead_s.value, small->overhead_s.low,
                                                  small->overhead_s.high,
                                                  "overhead of the memory's line");
}

static enum status refit(struct calibration *c, struct gpu_costs *g, struct precision_costs *p,
                         struct arena *arena, struct error *err)
{
    const struct samples *all = &c->inputs->all;
    struct product_sample *samples = TAKE(arena, all->sample_count + 1, struct product_sample);
    bool alone;
    int count = collect(samples, &alone, all, p->precision, arena);
    struct product_fit fit;
    if (!count) return OK;
    if (!products_can_fit(samples, count, g, p, arena)) {
        p->product_flop_per_s = (struct estimate){0}; // the measured line applies
        return OK;
    }
    TRY(products_fit(&fit, samples, count, alone, g, p, arena, err));
    take_launches(g, c);
    const char *source =
        arena_print(arena, "%d products of %d shapes; mean error of shapes kept back %.1f %%",
                    fit.sample_count, fit.shape_count, 100 * fit.kept_back.all);
    if (fit.numbers[PRODUCT_LONG].value > 0)
        source = arena_print(arena, "%s; a long product's FLOP takes %.3f times a short one's",
                             source, fit.numbers[PRODUCT_LONG].value);
    products_put(&fit, g, p, source);
    return OK;
}

enum status calibration_products(struct calibration *c, struct arena *arena, struct error *err)
{
    struct gpu_costs *g = (struct gpu_costs *)costs_find_gpu(&c->costs, c->gpu);
    for (int k = 0; g && k < g->precision_count; k++)
        if (g->precisions[k].product_flop_per_s.value > 0)
            TRY(refit(c, g, &g->precisions[k], arena, err));
    return OK;
}

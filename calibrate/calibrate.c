// Which lines are fitted (docs/FORMULAS.md, section 12); calibrate/costs_made.c derives costs from
// them.
#include "calibrate/calibrate.h"

static const double least_share_left = 0.1;

// Time without the memory traffic that the formulas price separately, the scores' of unfused
// attention. If less than a tenth of any sample would be left, nothing is subtracted.
static enum status fit_attention(struct fit **f, bool *apart, const struct inputs *in,
                                 enum kernel kernel, enum precision precision,
                                 const struct fit *memory, struct arena *arena, struct error *err)
{
    int count;
    struct fit_point *points;
    *f = NULL;
    TRY(kernel_points(&points, &count, in, kernel, precision, arena, err));
    if (!count) return OK;
    *apart = memory != NULL;
    for (int i = 0; i < count && memory; i++) {
        points[i].explained_s = points[i].sample->bytes / memory->rate.value;
        if (points[i].seconds - points[i].explained_s < least_share_left * points[i].seconds)
            *apart = false;
    }
    for (int i = 0; i < count && !*apart; i++) points[i].explained_s = 0;
    *f = TAKE(arena, 1, struct fit);
    points_sort(points, count);
    if (!(points[0].work < points[count - 1].work)) { // as a training step has it
        fit_one_size(*f, sample_kind_names[SAMPLE_ATTENTION], points, count, arena);
        return OK;
    }
    return fit_line(*f, in->all.document.path, sample_kind_names[SAMPLE_ATTENTION],
                    LINE_WITH_OVERHEAD, points, count, arena, err);
}

static enum status fit_precision(struct precision_fits *p, const struct calibration *c,
                                 struct arena *arena, struct error *err)
{
    const struct fit *forward = c->kernels[KERNEL_ELEMENTWISE],
                     *backward = c->kernels[KERNEL_ELEMENTWISE_BACKWARD];
    TRY(kernel_fit(&p->kernels[KERNEL_GEMM], c->inputs, KERNEL_GEMM, p->precision, 0, arena, err));
    double operands = p->kernels[KERNEL_GEMM] ? p->kernels[KERNEL_GEMM]->traffic_rate.value : 0;
    TRY(kernel_fit(&p->kernels[KERNEL_GEMM_DATA], c->inputs, KERNEL_GEMM_DATA, p->precision,
                   operands, arena, err));
    TRY(kernel_fit(&p->kernels[KERNEL_GEMM_WEIGHT], c->inputs, KERNEL_GEMM_WEIGHT, p->precision,
                   operands, arena, err));
    for (int k = KERNEL_GROUPED; k <= KERNEL_CAST; k++)
        TRY(kernel_fit(&p->kernels[k], c->inputs, (enum kernel)k, p->precision, 0, arena, err));
    for (int k = KERNEL_LOW_RANK; k <= KERNEL_LOW_RANK_BACK; k++)
        TRY(kernel_fit(&p->kernels[k], c->inputs, (enum kernel)k, p->precision, 0, arena, err));
    TRY(fit_attention(&p->kernels[KERNEL_ATTENTION], &p->softmax_apart, c->inputs, KERNEL_ATTENTION,
                      p->precision, forward, arena, err));
    return fit_attention(&p->kernels[KERNEL_ATTENTION_BACKWARD], &p->backward_apart, c->inputs,
                         KERNEL_ATTENTION_BACKWARD, p->precision, backward ? backward : forward,
                         arena, err);
}

static enum status fit_all(struct calibration *c, struct arena *arena, struct error *err)
{
    const struct samples *all = &c->inputs->all;
    for (int k = KERNELS_OF_PRECISION; k < KERNEL_COUNT; k++)
        TRY(kernel_fit(&c->kernels[k], c->inputs, (enum kernel)k, PRECISION_COUNT, 0, arena, err));
    // If only norms or copies show how fast memory is, they are used.
    if (!c->kernels[KERNEL_ELEMENTWISE]) c->kernels[KERNEL_ELEMENTWISE] = c->kernels[KERNEL_NORM];
    if (!c->kernels[KERNEL_ELEMENTWISE_BACKWARD])
        c->kernels[KERNEL_ELEMENTWISE_BACKWARD] = c->kernels[KERNEL_NORM_BACKWARD];
    if (!c->kernels[KERNEL_ELEMENTWISE]) c->kernels[KERNEL_ELEMENTWISE] = c->kernels[KERNEL_COPY];
    for (int precision = 0; precision < PRECISION_COUNT; precision++) {
        bool present = false;
        for (int i = 0; i < all->sample_count; i++)
            for (int k = 0; k < KERNELS_OF_PRECISION; k++)
                present |= (int)all->samples[i].precision == precision &&
                           kernel_has((enum kernel)k, &all->samples[i]);
        if (!present) continue;
        struct precision_fits *p = &c->precisions[c->precision_count++];
        p->precision = (enum precision)precision;
        TRY(fit_precision(p, c, arena, err));
    }
    return links_fit(&c->links, c->inputs, arena, err);
}

static bool has_anything(const struct calibration *c)
{
    bool any = c->precision_count > 0 || c->links.class_count > 0 ||
               c->inputs->all.quantity_count > 0;
    for (int k = 0; k < KERNEL_COUNT; k++) any = any || c->kernels[k];
    return any;
}

static const char *what_is_missing(const struct samples *all)
{
    for (int i = 0; i < all->sample_count; i++)
        if (all->samples[i].kind == SAMPLE_LAYER)
            return ": samples of whole layers next to samples of their kernels (plumbline "
                   "measure, or import trace --format operators of the same run), with --model";
    return all->sample_count ? ": each kind was measured at one size" : ": it has none";
}

enum status calibrate(struct calibration *c, const struct inputs *inputs,
                      const struct calibrate_settings *settings, struct arena *arena,
                      struct error *err)
{
    *c = (struct calibration){.inputs = inputs,
                              .gpu = settings->name ? settings->name : inputs->all.machine.gpu};
    TRY(fit_all(c, arena, err));
    if (!has_anything(c))
        return refuse(err, "%s: no samples that a cost follows from%s", inputs->all.document.path,
                      what_is_missing(&inputs->all));
    calibration_costs(c, settings, arena);
    return calibration_products(c, arena, err);
}

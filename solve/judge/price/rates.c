// Rates of a GPU that the judge picks by what runs on it (docs/FORMULAS.md, section 3).
#include "solve/judge/price/verify_price.h"

const struct precision_costs *judged_wide_rates(const struct price_audit *a, int group)
{
    const struct precision_costs *wide = costs_find_precision(gpu_of(a, group), BF16);
    return precision_is_narrow(a->problem->job.precision) && wide ? wide : rates_of(a, group);
}

// Over context ranks attention goes step by step, where the costs know a step.
static long double vendor_rate(const struct precision_costs *r, int context, bool back)
{
    long double forward = r->attention_flop_per_s.value, step = r->ring_attention_flop_per_s.value;
    if (context > 1 && step > 0)
        return back ? estimate_or(&r->backward_ring_attention_flop_per_s, step) : step;
    return back ? estimate_or(&r->backward_attention_flop_per_s, forward) : forward;
}

static const struct estimate *share_of_kernel(const struct gpu_costs *gpu,
                                              enum attention_kernel kernel)
{
    if (kernel == ATTENTION_MAKER_2024) return &gpu->earlier_attention_share;
    return kernel == ATTENTION_TRITON ? &gpu->triton_attention_share : &gpu->open_attention_share;
}

// How wide a head is to a kernel: to Triton's, as to FlashAttention 1, a power of two, to
// FlashAttention-2 a whole number of 32 values.
static int64_t width_in_kernel(enum attention_kernel kernel, int64_t widest)
{
    int64_t width = 16;
    if (kernel == ATTENTION_FLASH_2) return (widest + 31) / 32 * 32;
    while (width < widest) width += width;
    return width;
}

// Of what such a kernel multiplies, keys by queries and scores by values, the head's own part.
static long double own_part(const struct price_audit *a, enum attention_kernel kernel)
{
    const struct shape *s = &a->problem->model.shape;
    if (s->heads == 0 || kernel == ATTENTION_MAKER_2024) return 1;
    int64_t keys = s->head_width, values = (int64_t)(a->summed / s->heads);
    if (keys == 0 || values == 0) return 1;
    return (keys + values) / (2.0L * width_in_kernel(kernel, keys > values ? keys : values));
}

// A fused attention library other than the GPU vendor's newest reaches a share of its rates.
long double judged_attention_rate(const struct price_audit *a, int group, bool back)
{
    const struct gpu_costs *gpu = gpu_of(a, group);
    long double fastest = vendor_rate(rates_of(a, group), layout_of(a)->context, back) *
                          judged_filled_arrays(a, group, back);
    enum attention_kernel kernel = a->problem->job.attention_kernel;
    if (!layout_of(a)->fused_attention || kernel == ATTENTION_MAKER) return fastest;
    return fastest * estimate_or(share_of_kernel(gpu, kernel), 1) * own_part(a, kernel);
}

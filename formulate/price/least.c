// The least time of an iteration on machines of one kind of device with arrays, whatever the
// layout: what its layers compute, spread evenly over all devices. docs/FORMULAS.md 24, PROOFS 14.

#include "formulate/price/pricing.h"

struct least_run {
    real layers, tokens, times;             // tokens of a sequence
    real attention, attention_back, memory; // FLOP and bytes of a sequence
    bool trained;
};

struct least_degree {
    int64_t tensor;
    struct least_products { // [run]; of one token
        struct product of[PRODUCTS_MAX];
        int count;
    } * runs;
};

struct least_work {
    const struct problem *problem;
    struct least_run *runs;
    struct least_degree *degrees;
    int degree_count;
    real sequences, value_bytes;
};

// ---- the model's work

static void add_degree(struct least_work *w, int64_t tensor, struct arena *arena)
{
    struct problem *one = TAKE_COPY(arena, w->problem, 1);
    struct layout *l = &one->job.layout;
    int runs = one->model.run_count;
    *l = (struct layout){.tensor = (int)tensor,
                         .context = 1,
                         .data = 1,
                         .pipeline = 1,
                         .virtual_stages = 1,
                         .micro_batch = 1,
                         .slice_count = 1,
                         .fused_attention = l->fused_attention};
    struct pricing x = pricing_of(one, NULL, arena), own;
    struct least_degree *d = &w->degrees[w->degree_count++];
    *d = (struct least_degree){tensor, TAKE(arena, runs, struct least_products)};
    for (int i = 0; i < runs; i++) {
        const struct layer_run *run = &one->model.runs[i];
        const struct pricing *of = pricing_of_run(&x, run, &own);
        d->runs[i].count = products_of(of, run, 1, d->runs[i].of);
        if (tensor > 1) continue;
        struct slice slice = slice_of(of, 0);
        struct layer_work work = work_of_layer(of, run, &slice);
        w->runs[i] = (struct least_run){(real)run->count, slice.tokens,        times_of(of, run),
                                        work.attention,   work.attention_back, work.memory,
                                        !run->frozen};
    }
}

struct least_work *price_least_work(const struct problem *p, struct arena *arena)
{
    struct least_work *w = TAKE(arena, 1, struct least_work);
    int64_t heads = p->model.shape.heads;
    *w = (struct least_work){.problem = p,
                             .runs = TAKE(arena, p->model.run_count, struct least_run),
                             .degrees = TAKE(arena, heads, struct least_degree),
                             .sequences = (real)p->job.global_batch,
                             .value_bytes = precision_bytes(p->job.precision)};
    for (int64_t t = 1; t <= heads; t++)
        if (heads % t == 0) add_degree(w, t, arena);
    return w;
}

// ---- on a device

struct least_device {
    const struct matrix_arrays *arrays;
    real flop_per_s, bytes_per_s, memory_bytes_per_s, share, share_back, value_bytes;
};

static real least_traffic(const struct least_device *d, real once, real written, real depth)
{
    real values = d->arrays->buffer_bytes / d->value_bytes;
    return values > 0 ? fmaxl(once, 2 * d->value_bytes * written * depth / sqrtl(values)) : once;
}

// A token of many, which share the filling of arrays and the weights' traffic.
static real streamed_s(const struct least_device *d, real columns, real depth, real count)
{
    const struct matrix_arrays *a = d->arrays;
    real blocks = count * pieces(depth, a->rows) * pieces(columns, a->columns), least = INFINITY,
         e = d->value_bytes;
    for (int parts = 1; parts <= 4; parts *= 2)
        least = fminl(least, pieces(blocks * parts, a->units) / parts);
    return fmaxl(least / a->clock_hz,
                 count * least_traffic(d, e * (depth + columns), columns, depth) / d->bytes_per_s);
}

// Of its gradient of weights, where tokens are the depth: blocks of them fill the arrays' rows.
static real learned_s(const struct least_device *d, real columns, real depth, real count)
{
    const struct matrix_arrays *a = d->arrays;
    real cycles = count * pieces(depth, a->columns) *
                  (columns + 2 * (real)a->rows + (real)a->columns - 2) / (a->rows * a->units);
    return fmaxl(cycles / a->clock_hz,
                 count * least_traffic(d, d->value_bytes * (columns + depth), columns * depth, 1) /
                     d->bytes_per_s);
}

static real least_products_s(const struct least_device *d, const struct product *p, bool trained)
{
    if (p->of_experts) // the arrays full
        return (trained ? 3 : 1) * 2 * p->count * p->rows * p->columns * p->depth / d->flop_per_s;
    real forward = streamed_s(d, p->columns, p->depth, p->count);
    return trained ? forward + streamed_s(d, p->depth, p->columns, p->count) +
                         learned_s(d, p->columns, p->depth, p->count)
                   : forward;
}

// Of a sequence. Every pass of a layer is rounded to whole nanoseconds; it is no shorter than its
// products take to fill the arrays.
static real least_run_s(const struct least_work *w, const struct least_device *d, int degree,
                        int run)
{
    const struct least_products *of = &w->degrees[degree].runs[run];
    const struct least_run *r = &w->runs[run];
    real products = 0, filled = 0,
         filling = (2 * (real)d->arrays->rows + (real)d->arrays->columns - 2) / d->arrays->clock_hz;
    for (int i = 0; i < of->count; i++) {
        const struct product *p = &of->of[i];
        products += (real)w->degrees[degree].tensor * least_products_s(d, p, r->trained);
        filled += p->of_experts ? 0 : filling;
    }
    real attention = r->attention / (d->flop_per_s * d->share) +
                     (r->trained ? r->attention_back / (d->flop_per_s * d->share_back) : 0),
         memory = (r->trained ? 3 : 1) * r->memory / d->memory_bytes_per_s,
         seconds = r->times * r->tokens * products + attention + memory;
    return filled > 0.5e-9L ? r->layers * seconds * (1 - 0.5e-9L / filled) : 0;
}

double price_least_s(const struct least_work *w, const struct gpu_costs *gpu, int64_t devices)
{
    struct pricing x = pricing_of(w->problem, NULL, NULL);
    x.gpus[0] = gpu;
    const struct precision_costs *rates = costs_find_precision(gpu, w->problem->job.precision);
    if (!rates || !(gpu->arrays.units > 0)) return 0;
    struct least_device d = {&gpu->arrays,
                             2 * (real)gpu->arrays.units * gpu->arrays.rows * gpu->arrays.columns *
                                 gpu->arrays.clock_hz,
                             rates->product_bytes_per_s.value,
                             gpu->memory_bytes_per_s.value,
                             array_attention_share(&x, 0, false),
                             array_attention_share(&x, 0, true),
                             w->value_bytes};
    real least = INFINITY;
    for (int k = 0; k < w->degree_count && w->degrees[k].tensor <= devices; k++) {
        real sum = 0;
        for (int i = 0; i < w->problem->model.run_count; i++) sum += least_run_s(w, &d, k, i);
        least = fminl(least, sum);
    }
    return (double)(least * w->sequences / (real)devices * (1 - 1e-12L));
}

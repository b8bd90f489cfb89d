// Which lines are fitted, and what costs follow from them (docs/FORMULAS.md, section 12).
//   gemm, low rank   time = overhead + FLOP / rate
//   attention        time - memory traffic / memory rate = overhead + FLOP / rate, as the formulas price the traffic of
//                    unfused scores apart; where that leaves less than a tenth of some sample, nothing is taken off
//   memory           time = overhead + bytes / rate
//   empty blocks     time = blocks x layer overhead
// The overhead of a layer is what its calls cost beyond their work: four products, one attention, one set of
// elementwise parts; or the empty block's time, whichever is more.
#include "calibrate/calibrate.h"

#include <math.h>

#include "data/intervals.h"

static const double least_share_left = 0.1;
enum { PRODUCTS_PER_BLOCK = 4 };

static double work_of(const struct sample *s)
{
    switch (s->kind) {
    case SAMPLE_MEMORY: return s->bytes;
    case SAMPLE_OVERHEAD: return (double)s->dimensions[0];
    default: return s->flop;
    }
}

// The samples of one kind as points; precision PRECISION_COUNT takes every one.
static enum status take_points(struct fit_point **to, int *count, const struct samples *samples, enum sample_kind kind,
                               enum precision precision, struct arena *arena, struct error *err)
{
    struct fit_point *points = *to = TAKE(arena, samples->sample_count, struct fit_point);
    *count = 0;
    for (int i = 0; i < samples->sample_count; i++) {
        const struct sample *s = &samples->samples[i];
        if (s->kind != kind || (precision != PRECISION_COUNT && s->precision != precision)) continue;
        struct fit_point *p = &points[(*count)++];
        *p = (struct fit_point){.operation = s->operation, .work = work_of(s)};
        struct median m = sample_median(s, arena);
        p->seconds = m.value, p->low = m.low, p->high = m.high;
        if (!(p->seconds > 0))
            return fail(err, BAD_INPUT, "%s: samples[%d].seconds: expected a median above 0, found %g",
                        samples->document.path, i, p->seconds);
    }
    return OK;
}

static enum status fit_kind(struct fit *f, const struct samples *samples, enum sample_kind kind,
                            enum precision precision, struct arena *arena, struct error *err)
{
    int count;
    struct fit_point *points;
    TRY(take_points(&points, &count, samples, kind, precision, arena, err));
    return fit_line(f, samples->document.path, sample_kind_names[kind],
                    kind == SAMPLE_OVERHEAD ? LINE_THROUGH_ZERO : LINE_WITH_OVERHEAD, points, count, arena, err);
}

static enum status fit_attention(struct precision_fits *p, const struct samples *samples, double memory_bytes_per_s,
                                 struct arena *arena, struct error *err)
{
    int count, next = 0;
    struct fit_point *points;
    TRY(take_points(&points, &count, samples, SAMPLE_ATTENTION, p->precision, arena, err));
    p->softmax_apart = true;
    for (int i = 0; i < samples->sample_count; i++) {
        const struct sample *s = &samples->samples[i];
        if (s->kind != SAMPLE_ATTENTION || s->precision != p->precision) continue;
        struct fit_point *point = &points[next++];
        point->explained_s = s->bytes / memory_bytes_per_s;
        if (point->seconds - point->explained_s < least_share_left * point->seconds) p->softmax_apart = false;
    }
    for (int i = 0; i < count && !p->softmax_apart; i++) points[i].explained_s = 0;
    return fit_line(&p->attention, samples->document.path, sample_kind_names[SAMPLE_ATTENTION], LINE_WITH_OVERHEAD,
                    points, count, arena, err);
}

static enum status fit_all(struct calibration *c, const struct samples *samples, struct arena *arena, struct error *err)
{
    TRY(fit_kind(&c->memory, samples, SAMPLE_MEMORY, PRECISION_COUNT, arena, err));
    TRY(fit_kind(&c->blocks, samples, SAMPLE_OVERHEAD, PRECISION_COUNT, arena, err));
    c->precisions = TAKE(arena, PRECISION_COUNT, struct precision_fits);
    for (int precision = 0; precision < PRECISION_COUNT; precision++) {
        bool present = false;
        for (int i = 0; i < samples->sample_count; i++)
            present |= samples->samples[i].kind == SAMPLE_GEMM && (int)samples->samples[i].precision == precision;
        if (!present) continue;
        struct precision_fits *p = &c->precisions[c->precision_count++];
        p->precision = (enum precision)precision;
        TRY(fit_kind(&p->gemm, samples, SAMPLE_GEMM, p->precision, arena, err));
        TRY(fit_attention(p, samples, c->memory.rate.value, arena, err));
        TRY(fit_kind(&p->low_rank, samples, SAMPLE_LOW_RANK, p->precision, arena, err));
    }
    if (!c->precision_count)
        return fail(err, BAD_INPUT, "%s: gemm: no samples; a device without matrix products cannot be priced",
                    samples->document.path);
    return OK;
}

// ---- costs

static struct estimate assumed(double value, const char *source)
{
    return (struct estimate){.value = value, .low = value, .high = value, .origin = ORIGIN_ASSUMED, .source = source};
}

static struct estimate fitted(struct interval i, const struct fit *f, const struct samples *samples,
                              struct arena *arena)
{
    const char *source = arena_print(arena, "%d samples of %s (%.12s), weighted least squares, scatter %.2f",
                                     f->point_count, f->name, samples->document.sha256, f->scatter);
    return (struct estimate){.value = i.value, .low = i.low, .high = i.high, .origin = ORIGIN_FITTED, .source = source};
}

static struct estimate fitted_rate(const struct fit *f, const struct samples *samples, struct arena *arena)
{
    struct estimate e = fitted(f->rate, f, samples, arena);
    e.valid_low = f->points[0].work;
    e.valid_high = f->points[f->point_count - 1].work;
    return e;
}

// calls[i] times the overhead of fits[i]; half-widths add like independent errors.
static struct interval sum_overheads(const struct fit *const *fits, const int *calls, int count)
{
    struct interval sum = {0, 0, 0};
    double below = 0, above = 0;
    for (int i = 0; i < count; i++) {
        const struct interval *o = &fits[i]->overhead_s;
        sum.value += calls[i] * o->value;
        below += pow(calls[i] * (o->value - o->low), 2);
        above += pow(calls[i] * (o->high - o->value), 2);
    }
    sum.low = fmax(0, sum.value - sqrt(below));
    sum.high = sum.value + sqrt(above);
    return sum;
}

static struct estimate layer_overhead(const struct calibration *c, const struct samples *samples, struct arena *arena)
{
    // Of several precisions the first one's: the calls are the same.
    const struct fit *const parts[] = {&c->precisions[0].gemm, &c->precisions[0].attention, &c->memory};
    const int calls[] = {PRODUCTS_PER_BLOCK, 1, 1};
    struct interval sum = sum_overheads(parts, calls, ARRAY_LENGTH(parts));
    struct interval empty = {1 / c->blocks.rate.value, 1 / c->blocks.rate.high, 1 / c->blocks.rate.low};
    bool calls_cost_more = sum.value > empty.value;
    struct estimate e =
        fitted(calls_cost_more ? sum : empty, calls_cost_more ? &c->precisions[0].gemm : &c->blocks, samples, arena);
    if (calls_cost_more)
        e.source = arena_print(arena, "overheads of the fits: %d gemm, 1 attention, 1 memory (%.12s)",
                               PRODUCTS_PER_BLOCK, samples->document.sha256);
    return e;
}

static void make_costs(struct calibration *c, const struct samples *samples, const struct calibrate_settings *settings,
                       struct arena *arena)
{
    const char *name = settings->name ? settings->name : samples->machine.gpu;
    struct gpu_costs *g = TAKE(arena, 1, struct gpu_costs);
    g->gpu = name;
    g->precisions = TAKE(arena, c->precision_count, struct precision_costs);
    g->precision_count = c->precision_count;
    for (int i = 0; i < c->precision_count; i++) {
        const struct precision_fits *p = &c->precisions[i];
        g->precisions[i] = (struct precision_costs){
            .precision = p->precision,
            .gemm_flop_per_s = fitted_rate(&p->gemm, samples, arena),
            .attention_flop_per_s = fitted_rate(&p->attention, samples, arena),
            .low_rank_flop_per_s = fitted_rate(&p->low_rank, samples, arena),
        };
    }
    g->memory_bytes_per_s = fitted_rate(&c->memory, samples, arena);
    g->layer_overhead_s = layer_overhead(c, samples, arena);
    g->compression_overhead_s =
        fitted(c->precisions[0].low_rank.overhead_s, &c->precisions[0].low_rank, samples, arena);
    g->constant_bytes = assumed((double)settings->constant_bytes, "not measured: the process and its libraries");

    struct source *source = TAKE(arena, 1, struct source);
    *source = source_of("samples", &samples->document, settings->output, arena);
    c->costs =
        (struct costs){.name = name, .gpus = g, .gpu_count = 1, .document = {.sources = source, .source_count = 1}};
    c->costs.intra_efficiency = assumed(1, "links were not measured");
    for (int i = 0; i < NIC_KIND_COUNT; i++) c->costs.network_efficiency[i] = assumed(1, "links were not measured");
    c->costs.transfer_share[PART_LINK] = 1;
}

enum status calibrate(struct calibration *c, const struct samples *samples, const struct calibrate_settings *settings,
                      struct arena *arena, struct error *err)
{
    *c = (struct calibration){0};
    TRY(fit_all(c, samples, arena, err));
    make_costs(c, samples, settings, arena);
    return OK;
}

// Costs derived from the fits. The overhead of a layer's pass: four products (backward eight), one
// attention, one set of elementwise parts. docs/FORMULAS.md section 12.
#include "calibrate/calibrate.h"

#include <stdlib.h>
#include <string.h>

#include "data/base/names.h"
#include "data/inputs/cost_keys.h"

enum { PRODUCTS_PER_BLOCK = 4, ADAM_STATE_BYTES = 8, FP32_BYTES = 4 };

// ---- estimates from fits

static const char *source_of_fit(const struct calibration *c, const struct fit *f,
                                 struct arena *arena)
{
    const char *text = arena_print(
        arena, "%s of %s, %s; median residual %.1f %%, scatter %.2f",
        inputs_source(c->inputs, f->points, f->point_count, arena), f->name,
        f->points[0].work < f->points[f->point_count - 1].work ? "weighted least squares"
                                                               : "of one size",
        100 * f->residual, f->scatter);
    if (f->held_out > 0) text = arena_print(arena, "%s, held out %.1f %%", text, 100 * f->held_out);
    if (f->apart > 0)
        text = arena_print(arena, "%s; launches apart by %.1f %%", text, 100 * f->apart);
    if (f->notes.throttled_repetitions)
        text = arena_print(arena, "%s; %d of %d repetitions throttled", text,
                           f->notes.throttled_repetitions, f->notes.repetitions);
    return text;
}

static struct estimate fitted(const struct calibration *c, struct interval i, const struct fit *f,
                              struct arena *arena)
{
    return estimate_fitted(i.value, i.low, i.high, source_of_fit(c, f, arena));
}

// Leaves *to unchanged if nothing was measured.
static void take_rate(struct estimate *to, const struct calibration *c, const struct fit *f,
                      struct arena *arena)
{
    if (!f) return;
    *to = fitted(c, f->rate, f, arena);
    to->valid_low = f->points[0].work;
    to->valid_high = f->points[f->point_count - 1].work;
}

// A line without traffic means that none exists besides its rate, whatever other costs state.
static void take_traffic(struct estimate *to, const struct calibration *c, const struct fit *f,
                         struct arena *arena)
{
    if (!f) return;
    *to = (struct estimate){.origin = ORIGIN_FITTED};
    if (f->traffic_rate.value > 0) *to = fitted(c, f->traffic_rate, f, arena);
}

// calls[i] times the overhead of fits[i]; half-widths add like independent errors.
static struct interval sum_overheads(const struct fit *const *fits, const int *calls, int count)
{
    struct interval sum = {0, 0, 0};
    double below = 0, above = 0;
    for (int i = 0; i < count; i++) {
        if (!fits[i]) continue;
        const struct interval *o = &fits[i]->overhead_s;
        sum.value += calls[i] * o->value;
        below += pow(calls[i] * (o->value - o->low), 2);
        above += pow(calls[i] * (o->high - o->value), 2);
    }
    sum.low = fmax(0, sum.value - sqrt(below));
    sum.high = sum.value + sqrt(above);
    return sum;
}

// The cost of a pass's calls beyond their work, or the empty block's time, whichever is more.
static void take_overhead(struct estimate *to, const struct calibration *c,
                          const struct fit *const *parts, const int *calls, int count,
                          const struct fit *blocks, const char *what, struct arena *arena)
{
    struct interval sum = sum_overheads(parts, calls, count), empty = {0, 0, 0};
    if (!parts[0] && !blocks) return;
    if (blocks)
        empty =
            (struct interval){1 / blocks->rate.value, 1 / blocks->rate.high, 1 / blocks->rate.low};
    if (blocks && !(sum.value > empty.value)) {
        *to = fitted(c, empty, blocks, arena);
        return;
    }
    *to = fitted(c, sum, parts[0], arena);
    to->source =
        arena_print(arena, "overheads of the fits: %s; gemm from %s", what,
                    inputs_source(c->inputs, parts[0]->points, parts[0]->point_count, arena));
}

static void take_layer_overheads(struct gpu_costs *g, const struct calibration *c,
                                 struct arena *arena)
{
    // With several precisions, those of the first: the calls are the same.
    static const int calls[] = {PRODUCTS_PER_BLOCK, 1, 1},
                     calls_back[] = {PRODUCTS_PER_BLOCK, PRODUCTS_PER_BLOCK, 1, 1};
    static const struct precision_fits none;
    const struct precision_fits *p = c->precision_count ? &c->precisions[0] : &none;
    const struct fit *const parts[] = {p->kernels[KERNEL_GEMM], p->kernels[KERNEL_ATTENTION],
                                       c->kernels[KERNEL_ELEMENTWISE]};
    const struct fit *const back[] = {p->kernels[KERNEL_GEMM_DATA], p->kernels[KERNEL_GEMM_WEIGHT],
                                      p->kernels[KERNEL_ATTENTION_BACKWARD],
                                      c->kernels[KERNEL_ELEMENTWISE_BACKWARD]};
    take_overhead(&g->layer_overhead_s, c, parts, calls, ARRAY_LENGTH(parts),
                  c->kernels[KERNEL_EMPTY], "4 gemm, 1 attention, 1 memory", arena);
    if (back[0] && back[1])
        take_overhead(&g->backward_overhead_s, c, back, calls_back, ARRAY_LENGTH(back),
                      c->kernels[KERNEL_EMPTY],
                      "4 gemm for inputs, 4 for weights, 1 attention, 1 memory, all backward",
                      arena);
}

// ---- quantities

static int observations(double **values, const struct calibration *c, const char *name,
                        struct arena *arena)
{
    const struct samples *all = &c->inputs->all;
    int count = 0;
    for (int q = 0; q < all->quantity_count; q++)
        if (!strcmp(all->quantities[q].name, name)) count += all->quantities[q].value_count;
    *values = TAKE(arena, count, double);
    count = 0;
    for (int q = 0; q < all->quantity_count; q++)
        for (int i = 0; i < all->quantities[q].value_count; i++)
            if (!strcmp(all->quantities[q].name, name))
                (*values)[count++] = all->quantities[q].values[i];
    return count;
}

// The median of all observations of a name; false: there are none.
static bool take_quantity(struct estimate *to, const struct calibration *c, const char *name,
                          struct arena *arena)
{
    double *values;
    int count = observations(&values, c, name, arena);
    if (!count) return false;
    double median = median_of(values, count);
    *to = (struct estimate){
        .value = median,
        .low = values[0],
        .high = values[count - 1],
        .origin = ORIGIN_MEASURED,
        .source = arena_print(arena, "%s, median, least and greatest of %d observation%s (%.12s)",
                              name, count, count == 1 ? "" : "s", c->inputs->all.document.sha256)};
    return true;
}

// How fast the machine was when the samples were taken: of a small layer beside them, as of all
// times on a shared machine, the lower tenth. Without it runs are taken as they are.
static void take_yardstick(struct gpu_costs *g, const struct calibration *c, struct arena *arena)
{
    struct estimate *y = &g->kernels_yardstick_s, before = *y;
    double *sorted;
    int count = observations(&sorted, c, "yardstick_s", arena);
    for (int i = 0; i < c->inputs->all.sample_count && !count; i++)
        if (c->inputs->all.samples[i].kind == SAMPLE_LAYER) before = (struct estimate){0};
    *y = before;
    if (!count) return;
    qsort(sorted, (size_t)count, sizeof *sorted, compare_numbers);
    y->value = lower_tenth(sorted, count, 0.95, &y->low, &y->high);
    y->origin = ORIGIN_MEASURED;
    y->source = arena_print(arena, "yardstick_s, the lower tenth of %d (%.12s)", count,
                            c->inputs->all.document.sha256);
}

// Memory of libraries was observed with the workspace that trainers keep inside their allocator.
static void add_libraries(struct estimate *constant, const struct estimate *libraries,
                          const struct estimate *workspace, struct arena *arena)
{
    if (!libraries->source) return;
    constant->value += fmax(0, libraries->value - workspace->value);
    constant->low += fmax(0, libraries->low - workspace->high);
    constant->high += fmax(0, libraries->high - workspace->low);
    constant->low = fmin(constant->low, constant->value),
    constant->high = fmax(constant->high, constant->value);
    constant->source = arena_print(arena, "%s; %s%s", constant->source, libraries->source,
                                   workspace->source ? ", less the workspace" : "");
}

static void take_constants(struct gpu_costs *g, const struct calibration *c,
                           const struct calibrate_settings *settings, struct arena *arena)
{
    struct estimate libraries = {0}, workspace = {0};
    bool known = g->constant_bytes.value > 0;
    struct estimate process;
    take_quantity(&libraries, c, "library_bytes", arena);
    if (take_quantity(&workspace, c, "workspace_bytes", arena)) g->library_bytes = workspace;
    bool seen = take_quantity(&g->constant_bytes, c, "context_bytes", arena);
    // On processors a process that sends messages has more libraries than one that only computes.
    if (seen && calibration_of_processor(c) && take_quantity(&process, c, "process_bytes", arena) &&
        process.value > g->constant_bytes.value)
        g->constant_bytes = process;
    // A process with PyTorch was observed with all that it needs.
    if (take_quantity(&process, c, "torch_process_bytes", arena)) g->constant_bytes = process;
    else if (seen) add_libraries(&g->constant_bytes, &libraries, &workspace, arena);
    else if (!known)
        g->constant_bytes = estimate_assumed((double)settings->constant_bytes,
                                             "not measured: the process and its libraries");
    take_quantity(&g->communicator_bytes, c, "communicator_bytes", arena);
    take_yardstick(g, c, arena);
}

// ---- the rest of a device

void step_costs_put(struct gpu_costs *g, struct interval rate, const char *source)
{
    double known = 2 * ADAM_STATE_BYTES + 2 * FP32_BYTES, memory = g->memory_bytes_per_s.value;
    bool slower = memory / rate.value > known;
    g->step_bytes_per_value = g->step_bytes_per_s = (struct estimate){.origin = ORIGIN_FITTED};
    if (slower)
        g->step_bytes_per_value = estimate_fitted(memory / rate.value - known,
                                                  fmax(0, memory / rate.high - known),
                                                  fmax(0, memory / rate.low - known), source);
    else
        g->step_bytes_per_s =
            estimate_fitted(known * rate.value, known * rate.low, known * rate.high, source);
}

static void take_optimizer(struct gpu_costs *g, const struct calibration *c, struct arena *arena)
{
    const struct fit *f = c->kernels[KERNEL_OPTIMIZER];
    if (f && g->memory_bytes_per_s.value > 0)
        step_costs_put(g, f->rate, source_of_fit(c, f, arena));
}

// The slower direction: an offloaded step uses both.
static void take_host_link(struct gpu_costs *g, const struct calibration *c, struct arena *arena)
{
    const struct fit *there = c->kernels[KERNEL_TO_DEVICE], *back = c->kernels[KERNEL_TO_HOST];
    const struct fit *slower = !there                                 ? back
                               : !back                                ? there
                               : there->rate.value < back->rate.value ? there
                                                                      : back;
    take_rate(&g->host_link_bytes_per_s, c, slower, arena);
}

static struct precision_costs *find_or_add_precision(struct gpu_costs *g, enum precision precision)
{
    for (int i = 0; i < g->precision_count; i++)
        if (g->precisions[i].precision == precision) return &g->precisions[i];
    g->precisions[g->precision_count] = (struct precision_costs){.precision = precision};
    return &g->precisions[g->precision_count++];
}

static void take_precision(struct gpu_costs *g, const struct calibration *c,
                           const struct precision_fits *p, struct arena *arena)
{
    struct precision_costs *to = find_or_add_precision(g, p->precision);
    take_rate(&to->gemm_flop_per_s, c, p->kernels[KERNEL_GEMM], arena);
    take_rate(&to->attention_flop_per_s, c, p->kernels[KERNEL_ATTENTION], arena);
    take_rate(&to->backward_attention_flop_per_s, c, p->kernels[KERNEL_ATTENTION_BACKWARD], arena);
    take_rate(&to->data_gradient_flop_per_s, c, p->kernels[KERNEL_GEMM_DATA], arena);
    take_rate(&to->weight_gradient_flop_per_s, c, p->kernels[KERNEL_GEMM_WEIGHT], arena);
    take_rate(&to->grouped_flop_per_s, c, p->kernels[KERNEL_GROUPED], arena);
    take_rate(&to->backward_grouped_flop_per_s, c, p->kernels[KERNEL_GROUPED_BACKWARD], arena);
    take_rate(&to->ring_attention_flop_per_s, c, p->kernels[KERNEL_RING], arena);
    take_rate(&to->backward_ring_attention_flop_per_s, c, p->kernels[KERNEL_RING_BACKWARD], arena);
    take_rate(&to->cast_bytes_per_s, c, p->kernels[KERNEL_CAST], arena);
    take_traffic(&to->operand_bytes_per_s, c, p->kernels[KERNEL_GEMM], arena);
    take_rate(&to->low_rank_flop_per_s, c, p->kernels[KERNEL_LOW_RANK], arena);
    take_traffic(&to->weight_operand_bytes_per_s, c, p->kernels[KERNEL_GEMM_WEIGHT], arena);
    take_traffic(&to->low_rank_bytes_per_s, c, p->kernels[KERNEL_LOW_RANK], arena);
    take_rate(&to->low_rank_back_flop_per_s, c, p->kernels[KERNEL_LOW_RANK_BACK], arena);
    take_traffic(&to->low_rank_back_bytes_per_s, c, p->kernels[KERNEL_LOW_RANK_BACK], arena);
    if (!(to->gemm_flop_per_s.value > 0)) {
        g->precision_count--; // without products nothing can be priced
        return;
    }
    if (!(to->attention_flop_per_s.value > 0))
        to->attention_flop_per_s =
            estimate_assumed(to->gemm_flop_per_s.value, "not measured: as gemm_flop_per_s");
    if (!(to->low_rank_flop_per_s.value > 0))
        to->low_rank_flop_per_s =
            estimate_assumed(to->gemm_flop_per_s.value, "not measured: as gemm_flop_per_s");
}

// Every message is compressed once and decompressed once.
static struct interval mean_of(struct interval a, struct interval b)
{
    return (struct interval){(a.value + b.value) / 2, (a.low + b.low) / 2, (a.high + b.high) / 2};
}

static void take_gpu(struct gpu_costs *g, struct calibration *c,
                     const struct calibrate_settings *settings, struct arena *arena)
{
    take_rate(&g->memory_bytes_per_s, c, c->kernels[KERNEL_ELEMENTWISE], arena);
    for (int i = 0; i < c->precision_count; i++) take_precision(g, c, &c->precisions[i], arena);
    take_rate(&g->backward_memory_bytes_per_s, c, c->kernels[KERNEL_ELEMENTWISE_BACKWARD], arena);
    take_rate(&g->copy_bytes_per_s, c, c->kernels[KERNEL_COPY], arena);
    take_rate(&g->rotary_bytes_per_s, c, c->kernels[KERNEL_ROTARY], arena);
    take_rate(&g->dropout_bytes_per_s, c, c->kernels[KERNEL_DROPOUT], arena);
    take_rate(&g->backward_dropout_bytes_per_s, c, c->kernels[KERNEL_DROPOUT_BACKWARD], arena);
    take_rate(&g->top_k_values_per_s, c, c->kernels[KERNEL_TOP_K_COMPRESS], arena);
    take_rate(&g->top_k_back_values_per_s, c, c->kernels[KERNEL_TOP_K_DECOMPRESS], arena);
    take_rate(&g->quantise_values_per_s, c, c->kernels[KERNEL_QUANTISE_COMPRESS], arena);
    take_rate(&g->quantise_back_values_per_s, c, c->kernels[KERNEL_QUANTISE_DECOMPRESS], arena);
    take_layer_overheads(g, c, arena);
    const struct fit *low_rank = c->precision_count ? c->precisions[0].kernels[KERNEL_LOW_RANK]
                                                    : NULL;
    const struct fit *back = c->precision_count ? c->precisions[0].kernels[KERNEL_LOW_RANK_BACK]
                                                : NULL;
    if (low_rank)
        g->compression_overhead_s =
            fitted(c, back ? mean_of(low_rank->overhead_s, back->overhead_s) : low_rank->overhead_s,
                   low_rank, arena);
    take_constants(g, c, settings, arena);
    take_optimizer(g, c, arena);
    take_host_link(g, c, arena);
}

// ---- the document

// With room for one more GPU, and in each for every precision.
static struct costs begin_costs(const struct calibrate_settings *settings, const char *gpu,
                                struct arena *arena)
{
    if (!settings->base) {
        struct costs c = {.name = gpu, .gpus = TAKE(arena, 1, struct gpu_costs)};
        c.intra_efficiency = estimate_assumed(1, "links were not measured");
        for (int i = 0; i < NIC_KIND_COUNT; i++)
            c.network_efficiency[i] = estimate_assumed(1, "links were not measured");
        c.transfer_share[PART_LINK] = 1;
        return c;
    }
    struct costs c = costs_copy(settings->base, arena);
    c.gpus =
        arena_grow(arena, c.gpus, (size_t)c.gpu_count, (size_t)c.gpu_count + 1, sizeof *c.gpus);
    return c;
}

static void add_sources(struct costs *costs, const struct calibration *c,
                        const struct calibrate_settings *settings, struct arena *arena)
{
    struct document *d = &costs->document;
    int count = c->inputs->document_count + (settings->base != NULL);
    *d = (struct document){.sources = TAKE(arena, count, struct source)};
    for (int i = 0; i < c->inputs->document_count; i++)
        d->sources[d->source_count++] =
            source_of("samples", &c->inputs->documents[i].document, settings->output, arena);
    if (settings->base)
        d->sources[d->source_count++] =
            source_of("costs", &settings->base->document, settings->output, arena);
}

static const char *nearest_gpu(const struct costs *costs, const char *gpu, struct arena *arena)
{
    const char **names = TAKE(arena, costs->gpu_count + 1, const char *);
    for (int i = 0; i < costs->gpu_count; i++) names[i] = costs->gpus[i].gpu;
    int nearest = name_related_gpu(gpu, names, costs->gpu_count);
    return nearest < 0 ? "" : arena_print(arena, "; the nearest is %s", names[nearest]);
}

void calibration_costs(struct calibration *c, const struct calibrate_settings *settings,
                       struct arena *arena)
{
    c->costs = begin_costs(settings, c->gpu, arena);
    struct gpu_costs *g = (struct gpu_costs *)costs_find_gpu(&c->costs, c->gpu);
    bool is_new = !g;
    if (is_new) g = &c->costs.gpus[c->costs.gpu_count++];
    g->gpu = c->gpu;
    g->precisions = arena_grow(arena, g->precisions, (size_t)g->precision_count, PRECISION_COUNT,
                               sizeof *g->precisions);
    take_gpu(g, c, settings, arena);
    // Without a memory rate a device cannot be priced, and no other number can replace it.
    if (!(g->memory_bytes_per_s.value > 0)) {
        c->lacking = settings->base ? arena_print(arena,
                                                  "memory was not measured, and %s has no such "
                                                  "GPU%s (--name gives its name for it)",
                                                  settings->base->name,
                                                  nearest_gpu(settings->base, c->gpu, arena))
                                    : "memory was not measured: give its speed with --costs";
        if (is_new) c->costs.gpu_count--;
    }
    links_to_costs(&c->costs, &c->links, c->gpu, arena);
    add_sources(&c->costs, c, settings, arena);
}

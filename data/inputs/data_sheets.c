// GPUs that nobody has measured, from their data sheets: the costs of a GPU of the same kind, with
// every rate scaled by what limits it. docs/FORMULAS.md 10.
#include <string.h>

#include "data/inputs/cost_keys.h"
#include "data/inputs/costs_internal.h"

// What is left open by a rate that was scaled, at least: a factor either way. Of one design, by
// power, or where products were measured, less.
static const double scaled_spread = 1.3, same_design_spread = 1.15;

enum { EXPONENTIALS_A_CLOCK = 16 };

// Shares of the peak that long products reach where power does not lower the clock, and where it
// does: A100's and H100's.
static const double unlimited_share = 0.893, limited_share = 0.768;

#define SHEET_NUMBER(member, need, low, high)                                                      \
    KEY_NUMBER(data_sheet, member, need, IF_SET, low, high)
#define SHEET_PEAK(name, precision)                                                                \
    KEY_OF(name, JSON_NUMBER, OPTIONAL, IF_SET, offsetof(struct data_sheet, peak[precision]), 0,   \
           1e21, NULL, NULL, NULL)
static const struct member data_sheet_rows[] = {
    KEY_TEXT(data_sheet, gpu, REQUIRED),
    KEY_TEXT(data_sheet, like, OPTIONAL),
    SHEET_PEAK("fp32", FP32),
    SHEET_PEAK("fp16", FP16),
    SHEET_PEAK("bf16", BF16),
    SHEET_PEAK("fp8", FP8),
    SHEET_PEAK("fp8_block", FP8_BLOCK),
    SHEET_PEAK("mxfp8", MXFP8),
    SHEET_PEAK("nvfp4", NVFP4),
    SHEET_NUMBER(memory_bytes_per_s, REQUIRED, 1, 1e21),
    SHEET_NUMBER(processors, REQUIRED, 1, 1e6),
    SHEET_NUMBER(clock_hz, REQUIRED, 1, 1e12),
    SHEET_NUMBER(exponentials_per_clock, OPTIONAL, 0, 1e6),
    SHEET_NUMBER(power_w, OPTIONAL, 0, 1e6),
    SHEET_NUMBER(best_product_flop_per_s, OPTIONAL, 0, 1e21),
    SHEET_NUMBER(host_link_bytes_per_s, OPTIONAL, 0, 1e21),
    SHEET_NUMBER(host_memory_bytes_per_s, OPTIONAL, 0, 1e21),
    KEY_TEXT(data_sheet, source, OPTIONAL),
};
MEMBERS(data_sheet, struct data_sheet, NULL, true, NULL);

static const struct data_sheet *sheet_of(const struct costs *c, const char *gpu)
{
    for (int i = 0; i < c->data_sheet_count; i++)
        if (!strcmp(c->data_sheets[i].gpu, gpu)) return &c->data_sheets[i];
    return NULL;
}

// ---- scaling

struct scaling {
    const struct data_sheet *to, *from;
    enum precision of, by; // the precision, and the one whose rates are scaled to it
    const char *source;
};

static double exponentials_per_s(const struct data_sheet *s)
{
    double a_clock = s->exponentials_per_clock > 0 ? s->exponentials_per_clock
                                                   : EXPONENTIALS_A_CLOCK;
    return s->processors * s->clock_hz * a_clock;
}

static bool both(double to, double from) { return to > 0 && from > 0; }
static double ratio(double to, double from) { return both(to, from) ? to / from : 1; }

static void scale(struct estimate *e, double factor, const struct scaling *x)
{
    bool known = both(x->to->power_w, x->from->power_w) ||
                 both(x->to->best_product_flop_per_s, x->from->best_product_flop_per_s);
    double value = e->value * factor, spread = known ? same_design_spread : scaled_spread;
    if (!(e->value > 0)) return;
    *e = (struct estimate){.value = value,
                           .low = fmin(e->low * factor, value / spread),
                           .high = fmax(e->high * factor, value * spread),
                           .origin = ORIGIN_ASSUMED,
                           .source = x->source};
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && !strcmp(name + length - tail, end);
}

// What a chip draws whatever its clock, as a share of its power. More power does not add to it; a
// chip that may draw less has less of it (slower memory).
static const double standing_share = 0.2;

// Of rates that a step sustains. Dynamic power grows with the square of the clock at least, so
// chips of one design gain the root of the power that is left for it, up to what their peak allows.
static double sustained(const struct scaling *x, double peaks)
{
    double power = ratio(x->to->power_w, x->from->power_w);
    if (!both(x->to->power_w, x->from->power_w)) return peaks;
    if (power > 1) power = (power - standing_share) / (1 - standing_share);
    return fmin(sqrt(power), peaks * unlimited_share / limited_share);
}

// Where both have been measured, by their best products of 16 bits, and to other precisions as the
// peaks are.
static double of_products(const struct scaling *x, double peaks)
{
    double to = x->to->best_product_flop_per_s, from = x->from->best_product_flop_per_s;
    if (!both(to, from)) return sustained(x, peaks);
    return to / from * peaks / ratio(x->to->peak[BF16], x->from->peak[BF16]);
}

static bool is_sustained(const char *key)
{
    return strncmp(key, "product_tile", 12) && strncmp(key, "low_rank", 8);
}

// FLOP by the peak of the precision or by power, bytes by the memory, exponentials by processors
// and clock; the rest stays: shares, launches, factors of trainers, bytes.
static double factor_of(const struct scaling *x, const char *key)
{
    const struct data_sheet *to = x->to, *from = x->from;
    if (ends_with(key, "_flop_per_s")) {
        double peaks = to->peak[x->of] / from->peak[x->by];
        return is_sustained(key) ? of_products(x, peaks) : peaks;
    }
    if (!strcmp(key, "host_link_bytes_per_s"))
        return ratio(to->host_link_bytes_per_s, from->host_link_bytes_per_s);
    if (!strncmp(key, "host_", 5))
        return ratio(to->host_memory_bytes_per_s, from->host_memory_bytes_per_s);
    if (ends_with(key, "bytes_per_s") || ends_with(key, "values_per_s"))
        return to->memory_bytes_per_s / from->memory_bytes_per_s;
    if (!strcmp(key, "score_cells_per_s")) {
        double at_peak = to->processors * to->clock_hz / (from->processors * from->clock_hz);
        return exponentials_per_s(to) / exponentials_per_s(from) * sustained(x, at_peak) / at_peak;
    }
    return 0;
}

static void scale_each(void *of, enum cost_scope scope, const struct scaling *x)
{
    for (int i = 0; i < cost_key_count; i++) {
        const struct cost_key *key = &cost_keys[i];
        if (key->scope != scope) continue;
        struct estimate *e = (struct estimate *)((char *)of + key->offset);
        double factor = factor_of(x, key->name);
        if (factor > 0) scale(e, factor, x);
        else e->origin = ORIGIN_ASSUMED, e->source = x->source;
    }
}

static void state(struct estimate *e, double value, const char *source)
{
    *e = (struct estimate){value, value, value, ORIGIN_PUBLISHED, source, 0, 0, false};
}

// A precision that the other GPU lacks has its rates of the first one listed, by the peaks.
static struct precision_costs precision_of(const struct gpu_costs *like, struct scaling x)
{
    const struct precision_costs *own = costs_find_precision(like, x.of);
    struct precision_costs p = own ? *own : like->precisions[0];
    x.by = p.precision;
    p.precision = x.of;
    scale_each(&p, COST_OF_PRECISION, &x);
    state(&p.peak_flop_per_s, x.to->peak[x.of], x.to->source);
    return p;
}

static struct gpu_costs gpu_of(const struct gpu_costs *like, const struct data_sheet *to,
                               const struct data_sheet *from, struct arena *arena)
{
    struct gpu_costs g = *like;
    struct scaling x = {to, from, FP32, FP32,
                        arena_print(arena, "as of %s, by the data sheet: %s", to->like,
                                    to->source ? to->source : "not stated")};
    g.gpu = to->gpu, g.like = to->like;
    g.precision_count = 0;
    g.precisions = TAKE(arena, PRECISION_COUNT, struct precision_costs);
    scale_each(&g, COST_OF_GPU, &x);
    state(&g.processors, to->processors, to->source);
    for (int of = 0; of < PRECISION_COUNT; of++) {
        x.of = (enum precision)of;
        if (to->peak[of] > 0) g.precisions[g.precision_count++] = precision_of(like, x);
    }
    return g;
}

// ---- the document

static enum status check_sheet(const struct costs *c, const struct data_sheet *s, struct error *err)
{
    const struct data_sheet *from = s->like ? sheet_of(c, s->like) : NULL;
    const struct gpu_costs *like = s->like ? costs_find_gpu(c, s->like) : NULL;
    if (sheet_of(c, s->gpu) != s) return refuse(err, "\"%s\" appears twice", s->gpu);
    if (!s->like) return OK;
    if (!from || from->like)
        return refuse(
            err, "%s: like: expected a GPU with a data sheet that is not like another, found %s",
            s->gpu, s->like);
    if (!like || !like->precision_count)
        return refuse(err, "%s: like: expected one of the gpus, found %s", s->gpu, s->like);
    for (int i = 0; i < like->precision_count; i++)
        if (!(from->peak[like->precisions[i].precision] > 0))
            return refuse(err, "%s: expected its peak in %s", from->gpu,
                          precision_names[like->precisions[i].precision]);
    return OK;
}

enum status data_sheets_apply(struct costs *c, struct arena *arena, struct error *err)
{
    struct gpu_costs *gpus = TAKE(arena, c->gpu_count + c->data_sheet_count, struct gpu_costs);
    int count = c->gpu_count;
    for (int i = 0; i < c->data_sheet_count; i++)
        TRY(fail_within(err, check_sheet(c, &c->data_sheets[i], err),
                        "%s: data_sheets: ", name_of(c)));
    if (count) memcpy(gpus, c->gpus, (size_t)count * sizeof *gpus);
    for (int i = 0; i < c->data_sheet_count; i++) {
        const struct data_sheet *s = &c->data_sheets[i];
        if (s->like && !costs_find_gpu(c, s->gpu)) // what is stated or measured comes first
            gpus[count++] = gpu_of(costs_find_gpu(c, s->like), s, sheet_of(c, s->like), arena);
    }
    c->gpus = gpus, c->gpu_count = count;
    return OK;
}

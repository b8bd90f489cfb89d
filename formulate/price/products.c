// The products of a layer on one device, each with its own shape, and the time of each by its shape
// if the costs state the rates of products. docs/FORMULAS.md section 3.

#include "formulate/price/pricing.h"

enum { TILE = 128, WIDE_TILE = 256 }; // values

const struct precision_costs *rates_of_run(const struct pricing *x, const struct layer_run *run,
                                           int group)
{
    bool wide = run->kind == LAYER_HEAD || run->kind == LAYER_PROJECTOR;
    return wide ? x->head_rates[group] : x->rates[group];
}

static int projector_products(const struct pricing *x, const struct projector_shape *p, real n,
                              struct product *to)
{
    real inputs = (real)p->inputs, outputs = (real)p->outputs, inner = (real)p->inner / x->t;
    to[0] = (struct product){"projection", n, p->inner ? inner : outputs, inputs, 1};
    to[1] = (struct product){"second projection", n, outputs, inner, 1};
    return p->inner ? 2 : 1;
}

bool splits_gate(const struct pricing *x, const struct layer_run *run)
{
    return x->problem->job.split_gate && x->g > 2 && run->kind == LAYER_BLOCK &&
           !run->no_feed_forward;
}

int products_of(const struct pricing *x, const struct layer_run *run, real n, struct product *to)
{
    int count = 0;
    const struct expert_shape *e = &run->experts;
    bool moe = run->kind == LAYER_MOE;
    real ffn = ffn_of(x, run);
    if (run->kind == LAYER_HEAD && x->shape->embedding_width)
        to[count++] = (struct product){"projection of the last layer", n, x->h_e, x->h, 1};
    if (run->kind == LAYER_HEAD)
        to[count++] =
            (struct product){"logits", n, x->v / x->t1, x->h_e / x->t2, 1, .reads = 1 + READS_FFN};
    if (run->kind == LAYER_PROJECTOR) return projector_products(x, &run->projector, n, to);
    if (run->kind != LAYER_BLOCK && !moe) return count;
    count = attention_products(x, run, n, to);
    if (ffn > 0) {
        bool apart = splits_gate(x, run);
        for (int i = 0; i <= (int)apart; i++)
            to[count++] =
                (struct product){"ffn up",      n, (x->g - 1) * ffn / x->t1 / (apart ? 2 : 1),
                                 x->h / x->t2,  1, .reads = 1 + READS_FFN,
                                 .part = OF_FFN};
        to[count++] = (struct product){"ffn down", n, x->h / x->t2, ffn / x->t1, 1, .part = OF_FFN};
    }
    if (run->mtp)
        to[count++] = (struct product){"a state and an embedding", n, x->h / x->t, 2 * x->h, 1};
    if (run->more_products)
        to[count++] =
            (struct product){"further matrices", n, (real)run->more_products / x->h, x->h, 1};
    if (moe) {
        real all = (real)e->experts, here = all / x->x,
             routed = n * (real)e->top_k * rows_multiplied(x, run) * x->t_e / x->t /
                      here; // one expert's, on average
        real wide = (real)e->ffn / x->t_e, each = (real)expert_width(x->shape, e);
        to[count++] = (struct product){
            "an expert's ffn up", routed, (x->g - 1) * wide, each, here, true, .part = OF_FFN};
        to[count++] = (struct product){"an expert's ffn down", routed, each, wide, here, true,
                                       .part = OF_FFN};
        to[count++] = (struct product){"router", n, all / x->t, x->h, 1, .part = OF_FFN};
    }
    return count;
}

real pieces(real x, real y)
{
    real whole = floorl(x / y);
    return reaches(whole * y, x) ? whole : whole + 1;
}

// The minimum over splits of the depth into parts, with tiles of this width.
static real tiles_of_s(const struct product_limits *l, const struct product *p, int wide,
                       real flop_per_s)
{
    static const int parts[] = {1, 2, 4};
    real count = p->count * pieces(p->rows, TILE) * pieces(p->columns, wide), least = INFINITY;
    for (size_t k = 0; k < ARRAY_LENGTH(parts); k++) {
        real seconds = pieces(count * parts[k], l->processors) * 2 * TILE * wide * p->depth /
                       parts[k] * l->processors / flop_per_s;
        if (parts[k] > 1 && l->bytes_per_s > 0)
            seconds += 4 * (parts[k] + 1) * p->count * p->rows * p->columns / l->bytes_per_s;
        if (seconds < least) least = seconds;
    }
    return least;
}

// At the same rate, wide tiles never finish earlier.
static real tiles_s(const struct product_limits *l, const struct product *p)
{
    if (!(l->processors > 0 && l->tile_flop_per_s > 0)) return 0;
    real square = tiles_of_s(l, p, TILE, l->tile_flop_per_s * l->square_share);
    return l->square_share == 1 ? square
                                : fminl(square, tiles_of_s(l, p, WIDE_TILE, l->tile_flop_per_s));
}

static real square_share_of(const struct precision_costs *rates)
{
    return rates->product_square_tile_share.value > 0 ? rates->product_square_tile_share.value : 1;
}

static real starts_s(const struct product_limits *l, const struct product *p)
{
    real starts = l->grouped ? 1 : p->count;
    return l->launch + (p->of_experts ? starts * l->expert_start : 0);
}

static real product_s(const struct product_limits *l, const struct product *p, real output_bytes)
{
    if (l->arrays) return starts_s(l, p) + array_product_s(l, p, output_bytes);
    real m = p->rows, n = p->columns, k = p->depth, tiles = tiles_s(l, p),
         work = 2 * p->count * m * n * k / l->flop_per_s, traffic = 0;
    if (l->bytes_per_s > 0)
        traffic = p->count * (l->operand_bytes * (m * k + k * n) + output_bytes * m * n) /
                  l->bytes_per_s;
    return starts_s(l, p) + sqrtl(tiles * tiles + work * work + traffic * traffic);
}

static real operand_bytes_of(enum precision p, real bytes)
{
    return precision_is_narrow(p) ? precision_narrow_bytes(p) : bytes;
}

static const struct matrix_arrays *arrays_of(const struct gpu_costs *gpu)
{
    return gpu->arrays.units > 0 ? &gpu->arrays : NULL;
}

// Their biases are kernels of their own: added, their gradients summed, these copied.
static real expert_start_s(const struct pricing *x, const struct layer_run *run, int group,
                           const struct product_limits *l)
{
    bool biased = l->expert_start > 0 && bias_bytes(x, run) > 0;
    return l->expert_start + (biased ? 3 * x->gpus[group]->product_launch_s.value : 0);
}

// Those of other layers are the same with every trainer, and kept for all.
real rows_multiplied(const struct pricing *x, const struct layer_run *run)
{
    return fmaxl(1, run->experts.imbalance) * job_expert_padding(&x->problem->job);
}

bool groups_experts(const struct pricing *x, const struct layer_run *run)
{
    const struct job *job = &x->problem->job;
    return run->kind == LAYER_MOE && (job->expert_products ? job->expert_products == EXPERTS_GROUPED
                                                           : job->trainer == TRAINER_TORCHTITAN);
}

// The products reach `share` of the tile and product rates.
static bool limits_of(const struct pricing *x, const struct precision_costs *rates, int group,
                      real share, struct product_limits *to)
{
    const struct gpu_costs *gpu = x->gpus[group];
    // Whole iterations of graphs know no sizes but fixed ones: else one product reads them.
    const struct job *job = &x->problem->job;
    bool together = job->graphs == GRAPHS_STEP && !job->fixed_capacity;
    *to = (struct product_limits){gpu->product_launch_s.value,
                                  together ? 0 : rates->expert_start_s.value,
                                  rates->product_flop_per_s.value * share,
                                  rates->product_tile_flop_per_s.value * share,
                                  square_share_of(rates),
                                  rates->product_bytes_per_s.value,
                                  gpu->processors.value,
                                  operand_bytes_of(rates->precision, x->e),
                                  arrays_of(gpu),
                                  share,
                                  false};
    return rates->product_flop_per_s.value > 0;
}

static bool same_limits(const struct product_limits *k, const struct product_limits *l)
{
    return k->launch == l->launch && k->expert_start == l->expert_start &&
           k->grouped == l->grouped && k->flop_per_s == l->flop_per_s &&
           k->tile_flop_per_s == l->tile_flop_per_s && k->square_share == l->square_share &&
           k->bytes_per_s == l->bytes_per_s && k->processors == l->processors &&
           k->operand_bytes == l->operand_bytes && k->arrays == l->arrays &&
           k->array_share == l->array_share;
}

// The times kept of these products, if they were priced with the same limits.
static bool take_kept(const struct kept_products *kept, const struct product_limits *l,
                      struct product_seconds *to)
{
    if (!kept->known || !same_limits(&kept->limits, l)) return false;
    *to = kept->seconds;
    return true;
}

// The first times are kept: while costs are moved, most prices use these limits unchanged.
static void keep(struct kept_products *kept, const struct product_limits *l,
                 const struct product_seconds *seconds)
{
    if (!kept->known) *kept = (struct kept_products){true, *l, *seconds};
}

// Products of which the times are known, by all that these depend on.
struct product_list {
    struct product_limits limits;
    real times, bytes, gradient_bytes;
    int count; // 0: none yet
    struct product products[PRODUCTS_MAX];
};
enum { MEMO_LISTS = 512 };
struct product_memo {
    struct product_list lists[MEMO_LISTS];
    struct product_seconds seconds[MEMO_LISTS];
};

struct product_memo *product_memo_open(struct arena *arena)
{
    return TAKE(arena, 1, struct product_memo);
}

static bool same_list(const struct product_list *a, const struct product_list *b)
{
    bool same = a->count == b->count && a->times == b->times && a->bytes == b->bytes &&
                a->gradient_bytes == b->gradient_bytes && same_limits(&a->limits, &b->limits);
    for (int i = 0; i < a->count && same; i++) {
        const struct product *p = &a->products[i], *q = &b->products[i];
        same = p->rows == q->rows && p->columns == q->columns && p->depth == q->depth &&
               p->count == q->count && p->of_experts == q->of_experts && p->reads == q->reads;
    }
    return same;
}

static int place_of(const struct product_list *list)
{
    const struct product_limits *l = &list->limits;
    uint64_t hash = (uint64_t)list->count ^ (uint64_t)l->flop_per_s ^
                    (uint64_t)(l->launch * 0x1p40L) ^ (uint64_t)l->bytes_per_s << 20;
    for (int i = 0; i < list->count; i++) {
        const struct product *p = &list->products[i];
        hash = (hash ^ (uint64_t)(p->rows * 8) ^ (uint64_t)p->columns << 24 ^
                (uint64_t)p->depth << 44) *
               0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return (int)(hash % MEMO_LISTS);
}

static struct product_seconds seconds_of(const struct product_list *list)
{
    struct product_seconds sum = {0};
    for (int i = 0; i < list->count; i++) {
        const struct product *p = &list->products[i];
        struct product inputs = *p, weights = *p;
        inputs.columns = p->depth, inputs.depth = p->columns;
        weights.rows = p->columns, weights.columns = p->depth, weights.depth = p->rows;
        real data = list->times * product_s(&list->limits, &inputs, list->bytes),
             weight = list->times * product_s(&list->limits, &weights, list->gradient_bytes);
        sum.forward += list->times * product_s(&list->limits, p, list->bytes);
        sum.data += data, sum.weight += weight;
        if (p->reads) sum.read_data[p->reads - 1] += data, sum.read_weight[p->reads - 1] += weight;
    }
    return sum;
}

static struct product_seconds remembered(
    struct product_memo *memo, const struct product_list *list,
    struct product_seconds (*find)(const struct product_list *list))
{
    int at = place_of(list);
    if (!same_list(&memo->lists[at], list)) {
        memo->lists[at] = *list;
        memo->seconds[at] = find(list);
    }
    return memo->seconds[at];
}

bool product_times(const struct pricing *x, const struct layer_run *run, const struct slice *slice,
                   int group, real share, struct product_seconds *to)
{
    struct kept_layer *kept = kept_of(x, run, group, slice->index);
    struct product_list list;
    struct product_limits *l = &list.limits;
    if (!limits_of(x, rates_of_run(x, run, group), group, share, l)) return false;
    l->expert_start = expert_start_s(x, run, group, l), l->grouped = groups_experts(x, run);
    if (kept && take_kept(&kept->matrices, l, to)) return true;
    list.count = products_of(x, run, slice->tokens, list.products);
    list.times = times_of(x, run), list.bytes = x->e, list.gradient_bytes = 2 * x->e_g;
    *to = x->memo && list.count ? remembered(x->memo, &list, seconds_of) : seconds_of(&list);
    if (kept && list.count) keep(&kept->matrices, l, to);
    return list.count > 0;
}

// Of experts, all; NULL: not by shape.
static real repeated_experts_s(const struct pricing *x, const struct layer_run *run, real tokens,
                               const struct precision_costs *rates, const struct product_limits *l)
{
    struct product products[PRODUCTS_MAX];
    real seconds = 0, rate = rates->grouped_flop_per_s.value > 0 ? rates->grouped_flop_per_s.value
                                                                 : rates->gemm_flop_per_s.value;
    int count = run->kind == LAYER_MOE ? products_of(x, run, tokens, products) : 0;
    for (int i = 0; i < count; i++) {
        const struct product *p = &products[i];
        if (p->of_experts)
            seconds += l ? product_s(l, p, x->e)
                         : 2 * p->count * p->rows * p->columns * p->depth / rate;
    }
    return seconds;
}

real repeated_products_s(const struct pricing *x, const struct layer_run *run, real tokens,
                         int group)
{
    const struct precision_costs *rates = x->rates[group];
    struct attention y = attention_of(x, run);
    real seconds = 0;
    struct product repeated[] = {{"keys", tokens, y.again_columns / x->t, x->h, 1},
                                 {"attention projection", tokens, x->h, y.again_depth / x->t, 1},
                                 {"ffn up", tokens, (x->g - 2) * ffn_of(x, run) / x->t, x->h, 1}};
    struct product_limits l;
    bool shaped = limits_of(x, rates, group, 1, &l);
    l.expert_start = expert_start_s(x, run, group, &l), l.grouped = groups_experts(x, run);
    for (size_t i = 0; i < ARRAY_LENGTH(repeated); i++) {
        const struct product *p = &repeated[i];
        if (!(p->columns > 0 && p->depth > 0)) continue;
        seconds += shaped ? product_s(&l, p, x->e)
                          : 2 * p->rows * p->columns * p->depth / rates->gemm_flop_per_s.value;
    }
    return seconds + repeated_experts_s(x, run, tokens, rates, shaped ? &l : NULL);
}

void module_parts_s(const struct pricing *x, const struct layer_run *run, real tokens, int group,
                    real *to)
{
    const struct precision_costs *rates = rates_of_run(x, run, group);
    struct product products[PRODUCTS_MAX];
    struct product_limits l;
    bool shaped = limits_of(x, rates, group, 1, &l);
    real grouped = estimate_or(&rates->grouped_flop_per_s, rates->gemm_flop_per_s.value),
         moved = rates->operand_bytes_per_s.value;
    l.expert_start = expert_start_s(x, run, group, &l), l.grouped = groups_experts(x, run);
    for (int part = 0; part < OF_COUNT; part++) to[part] = 0;
    for (int i = 0, count = products_of(x, run, tokens, products); i < count; i++) {
        const struct product *p = &products[i];
        real m = p->rows, n = p->columns, k = p->depth;
        if (p->part == OF_NONE) continue;
        to[p->part] +=
            shaped ? product_s(&l, p, x->e)
                   : p->count *
                         (2 * m * n * k / (p->of_experts ? grouped : rates->gemm_flop_per_s.value) +
                          (moved > 0 ? x->e * (m * k + k * n + m * n) / moved : 0));
    }
}

real unneeded_product_s(const struct pricing *x, const struct layer_run *run, real n, int group)
{
    struct product_limits l;
    const struct precision_costs *rates = rates_of_run(x, run, group);
    struct product p = {"ffn down", n, x->h, ffn_of(x, run) / x->t, 1};
    if (!x->problem->job.stopped_recompute || run->kind != LAYER_BLOCK || x->grid || run->frozen ||
        run->no_feed_forward || x->shape->dropout)
        return 0;
    real once = limits_of(x, rates, group, 1, &l)
                    ? product_s(&l, &p, x->e)
                    : 2 * p.rows * p.columns * p.depth / rates->gemm_flop_per_s.value;
    return times_of(x, run) * once;
}

// Of attention's own two products: of its scores, and of these with the values.
static struct product_seconds seconds_of_scores(const struct product_list *list)
{
    const struct product_limits *l = &list->limits;
    const struct product *scores = &list->products[0], *context = &list->products[1];
    real rows = scores->rows, keys = scores->columns, w = scores->depth, w_v = context->columns,
         heads = scores->count, e = list->bytes;
    struct product of_scores = {"scores' gradients", rows, keys, w_v, heads},
                   of_queries = {"queries' gradients", rows, w, keys, heads},
                   of_keys = {"keys' gradients", keys, w, rows, heads},
                   of_values = {"values' gradients", keys, w_v, rows, heads};
    return (struct product_seconds){product_s(l, scores, e) + product_s(l, context, e),
                                    product_s(l, &of_scores, e) + product_s(l, &of_queries, e),
                                    product_s(l, &of_keys, e) + product_s(l, &of_values, e)};
}

bool score_times(const struct pricing *x, const struct layer_run *run, const struct slice *slice,
                 int group, struct product_seconds *to)
{
    struct kept_layer *kept = kept_of(x, run, group, slice->index);
    struct product_list list;
    if (!limits_of(x, x->head_rates[group], group, 1, &list.limits)) return false;
    if (kept && take_kept(&kept->scores, &list.limits, to)) return true;
    real rows = slice->share * x->s, keys = slice->score_cells / (x->b * rows),
         heads = x->b * x->a / x->t1 * (run->cross_attention ? 2 : 1);
    // No other list's gradients have no bytes.
    list.times = 1, list.bytes = x->e, list.gradient_bytes = 0, list.count = 2;
    list.products[0] = (struct product){"scores", rows, keys, x->w, heads};
    list.products[1] = (struct product){"context", rows, x->ctx / x->a, keys, heads};
    *to = x->memo ? remembered(x->memo, &list, seconds_of_scores) : seconds_of_scores(&list);
    if (kept) keep(&kept->scores, &list.limits, to);
    return true;
}

double product_kernel_s(const struct gpu_costs *gpu, const struct precision_costs *rates,
                        double rows, double columns, double depth)
{
    double bytes = precision_bytes(rates->precision);
    struct product p = {"product", rows, columns, depth, 1};
    struct product_limits l = {gpu->product_launch_s.value,
                               0,
                               rates->product_flop_per_s.value,
                               rates->product_tile_flop_per_s.value,
                               square_share_of(rates),
                               rates->product_bytes_per_s.value,
                               gpu->processors.value,
                               (double)operand_bytes_of(rates->precision, bytes),
                               arrays_of(gpu),
                               1};
    return (double)product_s(&l, &p, bytes);
}

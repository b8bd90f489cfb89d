// Times of a layer's products by shape, as the judge counts them (docs/FORMULAS.md, section 3):
// the forward products, and as many for the gradients of their inputs and of their weights.
#include "solve/judge/price/passes.h"

// What limits a product on one GPU: times per FLOP and per byte.
struct limits {
    const struct price_audit *a;
    long double start, start_of_expert, per_flop, per_tile_flop, per_square_flop, per_byte,
        processors, read_bytes;
    const struct matrix_arrays *arrays;
    long double array_cycle_s;
};

// m tokens times a weight of n outputs and k inputs; `same` such products.
struct shape_of_product {
    long double m, n, k, same;
    bool routed; // experts' products, which may start one by one
};

static long double rounds_up(const struct price_audit *a, long double amount, long double size)
{
    long double full = floorl(amount / size);
    // Most are whole numbers, which are exact as long as they fit the mantissa.
    bool whole = floorl(size) == size && amount * a->error < 0.1L;
    if (whole && full * size == amount) return full;
    return judged_reaches(a, full * size, amount) ? full : full + 1;
}

static long double rounds(const struct limits *l, long double amount, long double size)
{
    return rounds_up(l->a, amount, size);
}

// Waves of tiles; the depth is cut into so many parts, which are added up later.
static long double waves_s(const struct limits *l, struct shape_of_product p, bool square,
                           int parts)
{
    long double width = square ? 128 : 256,
                tiles = rounds(l, p.m, 128) * rounds(l, p.n, width) * p.same * parts,
                per_flop = square ? l->per_square_flop : l->per_tile_flop,
                wave = l->processors * per_flop * 2 * 128 * width * p.k / parts,
                sums = parts > 1 ? 4.0L * (parts + 1) * p.m * p.n * p.same * l->per_byte : 0;
    return rounds(l, tiles, l->processors) * wave + sums;
}

static long double tiling_s(const struct limits *l, struct shape_of_product p)
{
    if (l->processors == 0 || l->per_tile_flop == 0) return 0;
    long double best = waves_s(l, p, true, 1);
    for (int parts = 2; parts <= 4; parts *= 2) best = least(best, waves_s(l, p, true, parts));
    if (l->per_square_flop == l->per_tile_flop) return best;
    for (int parts = 1; parts <= 4; parts *= 2) best = least(best, waves_s(l, p, false, parts));
    return best;
}

// Every block of weights, or a half or a quarter of its rows, is one job of an array: rows are
// loaded, then the tokens pass, and the last one leaves rows + columns - 1 cycles after it came.
// The next block is read meanwhile.
static long double arrays_s(const struct limits *l, struct shape_of_product p,
                            long double written_bytes)
{
    const struct matrix_arrays *y = l->arrays;
    long double jobs = p.same * rounds(l, p.k, y->rows) * rounds(l, p.n, y->columns),
                most_cycles = HUGE_VALL,
                moved = l->read_bytes * p.k * (p.m + p.n) + written_bytes * p.m * p.n;
    for (int halves = 0; halves <= 2; halves++) {
        long double split = ldexpl(1, halves), last = (long double)y->rows + y->columns - 1;
        most_cycles = least(most_cycles, rounds(l, jobs * split, y->units) *
                                             (y->rows + (p.m / split - 1) + last));
    }
    if (y->buffer_bytes > 0) {
        long double held = sqrtl(y->buffer_bytes / l->read_bytes);
        moved = greatest(moved, p.m * p.n * (2 * l->read_bytes * p.k / held + written_bytes));
    }
    return greatest(most_cycles * l->array_cycle_s, moved * p.same * l->per_byte);
}

static long double one_s(const struct limits *l, struct shape_of_product p,
                         long double written_bytes)
{
    long double start = l->start;
    if (p.routed) start += judged_expert_kernels(l->a, p.same) * l->start_of_expert;
    if (l->arrays) return start + arrays_s(l, p, written_bytes);
    long double a = tiling_s(l, p), b = 2 * p.m * p.n * p.k * p.same * l->per_flop,
                c = p.same * l->per_byte *
                    (l->read_bytes * p.k * (p.m + p.n) + written_bytes * p.m * p.n);
    return start + sqrtl(a * a + b * b + c * c);
}

static void add(const struct limits *l, struct shape_of_product p, struct work *w)
{
    long double gradient = l->a->problem->job.gradient_bytes_per_value;
    w->linear += one_s(l, p, l->a->value_bytes);
    w->data +=
        one_s(l, (struct shape_of_product){p.m, p.k, p.n, p.same, p.routed}, l->a->value_bytes);
    w->weight += one_s(l, (struct shape_of_product){p.n, p.k, p.m, p.same, p.routed}, 2 * gradient);
}

// The same, and remembered as what its part begins with.
static void add_first(const struct limits *l, struct shape_of_product p,
                      struct first_product *first, struct work *w)
{
    long double data = w->data, weight = w->weight;
    add(l, p, w);
    *first = (struct first_product){w->data - data, w->weight - weight};
}

static long double inverse(double rate) { return rate > 0 ? 1 / (long double)rate : 0; }

static void add_feed_forward(const struct limits *l, long double tokens, long double width,
                             struct work *w)
{
    long double h = l->a->problem->model.shape.hidden / l->a->inner, part = width / l->a->outer;
    add_first(l, (struct shape_of_product){tokens, (l->a->gates - 1) * part, h, 1}, &w->first[1],
              w);
    add(l, (struct shape_of_product){tokens, h, part, 1}, w);
}

// In a block whose gate and up are separate products.
static void add_apart(const struct limits *l, long double tokens, struct work *w)
{
    const struct shape *s = &l->a->problem->model.shape;
    long double h = s->hidden / l->a->inner, part = s->ffn / l->a->outer;
    for (int i = 0; i < 2; i++) add(l, (struct shape_of_product){tokens, part, h, 1}, w);
    add(l, (struct shape_of_product){tokens, h, part, 1}, w);
}

static void add_layered(const struct limits *l, int run, long double tokens, struct work *w)
{
    const struct price_audit *a = l->a;
    const struct layer_run *r = run_of(a, run);
    struct judged_matrix attention[ATTENTION_MATRICES_MAX];
    const struct expert_shape *e = &r->experts;
    long double h = a->problem->model.shape.hidden, t = layout_of(a)->tensor;
    bool moe = r->kind == LAYER_MOE;
    long double ffn = shared_width(a, r);
    for (int i = 0, count = judged_matrices(a, run, attention); i < count; i++) {
        struct shape_of_product p = {tokens, attention[i].outputs, attention[i].inputs, 1};
        if (i) add(l, p, w);
        else add_first(l, p, &w->first[0], w);
    }
    if (has_split_gate(a, r)) add_apart(l, tokens, w);
    else if (ffn > 0) add_feed_forward(l, tokens, ffn, w);
    if (r->mtp) add(l, (struct shape_of_product){tokens, h / t, 2 * h, 1}, w);
    if (r->more_products > 0)
        add(l, (struct shape_of_product){tokens, (long double)r->more_products / h, h, 1}, w);
    if (!moe) return;
    long double held = (long double)e->experts / layout_of(a)->expert,
                busy = judged_rows(a, r, MULTIPLIED);
    add(l, (struct shape_of_product){tokens, e->experts / t, h, 1}, w);
    long double rows = tokens * e->top_k * busy * (long double)a->expert_parts / t / held,
                part = e->ffn / (long double)a->expert_parts, reads = judged_expert_reads(a, r);
    add(l, (struct shape_of_product){rows, (a->gates - 1) * part, reads, held, true}, w);
    add(l, (struct shape_of_product){rows, reads, part, held, true}, w);
}

static void add_projector(const struct limits *l, const struct projector_shape *p,
                          long double tokens, struct work *w)
{
    long double between = (long double)p->inner / layout_of(l->a)->tensor;
    if (p->inner == 0) {
        add(l, (struct shape_of_product){tokens, p->outputs, p->inputs, 1}, w);
        return;
    }
    add(l, (struct shape_of_product){tokens, between, p->inputs, 1}, w);
    add(l, (struct shape_of_product){tokens, p->outputs, between, 1}, w);
}

static struct limits limits_of(const struct price_audit *a, int group,
                               const struct precision_costs *rates, long double slower)
{
    const struct gpu_costs *gpu = gpu_of(a, group);
    const struct job *job = &a->problem->job;
    bool replayed = job->graphs == GRAPHS_STEP, counted_before = job->fixed_capacity;
    long double tile = inverse(rates->product_tile_flop_per_s.value) / slower,
                share = rates->product_square_tile_share.value;
    return (struct limits){
        .a = a,
        .start = gpu->product_launch_s.value,
        .start_of_expert = replayed && !counted_before ? 0 : rates->expert_start_s.value,
        .per_flop = inverse(rates->product_flop_per_s.value) / slower,
        .per_tile_flop = tile,
        .per_square_flop = share > 0 ? tile / share : tile,
        .per_byte = inverse(rates->product_bytes_per_s.value),
        .processors = gpu->processors.value,
        .arrays = gpu->arrays.units > 0 ? &gpu->arrays : NULL,
        .array_cycle_s = inverse(gpu->arrays.clock_hz) / slower,
        .read_bytes = precision_is_narrow(rates->precision)
                          ? (long double)precision_narrow_bytes(rates->precision)
                          : a->value_bytes};
}

// Three further kernels an expert where it has biases: one adds them, one sums their gradients, one
// copies those.
static void start_biases(struct limits *l, int run, int group)
{
    bool started = l->start_of_expert > 0,
         biased = judged_biases_of(l->a, run_of(l->a, run)).added > 0;
    if (started && biased)
        l->start_of_expert += 3 * (long double)gpu_of(l->a, group)->product_launch_s.value;
}

bool shaped_products(const struct price_audit *a, int run, int group,
                     const struct precision_costs *rates, struct piece piece, long double slower,
                     struct work *w)
{
    bool head = run_of(a, run)->kind == LAYER_HEAD, projector = is_projector(a, run);
    long double h = a->problem->model.shape.hidden;
    if (!(rates->product_flop_per_s.value > 0) || !(head || projector || is_layered(a, run)))
        return false;
    struct limits l = limits_of(a, group, rates, slower);
    start_biases(&l, run, group);
    w->linear = w->data = w->weight = w->weightless = w->operands = w->learning_operands = 0;
    if (projector) return add_projector(&l, &run_of(a, run)->projector, piece.tokens, w), true;
    if (!head) {
        add_layered(&l, run, piece.tokens, w);
        return true;
    }
    if (a->problem->model.shape.embedding_width)
        add(&l, (struct shape_of_product){piece.tokens, a->row, h, 1}, w);
    add_first(
        &l, (struct shape_of_product){piece.tokens, a->vocabulary / a->outer, a->row / a->inner, 1},
        &w->first[1], w);
    w->linear *= a->asked, w->data *= a->asked, w->weight *= a->asked;
    w->first[1].data *= a->asked, w->first[1].weight *= a->asked;
    return true;
}

// A mixture's experts multiply once more, both ways.
static long double experts_again_s(const struct price_audit *a, int run, const struct limits *l,
                                   const struct precision_costs *rates, long double tokens)
{
    const struct layer_run *r = run_of(a, run);
    const struct expert_shape *e = &r->experts;
    if (r->kind != LAYER_MOE) return 0;
    long double reads = judged_expert_reads(a, r), t = layout_of(a)->tensor,
                busy = judged_rows(a, r, MULTIPLIED), taken = tokens * e->top_k * busy / t;
    double rate = rates->grouped_flop_per_s.value > 0 ? rates->grouped_flop_per_s.value
                                                      : rates->gemm_flop_per_s.value;
    if (!(rates->product_flop_per_s.value > 0)) return 2 * taken * a->gates * reads * e->ffn / rate;
    long double parts = (long double)a->expert_parts, part = e->ffn / parts,
                held = (long double)e->experts / layout_of(a)->expert, rows = taken * parts / held;
    return one_s(l, (struct shape_of_product){rows, (a->gates - 1) * part, reads, held, true},
                 a->value_bytes) +
           one_s(l, (struct shape_of_product){rows, reads, part, held, true}, a->value_bytes);
}

long double every_second_product_s(const struct price_audit *a, int run, int group,
                                   struct piece piece)
{
    const struct judged_attention y = judged_attention(a, run);
    const struct precision_costs *rates = rates_of(a, group);
    struct limits l = limits_of(a, group, rates, 1);
    start_biases(&l, run, group);
    long double t = layout_of(a)->tensor, h = a->problem->model.shape.hidden, n = piece.tokens,
                ffn = a->gates > 2 ? shared_width(a, run_of(a, run)) : 0, seconds = 0;
    if (!(rates->product_flop_per_s.value > 0))
        return 2 * n * h * (y.second_outputs + y.second_inputs + ffn) / t /
                   rates->gemm_flop_per_s.value +
               experts_again_s(a, run, &l, rates, n);
    const struct shape_of_product again[] = {
        {n, y.second_outputs / t, h, 1}, {n, h, y.second_inputs / t, 1}, {n, ffn / t, h, 1}};
    for (int i = 0; i < 3; i++)
        if (again[i].n > 0 && again[i].k > 0) seconds += one_s(&l, again[i], a->value_bytes);
    return seconds + experts_again_s(a, run, &l, rates, n);
}

long double unread_product_s(const struct price_audit *a, int run, int group, struct piece piece)
{
    const struct layer_run *r = run_of(a, run);
    const struct precision_costs *rates = rates_of(a, group);
    long double part = shared_width(a, r) / layout_of(a)->tensor,
                h = a->problem->model.shape.hidden;
    bool stops = a->problem->job.stopped_recompute && r->kind == LAYER_BLOCK && part > 0;
    if (!stops || a->gridded || r->frozen || a->problem->model.shape.dropout) return 0;
    if (!(rates->product_flop_per_s.value > 0))
        return 2 * piece.tokens * h * part / rates->gemm_flop_per_s.value;
    struct limits l = limits_of(a, group, rates, 1);
    return one_s(&l, (struct shape_of_product){piece.tokens, h, part, 1}, a->value_bytes);
}

// A forward product of a layer, once more by itself.
static long double alone_s(const struct limits *l, const struct precision_costs *rates,
                           struct shape_of_product p)
{
    long double rate = rates->gemm_flop_per_s.value, e = l->a->value_bytes;
    if (rates->product_flop_per_s.value > 0) return one_s(l, p, e);
    if (p.routed) rate = estimate_or(&rates->grouped_flop_per_s, rate);
    return p.same * (2 * p.m * p.n * p.k / rate + e * (p.m * p.n + p.k * (p.m + p.n)) *
                                                      inverse(rates->operand_bytes_per_s.value));
}

long double latents_up_s(const struct price_audit *a, int run, int group, long double tokens)
{
    const struct shape *s = &a->problem->model.shape;
    const struct precision_costs *rates = rates_of(a, group);
    struct limits l = limits_of(a, group, rates, 1);
    long double t = layout_of(a)->tensor, asked = s->query_rank ? s->query_rank : s->hidden,
                unturned = (long double)(s->head_width - s->rotary_width) * s->heads;
    struct shape_of_product queries = {tokens, a->query / t, asked, 1},
                            others = {tokens, (unturned + a->summed) / t, s->kv_rank, 1};
    return judged_attention(a, run).scored *
           (alone_s(&l, rates, queries) + alone_s(&l, rates, others));
}

long double feed_forward_s(const struct price_audit *a, int run, int group, long double tokens)
{
    const struct layer_run *r = run_of(a, run);
    const struct precision_costs *rates = rates_of(a, group);
    struct limits l = limits_of(a, group, rates, 1);
    long double t = layout_of(a)->tensor, h = a->problem->model.shape.hidden,
                part = shared_width(a, r) / t, made = a->gates - 1, seconds = 0;
    int apart = has_split_gate(a, r) ? 2 : 1;
    start_biases(&l, run, group);
    if (part > 0)
        seconds += apart * alone_s(&l, rates,
                                   (struct shape_of_product){tokens, made * part / apart, h, 1}) +
                   alone_s(&l, rates, (struct shape_of_product){tokens, h, part, 1});
    if (r->kind != LAYER_MOE) return seconds;
    long double all = r->experts.experts, held = all / layout_of(a)->expert,
                parts = (long double)a->expert_parts, wide = r->experts.ffn / parts,
                reads = judged_expert_reads(a, r),
                rows = tokens * r->experts.top_k * judged_rows(a, r, MULTIPLIED) * parts / t / held;
    return seconds + alone_s(&l, rates, (struct shape_of_product){tokens, all / t, h, 1}) +
           alone_s(&l, rates, (struct shape_of_product){rows, made * wide, reads, held, true}) +
           alone_s(&l, rates, (struct shape_of_product){rows, reads, wide, held, true});
}

void unfused_products(const struct price_audit *a, int run, int group,
                      const struct precision_costs *rates, struct piece piece, struct work *w)
{
    const struct layout *layout = layout_of(a);
    const struct shape *s = &a->problem->model.shape;
    struct limits l = limits_of(a, group, rates, 1);
    long double heads = attentions_of(run_of(a, run)) * a->sequences * (long double)s->heads /
                        a->outer,
                rows = piece.length, keys = (piece.behind + piece.length) / layout->context,
                width = s->head_width, sums = a->summed / s->heads, e = a->value_bytes;
    struct shape_of_product scores = {rows, keys, width, heads}, sum = {rows, sums, keys, heads};
    w->attention = one_s(&l, scores, e) + one_s(&l, sum, e);
    // Both factors of each product: of the weighted sum, scores and values; of the scores, queries
    // and keys.
    w->attention_back = one_s(&l, (struct shape_of_product){rows, keys, sums, heads}, e) +
                        one_s(&l, (struct shape_of_product){keys, sums, rows, heads}, e) +
                        one_s(&l, (struct shape_of_product){rows, width, keys, heads}, e) +
                        one_s(&l, (struct shape_of_product){keys, width, rows, heads}, e);
}

// An array is full only where heads are as deep as it has rows and as wide as it has columns, or a
// multiple. Forward: scores, deep; their sums, wide. Backward: scores again and the gradients of
// weights of the sum, deep; those of queries, keys and values, wide.
long double judged_filled_arrays(const struct price_audit *a, int group, bool back)
{
    const struct matrix_arrays *y = &gpu_of(a, group)->arrays;
    const struct shape *s = &a->problem->model.shape;
    if (!(y->units > 0) || s->heads == 0) return 1;
    long double key = s->head_width, value = a->summed / s->heads;
    if (!(key > 0 && value > 0)) return 1;
    long double key_deep = rounds_up(a, key, y->rows) * y->rows,
                key_wide = rounds_up(a, key, y->columns) * y->columns,
                value_deep = rounds_up(a, value, y->rows) * y->rows,
                value_wide = rounds_up(a, value, y->columns) * y->columns;
    return back ? (3 * key + 2 * value) / (key_deep + 2 * key_wide + value_deep + value_wide)
                : (key + value) / (key_deep + value_wide);
}

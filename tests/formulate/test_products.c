// Matrix products by their shapes: against tiles assigned one by one to processors, laws that hold
// for any shape, and a block's passes summed by hand.
#include "data/kinds/schedules.h"
#include "tests/support/price_bench.h"
#include "tests/support/check.h"

static void near_to(int64_t a, double b)
{
    if (fabs((double)a - b) > 1.01) fail_msg("%lld and %.3f", (long long)a, b);
}

// The values in the costs.
struct machine {
    double launch, flop_per_s, tile_flop_per_s, bytes_per_s;
    int processors;
    double square_share; // 0: not stated
};

static const struct machine usual = {5e-6, 0.9e15, 1.4e15, 3.3e12, 132, 0.8};

static void set_machine(struct gpu_costs *gpu, struct precision_costs *rates,
                        const struct machine *m)
{
    gpu->product_launch_s = exactly(m->launch);
    gpu->processors = exactly(m->processors);
    rates->product_flop_per_s = exactly(m->flop_per_s);
    rates->product_tile_flop_per_s = exactly(m->tile_flop_per_s);
    rates->product_bytes_per_s = exactly(m->bytes_per_s);
    if (m->square_share > 0) rates->product_square_tile_share = exactly(m->square_share);
}

static double kernel_of(const struct machine *m, int rows, int columns, int depth)
{
    struct gpu_costs gpu = {.gpu = "G"};
    struct precision_costs rates = {.precision = BF16};
    set_machine(&gpu, &rates, m);
    return product_kernel_s(&gpu, &rates, rows, columns, depth);
}

// Every tile goes to the next processor in turn; the one with most tiles ends last.
static double dealt_out(const struct machine *m, int count, int rows, int columns, int depth,
                        int parts, int width)
{
    int *load = calloc((size_t)m->processors, sizeof *load), next = 0, most = 0;
    for (int matrix = 0; matrix < count; matrix++)
        for (int top = 0; top < rows; top += 128)
            for (int left = 0; left < columns; left += width)
                for (int part = 0; part < parts; part++) {
                    if (++load[next] > most) most = load[next];
                    next = (next + 1) % m->processors;
                }
    free(load);
    double share = width == 128 && m->square_share > 0 ? m->square_share : 1,
           one_processor = share * m->tile_flop_per_s / m->processors,
           sums = parts == 1 ? 0 : 4.0 * (parts + 1) * count * rows * columns / m->bytes_per_s;
    return most * (2.0 * 128 * width * depth / parts) / one_processor + sums;
}

static double by_hand(const struct machine *m, int count, int rows, int columns, int depth,
                      double written_bytes)
{
    double best = INFINITY;
    for (int parts = 1; parts < 8; parts *= 2)
        for (int width = 128; width <= 256; width += 128)
            best = fmin(best, dealt_out(m, count, rows, columns, depth, parts, width));
    double work = 2.0 * count * rows * columns * depth / m->flop_per_s,
           moved = ((double)rows * depth + (double)columns * depth) * 2 * count +
                   written_bytes * rows * columns * count;
    return m->launch + hypot(hypot(best, work), moved / m->bytes_per_s);
}

static struct machine random_machine(struct random *rng)
{
    return (struct machine){1e-7 * (double)random_between(rng, 0, 100),
                            1e13 * (double)random_between(rng, 1, 100),
                            1e13 * (double)random_between(rng, 1, 100),
                            1e11 * (double)random_between(rng, 1, 50),
                            (int)random_between(rng, 1, 300),
                            random_chance(rng, 30) ? 0
                                                   : 0.01 * (double)random_between(rng, 30, 100)};
}

TEST(tiles_are_dealt_out)
{
    struct random rng = {7};
    for (int i = 0; i < 3000; i++) {
        struct machine m = random_machine(&rng);
        int rows = (int)random_between(&rng, 1, 3000), columns = (int)random_between(&rng, 1, 3000),
            depth = (int)random_between(&rng, 1, 20000);
        double want = by_hand(&m, 1, rows, columns, depth, 2),
               got = kernel_of(&m, rows, columns, depth);
        if (!(fabs(got / want - 1) < 1e-12))
            fail_msg("%d x %d, %d deep: %.15g and %.15g", rows, columns, depth, got, want);
    }
}

// More of anything takes no less time; twice the tile of a wave that is full takes twice the time
// of its tiles; a limit that is not stated is none.
TEST(laws)
{
    struct random rng = {8};
    for (int i = 0; i < 3000; i++) {
        struct machine m = random_machine(&rng);
        int size[3], more[3];
        for (int k = 0; k < 3; k++) more[k] = size[k] = (int)random_between(&rng, 1, 9000);
        more[random_between(&rng, 0, 2)] += (int)random_between(&rng, 1, 300);
        assert_true(kernel_of(&m, more[0], more[1], more[2]) >=
                    kernel_of(&m, size[0], size[1], size[2]));
    }
    struct machine tiles = usual, free_of_it = usual;
    tiles.launch = 0, tiles.flop_per_s = 1e20, tiles.bytes_per_s = 1e20, tiles.processors = 128;
    double wave = kernel_of(&tiles, 2048, 2048, 4096),
           one_more = kernel_of(&tiles, 2049, 2048, 4096);
    assert_true(fabs(wave / (2.0 * 2048 * 2048 * 4096 / tiles.tile_flop_per_s) - 1) < 1e-9);
    assert_true(one_more > 1.1 * wave); // a wave for a few tiles, cut in parts of the depth
    free_of_it.processors = 0, free_of_it.bytes_per_s = 0;
    assert_true(fabs(kernel_of(&free_of_it, 999, 555, 333) -
                     (usual.launch + 2.0 * 999 * 555 * 333 / usual.flop_per_s)) < 1e-15);
}

// ---- arrays

struct array_machine {
    int units, rows, columns;
    double clock_hz, buffer_bytes, bytes_per_s;
};

// Cycle by cycle: a row of the block is loaded in each of the first cycles; then token i enters row
// r of the array r cycles after row 0, and moves on by a column a cycle. When does the last
// multiplier end?
static int cycles_of_block(const struct array_machine *a, int tokens)
{
    int last = 0;
    for (int token = 0; token < tokens; token++)
        for (int row = 0; row<a->rows; row += a->rows> 1 ? a->rows - 1 : 1)
            for (int column = 0; column < a->columns; column++) {
                int end = a->rows + token + row + column + 1;
                if (end > last) last = end;
            }
    return last;
}

// Blocks are dealt to the arrays in turn, rows of all blocks in 1, 2 or 4 parts.
static double on_arrays(const struct array_machine *a, int count, int rows, int columns, int depth,
                        double written_bytes)
{
    double best = INFINITY, most = 0;
    for (int parts = 1; parts <= 4; parts *= 2) {
        int *load = calloc((size_t)a->units, sizeof *load), next = 0, longest = 0;
        for (int matrix = 0; matrix < count; matrix++)
            for (int top = 0; top < depth; top += a->rows)
                for (int left = 0; left < columns; left += a->columns)
                    for (int part = 0; part < parts; part++) {
                        if (++load[next] > longest) longest = load[next];
                        next = (next + 1) % a->units;
                    }
        free(load);
        double filling = cycles_of_block(a, 1) - 1;
        best = fmin(best, longest * (filling + (double)rows / parts) / a->clock_hz);
    }
    double once = 2.0 * ((double)rows * depth + (double)columns * depth) +
                  written_bytes * rows * columns;
    most = once;
    if (a->buffer_bytes > 0)
        most = fmax(once, 4.0 * rows * columns * depth / sqrt(a->buffer_bytes / 2) +
                              written_bytes * rows * columns);
    return fmax(best, a->bytes_per_s > 0 ? count * most / a->bytes_per_s : 0);
}

TEST(arrays_keep_weights_while_rows_stream)
{
    struct random rng = {9};
    int bound_by[2] = {0, 0};
    for (int i = 0; i < 2000; i++) {
        struct array_machine a = {
            (int)random_between(&rng, 1, 40),
            (int)random_between(&rng, 1, 200),
            (int)random_between(&rng, 1, 200),
            1e6 * (double)random_between(&rng, 100, 2000),
            random_chance(&rng, 60) ? (double)random_between(&rng, 1, 1 << 20) : 0,
            random_chance(&rng, 80) ? 1e9 * (double)random_between(&rng, 1, 999) : 0};
        struct gpu_costs gpu = {.gpu = "G",
                                .processors = exactly(7), // have no say
                                .arrays = {a.units, a.rows, a.columns, a.clock_hz, a.buffer_bytes}};
        struct precision_costs rates = {.precision = BF16,
                                        .product_flop_per_s = exactly(1e13),
                                        .product_tile_flop_per_s = exactly(1e12),
                                        .product_bytes_per_s = exactly(a.bytes_per_s)};
        int rows = (int)random_between(&rng, 1, 600), columns = (int)random_between(&rng, 1, 900),
            depth = (int)random_between(&rng, 1, 900);
        double want = on_arrays(&a, 1, rows, columns, depth, 2),
               got = product_kernel_s(&gpu, &rates, rows, columns, depth),
               at_peak = (double)rows * columns * depth /
                         (a.units * a.rows * a.columns * a.clock_hz);
        if (!(fabs(got / want - 1) < 1e-12))
            fail_msg("%d x %d, %d deep: %.15g and %.15g", rows, columns, depth, got, want);
        assert_true(got >= at_peak * (1 - 1e-12));
        assert_int_equal(cycles_of_block(&a, rows), 2 * a.rows + a.columns - 2 + rows);
        gpu.arrays.units *= 2;
        assert_true(product_kernel_s(&gpu, &rates, rows, columns, depth) <= got);
        bound_by[got > 1.0001 * product_kernel_s(&gpu, &rates, rows, columns, depth)]++;
    }
    assert_true(bound_by[0] > 100 && bound_by[1] > 100);
}

// h 1024, 16 heads of 64, 8 KV heads, gated 4096, n = 2 x 512.
static double forward_products(const struct machine *m, int n, int t)
{
    return by_hand(m, 1, n, 2048 / t, 1024, 2) + by_hand(m, 1, n, 1024, 1024 / t, 2) +
           by_hand(m, 1, n, 8192 / t, 1024, 2) + by_hand(m, 1, n, 1024, 4096 / t, 2);
}

static double input_products(const struct machine *m, int n)
{
    return by_hand(m, 1, n, 1024, 2048, 2) + by_hand(m, 1, n, 1024, 1024, 2) +
           by_hand(m, 1, n, 1024, 8192, 2) + by_hand(m, 1, n, 4096, 1024, 2);
}

// Gradients of 2 bytes, read and written.
static double weight_products(const struct machine *m, int n)
{
    return by_hand(m, 1, 2048, 1024, n, 4) + by_hand(m, 1, 1024, 1024, n, 4) +
           by_hand(m, 1, 8192, 1024, n, 4) + by_hand(m, 1, 1024, 4096, n, 4);
}

TEST(passes_of_a_block)
{
    struct bench *b = bench_gated();
    set_machine(&b->gpus[0], &b->precisions[0], &usual);
    b->gpus[0].elementwise_launch_s = exactly(2e-6);
    b->gpus[0].score_cells_per_s = exactly(3e12);
    b->gpus[0].megatron_step_factor = exactly(1.1);
    // Causal cells of 16 heads, with those of the blocks of 128 on the diagonal.
    double cells = 2.0 * 16 * 512 * 256, computed = 2.0 * 16 * 512 * 320,
           elementwise = (10.0 * 1024 * 1024 * 2 + 3.0 * 1024 * 4096 * 2) / 1e12,
           attention = 4 * 64 * computed / 50e12 + cells / 3e12 + usual.launch,
           attention_back = 2.5 * 4 * 64 * computed / 50e12 + cells / 3e12 + 2 * usual.launch,
           forward = forward_products(&usual, 1024, 1) + attention + elementwise + 12e-6,
           weight = weight_products(&usual, 1024),
           backward = input_products(&usual, 1024) + weight + attention_back + 2 * elementwise +
                      24e-6;
    near_to(block_of(b).forward_ns[0], 1e9 * 1.1 * (forward + 10e-6));
    near_to(block_of(b).backward_ns[0], 1e9 * 1.1 * (backward + 10e-6));
    near_to(block_of(b).again_ns[RECOMPUTE_SELECTIVE][0], 1e9 * 1.1 * attention);
    double logits = by_hand(&usual, 1, 1024, 32000, 1024, 2),
           loss = (2.0 * 1024 * 1024 * 2 + 12.0 * 1024 * 32000) / 1e12;
    near_to(b->priced.runs[HEAD].forward_ns[0], 1e9 * 1.1 * (logits + loss + 20e-6));
    b->problem.job.layout.schedule = SCHEDULE_ZB_H1;
    near_to(block_of(b).weight_ns[0], 1e9 * 1.1 * weight);
    b->problem.job.layout.schedule = SCHEDULE_1F1B;
    b->problem.job.layout.fused_attention = false;
    double scores = by_hand(&usual, 32, 512, 512, 64, 2),
           context = by_hand(&usual, 32, 512, 64, 512, 2);
    near_to(block_of(b).again_ns[RECOMPUTE_SELECTIVE][0],
            1e9 * 1.1 * (scores + context + 6.0 * 2 * 16 * 512 * 512 * 2 / 1e12));
    // Who is not known does as Megatron-LM, at a factor of its own where there is one.
    int64_t known = block_of(b).again_ns[RECOMPUTE_SELECTIVE][0];
    b->problem.job.trainer = TRAINER_OTHER;
    assert_int_equal(block_of(b).again_ns[RECOMPUTE_SELECTIVE][0], known);
    b->gpus[0].other_step_factor = exactly(1.65);
    near_to(block_of(b).again_ns[RECOMPUTE_SELECTIVE][0], 1.5 * (double)known);
    b->problem.job.trainer = TRAINER_MEGATRON;
    assert_int_equal(block_of(b).again_ns[RECOMPUTE_SELECTIVE][0], known);
    // The factor of sharded weights replaces the trainer's.
    b->gpus[0].sharded_step_factor = exactly(2.2);
    int64_t before = block_of(b).again_ns[RECOMPUTE_SELECTIVE][0];
    b->problem.job.layout.zero = 3;
    near_to(block_of(b).again_ns[RECOMPUTE_SELECTIVE][0], 2.0 * (double)before);
}

// Halving the columns over two tensor ranks does not halve the time of a block whose waves are not
// full.
TEST(small_products_do_not_scale)
{
    struct bench *b = bench_gated();
    set_machine(&b->gpus[0], &b->precisions[0], &usual);
    int64_t alone = block_of(b).forward_ns[0];
    b->problem.job.layout.tensor = 2;
    double halved = forward_products(&usual, 1024, 2), whole = forward_products(&usual, 1024, 1);
    assert_true(halved > 0.6 * whole && halved < whole);
    assert_true(block_of(b).forward_ns[0] > alone / 2);
}

// Two experts a device, each with what the router sends it, are one kernel.
TEST(experts_together)
{
    struct bench *b = bench_gated();
    set_machine(&b->gpus[0], &b->precisions[0], &usual);
    b->runs[BLOCK].kind = LAYER_MOE;
    b->runs[BLOCK].experts =
        (struct expert_shape){.experts = 8, .top_k = 2, .ffn = 2048, .imbalance = 1};
    b->problem.job.layout.data = 4, b->problem.job.layout.expert = 4;
    double products =
        by_hand(&usual, 1, 1024, 2048, 1024, 2) + by_hand(&usual, 1, 1024, 1024, 1024, 2) +
        by_hand(&usual, 1, 1024, 8, 1024, 2) + by_hand(&usual, 2, 1024, 4096, 1024, 2) +
        by_hand(&usual, 2, 1024, 1024, 2048, 2);
    struct layer_kernels k;
    price(b);
    assert_true(price_layer_kernels(&k, &b->problem, BLOCK, 0));
    double elsewhere =
        (10.0 * 1024 * 1024 * 2 + 3.0 * 2048 * 2048 * 2 + 8.0 * 2048 * 1024 * 2 + 8.0 * 1024 * 8) /
            1e12 +
        k.selective_s;
    if (!(fabs(k.forward_s - products - elsewhere) < 1e-12))
        fail_msg("%.15g and %.15g", k.forward_s, products + elsewhere);
}

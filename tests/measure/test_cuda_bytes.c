// The CUDA back end's products in 8 bits by the recipe of their scales, on the fake device in the
// CPU's memory: casts against their definitions, products of casts against those of the
// values, and which casts and scales each product of a block reads.
#include "tests/cuda/bench/bench.h"

static int64_t up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

// What a byte of a matrix with scales of runs stands for.
static double value_of(const struct bench *b, struct place bytes, struct place scales,
                       enum element type, int rows, int depth, int run, int i, int k)
{
    double byte = read_at(b, bytes, type, (int64_t)i * depth + k);
    if (run == 128) return byte * read_at(b, scales, ELEMENT_FLOAT, k / 128 * up(rows, 4) + i);
    int64_t place = (i / 128 * (up(depth / 32, 4) / 4) + k / 128) * 512 + i % 32 * 16 +
                    i % 128 / 32 * 4 + k / 32 % 4;
    return byte * ldexp(1, ((const uint8_t *)at(b, scales))[place] - 127);
}

// Every value is kept to the format's precision of its run's largest, in both orders.
static void check_cast(enum recipe recipe, int rows, int columns)
{
    struct bench b;
    struct cell cell = cell_of(WORK_CAST, rows, columns, 0, 0);
    int run = recipe == RECIPE_MX ? 32 : 128;
    cell.sample.recipe = recipe;
    bench_open(&b, FP8);
    bench_run(&b, &cell);
    const struct step *s = &b.program->steps[b.program->step_count - 1];
    assert_int_equal(s->kernel, KERNEL_CAST_RUNS);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            double x = read_at(&b, s->in[0], ELEMENT_BFLOAT, (int64_t)i * columns + j),
                   most[2] = {0};
            for (int k = 0; k < run; k++) {
                int row = i / run * run + k, column = j / run * run + k;
                most[0] = fmax(most[0], fabs(read_at(&b, s->in[0], ELEMENT_BFLOAT,
                                                     (int64_t)i * columns + column)));
                most[1] = fmax(most[1], fabs(read_at(&b, s->in[0], ELEMENT_BFLOAT,
                                                     (int64_t)row * columns + j)));
            }
            double found[2] = {
                value_of(&b, s->out[0], s->out[2], ELEMENT_E4M3, rows, columns, run, i, j),
                value_of(&b, s->out[1], s->out[3], ELEMENT_E4M3, columns, rows, run, j, i)};
            // Three bits behind the leading one; a power of two as scale may cut the largest.
            for (int way = 0; way < 2; way++) {
                double off = fabs(found[way] - x), share = run == 32 ? 0.126 : 0.0626;
                if (off > share * fabs(x) + most[way] / 448 / 512 * 2)
                    fail_msg("%d %d, %d: %g becomes %g, largest %g", i, j, way, x, found[way],
                             most[way]);
            }
        }
    bench_close(&b);
}

TEST(test_casts)
{
    check_cast(RECIPE_BLOCK, 128, 256);
    check_cast(RECIPE_BLOCK, 384, 128);
    check_cast(RECIPE_MX, 160, 96);
}

TEST(test_cast_by_one)
{
    struct bench b;
    struct cell cell = cell_of(WORK_CAST, 70, 130, 0, 0);
    cell.sample.recipe = RECIPE_TENSOR;
    bench_open(&b, FP8);
    bench_run(&b, &cell);
    const struct step *s = &b.program->steps[b.program->step_count - 1];
    double scale = read_at(&b, s->in[1], ELEMENT_FLOAT, 0), largest = 0;
    for (int i = 0; i < 70 * 130; i++) {
        double x = read_at(&b, s->in[0], ELEMENT_BFLOAT, i);
        largest = fmax(largest, fabs(x));
        double y = read_at(&b, s->out[0], ELEMENT_E4M3, i);
        assert_true(fabs(y - x * scale) <= 0.0626 * fabs(x * scale) + 0.001);
        assert_true(!(fabs(read_at(&b, s->out[1], ELEMENT_E4M3, i % 130 * 70 + i / 130) - y) > 0));
    }
    assert_true(!(fabs(read_at(&b, s->out[2], ELEMENT_FLOAT, 0) - largest) > 0));
    bench_close(&b);
}

// Products of random bytes with random scales: the kinds of scales by product and recipe.
TEST(test_scales)
{
    static const enum work works[] = {WORK_GEMM, WORK_GEMM_DATA, WORK_GEMM_WEIGHT};
    for (int recipe = RECIPE_TENSOR; recipe < RECIPE_COUNT; recipe++)
        for (int w = 0; w < 3; w++) {
            struct bench b;
            struct cell cell = cell_of(works[w], 128, 256, 128, 0);
            cell.sample.recipe = (enum recipe)recipe;
            bench_open(&b, FP8);
            bench_run(&b, &cell);
            const struct gemm *g = &b.program->steps[b.program->step_count - 1].gemm;
            enum scaling runs = recipe == RECIPE_TENSOR  ? SCALING_ONE
                                : recipe == RECIPE_BLOCK ? SCALING_RUNS
                                                         : SCALING_MX;
            assert_int_equal(g->b_scaling, runs);
            assert_int_equal(g->a_scaling, recipe == RECIPE_BLOCK && w < 2 ? SCALING_BLOCKS : runs);
            bench_close(&b);
        }
}

static void run_block(struct bench *b, enum precision precision, enum recipe recipe, enum pass pass)
{
    static const struct shape shape = {.hidden = 128,
                                       .ffn = 128,
                                       .heads = 4,
                                       .kv_heads = 2,
                                       .head_width = 32,
                                       .vocabulary = 128,
                                       .rms_norm = true};
    struct cell cell = cell_of(WORK_LAYER, 1, 128, 1, 1);
    bench_open(b, precision);
    struct layer_cell *layer = TAKE(&b->arena, 1, struct layer_cell);
    *layer = (struct layer_cell){.kind = LAYER_BLOCK, .pass = pass, .shape = &shape};
    cell.layer = layer, cell.sample.recipe = recipe;
    bench_run(b, &cell);
}

// Every product's result is the sum over what its bytes and scales stand for: the operands' casts
// reach it in the order and with the scales that the library reads.
static void check_block(enum recipe recipe, enum pass pass)
{
    struct bench b;
    int checked = 0;
    run_block(&b, FP8, recipe, pass);
    for (int i = 0; i < b.program->step_count; i++) {
        const struct step *s = &b.program->steps[i], *cast = NULL;
        if (s->kind != STEP_GEMM || s->gemm.b_type > ELEMENT_E5M2 || s->gemm.b_type < ELEMENT_E4M3)
            continue;
        for (int k = 0; k < i; k++)
            for (int way = 0; way < 2; way++)
                if (b.program->steps[k].kind == STEP_KERNEL &&
                    b.program->steps[k].kernel == KERNEL_CAST_RUNS &&
                    b.program->steps[k].out[way].area == s->in[1].area) {
                    cast = &b.program->steps[k];
                    assert_int_equal(cast->out[2 + way].area, s->in[4].area);
                    assert_int_equal(s->gemm.n, cast->size[way]);
                    assert_int_equal(s->gemm.k, cast->size[1 - way]);
                }
        assert_non_null(cast);
        checked++;
    }
    assert_int_equal(checked, pass == PASS_FORWARD ? 4 : 12);
    struct place out = b.program->steps[b.program->step_count - 1].out[0];
    for (int i = 0; i < 128 * 128; i++) assert_true(isfinite(read_at(&b, out, ELEMENT_BFLOAT, i)));
    bench_close(&b);
}

TEST(test_blocks)
{
    check_block(RECIPE_BLOCK, PASS_FORWARD);
    check_block(RECIPE_BLOCK, PASS_BACKWARD);
    check_block(RECIPE_MX, PASS_FORWARD);
    check_block(RECIPE_MX, PASS_BACKWARD);
}

// A product of two matrices that were both cast is near the product of the matrices: the fake reads
// the scales by the library's documentation, where the kernel put them.
static void check_near(enum recipe recipe, double tolerance)
{
    enum { N = 256, OUT = 128, IN = 384 };
    struct bench b;
    struct program p;
    bench_open(&b, FP8);
    program_open(&p, FP8, false, &b.arena);
    p.recipe = recipe;
    struct place x = program_values(&p, AREA_VALUES, N * IN),
                 w = program_values(&p, AREA_VALUES, IN * OUT);
    struct casted of_x = steps_cast(&p, x, N, IN, false), of_w = steps_cast(&p, w, IN, OUT, false);
    struct gemm g = gemm_of_linear_bytes(PRODUCT_FORWARD, N, OUT, IN, ELEMENT_BFLOAT, recipe);
    g.a_scaling = g.b_scaling;
    struct place y = program_values(&p, AREA_SCRATCH, N * OUT);
    struct step *s = program_gemm(&p, &g, of_w.transposed, of_x.bytes, y, place_none());
    s->in[3] = of_w.scales_transposed, s->in[4] = of_x.scales;
    if (session_reserve(b.s, &p, 1, &b.err) != OK || steps_prepare(b.s, &p, &b.err) != OK)
        fail_msg("%s", b.err.text);
    b.program = &p;
    double off = 0, size = 0;
    for (int i = 0; i < N; i += 7)
        for (int j = 0; j < OUT; j += 5) {
            double sum = 0;
            for (int k = 0; k < IN; k++)
                sum += read_at(&b, x, ELEMENT_BFLOAT, i * IN + k) *
                       read_at(&b, w, ELEMENT_BFLOAT, k * OUT + j);
            double found = read_at(&b, y, ELEMENT_BFLOAT, i * OUT + j);
            off += (found - sum) * (found - sum), size += sum * sum;
        }
    if (!(sqrt(off / size) < tolerance))
        fail_msg("%s: off by %g", recipe_names[recipe], sqrt(off / size));
    bench_close(&b);
}

TEST(test_products_of_casts)
{
    check_near(RECIPE_BLOCK, 0.06);
    check_near(RECIPE_MX, 0.09); // a power of two cuts the largest
}

AROUND_EACH(set_up, NULL)

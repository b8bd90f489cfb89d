// Known numbers of matrix products are recovered from samples made with them, whatever the noise,
// and are within their intervals; damaged tables are refused by name.
#include "calibrate/calibrate.h"
#include "calibrate/fit/fit.h"
#include "formulate/price/price.h"
#include "tests/support/check.h"
#include "tests/support/problems.h"

enum { SHAPES = 20, LENGTHS = 12 };
static const double truth[PRODUCT_NUMBERS] = {4.1e14, 0.8, 2.6e14, 1.9e12, 6e-6, 1.25, 1.15},
                    begin[PRODUCT_NUMBERS] = {6e14, 0.9, 2e14, 3e12, 2e-6};

static struct estimate guess(double value)
{
    return (struct estimate){.value = value, .low = value, .high = value};
}

static void set_numbers(struct gpu_costs *gpu, struct precision_costs *rates, const double *n)
{
    *rates = (struct precision_costs){.precision = BF16,
                                      .product_tile_flop_per_s = guess(n[PRODUCT_TILES]),
                                      .product_square_tile_share = guess(n[PRODUCT_SQUARE]),
                                      .product_flop_per_s = guess(n[PRODUCT_FLOP]),
                                      .product_bytes_per_s = guess(n[PRODUCT_BYTES])};
    *gpu = (struct gpu_costs){
        .gpu = "G", .product_launch_s = guess(n[PRODUCT_LAUNCH]), .processors = guess(108)};
}

// The meaning of the last two numbers, computed separately: FLOP of a short product take less, by
// how much of a millisecond they leave; every third shape of the samples has zero operands.
static double time_alone(const struct gpu_costs *gpu, const struct precision_costs *rates,
                         const struct product_sample *s, double long_factor, double zeros_factor)
{
    struct precision_costs here = *rates;
    double ms = 1e3 * 2 * s->rows * s->columns * s->depth / rates->product_flop_per_s.value,
           taken = ms / (1 + ms) + 1 / (1 + ms) / long_factor;
    here.product_flop_per_s.value /= s->zeros ? taken / zeros_factor : taken;
    return product_kernel_s(gpu, &here, s->rows, s->columns, s->depth);
}

static int make_samples(struct product_sample *to, double noise, bool alone, struct random *rng)
{
    struct gpu_costs gpu;
    struct precision_costs rates;
    int count = 0;
    set_numbers(&gpu, &rates, truth);
    for (int shape = 0; shape < SHAPES; shape++) {
        double columns = (double)random_between(rng, 2, 200) * 64,
               depth = (double)random_between(rng, 2, 100) * 64;
        for (int i = 0; i < LENGTHS; i++) {
            struct product_sample s = {.rows = floor(64 * pow(1.5, i)),
                                       .columns = columns,
                                       .depth = depth,
                                       .zeros = alone && shape % 3 == 0};
            double error = noise * ((double)random_between(rng, 0, 2000) / 1000 - 1);
            s.seconds = exp(error) * time_alone(&gpu, &rates, &s, alone ? truth[PRODUCT_LONG] : 1,
                                                truth[PRODUCT_ZEROS]);
            to[count++] = s;
        }
    }
    return count;
}

// How many of the numbers are in their intervals.
static int try_planted(double noise, bool alone, struct random *rng)
{
    struct gpu_costs gpu;
    struct precision_costs rates;
    struct product_sample samples[SHAPES * LENGTHS];
    struct product_fit fit;
    int held = 0;
    struct arena_mark mark = arena_set_mark(&own_arena);
    int count = make_samples(samples, noise, alone, rng);
    set_numbers(&gpu, &rates, begin);
    MUST(products_fit(&fit, samples, count, alone, &gpu, &rates, &own_arena, &own_err));
    assert_int_equal(fit.shape_count, SHAPES);
    for (int k = 0; k < (alone ? PRODUCT_NUMBERS : PRODUCT_LONG); k++) {
        const struct estimate *e = &fit.numbers[k];
        if (!(fabs(e->value / truth[k] - 1) < (noise > 0 ? 2 * noise : 2e-3)))
            fail_msg("number %d: %g for %g", k, e->value, truth[k]);
        held += e->low <= truth[k] && truth[k] <= e->high;
    }
    assert_true(fit.fitted.all < 0.6 * noise + 1e-3 && fit.kept_back.all < 0.7 * noise + 1e-3);
    arena_reset(&own_arena, mark);
    return held;
}

TEST(planted_numbers_come_out)
{
    struct random rng = {3};
    int held = 0;
    try_planted(0, false, &rng);
    try_planted(0, true, &rng);
    for (int i = 0; i < 20; i++) held += try_planted(i % 2 ? 0.02 : 0.1, i % 2, &rng);
    print_message("%d of 120 intervals hold the number\n", held);
    assert_true(held >= 102);
}

// If short products are not faster, or no larger tile is, the numbers state that, and the others
// are recovered.
TEST(numbers_without_cause)
{
    struct random rng = {6};
    struct gpu_costs gpu;
    struct precision_costs rates;
    struct product_sample samples[SHAPES * LENGTHS];
    struct product_fit fit;
    int count = make_samples(samples, 0.02, false, &rng);
    set_numbers(&gpu, &rates, begin);
    CHECK_OK(products_fit(&fit, samples, count, true, &gpu, &rates, arena, &err));
    assert_true(fit.numbers[PRODUCT_LONG].value == 0 && fit.numbers[PRODUCT_ZEROS].value == 0);
    assert_true(fabs(fit.numbers[PRODUCT_FLOP].value / truth[PRODUCT_FLOP] - 1) < 0.04);
    set_numbers(&gpu, &rates, truth);
    rates.product_square_tile_share = guess(1);
    for (int i = 0; i < count; i++)
        samples[i].seconds = time_alone(&gpu, &rates, &samples[i], 1, 1);
    set_numbers(&gpu, &rates, begin);
    CHECK_OK(products_fit(&fit, samples, count, false, &gpu, &rates, arena, &err));
    assert_true(fit.numbers[PRODUCT_SQUARE].value > 0.98);
    assert_true(fabs(fit.numbers[PRODUCT_TILES].value / truth[PRODUCT_TILES] - 1) < 0.03);
}

// A single erroneous shape widens the intervals, and is reported when it is held back.
TEST(shapes_that_err)
{
    struct random rng = {4};
    struct gpu_costs gpu;
    struct precision_costs rates;
    struct product_sample samples[SHAPES * LENGTHS];
    struct product_fit fit[2];
    int count = make_samples(samples, 0.02, false, &rng);
    for (int k = 0; k < 2; k++) {
        set_numbers(&gpu, &rates, truth);
        CHECK_OK(products_fit(&fit[k], samples, count, false, &gpu, &rates, arena, &err));
        for (int i = 0; i < count; i++)
            if (i / LENGTHS % 2) samples[i].seconds *= 1.3;
    }
    assert_true(fit[1].kept_back.all > 0.1 && fit[0].kept_back.all < 0.03);
    assert_true(fit[1].numbers[PRODUCT_FLOP].high / fit[1].numbers[PRODUCT_FLOP].low >
                1.5 * fit[0].numbers[PRODUCT_FLOP].high / fit[0].numbers[PRODUCT_FLOP].low - 0.5);
    set_numbers(&gpu, &rates, truth);
    CHECK_REFUSED(products_fit(fit, samples, 3, false, &gpu, &rates, arena, &err),
                  "8 shapes, found 1");
    gpu.processors = guess(0), err = (struct error){OK, ""};
    CHECK_REFUSED(products_fit(fit, samples, count, false, &gpu, &rates, arena, &err),
                  "processors");
}

// One's own samples against costs that price products by their shapes: the costs that come out.
static struct gpu_costs calibrate_own(const struct product_sample *products, int count,
                                      enum before before, struct arena *arena)
{
    struct gpu_costs gpu;
    struct precision_costs rates;
    struct inputs inputs;
    struct calibration c;
    set_numbers(&gpu, &rates, begin);
    rates.gemm_flop_per_s = rates.attention_flop_per_s = guess(1e14);
    gpu.precisions = &rates, gpu.precision_count = 1, gpu.memory_bytes_per_s = guess(1e12);
    struct costs base = {
        .name = "base", .document = {.path = "base.json"}, .gpus = &gpu, .gpu_count = 1};
    struct samples samples = {.samples = TAKE(arena, count, struct sample),
                              .machine = {.gpu = "G"},
                              .document = {.path = "samples.json"}};
    strcpy(samples.document.sha256, "aabbccddeeff");
    for (int i = 0; i < count; i++) {
        const struct product_sample *p = &products[i];
        if (p->zeros) continue; // no measuring of ours has such
        struct sample *to = &samples.samples[samples.sample_count++];
        *to = (struct sample){
            .kind = SAMPLE_GEMM,
            .operation = "up",
            .precision = BF16,
            .from = -1,
            .to = -1,
            .before = before,
            .repetitions = 9,
            .stopped_by = "count",
            .dimensions = {(int64_t)p->rows, (int64_t)p->columns, (int64_t)p->depth},
            .dimension_count = 3,
            .flop = 2 * p->rows * p->columns * p->depth,
            .seconds = TAKE(arena, 9, double)};
        for (int k = 0; k < 9; k++) to->seconds[k] = p->seconds;
    }
    const struct calibrate_settings settings = {.output = "costs.json", .base = &base};
    MUST(inputs_join(&inputs, &samples, 1, NULL, arena, &own_err));
    MUST(calibrate(&c, &inputs, &settings, arena, &own_err));
    assert_true(c.costs.gpus[0].precisions[0].gemm_flop_per_s.value > 0);
    return c.costs.gpus[0];
}

static double flop_off(const struct gpu_costs *g)
{
    return g->precisions[0].product_flop_per_s.value / truth[PRODUCT_FLOP] - 1;
}

// Enough shapes give their numbers anew; of few, the measured line takes their place.
TEST(own_samples)
{
    struct random rng = {5};
    struct product_sample products[SHAPES * LENGTHS];
    int count = make_samples(products, 0.01, false, &rng);
    struct gpu_costs all = calibrate_own(products, count, BEFORE_UNKNOWN, arena);
    struct gpu_costs few = calibrate_own(products, 4 * LENGTHS, BEFORE_UNKNOWN, arena);
    assert_true(few.precisions[0].product_flop_per_s.value == 0);
    assert_true(fabs(flop_off(&all)) < 0.03);
    assert_true(fabs(all.precisions[0].product_bytes_per_s.value / truth[PRODUCT_BYTES] - 1) <
                0.03);
    assert_int_equal(all.precisions[0].product_flop_per_s.origin, ORIGIN_FITTED);
    assert_true(all.layer_overhead_s.value == 0); // counted by kernels
}

// Products timed after a rest: their rate is that of a long product only where they say so.
TEST(own_samples_after_a_rest)
{
    struct random rng = {6};
    struct product_sample products[SHAPES * LENGTHS];
    int count = make_samples(products, 0.003, true, &rng);
    struct gpu_costs said = calibrate_own(products, count, BEFORE_REST, arena),
                     silent = calibrate_own(products, count, BEFORE_UNKNOWN, arena);
    assert_true(fabs(flop_off(&said)) < 0.02);
    assert_true(flop_off(&silent) > 2 * fabs(flop_off(&said)) && flop_off(&silent) > 0.02);
    assert_non_null(strstr(said.precisions[0].product_flop_per_s.source, "a long product's"));
}

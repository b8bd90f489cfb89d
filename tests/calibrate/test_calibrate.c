// Calibration: the coefficients of straight lines are recovered; irrelevant input has no effect;
// published quantiles.
#include "calibrate/calibrate.h"
#include "calibrate/fit/fit.h"
#include "data/numbers/intervals.h"
#include "tests/support/check.h"

static void assert_near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want))) fail_msg("got %.17g, want %.17g", got, want);
}

// Repeatable numbers in [0, 1).
static double draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static void put_line(struct fit_point *points, int count, double overhead, double rate)
{
    for (int i = 0; i < count; i++) {
        double work = 1e6 * (i + 1) * (i + 1), seconds = overhead + work / rate;
        points[i] = (struct fit_point){
            .operation = "line", .work = work, .seconds = seconds, .low = seconds, .high = seconds};
    }
}

TEST(test_exact_line)
{
    for (int count = 2; count <= 30; count++) {
        struct fit_point points[30];
        put_line(points, count, 3e-5, 7.5e10);
        struct fit f;
        CHECK_OK(
            fit_line(&f, "samples.json", "line", LINE_WITH_OVERHEAD, points, count, arena, &err));
        assert_near(f.overhead_s.value, 3e-5, 1e-9);
        assert_near(f.rate.value, 7.5e10, 1e-9);
        assert_true(f.rate.low <= f.rate.value && f.rate.value <= f.rate.high);
        assert_true(f.overhead_s.low <= f.overhead_s.value &&
                    f.overhead_s.value <= f.overhead_s.high);
        assert_false(f.through_zero);
    }
}

// What another rate explains is taken off before the fit.
TEST(test_explained_part)
{
    struct fit_point points[6];
    put_line(points, 6, 1e-5, 2e9);
    for (int i = 0; i < 6; i++) {
        points[i].explained_s = 1e-4 * (i + 1);
        points[i].seconds += points[i].explained_s;
    }
    struct fit f;
    CHECK_OK(fit_line(&f, "samples.json", "line", LINE_WITH_OVERHEAD, points, 6, arena, &err));
    assert_near(f.overhead_s.value, 1e-5, 1e-8);
    assert_near(f.rate.value, 2e9, 1e-8);
}

static void put_noise(struct fit_point *points, int count, uint64_t *seed)
{
    put_line(points, count, 2e-5, 5e10);
    for (int i = 0; i < count; i++) {
        points[i].seconds *= 1 + 0.05 * (draw(seed) - 0.5);
        double width = points[i].seconds * (0.001 + 0.02 * draw(seed));
        points[i].low = points[i].seconds - width / 2;
        points[i].high = points[i].seconds + width / 2;
    }
}

TEST(test_order_does_not_matter)
{
    uint64_t seed = 11;
    struct fit_point points[12], shuffled[12];
    put_noise(points, 12, &seed);
    memcpy(shuffled, points, sizeof points);
    struct fit f, g;
    CHECK_OK(fit_line(&f, "samples.json", "line", LINE_WITH_OVERHEAD, points, 12, arena, &err));
    for (int round = 0; round < 50; round++) {
        for (int i = 11; i > 0; i--) {
            int j = (int)(draw(&seed) * (i + 1));
            struct fit_point p = shuffled[i];
            shuffled[i] = shuffled[j], shuffled[j] = p;
        }
        CHECK_OK(
            fit_line(&g, "samples.json", "line", LINE_WITH_OVERHEAD, shuffled, 12, arena, &err));
        assert_memory_equal(&f.rate, &g.rate, sizeof f.rate);
        assert_memory_equal(&f.overhead_s, &g.overhead_s, sizeof f.overhead_s);
    }
}

// Work in other units: the rate follows, the overhead stays. Time in other units: both follow.
TEST(test_scaling)
{
    uint64_t seed = 12;
    struct fit_point points[9], more[9], slower[9];
    put_noise(points, 9, &seed);
    memcpy(more, points, sizeof points);
    memcpy(slower, points, sizeof points);
    for (int i = 0; i < 9; i++) {
        more[i].work *= 1000;
        slower[i].seconds *= 8, slower[i].low *= 8, slower[i].high *= 8;
    }
    struct fit f, g, h;
    CHECK_OK(fit_line(&f, "samples.json", "line", LINE_WITH_OVERHEAD, points, 9, arena, &err));
    CHECK_OK(fit_line(&g, "samples.json", "line", LINE_WITH_OVERHEAD, more, 9, arena, &err));
    CHECK_OK(fit_line(&h, "samples.json", "line", LINE_WITH_OVERHEAD, slower, 9, arena, &err));
    assert_near(g.rate.value, 1000 * f.rate.value, 1e-10);
    assert_near(g.rate.low, 1000 * f.rate.low, 1e-10);
    assert_near(g.rate.high, 1000 * f.rate.high, 1e-10);
    assert_near(g.overhead_s.value, f.overhead_s.value, 1e-9);
    assert_near(h.rate.value, f.rate.value / 8, 1e-10);
    assert_near(h.overhead_s.value, 8 * f.overhead_s.value, 1e-9);
}

// The weighted residual is orthogonal to each column of the design, and chi-square is its square;
// the covariance is the inverse of the normal matrix (multiplied out here).
TEST(test_normal_equations)
{
    uint64_t seed = 13;
    enum { ROWS = 14, COLUMNS = 3 };
    double design[ROWS * COLUMNS], observed[ROWS], deviation[ROWS];
    for (int i = 0; i < ROWS; i++) {
        design[i * COLUMNS] = 1;
        design[i * COLUMNS + 1] = 1e9 * draw(&seed);
        design[i * COLUMNS + 2] = draw(&seed);
        observed[i] = draw(&seed);
        deviation[i] = 0.01 + draw(&seed);
    }
    struct solution s;
    CHECK_OK(least_squares(&s, ROWS, COLUMNS, design, observed, deviation, arena, &err));
    double chi_square = 0, normal[COLUMNS][COLUMNS] = {{0}};
    for (int j = 0; j < COLUMNS; j++) {
        double product = 0, size = 0;
        for (int i = 0; i < ROWS; i++) {
            double residual = observed[i], weight = 1 / (deviation[i] * deviation[i]);
            for (int k = 0; k < COLUMNS; k++) residual -= design[i * COLUMNS + k] * s.x[k];
            product += weight * residual * design[i * COLUMNS + j];
            size += fabs(weight * residual * design[i * COLUMNS + j]);
            if (j == 0) chi_square += weight * residual * residual;
            for (int k = 0; k < COLUMNS; k++)
                normal[j][k] += weight * design[i * COLUMNS + j] * design[i * COLUMNS + k];
        }
        assert_true(fabs(product) <= 1e-9 * size);
    }
    assert_near(s.chi_square, chi_square, 1e-12);
    for (int j = 0; j < COLUMNS; j++)
        for (int k = 0; k < COLUMNS; k++) {
            double entry = 0, size = 0;
            for (int l = 0; l < COLUMNS; l++) {
                entry += normal[j][l] * s.covariance[l * COLUMNS + k];
                size += fabs(normal[j][l] * s.covariance[l * COLUMNS + k]);
            }
            assert_true(fabs(entry - (j == k)) <= 1e-9 * size);
        }
}

// ---- coverage: a clock with a known truth and heavy tails, samples as they are taken, fits as
// they are made

enum { TRIALS = 3000 };

// Heavy-tailed, of median 0, as a share of the time. By kind: Student's t with 3 degrees of
// freedom; mostly narrow, one in ten late by up to half as much again; Pareto's tail of index 1.5.
static double heavy(int kind, uint64_t *seed)
{
    if (kind == 2) return 0.01 * (pow(1 - draw(seed), -1 / 1.5) - pow(2, 1 / 1.5));
    double normal[4];
    for (int i = 0; i < 4; i++)
        normal[i] = sqrt(-2 * log(1 - draw(seed))) * cos(2 * acos(-1.0) * draw(seed));
    if (kind == 0)
        return 0.02 * normal[0] /
               sqrt((normal[1] * normal[1] + normal[2] * normal[2] + normal[3] * normal[3]) / 3);
    // The late tenth is above the median: the others' quantile 5/9 is the median of all, 0.1397
    // deviations up.
    return draw(seed) < 0.1 ? 0.05 + 0.5 * draw(seed) : 0.01 * (normal[0] - 0.13971);
}

static bool holds(struct interval x, double truth) { return x.low <= truth && truth <= x.high; }

// Overhead, rate, and where there is one the traffic's rate; how many of the trials hold each.
static void cover(int kind, enum line line, int sizes, int repetitions, int held[3],
                  struct arena *arena)
{
    uint64_t seed = (uint64_t)(kind + 1) * 1000 + (uint64_t)sizes;
    const double overhead = 2e-5, rate = 1e11, traffic_rate = 2e10;
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < TRIALS; trial++, arena_reset(arena, mark)) {
        struct fit_point points[24];
        double seconds[64];
        for (int i = 0; i < sizes; i++) {
            double work = 1e6 * pow(64, i / (double)(sizes - 1)),
                   traffic = line == LINE_WITH_TRAFFIC ? 1e5 * (1 + (i * 7) % 5) : 0;
            double truth = overhead + work / rate + traffic / traffic_rate;
            struct sample s = {.operation = "simulated",
                               .seconds = seconds,
                               .repetitions = repetitions,
                               .stopped_by = "count"};
            for (int k = 0; k < repetitions; k++) seconds[k] = truth * (1 + heavy(kind, &seed));
            struct error err = {OK, ""};
            CHECK_OK(point_of_sample(&points[i], &s, work, "samples.json", i, arena, &err));
            points[i].sample = NULL;
            points[i].traffic = traffic;
        }
        struct fit f;
        struct error err = {OK, ""};
        CHECK_OK(fit_line(&f, "samples.json", "line", line, points, sizes, arena, &err));
        held[0] += holds(f.overhead_s, overhead);
        held[1] += holds(f.rate, rate);
        held[2] += holds(f.traffic_rate, traffic_rate);
    }
}

TEST(test_coverage)
{
    static const struct {
        enum line line;
        int sizes, repetitions;
    } ladders[] = {
        {LINE_WITH_OVERHEAD, 8, 9},
        {LINE_WITH_OVERHEAD, 15, 11},
        {LINE_WITH_OVERHEAD, 12, 40},
        {LINE_WITH_TRAFFIC, 15, 9},
    };
    static const char *const names[] = {"overhead", "rate", "traffic"};
    for (size_t l = 0; l < ARRAY_LENGTH(ladders); l++)
        for (int kind = 0; kind < 3; kind++) {
            int held[3] = {0, 0, 0};
            cover(kind, ladders[l].line, ladders[l].sizes, ladders[l].repetitions, held, arena);
            for (int j = 0; j < (ladders[l].line == LINE_WITH_TRAFFIC ? 3 : 2); j++) {
                double share = 100.0 * held[j] / TRIALS;
                print_message("noise %d, %d sizes, %d repetitions: %s held in %.1f %%\n", kind,
                              ladders[l].sizes, ladders[l].repetitions, names[j], share);
                assert_true(share >= 93 && share <= 97.5);
            }
        }
}

TEST(test_overhead_is_never_negative)
{
    struct fit_point points[5];
    put_line(points, 5, -2e-5, 1e10);
    struct fit f;
    CHECK_OK(fit_line(&f, "samples.json", "line", LINE_WITH_OVERHEAD, points, 5, arena, &err));
    assert_true(f.through_zero);
    assert_true(f.overhead_s.value == 0 && f.overhead_s.low == 0 && f.overhead_s.high >= 0);
    assert_true(f.rate.low <= f.rate.value && f.rate.value <= f.rate.high);
    put_line(points, 5, 0, 1e10); // fixed at 0 on request
    CHECK_OK(fit_line(&f, "samples.json", "line", LINE_THROUGH_ZERO, points, 5, arena, &err));
    assert_true(f.through_zero && f.overhead_s.value == 0 && f.overhead_s.high == 0);
    assert_near(f.rate.value, 1e10, 1e-12);
}

// So few and so scattered points that the slope's interval reaches 0: the rate's stays finite, and
// wide on both sides.
// Three sizes are enough to see an overhead, and to see that there is none.
TEST(test_three_sizes)
{
    static const enum line forms[] = {LINE_THROUGH_ZERO, LINE_WITH_OVERHEAD};
    struct fit_point points[3];
    struct fit f;
    put_line(points, 3, 5e-3, 1e10);
    CHECK_OK(fit_best(&f, "samples.json", "line", forms, 2, points, 3, arena, &err));
    assert_true(!f.through_zero);
    assert_near(f.overhead_s.value, 5e-3, 1e-9);
    put_line(points, 3, 0, 1e10);
    CHECK_OK(fit_best(&f, "samples.json", "line", forms, 2, points, 3, arena, &err));
    assert_true(f.through_zero);
}

TEST(test_open_interval)
{
    struct fit_point points[3];
    put_line(points, 3, 1e-3, 1e10);
    points[1].seconds *= 1.5;
    struct fit f;
    CHECK_OK(fit_line(&f, "samples.json", "line", LINE_WITH_OVERHEAD, points, 3, arena, &err));
    assert_true(isfinite(f.rate.high) && f.rate.low < f.rate.value / 2 &&
                f.rate.high > 2 * f.rate.value);
}

TEST(test_refusals)
{
    struct fit_point points[3];
    put_line(points, 3, 1e-5, 1e10);
    struct fit f;
    assert_int_equal(
        fit_line(&f, "samples.json", "gemm", LINE_WITH_OVERHEAD, points, 0, arena, &err),
        BAD_INPUT);
    CHECK_REFUSED(fit_line(&f, "samples.json", "gemm", LINE_WITH_OVERHEAD, points, 1, arena, &err),
                  "gemm");
    points[1].work = points[2].work = points[0].work; // one size only
    err = (struct error){OK, ""};
    assert_int_equal(
        fit_line(&f, "samples.json", "gemm", LINE_WITH_OVERHEAD, points, 3, arena, &err),
        BAD_INPUT);
    put_line(points, 3, 1e-5, 1e10);
    for (int i = 0; i < 3; i++) points[i].seconds = 1.0 / (i + 1); // faster with more work
    err = (struct error){OK, ""};
    assert_int_equal(
        fit_line(&f, "samples.json", "gemm", LINE_WITH_OVERHEAD, points, 3, arena, &err),
        BAD_INPUT);
    // Two equal columns cannot be distinguished.
    double design[] = {1, 2, 1, 2, 1, 2}, observed[] = {1, 2, 3}, deviation[] = {1, 1, 1};
    struct solution s;
    err = (struct error){OK, ""};
    assert_int_equal(least_squares(&s, 3, 2, design, observed, deviation, arena, &err), BAD_INPUT);
}

// Published two-sided quantiles of Student's t (any table of the distribution, three decimals).
TEST(test_student)
{
    static const struct {
        double coverage;
        int freedom;
        double quantile;
    } table[] = {
        {0.95, 1, 12.706}, {0.95, 2, 4.303},  {0.95, 3, 3.182},  {0.95, 4, 2.776},
        {0.95, 5, 2.571},  {0.95, 10, 2.228}, {0.95, 30, 2.042}, {0.95, 120, 1.980},
        {0.99, 1, 63.657}, {0.99, 5, 4.032},  {0.99, 20, 2.845}, {0.90, 7, 1.895},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++) {
        double got = student_quantile(table[i].coverage, table[i].freedom);
        if (fabs(got - table[i].quantile) > 0.00051)
            fail_msg("t(%g, %d) = %g", table[i].coverage, table[i].freedom, got);
    }
}

// ---- whole samples: planted values are recovered as costs

enum { CELLS = 20 };

struct truth {
    double gemm, attention, low_rank, memory, product_s, attention_s, low_rank_s, memory_s, block_s;
};

static const struct truth truth = {
    .gemm = 9e10,
    .attention = 4e10,
    .low_rank = 2e10,
    .memory = 8e9,
    .product_s = 3e-5,
    .attention_s = 2e-5,
    .low_rank_s = 1e-5,
    .memory_s = 5e-6,
    .block_s = 6e-5,
};

// The kinds that every device has: gemm to overhead.
enum { PLANTED_KINDS = SAMPLE_OVERHEAD + 1 };

static void put_samples(struct samples *samples, const struct truth *t, struct arena *arena)
{
    static const char sha256[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    *samples = (struct samples){.samples = TAKE(arena, CELLS, struct sample),
                                .sample_count = CELLS,
                                .machine = {.gpu = "planted", .threads = 1},
                                .document = {.path = "samples.json"}};
    memcpy(samples->document.sha256, sha256, sizeof sha256);
    for (int i = 0; i < CELLS; i++) {
        struct sample *s = &samples->samples[i];
        double size = 1 + i / PLANTED_KINDS, seconds = 0;
        *s = (struct sample){.kind = (enum sample_kind)(i % PLANTED_KINDS),
                             .operation = "planted",
                             .precision = FP32,
                             .dimensions = {(int64_t)size},
                             .dimension_count = 1,
                             .repetitions = 9,
                             .stopped_by = "width",
                             .from = -1,
                             .to = -1};
        switch (s->kind) {
        case SAMPLE_GEMM: s->flop = 1e9 * size, seconds = t->product_s + s->flop / t->gemm; break;
        case SAMPLE_ATTENTION:
            s->flop = 1e8 * size * size, s->bytes = 1e6 * size * size;
            seconds = t->attention_s + s->flop / t->attention + s->bytes / t->memory;
            break;
        case SAMPLE_LOW_RANK:
            s->flop = 1e7 * size, seconds = t->low_rank_s + s->flop / t->low_rank;
            break;
        case SAMPLE_MEMORY:
            s->bytes = 1e7 * size, seconds = t->memory_s + s->bytes / t->memory;
            break;
        case SAMPLE_OVERHEAD: seconds = size * t->block_s; break;
        default: break;
        }
        s->seconds = TAKE(arena, s->repetitions,
                          double); // the median is the middle one; the others are around it
        for (int k = 0; k < s->repetitions; k++)
            s->seconds[k] = seconds * (1 + 0.001 * ((k * 5) % 9 - 4));
    }
}

static enum status calibrate_all(struct calibration *c, struct samples *samples,
                                 const struct calibrate_settings *settings, struct arena *arena,
                                 struct error *err)
{
    struct inputs *in = TAKE(arena, 1, struct inputs);
    TRY(inputs_join(in, samples, 1, settings->name, arena, err));
    return calibrate(c, in, settings, arena, err);
}

static void assert_estimate(const struct estimate *e, double want, const char *sha256)
{
    assert_near(e->value, want, 1e-6);
    assert_true(e->low <= e->value && e->value <= e->high);
    assert_int_equal(e->origin, ORIGIN_FITTED);
    char head[13] = "";
    memcpy(head, sha256, 12);
    assert_non_null(strstr(e->source, head));
}

// Decompression by a rate and a start of its own; what both ends take together is kept.
TEST(test_decompression_has_its_own_line)
{
    struct samples samples;
    struct calibration c;
    const struct calibrate_settings settings = {.constant_bytes = 123, .output = "costs.json"};
    put_samples(&samples, &truth, arena);
    samples.samples = arena_grow(arena, samples.samples, CELLS, 2 * CELLS, sizeof *samples.samples);
    for (int i = 0; i < CELLS; i++) {
        struct sample *s = &samples.samples[samples.sample_count];
        *s = samples.samples[i];
        if (s->kind != SAMPLE_LOW_RANK) continue;
        s->operation = "decompress";
        s->seconds = TAKE_COPY(arena, s->seconds, s->repetitions);
        for (int k = 0; k < s->repetitions; k++)
            s->seconds[k] = (s->flop / (5 * truth.low_rank) + 3 * truth.low_rank_s) *
                            (1 + 0.001 * ((k * 5) % 9 - 4));
        samples.sample_count++;
    }
    CHECK_OK(calibrate_all(&c, &samples, &settings, arena, &err));
    const struct gpu_costs *g = &c.costs.gpus[0];
    const char *sha256 = samples.document.sha256;
    assert_estimate(&g->precisions[0].low_rank_flop_per_s, truth.low_rank, sha256);
    assert_estimate(&g->precisions[0].low_rank_back_flop_per_s, 5 * truth.low_rank, sha256);
    assert_estimate(&g->compression_overhead_s, 2 * truth.low_rank_s, sha256);
    assert_true(g->precisions[0].low_rank_back_bytes_per_s.value == 0);
    CHECK_OK(costs_check(&c.costs, &err));
}

TEST(test_samples_to_costs)
{
    struct samples samples;
    struct calibration c;
    const struct calibrate_settings settings = {.constant_bytes = 123, .output = "costs.json"};
    put_samples(&samples, &truth, arena);
    CHECK_OK(calibrate_all(&c, &samples, &settings, arena, &err));
    const struct gpu_costs *g = &c.costs.gpus[0];
    const char *sha256 = samples.document.sha256;
    assert_string_equal(g->gpu, "planted");
    assert_int_equal(g->precision_count, 1);
    assert_estimate(&g->precisions[0].gemm_flop_per_s, truth.gemm, sha256);
    assert_estimate(&g->precisions[0].attention_flop_per_s, truth.attention, sha256);
    assert_estimate(&g->precisions[0].low_rank_flop_per_s, truth.low_rank, sha256);
    assert_estimate(&g->memory_bytes_per_s, truth.memory, sha256);
    assert_estimate(&g->layer_overhead_s, 4 * truth.product_s + truth.attention_s + truth.memory_s,
                    sha256);
    assert_estimate(&g->compression_overhead_s, truth.low_rank_s, sha256);
    assert_true(g->precisions[0].gemm_flop_per_s.valid_low == 1e9 &&
                g->precisions[0].gemm_flop_per_s.valid_high == 4e9);
    assert_true(g->constant_bytes.value == 123 && g->constant_bytes.origin == ORIGIN_ASSUMED);
    assert_true(c.costs.intra_efficiency.value == 1 &&
                c.costs.intra_efficiency.origin == ORIGIN_ASSUMED);
    assert_string_equal(c.costs.document.sources[0].role, "samples");
    assert_string_equal(c.costs.document.sources[0].sha256, sha256);
    CHECK_OK(costs_check(&c.costs, &err));

    // Empty calls that cost more than the fits' overheads: they are the least a layer can cost.
    struct truth dear = truth;
    dear.block_s = 1e-3;
    put_samples(&samples, &dear, arena);
    CHECK_OK(calibrate_all(&c, &samples, &settings, arena, &err));
    assert_estimate(&c.costs.gpus[0].layer_overhead_s, dear.block_s, sha256);

    // Scores whose traffic at the memory rate would take all the time: nothing is subtracted.
    put_samples(&samples, &truth, arena);
    for (int i = 0; i < CELLS; i++)
        if (samples.samples[i].kind == SAMPLE_ATTENTION) samples.samples[i].bytes *= 100;
    CHECK_OK(calibrate_all(&c, &samples, &settings, arena, &err));
    assert_false(c.precisions[0].softmax_apart);
}

TEST(test_samples_in_any_order)
{
    struct samples samples;
    struct calibration c, d;
    const struct calibrate_settings settings = {.name = "named", .output = "costs.json"};
    uint64_t seed = 15;
    put_samples(&samples, &truth, arena);
    for (int i = 0; i < CELLS; i++)
        for (int k = 0; k < 9; k++) samples.samples[i].seconds[k] *= 1 + 0.05 * draw(&seed);
    CHECK_OK(calibrate_all(&c, &samples, &settings, arena, &err));
    for (int i = CELLS - 1; i > 0; i--) {
        int j = (int)(draw(&seed) * (i + 1));
        struct sample s = samples.samples[i];
        samples.samples[i] = samples.samples[j], samples.samples[j] = s;
    }
    for (int i = 0; i < CELLS; i++) { // of rounds, too
        double *seconds = samples.samples[i].seconds, first = seconds[0];
        seconds[0] = seconds[8], seconds[8] = first;
    }
    CHECK_OK(calibrate_all(&d, &samples, &settings, arena, &err));
    assert_string_equal(d.costs.gpus[0].gpu, "named");
    assert_true(c.costs.gpus[0].precisions[0].gemm_flop_per_s.value ==
                d.costs.gpus[0].precisions[0].gemm_flop_per_s.value);
    assert_true(c.costs.gpus[0].precisions[0].attention_flop_per_s.high ==
                d.costs.gpus[0].precisions[0].attention_flop_per_s.high);
    assert_true(c.costs.gpus[0].memory_bytes_per_s.low == d.costs.gpus[0].memory_bytes_per_s.low);
    assert_true(c.costs.gpus[0].layer_overhead_s.high == d.costs.gpus[0].layer_overhead_s.high);
}

// What was not measured is left out, and named where a device cannot be priced without it.
TEST(test_kinds_missing)
{
    const struct calibrate_settings settings = {.output = "costs.json"};
    for (int kind = 0; kind < PLANTED_KINDS; kind++) {
        struct samples samples;
        struct calibration c;
        put_samples(&samples, &truth, arena);
        int left = 0;
        for (int i = 0; i < CELLS; i++) // none of this kind is left
            if ((int)samples.samples[i].kind != kind) samples.samples[left++] = samples.samples[i];
        samples.sample_count = left;
        CHECK_OK(calibrate_all(&c, &samples, &settings, arena, &err));
        CHECK_OK(costs_check(&c.costs, &err));
        const struct gpu_costs *g = costs_find_gpu(&c.costs, "planted");
        if (kind == SAMPLE_MEMORY) {
            assert_null(g);
            assert_non_null(c.lacking);
            continue;
        }
        assert_non_null(g);
        assert_int_equal(g->precision_count, kind != SAMPLE_GEMM);
        if (kind == SAMPLE_ATTENTION || kind == SAMPLE_LOW_RANK) {
            const struct estimate *e = kind == SAMPLE_LOW_RANK
                                           ? &g->precisions[0].low_rank_flop_per_s
                                           : &g->precisions[0].attention_flop_per_s;
            assert_true(e->value == g->precisions[0].gemm_flop_per_s.value &&
                        e->origin == ORIGIN_ASSUMED);
        }
    }
    struct samples samples;
    struct calibration c;
    put_samples(&samples, &truth, arena);
    samples.sample_count = 0;
    assert_int_equal(calibrate_all(&c, &samples, &settings, arena, &err), BAD_INPUT);
    put_samples(&samples, &truth, arena);
    memset(samples.samples[7].seconds, 0, 9 * sizeof(double));
    CHECK_REFUSED(calibrate_all(&c, &samples, &settings, arena, &err), "samples[7].seconds");
}

// The allocator's factor from runs that failed, ran or were measured: known factors are recovered
// from runs drawn with them, within the interval as often as it states; what cannot be determined
// is refused.
#include <unistd.h>

#include "calibrate/fit/fit.h"
#include "calibrate/runs/runs.h"
#include "data/base/file.h"
#include "tests/support/problems.h"
#include "tests/support/check.h"

enum { RUNS = 100, DRAWS = 100 };
static const double capacity = 80e9, outside = 3e9;

static double uniform(struct random *rng)
{
    return ((double)random_between(rng, 0, (1 << 30) - 1) + 0.5) / (1 << 30);
}

static double normal(struct random *rng)
{
    return sqrt(-2 * log(uniform(rng))) * cos(6.283185307179586 * uniform(rng));
}

// Runs of 30 to 110 GB, with a log-normal error; of those that ran a share with a peak.
static void draw_signs(struct memory_sign *signs, double factor, double spread, int peaks_percent,
                       struct random *rng)
{
    for (int i = 0; i < RUNS; i++) {
        double inside = 30e9 + 80e9 * uniform(rng),
               bytes = (factor * inside + outside) * exp(spread * normal(rng));
        signs[i] = (struct memory_sign){SIGN_RAN, inside, outside, capacity};
        if (bytes > capacity) signs[i].kind = SIGN_FAILED;
        else if (random_chance(rng, peaks_percent))
            signs[i].kind = SIGN_PEAK, signs[i].bytes = bytes;
    }
}

struct drawn {
    double covered, factor, spread, width; // shares and means over the draws
};

static struct drawn draw_fits(double factor, double spread, int peaks_percent, uint64_t seed)
{
    struct random rng = {seed};
    struct drawn all = {0};
    for (int i = 0; i < DRAWS; i++) {
        struct memory_sign signs[RUNS];
        struct factor_fit fit;
        draw_signs(signs, factor, spread, peaks_percent, &rng);
        MUST(factor_fit(&fit, signs, RUNS, &own_err));
        assert_true(fit.low <= fit.factor && fit.factor <= fit.high);
        all.covered += (fit.low <= factor && factor <= fit.high) / (double)DRAWS;
        all.factor += fit.factor / DRAWS, all.spread += fit.spread / DRAWS;
        all.width += (fit.high - fit.low) / DRAWS;
    }
    print_message("factor %.2f, spread %.2f, %3d %% of peaks: mean %.4f, spread %.4f, covered "
                  "%.1f %%, width %.3f\n",
                  factor, spread, peaks_percent, all.factor, all.spread, 100 * all.covered,
                  all.width);
    return all;
}

// 95 % of 100 draws, and twice its own deviation of 2.2 points to either side.
TEST(intervals_cover_the_factor)
{
    static const struct {
        double factor, spread;
        int peaks_percent;
    } cases[] = {{1.1, 0.06, 0}, {1.1, 0.06, 50}, {1.3, 0.1, 0}, {1.3, 0.04, 100}};
    double width = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct drawn x =
            draw_fits(cases[i].factor, cases[i].spread, cases[i].peaks_percent, 17 + i);
        assert_true(fabs(x.covered - 0.95) <= 0.045);
        assert_true(fabs(x.factor / cases[i].factor - 1) < 0.01);
        assert_true(fabs(x.spread / cases[i].spread - 1) < 0.2);
        if (i == 1) assert_true(x.width < 0.8 * width); // peaks say more than flags
        width = x.width;
    }
}

// By hand: at the maximum two peaks' errors are each other's opposites; a run that failed far above
// the capacity and one that ran far below add nothing.
TEST(peaks_are_a_mean)
{
    struct factor_fit fit;
    const struct memory_sign signs[] = {{SIGN_PEAK, 40e9, 0, 40e9 * 1.1},
                                        {SIGN_PEAK, 40e9, 0, 40e9 * 1.3},
                                        {SIGN_FAILED, 400e9, 0, capacity},
                                        {SIGN_RAN, 4e9, 0, capacity}};
    CHECK_OK(factor_fit(&fit, signs, ARRAY_LENGTH(signs), &err));
    assert_true(fabs(fit.factor - sqrt(1.1 * 1.3)) < 1e-4);
    assert_true(fabs(fit.spread - log(1.3 / 1.1) / 2) < 1e-4);
    assert_true(fit.counts[SIGN_PEAK] == 2 && fit.counts[SIGN_FAILED] == 1 &&
                fit.counts[SIGN_RAN] == 1);
}

TEST(one_side_is_not_enough)
{
    struct factor_fit fit;
    const struct memory_sign signs[] = {{SIGN_FAILED, 90e9, 0, capacity},
                                        {SIGN_RAN, 60e9, 0, capacity}};
    for (int i = 0; i < 2; i++) {
        CHECK_REFUSED(factor_fit(&fit, &signs[i], 1, &err),
                      "expected measured peaks, or runs that failed and runs");
    }
    CHECK_OK(factor_fit(&fit, signs, 2, &err));
    // Anything that separates the two, between 80/90 and 80/60; two runs leave everything else
    // open.
    assert_true(fit.factor >= 1 && fit.factor <= 80.0 / 60);
    assert_true(fit.low == 1 && fabs(fit.high - FACTOR_MAX) < 1e-9);
}

// ---- from a table

static char path[64];

// Runs of growing micro-batch as a factor of 1.4 makes them fail, run or show their peaks.
// Flags of 0 among them say nothing. peaks: of each run.
static void write_table(bool peaks, struct arena *arena)
{
    struct predict_settings settings = {.margin = 0.8, .costs = "published"};
    struct predictor *p;
    const char *text = "id,gpu,layers,hidden,seq,micro_batch,recompute,metric,value,unit\n";
    MUST(predictor_open(&p, &settings, arena, &own_err));
    MUST(predictor_set(p, "allocator_factor=1.4", &own_err));
    for (int i = 1; i <= 200; i++) {
        const char *words[] = {"gpu=A100", "layers=24", "hidden=1024", "seq=256",
                               arena_print(arena, "micro_batch=%d", i)};
        struct run_row row;
        struct prediction x;
        MUST(row_of_words(&row, words, 5, arena, &own_err));
        predict_row(p, &row, &x);
        assert_string_equal(x.reason, "");
        bool failed = x.device_bytes > x.capacity_bytes;
        if (i % 5 == 0)
            text = arena_print(arena, "%s0,A100,24,1024,256,%d,none,oom,0,flag\n", text, i);
        if (peaks) {
            text = arena_print(arena, "%s%d,A100,24,1024,256,%d,none,peak_memory,%lld,B\n", text, i,
                               i, (long long)x.device_bytes);
            continue;
        }
        text = arena_print(arena, "%s%d,A100,24,1024,256,%d,none,%s,%g,%s\n", text, i, i,
                           failed ? "oom" : "iteration_time", failed ? 1 : 0.5,
                           failed ? "flag" : "s");
    }
    MUST(file_write(path, text, strlen(text), &own_err));
}

TEST(a_table_of_flags_tells_the_factor)
{
    struct predict_settings settings = {.margin = 0.8, .costs = "published"};
    struct run_set set = {.arena = arena};
    struct run_choice choice = {0};
    struct iterations_fit fit;
    struct fit_keys keys;
    struct predictor *p;
    write_table(false, arena);
    CHECK_OK(runs_add(&set, path, &choice, &err));
    CHECK_OK(predictor_open(&p, &settings, arena, &err));
    bool *all = TAKE(arena, set.count, bool);
    for (int i = 0; i < set.count; i++) all[i] = true;
    CHECK_OK(fit_keys_read(&keys, "allocator_factor", arena, &err));
    CHECK_OK(fit_keys_by_likelihood(&keys, true, &err));
    CHECK_OK(fit_iterations(&fit, &keys, p, &set, all, arena, &err));
    const struct fitted *f = &fit.constants[0];
    print_message("%.3f (%.3f to %.3f), %d failed, %d ran\n", f->value, f->low, f->high, fit.failed,
                  fit.ran);
    assert_true(fit.failed > 5 && fit.ran > 5 && fit.failed + fit.ran == fit.rows);
    assert_true(f->low < 1.4 && 1.4 < f->high && f->high / f->low < 1.2);
    assert_true(predictor_costs(p)->allocator_factor.value == f->value);
    // Of 82 failures the least eight may go unforeseen, and no run that ran is refused for the
    // rest.
    struct validate_settings as_given = {.margins = {1}, .ran_below = 0.75};
    struct validation v;
    CHECK_OK(predictor_set(p, "allocator_factor=1", &err));
    CHECK_OK(validate(&v, &set, p, &as_given, arena, &err));
    const struct oom_scores *best = &v.sources[v.source_count - 1].best;
    assert_int_equal(best->total, fit.failed);
    assert_int_equal(best->caught, fit.failed - fit.failed / 10);
    assert_int_equal(best->ran_over, 0);
    assert_int_equal(best->ran_all, fit.ran);
    assert_true(v.sources[0].oom[0].caught < best->caught); // without the factor
    CHECK_OK(fit_keys_read(&keys, "constant_bytes", arena, &err));
    CHECK_REFUSED(fit_keys_by_likelihood(&keys, true, &err),
                  "allocator_factor alone, found constant_bytes");
}

// The costs do not state the factor: the fit starts from 1.
TEST(peaks_tell_the_factor_from_its_default)
{
    struct predict_settings settings = {.margin = 0.8, .costs = "published"};
    struct run_set set = {.arena = arena};
    struct run_choice choice = {0};
    struct iterations_fit fit;
    struct fit_keys keys;
    struct predictor *p;
    write_table(true, arena);
    CHECK_OK(runs_add(&set, path, &choice, &err));
    CHECK_OK(predictor_open(&p, &settings, arena, &err));
    assert_true(predictor_costs(p)->allocator_factor.value < 1);
    bool *all = TAKE(arena, set.count, bool);
    for (int i = 0; i < set.count; i++) all[i] = true;
    CHECK_OK(fit_keys_read(&keys, "allocator_factor", arena, &err));
    CHECK_OK(fit_iterations(&fit, &keys, p, &set, all, arena, &err));
    assert_int_equal(fit.rows, 200);
    assert_true(fabs(fit.constants[0].value - 1.4) < 1e-3);
    assert_true(fabs(predictor_costs(p)->allocator_factor.value - 1.4) < 1e-3);
}

static int name_table(void **state)
{
    (void)state;
    return snprintf(path, sizeof path, "build/test_factor.%ld.csv", (long)getpid()) < 0;
}

static int remove_table(void **state)
{
    (void)state;
    return unlink(path);
}

AROUND_ALL(name_table, remove_table)

// Fitting to iterations: planted constants are recovered from rows that were predicted with them,
// with the noise's interval around them; what cannot be fitted is refused by name.
#include <unistd.h>

#include "calibrate/runs/runs.h"
#include "data/base/file.h"
#include "tests/support/check.h"

static char path[64];

static double draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

// Rows over a grid of configurations, measured as predicted with the costs as `set`, times 1 +-
// noise.
static void write_rows(const char *set, double noise, uint64_t seed, struct arena *arena)
{
    struct predict_settings settings = {.margin = 0.8, .costs = "published"};
    struct predictor *p;
    const char *text =
        "id,gpu,layers,hidden,seq,tp,pp,dp,micro_batch,global_batch,recompute,metric,value,unit\n";
    MUST(predictor_open(&p, &settings, arena, &own_err));
    MUST(predictor_set(p, set, &own_err));
    for (int i = 0; i < 72; i++) {
        const char *cells[9], *words = "";
        const int64_t values[] = {8 * (1 + i % 3),  1024 << (i / 3) % 3, 1024,
                                  1 << (i / 9) % 2, 1 << (i / 18) % 2,   1 << (i / 36) % 2,
                                  1 + i % 2};
        static const char *const names[] = {"layers", "hidden", "seq",        "tp",
                                            "pp",     "dp",     "micro_batch"};
        for (int k = 0; k < 7; k++) {
            cells[k] = arena_print(arena, "%s=%lld", names[k], (long long)values[k]);
            words = arena_print(arena, "%s,%lld", words, (long long)values[k]);
        }
        cells[7] = arena_print(arena, "global_batch=%lld", (long long)(8 * values[5] * values[6]));
        cells[8] = "gpu=A100,recompute=full";
        struct run_row row;
        struct prediction x;
        MUST(row_of_words(&row, cells, 9, arena, &own_err));
        predict_row(p, &row, &x);
        assert_string_equal(x.reason, "");
        text = arena_print(arena, "%s%d,A100%s,%lld,full,iteration_time,%.9g,s\n", text, i, words,
                           (long long)(8 * values[5] * values[6]),
                           (double)x.iteration_ns * 1e-9 * (1 + noise * (2 * draw(&seed) - 1)));
    }
    MUST(file_write(path, text, strlen(text), &own_err));
}

static enum status fit_rows(struct iterations_fit *fit, const char *names, const char *set,
                            const char *rows, struct arena *arena, struct error *err)
{
    struct predict_settings settings = {.margin = 0.8, .costs = "published"};
    struct run_choice choice = {.read_notes = true};
    struct run_set runs = {.arena = arena};
    struct predictor *p;
    struct fit_keys keys;
    *err = (struct error){OK, ""};
    TRY(fit_keys_read(&keys, names, arena, err));
    TRY(filter_read(&choice.rows, "--rows", rows, arena, err));
    TRY(runs_add(&runs, path, &choice, err));
    TRY(predictor_open(&p, &settings, arena, err));
    if (set) TRY(predictor_set(p, set, err));
    bool *all = TAKE(arena, runs.count, bool);
    for (int i = 0; i < runs.count; i++) all[i] = true;
    return fit_iterations(fit, &keys, p, &runs, all, arena, err);
}

TEST(planted_constants_come_back)
{
    static const double planted[] = {1.8e14, 1.1e12, 2e-4};
    struct iterations_fit fit;
    write_rows("gemm=1.8e14,memory=1.1e12,layer_overhead=2e-4", 0, 1, arena);
    CHECK_OK(fit_rows(&fit, "gemm_flop_per_s,memory_bytes_per_s,layer_overhead_s", NULL, "", arena,
                      &err));
    assert_int_equal(fit.rows, 72);
    for (int k = 0; k < 3; k++)
        if (!(fabs(fit.constants[k].value / planted[k] - 1) < 1e-4))
            fail_msg("constant %d: %g, planted %g", k, fit.constants[k].value, planted[k]);
    assert_true(fit.mean_abs_error < 1e-5);
    // From rows of one stage alone, and from another start.
    CHECK_OK(fit_rows(&fit, "memory,gemm,layer_overhead",
                      "gemm=4e13,memory=5e12,layer_overhead=1e-6", "pp=1", arena, &err));
    assert_int_equal(fit.rows, 36);
    assert_true(fabs(fit.constants[1].value / planted[0] - 1) < 1e-3 &&
                fabs(fit.constants[0].value / planted[1] - 1) < 1e-3);
    // One constant for two numbers, which keep their ratio.
    write_rows("gemm=1.8e14,attention=0.9e14", 0, 1, arena);
    CHECK_OK(fit_rows(&fit, "gemm+attention", "gemm=1e14,attention=5e13", "", arena, &err));
    assert_true(fit.keys.count == 1 && fabs(fit.constants[0].value / 1.8e14 - 1) < 1e-4);
    // A number that the costs do not state stays so.
    write_rows("gemm=1.8e14", 0, 1, arena);
    CHECK_OK(fit_rows(&fit, "gemm+data_gradient_flop_per_s", "gemm=1e14", "", arena, &err));
    assert_true(fabs(fit.constants[0].value / 1.8e14 - 1) < 1e-4);
}

// Over many noisy tables a 95 % interval holds the planted value most of the time, and is not wide
// beyond use.
TEST(intervals_hold_what_was_planted)
{
    int held = 0, tables = 40;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < tables; i++, arena_reset(arena, mark)) {
        struct iterations_fit fit;
        write_rows("gemm=1.8e14,layer_overhead=2e-4", 0.05, (uint64_t)i + 1, arena);
        CHECK_OK(fit_rows(&fit, "gemm_flop_per_s,layer_overhead_s", NULL, "", arena, &err));
        held += fit.constants[0].low <= 1.8e14 && 1.8e14 <= fit.constants[0].high;
        assert_true(fit.constants[0].high / fit.constants[0].low < 1.2);
        assert_true(fabs(fit.constants[0].value / 1.8e14 - 1) < 0.05);
    }
    if (held < 33) fail_msg("%d of %d intervals hold the planted value", held, tables);
}

// A row that is far off hardly moves the constants.
TEST(outliers_do_not_pull)
{
    struct iterations_fit fit;
    const char *text;
    size_t size;
    write_rows("gemm=1.8e14,layer_overhead=2e-4", 0.01, 3, arena);
    CHECK_OK(file_read(path, &text, &size, arena, &err));
    const char *more = arena_print(arena,
                                   "%s900,A100,8,1024,1024,1,1,1,1,8,full,iteration_time,50,s\n901,"
                                   "A100,8,4096,1024,1,1,1,1,8,full,iteration_time,50,s\n",
                                   text);
    CHECK_OK(file_write(path, more, strlen(more), &err));
    CHECK_OK(fit_rows(&fit, "gemm_flop_per_s,layer_overhead_s", NULL, "", arena, &err));
    assert_int_equal(fit.rows, 74);
    assert_true(fabs(fit.constants[0].value / 1.8e14 - 1) < 0.05 &&
                fabs(fit.constants[1].value / 2e-4 - 1) < 0.05);
}

static void expect_refused(const char *names, const char *set, const char *rows, const char *why)
{
    struct error err;
    struct iterations_fit fit;
    struct arena_mark mark = arena_set_mark(&own_arena);
    CHECK_REFUSED(fit_rows(&fit, names, set, rows, &own_arena, &err), why);
    arena_reset(&own_arena, mark);
}

TEST(what_cannot_be_fitted_is_refused)
{
    write_rows("gemm=1.8e14", 0, 1, arena);
    expect_refused("", NULL, "", "found nothing");
    expect_refused("speed", NULL, "", "found 'speed'");
    expect_refused("gemm,gemm_flop_per_s", NULL, "", "gemm_flop_per_s appears twice");
    expect_refused("memory,gemm+memory", NULL, "", "memory_bytes_per_s appears twice");
    expect_refused("gemm+", NULL, "", "found ''");
    expect_refused("layer_overhead_s", "layer_overhead_s=0", "",
                   "layer_overhead_s is 0 in these costs");
    expect_refused("gemm,network_efficiency.infiniband", NULL, "",
                   "no row depends on network_efficiency.infiniband");
    expect_refused("gemm,memory", NULL, "id=3", "2 constants from 1 rows");
    expect_refused("constant_bytes", NULL, "", "1 constants from 0 rows");
    expect_refused("gemm", NULL, "colour=red", "there is no column colour");
}

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "build/test_iterations.%d.csv", (int)getpid());
    return setenv("PLUMBLINE_DATA", "data", 1);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

AROUND_ALL(set_up, tear_down)

// Validation: scores against values computed by hand and against second definitions; a row's own
// measurement never reaches its prediction; every row is scored or listed with a reason. The
// published sets, if available, are within the figures that docs/VALIDATION.md states.
#include <unistd.h>

#include "calibrate/runs/runs.h"
#include "data/base/file.h"
#include "tests/support/check.h"

static const char unknown_metric[] = "an unknown metric or unit (iteration_time in s, ms "
                                     "or us; more in FORMATS, runs)";
static const char unknown_unit[] =
    "column unit: expected s, ms, us, B, MB, GB, MiB, GiB, TFLOP/s/GPU, samples/s, samples/s/GPU, "
    "tokens/s, tokens/s/GPU, % or flag, found ";
static char path[64];

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * fmax(1, fabs(want))))
        fail_msg("got %.17g, want %.17g", got, want);
}

// ---- scores

TEST(rank_correlations_by_hand)
{
    const double x[] = {1, 2, 3, 4}, up[] = {10, 20, 30, 40}, down[] = {4, 3, 2, 1},
                 swapped[] = {1, 3, 2, 4}, tied[] = {1, 1, 2, 3}, flat[] = {5, 5, 5, 5};
    assert_near(kendall_tau_b(x, up, 4), 1);
    assert_near(kendall_tau_b(x, down, 4), -1);
    assert_near(kendall_tau_b(x, swapped, 4), 4.0 / 6);
    assert_near(kendall_tau_b(x, tied, 4), 5 / sqrt(6.0 * 5)); // one pair tied in y alone
    assert_true(isnan(kendall_tau_b(x, flat, 4)));
    assert_near(spearman_rho(x, up, 4, arena), 1);
    assert_near(spearman_rho(x, down, 4, arena), -1);
    assert_near(spearman_rho(x, swapped, 4, arena), 0.8); // 1 - 6 (1 + 1) / (4 . 15)
    assert_near(spearman_rho(x, tied, 4, arena), 4.5 / sqrt(5 * 4.5));
    assert_true(isnan(spearman_rho(x, flat, 4, arena)));
    const double sorted[] = {1, 2, 4, 8};
    assert_near(quantile(sorted, 4, 0.5), 3);
    assert_near(quantile(sorted, 4, 0.9), 4 + 0.7 * 4);
    assert_near(quantile(sorted, 4, 1), 8);
}

#define OPEN(measured, predicted, group)                                                           \
    {                                                                                              \
        measured, predicted, NAN, NAN, group                                                       \
    }

TEST(scores_by_hand)
{
    // Group 0: the predicted best (0.9 of row 1) measures 2, the best 1: regret 1. Group 1: chosen
    // right. Group 2: too few rows.
    const struct scored rows[] = {
        {1, 1.1, 1, 1.2, 0}, {2, 0.9, 0.5, 1.9, 0}, {4, 4, 3, 5, 0}, OPEN(8, 8, 0), OPEN(2, 1, 1),
        OPEN(4, 4, 1),       OPEN(6, 9, 1),         OPEN(8, 8, 1),   OPEN(3, 3, 2), OPEN(1, 9, 2)};
    struct scores s = score_rows(rows, 10, true, arena);
    assert_int_equal(s.rows, 10);
    assert_int_equal(s.groups, 2);
    assert_near(s.mean_abs_error, (0.1 + 0.55 + 0 + 0 + 0.5 + 0 + 0.5 + 0 + 0 + 8) / 10);
    assert_near(s.mean_error, (0.1 - 0.55 + 0 + 0 - 0.5 + 0 + 0.5 + 0 + 0 + 8) / 10);
    assert_near(s.median_abs_error, 0.05);
    assert_near(s.p90_abs_error, 0.55 + 0.1 * (8 - 0.55));
    assert_near(s.regret_mean, 0.5);
    assert_near(s.regret_median, 0.5);
    assert_near(s.kendall_tau, (4.0 / 6 + 4.0 / 6) / 2);
    assert_near(s.inside, 2.0 / 3); // an end counts as inside
    assert_near(s.width, (0.2 / 1.1 + 1.4 / 0.9 + 2.0 / 4) / 3);
    // As rates: more is better. Group 0's greatest is predicted right; group 1's 9 measures 6 of 8.
    struct scores rates = score_rows(rows, 10, false, arena);
    assert_near(rates.regret_mean, (0 + 8.0 / 6 - 1) / 2);
    struct scores none = score_rows(rows, 0, true, arena);
    assert_true(isnan(none.mean_abs_error) && isnan(none.spearman) && none.rows == 0);
    // Ties among the predicted bests take the worst.
    const struct scored ties[] = {OPEN(1, 5, 0), OPEN(3, 5, 0), OPEN(2, 5, 0), OPEN(4, 6, 0)};
    assert_near(score_rows(ties, 4, true, arena).regret_mean, 2);
}

// ---- rows

static const char header[] =
    "id,gpu,layers,hidden,seq,tp,pp,dp,micro_batch,global_batch,recompute,metric,value,unit,note\n";

static void write_table(const double *values, int count, struct arena *arena)
{
    const char *text = header;
    for (int i = 0; i < count; i++)
        text = arena_print(arena,
                           "%sr%d,A100,%d,%d,1024,%d,%d,1,%d,%d,full,iteration_time,%.17g,s,x\n",
                           text, i, 8 * (1 + i % 2), 1024 << (i / 2) % 2, 1 << (i / 4) % 2,
                           1 << (i / 8) % 2, 1 << (i / 16) % 2, 8 << (i / 16) % 2, values[i]);
    MUST(file_write(path, text, strlen(text), &own_err));
}

struct case_of {
    struct run_set set;
    struct validation v;
    struct validate_settings settings;
};

static enum status run_case(struct case_of *c, const char *fit, const char *fit_rows,
                            struct arena *arena, struct error *err)
{
    struct predict_settings settings = {.margin = 0.8, .costs = "published"};
    struct run_choice choice = {.fits = fit_rows != NULL, .read_notes = true};
    struct predictor *p;
    *err = (struct error){OK, ""};
    c->set = (struct run_set){.arena = arena};
    TRY(filter_read(&choice.rows, "--rows", "", arena, err));
    TRY(filter_read(&choice.fit_rows, "--fit-rows", fit_rows ? fit_rows : "", arena, err));
    TRY(runs_add(&c->set, path, &choice, err));
    TRY(predictor_open(&p, &settings, arena, err));
    if (fit) TRY(fit_keys_read(&c->settings.keys, fit, arena, err));
    return validate(&c->v, &c->set, p, &c->settings, arena, err);
}

enum { ROWS = 32 };

static void some_values(double *values)
{
    for (int i = 0; i < ROWS; i++)
        values[i] = 0.1 * (1 + i % 2) * (1 << (i / 2) % 2) * (1 << (i / 16)) *
                    (1 + 0.1 * ((i * 7) % 5));
}

// Changing what one row measured changes other folds' predictions, never those of its own fold.
TEST(no_row_sees_its_own_measurement)
{
    static const enum fold_by ways[] = {FOLD_BY_ROW, FOLD_BY_CELL, FOLD_BY_MODEL};
    for (size_t way = 0; way < ARRAY_LENGTH(ways); way++)
        for (int changed = 0; changed < ROWS; changed += 11) {
            double values[ROWS], before[ROWS];
            bool others_differ = false;
            struct case_of c = {.settings = {.mode = VALIDATE_FOLDS,
                                             .by = ways[way],
                                             .folds = ways[way] == FOLD_BY_MODEL ? 0 : 4,
                                             .margins = {0.8, 1}}};
            struct arena_mark mark = arena_set_mark(arena);
            some_values(values);
            write_table(values, ROWS, arena);
            CHECK_OK(run_case(&c, "gemm,layer_overhead", NULL, arena, &err));
            for (int i = 0; i < ROWS; i++) before[i] = c.set.runs[i].predicted;
            values[changed] *= 1.5;
            write_table(values, ROWS, arena);
            CHECK_OK(run_case(&c, "gemm,layer_overhead", NULL, arena, &err));
            for (int i = 0; i < ROWS; i++) {
                bool own = c.set.runs[i].fold == c.set.runs[changed].fold;
                if (own && c.set.runs[i].predicted != before[i])
                    fail_msg("row %d follows row %d of its own fold", i, changed);
                others_differ = others_differ || (!own && c.set.runs[i].predicted != before[i]);
            }
            assert_true(others_differ);
            assert_int_equal(c.v.sources[0].scores.rows, ROWS);
            arena_reset(arena, mark);
        }
}

TEST(stated_rows_are_not_scored)
{
    double values[ROWS];
    struct case_of c = {.settings = {.mode = VALIDATE_STATED, .margins = {0.8, 1}}};
    some_values(values);
    write_table(values, ROWS, arena);
    CHECK_OK(run_case(&c, "gemm,layer_overhead", "pp=1,row%4=0", arena, &err));
    int fitted = 0;
    for (int i = 0; i < ROWS; i++) {
        bool stated = i % 4 == 0 && (i / 8) % 2 == 0;
        fitted += stated;
        assert_int_equal(c.set.runs[i].excluded != NULL, stated);
        if (stated) assert_string_equal(c.set.runs[i].excluded, "fitted on");
    }
    assert_int_equal(c.v.fits[0].rows, fitted);
    assert_int_equal(c.v.sources[0].scores.rows, ROWS - fitted);
}

TEST(rows_of_a_cell_stay_together)
{
    double values[ROWS];
    struct run_set set = {.arena = arena};
    struct run_choice choice = {.read_notes = true};
    some_values(values);
    write_table(values, ROWS, arena);
    CHECK_OK(runs_add(&set, path, &choice, &err));
    assert_int_equal(runs_deal(&set, FOLD_BY_ROW, 5), 5);
    for (int i = 0; i < ROWS; i++) assert_int_equal(set.runs[i].fold, i % 5);
    assert_int_equal(runs_deal(&set, FOLD_BY_CELL, 0), 8); // 2 widths x 2 tp x 2 micro-batches
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < i; k++)
            assert_int_equal(set.runs[i].fold == set.runs[k].fold, (i / 2) % 2 == (k / 2) % 2 &&
                                                                       (i / 4) % 2 == (k / 4) % 2 &&
                                                                       i / 16 == k / 16);
    assert_int_equal(runs_deal(&set, FOLD_BY_MODEL, 0), 4);
    assert_int_equal(runs_deal(&set, FOLD_BY_CELL, 3), 3);
}

// Whatever is not scored is listed, and out of memory is counted at both margins.
TEST(every_row_is_accounted_for)
{
    static const char *const rows =
        "id,gpu,layers,hidden,seq,micro_batch,metric,value,unit\n"
        "a,A100,24,2048,1024,1,iteration_time,0.1,s\n"
        "b,TPU,24,2048,1024,1,iteration_time,0.1,s\n"
        "c,A100,24,2048,1024,1,iteration_time,\"1,x\",s\n"
        "d,A100,24,2048,1024,1,loss,3,nats\n"
        "e,A100,24,2048,1024,1,peak_memory,30,GB\n"
        "f,A100,24,2048,1024,256,peak_memory,40,GB\n" // predicted far over: a false alarm
        "g,A100,24,2048,1024,256,peak_memory,79,GB\n" // said not to fit, but nearly full
        "h,A100,24,2048,1024,256,oom,1,flag\n"
        "i,A100,24,2048,1024,1,oom,1,flag\n"
        "j,A100,24,2048,1024,256,oom,0,flag\n";
    static const char *const reasons[] = {NULL,
                                          "no cluster has a GPU like 'TPU' (nearest: t4-16gb)",
                                          "column value: expected a number", unknown_unit};
    struct case_of c = {.settings = {.margins = {0.8, 1}, .ran_below = 0.75}};
    CHECK_OK(file_write(path, rows, strlen(rows), &err));
    CHECK_OK(run_case(&c, NULL, NULL, arena, &err));
    assert_int_equal(c.set.count, 10);
    for (int i = 0; i < 4; i++) {
        if (!reasons[i]) assert_null(c.set.runs[i].excluded);
        else assert_non_null(strstr(c.set.runs[i].excluded, reasons[i]));
    }
    assert_int_equal(c.v.source_count, 3);
    assert_int_equal(c.v.sources[0].metric, METRIC_ITERATION_TIME);
    assert_int_equal(c.v.sources[0].scores.rows, 1);
    for (int m = 0; m < 2; m++) {
        const struct oom_scores *o = &c.v.sources[1].oom[m];
        assert_true(o->caught == 1 && o->total == 2 && o->false_alarms == 1 && o->ran_total == 2 &&
                    o->ran_over == 2 && o->ran_all == 3);
    }
}

// Rows made by the formulas: the table from those without a pipeline predicts those with one,
// although it does not know how much of the ends is the embedding; a missing cell of the table is
// reported.
TEST(tables_carry_over_to_pipelines)
{
    struct predict_settings settings = {.margin = 0.8, .costs = "published"};
    struct predictor *p;
    CHECK_OK(predictor_open(&p, &settings, arena, &err));
    const char *text =
        "id,gpu,layers,hidden,seq,tp,pp,dp,micro_batch,global_batch,recompute,metric,value,unit\n";
    for (int i = 0; i < 96; i++) {
        int tp = 1 + i % 2, pp = (i / 2) % 3 == 0 ? 1 : 2 << (i / 2) % 2,
            layers = 8 * (1 + (i / 6) % 2), dp = 1 + (i / 12) % 2, b = 1 + (i / 24) % 2,
            batch = b * dp * (i >= 48 ? 8 : 24);
        const char *word = arena_print(arena,
                                       "gpu=A100,layers=%d,hidden=2048,seq=1024,tp=%d,pp=%d,dp=%d,"
                                       "micro_batch=%d,global_batch=%d,recompute=full,zero=0",
                                       layers, tp, pp, dp, b, batch);
        struct run_row row;
        struct prediction x;
        CHECK_OK(row_of_words(&row, &word, 1, arena, &err));
        predict_row(p, &row, &x);
        text = arena_print(arena,
                           "%s%d,A100,%d,2048,1024,%d,%d,%d,%d,%d,full,iteration_time,%.9g,s\n",
                           text, i, layers, tp, pp, dp, b, batch, (double)x.iteration_ns * 1e-9);
    }
    text = arena_print(arena, "%slone,A100,8,2048,1024,1,2,1,4,16,full,iteration_time,1,s\n", text);
    CHECK_OK(file_write(path, text, strlen(text), &err));
    struct case_of c = {.settings = {.mode = VALIDATE_TABLE, .margins = {0.8, 1}}};
    CHECK_OK(run_case(&c, NULL, NULL, arena, &err));
    assert_int_equal(c.v.table.cells, 4);
    assert_string_equal(c.set.runs[96].excluded, "its cell has no run without a pipeline");
    int scored = 0;
    for (int i = 0; i < 96; i++) {
        const struct run *run = &c.set.runs[i];
        if (run->row.pp == 1) {
            assert_string_equal(run->excluded, "fitted on");
            continue;
        }
        scored++;
        if (fabs(run->predicted / run->row.value - 1) > 0.01)
            fail_msg("row %d: %g, measured %g", i, run->predicted, run->row.value);
    }
    assert_int_equal(c.v.sources[0].scores.rows, scored);
    assert_true(scored > 40);
}

// Rates are the iteration's time in other words; a row in an unknown unit is listed.
TEST(rates_are_times)
{
    static const char *const rows =
        "id,gpu,layers,hidden,seq,dp,global_batch,metric,value,unit\n"
        "a,A100,24,2048,1024,4,64,iteration_time,1,s\nb,A100,24,2048,"
        "1024,4,64,throughput,1,samples/s\n"
        "c,A100,24,2048,1024,4,64,throughput,1,samples/s/"
        "GPU\nd,A100,24,2048,1024,4,64,throughput,1,tokens/s\n"
        "e,A100,24,2048,1024,4,64,throughput,1,tokens/s/"
        "GPU\nf,A100,24,2048,1024,4,64,iteration_time,1000,ms\n"
        "g,A100,24,2048,1024,4,64,throughput,1,furlongs\n"
        "h,A100,24,2048,\"1,024\",4,64,throughput,\"1,602\",tok/sec per "
        "GPU\ni,A100,24,2048,1024,4,64,throughput,\"1,60\",tokens/s\n"
        "j,A100,24,2048,1024,4,64,loss,3,s\n"
        "k,A100,24,2048,1024,4,64,throughput,1.602k,tokens/s/GPU\n"
        "l,A100,24,2048,1024,4,64,mfu,47%,\n"
        "m,A100,24,2048,1024,4,64,mfu,47 %,%\n"
        "n,A100,24,2048,1024,4,64,model_tflops_per_gpu,100,TFLOP/s\n"
        "o,A100,24,2048,1024,4,64,mfu,47,\n"
        "p,A100,24,2048,1024,4,64,throughput,47%,tokens/s\n"
        "q,A100,24,2048,1024,4,64,throughput,1kk,tokens/s\n"
        "r,A100,24,2048,1024,4,64,throughput,47%,\n";
    static const double factor[] = {0, 64, 16, 65536, 16384};
    struct case_of c = {.settings = {.margins = {0.8, 1}}};
    CHECK_OK(file_write(path, rows, strlen(rows), &err));
    CHECK_OK(run_case(&c, NULL, NULL, arena, &err));
    double seconds = c.set.runs[0].predicted;
    for (int i = 1; i < 5; i++) assert_near(c.set.runs[i].predicted, factor[i] / seconds);
    assert_near(c.set.runs[5].predicted, seconds);
    assert_near(c.set.runs[5].row.value, 1);
    assert_non_null(strstr(c.set.runs[6].excluded, unknown_unit));
    assert_near(c.set.runs[7].row.value, 1602);
    assert_near(c.set.runs[7].predicted, c.set.runs[4].predicted);
    assert_non_null(strstr(c.set.runs[8].excluded, "column value: expected a number"));
    assert_string_equal(c.set.runs[9].excluded, unknown_metric);
    assert_near(c.set.runs[10].row.value, 1602);
    assert_near(c.set.runs[10].predicted, c.set.runs[4].predicted);
    for (int i = 11; i < 13; i++) {
        assert_near(c.set.runs[i].row.value, 0.47);
        assert_near(c.set.runs[i].predicted, c.set.runs[13].predicted / 312e12); // an A100's peak
    }
    assert_non_null(strstr(c.set.runs[14].excluded, "above 1 (47 % is 47% or 0.47)"));
    assert_non_null(strstr(c.set.runs[15].excluded, "column unit: expected % or a blank cell"));
    assert_non_null(strstr(c.set.runs[16].excluded, "column value: expected a number"));
    assert_string_equal(c.set.runs[17].excluded, "a percentage (metric mfu)");
}

// ---- conditions

TEST(conditions_hold_as_they_say)
{
    static const struct {
        const char *text;
        bool holds;
    } cases[] = {
        {"", true},         {"n=7", true},      {"n=7.0", true},    {"n!=7", false},
        {"n<8", true},      {"n<7", false},     {"n<=7", true},     {"n>6,n>=7", true},
        {"n>6,n>7", false}, {"t=full", true},   {"t~UL", true},     {"t!~ul", false},
        {"t>empty", true},  {"empty=", true},   {"empty!=", false}, {"empty<9", false},
        {"row%5=0", true},  {"row%5=1", false},
    };
    struct table t;
    struct filter f;
    bool more, holds;
    const char *text = "n,t,empty\n7,full,\n";
    CHECK_OK(table_open_text(&t, "x.csv", text, strlen(text), arena, &err));
    CHECK_OK(table_next(&t, &more, &err));
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        CHECK_OK(filter_read(&f, "--rows", cases[i].text, arena, &err));
        CHECK_OK(filter_holds(&f, &t, &holds, &err));
        if (holds != cases[i].holds)
            fail_msg("'%s' %s", cases[i].text, holds ? "holds" : "does not hold");
    }
    static const char *const bad[] = {"n", "=7", "row%0=1", "row%x=1"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        err = (struct error){OK, ""};
        if (filter_read(&f, "--rows", bad[i], arena, &err) != BAD_INPUT)
            fail_msg("'%s' accepted", bad[i]);
        assert_non_null(strstr(err.text, "--rows: expected"));
    }
}

// ---- the published sets, if available: within the figures of docs/VALIDATION.md and a little more

#define SETS "../shared/validation/"

struct published {
    const char *table, *costs, *cluster, *defaults, *rows, *set, *fit;
    bool by_table;
    int metric;
    int rows_min;
    double mean_max, regret_max;
};

static void check_published(const struct published *x)
{
    struct error err = {OK, ""};
    struct predict_settings predict = {.margin = 0.8, .costs = x->costs, .cluster = x->cluster};
    struct validate_settings settings = {.mode = x->by_table ? VALIDATE_TABLE
                                                 : x->fit    ? VALIDATE_FOLDS
                                                             : VALIDATE_AS_GIVEN,
                                         .folds = 5,
                                         .margins = {0.8, 1},
                                         .ran_below = 0.75};
    struct run_choice choice = {.defaults = x->defaults, .read_notes = true};
    struct validation v;
    struct predictor *p;
    bool found = false;
    struct arena_mark mark = arena_set_mark(&own_arena);
    struct run_set set = {.arena = &own_arena};
    CHECK_OK(filter_read(&choice.rows, "--rows", x->rows ? x->rows : "", &own_arena, &err));
    CHECK_OK(runs_add(&set, x->table, &choice, &err));
    CHECK_OK(predictor_open(&p, &predict, &own_arena, &err));
    if (x->set) CHECK_OK(predictor_set(p, x->set, &err));
    if (x->fit) CHECK_OK(fit_keys_read(&settings.keys, x->fit, &own_arena, &err));
    CHECK_OK(validate(&v, &set, p, &settings, &own_arena, &err));
    for (int i = 0; i < v.source_count; i++) {
        const struct source_scores *s = &v.sources[i];
        if (s->metric != x->metric) continue;
        found = true;
        print_message("%s: %d rows, mean %.2f %%\n", x->table, s->scores.rows,
                      100 * s->scores.mean_abs_error);
        assert_true(s->scores.rows >= x->rows_min);
        if (!(s->scores.mean_abs_error <= x->mean_max))
            fail_msg("%s: mean error %.4f, at most %.4f", x->table, s->scores.mean_abs_error,
                     x->mean_max);
        if (x->regret_max > 0) assert_true(s->scores.regret_mean <= x->regret_max);
        if (!x->by_table && s->scores.inside < 0.75)
            fail_msg("%s: %.1f %% lie inside of what the costs leave open", x->table,
                     100 * s->scores.inside);
        if (x->metric == METRIC_PEAK_MEMORY && s->oom[0].total)
            assert_true(s->oom[0].caught == s->oom[0].total &&
                        10 * s->oom[0].false_alarms <= s->oom[0].ran_total);
    }
    assert_true(found);
    arena_reset(&own_arena, mark);
}

TEST(published_sets_are_predicted)
{
    static const struct published cases[] = {
        {.table = SETS "vtrain_single_2312.12391.csv",
         .costs = "a100-tables",
         .fit = "layer_overhead_s,layer_launch_s,misaligned_gemm_share",
         .metric = METRIC_ITERATION_TIME,
         .rows_min = 1440,
         .mean_max = 0.08},
        {.table = SETS "vtrain_single_2312.12391.csv",
         .costs = "a100-tables",
         .by_table = true,
         .metric = METRIC_ITERATION_TIME,
         .rows_min = 720,
         .mean_max = 0.015,
         .regret_max = 0.001},
        {.table = SETS "vtrain_multi_2312.12391.csv",
         .costs = "a100-vtrain",
         .metric = METRIC_ITERATION_TIME,
         .rows_min = 109,
         .mean_max = 0.09},
        {.table = SETS "amp_homogeneous_2210.07297.csv",
         .costs = "t4-deepspeed",
         .cluster = "t4-4x4",
         .defaults = "gradient_bytes=4",
         .fit = "gemm+attention,collective_launch_s+transfer_launch_s,intra_efficiency+network_"
                "efficiency.ethernet",
         .rows_min = 47,
         .mean_max = 0.06,
         .regret_max = 0.06},
        {.table = SETS "korthikanti_2205.05198.csv",
         .costs = "datasheet",
         .fit = "gemm+attention",
         .rows_min = 9,
         .mean_max = 0.12},
        {.table = SETS "nvidia_dgxc_v25.04.csv",
         .costs = "datasheet-overlapped",
         .defaults = "overlap=1,gradient_bytes=2",
         .fit = "gemm+attention",
         .rows_min = 58,
         .mean_max = 0.12},
        {.table = SETS "nvidia_dgxc_v25.04.csv",
         .costs = "datasheet-overlapped",
         .defaults = "overlap=1,gradient_bytes=2",
         .metric = METRIC_PEAK_MEMORY,
         .rows_min = 2,
         .mean_max = 0.02},
        {.table = SETS "bigscience_176B_prequel_A100.csv",
         .costs = "a100-tables",
         .defaults = "heads=96,kv_heads=96",
         .rows = "metric!=iteration_time",
         .fit = "allocator_factor",
         .metric = METRIC_PEAK_MEMORY,
         .rows_min = 95,
         .mean_max = 0.04},
        {.table = SETS "nanotron_memory.csv",
         .costs = "kernels",
         .metric = METRIC_PEAK_MEMORY,
         .rows_min = 337,
         .mean_max = 0.1},
        {.table = SETS "megatron_lm_golden_values.csv",
         .costs = "datasheet",
         .rows = "hidden>=3072,source~7b,pp=1",
         .metric = METRIC_STATIC_MEMORY,
         .rows_min = 2,
         .mean_max = 0.01},
        {.table = "data/runs/sailor-opt350-gh200.csv",
         .costs = "gh200-sailor",
         .cluster = "gh200-clariden",
         .rows = "micro_batch>1",
         .rows_min = 11,
         .mean_max = 0.09},
        // Cold: nothing fitted on iterations; products from kernels that were measured alone.
        {.table = SETS "vtrain_single_2312.12391.csv",
         .costs = "kernels",
         .rows_min = 1440,
         .mean_max = 0.12},
        {.table = SETS "vtrain_multi_2312.12391.csv",
         .costs = "kernels",
         .rows_min = 109,
         .mean_max = 0.10},
        {.table = SETS "korthikanti_2205.05198.csv",
         .costs = "kernels",
         .rows_min = 9,
         .mean_max = 0.08},
        {.table = SETS "megatron_sc21_2104.04473.csv",
         .costs = "kernels",
         .defaults = "seq=1024,recompute=full",
         .rows = "zero=0",
         .rows_min = 12,
         .mean_max = 0.08},
        {.table = SETS "nvidia_dgxc_v25.04.csv",
         .costs = "kernels",
         .defaults = "overlap=1,overlap_messages=1,overlap_tensor=1,gradient_bytes=2",
         .rows_min = 58,
         .mean_max = 0.05},
        {.table = SETS "amp_homogeneous_2210.07297.csv",
         .costs = "t4-kernels",
         .cluster = "t4-4x4",
         .defaults = "gradient_bytes=4",
         .rows_min = 47,
         .mean_max = 0.15,
         .regret_max = 0.06},
        {.table = "data/runs/mpt-llm-foundry.csv",
         .costs = "kernels",
         .metric = METRIC_THROUGHPUT,
         .rows_min = 209,
         .mean_max = 0.065},
        {.table = "data/runs/torchtitan-llama3.csv",
         .costs = "kernels",
         .metric = METRIC_THROUGHPUT,
         .rows_min = 21,
         .mean_max = 0.09},
        {.table = "data/runs/llama3-2407.21783.csv",
         .costs = "kernels",
         .metric = METRIC_MODEL_TFLOPS_PER_GPU,
         .rows_min = 3,
         .mean_max = 0.09},
        {.table = "data/runs/nvidia-megatron.csv",
         .costs = "kernels",
         .rows = "gpu=A100-80GB,layers=24",
         .metric = METRIC_THROUGHPUT,
         .rows_min = 13,
         .mean_max = 0.05},
        {.table = "data/runs/nvidia-megatron.csv",
         .costs = "kernels",
         .rows = "precision=fp8",
         .metric = METRIC_THROUGHPUT,
         .rows_min = 24,
         .mean_max = 0.09},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        if (access(cases[i].table, R_OK))
            print_message("%s is not at hand: left out\n", cases[i].table);
        else check_published(&cases[i]);
    }
}

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "build/test_validate.%d.csv", (int)getpid());
    return setenv("PLUMBLINE_DATA", "data", 1);
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

AROUND_ALL(set_up, tear_down)

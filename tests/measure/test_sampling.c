// Sampling on a simulated machine whose truth is known: how often 95 % intervals cover it with the
// stopping rule active, under heavy tails, gaps, equal values, both reasons to stop and differing
// launches; how wide they are; what happens to outliers, throttled repetitions and signals. Seeds
// are fixed: a run is the same every time.
#include "data/numbers/intervals.h"
#include "measure/sampling/host.h"
#include "measure/sampling/rounds.h"
#include "measure/sampling/simulated.h"
#include "tests/support/folder.h"
#include "tests/support/check.h"

enum { TRIALS = 10000 };

static bool sample_is_outlier(const struct sample *s, int repetition)
{
    for (int i = 0; i < s->outlier_count; i++)
        if (s->outliers[i] == repetition) return true;
    return false;
}

static struct median fixed_median(const double *seconds, int count, struct arena *arena)
{
    double *sorted = TAKE_COPY(arena, seconds, count);
    struct median m;
    qsort(sorted, (size_t)count, sizeof *sorted, compare_numbers);
    m.coverage = median_interval(sorted, count, 0.95, &m.value, &m.low, &m.high);
    return m;
}

static struct cell cell_of(double flop)
{
    return (struct cell){.work = WORK_GEMM,
                         .sample = {.kind = SAMPLE_GEMM,
                                    .operation = "product",
                                    .dimensions = {1, 1, 1},
                                    .dimension_count = 3,
                                    .flop = flop}};
}

static struct simulated machine_of(const char *options, struct arena *arena)
{
    struct simulated machine = simulated_default();
    MUST(simulated_read(&machine, options, arena, &own_err));
    return machine;
}

static void *open_machine(const char *options, uint64_t seed, struct arena *arena)
{
    void *session;
    const struct backend_settings settings = {.threads = 1, .seed = seed, .options = options};
    MUST(backend_simulated.open(&session, &settings, FP32, arena, &own_err));
    return session;
}

// ---- coverage

struct tally {
    int trials, covered, by_width, looks, repetitions;
    double wide, wide_fixed;
    double *ratios;
};

static void count_trial(struct tally *t, const struct sample *s, double truth, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    struct median m = sample_median(s, arena),
                  fixed = fixed_median(s->seconds, s->repetitions, arena);
    t->covered += m.low <= truth && truth <= m.high;
    t->by_width += !strcmp(s->stopped_by, "width");
    t->repetitions += s->repetitions;
    t->looks += look_is_at(s->repetitions);
    t->ratios[t->trials++] = fixed.high > fixed.low ? (m.high - m.low) / (fixed.high - fixed.low)
                                                    : 1;
    t->wide += (m.high - m.low) / truth;
    t->wide_fixed += (fixed.high - fixed.low) / truth;
    arena_reset(arena, mark);
}

// 10,000 cells with the real rounds, `together` of them sharing a budget of `calls` repetitions
// each.
static struct tally run_trials(const char *options, double width, int together, double calls,
                               struct arena *arena)
{
    struct tally t = {.ratios = TAKE(arena, TRIALS, double)};
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = 1; t.trials < TRIALS; seed++, arena_reset(arena, mark)) {
        void *session = open_machine(options, 1000 * seed, arena);
        struct cell *cells = TAKE(arena, together, struct cell);
        for (int i = 0; i < together; i++) cells[i] = cell_of(1e9);
        const struct rounds_settings settings = {.budget_s = calls * together * 1e-3,
                                                 .width = width,
                                                 .repetitions_min = 8,
                                                 .repetitions_max = LOOK_LAST,
                                                 .warm_ups = 1,
                                                 .seed = seed};
        struct rounds_result result;
        rounds_run(&result, &backend_simulated, session, cells, together, &settings, arena);
        struct simulated machine = machine_of(options, arena);
        for (int i = 0; i < together && t.trials < TRIALS; i++)
            count_trial(&t, &cells[i].sample, simulated_truth(&machine, &cells[i].sample), arena);
    }
    qsort(t.ratios, TRIALS, sizeof *t.ratios, compare_numbers);
    return t;
}

TEST(test_coverage)
{
    // Widths that some fifty repetitions reach.
    // Widths that some fifty repetitions reach; budgets that end before.
    static const struct {
        const char *noise;
        double spread, width, calls;
        int together;
    } table[] = {
        {"lognormal", 0.05, 0.05, 4000, 20}, {"lognormal", 0.5, 0.5, 4000, 20},
        {"student", 0.05, 0.06, 4000, 20},   {"pareto", 0.05, 0.07, 4000, 20},
        {"bimodal", 0.02, 0.12, 4000, 20},   {"ticks", 0.1, 0.1, 4000, 20},
        {"lognormal", 0.05, 0.04, 30, 20},   {"pareto", 0.05, 0.05, 30, 20},
        {"student", 0.05, 0.04, 60, 1},      {"bimodal", 0.02, 0.08, 60, 1},
        {"ticks", 0.1, 0.05, 30, 20},
    };
    struct arena_mark mark = arena_set_mark(arena);
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++, arena_reset(arena, mark)) {
        const char *options = arena_print(arena, "gemm=1e12,call=0,noise=%s,spread=%g",
                                          table[i].noise, table[i].spread);
        struct tally t =
            run_trials(options, table[i].width, table[i].together, table[i].calls, arena);
        double covered = (double)t.covered / TRIALS, ratio = t.wide / t.wide_fixed,
               middle = t.ratios[TRIALS / 2];
        print_message("%-9s %-4g %-17s covers %.4f, %5.1f %% by width, %3.0f repetitions; times "
                      "fixed n's width: median %.3f, of means %.3f\n",
                      table[i].noise, table[i].spread,
                      table[i].calls > 1000   ? "width"
                      : table[i].together > 1 ? "budget"
                                              : "budget, one cell",
                      covered, 100. * t.by_width / TRIALS, (double)t.repetitions / TRIALS, middle,
                      ratio);
        assert_true(covered >= 0.945);
        assert_true(ratio <= 1.6 && middle <= 1.6);
        assert_true(t.looks >=
                    0.99 * TRIALS); // between looks only where a machine alone overruns the budget
        assert_true(table[i].calls > 1000 ? t.by_width == TRIALS : t.by_width < TRIALS / 10);
    }
}

// What the test above must be able to see: the interval of a fixed number under the same stopping
// by width, looked at after every repetition.
static bool naive_covers(enum noise noise, double width, uint64_t seed, const int *ranks, int most)
{
    double sorted[512];
    for (int count = 1;; count++) {
        double value = simulated_noise(noise, 0.05, &seed);
        int place = count - 1;
        for (; place > 0 && sorted[place - 1] > value; place--) sorted[place] = sorted[place - 1];
        sorted[place] = value;
        if (count < 8) continue;
        double low = sorted[ranks[count] - 1], high = sorted[count - ranks[count]];
        if (high - low <= width * sorted[count / 2] || count == most) return low <= 1 && 1 <= high;
    }
}

TEST(test_naive_interval_fails)
{
    static const enum noise noises[] = {NOISE_LOGNORMAL, NOISE_STUDENT, NOISE_PARETO};
    enum { MOST = 400 };
    int ranks[MOST + 1] = {0};
    double numbers[MOST];
    for (int i = 0; i < MOST; i++) numbers[i] = i + 1;
    for (int i = 8; i <= MOST; i++) ranks[i] = (int)fixed_median(numbers, i, arena).low;
    for (size_t n = 0; n < ARRAY_LENGTH(noises); n++) {
        int covered = 0;
        for (uint64_t trial = 1; trial <= TRIALS; trial++)
            covered += naive_covers(noises[n], 0.05, 77777 * trial, ranks, MOST);
        print_message("%-9s fixed n's interval, looked at after every repetition, covers %.4f\n",
                      noise_names[noises[n]], (double)covered / TRIALS);
        assert_true(covered < 0.945 * TRIALS);
    }
}

// ---- launches that differ

// Every launch is a session of its own, its effect drawn anew; merged as the program merges them.
TEST(test_launches_covered)
{
    static const struct {
        const char *noise;
        double spread, launch;
        int launches;
    } table[] = {
        {"lognormal", 0.05, 0, 2}, {"lognormal", 0.05, 0.03, 2}, {"lognormal", 0.05, 0.03, 3},
        {"pareto", 0.05, 0.03, 5}, {"student", 0.02, 0.1, 3},    {"bimodal", 0.02, 0.01, 2},
    };
    enum { LAUNCHES_MAX = 5, CALLS_MAX = 40 * LAUNCHES_MAX, MERGED = 4000 };
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++) {
        int covered = 0, pooled_covered = 0;
        double wide = 0;
        const char *options = arena_print(arena, "gemm=1e12,call=0,noise=%s,spread=%g,launch=%g",
                                          table[i].noise, table[i].spread, table[i].launch);
        struct arena_mark mark = arena_set_mark(arena);
        for (int trial = 0; trial < MERGED; trial++, arena_reset(arena, mark)) {
            double seconds[CALLS_MAX];
            int repetitions[LAUNCHES_MAX];
            struct sample merged = {
                .seconds = seconds, .launch_repetitions = repetitions, .stopped_by = "budget"};
            for (int l = 0; l < table[i].launches; l++) {
                struct cell cell = cell_of(1e9);
                const struct rounds_settings settings = {.budget_s = 0.03,
                                                         .width = 0.05,
                                                         .repetitions_min = 8,
                                                         .repetitions_max = 36,
                                                         .warm_ups = 1,
                                                         .seed = 1};
                struct rounds_result result;
                void *session =
                    open_machine(options, (uint64_t)(trial * LAUNCHES_MAX + l + 1) * 9973, arena);
                rounds_run(&result, &backend_simulated, session, &cell, 1, &settings, arena);
                memcpy(seconds + merged.repetitions, cell.sample.seconds,
                       (size_t)cell.sample.repetitions * sizeof *seconds);
                merged.repetitions += repetitions[l] = cell.sample.repetitions;
            }
            struct median m = sample_median(&merged, arena),
                          pooled = fixed_median(seconds, merged.repetitions, arena);
            covered += m.low <= 1e-3 && 1e-3 <= m.high;
            pooled_covered += pooled.low <= 1e-3 && 1e-3 <= pooled.high;
            wide += (m.high - m.low) / 1e-3 / MERGED;
        }
        print_message(
            "%d launches, %-9s %-4g, effect %-4g covers %.4f, %.3f wide; launches ignored: %.4f\n",
            table[i].launches, table[i].noise, table[i].spread, table[i].launch,
            (double)covered / MERGED, wide, (double)pooled_covered / MERGED);
        assert_true(covered >= 0.945 * MERGED);
        if (table[i].launch > 0.02)
            assert_true(pooled_covered < 0.9 * MERGED); // what ignoring them would claim
    }
}

// ---- marks, and that nothing is dropped

static int count_beyond(const struct sample *s, int first, int count, int *marked)
{
    int beyond = 0;
    *marked = 0;
    for (int i = first; i < first + count; i++) {
        beyond += s->seconds[i] > 2;
        *marked += sample_is_outlier(s, i);
        assert_true(sample_is_outlier(s, i) == (s->seconds[i] > 2));
    }
    return beyond;
}

TEST(test_outliers)
{
    double seconds[60];
    int repetitions[2] = {20, 40}, marked;
    for (int i = 0; i < 60; i++)
        seconds[i] = 1 + 0.01 * (i % 7 - 3) +
                     (i >= 20 ? 0.5 : 0); // the second launch is slower, no outlier
    seconds[3] = 5, seconds[30] = 3, seconds[59] = 2.5;
    struct sample s = {.seconds = seconds, .repetitions = 60, .launch_repetitions = repetitions};
    sample_flag_outliers(&s, arena);
    assert_int_equal(s.repetitions, 60);
    assert_int_equal(count_beyond(&s, 0, 20, &marked), 1);
    assert_int_equal(count_beyond(&s, 20, 40, &marked), 2);
    assert_int_equal(s.outlier_count, 3);
    for (int i = 0; i < 60; i++)
        seconds[i] = i == 7   ? 1.004
                     : i == 8 ? 1.02
                              : 1; // equal values: a floor under their deviation
    s.launch_repetitions = NULL;
    sample_flag_outliers(&s, arena);
    assert_int_equal(s.outlier_count, 1);
    assert_int_equal(s.outliers[0], 8);
}

// A fifth of the time throttled: those repetitions are slower by the factor, and exactly those are
// marked, as far as conditions are queried often enough.
TEST(test_throttled)
{
    enum { CELLS = 10 };
    struct cell cells[CELLS];
    for (int i = 0; i < CELLS; i++) cells[i] = cell_of(2e10);
    void *session = open_machine(
        "gemm=1e12,call=0,noise=lognormal,spread=0.01,throttle=0.2,slowdown=1.5", 4, arena);
    const struct rounds_settings settings = {.budget_s = 30,
                                             .width = 1e-3,
                                             .repetitions_min = 8,
                                             .repetitions_max = 200,
                                             .warm_ups = 1,
                                             .seed = 9};
    struct rounds_result result;
    rounds_run(&result, &backend_simulated, session, cells, CELLS, &settings, arena);
    int slow = 0, wrong = 0, throttled = 0;
    for (int i = 0; i < CELLS; i++) {
        const struct sample *s = &cells[i].sample;
        assert_true(s->condition_count > 0 && s->conditions[0].first == 0 &&
                    s->conditions[0].clock_hz > 0);
        for (int k = 1; k < s->condition_count; k++)
            assert_true(s->conditions[k].first > s->conditions[k - 1].first &&
                        s->conditions[k].first < s->repetitions);
        for (int k = 0; k < s->repetitions; k++) {
            slow += s->seconds[k] > 0.025;
            throttled += sample_is_throttled(s, k);
            wrong += (s->seconds[k] > 0.025) != sample_is_throttled(s, k);
        }
    }
    print_message("%d of %d repetitions throttled, %d marked, %d wrongly or not\n", slow,
                  result.repetitions, throttled, wrong);
    assert_true(slow > result.repetitions / 20 && slow < result.repetitions / 2);
    assert_true(wrong <= slow / 5); // those during which it changed
    assert_int_equal(result.throttled, throttled);
}

// ---- signals, the budget, the least and the most

static int calls_left;
static bool interrupted(void) { return calls_left-- <= 0; }

TEST(test_interrupted)
{
    enum { CELLS = 6 };
    for (int calls = 0; calls < 100; calls += 7) {
        struct cell cells[CELLS];
        for (int i = 0; i < CELLS; i++) cells[i] = cell_of(1e9);
        const struct rounds_settings settings = {.budget_s = 100,
                                                 .width = 0.2,
                                                 .repetitions_min = 8,
                                                 .repetitions_max = 100,
                                                 .warm_ups = 1,
                                                 .seed = 3,
                                                 .interrupted = interrupted};
        struct rounds_result result;
        calls_left = calls;
        rounds_run(&result, &backend_simulated,
                   open_machine("noise=lognormal,spread=0.3", 5, arena), cells, CELLS, &settings,
                   arena);
        int kept = 0;
        assert_true(result.interrupted);
        for (int i = 0; i < CELLS; i++) {
            const struct sample *s = &cells[i].sample;
            kept += s->repetitions + s->warm_ups;
            assert_string_equal(s->stopped_by, cells[i].done ? "width" : "interrupted");
            for (int k = 0; k < s->repetitions; k++) assert_true(s->seconds[k] > 0);
        }
        assert_true(kept <= calls &&
                    kept >= calls - 1 - calls / 48); // queried once more between stages
    }
}

TEST(test_budget)
{
    enum { CELLS = 30 };
    static const double budgets_s[] = {0, 0.1, 0.5, 1, 2, 5};
    for (size_t b = 0; b < ARRAY_LENGTH(budgets_s); b++) {
        struct cell cells[CELLS];
        double least_s = 0;
        for (int i = 0; i < CELLS; i++)
            cells[i] = cell_of(1e9 * (1 + i % 5)), least_s += 9 * (1.2e-3 * (1 + i % 5));
        const struct rounds_settings settings = {.budget_s = budgets_s[b],
                                                 .width = 1e-4,
                                                 .repetitions_min = 8,
                                                 .repetitions_max = LOOK_LAST,
                                                 .warm_ups = 1,
                                                 .seed = 3};
        struct rounds_result result;
        rounds_run(&result, &backend_simulated, open_machine("noise=pareto,spread=0.05", 6, arena),
                   cells, CELLS, &settings, arena);
        print_message("budget %g s: %.2f s, %d repetitions\n", budgets_s[b], result.elapsed_s,
                      result.repetitions);
        // Warm-ups for half of it and one round in any case; else no repetition begins beyond it.
        assert_true(result.elapsed_s <=
                    fmax(0.5 * budgets_s[b] + least_s / 9, 1.1 * budgets_s[b]) + 0.02);
        if (budgets_s[b] > 2 * least_s)
            assert_true(result.elapsed_s >= 0.8 * budgets_s[b]); // little of it is left lying
        for (int i = 0; i < CELLS; i++)
            assert_true(cells[i].sample.repetitions >= (budgets_s[b] > least_s ? 8 : 1) &&
                        !strcmp(cells[i].sample.stopped_by, "budget"));
    }
    // Below the first look as many as requested, which is a true fixed number.
    struct cell one = cell_of(1e9);
    const struct rounds_settings few = {
        .budget_s = 10, .width = 0.5, .repetitions_min = 3, .repetitions_max = 3, .seed = 1};
    struct rounds_result result;
    rounds_run(&result, &backend_simulated, open_machine(NULL, 6, arena), &one, 1, &few, arena);
    assert_int_equal(one.sample.repetitions, 3);
    assert_string_equal(one.sample.stopped_by, "count");
}

// A machine ten times as slow as the sizes were chosen for, by the clock of a back end of its own:
// the number of repetitions is what the budget holds, whatever was planned.
static double slow_now_s, slow_call_s;
static int slow_calls;

static double slow_clock(void *session)
{
    (void)session;
    return slow_now_s;
}

static double slow_repeat(void *session, const struct cell *cell)
{
    (void)session;
    double seconds = slow_call_s * cell->sample.flop / 1e9;
    slow_calls++;
    slow_now_s += seconds;
    return seconds;
}

TEST(test_slow_machine)
{
    enum { CELLS = 20 };
    const struct backend slow = {.name = "slow", .repeat = slow_repeat, .clock = slow_clock};
    for (double call_s = 0.001; call_s < 8; call_s *= 2) {
        struct cell cells[CELLS];
        double round_s = CELLS * call_s, budget_s = 20;
        int warm_ups = 0, least = INT32_MAX, most = 0;
        for (int i = 0; i < CELLS; i++) cells[i] = cell_of(1e9);
        const struct rounds_settings settings = {.budget_s = budget_s,
                                                 .begin_s = 3, // were spent before
                                                 .width = 1e-4,
                                                 .repetitions_min = 8,
                                                 .repetitions_max = 8,
                                                 .warm_ups = 1,
                                                 .seed = 3};
        struct rounds_result result;
        slow_now_s = 3 + 1, slow_call_s = call_s, slow_calls = 0;
        rounds_run(&result, &slow, NULL, cells, CELLS, &settings, arena);
        for (int i = 0; i < CELLS; i++) {
            int n = cells[i].sample.repetitions;
            warm_ups += cells[i].sample.warm_ups;
            least = n < least ? n : least, most = n > most ? n : most;
        }
        assert_int_equal(result.repetitions + warm_ups, slow_calls);
        // Nothing begins beyond the budget but the first round.
        double warm_s = warm_ups * call_s, first_s = 1 + warm_s + round_s;
        assert_true(result.elapsed_s <= fmax(budget_s + call_s, first_s) + 1e-9);
        assert_true(1 + warm_s <= fmax(0.5 * budget_s, 1) + call_s + 1e-9);
        assert_true(least >= 1 && most <= least + 1 && most <= 8);
        if (1 + 9 * round_s < budget_s) assert_true(least == 8 && warm_ups == CELLS);
    }
}

// Half of every kind of noise is on each side of the truth; nothing is negative; a seed determines
// everything.
TEST(test_noise)
{
    for (int noise = 0; noise < NOISE_COUNT; noise++) {
        uint64_t seed = 12, again = 12;
        int below = 0, above = 0;
        for (int i = 0; i < 40000; i++) {
            double x = simulated_noise((enum noise)noise, 0.1, &seed);
            assert_true(x == simulated_noise((enum noise)noise, 0.1, &again) && x >= 0);
            below += x < 1;
            above += x > 1;
        }
        assert_true(below <= 20400 && above <= 20400); // 4 standard deviations of a fair coin
        if (noise != NOISE_NONE && noise != NOISE_TICKS)
            assert_true(below >= 19600 && above >= 19600);
    }
}

// ---- the state of the processors, on a tree like Linux's

static void put(const char *root, const char *path, const char *text, struct arena *arena)
{
    const char *line = arena_print(arena, "mkdir -p $(dirname %s/%s) && echo '%s' > %s/%s", root,
                                   path, text, root, path);
    assert_int_equal(system(line), 0);
}

TEST(test_host_condition)
{
    char root[FOLDER_SIZE];
    struct host_condition c;
    struct condition now = {0};
    assert_int_equal(folder_make(root), 0);
    host_condition_open(&c, root, arena);
    assert_false(host_condition_read(&c, &now));
    for (int cpu = 0; cpu < 3; cpu++) {
        put(root, arena_print(arena, "devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu),
            cpu ? "3000000" : "1500000", arena);
        put(root,
            arena_print(arena, "devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count",
                        cpu),
            "7", arena);
    }
    put(root, "class/thermal/thermal_zone0/type", "acpitz", arena);
    put(root, "class/thermal/thermal_zone0/temp", "20000", arena);
    put(root, "class/thermal/thermal_zone1/type", "x86_pkg_temp", arena);
    put(root, "class/thermal/thermal_zone1/temp", "61500", arena);
    host_condition_open(&c, root, arena);
    assert_true(host_condition_read(&c, &now));
    assert_true(now.clock_hz == 2.5e9 && now.temperature_c == 61.5 && now.slowdown == 0);
    put(root, "devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", "8", arena);
    now = (struct condition){0};
    assert_true(host_condition_read(&c, &now) && (now.slowdown & SLOWDOWN_FLAGGED));
    now = (struct condition){0};
    assert_true(host_condition_read(&c, &now) && !now.slowdown); // that was it
    put(root, "devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "<unknown>", arena);
    now = (struct condition){0};
    assert_true(host_condition_read(&c, &now) && now.clock_hz == 3e9);
    assert_int_equal(folder_remove(root), 0);
}

// Measurement: the rank interval against its published table and against enumeration; the timed
// parts against plain loops; the order and the end of the repetitions against a back end whose
// times are known; a real, tiny run from end to end.
#include <sys/wait.h>
#include <unistd.h>

#include "data/inputs/costs.h"
#include "data/numbers/samples.h"
#include "measure/sampling/cells.h"
#include "measure/cpu/internal.h"
#include "measure/sampling/rounds.h"
#include "tests/support/check.h"

// n and the rank l of the published table of rank intervals; 0: no such interval exists.
TEST(test_rank_table)
{
    static const struct {
        int count, rank_95;
        double coverage_95;
        int rank_99;
    } table[] = {
        {6, 1, 0.969, 0},     {8, 1, 0.992, 1},    {9, 2, 0.961, 1},    {12, 3, 0.961, 2},
        {15, 4, 0.965, 3},    {17, 5, 0.951, 3},   {20, 6, 0.959, 4},   {25, 8, 0.957, 6},
        {30, 10, 0.957, 8},   {40, 14, 0.962, 12}, {50, 18, 0.967, 16}, {100, 40, 0.965, 37},
        {200, 86, 0.960, 82},
    };
    double sorted[200], median, low, high;
    for (int i = 0; i < 200; i++) sorted[i] = i + 1;
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++) {
        int n = table[i].count;
        double reached = median_interval(sorted, n, 0.95, &median, &low, &high);
        assert_true(low == table[i].rank_95 && high == n + 1 - table[i].rank_95);
        assert_true(fabs(reached - table[i].coverage_95) < 0.00051);
        assert_true(median == (n + 1) / 2.0);
        reached = median_interval(sorted, n, 0.99, &median, &low, &high);
        if (table[i].rank_99)
            assert_true(reached >= 0.99 && low == table[i].rank_99 &&
                        high == n + 1 - table[i].rank_99);
        else assert_true(reached < 0.99 && low == 1 && high == n);
    }
}

// Coverage counted out: every pattern of n samples below or above the median is equally likely.
TEST(test_coverage_counted)
{
    for (int n = 1; n <= 14; n++) {
        double sorted[14], median, low, high;
        for (int i = 0; i < n; i++) sorted[i] = i + 1;
        double reached = median_interval(sorted, n, 0.9, &median, &low, &high);
        int covered = 0;
        for (int pattern = 0; pattern < 1 << n; pattern++) {
            int below = 0;
            for (int k = 0; k < n; k++) below += pattern >> k & 1;
            covered += below >= low &&
                       below <= n - low; // x(l) below the median, x(n + 1 - l) above
        }
        assert_true(fabs(reached - (double)covered / (1 << n)) < 1e-12);
        if (n >= 5) assert_true(reached >= 0.9);
        else assert_true(low == 1 && high == n);
        assert_true(low <= median && median <= high);
    }
}

// ---- the parts, against plain loops in double precision

struct bench {
    struct cell cell;
    float *in, *out;
};

static struct bench run_part(enum work work, int threads, int64_t d0, int64_t d1, int64_t d2,
                             int64_t d3, struct arena *arena)
{
    struct error err = {OK, ""};
    struct team *team;
    struct bench b = {.cell = {.work = work, .sample = {.dimensions = {d0, d1, d2, d3}}}};
    struct part_size size = part_size(&b.cell, threads);
    b.in = TAKE(arena, size.in, float);
    b.out = TAKE(arena, size.out + 1, float);
    uint64_t seed = 7;
    for (int64_t i = 0; i < size.in; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        b.in[i] = (float)(int32_t)(seed >> 32) * 0x1p-31f;
    }
    b.out[size.out] = 12345; // nothing may be written after the end
    CHECK_OK(team_open(&team, threads, arena, &err));
    part_run(team, &b.cell, b.in, b.out);
    assert_true(b.out[size.out] == 12345);
    return b;
}

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 2e-5 * (1 + fabs(want)))) fail_msg("got %.9g, want %.9g", got, want);
}

static const int thread_counts[] = {1, 2, 3};

TEST(test_gemm_part)
{
    enum { M = 5, N = 7, K = 11 };
    for (size_t c = 0; c < ARRAY_LENGTH(thread_counts); c++) {
        struct bench b = run_part(WORK_GEMM, thread_counts[c], M, N, K, 0, arena);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int k = 0; k < K; k++)
                    sum += (double)b.in[i * K + k] * (double)b.in[M * K + k * N + j];
                assert_near(b.out[i * N + j], sum);
            }
    }
}

TEST(test_attention_part)
{
    enum { HEADS = 4, S = 37, W = 8 };
    for (size_t c = 0; c < ARRAY_LENGTH(thread_counts); c++) {
        struct bench b = run_part(WORK_ATTENTION, thread_counts[c], HEADS, S, W, 0, arena);
        const float *query = b.in, *key = query + HEADS * S * W, *value = key + HEADS * S * W,
                    *context = b.out + HEADS * S * S;
        for (int head = 0; head < HEADS; head++)
            for (int i = 0; i < S; i++) {
                double weight[S], total = 0;
                for (int j = 0; j < S; j++) {
                    double score = 0;
                    for (int k = 0; k < W; k++)
                        score += (double)query[(head * S + i) * W + k] *
                                 (double)key[(head * S + j) * W + k];
                    total += weight[j] = exp(score / sqrt(W));
                }
                for (int k = 0; k < W; k++) {
                    double sum = 0;
                    for (int j = 0; j < S; j++)
                        sum += weight[j] / total * (double)value[(head * S + j) * W + k];
                    assert_near(context[(head * S + i) * W + k], sum);
                }
            }
    }
}

TEST(test_elementwise_parts)
{
    enum { TOKENS = 9, H = 21, F = 34 };
    for (size_t c = 0; c < 2 * ARRAY_LENGTH(thread_counts); c++) {
        bool gated = c % 2;
        struct bench b = run_part(gated ? WORK_GATED_ELEMENTWISE : WORK_ELEMENTWISE,
                                  thread_counts[c / 2], 0, TOKENS, H, F, arena);
        for (int i = 0; i < TOKENS; i++) {
            const float *x = b.in + i * H;
            double mean = 0, variance = 1e-5;
            for (int j = 0; j < H; j++) mean += (double)x[j] / H;
            for (int j = 0; j < H; j++)
                variance += ((double)x[j] - mean) * ((double)x[j] - mean) / H;
            for (int j = 0; j < H; j++) {
                double normal = ((double)x[j] - mean) / sqrt(variance);
                assert_near(b.out[i * H + j], normal);
                assert_near(b.out[TOKENS * H + i * H + j], normal + (double)x[j]);
            }
        }
        for (int j = 0; j < TOKENS * F; j++) {
            double g = (double)b.in[TOKENS * H + j],
                   up = gated ? (double)b.in[TOKENS * H + TOKENS * F + j] : 0;
            double want = gated ? g / (1 + exp(-g)) * up
                                : 0.5 * g *
                                      (1 + tanh(sqrt(2 / acos(-1.0)) * (g + 0.044715 * g * g * g)));
            assert_near(b.out[2 * TOKENS * H + j], want);
        }
    }
}

TEST(test_copy_part)
{
    struct bench b = run_part(WORK_COPY, 3, 8000, 0, 0, 0, arena);
    assert_memory_equal(b.in, b.out, 4000);
}

// For a matrix of the requested rank, compression and decompression return the matrix: P has
// orthonormal columns that span it, and Q = M^T P.
TEST(test_low_rank_parts)
{
    enum { ROWS = 23, COLUMNS = 17, RANK = 3 };
    for (size_t c = 0; c < ARRAY_LENGTH(thread_counts); c++) {
        struct bench b = run_part(WORK_COMPRESS, thread_counts[c], ROWS, COLUMNS, RANK, 0, arena);
        float *p = b.out, *q = b.out + ROWS * RANK;
        for (int i = 0; i < RANK; i++) {
            for (int j = 0; j < RANK; j++) {
                double product = 0;
                for (int k = 0; k < ROWS; k++)
                    product += (double)p[i * ROWS + k] * (double)p[j * ROWS + k];
                assert_near(product, i == j);
            }
            for (int j = 0; j < COLUMNS; j++) {
                double sum = 0;
                for (int k = 0; k < ROWS; k++)
                    sum += (double)b.in[k * COLUMNS + j] * (double)p[i * ROWS + k];
                assert_near(q[i * COLUMNS + j], sum);
            }
        }
        struct bench d = run_part(WORK_DECOMPRESS, thread_counts[c], ROWS, COLUMNS, RANK, 0, arena);
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++) {
                double sum = 0;
                for (int k = 0; k < RANK; k++)
                    sum += (double)d.in[k * ROWS + i] * (double)d.in[ROWS * RANK + k * COLUMNS + j];
                assert_near(d.out[i * COLUMNS + j], sum);
            }
    }
}

// ---- the rounds, on a back end whose "times" are planted

struct planted {
    int calls;
    uint64_t seed;
};

// Size 0 takes 1 s exactly; the others vary by a factor of ten.
static double planted_repeat(void *session, const struct cell *cell)
{
    struct planted *p = session;
    p->calls++;
    p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
    return cell->sample.dimensions[0] == 0 ? 1
                                           : 1 + 9 * (double)(p->seed >> 11) / 9007199254740992.0;
}

TEST(test_rounds)
{
    enum { CELLS = 12, MOST = 36 };
    const struct backend planted = {.name = "planted", .repeat = planted_repeat};
    struct planted session = {.seed = 3};
    struct cell cells[CELLS] = {{.capacity = 0}};
    for (int i = 0; i < CELLS; i++) cells[i].sample.dimensions[0] = i % 2;
    struct rounds_settings settings = {.budget_s = 1e9,
                                       .begin_s = clock_s(),
                                       .width = 0.01,
                                       .repetitions_min = 8,
                                       .repetitions_max = MOST,
                                       .warm_ups = 2,
                                       .seed = 5};
    struct rounds_result result;
    rounds_run(&result, &planted, &session, cells, CELLS, &settings, arena);
    for (int i = 0; i < CELLS; i++) {
        assert_int_equal(cells[i].sample.repetitions, i % 2 ? MOST : 8);
        assert_string_equal(cells[i].sample.stopped_by, i % 2 ? "budget" : "width");
        assert_int_equal(cells[i].sample.warm_ups, 2);
    }
    assert_int_equal(result.done, CELLS / 2);
    assert_int_equal(result.repetitions, CELLS / 2 * (MOST + 8));
    assert_int_equal(session.calls, result.repetitions + 2 * CELLS);

    // No time at all: one repetition is taken all the same, and the budget is named.
    struct cell late[1] = {{.sample = {.dimensions = {1}}}};
    settings.budget_s = 0;
    rounds_run(&result, &planted, &session, late, 1, &settings, arena);
    assert_int_equal(late[0].sample.repetitions, 1);
    assert_string_equal(late[0].sample.stopped_by, "budget");
}

// ---- the choice of cells

TEST(test_cells)
{
    static const double largest_s[] = {1e-4, 1e-3, 0.05, 10};
    static const struct shape shapes[] = {
        {.hidden = 4096,
         .ffn = 14336,
         .heads = 32,
         .kv_heads = 8,
         .head_width = 128,
         .vocabulary = 128256,
         .gated_ffn = true},
        {.hidden = 256,
         .ffn = 1024,
         .heads = 4,
         .kv_heads = 4,
         .head_width = 64,
         .vocabulary = 1000,
         .positions = 128},
    };
    struct cells_request request = {
        .shapes = shapes,
        .shape_count = 2,
        .tensors = {{1, 2}, 2},
        .contexts = {{1, 2}, 2},
        .micro_batches = {{1, 2}, 2},
        .ranks = {{4, 16}, 2},
        .recompute = {[PASS_BACKWARD_SELECTIVE] = true, [PASS_BACKWARD_FULL] = true},
        .sequence = 2048,
        .precision = FP32,
        .threads = 2,
        .gemm_flop_per_s = 1e11,
        .copy_bytes_per_s = 1e10,
        .cut_layers = true,
        .experts = {{4}, 1},
    };
    for (size_t c = 0; c < 2 * ARRAY_LENGTH(largest_s); c++) {
        request.largest_s = largest_s[c / 2];
        request.quick = c % 2;
        struct cell *cells;
        int count, kinds[SAMPLE_KIND_COUNT] = {0}, passes[PASS_COUNT] = {0};
        cells_choose(&cells, &count, &request, arena);
        for (int i = 0; i < count; i++) {
            const struct sample *s = &cells[i].sample;
            kinds[s->kind]++;
            assert_true(s->dimension_count >= 1 && s->dimension_count <= 4);
            for (int k = 0; k < s->dimension_count; k++) assert_true(s->dimensions[k] >= 1);
            assert_true((cells[i].layer != NULL) == (cells[i].work == WORK_LAYER));
            if (cells[i].layer) {
                passes[cells[i].layer->pass]++;
                assert_true(s->dimensions[1] <= 2048 && s->dimensions[1] % s->dimensions[3] == 0);
            }
            if (s->kind != SAMPLE_GEMM) continue;
            assert_true(s->flop == 2.0 * (double)s->dimensions[0] * (double)s->dimensions[1] *
                                       (double)s->dimensions[2]);
            assert_true(s->dimensions[0] <= 4096);
            if (i >= 3 && !strcmp(s->operation,
                                  cells[i - 3].sample.operation)) // the next size of one operation
                assert_true(cells[i - 3].sample.flop < s->flop);
        }
        for (int kind = 0; kind <= SAMPLE_OPTIMIZER; kind++) {
            if (kind == SAMPLE_LAYER && largest_s[c / 2] < 1e-3)
                continue; // no time for whole layers
            assert_true(kinds[kind] >= 2);
        }
        assert_true(kinds[SAMPLE_GROUPED] >= 2 * 2 * 2 * 3);
        assert_true(!kinds[SAMPLE_ROTARY] == request.quick && !kinds[SAMPLE_CAST]);
        if (largest_s[c / 2] >= 0.05)
            for (int pass = 0; pass < PASS_COUNT; pass++)
                assert_true(passes[pass] >= 2 * 2 * 2 * 2);
        cells_choose_compression(&cells, &count, &request, arena);
        for (int i = 0; i < count; i++) {
            const struct sample *s = &cells[i].sample;
            assert_true(s->kind == SAMPLE_LOW_RANK || s->kind == SAMPLE_TOP_K ||
                        s->kind == SAMPLE_QUANTISE);
            if (s->kind == SAMPLE_TOP_K)
                assert_true(s->dimensions[1] >= 1 && s->dimensions[1] <= s->dimensions[0]);
            assert_string_equal(s->operation, i % 2 ? "decompress" : "compress");
        }
    }
}

// ---- the programs themselves, from a measurement to costs

// Runs "$BIN/plumbline WORDS" with its outputs thrown away, or stderr kept in `log`; the exit code.
static int run_plumbline(const char *words, const char *log, struct arena *arena)
{
    const char *bin = getenv("BIN");
    const char *line = arena_print(arena, "%s/plumbline %s > /dev/null 2> %s", bin ? bin : "bin",
                                   words, log ? log : "/dev/null");
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *make_folder(struct arena *arena)
{
    char *folder = arena_copy_text(arena, "/tmp/plumbline_measure_XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

TEST(test_end_to_end)
{
    const char *folder = make_folder(arena),
               *samples_path = arena_print(arena, "%s/samples.json", folder);
    const char *costs_path = arena_print(arena, "%s/costs.json", folder);
    const char *words =
        "measure compute --shape hidden=64,ffn=160,heads=4,kv_heads=2,vocabulary=300,gated=1 "
        "--sequence 64 --threads 2 "
        "--budget-s 0.5 --sustained-s 0.05 --name \"test device\" -o";
    assert_int_equal(run_plumbline(arena_print(arena, "%s %s", words, samples_path), NULL, arena),
                     0);
    struct samples samples;
    CHECK_OK(samples_load(&samples, samples_path, arena, &err));
    assert_true(samples.sample_count >= 3 * (SAMPLE_OVERHEAD + 1));
    assert_string_equal(samples.machine.gpu, "test device");
    assert_int_equal(samples.machine.threads, 2);
    for (int i = 0; i < samples.sample_count; i++) {
        assert_true(samples.samples[i].repetitions >= 8 ||
                    !strcmp(samples.samples[i].stopped_by, "budget"));
        for (int k = 0; k < samples.samples[i].repetitions; k++)
            assert_true(samples.samples[i].seconds[k] > 0);
    }
    for (int i = 0, sustained = 0; i < samples.sample_count; i++) {
        const struct sample *s = &samples.samples[i];
        sustained += s->before == BEFORE_LOAD;
        assert_int_equal(s->before == BEFORE_LOAD, strstr(s->operation, ", sustained") != NULL);
        assert_true(s->busy_devices == 1 && s->in_a_row == 1 && s->algorithm == ALGORITHM_UNKNOWN);
        if (i == samples.sample_count - 1) assert_int_equal(sustained, 2);
    }
    // What was measured becomes costs that load and pass their own check. A machine under load may
    // scatter such tiny times so far that no line grows; that is refused in one line, and the only
    // other outcome.
    const char *log = arena_print(arena, "%s/log", folder);
    int code = run_plumbline(
        arena_print(arena, "calibrate %s --show -o %s", samples_path, costs_path), log, arena);
    if (code == 0) {
        struct costs costs;
        CHECK_OK(costs_load(&costs, costs_path, arena, &err));
        assert_string_equal(costs.gpus[0].gpu, "test device");
        assert_int_equal(costs.document.source_count, 1);
        assert_string_equal(costs.document.sources[0].path, "samples.json");
        assert_string_equal(costs.document.sources[0].sha256, samples.document.sha256);
        remove(costs_path);
    } else {
        const char *text;
        size_t size;
        CHECK_OK(file_read(log, &text, &size, arena, &err));
        assert_int_equal(code, 2);
        assert_non_null(strstr(text, "does not grow"));
    }
    remove(log);
    remove(samples_path);
    assert_int_equal(rmdir(folder), 0);
}

// Every bad input: exit code 2, one line that names the error, and no file.
TEST(test_refusals)
{
    static const struct {
        const char *words, *named;
    } table[] = {
        {"measure compute --shape hidden=64 -o %s/out", "--shape"},
        {"measure compute --shape hidden=64,heads=0 -o %s/out", "--shape"},
        {"measure compute --shape hidden=64,heads=7 -o %s/out", "--shape"},
        {"measure compute --shape hidden=x,heads=4 -o %s/out", "hidden=x"},
        {"measure compute --shape hidden=64,heads=4,depth=3 -o %s/out", "depth=3"},
        {"measure compute --shape hidden=8192,heads=2,head_width=4096 -o %s/out", "4096"},
        {"measure compute --shape hidden=64,heads=4 --precision fp16 -o %s/out", "fp16"},
        {"measure compute --precision fp8 -o %s/out", "fp8"},
        {"measure compute --shape hidden=64,heads=4,kv_heads=3 -o %s/out", "kv_heads"},
        {"measure compute --shape hidden=64,heads=4 --tensor 3 -o %s/out", "--tensor"},
        {"measure compute --shape hidden=64,heads=4 --context 3 -o %s/out", "--context"},
        {"measure compute --micro-batch 1,x -o %s/out", "--micro-batch"},
        {"measure compute --recompute some -o %s/out", "some"},
        {"measure compute --shape hidden=64,heads=4 --fused -o %s/out", "fused"},
        {"measure compute --shape hidden=64,heads=4 --graphs -o %s/out", "graphs"},
        {"measure compress --rank 0 -o %s/out", "--rank"},
        {"measure compute --budget-s nan -o %s/out", "--budget-s"},
        {"measure compute --backend gpu -o %s/out", "gpu"},
        {"measure compute --model %s/none.json", "none.json"},
        {"measure compute --threads 0", "--threads"},
        {"measure compute surplus", "surplus"},
        {"measure nothing", "nothing"},
        {"calibrate %s/none.json", "none.json"},
        {"calibrate", "operand"},
    };
    const char *folder = make_folder(arena), *log = arena_print(arena, "%s/log", folder);
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++) {
        const char *place = strstr(table[i].words, "%s"), *text;
        const char *words = place ? arena_print(arena, "%.*s%s%s", (int)(place - table[i].words),
                                                table[i].words, folder, place + 2)
                                  : table[i].words;
        size_t size;
        assert_int_equal(run_plumbline(words, log, arena), 2);
        CHECK_OK(file_read(log, &text, &size, arena, &err));
        if (!strstr(text, table[i].named))
            fail_msg("'%s' does not name %s: %s", words, table[i].named, text);
        if (strcmp(table[i].words, "measure nothing"))
            assert_ptr_equal(strchr(text, '\n'), text + size - 1);
    }
    remove(log);
    assert_int_equal(rmdir(folder), 0);
}

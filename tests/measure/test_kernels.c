// The CPU's kernels are right, not only fast: products and rows against their definitions,
// compression against sorting, exact ranks and error bounds. Whole layers: test_kernels_layers.c.
#include <sys/wait.h>
#include <math.h>
#include <time.h>

#include "measure/cpu/internal.h"
#include "measure/cpu/core.h"
#include "data/base/random.h"
#include "data/inputs/model/model.h"
#include "data/numbers/samples.h"
#include "tests/measure/kernels.h"
#include "tests/support/folder.h"

// ---- timed parts that are not whole layers

struct bench {
    struct cell cell;
    float *in, *out;
};

static struct bench run_part(enum work work, int threads, int64_t d0, int64_t d1, int64_t d2,
                             int64_t d3, struct arena *arena)
{
    struct bench b = {.cell = {.work = work, .sample = {.dimensions = {d0, d1, d2, d3}}}};
    struct part_size size = part_size(&b.cell, threads);
    b.in = random_floats(size.in, 9, arena);
    b.out = TAKE(arena, size.out + 1, float);
    b.out[size.out] = 12345;
    part_run(open_team(threads, arena), &b.cell, b.in, b.out);
    assert_true(b.out[size.out] == 12345);
    return b;
}

TEST(test_products)
{
    enum { M = 6, N = 9, K = 4 };
    for (size_t c = 0; c < ARRAY_LENGTH(thread_counts); c++) {
        struct bench d = run_part(WORK_GEMM_DATA, thread_counts[c], M, N, K, 0, arena);
        for (int i = 0; i < M * K; i++) {
            double sum = 0;
            for (int j = 0; j < N; j++)
                sum += (double)d.in[i / K * N + j] * (double)d.in[M * N + i % K * N + j];
            assert_close((double)d.out[i], sum, 1e-5, "data", i);
        }
        struct bench w = run_part(WORK_GEMM_WEIGHT, thread_counts[c], M, N, K, 0, arena);
        for (int i = 0; i < K * N; i++) {
            double sum = 0;
            for (int j = 0; j < M; j++)
                sum += (double)w.in[j * K + i / N] * (double)w.in[M * K + j * N + i % N];
            assert_close((double)w.out[i], sum, 1e-5, "weight", i);
        }
    }
}

// The backward parts read their operands from the places that they claim: each against its
// derivative written out.
TEST(test_backward_parts)
{
    enum { TOKENS = 5, H = 19, F = 22 };
    for (size_t c = 0; c < 2 * ARRAY_LENGTH(thread_counts); c++) {
        bool gated = c % 2;
        struct bench b =
            run_part(gated ? WORK_GATED_ELEMENTWISE_BACKWARD : WORK_ELEMENTWISE_BACKWARD,
                     thread_counts[c / 2], 0, TOKENS, H, F, arena);
        struct bench n = run_part(WORK_NORM_BACKWARD, thread_counts[c / 2], 0, TOKENS, H, 0, arena);
        const float *scale = b.in + 2 * TOKENS * H, *gate = scale + TOKENS, *up = gate + TOKENS * F,
                    *dy = gated ? up + TOKENS * F : up;
        assert_memory_equal(n.out, b.out,
                            TOKENS * H * sizeof(float)); // the operands there are unchanged
        for (int i = 0; i < TOKENS * H; i++) {
            double mean = 0, slope = 0;
            for (int j = i / H * H; j < (i / H + 1) * H; j++) {
                mean += (double)b.in[TOKENS * H + j] / H;
                slope += (double)b.in[j] * (double)b.in[TOKENS * H + j] / H;
            }
            double want = (double)scale[i / H] *
                          ((double)b.in[TOKENS * H + i] - mean - slope * (double)b.in[i]);
            assert_close((double)b.out[i], want, 1e-5, "norm", i);
            assert_close((double)b.out[TOKENS * H + i], want + (double)b.in[TOKENS * H + i], 1e-5,
                         "sum", i);
        }
        for (int i = 0; i < TOKENS * F; i++) {
            double x = (double)gate[i], step = 1e-5, value[2];
            for (int k = 0; k < 2; k++) {
                double at = k ? x + step : x - step;
                value[k] =
                    gated ? at / (1 + exp(-at)) * (double)up[i]
                          : 0.5 * at *
                                (1 + tanh(sqrt(2 / acos(-1.0)) * (at + 0.044715 * at * at * at)));
            }
            assert_close((double)b.out[2 * TOKENS * H + i],
                         (value[1] - value[0]) / (2 * step) * (double)dy[i], 1e-4, "gate", i);
            if (gated)
                assert_close((double)b.out[2 * TOKENS * H + TOKENS * F + i],
                             x / (1 + exp(-x)) * (double)dy[i], 1e-5, "up", i);
        }
    }
}

// Attention's backward part against finite differences is the block's test; here its places, on the
// same kernel.
TEST(test_attention_backward_part)
{
    enum { HEADS = 3, S = 5, W = 4, VALUES = HEADS * S * W };
    struct bench b = run_part(WORK_ATTENTION_BACKWARD, 2, HEADS, S, W, 0, arena);
    const float *value = b.in + 2 * VALUES, *d_context = b.in + 3 * VALUES,
                *share = b.in + 4 * VALUES;
    for (int head = 0; head < HEADS; head++)
        for (int j = 0; j < S; j++)
            for (int k = 0; k < W; k++) {
                double d_value = 0, d_key = 0;
                for (int i = 0; i < S; i++) {
                    const float *row = share + (head * S + i) * S;
                    double mean = 0, d_share = 0;
                    for (int l = 0; l < S; l++) {
                        double d = 0;
                        for (int m = 0; m < W; m++)
                            d += (double)d_context[(head * S + i) * W + m] *
                                 (double)value[(head * S + l) * W + m];
                        mean += d * (double)row[l];
                        if (l == j) d_share = d;
                    }
                    d_value += (double)row[j] * (double)d_context[(head * S + i) * W + k];
                    d_key += (double)row[j] * (d_share - mean) / sqrt(W) *
                             (double)b.in[(head * S + i) * W + k];
                }
                int64_t at = (head * S + j) * W + k;
                assert_close((double)b.out[HEADS * S * S + VALUES + at], d_key, 1e-5, "key", at);
                assert_close((double)b.out[HEADS * S * S + 2 * VALUES + at], d_value, 1e-5, "value",
                             at);
            }
}

TEST(test_adam)
{
    enum { COUNT = 1000 };
    float *g = random_floats(COUNT, 1, arena), *w = random_floats(COUNT, 2, arena),
          *m = random_floats(COUNT, 3, arena);
    float *v = random_floats(COUNT, 4, arena);
    for (int i = 0; i < COUNT; i++) v[i] = fabsf(v[i]);
    double *want = TAKE((struct arena *)arena, COUNT, double);
    for (int i = 0; i < COUNT; i++) {
        double first = 0.9 * (double)m[i] + 0.1 * (double)g[i],
               second = 0.999 * (double)v[i] + 0.001 * (double)g[i] * (double)g[i];
        want[i] = (double)w[i] - 1e-4 * first / (sqrt(second) + 1e-8);
    }
    adam_run(open_team(3, arena), &(struct adam){COUNT, g, w, m, v});
    for (int i = 0; i < COUNT; i++) assert_close((double)w[i], want[i], 1e-6, "weight", i);
}

// ---- compression

// A matrix of exactly the requested rank is recovered; of any other, the result is its projection:
// the rest is orthogonal to it.
TEST(test_low_rank)
{
    enum { ROWS = 31, COLUMNS = 22, RANK = 4 };
    for (int extra = 0; extra < 2; extra++)
        for (size_t c = 0; c < ARRAY_LENGTH(thread_counts); c++) {
            struct team *team = open_team(thread_counts[c], arena);
            float *left = random_floats(ROWS * RANK, 1, arena),
                  *right = random_floats(COLUMNS * RANK, 2, arena);
            float *matrix = random_floats(ROWS * COLUMNS, 3, arena),
                  *start = random_floats(COLUMNS * RANK, 4, arena);
            for (int i = 0; i < ROWS * COLUMNS; i++) {
                matrix[i] *= (float)extra;
                for (int k = 0; k < RANK; k++)
                    matrix[i] += left[i / COLUMNS * RANK + k] * right[i % COLUMNS * RANK + k];
            }
            float *p = TAKE(arena, ROWS * RANK, float), *q = TAKE(arena, COLUMNS * RANK, float),
                  *back = TAKE(arena, ROWS * COLUMNS, float);
            low_rank_compress(team, &(struct low_rank){ROWS, COLUMNS, RANK, matrix, start, p, q});
            low_rank_decompress(team, &(struct low_rank_product){ROWS, COLUMNS, RANK, p, q, back});
            double product = 0, size = 0;
            for (int i = 0; i < ROWS * COLUMNS; i++) {
                if (!extra) assert_close((double)back[i], (double)matrix[i], 1e-5, "matrix", i);
                product += (double)back[i] * ((double)matrix[i] - (double)back[i]);
                size += (double)back[i] * (double)back[i];
            }
            assert_true(fabs(product) <= 1e-5 * size && size > 0);
        }
}

static int compare_sizes(const void *a, const void *b)
{
    float x = fabsf(*(const float *)a), y = fabsf(*(const float *)b);
    return (x < y) - (x > y);
}

static void check_top_k(const float *x, int64_t count, int64_t kept, int threads,
                        struct arena *arena)
{
    struct team *team = open_team(threads, arena);
    float *values = TAKE(arena, kept + 1, float), *back = random_floats(count, 8, arena),
          *sorted = TAKE(arena, count, float);
    int32_t *places = TAKE(arena, kept + 1, int32_t);
    values[kept] = 12345;
    top_k_compress(team, &(struct top_k){count, kept, x, values, places,
                                         TAKE(arena, threads * TOP_K_BUCKETS, uint32_t)});
    assert_true(values[kept] == 12345);
    memcpy(sorted, x, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_sizes);
    float *kept_sorted = TAKE(arena, kept, float);
    for (int64_t i = 0; i < kept; i++) {
        assert_true(values[i] == x[places[i]] && (i == 0 || places[i] > places[i - 1]));
        kept_sorted[i] = values[i];
    }
    qsort(kept_sorted, (size_t)kept, sizeof *kept_sorted, compare_sizes);
    for (int64_t i = 0; i < kept; i++) assert_true(fabsf(kept_sorted[i]) == fabsf(sorted[i]));
    top_k_decompress(team, &(struct top_k_spread){count, kept, values, places, back});
    int64_t next = 0;
    for (int64_t i = 0; i < count; i++) {
        bool is_kept = next < kept && places[next] == i;
        assert_true(back[i] == (is_kept ? values[next] : 0));
        next += is_kept;
    }
}

TEST(test_top_k)
{
    float *x = random_floats(5000, 6, arena), *coarse = TAKE(arena, 5000, float),
          *same = TAKE(arena, 5000, float);
    for (int i = 0; i < 5000; i++)
        coarse[i] = (float)(int)(x[i] * 5), same[i] = i % 2 ? -0.5f : 0.5f;
    static const int64_t kept[] = {1, 2, 50, 499, 4999, 5000};
    for (size_t k = 0; k < ARRAY_LENGTH(kept); k++)
        for (size_t c = 0; c < ARRAY_LENGTH(thread_counts); c++) {
            check_top_k(x, 5000, kept[k], thread_counts[c], arena);
            check_top_k(coarse, 5000, kept[k], thread_counts[c], arena);
            check_top_k(same, 5000, kept[k], thread_counts[c], arena);
        }
}

struct packed {
    float *scale, *lost, *back;
    uint8_t *packed;
};

static struct packed quantise_there_and_back(const float *x, const float *lost, int64_t count,
                                             int bits, int threads, struct arena *arena)
{
    struct team *team = open_team(threads, arena);
    struct packed p = {TAKE(arena, quantise_runs(count), float), TAKE(arena, count, float),
                       TAKE(arena, count, float),
                       TAKE(arena, quantise_bytes(count, bits), uint8_t)};
    quantise_run(team, &(struct quantise){count, bits, x, lost, p.scale, p.lost, p.packed});
    dequantise_run(team, &(struct dequantise){count, bits, p.scale, p.packed, p.back});
    return p;
}

// At most half a step is lost; the largest of a run is recovered exactly.
TEST(test_quantised)
{
    enum { COUNT = 3 * QUANTISE_RUN + 100 };
    for (int bits = 4; bits <= 8; bits += 4)
        for (size_t c = 0; c < ARRAY_LENGTH(thread_counts); c++) {
            float *x = random_floats(COUNT, 11, arena);
            for (int i = QUANTISE_RUN; i < 2 * QUANTISE_RUN; i++) x[i] = 0;
            struct packed p =
                quantise_there_and_back(x, NULL, COUNT, bits, thread_counts[c], arena);
            for (int run = 0; run < 4; run++) {
                float largest = 0;
                int end = run == 3 ? COUNT : (run + 1) * QUANTISE_RUN, at = 0,
                    most = bits == 8 ? 127 : 7;
                for (int i = run * QUANTISE_RUN; i < end; i++)
                    if (fabsf(x[i]) > largest) largest = fabsf(x[i]), at = i;
                double half = (double)largest / most / 2;
                for (int i = run * QUANTISE_RUN; i < end; i++)
                    assert_true(fabs((double)p.back[i] - (double)x[i]) <= half * 1.0001);
                if (largest > 0)
                    assert_close((double)p.back[at], (double)x[at], 1e-6, "largest", at);
                else assert_true(p.scale[run] == 0);
            }
        }
}

// Signs: of the mean size; the lost part plus the received part are the whole, and over many steps
// of the same gradient the received part is on average the gradient.
TEST(test_signs)
{
    enum { COUNT = QUANTISE_RUN + 60, STEPS = 1000 };
    float *x = random_floats(COUNT, 12, arena), *lost = TAKE(arena, COUNT, float);
    double *sum = TAKE(arena, COUNT, double);
    struct arena_mark mark = arena_set_mark(arena);
    for (int step = 0; step < STEPS; step++, arena_reset(arena, mark)) {
        struct packed p =
            quantise_there_and_back(x, lost, COUNT, 1, thread_counts[step % 3], arena);
        for (int i = 0; i < COUNT; i++) {
            assert_close((double)p.back[i] + (double)p.lost[i], (double)x[i] + (double)lost[i],
                         1e-5, "whole", i);
            assert_true(fabsf(p.back[i]) == p.scale[i / QUANTISE_RUN]);
            sum[i] += (double)p.back[i];
        }
        copy_floats(lost, p.lost, COUNT);
    }
    for (int i = 0; i < COUNT; i++) assert_close(sum[i] / STEPS, (double)x[i], 0.03, "mean", i);
}

// The timed parts hand these kernels the right places.
TEST(test_compression_parts)
{
    enum { COUNT = 700, KEPT = 70 };
    struct bench b = run_part(WORK_TOP_K_COMPRESS, 2, COUNT, KEPT, 0, 0, arena);
    float smallest = 2;
    int larger = 0;
    for (int i = 0; i < KEPT; i++)
        smallest = fabsf(b.out[i]) < smallest ? fabsf(b.out[i]) : smallest;
    for (int i = 0; i < COUNT; i++) larger += fabsf(b.in[i]) >= smallest;
    assert_int_equal(larger, KEPT);
    struct bench d = run_part(WORK_TOP_K_DECOMPRESS, 3, COUNT, KEPT, 0, 0, arena);
    for (int i = 0; i < COUNT; i++)
        assert_true(d.out[i] == (i % (COUNT / KEPT) ? 0 : d.in[i / (COUNT / KEPT)]));
    static const int bits[] = {8, 4, 1};
    for (size_t i = 0; i < ARRAY_LENGTH(bits); i++) {
        struct bench q = run_part(WORK_QUANTISE, 2, COUNT, bits[i], 0, 0, arena);
        struct packed p = quantise_there_and_back(q.in, q.in + COUNT, COUNT, bits[i], 1, arena);
        int64_t runs = quantise_runs(COUNT);
        assert_memory_equal(q.out, p.scale, (size_t)runs * sizeof(float));
        assert_memory_equal(q.out + runs, p.packed, (size_t)quantise_bytes(COUNT, bits[i]));
        run_part(WORK_DEQUANTISE, 2, COUNT, bits[i], 0, 0, arena);
    }
    run_part(WORK_EMPTY_BLOCKS, 2, 3, 0, 0, 0, arena);
    run_part(WORK_OPTIMIZER, 2, 1001, 0, 0, 0, arena);
    run_part(WORK_NORM, 2, 0, 7, 33, 0, arena);
}

// ---- processor time

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Member 1 works for 5 ms of its processor time, which it reports, while the caller sleeps for ten
// times as long.
static void work_or_sleep(const void *argument, struct share own)
{
    double *worked_s = *(double *const *)argument, begin_s = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    if (own.member == 1)
        while ((*worked_s = seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin_s) < 0.005) continue;
    if (own.member == 0) nanosleep(&(struct timespec){0, 50000000}, NULL);
}

// At least what the longest worked, at most what the whole process did; not what was slept.
TEST(test_busy_time)
{
    static const double rounding_s = 1e-4;
    struct team *team = open_team(3, arena);
    double begin_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID), worked_s = 0, *to = &worked_s;
    team_reset_busy(team);
    team_run(team, 3, work_or_sleep, &to);
    double busy_s = team_busy_s(team), all_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - begin_s;
    if (!(busy_s >= worked_s - rounding_s && busy_s <= all_s + rounding_s))
        fail_msg("%g s of %g .. %g", busy_s, worked_s, all_s);
    begin_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    team_reset_busy(team);
    assert_true(team_busy_s(team) <= seconds_of(CLOCK_PROCESS_CPUTIME_ID) - begin_s + rounding_s);
}

// ---- the sub-commands

static void run_measure(struct samples *samples, const char *words, struct arena *arena)
{
    char folder[FOLDER_SIZE];
    struct error err = {OK, ""};
    const char *bin = getenv("BIN");
    assert_int_equal(folder_make(folder), 0);
    const char *path = arena_print(arena, "%s/samples.json", folder);
    int status = system(arena_print(arena, "%s/plumbline measure %s --quiet --threads 2 -o %s",
                                    bin ? bin : "bin", words, path));
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_OK(samples_load(samples, path, arena, &err));
    assert_int_equal(folder_remove(folder), 0);
}

TEST(test_memory_command)
{
    struct samples s;
    run_measure(&s, "memory --budget-s 0.1 --largest-mib 1", arena);
    assert_int_equal(s.sample_count, 3);
    for (int i = 0; i < s.sample_count; i++) {
        assert_string_equal(s.samples[i].operation, "copy");
        assert_true(s.samples[i].bytes == 65536.0 * (1 << 2 * i));
    }
    static const char *const names[] = {"memory_bytes", "context_bytes", "library_bytes",
                                        "allocator_granularity_bytes"};
    assert_int_equal(s.quantity_count, ARRAY_LENGTH(names));
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        assert_string_equal(s.quantities[i].name, names[i]);
        for (int k = 0; k < s.quantities[i].value_count; k++)
            assert_true(s.quantities[i].values[k] >= (i == 2 ? 0 : 1));
    }
    assert_true(s.quantities[1].values[0] < s.quantities[0].values[0]);
}

TEST(test_compress_command)
{
    struct samples s;
    int kinds[SAMPLE_KIND_COUNT] = {0};
    run_measure(&s,
                "compress --shared --quick --budget-s 0.1 --shape hidden=64,heads=2 --rank 2,4 "
                "--sequence 128",
                arena);
    for (int i = 0; i < s.sample_count; i++) kinds[s.samples[i].kind]++;
    assert_int_equal(kinds[SAMPLE_LOW_RANK], 2 * 2 * 2); // ranks, sizes, there and back
    assert_int_equal(kinds[SAMPLE_TOP_K], 2 * 2 * 2);
    assert_int_equal(kinds[SAMPLE_QUANTISE], 3 * 2 * 2);
}

// Every kind of layer and pass, of two micro-batches, cut by tensor and context degrees. The budget
// is room for a busy machine, on which a smaller one leaves layers out; intervals end the run.
TEST(test_compute_command)
{
    struct samples s;
    int layers = 0;
    run_measure(
        &s,
        "compute --quick --budget-s 20 --shape hidden=64,heads=4,kv_heads=2,vocabulary=300,gated=1 "
        "--sequence 128 --micro-batch 1,2 "
        "--tensor 1,2 --context 1,2 --recompute selective",
        arena);
    for (int i = 0; i < s.sample_count; i++) {
        const struct shape *shape = s.samples[i].shape;
        bool layer = s.samples[i].kind == SAMPLE_LAYER;
        layers += layer;
        assert_true(layer == (shape != NULL));
        assert_true(!layer || (shape->hidden == 64 && shape->ffn == 256 && shape->kv_heads == 2 &&
                               shape->vocabulary == 300 && shape->gated_ffn));
    }
    assert_int_equal(layers, (2 + 3 + 2) * 2 * 2 * 2);
}

// Two cells whose repetitions take 5 and 1 ms, and 0.1 ms more for each switch: that is what is
// taken out once enough switches were seen; without switches nothing is, and never a tenth or more.
TEST(test_switches)
{
    struct switches s = {.cells = NULL};
    uint64_t seed = 7;
    double out = 0;
    switches_begin(&s, 2, arena);
    for (int i = 0; i < 400; i++) {
        int cell = i % 2, count = random_below(&seed, 4);
        double plain = cell ? 1e-3 : 5e-3, taken = plain + 1e-4 * count;
        out = switches_take_out(&s, cell, taken, count);
        assert_true(out <= taken && out >= 0.899 * taken);
        if (i >= 100 && !cell) assert_true(fabs(out / plain - 1) < 1e-9);
    }
    assert_true(switches_take_out(&s, 0, 5e-3, 0) == 5e-3);
    assert_true(fabs(switches_take_out(&s, 1, 2e-3, 30) / 1.8e-3 - 1) < 1e-9);
    assert_true(switches_now() >= 0);
}

// A processor that the library does not know has the kernels that its instructions allow.
TEST(test_cores)
{
    static const char wide[] =
        " fma avx avx2 avx512f avx512dq avx512cd avx512bw avx512vl amx_tile\n";
    assert_string_equal(core_better("Prescott", wide), "SkylakeX");
    assert_string_equal(core_better("Prescott", " fma avx avx2 avx512f\n"), "Haswell");
    assert_string_equal(core_better("Prescott", "avx2 fma"), "Haswell");
    assert_null(core_better("Prescott", " fma avx avx2_vnni sse4_2\n"));
    assert_null(core_better("Haswell", wide));
    assert_null(core_better("SkylakeX", wide));
}

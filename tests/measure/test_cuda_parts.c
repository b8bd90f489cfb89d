// The CUDA back end's parts that only some models have, on the fake device in the CPU's memory,
// against their definitions: as test_cuda.c.
#include "tests/cuda/bench/bench.h"

// ---- products of experts: each as one product

static void check_grouped(enum work work, enum precision precision, bool fp32_gradients)
{
    enum { M = 16, N = 48, K = 32, E = 3 };
    struct bench b;
    struct cell cell = cell_of(work, M, N, K, E);
    cell.sample.fp32_gradients = fp32_gradients;
    bench_open(&b, precision);
    bench_run(&b, &cell);
    const struct step *s = &b.program->steps[b.program->step_count - 1];
    bool weight = work == WORK_GROUPED_WEIGHT, bytes = precision == FP8;
    int rows = weight ? N : M, columns = work == WORK_GROUPED ? N : K;
    int inner = work == WORK_GROUPED ? K : work == WORK_GROUPED_DATA ? N : M;
    for (int e = 0; e < E; e++)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++) {
                double sum = 0, size = 0;
                for (int l = 0; l < inner; l++) {
                    int x = weight && !bytes ? l * N + i : i * inner + l,
                        w = bytes || work == WORK_GROUPED ? j * inner + l : l * K + j;
                    double product = read_at(&b, s->in[1], s->gemm.b_type, e * rows * inner + x) *
                                     read_at(&b, s->in[0], s->gemm.a_type, e * columns * inner + w);
                    sum += product, size += fabs(product);
                }
                double found = read_at(&b, s->out[0], s->gemm.d_type, (e * rows + i) * columns + j);
                assert_true(fabs(found - sum) <=
                            tolerance_of(fp32_gradients ? FP32 : precision) * (size + 1e-3));
            }
    bench_close(&b);
}

TEST(test_grouped)
{
    for (int work = WORK_GROUPED; work <= WORK_GROUPED_WEIGHT; work++)
        for (int p = 0; p < PRECISION_COUNT; p++)
            check_grouped((enum work)work, (enum precision)p, false);
    check_grouped(WORK_GROUPED_WEIGHT, BF16, true);
}

// ---- attention of one rank's queries and another's keys, by its definition

enum { HEADS = 2, QUERIES = 4, KEYS = 6, WIDTH = 8 };

static double query_at(const struct bench *b, int head, int i, int k)
{
    struct place at = nth_area(b->program, AREA_VALUES, 0);
    return read_at(b, at, b->program->type, (i * HEADS + head) * WIDTH + k);
}

static double key_at(const struct bench *b, int value, int head, int j, int k)
{
    struct place at = nth_area(b->program, AREA_VALUES, 1);
    return read_at(b, at, b->program->type, ((2 * j + value) * HEADS + head) * WIDTH + k);
}

static void shares_of(const struct bench *b, int head, int i, double share[KEYS])
{
    double sum = 0;
    for (int j = 0; j < KEYS; j++) {
        share[j] = 0;
        for (int k = 0; k < WIDTH; k++)
            share[j] += query_at(b, head, i, k) * key_at(b, 0, head, j, k);
        sum += share[j] = exp(share[j] / sqrt(WIDTH));
    }
    for (int j = 0; j < KEYS; j++) share[j] /= sum;
}

static void check_context(bool fused, enum precision precision)
{
    struct bench b;
    struct cell cell = cell_of(fused ? WORK_FUSED_CONTEXT_ATTENTION : WORK_CONTEXT_ATTENTION, HEADS,
                               QUERIES, KEYS, WIDTH);
    bench_open(&b, precision);
    bench_run(&b, &cell);
    struct place out = b.program->steps[b.program->step_count - 1].out[0];
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < QUERIES; i++) {
            double share[KEYS];
            shares_of(&b, h, i, share);
            for (int k = 0; k < WIDTH; k++) {
                double want = 0;
                for (int j = 0; j < KEYS; j++) want += share[j] * key_at(&b, 1, h, j, k);
                double found = read_at(&b, out, b.program->type, (i * HEADS + h) * WIDTH + k);
                assert_true(fabs(found - want) < tolerance_of(precision) * 4);
            }
        }
    bench_close(&b);
}

// Gradients of values are shares times the context's gradient; those of queries and keys follow
// from the scores' gradient.
static void check_context_backward(bool fused)
{
    struct bench b;
    struct cell cell =
        cell_of(fused ? WORK_FUSED_CONTEXT_ATTENTION_BACKWARD : WORK_CONTEXT_ATTENTION_BACKWARD,
                HEADS, QUERIES, KEYS, WIDTH);
    bench_open(&b, FP32);
    bench_run(&b, &cell);
    int scratch = 2; // after the context and what was kept
    struct place d_context = nth_area(b.program, AREA_VALUES, 2),
                 d_query = nth_area(b.program, AREA_SCRATCH, scratch),
                 d_key = nth_area(b.program, AREA_SCRATCH, scratch + 1);
    static double want_query[HEADS][QUERIES][WIDTH], want[2][HEADS][KEYS][WIDTH];
    memset(want_query, 0, sizeof want_query), memset(want, 0, sizeof want);
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < QUERIES; i++) {
            double share[KEYS], d_share[KEYS], mean = 0;
            shares_of(&b, h, i, share);
            for (int j = 0; j < KEYS; j++) {
                d_share[j] = 0;
                for (int k = 0; k < WIDTH; k++) {
                    double d = read_at(&b, d_context, ELEMENT_FLOAT, (i * HEADS + h) * WIDTH + k);
                    d_share[j] += d * key_at(&b, 1, h, j, k);
                    want[1][h][j][k] += share[j] * d;
                }
                mean += share[j] * d_share[j];
            }
            for (int j = 0; j < KEYS; j++)
                for (int k = 0; k < WIDTH; k++) {
                    double d_score = share[j] * (d_share[j] - mean) / sqrt(WIDTH);
                    want_query[h][i][k] += d_score * key_at(&b, 0, h, j, k);
                    want[0][h][j][k] += d_score * query_at(&b, h, i, k);
                }
        }
    for (int h = 0; h < HEADS; h++)
        for (int k = 0; k < WIDTH; k++) {
            for (int i = 0; i < QUERIES; i++)
                assert_true(fabs(read_at(&b, d_query, ELEMENT_FLOAT, (i * HEADS + h) * WIDTH + k) -
                                 want_query[h][i][k]) < 1e-4);
            for (int of = 0; of < 2; of++)
                for (int j = 0; j < KEYS; j++)
                    assert_true(fabs(read_at(&b, d_key, ELEMENT_FLOAT,
                                             ((2 * j + of) * HEADS + h) * WIDTH + k) -
                                     want[of][h][j][k]) < 1e-4);
        }
    bench_close(&b);
}

TEST(test_context)
{
    check_context(false, FP32);
    check_context(false, FP16);
    check_context(true, BF16);
    check_context_backward(false);
    check_context_backward(true);
}

// ---- rotary positions, dropout

static void check_rotary(enum precision precision, int tokens, int heads, int width)
{
    struct bench b;
    struct cell cell = cell_of(WORK_ROTARY, tokens, heads, width, 0);
    bench_open(&b, precision);
    bench_run(&b, &cell);
    const struct step *s = &b.program->steps[0];
    enum element type = b.program->type;
    int half = width / 2;
    for (int i = 0; i < tokens * heads; i++)
        for (int j = 0; j < half; j++) {
            double re = read_at(&b, s->in[0], type, i * width + j),
                   im = read_at(&b, s->in[0], type, i * width + half + j),
                   c = read_at(&b, s->in[1], ELEMENT_FLOAT, i / heads * width + j),
                   sine = read_at(&b, s->in[1], ELEMENT_FLOAT, i / heads * width + half + j);
            assert_true(fabs(read_at(&b, s->out[0], type, i * width + j) - (re * c - im * sine)) <
                        2 * tolerance_of(precision));
            assert_true(fabs(read_at(&b, s->out[0], type, i * width + half + j) -
                             (im * c + re * sine)) < 2 * tolerance_of(precision));
        }
    bench_close(&b);
}

TEST(test_rotary)
{
    check_rotary(FP32, 5, 3, 16);
    check_rotary(BF16, 4, 2, 32);
    check_rotary(FP16, 3, 5, 6); // halves that no pack divides
}

// The generator's first words for counter 0 and key 1 decide the first values; a tenth is dropped.
static void check_dropout(enum precision precision, int values)
{
    struct bench b;
    struct cell cell = cell_of(WORK_DROPOUT_BACKWARD, values, 0, 0, 0);
    int dropped = 0;
    bench_open(&b, precision);
    bench_run(&b, &cell);
    const struct step *forth = &b.program->steps[0], *back = &b.program->steps[1];
    enum element type = b.program->type;
    const uint8_t *kept = at(&b, forth->out[1]);
    for (int i = 0; i < values; i++) {
        assert_true(kept[i] <= 1);
        double x = read_at(&b, forth->in[0], type, i), dy = read_at(&b, back->in[0], type, i);
        assert_true(fabs(read_at(&b, forth->out[0], type, i) - (kept[i] ? x / 0.9 : 0)) <
                    2 * tolerance_of(precision));
        assert_true(fabs(read_at(&b, back->out[0], type, i) - (kept[i] ? dy / 0.9 : 0)) <
                    2 * tolerance_of(precision));
        dropped += !kept[i];
    }
    assert_true(fabs(dropped - 0.1 * values) < 5 * sqrt(0.09 * values));
    bench_close(&b);
}

TEST(test_dropout)
{
    check_dropout(FP32, 8000);
    check_dropout(BF16, 8000);
    check_dropout(FP16, 3001); // no pack divides it
}

AROUND_EACH(set_up, NULL)

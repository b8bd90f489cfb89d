// The CPU's parts that only some models have, against their definitions: products of experts,
// attention of other ranks' keys, rotary positions, dropout, and the words of its random numbers as
// their authors published them.
#include "tests/measure/kernels.h"

struct bench {
    struct cell cell;
    float *in, *out;
};

static struct bench run_part(enum work work, int64_t d0, int64_t d1, int64_t d2, int64_t d3,
                             struct arena *arena)
{
    struct bench b = {.cell = {.work = work, .sample = {.dimensions = {d0, d1, d2, d3}}}};
    struct part_size size = part_size(&b.cell, 3);
    b.in = random_floats(size.in, 9, arena);
    b.out = TAKE(arena, size.out + 1, float);
    b.out[size.out] = 12345;
    part_run(open_team(3, arena), &b.cell, b.in, b.out);
    assert_true(b.out[size.out] == 12345);
    return b;
}

TEST(test_grouped)
{
    enum { M = 5, N = 7, K = 3, E = 4 };
    struct bench y = run_part(WORK_GROUPED, M, N, K, E, arena),
                 dx = run_part(WORK_GROUPED_DATA, M, N, K, E, arena),
                 dw = run_part(WORK_GROUPED_WEIGHT, M, N, K, E, arena);
    for (int e = 0; e < E; e++) {
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int k = 0; k < K; k++)
                    sum += (double)y.in[(e * M + i) * K + k] *
                           (double)y.in[E * M * K + (e * K + k) * N + j];
                assert_close((double)y.out[(e * M + i) * N + j], sum, 1e-5, "y", e);
            }
        for (int i = 0; i < M; i++)
            for (int k = 0; k < K; k++) {
                double sum = 0;
                for (int j = 0; j < N; j++)
                    sum += (double)dx.in[(e * M + i) * N + j] *
                           (double)dx.in[E * M * N + (e * K + k) * N + j];
                assert_close((double)dx.out[(e * M + i) * K + k], sum, 1e-5, "dx", e);
            }
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int i = 0; i < M; i++)
                    sum += (double)dw.in[(e * M + i) * K + k] *
                           (double)dw.in[E * M * K + (e * M + i) * N + j];
                assert_close((double)dw.out[(e * K + k) * N + j], sum, 1e-5, "dw", e);
            }
    }
}

// Forward by its definition, backward by finite differences.
TEST(test_activation)
{
    enum { N = 6, F = 21, VALUES = N * F };
    for (int gated = 0; gated < 2; gated++) {
        struct bench y = run_part(WORK_ACTIVATION, 0, N, F, gated, arena),
                     d = run_part(WORK_ACTIVATION_BACKWARD, 0, N, F, gated, arena);
        const float *dy = d.in + (1 + gated) * VALUES;
        for (int i = 0; i < VALUES; i++) {
            double at[] = {(double)y.in[i], (double)d.in[i] - 1e-5, (double)d.in[i] + 1e-5},
                   value[3];
            for (int k = 0; k < 3; k++) {
                double up = gated ? (double)(k ? d.in : y.in)[VALUES + i] : 0, x = at[k],
                       turn = sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x);
                value[k] = gated ? x / (1 + exp(-x)) * up : 0.5 * x * (1 + tanh(turn));
            }
            double slope = (value[2] - value[1]) / 2e-5, gate = (double)d.in[i];
            assert_close((double)y.out[i], value[0], 1e-4, "y", i);
            assert_close((double)d.out[i], slope * (double)dy[i], 1e-4, "gate", i);
            if (gated)
                assert_close((double)d.out[VALUES + i], gate / (1 + exp(-gate)) * (double)dy[i],
                             1e-4, "up", i);
        }
    }
}

// The context by its definition; the gradients of keys and values as sums over all queries.
TEST(test_context)
{
    enum { HEADS = 2, Q = 3, S = 5, W = 4, QUERIES = HEADS * Q * W, KEYS = HEADS * S * W };
    struct bench f = run_part(WORK_CONTEXT_ATTENTION, HEADS, Q, S, W, arena),
                 b = run_part(WORK_CONTEXT_ATTENTION_BACKWARD, HEADS, Q, S, W, arena);
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < Q; i++) {
            double share[S], sum = 0;
            for (int j = 0; j < S; j++) {
                share[j] = 0;
                for (int k = 0; k < W; k++)
                    share[j] += (double)f.in[(h * Q + i) * W + k] *
                                (double)f.in[QUERIES + (h * S + j) * W + k];
                sum += share[j] = exp(share[j] / 2);
            }
            for (int k = 0; k < W; k++) {
                double want = 0;
                for (int j = 0; j < S; j++)
                    want += share[j] / sum * (double)f.in[QUERIES + KEYS + (h * S + j) * W + k];
                assert_close((double)f.out[HEADS * Q * S + (h * Q + i) * W + k], want, 1e-5,
                             "context", i);
            }
        }
    const float *d_context = b.in + QUERIES + 2 * KEYS, *kept = d_context + QUERIES,
                *d_value = b.out + HEADS * Q * S + QUERIES + KEYS;
    for (int h = 0; h < HEADS; h++)
        for (int j = 0; j < S; j++)
            for (int k = 0; k < W; k++) {
                double want = 0;
                for (int i = 0; i < Q; i++)
                    want += (double)kept[(h * Q + i) * S + j] *
                            (double)d_context[(h * Q + i) * W + k];
                assert_close((double)d_value[(h * S + j) * W + k], want, 1e-5, "value", j);
            }
}

// Rotated as complex numbers: lengths stay where cosine and sine are of an angle.
TEST(test_rotary)
{
    enum { N = 3, HEADS = 2, W = 6 };
    struct bench b = run_part(WORK_ROTARY, N, HEADS, W, 0, arena);
    const float *angle = b.in + N * HEADS * W;
    for (int i = 0; i < N * HEADS; i++)
        for (int j = 0; j < W / 2; j++) {
            double re = (double)b.in[i * W + j], im = (double)b.in[i * W + W / 2 + j],
                   c = (double)angle[i / HEADS * W + j],
                   s = (double)angle[i / HEADS * W + W / 2 + j];
            assert_close((double)b.out[i * W + j], re * c - im * s, 1e-6, "first half", i);
            assert_close((double)b.out[i * W + W / 2 + j], im * c + re * s, 1e-6, "second half", i);
        }
}

// The words that the generator's authors give for these counters and keys (kat_vectors, Random123).
TEST(test_random_words)
{
    static const uint32_t zeros[] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
    uint32_t words[4];
    random_words(words, 0, 0);
    assert_memory_equal(words, zeros, sizeof zeros);
}

TEST(test_dropout)
{
    enum { COUNT = 40001 };
    struct bench b = run_part(WORK_DROPOUT, COUNT, 0, 0, 0, arena);
    const uint8_t *kept = (const uint8_t *)(b.out + COUNT);
    int dropped = 0;
    for (int i = 0; i < COUNT; i++) {
        uint32_t words[4];
        random_words(words, (uint64_t)i / 4, 1);
        assert_int_equal(kept[i], (double)words[i % 4] >= (double)0.1f * 4294967296.0 - 1);
        assert_close((double)b.out[i], kept[i] ? (double)b.in[i] / 0.9 : 0, 1e-6, "y", i);
        dropped += !kept[i];
    }
    assert_true(dropped > 0.1 * COUNT - 5 * sqrt(0.09 * COUNT) &&
                dropped < 0.1 * COUNT + 5 * sqrt(0.09 * COUNT));
    struct bench d = run_part(WORK_DROPOUT_BACKWARD, 1000, 0, 0, 0, arena);
    const uint8_t *was = (const uint8_t *)(d.in + 1000);
    for (int i = 0; i < 1000; i++)
        assert_close((double)d.out[i], was[i] ? (double)d.in[i] / 0.9 : 0, 1e-6, "dx", i);
}

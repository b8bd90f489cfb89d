// The CPU's kernels, fp32, each run by the whole team, from which the timed parts and whole layers
// are built. Matrices are stored by rows; a row stride may exceed the row. const data is only
// read.
#pragma once

#include <string.h>

#include "measure/sampling/team.h"
#include "measure/sampling/backend.h"

// ---- products.c

// c [m][n] = alpha left right + beta c; left is [m][k], or [k][m] transposed, right [k][n], or
// [n][k] transposed.
struct product {
    int64_t m, n, k;
    float alpha, beta;
    struct factor {
        const float *values;
        int64_t row;
        bool transposed;
    } left, right;
    float *c;
    int64_t c_row;
};
void product_run(struct team *team, const struct product *p);

// The three products of a linear layer with dense operands: y [m][n] = share x [m][k] w [k][n],
// and the gradients of x and of w, of which the second is accumulated. share keeps random weights
// from making the values grow.
struct linear {
    int64_t m, n, k;
    float share;
    const float *x, *w;
};
void linear_forward(struct team *team, const struct linear *l, float *y);
void linear_data(struct team *team, const struct linear *l, const float *dy, float *dx);
void linear_weight(struct team *team, const struct linear *l, const float *dy, float *dw);

// ---- attention.c

// No mask; scores are kept. Keys and values are those of the queries' own tokens and, with several
// blocks, of other context ranks: [blocks - 1][batch x keys][2 x kv_heads x width], a row's keys
// before its values.
struct attention {
    int64_t batch, heads, kv_heads, queries, keys, blocks, width;
    const float *query, *key, *value, *others;
    int64_t query_row, key_row; // the value's row is the key's
    float *scores, *context;    // [batch x heads][queries][blocks x keys], rows of context_row
    int64_t context_row;
    // backward; d_query etc. have the layout of query etc.
    const float *d_context;
    float *d_scores, *d_query, *d_key, *d_value, *d_others;
};
void attention_forward(struct team *team, const struct attention *a);
void attention_backward(struct team *team, const struct attention *a);

// ---- rows.c

// y = (x - mean) scale; rms: y = x scale. No gain and no shift, which are few values.
struct norm {
    int64_t rows, width;
    bool rms;
    const float *x, *dy;
    float *y, *scale, *dx; // scale [rows]: 1 / deviation, kept for backward
};
void norm_forward(struct team *team, const struct norm *n);
void norm_backward(struct team *team, const struct norm *n); // reads y, scale, dy

void sum_run(struct team *team, int64_t count, const float *x, const float *y, float *z);
void copy_run(struct team *team, int64_t count, const float *x, float *y);

// gelu(gate) by its tanh form, or silu(gate) x up. row: stride of gate, up and their gradients.
struct activation {
    int64_t rows, width, row;
    const float *gate, *up, *dy; // up NULL: not gated
    float *y, *d_gate, *d_up;
};
void activation_forward(struct team *team, const struct activation *a);
void activation_backward(struct team *team, const struct activation *a);

// Softmax over each row of scale x scores, in place; and its gradient, also in place.
void softmax_rows(float *scores, int64_t rows, int64_t columns, float scale);
void softmax_rows_backward(const float *shares, float *gradients, int64_t rows, int64_t columns,
                           float scale);

// Every head's halves a, b become a cos - b sin, b cos + a sin; angle [tokens][width]: cosines,
// then sines.
struct rotary {
    int64_t tokens, heads, width;
    const float *x, *angle;
    float *y;
};
void rotary_run(struct team *team, const struct rotary *r);

// y = x / (1 - share) where the random number of its place keeps it, else 0; kept [count]: 1 or 0.
// x NULL: the gradient of it, from dy and what was kept.
struct dropout {
    int64_t count;
    float share;
    uint32_t seed;
    const float *x, *dy;
    float *y;
    uint8_t *kept;
};
void dropout_run(struct team *team, const struct dropout *d);

// Ten rounds of Philox 4x32 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3",
// 2011): four random words of a counter and a key.
void random_words(uint32_t words[4], uint64_t counter, uint64_t key);

// One step of Adam on weights and both moments.
struct adam {
    int64_t count;
    const float *gradient;
    float *weight, *first, *second;
};
void adam_run(struct team *team, const struct adam *a);

// ---- ends.c

// Converts a number in [-1, 1) to a token, a row of a table of `rows`.
int64_t token_row(float token, int64_t rows);

// x [n][width] = table[token] + positions[i mod sequence]; positions NULL: none.
struct embedding {
    int64_t tokens, width, rows, sequence;
    const float *token, *table, *positions, *dx;
    float *x, *d_table, *d_positions; // accumulated
};
void embedding_forward(struct team *team, const struct embedding *e);
void embedding_backward(struct team *team, const struct embedding *e);

// Cross entropy of each row of logits [n][classes] with its token's class, and the gradient of
// their mean.
struct loss {
    int64_t tokens, classes;
    const float *logits, *token;
    float *largest, *total,
        *loss; // [n], kept: the row's largest logit and the sum of exponentials relative to it
    float *d_logits;
};
void loss_forward(struct team *team, const struct loss *l);
void loss_backward(struct team *team, const struct loss *l);

// ---- row functions of the members

// e^x to about 3e-6 for |x| < 87, in a form that compilers vectorise (libm's is several times
// slower): 2^n times the Taylor polynomial of 2^f, |f| <= 1/2. Adding 1.5 x 2^23 leaves n in the
// lowest bits. Bounds are not checked, because comparisons would cost more than the rest; operands
// are generated within them.
static inline float exponential(float x)
{
    float shifted = x * 1.44269504f + 12582912.0f, power;
    float f = (x * 1.44269504f - (shifted - 12582912.0f)) * 0.69314718f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 23) + (127u << 23);
    memcpy(&power, &bits, sizeof power);
    return power *
           (1 + f * (1 + f * (0.5f + f * (0.16666667f + f * (0.041666667f + f * 0.0083333333f)))));
}

enum { LANES = 16 };

// Sum of x y, or of x if y is NULL, in LANES strands, so that the order of additions does not
// depend on vectorisation.
static inline float sum_of(const float *x, const float *y, int64_t count)
{
    float strand[LANES] = {0}, sum = 0;
    int64_t j = 0;
    for (; j + LANES <= count; j += LANES)
        for (int k = 0; k < LANES; k++) strand[k] += y ? x[j + k] * y[j + k] : x[j + k];
    for (int k = 0; k < LANES; k++) sum += strand[k];
    for (; j < count; j++) sum += y ? x[j] * y[j] : x[j];
    return sum;
}

static inline float largest_of(const float *x, int64_t count)
{
    float strand[LANES], largest = x[0];
    for (int k = 0; k < LANES; k++) strand[k] = x[0];
    int64_t j = 0;
    for (; j + LANES <= count; j += LANES)
        for (int k = 0; k < LANES; k++) strand[k] = x[j + k] > strand[k] ? x[j + k] : strand[k];
    for (int k = 0; k < LANES; k++) largest = strand[k] > largest ? strand[k] : largest;
    for (; j < count; j++) largest = x[j] > largest ? x[j] : largest;
    return largest;
}

// Compression of messages and gradients on a CPU, fp32, each kernel run by the whole team.

// PowerSGD's step on M [rows][columns]: P [rank][rows] = M Q, made orthonormal; Q [rank][columns]
// = M^T P. P and Q are stored by columns. start: the Q of the previous step.
struct low_rank {
    int64_t rows, columns, rank;
    const float *matrix, *start;
    float *p, *q;
};
void low_rank_compress(struct team *team, const struct low_rank *l);
struct low_rank_product {
    int64_t rows, columns, rank;
    const float *p, *q;
    float *matrix;
};
void low_rank_decompress(struct team *team, const struct low_rank_product *l);

// The `kept` values of largest magnitude (the first of equals), in their order, and their
// positions. counts: scratch.
enum { TOP_K_BUCKETS = 2048 };
struct top_k {
    int64_t count, kept;
    const float *x;
    float *values;
    int32_t *places;
    uint32_t *counts;
};
void top_k_compress(struct team *team, const struct top_k *t);
struct top_k_spread {
    int64_t count, kept;
    const float *values;
    const int32_t *places;
    float *x;
};
// A position outside [0, count), which random operands have, counts as the i-th of `kept` even
// steps.
void top_k_decompress(struct team *team, const struct top_k_spread *t);

// Runs of QUANTISE_RUN values share a scale. bits 8, 4: x = scale q with |q| <= 127, 7; 1: x = +-
// scale, the mean magnitude, of x + lost; the remaining error is `lost` the next time.
struct quantise {
    int64_t count;
    int bits;
    const float *x, *lost;
    float *scale, *lost_next;
    uint8_t *packed;
};
void quantise_run(struct team *team, const struct quantise *q);
struct dequantise {
    int64_t count;
    int bits;
    const float *scale;
    const uint8_t *packed;
    float *x;
};
void dequantise_run(struct team *team, const struct dequantise *q);
int64_t quantise_runs(int64_t count);            // scales
int64_t quantise_bytes(int64_t count, int bits); // packed, whole runs

// Whole layers on a CPU: the position of each of their matrices, and one pass over them. One
// rank's part of a layer that is divided by tensor and context degrees; data from other ranks is
// random like the rest, and nothing is sent.

// One rank's sizes: docs/FORMULAS.md section 1, heads, ffn and vocabulary divided by the tensor
// degree.
struct layer_sizes {
    int64_t batch, queries, blocks,
        tokens, // queries of a sequence; blocks of keys of as many tokens; n
        rows;   // of the tokens those that this rank normalises and adds
    int64_t hidden, width, heads, kv_heads, query, key, row, ffn, up, vocabulary,
        positions; // row = query + 2 key
    bool gated, rms;
};

// A pass reads from one area and writes to another; only backward reads what forward would have
// kept.
struct layer_buffers {
    struct layer_sizes z;
    int64_t in_floats, out_floats;
    const float *x, *dy, *token, *others;
    const float *weight_qkv, *weight_out, *weight_up, *weight_down, *table, *positions;
    float *normal1, *scale1, *qkv, *scores, *context, *middle, *normal2, *scale2, *up, *active,
        *y; // kept, except middle and y
    float *logits, *largest, *total, *loss;
    float *dx, *d_qkv, *d_scores, *d_context, *d_others, *d_middle, *d_normal, *d_up, *d_active,
        *d_logits, *summand;
    float *d_weight_qkv, *d_weight_out, *d_weight_up, *d_weight_down, *d_table, *d_positions;
};

// in, out NULL: only counts the floats.
void layer_place(struct layer_buffers *b, const struct cell *cell, float *in, float *out);
// What a layer with this backward pass keeps between its passes, in floats, and what the pass needs
// besides; gradients of weights are not among it.
int64_t layer_keeps(const struct cell *backward, int64_t *working);
void layer_run(struct team *team, const struct layer_cell *layer, const struct layer_buffers *b);

// The memory of a process on this machine before any tensor.

// memory_bytes; context_bytes: currently resident, including the libraries the process is linked
// to; and, from several processes each: library_bytes (added by the first products on so many
// threads), allocator_granularity_bytes (added by one byte of a new piece of memory). Must be
// called before anything else takes memory.
enum status cpu_observe(int threads, struct quantity **quantities, int *quantity_count,
                        struct arena *arena, struct error *err);

// What other programs' turns cost a repetition that they interrupt: caches that are filled again,
// in its own processor time.

// Sums over repetitions of the same cell: of both about their means.
struct switches {
    struct cell_switches {
        double count, seconds, switches; // the number of repetitions, and means
    } * cells;
    double squares, products;
};

void switches_begin(struct switches *s, int cell_count, struct arena *arena);
long switches_now(void); // of this process, against its will
// The seconds of one more repetition of a cell, without what the switches in it cost.
double switches_take_out(struct switches *s, int cell, double seconds, double switches);

// The timed parts on a CPU, in fp32, which cpu.c times. in[] is only read; out[] is written, or
// updated where training does so (gradients of weights, the optimizer's state). OpenBLAS runs
// inside each member of the team, one thread per call.

// The numbers of floats that a repetition reads from one area and writes to another.
struct part_size {
    int64_t in, out;
};
struct part_size part_size(const struct cell *cell, int threads);

// One repetition. in[part_size().in], out[part_size().out].
void part_run(struct team *team, const struct cell *cell, const float *in, float *out);

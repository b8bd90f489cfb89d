// Compression of messages and gradients on a CPU, fp32, each kernel run by the whole team.
#ifndef PLUMBLINE_MEASURE_CPU_COMPRESS_H
#define PLUMBLINE_MEASURE_CPU_COMPRESS_H

#include "measure/sampling/team.h"

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

#endif

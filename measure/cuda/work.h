// From cells to lists of steps. Nothing here calls CUDA.
#pragma once

#include "measure/sampling/cells.h"
#include "measure/cuda/steps.h"

// UNAVAILABLE, with the reason, for what this back end does not time.
enum status program_of_cell(struct program *p, const struct cell *cell, enum precision precision,
                            struct arena *arena, struct error *err);

// Whole layers; measure/cuda/layers.c.
enum status program_layer(struct program *p, const struct cell *cell, struct error *err);

struct layer_sizes { // one rank's
    int64_t batch, sequence, tokens, hidden, width, heads, kv_heads, query, row, ffn, vocabulary,
        positions;
    bool gated, rms, qkv_bias, linear_bias;
};

// A norm and its gradient, which reads what the norm kept.
struct norm {
    int64_t rows, columns;
    bool rms;
    struct place x, weight, bias, kept;
};
struct norm steps_norm_open(struct program *p, int64_t rows, int64_t columns, bool rms);
void steps_norm(struct program *p, struct norm *norm, struct place x, struct place y);
void steps_norm_backward(struct program *p, const struct norm *norm, struct place dy,
                         struct place dx);

void steps_sum(struct program *p, int64_t values, struct place x, struct place y, struct place z);
void steps_activation(struct program *p, bool gated, int64_t tokens, int64_t ffn, struct place x,
                      struct place y);
void steps_activation_backward(struct program *p, bool gated, int64_t tokens, int64_t ffn,
                               struct place x, struct place dy, struct place dx);

// From cells to lists of steps. Nothing here calls CUDA.
#ifndef PLUMBLINE_MEASURE_CUDA_WORK_H
#define PLUMBLINE_MEASURE_CUDA_WORK_H

#include "measure/cell.h"
#include "measure/cuda_steps.h"

// UNAVAILABLE, with the reason, for what this back end does not time.
enum status program_of_cell(struct program *p, const struct cell *cell, enum precision precision, bool fused,
                            struct arena *arena, struct error *err);

// Whole layers; measure/cuda_layers.c.
enum status program_layer(struct program *p, const struct cell *cell, struct error *err);

// The attention that a cell's program would use, where it has one.
bool attention_of_cell(struct attention *a, const struct cell *cell, enum element type);

struct layer_sizes {            // one rank's
    int64_t batch, sequence, tokens, hidden, width, heads, kv_heads, query, row, ffn, vocabulary, positions;
    bool gated, rms, qkv_bias, linear_bias;
};
struct layer_sizes layer_sizes_of(const struct shape *s, int64_t batch, int64_t sequence, int64_t tensor);

// A norm and its gradient, which reads what the norm kept.
struct norm { int64_t rows, columns; bool rms; struct place x, weight, bias, kept; };
struct norm norm_open(struct program *p, int64_t rows, int64_t columns, bool rms);
void norm_forward(struct program *p, struct norm *norm, struct place x, struct place y);
void norm_backward(struct program *p, const struct norm *norm, struct place dy, struct place dx);

void sum_of_places(struct program *p, int64_t values, struct place x, struct place y, struct place z);
void activation_forward(struct program *p, bool gated, int64_t tokens, int64_t ffn, struct place x, struct place y);
void activation_backward(struct program *p, bool gated, int64_t tokens, int64_t ffn, struct place x, struct place dy,
                         struct place dx);

#endif

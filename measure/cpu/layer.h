// Whole layers on a CPU: the position of each of their matrices, and one pass over them. One
// rank's part of a layer that is divided by tensor and context degrees; data from other ranks is
// random like the rest, and nothing is sent.
#ifndef PLUMBLINE_MEASURE_CPU_LAYER_H
#define PLUMBLINE_MEASURE_CPU_LAYER_H

#include "measure/sampling/cell.h"
#include "measure/sampling/team.h"

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

#endif

// The number of parameters of a model, on all devices together: its size in everyday terms; and the
// FLOP of its layers.
#pragma once

#include "data/inputs/model/model.h"

// all: every value, including adapters; a matrix shared by embedding and head counts once. active:
// those that one token uses (of experts, top_k and the shared ones; of a pool, what it reads).
// measured: the bytes of some layers are stated instead, and these layers are not included.
// Vocabularies count without padding.
struct model_size {
    int64_t all, active;
    bool measured;
};
struct model_size model_size_of(const struct model *m);

// Of low-rank factors for each matrix of a block; of the weights that recomputation of single
// operators multiplies again: every second product (keys, attention's output, a gated layer's
// second one).
int64_t adapter_values(const struct shape *s, const struct layer_run *run);
int64_t repeated_weights(const struct shape *s, const struct layer_run *r);

// Forward FLOP of one layer of the run on one sequence: its products, and its attention (all score
// cells, as if none were masked), of which `scores` only unfused attention keeps. Measured layers:
// 0, since the FLOP are unknown.
struct layer_flop {
    double products, attention, scores;
    double masked; // of attention, what its mask leaves
};
struct layer_flop layer_flop_of(const struct model *m, const struct layer_run *r, int64_t sequence);

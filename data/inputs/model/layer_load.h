// The work of one pass over a whole layer on one rank, as samples of layers count it
// (docs/FORMULAS.md section 3): what identifies a sample's shape and attention.
#pragma once

#include "data/inputs/model/model.h"

struct layer_at {
    enum layer_kind kind; // LAYER_EMBEDDING, LAYER_BLOCK, LAYER_HEAD
    int64_t micro_batch, sequence, tensor, context;
    enum precision precision;
    bool fused;
};

struct layer_load {
    double linear, attention, bytes, score_bytes; // of a forward pass
};
struct layer_load layer_load_of(const struct shape *shape, const struct layer_at *at);

enum load_pass { LOAD_FORWARD, LOAD_BACKWARD, LOAD_SELECTIVE, LOAD_FULL };
void layer_load_of_pass(const struct layer_load *load, enum load_pass pass, bool fused,
                        double *flop, double *bytes);

// "block forward", "block backward selective" ...: false: another operation.
bool layer_operation_read(const char *operation, enum layer_kind *kind, enum load_pass *pass);

// What the two halves of the export to Megatron-LM share: flags (megatron.c) and what flags
// cannot say (megatron_notes.c).
#ifndef PLUMBLINE_SOLVE_REPORT_MEGATRON_H
#define PLUMBLINE_SOLVE_REPORT_MEGATRON_H

#include "solve/report/report.h"

struct megatron {
    struct report_out *out;
    const struct plan *plan;
    const struct problem *problem; // NULL: not at hand
    int layer_count;
    int *blocks;                        // [stage]: decoder layers
    bool *holds_embedding, *holds_head; // [stage]
    bool ends_assumed;                  // first and last layer are taken for embedding and head
    int unknown_layers;                 // neither embedding, block nor head
    const struct expert_shape *experts; // of the model's mixtures, where they are all alike
    bool experts_differ;
};

// What flags say of the feed-forward part's activation; gelu is their default.
enum megatron_activation {
    ACTIVATION_GELU,
    ACTIVATION_SWIGLU,
    ACTIVATION_OPENAI_GELU, // its approximation by tanh
    ACTIVATION_SQUARED_RELU,
    ACTIVATION_OTHER // no flag
};
enum megatron_activation megatron_activation_of(const struct shape *m);

void megatron_put_placement(const struct megatron *m);
void megatron_put_notes(const struct megatron *m, bool recompute_said);

#endif

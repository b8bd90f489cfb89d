// Shared by the exports to Megatron-LM and to frameworks based on Megatron Core: flags
// (megatron.c), what they cannot express (megatron_notes.c), NeMo's configuration
// (solve/report/export/nemo.c).
#ifndef PLUMBLINE_SOLVE_REPORT_MEGATRON_H
#define PLUMBLINE_SOLVE_REPORT_MEGATRON_H

#include "solve/report/report.h"

struct megatron {
    struct report_out *out;
    const struct plan *plan;
    const struct problem *problem; // NULL: not available
    const struct plan *told;       // whose recomputation the flags express; NULL: the plan's
    int layer_count;
    int *blocks;                        // [stage]: decoder layers
    int *further;                       // [stage]: layers that predict further tokens
    bool *holds_embedding, *holds_head; // [stage]
    bool ends_assumed;                  // first and last layer are assumed to be these
    int unknown_layers;                 // neither embedding, block nor head
    const struct expert_shape *experts; // of the model's mixtures, where all are alike
    bool experts_differ;
    bool by_rank;         // each rank has its own recomputation flags
    bool says_activation; // can express any: configurations name more than flags do
    bool says_fractions;  // the same for fractional factors of evenly scaled positions
};

// What flags express about the feed-forward part's activation; gelu is the default.
enum megatron_activation {
    ACTIVATION_GELU,
    ACTIVATION_SWIGLU,
    ACTIVATION_OPENAI_GELU, // its approximation by tanh
    ACTIVATION_SQUARED_RELU,
    ACTIVATION_OTHER // no flag
};
enum megatron_activation megatron_activation_of(const struct shape *m);

// How rotary positions are scaled.
enum rotary_way { ROTARY_PLAIN, ROTARY_LLAMA3, ROTARY_LINEAR, ROTARY_YARN };
struct megatron_rotary {
    enum rotary_way way;
    double factor;
};
// Returns what it cannot express of the shape's scaling, NULL: nothing; otherwise the way is
// ROTARY_PLAIN. fractions: a factor of ROTARY_LINEAR need not be a whole number.
const char *megatron_rotary_of(const struct shape *s, bool fractions, struct megatron_rotary *r,
                               struct arena *arena);

// The problem is left out if the plan has layers that it lacks.
void megatron_begin(struct megatron *m, struct report_out *out, const struct plan *plan,
                    const struct problem *problem, struct arena *arena);
// Micro-batches of an interleaved schedule's group; 0: as many as pipeline ranks, Megatron's
// default.
int megatron_group_of(const struct plan *plan);
const char *megatron_layout_text(const struct megatron *m, struct arena *arena); // Et*3|t*4L

// One setting for all stages; NULL and 0: not set.
struct megatron_recompute {
    const char *granularity, *method;
    int layers;
};
// false: the stages' settings cannot be expressed this way.
bool megatron_recompute_of(const struct megatron *m, struct megatron_recompute *r);

void megatron_put_placement(const struct megatron *m);
// As comments that follow others, in comment lines too; "(nothing)" if everything is expressed.
void megatron_put_notes(const struct megatron *m, bool recompute_said, const char *others);

#endif

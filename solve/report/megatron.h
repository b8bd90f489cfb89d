// What the exports to Megatron-LM and to what stands on Megatron Core share: flags (megatron.c),
// what they cannot say (megatron_notes.c), NeMo's configuration (solve/report/export/nemo.c).
#ifndef PLUMBLINE_SOLVE_REPORT_MEGATRON_H
#define PLUMBLINE_SOLVE_REPORT_MEGATRON_H

#include "solve/report/report.h"

struct megatron {
    struct report_out *out;
    const struct plan *plan;
    const struct problem *problem; // NULL: not at hand
    const struct plan *told;       // whose recomputation the flags are; NULL: the plan's
    int layer_count;
    int *blocks;                        // [stage]: decoder layers
    int *further;                       // [stage]: layers that predict further tokens
    bool *holds_embedding, *holds_head; // [stage]
    bool ends_assumed;                  // first and last layer are taken for embedding and head
    int unknown_layers;                 // neither embedding, block nor head
    const struct expert_shape *experts; // of the model's mixtures, where they are all alike
    bool experts_differ;
    bool by_rank;         // each rank has flags of its own for recomputation
    bool says_activation; // whatever it is: configurations name more than flags
    bool says_fractions;  // of positions that are stretched evenly, likewise
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

// How it stretches rotary positions.
enum rotary_way { ROTARY_PLAIN, ROTARY_LLAMA3, ROTARY_LINEAR, ROTARY_YARN };
struct megatron_rotary {
    enum rotary_way way;
    double factor;
};
// Returns what it cannot say of the shape's, NULL: nothing; then the way is ROTARY_PLAIN.
// fractions: a factor of ROTARY_LINEAR need not be a whole number.
const char *megatron_rotary_of(const struct shape *s, bool fractions, struct megatron_rotary *r,
                               struct arena *arena);

// problem is left out where the plan has layers that it lacks.
void megatron_begin(struct megatron *m, struct report_out *out, const struct plan *plan,
                    const struct problem *problem, struct arena *arena);
const char *megatron_layout_text(const struct megatron *m, struct arena *arena); // Et*3|t*4L

// Its one setting for all stages; NULL and 0: not set.
struct megatron_recompute {
    const char *granularity, *method;
    int layers;
};
// false: the stages' settings cannot be told so.
bool megatron_recompute_of(const struct megatron *m, struct megatron_recompute *r);

void megatron_put_placement(const struct megatron *m);
// As comments behind others, lines of comments too; "(nothing)" where all is said.
void megatron_put_notes(const struct megatron *m, bool recompute_said, const char *others);

#endif

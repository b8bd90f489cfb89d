// The few names that several documents share, and rounding.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Narrow ones (FP8 and on): the matrices of blocks are multiplied in 8 or 4 bits; weights,
// activations, attention and logits are as in BF16. They differ in their scales: FP8 has one for a
// matrix, FP8_BLOCK one for 128 values, MXFP8 one for 32, NVFP4 one for 16.
enum precision { FP32, FP16, BF16, FP8, FP8_BLOCK, MXFP8, NVFP4, PRECISION_COUNT };
extern const char *const precision_names[]; // ended by NULL, as are all name tables
static inline int precision_bytes(enum precision p) { return p == FP32 ? 4 : 2; }
static inline bool precision_is_narrow(enum precision p) { return p >= FP8; }
// Of a value of a narrow one, with its part of a scale.
double precision_narrow_bytes(enum precision p);
// By Megatron's fp8_recipe; NULL: its default.
enum precision precision_of_recipe(const char *fp8_recipe);

// The devices of a memory layer's pool: those of its stage, or, where layers share one, those of
// the whole pipeline. None also where a model has pools of both kinds.
enum pool_span { POOL_NONE, POOL_OF_STAGE, POOL_OF_PIPELINE };
extern const char *const pool_span_names[]; // "none", "stage", "pipeline"

enum recompute {
    RECOMPUTE_NONE,
    RECOMPUTE_SELECTIVE,
    RECOMPUTE_FULL,
    RECOMPUTE_FIRST_LAYERS,
    RECOMPUTE_SWAP, // the first layers are swapped to the host; of the others, the first are
                    // recomputed
    RECOMPUTE_SETS, // the first of the sets of Megatron's modules, by recompute_repeats
    RECOMPUTE_COUNT = RECOMPUTE_SETS + 2 * 2 * 3 * 2 * 2 - 1
};
// "none", "selective", "full", "first_layers", "swap", "mlp", "layernorm", "layernorm+mlp" ...
extern const char *const recompute_names[];
// "each", then these: a layout's setting (data/inputs/job.h).
extern const char *const recompute_setting_names[];

// Parts of a layer that Megatron recomputes each by itself. The whole mixture of experts includes
// its activation, so a set has one of the two at most.
enum recompute_module {
    MODULE_MLP,
    MODULE_LAYERNORM,
    MODULE_MOE_ACT,
    MODULE_MOE,
    MODULE_MLA_UP_PROJ,
    MODULE_CORE_ATTN,
    MODULE_COUNT
};
extern const char *const recompute_module_names[];
// Whether the mode is a set that the module is in.
bool recompute_repeats(enum recompute mode, enum recompute_module module);
// Whether a single layer runs in the mode; the others treat the layers of a stage differently.
static inline bool recompute_of_layer(enum recompute mode)
{
    return mode != RECOMPUTE_FIRST_LAYERS && mode != RECOMPUTE_SWAP;
}
// Whether a layer in the mode keeps more than its input and recomputes something.
static inline bool recompute_in_part(enum recompute mode)
{
    return recompute_of_layer(mode) && mode != RECOMPUTE_NONE && mode != RECOMPUTE_FULL;
}
// Whether a decision with the mode states how many layers are recomputed in full.
static inline bool recompute_counts_layers(enum recompute mode)
{
    return mode == RECOMPUTE_FIRST_LAYERS || mode == RECOMPUTE_SWAP;
}

// A transfer between two stages consists of up to five operations in series: overhead at the
// sender, blocking, link, delay, overhead at the receiver. Both halves of the overhead take the
// same time; neither end waits for the other's.
enum transfer_part {
    PART_BLOCKING, // both ends' compute waits
    PART_LINK,     // occupies one direction of one stage pair's link, in the producer's order
    PART_DELAY,    // delays this message only
    PART_OVERHEAD, // occupies the sender's compute, and the receiver's for as long before it uses
                   // the message
    PART_COUNT,
};
extern const char *const transfer_part_names[]; // "blocking", "link", "delay", "overhead"

// The error that decimal fractions, stored in binary, can cause in a number x: x / 2^44, at most
// 2^-6.
long double same_within(long double x);
// Rounds x >= 0 to the nearest integer, halves up, including numbers below a half by no more than
// that error. Asserts that the result is below 2^53.
int64_t round_half_up(long double x);
// x >= y, or less by at most x / 2^44.
static inline bool reaches(long double x, long double y) { return x + x * 0x1p-44L >= y; }

// Shared by the tables of classes: what several of them have. Internal to data/import/hf/.
#ifndef PLUMBLINE_DATA_IMPORT_HF_CLASSES_H
#define PLUMBLINE_DATA_IMPORT_HF_CLASSES_H

#include "data/import/hf/internal.h"

#define GATED .gated_ffn = true, .rms_norm = true
#define FACTS(name, epsilon, base) .activation = name, .norm_epsilon = epsilon, .rotary_base = base
#define BIASES .qkv_bias = true, .linear_bias = true
#define TIED .tied_embeddings = true
#define LATENT .query_rank = 1536, .kv_rank = 512, .rotary_width = 64, .value_width = 128
#define SIZES(h, f, a, k, v) .hidden = h, .ffn = f, .heads = a, .kv_heads = k, .vocabulary = v
// Sigmoid scores, of which a number for each expert decides the choice.
#define CORRECTED .router_score = ROUTER_SIGMOID, .router_bias = true
#define MIXTURE(count, each) .experts = {.experts = count, .top_k = each}, .experts_as_ffn = true
// What several classes have by default.
#define LLAMA                                                                                      \
    .shape = {FACTS("silu", 1e-6, 1e4), SIZES(4096, 11008, 32, 0, 32000), GATED}, .layers = 32
#define DEEPSEEK_V3                                                                                \
    .shape = {FACTS("silu", 1e-6, 1e4), SIZES(7168, 18432, 128, 0, 129280), LATENT, GATED},        \
    .layers = 61, .front = 3, .plain_width = 128,                                                  \
    .experts = {.experts = 256, .top_k = 8, .ffn = 2048, .shared_ffn = 1, CORRECTED}
#define BERT(vocabulary)                                                                           \
    .shape = {FACTS("gelu", 1e-12, 0), SIZES(768, 3072, 12, 0, vocabulary), .no_final_norm = true, \
              BIASES, TIED},                                                                       \
    .layers = 12, .fixed_head_width = true, .read = hf_read_bert, .arrange = hf_arrange_bert

#define BIASLESS                                                                                   \
    .told = "norms by the mean without biases are planned as norms by the root mean square"

// One table for each kind of layers (classes.c, classes_mixtures.c, classes_hybrids.c,
// classes_recent.c).
extern const struct hf_class hf_dense[], hf_mixtures[], hf_hybrids[], hf_recent[];
extern const int hf_dense_count, hf_mixture_count, hf_hybrid_count, hf_recent_count;

#endif

// What rows of the tables of classes are written with. Internal to data/import/hf/.
#pragma once

#include "data/import/hf/internal.h"

// A row: the name of the class, and what else it has.
#define CLASS(type, ...)                                                                           \
    {                                                                                              \
        .name = type, __VA_ARGS__                                                                  \
    }
#define GATED .shape.gated_ffn = true, .shape.rms_norm = true
#define FACTS(name, epsilon, base)                                                                 \
    .shape.activation = name, .shape.norm_epsilon = epsilon, .shape.rotary_base = base
#define LINEAR(keys, values, width, value_width)                                                   \
    .shape.linear = {keys, values, width, value_width, .convolution = 4}
#define GLA(heads_of)                                                                              \
    .shape.linear = {                                                                              \
        .key_heads = heads_of, .convolution = 4, .rule = LINEAR_LIGHTNING, .no_norm = true}
#define BIASES .shape.qkv_bias = true, .shape.linear_bias = true
#define TIED .shape.tied_embeddings = true
#define LATENT                                                                                     \
    .shape.query_rank = 1536, .shape.kv_rank = 512, .shape.rotary_width = 64,                      \
    .shape.value_width = 128
#define SIZES(h, f, a, k, v)                                                                       \
    .shape.hidden = h, .shape.ffn = f, .shape.heads = a, .shape.kv_heads = k, .shape.vocabulary = v
// Sigmoid scores, of which a number for each expert decides the choice.
#define CORRECTED .experts.router_score = ROUTER_SIGMOID, .experts.router_bias = true
#define EXPERTS(count, each) .experts.experts = count, .experts.top_k = each
#define MIXTURE(count, each) EXPERTS(count, each), .experts_as_ffn = true
// What several classes have by default.
#define LLAMA_OF(vocabulary, epsilon)                                                              \
    FACTS("silu", epsilon, 1e4), SIZES(4096, 11008, 32, 0, vocabulary), GATED, .layers = 32
#define LLAMA LLAMA_OF(32000, 1e-6)
#define DEEPSEEK_V3                                                                                \
    FACTS("silu", 1e-6, 1e4), SIZES(7168, 18432, 128, 0, 129280), LATENT, GATED,                   \
        .layers = 61, .front = 3, .plain_width = 128, EXPERTS(256, 8), .experts.ffn = 2048,        \
        .experts.shared_ffn = 1, CORRECTED
#define BERT_BY(vocabulary, count, reader)                                                         \
    FACTS("gelu", 1e-12, 0), SIZES(768, 3072, 12, 0, vocabulary),                                  \
        .shape.no_final_norm = true, BIASES, TIED, .layers = count, .fixed_head_width = true,      \
        .read = reader, .arrange = hf_arrange_bert
#define BERT(vocabulary) BERT_BY(vocabulary, 12, hf_read_bert)

#define PAIR_BY(arranger, activation, positions_most, h, f, count, each, vocabulary)               \
    FACTS(activation, 1e-5, 0), SIZES(h, f, each, 0, vocabulary),                                  \
        .shape.positions = positions_most, BIASES, TIED, .layers = count,                          \
        .fixed_head_width = true, .both = true, .read = hf_read_bart, .arrange = arranger
#define PAIR(...) PAIR_BY(hf_arrange_bart, __VA_ARGS__)
#define SOUND                                                                                      \
    .told = "sound is planned as long as the text: the longer one is the job's sequence; its "     \
            "convolutions are counted in parameters, not in work"

#define BIASLESS                                                                                   \
    .told = "norms by the mean without biases are planned as norms by the root mean square"

#define IMAGELESS                                                                                  \
    .told = "the tower and its projector are left out: the model is the language model alone"

#define STEP                                                                                       \
    FACTS("silu", 1e-5, 1e4), SIZES(4096, 11264, 64, 8, 128815),                                   \
        .shape.head_width = 128, GATED, .shape.qk_norm = QK_NORM_HEAD, .layers = 45,               \
        EXPERTS(288, 8), .experts.ffn = 1280, .experts.shared_ffn = 1280, .read = hf_read_step,    \
        .arrange = hf_arrange_step,                                                                \
        .told = "the gates of heads are counted in parameters, not in work"

#define MINIMAX                                                                                    \
    FACTS("silu", 1e-5, 1e6), SIZES(4096, 14336, 32, 8, 32000), GATED,                             \
        .layers = 32, MIXTURE(8, 2), .read = hf_read_minimax, .arrange = hf_arrange_minimax

#define LING                                                                                       \
    FACTS("silu", 1e-6, 1e4), SIZES(2048, 5632, 16, 0, 126464), GATED,                             \
        .layers = 28, EXPERTS(64, 6), .experts.ffn = 1408, .read = hf_read_ling,                   \
        .arrange = hf_arrange_ling

// Cross attention has as many values as attention.
#define MLLAMA                                                                                     \
    FACTS("silu", 1e-5, 5e5), SIZES(4096, 14336, 32, 8, 128256), GATED,                            \
        .layers = 40, .fixed_head_width = true, .read = hf_read_mllama,                            \
        .arrange = hf_arrange_mllama,                                                              \
        .told = "layers of cross attention to images are planned as attention to the text"

#define SCANS .told = "selective scans are planned as bound by what they move"

// The classes of Hugging Face configs that are read. The file says which one reads it (model_type),
// and leaves out what equals that class's default, so every default here is per class. What the
// class does and the file never says (gated FFN, kind and number of norms, learned positions) is
// set here as well. Source: the configuration and model classes of transformers; docs/FORMATS.md
// lists the mapping.
#include <string.h>

#include "data/import/hf/internal.h"

#define GATED .gated_ffn = true, .rms_norm = true
#define FACTS(name, epsilon, base) .activation = name, .norm_epsilon = epsilon, .rotary_base = base
#define BIASES .qkv_bias = true, .linear_bias = true
#define TIED .tied_embeddings = true
#define LATENT .query_rank = 1536, .kv_rank = 512, .rotary_width = 64, .value_width = 128
#define SIZES(h, f, a, k, v) .hidden = h, .ffn = f, .heads = a, .kv_heads = k, .vocabulary = v

static const struct hf_class classes[] = {
    {.name = "llama",
     .shape = {FACTS("silu", 1e-6, 1e4), SIZES(4096, 11008, 32, 0, 32000), GATED},
     .layers = 32,
     .read = hf_read_llama},
    {.name = "mistral",
     .shape = {FACTS("silu", 1e-6, 1e4), SIZES(4096, 14336, 32, 8, 32000), GATED},
     .layers = 32,
     .window = 4096,
     .arrange = hf_arrange_all_near},
    {.name = "mixtral",
     .shape = {FACTS("silu", 1e-5, 1e6), SIZES(4096, 14336, 32, 8, 32000), GATED},
     .layers = 32,
     .experts = {.experts = 8, .top_k = 2},
     .arrange = hf_arrange_mixtral},
    {.name = "llama4_text",
     .shape = {FACTS("silu", 1e-5, 5e5), SIZES(5120, 8192, 40, 8, 202048), .head_width = 128,
               GATED},
     .layers = 48,
     .window = 8192,
     .experts = {.experts = 16, .top_k = 1},
     .read = hf_read_llama4,
     .arrange = hf_arrange_llama4},
    {.name = "qwen2",
     .shape = {FACTS("silu", 1e-6, 1e4), SIZES(4096, 22016, 32, 32, 151936), GATED,
               .qkv_bias = true},
     .layers = 32,
     .window = 4096,
     .arrange = hf_arrange_qwen},
    {.name = "qwen2_vl_text",
     .shape = {FACTS("silu", 1e-5, 1e6), SIZES(8192, 29568, 64, 8, 152064), GATED,
               .qkv_bias = true},
     .layers = 80,
     .window = 4096,
     .arrange = hf_arrange_qwen},
    {.name = "qwen2_moe",
     .shape = {FACTS("silu", 1e-6, 1e4), SIZES(2048, 5632, 16, 16, 151936), GATED,
               .qkv_bias = true},
     .layers = 24,
     .window = 4096,
     .experts = {.experts = 60, .top_k = 4, .ffn = 1408, .shared_ffn = 5632},
     .read = hf_read_qwen2_moe,
     .arrange = hf_arrange_qwen2_moe},
    {.name = "qwen3",
     .shape = {FACTS("silu", 1e-6, 1e4), SIZES(4096, 22016, 32, 32, 151936), .head_width = 128,
               GATED, .qk_norm = QK_NORM_HEAD},
     .layers = 32,
     .window = 4096,
     .read = hf_read_attention_bias,
     .arrange = hf_arrange_qwen},
    {.name = "qwen3_moe",
     .shape = {FACTS("silu", 1e-6, 1e4), SIZES(2048, 6144, 32, 4, 151936), GATED,
               .qk_norm = QK_NORM_HEAD},
     .layers = 24,
     .window = 4096,
     .experts = {.experts = 128, .top_k = 8, .ffn = 768},
     .read = hf_read_attention_bias,
     .arrange = hf_arrange_qwen3_moe},
    {.name = "deepseek_v2",
     .shape = {FACTS("silu", 1e-6, 1e4), SIZES(4096, 11008, 32, 0, 102400), LATENT, GATED},
     .layers = 32,
     .experts = {.experts = 64, .ffn = 1407, .shared_ffn = 2},
     .read = hf_read_deepseek,
     .arrange = hf_arrange_deepseek},
    {.name = "deepseek_v3",
     .shape = {FACTS("silu", 1e-6, 1e4), SIZES(7168, 18432, 128, 0, 129280), LATENT, GATED},
     .layers = 61,
     .front = 3,
     .experts = {.experts = 256, .top_k = 8, .ffn = 2048, .shared_ffn = 1},
     .read = hf_read_deepseek,
     .arrange = hf_arrange_deepseek},
    {.name = "gemma",
     .shape = {FACTS("gelu_pytorch_tanh", 1e-6, 1e4), SIZES(3072, 24576, 16, 16, 256000),
               .head_width = 256, GATED, TIED},
     .layers = 28,
     .read = hf_read_attention_bias},
    {.name = "gemma2",
     .shape = {FACTS("gelu_pytorch_tanh", 1e-6, 1e4), SIZES(2304, 9216, 8, 4, 256000),
               .head_width = 256, .norms = 4, GATED, TIED},
     .layers = 26,
     .window = 4096,
     .read = hf_read_attention_bias,
     .arrange = hf_arrange_gemma2},
    {.name = "gemma3_text",
     .shape = {FACTS("gelu_pytorch_tanh", 1e-6, 1e6), SIZES(2304, 9216, 8, 4, 262208),
               .head_width = 256, .norms = 4, .qk_norm = QK_NORM_HEAD, GATED, TIED},
     .layers = 26,
     .window = 4096,
     .read = hf_read_attention_bias,
     .arrange = hf_arrange_gemma3},
    {.name = "phi3",
     .shape = {FACTS("silu", 1e-5, 1e4), SIZES(3072, 8192, 32, 0, 32064), GATED},
     .layers = 32,
     .read = hf_read_phi3,
     .arrange = hf_arrange_all_near},
    {.name = "olmo2",
     .shape = {FACTS("silu", 1e-5, 1e4), SIZES(4096, 11008, 32, 0, 50304), GATED,
               .qk_norm = QK_NORM_WHOLE},
     .layers = 32,
     .read = hf_read_attention_bias},
    {.name = "falcon",
     .shape = {FACTS("gelu", 1e-5, 1e4), SIZES(4544, 18176, 71, 0, 65024), TIED},
     .layers = 32,
     .fixed_head_width = true,
     .read = hf_read_falcon},
    {.name = "gpt_neox",
     .shape = {FACTS("gelu", 1e-5, 1e4), .rotary_share = 0.25, SIZES(6144, 24576, 64, 0, 50432),
               .parallel_residual = true, BIASES},
     .layers = 44,
     .fixed_head_width = true,
     .read = hf_read_gpt_neox},
    {.name = "gpt2",
     .shape = {FACTS("gelu_new", 1e-5, 0), SIZES(768, 3072, 12, 0, 50257), .positions = 1024,
               BIASES, TIED},
     .layers = 12,
     .fixed_head_width = true,
     .read = hf_read_gpt2},
    {.name = "opt",
     .shape = {FACTS("relu", 1e-5, 0), SIZES(768, 3072, 12, 0, 50272), .positions = 2048, TIED},
     .layers = 12,
     .fixed_head_width = true,
     .read = hf_read_opt},
    {.name = "bert",
     .shape = {FACTS("gelu", 1e-12, 0), SIZES(768, 3072, 12, 0, 30522), .no_final_norm = true,
               BIASES, TIED},
     .layers = 12,
     .fixed_head_width = true,
     .read = hf_read_bert,
     .arrange = hf_arrange_bert},
    {.name = "t5",
     .shape = {FACTS("relu", 1e-6, 0), SIZES(512, 2048, 8, 0, 32128), .head_width = 64,
               .rms_norm = true},
     .layers = 6,
     .read = hf_read_t5,
     .arrange = hf_arrange_t5},
    {.name = "mt5",
     .shape = {FACTS("gelu_new", 1e-6, 0), SIZES(512, 1024, 6, 0, 250112), .head_width = 64, GATED},
     .layers = 8,
     .read = hf_read_t5,
     .arrange = hf_arrange_t5},
};

const struct hf_class *hf_find_class(const char *name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(classes); i++)
        if (!strcmp(classes[i].name, name)) return &classes[i];
    return NULL;
}

const char *hf_class_list(struct arena *arena)
{
    const char *list = classes[0].name;
    for (size_t i = 1; i < ARRAY_LENGTH(classes); i++)
        list = arena_print(arena, "%s, %s", list, classes[i].name);
    for (int i = 0; hf_tower_name(i); i++)
        list = arena_print(arena, "%s, %s", list, hf_tower_name(i));
    return list;
}

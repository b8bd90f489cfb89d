"""Published configs of Hugging Face, their facts from the models' cards, in the words that
tests/imports/hf_counts.py counts."""


def sizes(hidden, ffn, layers, heads, kv_heads, vocabulary, **more):
    config = {"hidden_size": hidden, "intermediate_size": ffn, "num_hidden_layers": layers,
              "num_attention_heads": heads,
              "num_key_value_heads": kv_heads, "vocab_size": vocabulary}
    config.update(more)
    return config


def experts(count, each, width, **more):
    return dict({"num_experts": count, "num_experts_per_tok": each, "moe_intermediate_size": width},
                **more)


def latent(query, moe, routed, each, shared, dense, **more):
    return dict({"q_lora_rank": query, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
                 "qk_nope_head_dim": 128, "v_head_dim": 128,
                 "moe_intermediate_size": moe, "n_routed_experts": routed,
                 "num_experts_per_tok": each, "n_shared_experts": shared,
                 "first_k_dense_replace": dense}, **more)


def text(kind, config):
    return {"text_config": dict(config, model_type=kind + "_text")}


def llama4(count, step):
    return text("llama4",
                sizes(5120, 8192, 48, 40, 8, 202048, intermediate_size_mlp=16384, head_dim=128,
                      num_local_experts=count,
                                num_experts_per_tok=1, interleave_moe_layer_step=step))


def falcon(hidden, layers, heads, **more):
    return dict({"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
                 "vocab_size": 65024}, **more)


def opt(hidden, layers, heads, **more):
    return dict({"hidden_size": hidden, "ffn_dim": 4 * hidden, "num_hidden_layers": layers,
                 "num_attention_heads": heads,
                 "vocab_size": 50272, "max_position_embeddings": 2048,
                 "word_embed_proj_dim": hidden}, **more)


def neox(hidden, layers, heads, vocabulary):
    return {"hidden_size": hidden, "intermediate_size": 4 * hidden, "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "vocab_size": vocabulary}


def t5(width, ffn, layers, heads, key, **more):
    return dict({"d_model": width, "d_ff": ffn, "num_layers": layers, "num_heads": heads,
                 "d_kv": key, "vocab_size": 32128,
                 "is_encoder_decoder": True}, **more)


def clip(hidden, ffn, layers, heads, image, patch):
    return {"model_type": "clip_vision_model", "hidden_size": hidden, "intermediate_size": ffn,
            "num_hidden_layers": layers,
            "num_attention_heads": heads, "image_size": image, "patch_size": patch}


def llava(text_config, **more):
    return dict({"text_config": dict(text_config, model_type="llama", rms_norm_eps=1e-5),
                 "vision_config": clip(1024, 4096, 24, 16, 336, 14)}, **more)


def qwen2_vl(tied, text_config):
    return dict(text_config, tie_word_embeddings=tied, rms_norm_eps=1e-6, rope_theta=1e6,
                vision_config={"depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16,
                               "hidden_size": text_config["hidden_size"], "patch_size": 14,
                               "spatial_merge_size": 2,
                               "temporal_patch_size": 2})


# By the start of a model's name: epsilon of its norms, rotary base, the factor by which positions
# are stretched.
FACTS = [
    ("llama-2-", 1e-5, 1e4, None), ("llama-3.1-", 1e-5, 5e5, 8.0), ("llama-3.2-", 1e-5, 5e5, 32.0),
    ("llama-3.3-", 1e-5, 5e5, 8.0),
    ("llama-4-", 1e-5, 5e5, None), ("mistral-7b", 1e-5, 1e4, None),
    ("mistral-nemo", 1e-5, 1e6, None), ("mixtral-", 1e-5, 1e6, None),
    ("qwen3-next", 1e-6, 1e7, None), ("qwen3.5-", 1e-6, 1e7, None), ("qwen3.6-", 1e-6, 1e7, None),
    ("moonlight-", 1e-5, 5e4, None), ("glm-5.2", 1e-5, 8e6, None),
    ("glm-5", 1e-5, 1e6, None), ("tinyllama-", 1e-5, 1e4, None),
    ("smollm2-1.7b", 1e-5, 13e4, None), ("smollm2-", 1e-5, 1e5, None),
    ("phi-4-mini", 1e-5, 1e4, None),
    ("qwen", 1e-6, 1e6, None), ("deepseek-", 1e-6, 1e4, 40.0), ("phi-4", 1e-5, 25e4, None),
    ("olmo-2-", 1e-6, 5e5, None),
    ("gemma-3-1b", 1e-6, 1e6, None), ("gemma-3-", 1e-6, 1e6, 8.0),
    ("falcon-2-", 1e-5, 500042.0, None),
    ("kimi-k2", 1e-6, 5e4, 32.0), ("gpt-oss-", 1e-5, 15e4, 32.0), ("glm-4.5", 1e-5, 1e6, None),
    ("minimax-m2", 1e-6, 5e6, None),
    ("smollm3-", 1e-6, 5e6, None), ("olmo-3-", 1e-6, 5e5, None),
    ("mistral-small-3", 1e-5, 1e8, None), ("apertus-", 1e-5, 12e6, 8.0),
]


# How experts are chosen: groups, those that count, scale and whether the weights are made to sum to
# 1, as the configs state them.
ROUTERS = {
    "qwen3-30b-a3b": (None, None, None, True), "qwen3-235b-a22b": (None, None, None, True),
    "deepseek-v2-lite": (1, 1, 1.0, False), "deepseek-v2": (8, 3, 16.0, False),
    "deepseek-v3": (8, 4, 2.5, True), "deepseek-v3.2": (8, 4, 2.5, True),
    "kimi-k2": (1, 1, 2.827, True), "kimi-linear-48b-a3b": (None, None, 2.446, None),
    "qwen3-coder-480b-a35b": (None, None, None, True), "glm-5.2": (1, 1, 2.5, True),
    "glm-5": (1, 1, 2.5, True),     "moonlight-16b-a3b": (1, 1, 2.446, True),
    "glm-4.5": (1, 1, 2.5, True), "glm-4.5-air": (1, 1, 1.0, True),
}


def with_router(name, config):
    keys = "n_group", "topk_group", "routed_scaling_factor", "norm_topk_prob"
    stated = zip(keys, ROUTERS.get(name, ()))
    return dict(config, **{key: value for key, value in stated if value is not None})


def with_facts(name, config):
    for start, epsilon, base, factor in FACTS:
        if name.startswith(start):
            kind = ("llama3" if name.startswith(("llama", "apertus")) else
                    "linear" if name.startswith("gemma") else "yarn")
            more = {"layer_norm_epsilon" if name.startswith("falcon") else "rms_norm_eps": epsilon,
                    "rope_theta": base}
            if factor:
                more["rope_scaling"] = {"rope_type": kind, "factor": factor}
            if factor and kind == "llama3":
                more["rope_scaling"].update(low_freq_factor=1.0, high_freq_factor=4.0,
                                            original_max_position_embeddings=8192)
            if factor and kind == "yarn":
                scale = 0.707 if name.startswith("deepseek-v2") else 1.0
                more["rope_scaling"].update(beta_fast=1 if name.startswith("kimi") else 32,
                                            beta_slow=1,
                                            original_max_position_embeddings=4096)
                if not name.startswith("gpt-oss"):
                    more["rope_scaling"].update(mscale=scale, mscale_all_dim=scale)
            if "text_config" in config:
                return {"text_config": dict(config["text_config"], **more)}
            return dict(config, **more)
    return config


PUBLISHED = [
    ("llama-2-7b", "llama", sizes(4096, 11008, 32, 32, 32, 32000)),
    ("llama-2-13b", "llama", sizes(5120, 13824, 40, 40, 40, 32000)),
    ("llama-2-70b", "llama", sizes(8192, 28672, 80, 64, 8, 32000)),
    ("llama-3.1-8b", "llama", sizes(4096, 14336, 32, 32, 8, 128256)),
    ("llama-3.1-70b", "llama", sizes(8192, 28672, 80, 64, 8, 128256)),
    ("llama-3.1-405b", "llama", sizes(16384, 53248, 126, 128, 8, 128256)),
    ("llama-3.2-1b", "llama",
     sizes(2048, 8192, 16, 32, 8, 128256, head_dim=64, tie_word_embeddings=True)),
    ("llama-3.2-3b", "llama",
     sizes(3072, 8192, 28, 24, 8, 128256, head_dim=128, tie_word_embeddings=True)),
    ("llama-3.3-70b", "llama", sizes(8192, 28672, 80, 64, 8, 128256, head_dim=128)),
    ("llama-4-scout", "llama4", llama4(16, 1)),
    ("llama-4-maverick", "llama4", llama4(128, 2)),
    ("mistral-7b", "mistral", sizes(4096, 14336, 32, 32, 8, 32000, sliding_window=4096)),
    ("mistral-nemo", "mistral",
     sizes(5120, 14336, 40, 32, 8, 131072, head_dim=128, sliding_window=None)),
    ("mixtral-8x7b", "mixtral",
     sizes(4096, 14336, 32, 32, 8, 32000, num_local_experts=8, num_experts_per_tok=2)),
    ("mixtral-8x22b", "mixtral",
     sizes(6144, 16384, 56, 48, 8, 32000, num_local_experts=8, num_experts_per_tok=2)),
    ("qwen2.5-0.5b", "qwen2", sizes(896, 4864, 24, 14, 2, 151936, tie_word_embeddings=True)),
    ("qwen2.5-7b", "qwen2", sizes(3584, 18944, 28, 28, 4, 152064)),
    ("qwen2.5-72b", "qwen2", sizes(8192, 29568, 80, 64, 8, 152064)),
    ("qwen1.5-moe-a2.7b", "qwen2_moe",
     sizes(2048, 5632, 24, 16, 16, 151936, shared_expert_intermediate_size=5632,
                                             decoder_sparse_step=1, **experts(60, 4, 1408))),
    ("qwen2-57b-a14b", "qwen2_moe",
     sizes(3584, 18944, 28, 28, 4, 151936, shared_expert_intermediate_size=20480,
                                          decoder_sparse_step=1, **experts(64, 8, 2560))),
    ("qwen3-0.6b", "qwen3",
     sizes(1024, 3072, 28, 16, 8, 151936, head_dim=128, tie_word_embeddings=True)),
    ("qwen3-8b", "qwen3", sizes(4096, 12288, 36, 32, 8, 151936, head_dim=128)),
    ("qwen3-32b", "qwen3", sizes(5120, 25600, 64, 64, 8, 151936, head_dim=128)),
    ("qwen3-30b-a3b", "qwen3_moe",
     sizes(2048, 6144, 48, 32, 4, 151936, head_dim=128, **experts(128, 8, 768))),
    ("qwen3-235b-a22b", "qwen3_moe",
     sizes(4096, 12288, 94, 64, 4, 151936, head_dim=128, **experts(128, 8, 1536))),
    ("deepseek-v2-lite", "deepseek_v2",
     sizes(2048, 10944, 27, 16, 16, 102400, **latent(None, 1408, 64, 6, 2, 1))),
    ("deepseek-v2", "deepseek_v2",
     sizes(5120, 12288, 60, 128, 128, 102400, **latent(1536, 1536, 160, 6, 2, 1))),
    ("deepseek-v3", "deepseek_v3",
     sizes(7168, 18432, 61, 128, 128, 129280,
           **latent(1536, 2048, 256, 8, 1, 3, num_nextn_predict_layers=1))),
    ("gemma-2b", "gemma", sizes(2048, 16384, 18, 8, 1, 256000, head_dim=256)),
    ("gemma-7b", "gemma", sizes(3072, 24576, 28, 16, 16, 256000, head_dim=256)),
    ("gemma-2-2b", "gemma2",
     sizes(2304, 9216, 26, 8, 4, 256000, head_dim=256, sliding_window=4096)),
    ("gemma-2-9b", "gemma2",
     sizes(3584, 14336, 42, 16, 8, 256000, head_dim=256, sliding_window=4096)),
    ("gemma-2-27b", "gemma2",
     sizes(4608, 36864, 46, 32, 16, 256000, head_dim=128, sliding_window=4096)),
    ("gemma-3-1b", "gemma3_text",
     sizes(1152, 6912, 26, 4, 1, 262144, head_dim=256, sliding_window=512)),
    ("gemma-3-4b", "gemma3",
     text("gemma3", {"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
                                             "sliding_window": 1024})),
    ("gemma-3-27b", "gemma3",
     text("gemma3", {"hidden_size": 5376, "intermediate_size": 21504, "num_hidden_layers": 62,
                                              "num_attention_heads": 32, "num_key_value_heads": 16,
                                              "head_dim": 128,
                                              "sliding_window": 1024})),
    ("phi-3-mini", "phi3", sizes(3072, 8192, 32, 32, 32, 32064, sliding_window=2047)),
    ("phi-3-medium", "phi3", sizes(5120, 17920, 40, 40, 10, 32064, sliding_window=2047)),
    ("phi-4", "phi3", sizes(5120, 17920, 40, 40, 10, 100352, sliding_window=None)),
    ("falcon-rw-1b", "falcon",
     dict(falcon(2048, 24, 32, multi_query=False, parallel_attn=False, bias=True, alibi=True),
                                    vocab_size=50304)),
    ("falcon-7b", "falcon", falcon(4544, 32, 71, multi_query=True, parallel_attn=True, bias=False)),
    ("falcon-2-11b", "falcon",
     falcon(4096, 60, 32, num_kv_heads=8, new_decoder_architecture=True,
            num_ln_in_parallel_attn=1)),
    ("falcon-40b", "falcon", falcon(8192, 60, 128, num_kv_heads=8, new_decoder_architecture=True)),
    ("falcon-180b", "falcon",
     falcon(14848, 80, 232, num_kv_heads=8, new_decoder_architecture=True)),
    ("olmo-2-7b", "olmo2", sizes(4096, 11008, 32, 32, 32, 100352)),
    ("olmo-2-13b", "olmo2", sizes(5120, 13824, 40, 40, 40, 100352)),
    ("olmo-2-32b", "olmo2", sizes(5120, 27648, 64, 40, 8, 100352)),
    ("pythia-1.4b", "gpt_neox", neox(2048, 24, 16, 50304)),
    ("pythia-12b", "gpt_neox", neox(5120, 36, 40, 50688)),
    ("gpt-neox-20b", "gpt_neox", neox(6144, 44, 64, 50432)),
    ("gpt2", "gpt2",
     {"n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}),
    ("gpt2-xl", "gpt2",
     {"n_embd": 1600, "n_layer": 48, "n_head": 25, "n_positions": 1024, "vocab_size": 50257}),
    ("opt-350m", "opt",
     dict(opt(1024, 24, 16, do_layer_norm_before=False), word_embed_proj_dim=512)),
    ("opt-1.3b", "opt", opt(2048, 24, 32)),
    ("opt-66b", "opt", opt(9216, 64, 72)),
    ("opt-175b", "opt", opt(12288, 96, 96)),
    ("bert-base", "bert", {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12,
                           "num_attention_heads": 12,
                           "vocab_size": 30522, "max_position_embeddings": 512,
                           "type_vocab_size": 2}),
    ("bert-large", "bert", {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24,
                            "num_attention_heads": 16,
                            "vocab_size": 30522, "max_position_embeddings": 512,
                            "type_vocab_size": 2}),
    ("t5-small", "t5", t5(512, 2048, 6, 8, 64)),
    ("t5-large", "t5", t5(1024, 4096, 24, 16, 64)),
    ("t5-11b", "t5", t5(1024, 65536, 24, 128, 128)),
    ("t5-v1.1-base", "t5",
     t5(768, 2048, 12, 12, 64, feed_forward_proj="gated-gelu", num_decoder_layers=12,
                              tie_word_embeddings=False)),
    ("mt5-base", "mt5",
     {"d_model": 768, "d_ff": 2048, "num_layers": 12, "num_heads": 12, "vocab_size": 250112,
                         "is_encoder_decoder": True}),
    ("mistral-small-3-24b", "mistral",
     sizes(5120, 32768, 40, 32, 8, 131072, head_dim=128, sliding_window=None)),
    ("ministral-3-8b", "ministral3", sizes(4096, 14336, 34, 32, 8, 131072, head_dim=128)),
    ("qwen3-next-80b-a3b", "qwen3_next",
     sizes(2048, 5120, 48, 16, 2, 151936, head_dim=256, partial_rotary_factor=0.25,
           full_attention_interval=4, linear_num_key_heads=16, linear_num_value_heads=32,
           linear_key_head_dim=128, linear_value_head_dim=128, linear_conv_kernel_dim=4,
           shared_expert_intermediate_size=512, **experts(512, 10, 512))),
    ("kimi-linear-48b-a3b", "kimi_linear",
     sizes(2304, 9216, 27, 32, 32, 163840, num_experts=256, num_experts_per_token=8,
           num_shared_experts=1, moe_intermediate_size=1024, first_k_dense_replace=1,
           q_lora_rank=None, kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64,
           v_head_dim=128, rms_norm_eps=1e-5, linear_attn_config={
               "num_heads": 32, "head_dim": 128, "short_conv_kernel_size": 4,
               "full_attn_layers": [4, 8, 12, 16, 20, 24, 27],
               "kda_layers": [i for i in range(1, 27) if i % 4]})),
    ("kimi-k2", "kimi_k2",
     sizes(7168, 18432, 61, 64, 64, 163840, **latent(1536, 2048, 384, 8, 1, 1))),
    ("deepseek-v3.2", "deepseek_v32",
     sizes(7168, 18432, 61, 128, 128, 129280, index_n_heads=64, index_head_dim=128, index_topk=2048,
                                            **latent(1536, 2048, 256, 8, 1, 3,
                                                     num_nextn_predict_layers=1))),
    ("glm-5", "glm_moe_dsa", {"num_hidden_layers": 78, "first_k_dense_replace": 3}),
    ("glm-4.7-flash", "glm4_moe_lite", {"num_hidden_layers": 47, "num_nextn_predict_layers": 1}),
    ("glm-4.5", "glm4_moe",
     sizes(5120, 12288, 92, 96, 8, 151552, head_dim=128, moe_intermediate_size=1536,
           n_routed_experts=160,
                                  num_experts_per_tok=8, n_shared_experts=1,
                                  first_k_dense_replace=3, attention_bias=True,
                                  use_qk_norm=True, num_nextn_predict_layers=1)),
    ("glm-4.5-air", "glm4_moe",
     sizes(4096, 10944, 46, 96, 8, 151552, head_dim=128, moe_intermediate_size=1408,
           n_routed_experts=128,
                                      num_experts_per_tok=8, n_shared_experts=1,
                                      first_k_dense_replace=1, attention_bias=True,
                                      num_nextn_predict_layers=1)),
    ("glm-4-9b", "glm", sizes(4096, 13696, 40, 32, 2, 151552, head_dim=128)),
    ("glm-4-32b-0414", "glm4",
     sizes(6144, 23040, 61, 48, 2, 151552, head_dim=128, attention_bias=False)),
    ("smollm3-3b", "smollm3", sizes(2048, 11008, 36, 16, 4, 128256)),
    ("olmo-7b", "olmo", sizes(4096, 11008, 32, 32, 32, 50304)),
    ("olmo-3-7b", "olmo3", sizes(4096, 11008, 32, 32, 32, 100278, sliding_window=4096)),
    ("olmo-3-32b", "olmo3", sizes(5120, 27648, 64, 40, 8, 100278, sliding_window=4096)),
    ("olmoe-1b-7b", "olmoe",
     sizes(2048, 1024, 16, 16, 16, 50304, num_experts=64, num_experts_per_tok=8)),
    ("gpt-oss-20b", "gpt_oss",
     sizes(2880, 2880, 24, 64, 8, 201088, head_dim=64, num_local_experts=32,
           num_experts_per_tok=4)),
    ("gpt-oss-120b", "gpt_oss",
     sizes(2880, 2880, 36, 64, 8, 201088, head_dim=64, num_local_experts=128,
           num_experts_per_tok=4)),
    ("hunyuan-7b", "hunyuan_v1_dense",
     sizes(4096, 14336, 32, 32, 8, 128167, head_dim=128, tie_word_embeddings=True)),
    ("hunyuan-a13b", "hunyuan_v1_moe",
     sizes(4096, 3072, 32, 32, 8, 128167, head_dim=128, num_experts=64, moe_topk=[8] * 32,
                                             tie_word_embeddings=True)),
    ("ernie-4.5-0.3b", "ernie4_5", sizes(1024, 3072, 18, 16, 2, 103424, head_dim=128)),
    ("ernie-4.5-21b-a3b", "ernie4_5_moe",
     sizes(2560, 12288, 28, 20, 4, 103424, moe_num_experts=64, moe_k=6, moe_intermediate_size=1536,
                                                moe_num_shared_experts=2, moe_layer_start_index=1)),
    ("ernie-4.5-300b-a47b", "ernie4_5_moe",
     sizes(8192, 28672, 54, 64, 8, 103424, moe_num_experts=64, moe_k=8,
                                                  moe_intermediate_size=3584,
                                                  moe_num_shared_experts=0, moe_layer_start_index=3,
                                                  tie_word_embeddings=False)),
    ("dots.llm1", "dots1",
     sizes(4096, 10944, 62, 32, 32, 152064, moe_intermediate_size=1408, n_routed_experts=128,
                                 num_experts_per_tok=6, n_shared_experts=2, first_k_dense_replace=1,
                                 sliding_window=None)),
    ("minimax-m2", "minimax_m2",
     sizes(3072, 1536, 62, 48, 8, 200064, head_dim=128, num_local_experts=256,
           num_experts_per_tok=8,
                                       rotary_dim=64)),
    ("seed-oss-36b", "seed_oss", sizes(5120, 27648, 64, 80, 8, 155136, head_dim=128)),
    ("granite-3.1-8b", "granite", sizes(4096, 12800, 40, 32, 8, 49155, tie_word_embeddings=True)),
    ("granite-3.1-3b-a800m", "granitemoe",
     sizes(1536, 512, 32, 24, 8, 49155, num_local_experts=40, num_experts_per_tok=8,
                                                 tie_word_embeddings=True)),
    ("exaone-4.0-32b", "exaone4",
     sizes(5120, 27392, 64, 40, 8, 102400, head_dim=128, sliding_window=4096)),
    ("command-r-plus", "cohere", sizes(12288, 33792, 64, 96, 8, 256000, use_qk_norm=True)),
    ("command-r7b", "cohere2", sizes(4096, 14336, 32, 32, 8, 256000, sliding_window=4096)),
    ("phi-3.5-moe", "phimoe",
     sizes(4096, 6400, 32, 32, 8, 32064, attention_bias=True, lm_head_bias=True)),
    ("stablelm-2-12b", "stablelm",
     sizes(5120, 13824, 40, 32, 8, 100352, qk_layernorm=True, use_parallel_residual=True)),
    ("apertus-8b", "apertus", sizes(4096, 21504, 32, 32, 8, 131072)),
    ("apertus-70b", "apertus", sizes(8192, 43008, 80, 64, 8, 131072)),
    ("afm-4.5b", "arcee", sizes(2560, 18432, 36, 20, 4, 128004, head_dim=128)),
    ("minitron-8b", "nemotron", sizes(4096, 16384, 32, 48, 8, 256000, head_dim=128)),
    ("starcoder2-15b", "starcoder2", sizes(6144, 24576, 40, 48, 4, 49152, sliding_window=4096)),
    ("bloom-176b", "bloom",
     {"hidden_size": 14336, "n_layer": 70, "n_head": 112, "vocab_size": 250880}),
    ("roberta-large", "roberta",
     {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24,
      "num_attention_heads": 16,
                                  "vocab_size": 50265, "max_position_embeddings": 514,
                                  "type_vocab_size": 1}),
    ("xlm-roberta-base", "xlm-roberta",
     {"vocab_size": 250002, "max_position_embeddings": 514, "type_vocab_size": 1}),
    ("qwen3-vl-8b", "qwen3_vl",
     text("qwen3_vl", sizes(4096, 12288, 36, 32, 8, 151936, head_dim=128))),
    ("qwen3-vl-30b-a3b", "qwen3_vl_moe",
     dict(text("qwen3_vl_moe", sizes(2048, 6144, 48, 32, 4, 151936, head_dim=128,
                                                                         tie_word_embeddings=False,
                                                                         **experts(128, 8, 768))),
                                              tie_word_embeddings=False)),
    ("qwen2.5-vl-7b", "qwen2_5_vl",
     dict(sizes(3584, 18944, 28, 28, 4, 152064), vision_config={"depth": 32})),
    ("llava-1.5-7b", "llava", llava(sizes(4096, 11008, 32, 32, 32, 32064), vision_feature_layer=-2,
                                    vision_feature_select_strategy="default")),
    ("llava-1.5-13b", "llava", llava(sizes(5120, 13824, 40, 40, 40, 32064))),
    ("qwen2-vl-2b", "qwen2_vl", qwen2_vl(True, sizes(1536, 8960, 28, 12, 2, 151936))),
    ("qwen2-vl-7b", "qwen2_vl", qwen2_vl(False, sizes(3584, 18944, 28, 28, 4, 152064))),
    ("qwen2-audio-7b", "qwen2_audio",
     {"text_config": dict(sizes(4096, 11008, 32, 32, 32, 156032), model_type="qwen2",
                          rms_norm_eps=1e-5, rope_theta=1e4),
      "audio_config": {"d_model": 1280, "encoder_attention_heads": 20, "encoder_ffn_dim": 5120,
                       "encoder_layers": 32,
                       "num_mel_bins": 128, "max_source_positions": 1500}}),
]

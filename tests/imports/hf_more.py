"""Random configs of further classes for hf_counts.py: decoders like GPT, mixtures since 2025."""
from hf_configs import latent, sizes, text
from hf_hybrids import words

NEAR = ["sliding_attention", "full_attention"]


def draw_gpt(rng, kind, config):
    """Their own names of the sizes."""
    heads = config["num_attention_heads"]
    layers = config["num_hidden_layers"]
    width = 8 * heads * rng.randint(1, 6)
    vocabulary = config["vocab_size"]
    if kind == "gpt_neo":
        made = {"hidden_size": width, "num_layers": 2 * layers, "num_heads": heads,
                "vocab_size": vocabulary, "window_size": rng.randint(2, 50),
                "attention_types": [[["global", "local"], layers]],
                "max_position_embeddings": rng.randint(20, 300)}
        if rng.random() < 0.5:
            made["intermediate_size"] = rng.randint(40, 200)
        return made
    if kind == "mpt":
        return {"d_model": width, "n_heads": heads, "n_layers": layers, "vocab_size": vocabulary}
    made = {"n_embd": width, "n_head": heads, "n_layer": layers, "vocab_size": vocabulary}
    if rng.random() < 0.5:
        made["n_inner"] = rng.randint(40, 200)
    if kind == "gptj":
        made["rotary_dim"] = 4
    if kind == "gpt_bigcode":
        made.update(multi_query=rng.random() < 0.5, n_positions=rng.randint(20, 300))
    return made


def draw_more(rng, kind, config):
    layers, count = config["num_hidden_layers"], rng.randint(2, 6)
    if kind in ("gptj", "gpt_neo", "gpt_bigcode", "mpt"):
        return draw_gpt(rng, kind, config)
    for flag in MORE[kind]:
        if rng.random() < 0.5:
            config[flag] = rng.random() < 0.5
    if kind in ("granite_swa", "cwm", "vaultgemma", "ministral", "exaone_moe", "afmoe"):
        config["sliding_window"] = rng.randint(4, 99)
        if rng.random() < 0.4 or kind == "ministral":
            config["layer_types"] = (words(rng, layers, NEAR) if kind != "ministral"
                                     else ["sliding_attention"] * layers)
    if kind in ("exaone_moe", "solar_open", "afmoe", "hy_v3", "sarvam_moe", "flex_olmo"):
        key = {"solar_open": "n_routed_experts", "sarvam_moe": "n_routed_experts"}.get(
            kind, "num_experts")
        config.update({key: count, "num_experts_per_tok": 1})
        if kind != "flex_olmo":
            config["moe_intermediate_size"] = rng.randint(8, 60)
    if kind in ("exaone_moe", "afmoe", "hy_v3") and rng.random() < 0.6:
        config["num_shared_experts"] = rng.randint(1, 3)
    if kind == "sarvam_moe":
        config["first_k_dense_replace"] = rng.randint(0, layers)
    if kind in ("exaone_moe", "hy_v3") and rng.random() < 0.5:
        config["mlp_layer_types"] = words(rng, layers, ["dense", "sparse"])
    if kind == "afmoe":
        config["num_dense_layers"] = rng.randint(0, 3)
        if "layer_types" not in config:
            config["global_attn_every_n_layers"] = rng.randint(1, 5)
    if kind in ("sarvam_mla", "axk1", "minicpm3"):
        config.update(q_lora_rank=rng.randint(8, 40), kv_lora_rank=rng.randint(8, 40),
                      qk_rope_head_dim=2 * rng.randint(1, 8), qk_nope_head_dim=rng.randint(4, 20),
                      v_head_dim=rng.randint(4, 20),
                      num_key_value_heads=config["num_attention_heads"])
        config.pop("head_dim", None)
        if kind == "sarvam_mla":
            del config["q_lora_rank"]
        if kind != "minicpm3":
            config.update(n_routed_experts=count, num_experts_per_tok=1, n_group=1, topk_group=1,
                          moe_intermediate_size=rng.randint(8, 60),
                          n_shared_experts=rng.randint(1, 3))
            if kind == "axk1" and rng.random() < 0.6:
                config["mlp_layer_types"] = words(rng, layers, ["dense", "sparse"])
            if kind == "sarvam_mla":
                config["first_k_dense_replace"] = rng.randint(0, layers)
    elif kind in ("granite_swa", "nanochat", "flex_olmo", "phi", "persimmon"):
        config.pop("head_dim", None)
    else:
        config["head_dim"] = 2 * rng.randint(2, 20)
    if kind == "helium":  # its output's product is square
        config["head_dim"] = config["hidden_size"] // config["num_attention_heads"]
    if kind == "persimmon":
        config.pop("num_key_value_heads")
    return config


MORE = {"granite_swa": ["attention_bias", "mlp_bias"], "cwm": ["mlp_bias"],
        "exaone": ["attention_bias", "mlp_bias"], "helium": ["attention_bias", "mlp_bias"],
        "internlm3": ["attention_bias", "mlp_bias"],
        "hyperclovax": ["attention_bias", "mlp_bias", "use_post_norm"],
        "jais2": ["attention_bias", "mlp_bias"], "minicpm3": ["attention_bias", "mlp_bias"],
        "nanochat": ["attention_bias"], "vaultgemma": ["attention_bias"], "ministral": [],
        "gptj": [], "gpt_neo": [], "gpt_bigcode": [], "mpt": [], "phi": ["qk_layernorm"],
        "persimmon": ["qk_layernorm"], "exaone_moe": [], "solar_open": ["attention_bias"],
        "flex_olmo": ["attention_bias"], "afmoe": [],
        "hy_v3": ["attention_bias", "mlp_bias"], "sarvam_moe": ["use_qk_norm"],
        "sarvam_mla": ["attention_bias"], "axk1": ["attention_bias"]}

# Published ones, as in hf_configs.py.
PUBLISHED_MORE = [
    ("gpt-j-6b", "gptj", {}),
    ("gpt-neo-2.7b", "gpt_neo",
     {"hidden_size": 2560, "num_layers": 32, "num_heads": 20,
      "attention_types": [[["global", "local"], 16]]}),
    ("starcoder-15b", "gpt_bigcode",
     {"n_embd": 6144, "n_layer": 40, "n_head": 48, "n_inner": 24576, "n_positions": 8192,
      "vocab_size": 49152}),
    ("mpt-7b", "mpt", {"d_model": 4096, "n_heads": 32, "n_layers": 32, "vocab_size": 50432}),
    ("mpt-30b", "mpt", {"d_model": 7168, "n_heads": 64, "n_layers": 48, "vocab_size": 50432}),
    ("phi-2", "phi",
     {"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 32,
      "num_attention_heads": 32, "vocab_size": 51200}),
    ("persimmon-8b", "persimmon", {}),
    ("exaone-3.5-7.8b", "exaone", {}),
    ("internlm3-8b", "internlm3", {}),
    ("cwm-32b", "cwm", {}),
    ("minicpm3-4b", "minicpm3", {}),
    ("minicpm3 of 6 heads", "minicpm3",
     {"hidden_size": 96, "intermediate_size": 64, "num_hidden_layers": 2,
      "num_attention_heads": 6, "num_key_value_heads": 2, "vocab_size": 200}),
]

# ---- classes of data/import/hf/recent.c

PARTS = ["dense", "sparse"]


def draw_older(rng, kind, config):
    heads, layers, vocabulary = (config["num_attention_heads"], config["num_hidden_layers"],
                                 config["vocab_size"])
    width = 8 * heads * rng.randint(1, 6)
    if kind == "codegen":
        heads *= 4  # heads of a multiple of the ranks of its makers
        made = {"n_embd": 8 * heads, "n_head": heads, "n_layer": layers, "vocab_size": vocabulary,
                "rotary_dim": 4}
        if rng.random() < 0.5:
            made["n_inner"] = rng.randint(40, 200)
        return made
    if kind == "openai-gpt":
        return {"n_embd": width, "n_head": heads, "n_layer": layers, "vocab_size": vocabulary,
                "n_positions": rng.randint(20, 300)}
    if kind == "xglm":
        return {"d_model": width, "ffn_dim": rng.randint(40, 200), "num_layers": layers,
                "attention_heads": heads, "vocab_size": vocabulary}
    if kind == "rwkv":
        made = {"hidden_size": width, "num_hidden_layers": layers, "vocab_size": vocabulary,
                "tie_word_embeddings": rng.random() < 0.5}
        if rng.random() < 0.5:
            made["intermediate_size"] = rng.randint(40, 200)
        return made
    made = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads,
            "vocab_size": vocabulary}
    if kind == "gpt_neox_japanese":
        return dict(made, intermediate_multiple_size=rng.randint(1, 5),
                    tie_word_embeddings=rng.random() < 0.5)
    made["intermediate_size"] = rng.randint(40, 200)
    made["max_position_embeddings"] = rng.randint(20, 300)
    return made


def draw_experts(rng, kind, config):
    layers, count = config["num_hidden_layers"], rng.randint(2, 6)
    if kind == "aria_text":
        config.update(moe_num_experts=count, moe_topk=1, moe_num_shared_experts=rng.randint(1, 3))
        return
    key = "num_local_experts" if kind in ("minimax_m3_vl_text",) else "num_experts"
    config.update({key: count, "num_experts_per_tok": 1})
    if kind in ("mellum", "kolibri1", "flint"):
        config["moe_intermediate_size"] = rng.randint(8, 60)
    if kind in ("kolibri1", "flint"):
        config["shared_expert_intermediate_size"] = rng.randint(8, 60)
    if kind == "flint" and rng.random() < 0.5:
        config.update(mlp_only_layers=[i for i in range(layers) if rng.random() < 0.4],
                      decoder_sparse_step=rng.randint(1, 3))
    if kind in ("mellum", "minimax_m3_vl_text", "cohere2_moe") and rng.random() < 0.6:
        config["mlp_layer_types"] = words(rng, layers, PARTS)
    if kind == "cohere2_moe":
        config["num_shared_experts"] = rng.randint(0, 2)
        if "mlp_layer_types" in config or rng.random() < 0.5:
            config["prefix_dense_intermediate_size"] = rng.randint(8, 90)
        elif rng.random() < 0.7:
            config.update(first_k_dense_replace=rng.randint(0, layers),
                          prefix_dense_sliding_window_pattern=rng.randint(1, 3),
                          prefix_dense_intermediate_size=rng.randint(8, 90))
    if kind == "minimax_m3_vl_text":
        config.update(dense_intermediate_size=rng.randint(8, 90), rotary_dim=config["head_dim"],
                      shared_intermediate_size=rng.randint(8, 90))
        if rng.random() < 0.6:
            config.update(index_n_heads=config["num_key_value_heads"], index_head_dim=8,
                          layer_types=words(rng, layers, ["full_attention", "minimax_m3_sparse"]))


def draw_recent(rng, kind, config):
    if kind in OLDER:
        return draw_older(rng, kind, config)
    if kind == "flint":  # its two first layers are dense
        config["num_hidden_layers"] += 1
    layers = config["num_hidden_layers"]
    config["head_dim"] = 4 * rng.randint(1, 9)
    if kind in ("bitnet", "diffllama", "doge"):
        config.pop("head_dim")
    if kind == "bitnet":
        config["hidden_size"] -= config["hidden_size"] % (2 * config["num_attention_heads"])
    if kind == "diffllama":
        config["num_attention_heads"] = config["num_key_value_heads"] = 2 * rng.randint(1, 3)
        config["hidden_size"] = config["num_attention_heads"] * 4 * rng.randint(1, 6)
    for flag in RECENT[kind]:
        if rng.random() < 0.5:
            config[flag] = rng.random() < 0.5
    if kind in ("mellum", "kolibri1", "flint", "aria_text", "cohere2_moe", "minimax_m3_vl_text"):
        draw_experts(rng, kind, config)
    if kind in ("mellum", "kolibri1", "flint", "cohere2_moe", "gemma4_unified_text", "lfm3"):
        config["sliding_window"] = rng.randint(4, 99)
    if kind in ("mellum", "kolibri1", "flint", "cohere2_moe") and rng.random() < 0.5 and \
            "first_k_dense_replace" not in config:
        config["layer_types"] = words(rng, layers, NEAR)
    if kind == "lara_mini":
        draw_experts(rng, kind, config)
        heads = rng.randint(1, 3)
        config.update(moe_intermediate_size=rng.randint(8, 60), sliding_window=rng.randint(4, 99),
                      shared_expert_intermediate_size=rng.randint(8, 60),
                      linear_num_key_heads=heads, linear_num_value_heads=heads * rng.randint(1, 3),
                      linear_key_head_dim=rng.randint(4, 20),
                      linear_value_head_dim=rng.randint(4, 20),
                      linear_conv_kernel_dim=rng.randint(1, 6))
        config.pop("intermediate_size", None)
        if rng.random() < 0.5:
            config["layer_types"] = words(rng, layers, NEAR + ["linear_attention"])
    if kind == "cohere_compass_text":
        config.pop("head_dim")
        config["sliding_window"] = rng.randint(4, 99)
        config["rope_parameters"] = {near: {"rope_type": "default", "rope_theta": 1e4}
                                     for near in NEAR}
        if rng.random() < 0.5:
            config["layer_types"] = words(rng, layers, NEAR)
    if kind == "lfm3":
        config["hidden_size"] = config["num_attention_heads"] * config["head_dim"]
        config["conv_L_cache"] = rng.randint(2, 8)
        if rng.random() < 0.5:
            config["layer_types"] = words(rng, layers, NEAR + ["conv"])
    if kind == "gemma4_unified_text":
        config.update(global_head_dim=config["head_dim"] + 2 * rng.randint(1, 9),
                      attention_k_eq_v=rng.random() < 0.6,
                      num_global_key_value_heads=rng.choice([None, 1]))
    return config


OLDER = ["codegen", "biogpt", "xglm", "gpt_neox_japanese", "openai-gpt", "rwkv", "camembert",
         "data2vec-text"]
RECENT = {"mellum": ["attention_bias"], "kolibri1": [], "flint": ["attention_bias"],
          "aria_text": ["attention_bias", "mlp_bias"], "cohere2_moe": ["attention_bias"],
          "lara_mini": ["attention_bias"], "cohere_compass_text": ["attention_bias"],
          "minimax_m3_vl_text": [], "gemma4_unified_text": ["attention_bias"],
          "apertus1p5_text": ["attention_bias"], "iquestcoder": ["attention_bias", "mlp_bias"],
          "bitnet": ["attention_bias"], "diffllama": ["attention_bias"],
          "doge": ["attention_bias", "mlp_bias"],
          "lfm3": ["attention_bias", "conv_bias", "use_sandwich_norm", "use_attention_gate"],
          **{kind: [] for kind in OLDER}}

# Published ones, as in hf_configs.py.
PUBLISHED_RECENT = [
    ("mellum", "mellum", {}), ("flint", "flint", {}), ("kolibri-1", "kolibri1", {}),
    ("lara-mini", "lara_mini", {}), ("cohere-compass", "cohere_compass_text",
     {"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 1e4}}}),
    ("iquestcoder-40b", "iquestcoder", {}), ("minimax-m3", "minimax_m3_vl_text", {}),
    ("codegen-6b", "codegen", {}), ("rwkv-7b", "rwkv", {}), ("xglm-564m", "xglm", {}),
    ("biogpt", "biogpt", {}), ("bitnet-2b", "bitnet", {}),
]


# ---- encoders and encoder-decoders

PAIRS = ["bart", "mbart", "pegasus", "marian", "m2m_100", "blenderbot", "blenderbot-small"]
SEQUENCES = PAIRS + ["umt5", "eurobert", "ernie", "distilbert"]


def draw_sequence(rng, kind):
    heads = rng.randint(1, 4)
    width = heads * 2 * rng.randint(4, 12)
    if kind in PAIRS:
        config = {"d_model": width, "encoder_layers": rng.randint(1, 4),
                  "decoder_layers": rng.randint(1, 4), "encoder_attention_heads": heads,
                  "decoder_attention_heads": rng.choice([1, heads]),
                  "encoder_ffn_dim": rng.randint(20, 90), "decoder_ffn_dim": rng.randint(20, 90),
                  "max_position_embeddings": rng.randint(20, 90),
                  "vocab_size": rng.randint(50, 300)}
        config["decoder_start_token_id"] = 0
        return config
    if kind == "distilbert":
        return {"dim": width, "n_layers": rng.randint(1, 4), "n_heads": heads,
                "hidden_dim": rng.randint(20, 90), "vocab_size": rng.randint(50, 300),
                "max_position_embeddings": rng.randint(20, 90)}
    if kind == "umt5":
        return {"d_model": width, "d_ff": rng.randint(20, 90), "d_kv": 2 * rng.randint(2, 9),
                "num_heads": heads, "num_layers": rng.randint(1, 4),
                "num_decoder_layers": rng.randint(1, 4), "vocab_size": rng.randint(50, 300),
                "relative_attention_num_buckets": 2 * rng.randint(4, 20)}
    config = {"hidden_size": width, "intermediate_size": rng.randint(20, 90),
              "num_hidden_layers": rng.randint(1, 4), "num_attention_heads": heads,
              "vocab_size": rng.randint(50, 300)}
    if kind == "eurobert":
        config.update(num_key_value_heads=rng.choice([1, heads]),
                      attention_bias=rng.random() < 0.5, mlp_bias=rng.random() < 0.5,
                      tie_word_embeddings=rng.random() < 0.5)
    else:
        config.update(use_task_id=rng.random() < 0.5, task_type_vocab_size=rng.randint(1, 5),
                      type_vocab_size=rng.randint(1, 5))
    return config


# Much used ones of 2025 and 2026, from the configs beside their weights.
PUBLISHED_USED = [
    ("qwen2.5-1.5b", "qwen2", sizes(1536, 8960, 28, 12, 2, 151936, tie_word_embeddings=True)),
    ("qwen2.5-3b", "qwen2", sizes(2048, 11008, 36, 16, 2, 151936, tie_word_embeddings=True)),
    ("qwen2.5-14b", "qwen2", sizes(5120, 13824, 48, 40, 8, 152064)),
    ("qwen2.5-32b", "qwen2", sizes(5120, 27648, 64, 40, 8, 152064)),
    ("qwen3-1.7b", "qwen3",
     sizes(2048, 6144, 28, 16, 8, 151936, head_dim=128, tie_word_embeddings=True)),
    ("qwen3-4b", "qwen3",
     sizes(2560, 9728, 36, 32, 8, 151936, head_dim=128, tie_word_embeddings=True)),
    ("qwen3-14b", "qwen3", sizes(5120, 17408, 40, 40, 8, 151936, head_dim=128)),
    ("qwen3-coder-480b-a35b", "qwen3_moe",
     sizes(6144, 8192, 62, 96, 8, 151936, head_dim=128, num_experts=160, num_experts_per_tok=8,
           moe_intermediate_size=2560)),
    ("qwen3.5-27b", "qwen3_5_text",
     sizes(5120, 17408, 64, 24, 4, 248320, head_dim=256, linear_num_value_heads=48)),
    ("qwen3.6-27b", "qwen3_5_text",
     sizes(5120, 17408, 64, 24, 4, 248320, head_dim=256, linear_num_value_heads=48)),
    *[("qwen3.%d-35b-a3b" % version, "qwen3_5_moe_text",
       {"hidden_size": 2048, "num_hidden_layers": 40, "num_attention_heads": 16,
        "num_key_value_heads": 2, "head_dim": 256, "vocab_size": 248320, "num_experts": 256,
        "num_experts_per_tok": 8, "moe_intermediate_size": 512,
        "shared_expert_intermediate_size": 512, "linear_num_value_heads": 32})
      for version in (5, 6)],
    *[("qwen3.5-%s" % name, "qwen3_5_moe_text",
       {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": 32,
        "num_key_value_heads": 2, "head_dim": 256, "vocab_size": 248320, "num_experts": count,
        "num_experts_per_tok": each, "moe_intermediate_size": 1024,
        "shared_expert_intermediate_size": 1024, "linear_num_value_heads": 64})
      for name, hidden, layers, count, each in (("122b-a10b", 3072, 48, 256, 8),
                                                ("397b-a17b", 4096, 60, 512, 10))],
    ("moonlight-16b-a3b", "deepseek_v3",
     sizes(2048, 11264, 27, 16, 16, 163840, **latent(None, 1408, 64, 6, 2, 1))),
    ("gemma-3-12b", "gemma3",
     text("gemma3", {"hidden_size": 3840, "intermediate_size": 15360, "num_hidden_layers": 48,
                     "num_attention_heads": 16, "num_key_value_heads": 8,
                     "sliding_window": 1024})),
    ("glm-5.2", "glm_moe_dsa",
     {"num_hidden_layers": 78, "first_k_dense_replace": 3,
      "indexer_types": ["full" if i < 3 or i % 4 == 2 else "shared" for i in range(78)]}),
    ("nemotron-3-nano-30b-a3b", "nemotron_h",
     {"hidden_size": 2688, "intermediate_size": 1856, "num_attention_heads": 32,
      "num_key_value_heads": 2, "head_dim": 128, "vocab_size": 131072, "mamba_num_heads": 64,
      "mamba_head_dim": 64, "n_groups": 8, "ssm_state_size": 128, "n_routed_experts": 128,
      "num_experts_per_tok": 6, "moe_intermediate_size": 1856,
      "moe_shared_expert_intermediate_size": 3712,
      "hybrid_override_pattern": "MEMEM*" + "EMEMEM*" * 4 + "EMEMEMEM*" + "EMEMEMEME"}),
    ("nemotron-3-super-120b-a12b", "nemotron_h",
     {"hidden_size": 4096, "intermediate_size": 2688, "num_attention_heads": 32,
      "num_key_value_heads": 2, "head_dim": 128, "vocab_size": 131072, "mamba_num_heads": 128,
      "mamba_head_dim": 64, "n_groups": 8, "ssm_state_size": 128, "n_routed_experts": 512,
      "num_experts_per_tok": 22, "moe_intermediate_size": 2688, "moe_latent_size": 1024,
      "moe_shared_expert_intermediate_size": 5376,
      "hybrid_override_pattern": "MEMEMEM*" + "EMEMEMEM*" * 2 + "EMEMEMEMEM*" * 4 + "EMEMEMEM*"
                                 + "EMEMEMEME"}),
    ("phi-4-mini", "phi3",
     sizes(3072, 8192, 32, 24, 8, 200064, tie_word_embeddings=True, partial_rotary_factor=0.75)),
    ("tinyllama-1.1b", "llama", sizes(2048, 5632, 22, 32, 4, 32000)),
    ("smollm2-135m", "llama", sizes(576, 1536, 30, 9, 3, 49152, tie_word_embeddings=True)),
    ("smollm2-360m", "llama", sizes(960, 2560, 32, 15, 5, 49152, tie_word_embeddings=True)),
    ("smollm2-1.7b", "llama", sizes(2048, 8192, 24, 32, 32, 49152, tie_word_embeddings=True)),
]


# ---- texts beside images, sound, one layer for all, what sorts pairs of texts: by architectures

WIDE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
        "intermediate_size": 4096}
PUBLISHED_BUILT = [
    (name, kind, {"architectures": [built], **config}) for name, kind, built, config in [
        ("clip-vit-base-patch32", "clip", "CLIPModel", {}),
        ("clip-text", "clip_text_model", "CLIPTextModel", {}),
        ("clip-text-large", "clip_text_model", "CLIPTextModelWithProjection",
         {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12,
          "projection_dim": 768}),
        ("siglip-base-patch16-224", "siglip", "SiglipModel", {}),
        ("siglip-text", "siglip_text_model", "SiglipTextModel", {}),
        ("wav2vec2-base", "wav2vec2", "Wav2Vec2ForCTC", {}),
        ("wav2vec2-large", "wav2vec2", "Wav2Vec2ForSequenceClassification",
         {**WIDE, "num_labels": 7, "use_weighted_layer_sum": True, "mask_time_prob": 0.0}),
        ("hubert-large", "hubert", "HubertForCTC",
         {**WIDE, "feat_extract_norm": "layer", "conv_bias": True, "do_stable_layer_norm": True}),
        ("hubert-base", "hubert", "HubertModel", {}),
        ("wavlm-base", "wavlm", "WavLMModel", {}),
        ("data2vec-audio-base", "data2vec-audio", "Data2VecAudioForCTC", {}),
        ("unispeech-sat-base", "unispeech-sat", "UniSpeechSatForSequenceClassification", {}),
        ("whisper-tiny", "whisper", "WhisperForConditionalGeneration", {}),
        ("whisper-large-v3-turbo", "whisper", "WhisperForConditionalGeneration",
         {"d_model": 1280, "encoder_layers": 32, "decoder_layers": 4,
          "encoder_attention_heads": 20, "decoder_attention_heads": 20, "encoder_ffn_dim": 5120,
          "decoder_ffn_dim": 5120, "num_mel_bins": 128, "vocab_size": 51866}),
        ("s2t-small", "speech_to_text", "Speech2TextForConditionalGeneration", {}),
        ("s2t-further", "speech_to_text", "Speech2TextForConditionalGeneration",
         {"num_conv_layers": 3, "conv_kernel_sizes": [5, 3, 3]}),
        ("albert-xxlarge", "albert", "AlbertForMaskedLM", {}),
        ("albert-model", "albert", "AlbertModel", {}),
        ("albert-base-sorts", "albert", "AlbertForSequenceClassification",
         {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072}),
        ("albert-pairs", "albert", "AlbertForPreTraining", {}),
        ("bert-pairs", "bert", "BertForPreTraining", {}),
        ("megatron-bert-pairs", "megatron-bert", "MegatronBertForPreTraining", {}),
        ("gemma-3n-model", "gemma3n_text", "Gemma3nTextModel", {}),
    ]]


# ---- models of several modalities whose text alone is read, with both keys that say whether head
# and embedding are one matrix; further classes of 2026

PLAIN = "ForConditionalGeneration"
TEXTS = {"glm4v": "Glm4v" + PLAIN, "glm_ocr": "GlmOcr" + PLAIN, "glm4v_moe": "Glm4vMoe" + PLAIN,
         "granite_docling": "GraniteDocling" + PLAIN, "hunyuan_vl": "HunYuanVL" + PLAIN,
         "paddleocr_vl": "PaddleOCRVL" + PLAIN, "molmo2": "Molmo2" + PLAIN,
         "cosmos3_edge": "Cosmos3EdgeForConditionalGeneration",
         "mistral_large4": "MistralLarge4" + PLAIN, "muse_glimmer": "MuseGlimmer" + PLAIN,
         "muse_spark": "MuseSpark" + PLAIN}
FURTHER = ["beam", "axk2", "modernbert-decoder", "modernbert", "mllama_text_model", "deberta-v2"]
# Of the parts that are not text's.
PARTS = ["visual", "vision", "projector", "patch", "merging", "image", "merger", "audio"]


def draw_latents(rng, text):
    for key in ("head_dim", "num_key_value_heads", "num_local_experts", "intermediate_size"):
        text.pop(key, None)
    layers = text["num_hidden_layers"]
    text.update(kv_lora_rank=rng.randint(8, 40), qk_rope_head_dim=2 * rng.randint(1, 8),
                qk_nope_head_dim=rng.randint(4, 20), v_head_dim=rng.randint(4, 20),
                intermediate_size=rng.randint(8, 90), moe_intermediate_size=rng.randint(8, 40),
                n_routed_experts=rng.randint(2, 6), num_experts_per_tok=1,
                n_shared_experts=rng.randint(1, 3), index_head_dim=2 * rng.randint(8, 20),
                index_n_heads=rng.randint(1, 5), attention_bias=False,
                num_key_value_heads=text["num_attention_heads"],
                mlp_layer_types=words(rng, layers, ["dense", "sparse"]))


def draw_further(rng, kind, config):
    layers = config["num_hidden_layers"]
    if kind == "mllama_text_model":
        config.pop("head_dim", None)
        config["cross_attention_layers"] = [i for i in range(layers) if rng.random() < 0.3]
        return config
    if kind == "deberta-v2":
        for key in ("head_dim", "num_key_value_heads", "tie_word_embeddings"):
            config.pop(key, None)
        config.update(relative_attention=rng.random() < 0.8, share_att_key=rng.random() < 0.5,
                      position_biased_input=rng.random() < 0.5,
                      pos_att_type=rng.choice(["p2c|c2p", ["c2p"], ["p2c", "c2p"], None]),
                      norm_rel_ebd=rng.choice(["layer_norm", "none"]),
                      position_buckets=rng.choice([-1, rng.randint(8, 40)]),
                      max_relative_positions=rng.choice([-1, rng.randint(8, 90)]),
                      max_position_embeddings=rng.randint(20, 99), legacy=rng.random() < 0.7)
        if rng.random() < 0.5:
            config.update(type_vocab_size=rng.randint(0, 3))
        if rng.random() < 0.4:
            config.update(conv_kernel_size=rng.randint(1, 4))
        return config
    if kind.startswith("modernbert"):
        config.pop("head_dim", None)
        config.pop("num_key_value_heads", None)
        config.update(attention_bias=rng.random() < 0.4, mlp_bias=rng.random() < 0.4,
                      norm_bias=rng.random() < 0.4, decoder_bias=rng.random() < 0.7,
                      classifier_bias=rng.random() < 0.4, local_attention=2 * rng.randint(2, 60))
        return config
    config.update(mlp_layer_types=words(rng, layers, ["dense", "sparse"]), num_experts_per_tok=1,
                  moe_intermediate_size=rng.randint(8, 40))
    if kind == "beam":
        config.setdefault("head_dim", 8)
        config.update(num_experts=rng.randint(2, 6), sliding_window=rng.randint(4, 99), n_group=1,
                      topk_group=1)
        if rng.random() < 0.5:
            config["layer_types"] = words(rng, layers, NEAR)
        return config
    draw_latents(rng, config)
    config.update(q_lora_rank=rng.randint(8, 40), gated_norm_rank=rng.randint(1, 9))
    return config


def draw_text(rng, kind, config):
    text = dict(config, model_type=kind + "_text")
    layers = text["num_hidden_layers"]
    text.setdefault("head_dim", 8)
    text.pop("tie_word_embeddings", None)
    if kind in ("glm4v", "glm_ocr", "glm4v_moe", "granite_docling"):
        text.pop("head_dim")
    if kind in ("granite_docling", "molmo2", "glm4v_moe"):
        text["attention_bias"] = rng.random() < 0.5
    if kind in ("granite_docling", "cosmos3_edge"):
        text["mlp_bias"] = rng.random() < 0.5
    if kind == "paddleocr_vl":
        text["use_bias"] = rng.random() < 0.5
    if kind == "molmo2":
        text.update(qk_norm_type=rng.choice(["qwen3", "olmo"]),
                    additional_vocab_size=rng.randint(1, 40))
    if kind == "glm4v_moe":
        text.update(n_routed_experts=4, num_experts_per_tok=2, n_shared_experts=rng.randint(1, 3),
                    moe_intermediate_size=rng.randint(8, 60), n_group=1, topk_group=1,
                    first_k_dense_replace=rng.randint(0, layers))
    if kind.startswith("muse"):
        text["sliding_window"] = rng.randint(4, 99)
        if rng.random() < 0.5:
            text["layer_types"] = words(rng, layers, NEAR)
    if kind == "muse_spark":
        text.update(num_local_experts=rng.randint(2, 6), num_experts_per_tok=1,
                    moe_hidden_size=rng.randint(8, 60), moe_intermediate_size=rng.randint(8, 60),
                    mlp_layer_types=words(rng, layers, ["dense", "sparse"]))
    if kind == "mistral_large4":
        draw_latents(rng, text)
        text["no_rope_layers"] = words(rng, layers, [0, 1])
        if rng.random() < 0.5:
            text["indexer_types"] = ["full"] + words(rng, layers - 1, ["full", "shared"])
    made = {"text_config": text}
    if kind == "muse_spark":
        made["audio_config"] = {"out_hidden_size": text["hidden_size"]}
    if rng.random() < 0.6:
        made["tie_word_embeddings"] = rng.random() < 0.5
    if rng.random() < 0.6 and kind not in ("glm4v", "glm_ocr"):
        text["tie_word_embeddings"] = rng.random() < 0.5
    return made

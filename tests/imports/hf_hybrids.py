"""Random configs of classes with linear attention, state spaces or convolutions, for hf_counts.py:
sizes that transformers accepts, keys left out at random where their defaults go with the rest."""


import random


def words(rng, count, names):
    return [rng.choice(names) for _ in range(count)]


def draw_states(rng, config, prefix):
    """Mamba 2: the inner width is heads x width."""
    heads, width = rng.choice([2, 4, 8]), rng.choice([4, 8, 16])
    expand = rng.choice([1, 2])
    config["hidden_size"] = heads * width // expand
    names = {"mamba_": ["n_heads", "d_head", "n_groups", "d_state", "d_conv"],
             "": ["num_heads", "head_dim", "n_groups", "state_size", "conv_kernel"]}[prefix]
    config.update({prefix + names[0]: heads, prefix + names[1]: width,
                   prefix + names[2]: rng.choice([1, 2]), prefix + names[3]: rng.choice([8, 16]),
                   prefix + names[4]: rng.randint(2, 5), prefix + "expand": expand})
    if prefix and rng.random() < 0.4:
        config[prefix + "d_head"] = "auto"
    if rng.random() < 0.3:
        config[prefix + ("proj_bias" if prefix else "use_bias")] = True
    # attention of any width of heads
    config["num_attention_heads"] = rng.choice([1, 2])
    config["num_key_value_heads"] = 1
    config.pop("head_dim" if prefix else "", None)
    return config


def draw_delta(rng, config):
    heads = rng.choice([1, 2, 4])
    config.update(linear_num_key_heads=heads, linear_num_value_heads=heads * rng.randint(1, 3),
                  linear_key_head_dim=4 * rng.randint(1, 5),
                  linear_value_head_dim=4 * rng.randint(1, 5),
                  linear_conv_kernel_dim=rng.randint(2, 5))
    if rng.random() < 0.5:
        config["layer_types"] = words(rng, config["num_hidden_layers"],
                                      ["linear_attention", "full_attention"])
    return config


def draw_jamba(rng, config):
    config.pop("head_dim", None)
    config.update(attn_layer_period=rng.randint(2, 4), attn_layer_offset=rng.randint(0, 1),
                  expert_layer_period=rng.randint(1, 3), expert_layer_offset=0,
                  num_experts=rng.randint(1, 5), num_experts_per_tok=1,
                  mamba_d_state=rng.choice([4, 16]), mamba_expand=rng.randint(1, 3))
    if rng.random() < 0.5:
        config["mamba_dt_rank"] = rng.choice(["auto", rng.randint(1, 20)])
    return config


def draw_mamba(rng, config):
    return {"hidden_size": 4 * rng.randint(4, 30), "vocab_size": config["vocab_size"],
            "num_hidden_layers": config["num_hidden_layers"], "state_size": rng.choice([4, 16]),
            "expand": rng.randint(1, 3), "conv_kernel": rng.randint(2, 5),
            "use_bias": rng.random() < 0.3, "tie_word_embeddings": rng.random() < 0.5}


def draw_nemotron_h(rng, config):
    heads, width = rng.choice([2, 4]), rng.choice([4, 8])
    count = config.pop("num_hidden_layers")
    config.update(mamba_num_heads=heads, mamba_head_dim=width, n_groups=rng.choice([1, 2]),
                  ssm_state_size=rng.choice([8, 16]), conv_kernel=rng.randint(2, 5),
                  hidden_size=heads * width // 2, expand=2,
                  head_dim=4 * rng.randint(1, 5), n_routed_experts=rng.randint(1, 6),
                  num_experts_per_tok=1, moe_intermediate_size=rng.randint(8, 40),
                  moe_shared_expert_intermediate_size=rng.randint(8, 40),
                  mlp_bias=False, use_bias=rng.random() < 0.3)
    own = random.Random(repr(config))  # the draws of all else stay as they are
    if own.random() < 0.5:
        config["moe_latent_size"] = own.randint(4, 40)
    if rng.random() < 0.5:
        config["hybrid_override_pattern"] = "M*" + "".join(words(rng, count, "M*-E"))
    else:
        config["layers_block_type"] = words(rng, count, ["linear_attention", "full_attention",
                                                         "mlp", "moe"]) + ["mlp"]
    return config


def draw_minimax(rng, config):
    config.update(num_local_experts=rng.randint(2, 5), num_experts_per_tok=2)
    if rng.random() < 0.5:
        config["layer_types"] = words(rng, config["num_hidden_layers"],
                                      ["linear_attention", "full_attention"])
    return config


def draw_lfm2(rng, kind, config):
    config.pop("head_dim", None)
    count = config["num_hidden_layers"]
    config.update(conv_L_cache=rng.randint(2, 5), conv_bias=rng.random() < 0.3)
    if kind == "lfm2_moe":
        config.update(num_experts=rng.randint(2, 6), num_experts_per_tok=1,
                      num_dense_layers=rng.randint(0, 3), moe_intermediate_size=rng.randint(8, 60))
    elif rng.random() < 0.5:
        config.update(block_auto_adjust_ff_dim=rng.random() < 0.5, block_multiple_of=8,
                      block_ffn_dim_multiplier=rng.choice([1.0, 1.3]))
    if kind == "lfm2_moe" or rng.random() < 0.5:
        config["layer_types"] = words(rng, count, ["conv", "full_attention"])
    elif rng.random() < 0.5:
        config["full_attn_idxs"] = [i for i in range(count) if rng.random() < 0.5]
    return config


def draw_hybrid(rng, kind, config):
    if kind in ("qwen3_5_text", "qwen3_5_moe_text", "olmo_hybrid"):
        config = draw_delta(rng, config)
        if kind == "qwen3_5_moe_text":
            config.update(num_experts=rng.randint(2, 6), num_experts_per_tok=2,
                          moe_intermediate_size=rng.randint(8, 60),
                          shared_expert_intermediate_size=rng.randint(8, 60))
        if kind == "olmo_hybrid":
            config.pop("head_dim", None)
            config["layer_types"] = ["linear_attention", "full_attention"] + words(
                rng, config["num_hidden_layers"], ["linear_attention", "full_attention"])
            config["num_hidden_layers"] += 2
        return config
    if kind == "minimax":
        return draw_minimax(rng, config)
    if kind == "jamba":
        return draw_jamba(rng, config)
    if kind in ("mamba", "falcon_mamba"):
        return draw_mamba(rng, config)
    if kind == "nemotron_h":
        return draw_nemotron_h(rng, config)
    if kind in ("lfm2", "lfm2_moe"):
        return draw_lfm2(rng, kind, config)
    config = draw_states(rng, config, "" if kind == "mamba2" else "mamba_")
    count = config["num_hidden_layers"]
    if kind == "mamba2":
        for key in ("num_attention_heads", "num_key_value_heads", "intermediate_size"):
            config.pop(key, None)
    if kind == "bamba" and rng.random() < 0.7:
        config["attn_layer_indices"] = [i for i in range(count) if rng.random() < 0.4]
    if kind == "granitemoehybrid":
        config.update(num_local_experts=rng.choice([0, 2, 4]), num_experts_per_tok=1,
                      shared_intermediate_size=rng.randint(8, 60),
                      layer_types=words(rng, count, ["mamba", "attention"]))
    if kind == "falcon_h1":
        config.update(mamba_d_ssm=config["hidden_size"] * config["mamba_expand"],
                      mamba_rms_norm=rng.random() < 0.5, projectors_bias=rng.random() < 0.3)
    return config


HYBRIDS = ["qwen3_5_text", "qwen3_5_moe_text", "olmo_hybrid", "minimax", "bamba",
           "granitemoehybrid", "falcon_h1", "nemotron_h", "jamba", "mamba", "falcon_mamba",
           "mamba2", "lfm2", "lfm2_moe"]

# Published ones, as in hf_configs.py.
PUBLISHED_HYBRIDS = [
    ("nemotron-h-8b", "nemotron_h",
     {"hidden_size": 4096, "intermediate_size": 21504, "num_attention_heads": 32,
      "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 131072, "mamba_num_heads": 128,
      "mamba_head_dim": 64, "n_groups": 8, "ssm_state_size": 128,
      "hybrid_override_pattern": "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-"}),
    ("nemotron-nano-9b-v2", "nemotron_h",
     {"hidden_size": 4480, "intermediate_size": 15680, "num_attention_heads": 40,
      "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 131072, "mamba_num_heads": 128,
      "mamba_head_dim": 80, "n_groups": 8, "ssm_state_size": 128,
      "hybrid_override_pattern": "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-"}),
    ("bamba-9b", "bamba",
     {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
      "mamba_n_heads": 128, "mamba_d_head": 64, "mamba_n_groups": 1, "mamba_d_state": 128,
      "attn_layer_indices": [9, 18, 27]}),
    ("jamba-v0.1", "jamba", {"num_hidden_layers": 32, "vocab_size": 65536}),
    ("minimax-text-01", "minimax",
     {"hidden_size": 6144, "intermediate_size": 9216, "num_hidden_layers": 80,
      "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 200064,
      "num_local_experts": 32, "num_experts_per_tok": 2,
      "layer_types": (["linear_attention"] * 7 + ["full_attention"]) * 10}),
    ("falcon-mamba-7b", "falcon_mamba",
     {"hidden_size": 4096, "num_hidden_layers": 64, "state_size": 16, "vocab_size": 65024,
      "tie_word_embeddings": False}),
    ("mamba-2.8b", "mamba",
     {"hidden_size": 2560, "num_hidden_layers": 64, "state_size": 16, "vocab_size": 50280}),
    ("mamba-codestral-7b", "mamba2",
     {"hidden_size": 4096, "num_hidden_layers": 64, "num_heads": 128, "head_dim": 64,
      "n_groups": 8, "state_size": 128, "vocab_size": 32768}),
    ("lfm2-1.2b", "lfm2",
     {"hidden_size": 2048, "intermediate_size": 12288, "num_hidden_layers": 16,
      "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 65536,
      "full_attn_idxs": [2, 5, 8, 10, 12, 14]}),
]

"""Configs of classes whose layers differ in their heads, and of LongCat, for hf_counts.py."""
import random

from hf_hybrids import words

NEAR = ["full_attention", "sliding_attention"]
PARTS = ["dense", "sparse"]


def draw_mixture(rng, config):
    count = rng.randint(2, 6)
    config.update(n_routed_experts=count, num_experts_per_tok=1,
                  moe_intermediate_size=rng.randint(8, 60))


def draw_widths(rng, kind, config):
    layers = config["num_hidden_layers"]
    config["head_dim"] = 2 * rng.randint(2, 20)
    if kind == "mimo_v2_flash":
        config["num_attention_heads"] *= 2
        draw_mixture(rng, config)
        config.update(v_head_dim=2 * rng.randint(2, 20), n_group=1, topk_group=1,
                      attention_bias=rng.random() < 0.3)
    if kind == "laguna":
        config["num_attention_heads_per_layer"] = [
            config["num_key_value_heads"] * rng.randint(1, 4) for _ in range(layers)]
        config.update(num_experts=rng.randint(2, 6), num_experts_per_tok=1,
                      moe_intermediate_size=rng.randint(8, 60),
                      shared_expert_intermediate_size=rng.randint(8, 60),
                      gating=rng.choice([True, "per-head", "per-element"]))
    if kind in ("mimo_v2_flash", "laguna") and rng.random() < 0.7:
        config["mlp_layer_types"] = words(rng, layers, PARTS)
    if kind == "gemma4_text":
        config.update(hidden_size_per_layer_input=0,
                      global_head_dim=config["head_dim"] + 2 * rng.randint(1, 9),
                      attention_k_eq_v=rng.random() < 0.6, enable_moe_block=rng.random() < 0.5,
                      num_global_key_value_heads=rng.choice([None, 1]))
        if config["enable_moe_block"]:
            config.update(num_experts=rng.randint(2, 6), top_k_experts=1,
                          moe_intermediate_size=rng.randint(8, 60))
        if rng.random() < 0.5:
            config["enable_moe_block"] = False
            config.update(hidden_size_per_layer_input=rng.choice([0, rng.randint(4, 20)]),
                          vocab_size_per_layer_input=rng.randint(30, 200), use_double_wide_mlp=
                          rng.random() < 0.5)
    if kind == "gemma3n_text":
        config.update(hidden_size_per_layer_input=rng.randint(4, 20), laurel_rank=rng.randint(2, 9),
                      vocab_size_per_layer_input=rng.randint(30, 200),
                      altup_num_inputs=rng.randint(1, 5), sliding_window=rng.randint(4, 99),
                      activation_sparsity_pattern=[0.0] * layers)
        if rng.random() < 0.5:
            config["intermediate_size"] = [rng.randint(8, 99) for _ in range(layers)]
    if kind == "bailing_hybrid":
        draw_mixture(rng, config)
        config["num_local_experts"] = config.pop("n_routed_experts")
        config.update(q_lora_rank=rng.choice([None, rng.randint(8, 40)]), n_group=1, topk_group=1,
                      kv_lora_rank=rng.randint(8, 40), qk_rope_head_dim=2 * rng.randint(1, 8),
                      qk_nope_head_dim=rng.randint(4, 20), v_head_dim=rng.randint(4, 20),
                      layer_group_size=rng.randint(1, 4), short_conv_kernel_size=rng.randint(2, 5),
                      first_k_dense_replace=rng.randint(0, layers), attention_bias=
                      rng.random() < 0.3, n_shared_experts=rng.randint(1, 3))
        config.pop("num_key_value_heads")
        if rng.random() < 0.5:
            config["mlp_layer_types"] = words(rng, layers, PARTS)
    if kind in ("gemma4_text", "mimo_v2_flash", "laguna", "gemma3n_text"):
        config["sliding_window"] = rng.randint(4, 99)
        if rng.random() < 0.6:
            config["layer_types"] = words(rng, layers, NEAR)
            config["layer_types"][-1] = "full_attention"
    if kind in ("gemma4_text", "gemma3n_text"):  # one of each kind that reuses keys made them
        config["num_kv_shared_layers"] = 0
        types, count = config.get("layer_types"), rng.randint(0, layers - 1)
        if types and set(types[:layers - count]) == set(types):
            config["num_kv_shared_layers"] = count
    if kind in ("longcat_flash", "youtu"):
        config.update(q_lora_rank=rng.randint(8, 40), kv_lora_rank=rng.randint(8, 40),
                      qk_rope_head_dim=2 * rng.randint(1, 8), qk_nope_head_dim=rng.randint(4, 20),
                      v_head_dim=rng.randint(4, 20),
                      num_key_value_heads=config["num_attention_heads"])
        config.pop("head_dim")
    if kind == "longcat_flash":
        config["num_layers"] = config.pop("num_hidden_layers")
        config["ffn_hidden_size"] = config.pop("intermediate_size")
        config.update(n_routed_experts=rng.randint(2, 6), moe_topk=2,
                      zero_expert_num=random.Random(config["hidden_size"]).randint(0, 3),
                      expert_ffn_hidden_size=rng.randint(8, 60))
    if kind == "granitemoe_swa":
        config.pop("head_dim")
        config.update(num_local_experts=rng.randint(2, 5), num_experts_per_tok=1,
                      shared_intermediate_size=rng.choice([0, 16]),
                      attention_bias=rng.random() < 0.3)
    return config


WIDTHS = ["mimo_v2_flash", "laguna", "gemma4_text", "longcat_flash", "youtu",
          "granitemoe_swa", "gemma3n_text", "bailing_hybrid"]

# Published ones, as in hf_configs.py. Those of Gemma 4 are its makers': google-deepmind/gemma
# b2dc124b, gemma/gm/nn/gemma4/_gemma4.py (Gemma4_31B, Gemma4_26B_A4B, Gemma4_E2B).
PUBLISHED_WIDTHS = [
    ("mimo-v2-flash", "mimo_v2_flash", {}),
    ("gemma-4-31b", "gemma4_text",
     {"hidden_size": 5376, "intermediate_size": 21504, "num_hidden_layers": 60,
      "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 256,
      "global_head_dim": 512, "num_global_key_value_heads": 4, "attention_k_eq_v": True,
      "hidden_size_per_layer_input": 0, "sliding_window": 1024}),
    ("gemma-4-26b-a4b", "gemma4_text",
     {"hidden_size": 2816, "intermediate_size": 2112, "num_hidden_layers": 30,
      "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256,
      "global_head_dim": 512, "num_global_key_value_heads": 2, "attention_k_eq_v": True,
      "enable_moe_block": True, "num_experts": 128, "top_k_experts": 8,
      "moe_intermediate_size": 704, "hidden_size_per_layer_input": 0, "sliding_window": 1024}),
    ("gemma-4-e2b", "gemma4_text",
     {"hidden_size": 1536, "intermediate_size": 6144, "num_hidden_layers": 35,
      "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256, "global_head_dim": 512,
      "hidden_size_per_layer_input": 256, "num_kv_shared_layers": 20, "use_double_wide_mlp": True,
      "sliding_window": 512, "layer_types": (["sliding_attention"] * 4 + ["full_attention"]) * 7}),
    ("gemma-3n-e4b", "gemma3n_text", {}),
    ("ling-3", "bailing_hybrid", {}),
    ("laguna", "laguna", {}),
    ("youtu-2b", "youtu", {}),
]

"""Parameter counts of Hugging Face configs, by transformers' own models on the meta device: makes tests/imports/hf_counts.jsonl.

    python3 -m venv /some/folder && /some/folder/bin/pip install torch transformers
    /some/folder/bin/python tests/imports/hf_counts.py tests/imports/hf_counts.jsonl          make the record again
    /some/folder/bin/python tests/imports/hf_counts.py --check [SEED]                         new random configs, against bin/plumbline

One config a line: published ones, their facts from the models' cards, then small random ones of every class, with keys left out
at random. _name and _parameters are ours."""
import json
import random
import subprocess
import sys
import tempfile

import torch
import transformers


def sizes(hidden, ffn, layers, heads, kv_heads, vocabulary, **more):
    config = {"hidden_size": hidden, "intermediate_size": ffn, "num_hidden_layers": layers, "num_attention_heads": heads,
              "num_key_value_heads": kv_heads, "vocab_size": vocabulary}
    config.update(more)
    return config


def experts(count, each, width, **more):
    return dict({"num_experts": count, "num_experts_per_tok": each, "moe_intermediate_size": width}, **more)


def latent(query, moe, routed, each, shared, dense, **more):
    return dict({"q_lora_rank": query, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
                 "moe_intermediate_size": moe, "n_routed_experts": routed, "num_experts_per_tok": each, "n_shared_experts": shared,
                 "first_k_dense_replace": dense}, **more)


def text(kind, config):
    return {"text_config": dict(config, model_type=kind + "_text")}


def llama4(count, step):
    return text("llama4", sizes(5120, 8192, 48, 40, 8, 202048, intermediate_size_mlp=16384, head_dim=128, num_local_experts=count,
                                num_experts_per_tok=1, interleave_moe_layer_step=step))


def falcon(hidden, layers, heads, **more):
    return dict({"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads, "vocab_size": 65024}, **more)


def opt(hidden, layers, heads, **more):
    return dict({"hidden_size": hidden, "ffn_dim": 4 * hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
                 "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": hidden}, **more)


def neox(hidden, layers, heads, vocabulary):
    return {"hidden_size": hidden, "intermediate_size": 4 * hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
            "vocab_size": vocabulary}


def t5(width, ffn, layers, heads, key, **more):
    return dict({"d_model": width, "d_ff": ffn, "num_layers": layers, "num_heads": heads, "d_kv": key, "vocab_size": 32128,
                 "is_encoder_decoder": True}, **more)


def clip(hidden, ffn, layers, heads, image, patch):
    return {"model_type": "clip_vision_model", "hidden_size": hidden, "intermediate_size": ffn, "num_hidden_layers": layers,
            "num_attention_heads": heads, "image_size": image, "patch_size": patch}


def llava(text_config, **more):
    return dict({"text_config": dict(text_config, model_type="llama", rms_norm_eps=1e-5),
                 "vision_config": clip(1024, 4096, 24, 16, 336, 14)}, **more)


def qwen2_vl(tied, text_config):
    return dict(text_config, tie_word_embeddings=tied, rms_norm_eps=1e-6, rope_theta=1e6,
                vision_config={"depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16,
                               "hidden_size": text_config["hidden_size"], "patch_size": 14, "spatial_merge_size": 2,
                               "temporal_patch_size": 2})


# By the start of a model's name: epsilon of its norms, rotary base, the factor by which positions are stretched.
FACTS = [
    ("llama-2-", 1e-5, 1e4, None), ("llama-3.1-", 1e-5, 5e5, 8.0), ("llama-3.2-", 1e-5, 5e5, 32.0), ("llama-3.3-", 1e-5, 5e5, 8.0),
    ("llama-4-", 1e-5, 5e5, None), ("mistral-7b", 1e-5, 1e4, None), ("mistral-nemo-", 1e-5, 1e6, None), ("mixtral-", 1e-5, 1e6, None),
    ("qwen", 1e-6, 1e6, None), ("deepseek-", 1e-6, 1e4, 40.0), ("phi-4", 1e-5, 25e4, None), ("olmo-2-", 1e-6, 5e5, None),
    ("gemma-3-1b", 1e-6, 1e6, None), ("gemma-3-", 1e-6, 1e6, 8.0), ("falcon-2-", 1e-5, 500042.0, None),
]


def with_facts(name, config):
    for start, epsilon, base, factor in FACTS:
        if name.startswith(start):
            kind = "llama3" if name.startswith("llama") else "yarn" if name.startswith("deepseek") else "linear"
            more = {"layer_norm_epsilon" if name.startswith("falcon") else "rms_norm_eps": epsilon, "rope_theta": base}
            if factor:
                more["rope_scaling"] = {"rope_type": kind, "factor": factor}
            if factor and kind == "llama3":
                more["rope_scaling"].update(low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=8192)
            if factor and kind == "yarn":
                scale = 0.707 if name.startswith("deepseek-v2") else 1.0
                more["rope_scaling"].update(beta_fast=32, beta_slow=1, mscale=scale, mscale_all_dim=scale,
                                            original_max_position_embeddings=4096)
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
    ("llama-3.2-1b", "llama", sizes(2048, 8192, 16, 32, 8, 128256, head_dim=64, tie_word_embeddings=True)),
    ("llama-3.2-3b", "llama", sizes(3072, 8192, 28, 24, 8, 128256, head_dim=128, tie_word_embeddings=True)),
    ("llama-3.3-70b", "llama", sizes(8192, 28672, 80, 64, 8, 128256, head_dim=128)),
    ("llama-4-scout", "llama4", llama4(16, 1)),
    ("llama-4-maverick", "llama4", llama4(128, 2)),
    ("mistral-7b", "mistral", sizes(4096, 14336, 32, 32, 8, 32000, sliding_window=4096)),
    ("mistral-nemo-12b", "mistral", sizes(5120, 14336, 40, 32, 8, 131072, head_dim=128, sliding_window=None)),
    ("mixtral-8x7b", "mixtral", sizes(4096, 14336, 32, 32, 8, 32000, num_local_experts=8, num_experts_per_tok=2)),
    ("mixtral-8x22b", "mixtral", sizes(6144, 16384, 56, 48, 8, 32000, num_local_experts=8, num_experts_per_tok=2)),
    ("qwen2.5-0.5b", "qwen2", sizes(896, 4864, 24, 14, 2, 151936, tie_word_embeddings=True)),
    ("qwen2.5-7b", "qwen2", sizes(3584, 18944, 28, 28, 4, 152064)),
    ("qwen2.5-72b", "qwen2", sizes(8192, 29568, 80, 64, 8, 152064)),
    ("qwen1.5-moe-a2.7b", "qwen2_moe", sizes(2048, 5632, 24, 16, 16, 151936, shared_expert_intermediate_size=5632,
                                             decoder_sparse_step=1, **experts(60, 4, 1408))),
    ("qwen2-57b-a14b", "qwen2_moe", sizes(3584, 18944, 28, 28, 4, 151936, shared_expert_intermediate_size=20480,
                                          decoder_sparse_step=1, **experts(64, 8, 2560))),
    ("qwen3-0.6b", "qwen3", sizes(1024, 3072, 28, 16, 8, 151936, head_dim=128, tie_word_embeddings=True)),
    ("qwen3-8b", "qwen3", sizes(4096, 12288, 36, 32, 8, 151936, head_dim=128)),
    ("qwen3-32b", "qwen3", sizes(5120, 25600, 64, 64, 8, 151936, head_dim=128)),
    ("qwen3-30b-a3b", "qwen3_moe", sizes(2048, 6144, 48, 32, 4, 151936, head_dim=128, **experts(128, 8, 768))),
    ("qwen3-235b-a22b", "qwen3_moe", sizes(4096, 12288, 94, 64, 4, 151936, head_dim=128, **experts(128, 8, 1536))),
    ("deepseek-v2-lite", "deepseek_v2", sizes(2048, 10944, 27, 16, 16, 102400, **latent(None, 1408, 64, 6, 2, 1))),
    ("deepseek-v2", "deepseek_v2", sizes(5120, 12288, 60, 128, 128, 102400, **latent(1536, 1536, 160, 6, 2, 1))),
    ("deepseek-v3", "deepseek_v3", sizes(7168, 18432, 61, 128, 128, 129280, **latent(1536, 2048, 256, 8, 1, 3,
                                                                                   num_nextn_predict_layers=1))),
    ("gemma-2b", "gemma", sizes(2048, 16384, 18, 8, 1, 256000, head_dim=256)),
    ("gemma-7b", "gemma", sizes(3072, 24576, 28, 16, 16, 256000, head_dim=256)),
    ("gemma-2-2b", "gemma2", sizes(2304, 9216, 26, 8, 4, 256000, head_dim=256, sliding_window=4096)),
    ("gemma-2-9b", "gemma2", sizes(3584, 14336, 42, 16, 8, 256000, head_dim=256, sliding_window=4096)),
    ("gemma-2-27b", "gemma2", sizes(4608, 36864, 46, 32, 16, 256000, head_dim=128, sliding_window=4096)),
    ("gemma-3-1b", "gemma3_text", sizes(1152, 6912, 26, 4, 1, 262144, head_dim=256, sliding_window=512)),
    ("gemma-3-4b", "gemma3", text("gemma3", {"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
                                             "sliding_window": 1024})),
    ("gemma-3-27b", "gemma3", text("gemma3", {"hidden_size": 5376, "intermediate_size": 21504, "num_hidden_layers": 62,
                                              "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128,
                                              "sliding_window": 1024})),
    ("phi-3-mini", "phi3", sizes(3072, 8192, 32, 32, 32, 32064, sliding_window=2047)),
    ("phi-3-medium", "phi3", sizes(5120, 17920, 40, 40, 10, 32064, sliding_window=2047)),
    ("phi-4", "phi3", sizes(5120, 17920, 40, 40, 10, 100352, sliding_window=None)),
    ("falcon-rw-1b", "falcon", dict(falcon(2048, 24, 32, multi_query=False, parallel_attn=False, bias=True, alibi=True),
                                    vocab_size=50304)),
    ("falcon-7b", "falcon", falcon(4544, 32, 71, multi_query=True, parallel_attn=True, bias=False)),
    ("falcon-2-11b", "falcon", falcon(4096, 60, 32, num_kv_heads=8, new_decoder_architecture=True, num_ln_in_parallel_attn=1)),
    ("falcon-40b", "falcon", falcon(8192, 60, 128, num_kv_heads=8, new_decoder_architecture=True)),
    ("falcon-180b", "falcon", falcon(14848, 80, 232, num_kv_heads=8, new_decoder_architecture=True)),
    ("olmo-2-7b", "olmo2", sizes(4096, 11008, 32, 32, 32, 100352)),
    ("olmo-2-13b", "olmo2", sizes(5120, 13824, 40, 40, 40, 100352)),
    ("olmo-2-32b", "olmo2", sizes(5120, 27648, 64, 40, 8, 100352)),
    ("pythia-1.4b", "gpt_neox", neox(2048, 24, 16, 50304)),
    ("pythia-12b", "gpt_neox", neox(5120, 36, 40, 50688)),
    ("gpt-neox-20b", "gpt_neox", neox(6144, 44, 64, 50432)),
    ("gpt2", "gpt2", {"n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}),
    ("gpt2-xl", "gpt2", {"n_embd": 1600, "n_layer": 48, "n_head": 25, "n_positions": 1024, "vocab_size": 50257}),
    ("opt-350m", "opt", dict(opt(1024, 24, 16, do_layer_norm_before=False), word_embed_proj_dim=512)),
    ("opt-1.3b", "opt", opt(2048, 24, 32)),
    ("opt-66b", "opt", opt(9216, 64, 72)),
    ("opt-175b", "opt", opt(12288, 96, 96)),
    ("bert-base", "bert", {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
                           "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2}),
    ("bert-large", "bert", {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
                            "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2}),
    ("t5-small", "t5", t5(512, 2048, 6, 8, 64)),
    ("t5-large", "t5", t5(1024, 4096, 24, 16, 64)),
    ("t5-11b", "t5", t5(1024, 65536, 24, 128, 128)),
    ("t5-v1.1-base", "t5", t5(768, 2048, 12, 12, 64, feed_forward_proj="gated-gelu", num_decoder_layers=12,
                              tie_word_embeddings=False)),
    ("mt5-base", "mt5", {"d_model": 768, "d_ff": 2048, "num_layers": 12, "num_heads": 12, "vocab_size": 250112,
                         "is_encoder_decoder": True}),
    ("llava-1.5-7b", "llava", llava(sizes(4096, 11008, 32, 32, 32, 32064), vision_feature_layer=-2,
                                    vision_feature_select_strategy="default")),
    ("llava-1.5-13b", "llava", llava(sizes(5120, 13824, 40, 40, 40, 32064))),
    ("qwen2-vl-2b", "qwen2_vl", qwen2_vl(True, sizes(1536, 8960, 28, 12, 2, 151936))),
    ("qwen2-vl-7b", "qwen2_vl", qwen2_vl(False, sizes(3584, 18944, 28, 28, 4, 152064))),
    ("qwen2-audio-7b", "qwen2_audio",
     {"text_config": dict(sizes(4096, 11008, 32, 32, 32, 156032), model_type="qwen2", rms_norm_eps=1e-5, rope_theta=1e4),
      "audio_config": {"d_model": 1280, "encoder_attention_heads": 20, "encoder_ffn_dim": 5120, "encoder_layers": 32,
                       "num_mel_bins": 128, "max_source_positions": 1500}}),
]


def draw_flags(rng, keys):
    return {key: rng.random() < 0.5 for key in keys if rng.random() < 0.6}


def draw_common(rng):
    kv_heads = rng.choice([1, 2, 4])
    heads = kv_heads * rng.choice([1, 2, 3])
    config = sizes(heads * 2 * rng.randint(4, 12), rng.randint(30, 200), rng.randint(1, 9), heads, kv_heads, rng.randint(50, 400))
    if rng.random() < 0.5:
        config["head_dim"] = 2 * rng.randint(2, 20)
    config.update(draw_flags(rng, ["tie_word_embeddings"]))
    return config


def draw_experts(rng, config):
    count = rng.randint(2, 9)
    config.update(experts(count, rng.randint(1, count), rng.randint(8, 60)))
    if rng.random() < 0.4:
        config["decoder_sparse_step"] = rng.randint(1, 3)
    if rng.random() < 0.4:
        config["mlp_only_layers"] = [i for i in range(config["num_hidden_layers"]) if rng.random() < 0.3]
    return config


def draw_latent(rng, config):
    count = 4 * rng.randint(1, 3)
    config.update(latent(rng.choice([None, rng.randint(8, 40)]), rng.randint(8, 40), count, rng.randint(1, 4), rng.randint(1, 3),
                         rng.randint(0, config["num_hidden_layers"])))
    config.update(kv_lora_rank=rng.randint(8, 40), qk_rope_head_dim=2 * rng.randint(1, 8), qk_nope_head_dim=rng.randint(4, 20),
                  v_head_dim=rng.randint(4, 20), num_key_value_heads=config["num_attention_heads"], n_group=1, topk_group=1)
    config.update(draw_flags(rng, ["attention_bias"]))
    config.pop("head_dim", None)
    return config


def draw_falcon(rng):
    kv_heads = rng.choice([1, 2, 4])
    heads = kv_heads * rng.randint(1, 4)
    config = falcon(heads * 2 * rng.randint(4, 12), rng.randint(1, 4), heads, vocab_size=rng.randint(50, 300))
    config.update(draw_flags(rng, ["new_decoder_architecture", "multi_query", "parallel_attn", "bias", "alibi", "tie_word_embeddings"]))
    if config.get("new_decoder_architecture"):
        config["num_kv_heads"] = kv_heads
        if rng.random() < 0.5:
            config["num_ln_in_parallel_attn"] = rng.randint(1, 2)
    if rng.random() < 0.5:
        config["ffn_hidden_size"] = rng.randint(40, 200)
    return config


def draw_plain(rng, flags, **more):
    heads = rng.randint(1, 6)
    config = {"hidden_size": heads * 2 * rng.randint(4, 12), "num_hidden_layers": rng.randint(1, 5), "num_attention_heads": heads,
              "vocab_size": rng.randint(50, 400)}
    config.update(draw_flags(rng, flags + ["tie_word_embeddings"]))
    config.update(more)
    return config


def draw_opt(rng):
    config = draw_plain(rng, ["enable_bias", "do_layer_norm_before", "layer_norm_elementwise_affine"], ffn_dim=rng.randint(40, 200),
                        max_position_embeddings=rng.randint(20, 600))
    config["word_embed_proj_dim"] = rng.choice([config["hidden_size"], rng.randint(8, 90)])
    if config["word_embed_proj_dim"] != config["hidden_size"]:
        config.pop("tie_word_embeddings", None)
    return config


def draw_t5(rng):
    config = t5(4 * rng.randint(5, 30), rng.randint(20, 200), rng.randint(1, 5), rng.randint(1, 6), rng.randint(3, 20),
                feed_forward_proj=rng.choice(["relu", "gated-gelu", "gated-silu"]), relative_attention_num_buckets=2 * rng.randint(4, 20))
    config["vocab_size"] = rng.randint(50, 300)
    if rng.random() < 0.5:
        config["num_decoder_layers"] = rng.randint(1, 6)
    return config


def draw_tower(rng, kind):
    """A tower of any size before a text of any; keys of the tower are left out at random, where its class has them."""
    config = draw_common(rng)
    config.pop("tie_word_embeddings", None)
    heads = rng.randint(1, 4)
    width = heads * 4 * rng.randint(2, 8)
    if kind == "qwen2_vl":
        config.pop("head_dim", None)
        vision = {"depth": rng.randint(1, 5), "embed_dim": width, "num_heads": heads, "mlp_ratio": rng.randint(1, 5),
                  "in_channels": rng.randint(1, 4), "patch_size": rng.randint(2, 16), "temporal_patch_size": rng.randint(1, 3),
                  "spatial_merge_size": rng.randint(1, 3)}
        part, needed = {"vision_config": vision}, {"hidden_size": config["hidden_size"]}
    elif kind == "llava":
        vision = {"hidden_size": width, "intermediate_size": rng.randint(8, 90), "num_hidden_layers": rng.randint(1, 5),
                  "num_attention_heads": heads, "image_size": rng.randint(32, 60), "patch_size": rng.randint(2, 16),
                  "num_channels": rng.randint(1, 4)}
        part, needed = {"vision_config": vision}, {"model_type": "clip_vision_model"}
    else:
        vision = {"d_model": width, "encoder_layers": rng.randint(1, 5), "encoder_attention_heads": heads,
                  "encoder_ffn_dim": rng.randint(8, 90), "num_mel_bins": rng.randint(8, 90),
                  "max_source_positions": rng.randint(10, 90)}
        part, needed = {"audio_config": vision}, {}
    if rng.random() < 0.3 and kind != "qwen2_vl":
        vision.pop(rng.choice([key for key in vision if not key.endswith(("heads", "d_model", "hidden_size"))]))
    vision.update(needed)
    if kind == "llava":
        part.update(draw_flags(rng, ["multimodal_projector_bias"]))
        if rng.random() < 0.4:
            part["vision_feature_layer"] = rng.choice([-1, [0, 1], [0, 1, 1]])
        if rng.random() < 0.4:
            part["vision_feature_select_strategy"] = rng.choice(["default", "full"])
    if kind == "qwen2_vl" and rng.random() < 0.5:
        return dict(config, **part)
    return dict(part, text_config=dict(config, model_type={"llava": "llama", "qwen2_vl": "qwen2_vl_text"}.get(kind, "qwen2")))


def draw(rng, kind):
    if kind in TOWERS:
        return draw_tower(rng, kind)
    if kind in ("falcon", "opt", "t5"):
        return {"falcon": draw_falcon, "opt": draw_opt, "t5": draw_t5}[kind](rng)
    if kind == "mt5":
        config = draw_t5(rng)
        config.pop("feed_forward_proj")
        return config
    if kind == "gpt_neox":
        return draw_plain(rng, ["attention_bias", "use_parallel_residual"], intermediate_size=rng.randint(40, 200))
    if kind == "gpt2":
        config = draw_plain(rng, [])
        if rng.random() < 0.5:
            config["n_inner"] = rng.randint(40, 200)
        if rng.random() < 0.5:
            config["n_positions"] = rng.randint(20, 300)
        return config
    if kind == "bert":
        return draw_plain(rng, [], intermediate_size=rng.randint(40, 200), max_position_embeddings=rng.randint(20, 300),
                          type_vocab_size=rng.randint(1, 4))
    config = draw_common(rng)
    if kind in ("llama", "deepseek_v2"):
        config.update(draw_flags(rng, ["mlp_bias"]))
    if kind in ("llama", "llama4_text", "qwen3", "qwen3_moe", "gemma", "gemma2", "gemma3_text", "olmo2"):
        config.update(draw_flags(rng, ["attention_bias"]))
    if kind in ("qwen2_moe", "qwen3_moe"):
        draw_experts(rng, config)
    if kind == "qwen2_moe":
        config.update(draw_flags(rng, ["qkv_bias"]), shared_expert_intermediate_size=rng.randint(8, 90))
    if kind == "mixtral":
        config.update(num_local_experts=rng.randint(2, 8), num_experts_per_tok=2)
    if kind == "llama4_text":
        config.update(num_local_experts=rng.randint(2, 8), num_experts_per_tok=1, intermediate_size_mlp=rng.randint(40, 200),
                      interleave_moe_layer_step=rng.randint(1, 3))
        if rng.random() < 0.3:
            config["moe_layers"] = [i for i in range(config["num_hidden_layers"]) if rng.random() < 0.5]
    if kind.startswith("deepseek"):
        draw_latent(rng, config)
    if kind == "phi3":
        config.pop("head_dim", None)
    if kind in ("mistral", "mixtral", "phi3", "qwen2", "qwen3", "qwen2_moe", "qwen3_moe", "gemma2", "gemma3_text"):
        if rng.random() < 0.6:
            config["sliding_window"] = rng.randint(4, 99)
        if kind.startswith("qwen"):
            config.update(draw_flags(rng, ["use_sliding_window"]), max_window_layers=rng.randint(0, 9))
        if kind in ("gemma2", "gemma3_text") and rng.random() < 0.4:
            config["layer_types"] = [rng.choice(["sliding_attention", "full_attention"]) for _ in range(config["num_hidden_layers"])]
        elif kind == "gemma3_text" and rng.random() < 0.4:
            config["sliding_window_pattern"] = rng.randint(1, 4)
    if rng.random() < 0.5:
        config.update(rms_norm_eps=rng.choice([1e-5, 1e-6, 2e-6]), rope_theta=float(rng.choice([10000, 500000, 1000000])))
    if rng.random() < 0.15 and not kind.startswith(("deepseek", "llama4", "mixtral")):
        del config["intermediate_size"]
    if rng.random() < 0.3 and kind in ("llama", "olmo2", "phi3"):  # absent: as many as heads
        del config["num_key_value_heads"]
    elif rng.random() < 0.2:
        config["num_key_value_heads"] = config["num_attention_heads"]
    return config


KINDS = ["llama", "llama4_text", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "deepseek_v2", "deepseek_v3",
         "gemma", "gemma2", "gemma3_text", "phi3", "falcon", "olmo2", "gpt_neox", "gpt2", "opt", "bert", "t5", "mt5",
         "llava", "qwen2_vl", "qwen2_audio"]

# Kinds whose tower is read, too.
TOWERS = {"llava": "LlavaForConditionalGeneration", "qwen2_vl": "Qwen2VLForConditionalGeneration",
          "qwen2_audio": "Qwen2AudioForConditionalGeneration"}


def build(kind, config):
    """The config as transformers reads it, and its model."""
    config = dict(config)
    if kind in TOWERS:
        built = transformers.AutoConfig.for_model(kind, **config)
        with torch.device("meta"):
            return built, getattr(transformers, TOWERS[kind])(built)
    if "text_config" in config:
        kind, config = kind + "_text", {k: v for k, v in config["text_config"].items() if k != "model_type"}
    built = transformers.AutoConfig.for_model(kind, pad_token_id=0, **config)
    model = {"bert": transformers.AutoModelForMaskedLM, "t5": transformers.AutoModelForSeq2SeqLM,
             "mt5": transformers.AutoModelForSeq2SeqLM}.get(kind, transformers.AutoModelForCausalLM)
    with torch.device("meta"):
        return built, model.from_config(built)


def count(kind, config):
    return sum(p.numel() for p in build(kind, config)[1].parameters())


def drawn(seed, each):
    rng = random.Random(seed)
    for kind in KINDS:
        made = passed_over = 0
        while made < each and passed_over < 20 * each:
            config = draw(rng, kind)
            try:
                number = count(kind, config)
            except Exception as wrong:  # transformers itself refuses: key and value heads that do not divide by default, and the like
                print("%s: passed over: %s" % (kind, str(wrong).splitlines()[0]), file=sys.stderr)
                passed_over += 1
                continue
            made += 1
            yield {"_name": "%s random %d" % (kind, made), "_parameters": number, "model_type": kind, **config}


def published():
    for name, kind, config in PUBLISHED:
        config = with_facts(name, config)
        yield {"_name": name, "_parameters": count(kind, config), "model_type": kind, **config}


def ours(line):
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/config.json", "w") as file:
            json.dump(line, file)
        subprocess.run(["bin/plumbline", "import", "hf", "--mtp", "0", folder + "/config.json", "-o", folder + "/model.json"], check=True,
                       capture_output=True)
        table = subprocess.run(["bin/plumbline", "models", folder + "/model.json"], check=True, capture_output=True, text=True)
        with open(folder + "/model.json") as file:
            model = json.load(file)
        if line["model_type"] in TOWERS:
            return int(table.stdout.splitlines()[1].split()[1]), [], []
        runs, shape = model["runs"][1:-1], model["shape"]
        layers = [(run["kind"] == "moe", run.get("window", 0)) for run in runs for _ in range(run["count"])]
        facts = [shape.get("activation"), shape["norm_epsilon"], shape.get("rotary_base", 0), shape.get("rotary_share", 1)]
        return int(table.stdout.splitlines()[1].split()[1]), layers, facts


def first(config, *keys):
    if config.model_type in ("t5", "mt5"):
        keys = keys[-1:] + keys[:-1]
    return next((getattr(config, key) for key in keys if getattr(config, key, None) is not None), None)


def theirs(kind, config):
    built, model = build(kind, config)
    if kind in TOWERS:
        return sum(p.numel() for p in model.parameters()), [], []
    mixtures = {int(name.split("layers.")[1].split(".")[0]) for name, _ in model.named_parameters() if "experts" in name}
    window = getattr(built, "sliding_window", None) or 0
    types = getattr(built, "layer_types", None)
    count_of_layers = built.num_hidden_layers + (built.num_decoder_layers if kind.endswith("t5") else 0)
    near = [types[i] == "sliding_attention" if types else True for i in range(count_of_layers)]
    rotary = getattr(built, "rope_parameters", None) or {}
    rotary = rotary.get("full_attention", rotary) if not getattr(built, "alibi", False) else {}
    facts = [first(built, "hidden_activation", "hidden_act", "activation_function", "activation", "dense_act_fn"),
             first(built, "rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon") or 1e-5,
             rotary.get("rope_theta", 0), rotary.get("partial_rotary_factor", 1)]
    return (sum(p.numel() for p in model.parameters()),
            [(i in mixtures, window if near[i] else 0) for i in range(count_of_layers)], facts)


def check(seed):
    """Each config as drawn, and as transformers saves it: all keys, and those that are not as its class has them."""
    wrong = lines = 0
    for line in drawn(seed, 12):
        kind, config = line["model_type"], {k: v for k, v in line.items() if k[0] != "_" and k != "model_type"}
        built, expected = build(kind, config)[0], theirs(kind, config)
        for form in (line, json.loads(built.to_json_string(use_diff=True)), json.loads(built.to_json_string(use_diff=False))):
            lines += 1
            if ours(form) != expected:
                wrong += 1
                print("differs: ours %s, transformers' %s: %s" % (ours(form), expected, json.dumps(form)))
    print("%d random configs, %d differ (seed %d, transformers %s)" % (lines, wrong, seed, transformers.__version__))
    return wrong > 0


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    if sys.argv[1] == "--check":
        sys.exit(check(int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)))
    with open(sys.argv[1], "w") as record:
        for line in list(published()) + list(drawn(1, 4)):
            record.write(json.dumps(line) + "\n")

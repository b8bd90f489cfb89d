"""Parameter counts of Hugging Face configs, by transformers' own models on the meta device: makes
tests/imports/hf_counts.jsonl.

    python3 -m venv /some/folder && /some/folder/bin/pip install torch transformers
    /some/folder/bin/python tests/imports/hf_counts.py tests/imports/hf_counts.jsonl make the record
    again /some/folder/bin/python tests/imports/hf_counts.py --check [SEED [KIND ...]] new random
    configs, against bin/plumbline

One config a line: published ones, their facts from the models' cards, then small random ones of
every class, with keys left out at random. _name and _parameters are ours."""
import copy
import json
import random
import subprocess
import sys
import tempfile

import torch
import transformers

from hf_hybrids import HYBRIDS, PUBLISHED_HYBRIDS, draw_hybrid
from hf_more import FURTHER, MORE, PAIRS, PARTS, PUBLISHED_BUILT, PUBLISHED_MORE, \
    PUBLISHED_RECENT, PUBLISHED_USED, RECENT, SEQUENCES, TEXTS, draw_further, draw_more, \
    draw_recent, draw_sequence, draw_text
from hf_widths import PUBLISHED_WIDTHS, WIDTHS, draw_widths
from hf_configs import PUBLISHED, experts, falcon, latent, opt, sizes, t5, with_facts, with_router


def draw_flags(rng, keys):
    return {key: rng.random() < 0.5 for key in keys if rng.random() < 0.6}


def draw_common(rng):
    kv_heads = rng.choice([1, 2, 4])
    heads = kv_heads * rng.choice([1, 2, 3])
    config = sizes(heads * 2 * rng.randint(4, 12), rng.randint(30, 200), rng.randint(1, 9), heads,
                   kv_heads, rng.randint(50, 400))
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
        config["mlp_only_layers"] = [i for i in range(config["num_hidden_layers"])
                                     if rng.random() < 0.3]
    return config


def draw_latent(rng, config):
    count = 4 * rng.randint(1, 3)
    config.update(latent(rng.choice([None, rng.randint(8, 40)]), rng.randint(8, 40), count,
                         rng.randint(1, 4), rng.randint(1, 3),
                         rng.randint(0, config["num_hidden_layers"])))
    config.update(kv_lora_rank=rng.randint(8, 40), qk_rope_head_dim=2 * rng.randint(1, 8),
                  qk_nope_head_dim=rng.randint(4, 20),
                  v_head_dim=rng.randint(4, 20), num_key_value_heads=config["num_attention_heads"],
                  n_group=1, topk_group=1)
    config.update(draw_flags(rng, ["attention_bias"]))
    config.pop("head_dim", None)
    return config


def draw_falcon(rng):
    kv_heads = rng.choice([1, 2, 4])
    heads = kv_heads * rng.randint(1, 4)
    config = falcon(heads * 2 * rng.randint(4, 12), rng.randint(1, 4), heads,
                    vocab_size=rng.randint(50, 300))
    config.update(draw_flags(rng,
                             ["new_decoder_architecture", "multi_query", "parallel_attn", "bias",
                              "alibi", "tie_word_embeddings"]))
    if config.get("new_decoder_architecture"):
        config["num_kv_heads"] = kv_heads
        if rng.random() < 0.5:
            config["num_ln_in_parallel_attn"] = rng.randint(1, 2)
    if rng.random() < 0.5:
        config["ffn_hidden_size"] = rng.randint(40, 200)
    return config


def draw_plain(rng, flags, **more):
    heads = rng.randint(1, 6)
    config = {"hidden_size": heads * 2 * rng.randint(4, 12), "num_hidden_layers": rng.randint(1, 5),
              "num_attention_heads": heads,
              "vocab_size": rng.randint(50, 400)}
    config.update(draw_flags(rng, flags + ["tie_word_embeddings"]))
    config.update(more)
    return config


def draw_opt(rng):
    config = draw_plain(rng,
                        ["enable_bias", "do_layer_norm_before", "layer_norm_elementwise_affine"],
                        ffn_dim=rng.randint(40, 200),
                        max_position_embeddings=rng.randint(20, 600))
    config["word_embed_proj_dim"] = rng.choice([config["hidden_size"], rng.randint(8, 90)])
    if config["word_embed_proj_dim"] != config["hidden_size"]:
        config.pop("tie_word_embeddings", None)
    return config


def draw_t5(rng):
    config = t5(4 * rng.randint(5, 30), rng.randint(20, 200), rng.randint(1, 5), rng.randint(1, 6),
                rng.randint(3, 20),
                feed_forward_proj=rng.choice(["relu", "gated-gelu", "gated-silu"]),
                relative_attention_num_buckets=2 * rng.randint(4, 20))
    config["vocab_size"] = rng.randint(50, 300)
    if rng.random() < 0.5:
        config["num_decoder_layers"] = rng.randint(1, 6)
    return config


def draw_tower(rng, kind):
    """A tower of any size before a text of any; keys of the tower are left out at random, where its
    class has them."""
    config = draw_common(rng)
    config.pop("tie_word_embeddings", None)
    heads = rng.randint(1, 4)
    width = heads * 4 * rng.randint(2, 8)
    if kind == "qwen2_vl":
        config.pop("head_dim", None)
        vision = {"depth": rng.randint(1, 5), "embed_dim": width, "num_heads": heads,
                  "mlp_ratio": rng.randint(1, 5),
                  "in_channels": rng.randint(1, 4), "patch_size": rng.randint(2, 16),
                  "temporal_patch_size": rng.randint(1, 3),
                  "spatial_merge_size": rng.randint(1, 3)}
        part, needed = {"vision_config": vision}, {"hidden_size": config["hidden_size"]}
    elif kind == "llava":
        vision = {"hidden_size": width, "intermediate_size": rng.randint(8, 90),
                  "num_hidden_layers": rng.randint(1, 5),
                  "num_attention_heads": heads, "image_size": rng.randint(32, 60),
                  "patch_size": rng.randint(2, 16),
                  "num_channels": rng.randint(1, 4)}
        part, needed = {"vision_config": vision}, {"model_type": "clip_vision_model"}
    else:
        vision = {"d_model": width, "encoder_layers": rng.randint(1, 5),
                  "encoder_attention_heads": heads,
                  "encoder_ffn_dim": rng.randint(8, 90), "num_mel_bins": rng.randint(8, 90),
                  "max_source_positions": rng.randint(10, 90)}
        part, needed = {"audio_config": vision}, {}
    if rng.random() < 0.3 and kind != "qwen2_vl":
        vision.pop(rng.choice([key for key in vision
                               if not key.endswith(("heads", "d_model", "hidden_size"))]))
    vision.update(needed)
    if kind == "llava":
        part.update(draw_flags(rng, ["multimodal_projector_bias"]))
        if rng.random() < 0.4:
            part["vision_feature_layer"] = rng.choice([-1, [0, 1], [0, 1, 1]])
        if rng.random() < 0.4:
            part["vision_feature_select_strategy"] = rng.choice(["default", "full"])
    if kind == "qwen2_vl" and rng.random() < 0.5:
        return dict(config, **part)
    return dict(part,
                text_config=dict(config,
                                 model_type={"llava": "llama",
                                             "qwen2_vl": "qwen2_vl_text"}.get(kind, "qwen2")))


# Flags of decoders that differ from llama in a thing or two.
VARIANTS = {"ministral3": [], "kimi_k2": [], "deepseek_v32": [], "glm_moe_dsa": [],
            "glm4_moe_lite": [], "glm4_moe": ["attention_bias", "use_qk_norm"],
            "glm": ["attention_bias"], "glm4": ["attention_bias"],
            "smollm3": ["attention_bias", "mlp_bias", "use_sliding_window"],
            "olmo": ["attention_bias"], "olmo3": ["attention_bias"], "olmoe": ["attention_bias"],
            "gpt_oss": ["attention_bias"],
            "hunyuan_v1_dense": ["attention_bias"], "hunyuan_v1_moe": ["attention_bias"],
            "ernie4_5": ["use_bias"],
            "ernie4_5_moe": ["use_bias"], "dots1": ["attention_bias"], "minimax_m2": [],
            "seed_oss": ["attention_bias", "attention_out_bias", "mlp_bias"],
            "granite": ["attention_bias", "mlp_bias"],
            "granitemoe": ["attention_bias"], "granitemoeshared": ["attention_bias"], "exaone4": [],
            "cohere": ["attention_bias", "use_qk_norm"],
            "cohere2": ["attention_bias"], "phimoe": ["attention_bias", "lm_head_bias"],
            "stablelm": ["use_qkv_bias", "qk_layernorm", "use_parallel_residual"],
            "apertus": ["attention_bias"],
            "arcee": ["attention_bias", "mlp_bias"], "nemotron": ["attention_bias", "mlp_bias"],
            "starcoder2": ["use_bias"], "qwen3_next": ["attention_bias"],
            "kimi_linear": ["attention_bias"]}


def draw_linear(rng, kind, config):
    """Which layers are linear: by a number, by a list of words or, in kimi_linear, by two lists."""
    layers, heads = config["num_hidden_layers"], rng.randint(1, 4)
    words = [rng.choice(["linear_attention", "full_attention"]) for _ in range(layers)]
    if rng.random() < 0.4:
        config["layer_types"] = words
    if kind == "qwen3_next":
        config.setdefault("head_dim", 8)
        draw_experts(rng, config)
        config.update(linear_num_key_heads=heads, linear_num_value_heads=heads * rng.randint(1, 3),
                      linear_key_head_dim=rng.randint(4, 20),
                      linear_value_head_dim=rng.randint(4, 20),
                      linear_conv_kernel_dim=rng.randint(1, 6),
                      shared_expert_intermediate_size=rng.randint(8, 60))
        if rng.random() < 0.5:
            config["full_attention_interval"] = rng.randint(1, 5)
        return config
    config.update(num_experts=4, num_experts_per_token=rng.randint(1, 4), num_shared_experts=2,
                  moe_intermediate_size=rng.randint(8, 60), q_lora_rank=rng.choice([None, 12]),
                  kv_lora_rank=rng.randint(8, 40), qk_rope_head_dim=2 * rng.randint(1, 8),
                  qk_nope_head_dim=rng.randint(4, 20), v_head_dim=rng.randint(4, 20),
                  first_k_dense_replace=rng.randint(0, layers))
    if rng.random() < 0.7:
        config["linear_attn_config"] = {
            "num_heads": heads, "head_dim": rng.randint(4, 20),
            "short_conv_kernel_size": rng.randint(1, 6),
            "full_attn_layers": [i + 1 for i in range(layers) if words[i] == "full_attention"],
            "kda_layers": [i + 1 for i in range(layers) if words[i] == "linear_attention"]}
    else:
        config.update(linear_num_heads=heads, linear_head_dim=rng.randint(4, 20))
    config.pop("head_dim", None)
    config.pop("tie_word_embeddings", None)  # its class has a head of its own whatever it says
    return config


def draw_variant(rng, kind, config):
    layers, count = config["num_hidden_layers"], rng.randint(2, 9)
    config.update(draw_flags(rng, VARIANTS[kind]))
    if kind in ("qwen3_next", "kimi_linear"):
        return draw_linear(rng, kind, config)
    if kind in ("kimi_k2", "deepseek_v32", "glm_moe_dsa", "glm4_moe_lite"):
        draw_latent(rng, config)
        if kind in ("deepseek_v32", "glm_moe_dsa"):
            config.update(q_lora_rank=rng.randint(8, 40), index_n_heads=rng.randint(1, 5),
                          index_head_dim=2 * rng.randint(8, 20))
        if kind == "glm4_moe_lite":
            del config["first_k_dense_replace"]
        if kind != "kimi_k2" and rng.random() < 0.5:
            config["mlp_layer_types"] = [rng.choice(["dense", "sparse"]) for _ in range(layers)]
    if kind in ("glm4_moe", "dots1"):
        config.update(n_routed_experts=count, num_experts_per_tok=rng.randint(1, count),
                      n_shared_experts=rng.randint(1, 3),
                      moe_intermediate_size=rng.randint(8, 60),
                      first_k_dense_replace=rng.randint(0, layers))
    if kind in ("gpt_oss", "granitemoe", "granitemoeshared", "phimoe", "minimax_m2", "olmoe"):
        config.update({"num_experts" if kind == "olmoe" else "num_local_experts": count,
                       "num_experts_per_tok": rng.randint(1, count)})
    if kind == "granitemoeshared" and rng.random() < 0.7:
        config["shared_intermediate_size"] = rng.randint(8, 60)
    if kind == "hunyuan_v1_moe":
        config.update(num_experts=count, moe_topk=rng.choice([2, [2] * layers]))
    if kind == "ernie4_5_moe":
        config.update(moe_num_experts=count, moe_k=rng.randint(1, count),
                      moe_intermediate_size=rng.randint(8, 60),
                      moe_num_shared_experts=rng.randint(1, 3),
                      moe_layer_start_index=rng.randint(0, layers),
                      moe_layer_interval=rng.randint(1, 3),
                      moe_layer_end_index=rng.choice([-1, rng.randint(0, layers)]))
    if kind in ("olmo3", "exaone4", "cohere2", "gpt_oss", "smollm3", "ministral3", "phimoe",
                "starcoder2") and rng.random() < 0.6:
        config["sliding_window"] = rng.randint(4, 99)
        if kind in ("olmo3", "exaone4", "cohere2", "gpt_oss") and rng.random() < 0.4:
            config["layer_types"] = [rng.choice(["sliding_attention", "full_attention"])
                                     for _ in range(layers)]
    if kind == "dots1":
        config.update(sliding_window=rng.choice([None, 30]), max_window_layers=rng.randint(0, 9))
    if kind in ("stablelm", "cohere2", "olmo", "olmo3", "olmoe", "granitemoe", "granitemoeshared",
                "phimoe"):
        config.pop("head_dim", None)
    elif kind in ("glm", "glm4", "smollm3", "minimax_m2", "seed_oss", "hunyuan_v1_dense",
                  "hunyuan_v1_moe", "nemotron", "starcoder2", "arcee",
                  "apertus", "ernie4_5", "ministral3", "gpt_oss"):
        config.setdefault("head_dim", 8)
    return config


def draw_text_of(rng, kind):
    config = draw_common(rng)
    tied = ({"tie_word_embeddings": config.pop("tie_word_embeddings")}
            if "tie_word_embeddings" in config else {})
    if kind == "qwen2_5_vl":
        config.pop("head_dim", None)
        return dict(config, **tied,
                    vision_config={"depth": 1, "out_hidden_size": config["hidden_size"]})
    config.setdefault("head_dim", 16)
    if kind == "qwen3_vl_moe":
        config.update(experts(4, 2, rng.randint(8, 60)))
    return dict(tied, text_config=dict(config, model_type=kind + "_text"))


def draw(rng, kind):
    if kind in TEXT_ALONE and kind not in TEXTS:
        return draw_text_of(rng, kind)
    if kind in TOWERS and kind not in TEXTS:
        return draw_tower(rng, kind)
    if kind in SEQUENCES:
        return draw_sequence(rng, kind)
    if kind in ("falcon", "opt", "t5"):
        return {"falcon": draw_falcon, "opt": draw_opt, "t5": draw_t5}[kind](rng)
    if kind == "mt5":
        config = draw_t5(rng)
        config.pop("feed_forward_proj")
        return config
    if kind == "gpt_neox":
        return draw_plain(rng, ["attention_bias", "use_parallel_residual"],
                          intermediate_size=rng.randint(40, 200))
    if kind == "gpt2":
        config = draw_plain(rng, [])
        if rng.random() < 0.5:
            config["n_inner"] = rng.randint(40, 200)
        if rng.random() < 0.5:
            config["n_positions"] = rng.randint(20, 300)
        return config
    if kind == "electra":
        return dict(draw(rng, "bert"), embedding_size=rng.choice([8, 24, 64]))
    if kind in ("bert", "megatron-bert"):
        return draw_plain(rng, [], intermediate_size=rng.randint(40, 200),
                          max_position_embeddings=rng.randint(20, 300),
                          type_vocab_size=rng.randint(1, 4))
    if kind == "bloom":
        config = draw_plain(rng, [])
        config.update(n_layer=config.pop("num_hidden_layers"),
                      n_head=config.pop("num_attention_heads"))
        return config
    if kind in ("roberta", "xlm-roberta"):
        return draw(rng, "bert")
    config = draw_common(rng)
    if kind in TEXTS:
        return draw_text(rng, kind, config)
    if kind in FURTHER:
        return draw_further(rng, kind, config)
    if kind in VARIANTS:
        return draw_variant(rng, kind, config)
    if kind in HYBRIDS:
        return draw_hybrid(rng, kind, config)
    if kind in MORE:
        return draw_more(rng, kind, config)
    if kind in WIDTHS:
        return draw_widths(rng, kind, config)
    if kind in RECENT:
        return draw_recent(rng, kind, config)
    if kind in ("llama", "deepseek_v2"):
        config.update(draw_flags(rng, ["mlp_bias"]))
    if kind in ("llama", "llama4_text", "qwen3", "qwen3_moe", "gemma", "gemma2", "gemma3_text",
                "olmo2"):
        config.update(draw_flags(rng, ["attention_bias"]))
    if kind in ("qwen2_moe", "qwen3_moe"):
        draw_experts(rng, config)
    if kind == "qwen2_moe":
        config.update(draw_flags(rng, ["qkv_bias"]),
                      shared_expert_intermediate_size=rng.randint(8, 90))
    if kind == "mixtral":
        config.update(num_local_experts=rng.randint(2, 8), num_experts_per_tok=2)
    if kind == "llama4_text":
        config.update(num_local_experts=rng.randint(2, 8), num_experts_per_tok=1,
                      intermediate_size_mlp=rng.randint(40, 200),
                      interleave_moe_layer_step=rng.randint(1, 3))
        if rng.random() < 0.3:
            config["moe_layers"] = [i for i in range(config["num_hidden_layers"])
                                    if rng.random() < 0.5]
    if kind.startswith("deepseek"):
        draw_latent(rng, config)
    if kind == "phi3":
        config.pop("head_dim", None)
    if kind in ("mistral", "mixtral", "phi3", "qwen2", "qwen3", "qwen2_moe", "qwen3_moe", "gemma2",
                "gemma3_text"):
        if rng.random() < 0.6:
            config["sliding_window"] = rng.randint(4, 99)
        if kind.startswith("qwen"):
            config.update(draw_flags(rng, ["use_sliding_window"]),
                          max_window_layers=rng.randint(0, 9))
        if kind in ("gemma2", "gemma3_text") and rng.random() < 0.4:
            config["layer_types"] = [rng.choice(["sliding_attention", "full_attention"])
                                     for _ in range(config["num_hidden_layers"])]
        elif kind == "gemma3_text" and rng.random() < 0.4:
            config["sliding_window_pattern"] = rng.randint(1, 4)
    if rng.random() < 0.5:
        config.update(rms_norm_eps=rng.choice([1e-5, 1e-6, 2e-6]),
                      rope_theta=float(rng.choice([10000, 500000, 1000000])))
    if rng.random() < 0.15 and not kind.startswith(("deepseek", "llama4", "mixtral")):
        del config["intermediate_size"]
    if rng.random() < 0.3 and kind in ("llama", "olmo2", "phi3"):  # absent: as many as heads
        del config["num_key_value_heads"]
    elif rng.random() < 0.2:
        config["num_key_value_heads"] = config["num_attention_heads"]
    return config


KINDS = ["llama", "llama4_text", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe",
         "deepseek_v2", "deepseek_v3",
         "gemma", "gemma2", "gemma3_text", "phi3", "falcon", "olmo2", "gpt_neox", "gpt2", "opt",
         "bert", "electra", "megatron-bert", "t5", "mt5",
         "llava", "qwen2_vl", "qwen2_audio", "bloom", "roberta", "xlm-roberta", "qwen2_5_vl",
         "qwen3_vl", "qwen3_vl_moe"] + list(VARIANTS) + HYBRIDS + list(MORE) + WIDTHS + \
        list(RECENT) + list(TEXTS) + FURTHER + SEQUENCES

# Kinds whose tower is read, too.
TOWERS = {"llava": "LlavaForConditionalGeneration", "qwen2_vl": "Qwen2VLForConditionalGeneration",
          "qwen2_audio": "Qwen2AudioForConditionalGeneration",
          "qwen2_5_vl": "Qwen2_5_VLForConditionalGeneration",
          "qwen3_vl": "Qwen3VLForConditionalGeneration",
          "qwen3_vl_moe": "Qwen3VLMoeForConditionalGeneration", **TEXTS}
# Of these the text alone.
TEXT_ALONE = ["qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", *TEXTS]
# Not of transformers: the class that it is.
SAME = {"kimi_k2": "deepseek_v3"}


def build(kind, config):
    """The config as transformers reads it, and its model."""
    config, kind = copy.deepcopy(config), SAME.get(kind, kind)
    if kind in TOWERS:
        built = transformers.AutoConfig.for_model(kind, **config)
        with torch.device("meta"):
            return built, getattr(transformers, TOWERS[kind])(built)
    if "text_config" in config:
        kind, config = kind + "_text", {k: v for k, v in config["text_config"].items()
                                        if k != "model_type"}
    built = transformers.AutoConfig.for_model(kind, pad_token_id=0, **config)
    if "architectures" in config:
        with torch.device("meta"):
            return built, getattr(transformers, config["architectures"][0])(built)
    model = {**dict.fromkeys(["bert", "roberta", "xlm-roberta", "camembert", "electra",
                              "megatron-bert"], transformers.AutoModelForMaskedLM),
             "data2vec-text": transformers.AutoModelForMaskedLM,
             "eurobert": transformers.AutoModelForMaskedLM,
             "ernie": transformers.AutoModelForMaskedLM,
             "distilbert": transformers.AutoModelForMaskedLM,
             "modernbert": transformers.AutoModelForMaskedLM,
             "deberta-v2": transformers.AutoModelForMaskedLM,
             **dict.fromkeys(PAIRS, transformers.AutoModelForSeq2SeqLM),
             "umt5": transformers.AutoModelForSeq2SeqLM,
             "t5": transformers.AutoModelForSeq2SeqLM,
             "mt5": transformers.AutoModelForSeq2SeqLM}.get(kind, transformers.AutoModelForCausalLM)
    with torch.device("meta"):
        if kind == "mllama_text_model":
            return built, transformers.MllamaForCausalLM(built)
        return built, model.from_config(built)


def parameters(kind, model):
    """LongCat's experts that compute nothing have rows of gates in transformers, which nothing
    reads."""
    number = sum(p.numel() for name, p in model.named_parameters()
                 if not (kind in TEXT_ALONE and any(part in name for part in PARTS)))
    if kind == "longcat_flash":
        none = model.config.zero_expert_num or 0
        number -= sum(p.numel() // len(p) * none for name, p in model.named_parameters()
                      if name.endswith("gate_up_proj"))
    return number


def count(kind, config):
    return parameters(kind, build(kind, config)[1])


# Of other tasks: without the head of a language model.
TASKS = ["Model"] + ["For" + task for task in (
    "SequenceClassification", "TokenClassification", "QuestionAnswering", "MultipleChoice")]
TASK_KINDS = ["electra", "megatron-bert", "bert", "roberta", "xlm-roberta", "ernie", "distilbert",
              "deberta-v2", "modernbert", "modernbert-decoder", "eurobert", "llama", "qwen2",
              "qwen3", "gpt2", "opt", "bloom", "mistral", "gemma2", "qwen3_moe"]


def drawn_tasks(seed, kinds):
    rng = random.Random(seed)
    for kind in kinds:
        for task in TASKS:
            config = draw(rng, kind)
            config["id2label"] = {str(i): "label %d" % i for i in range(rng.randint(1, 9))}
            try:
                auto = getattr(transformers, "AutoModel" + task.replace("Model", ""))
                with torch.device("meta"):
                    built = auto.from_config(transformers.AutoConfig.for_model(
                        kind, pad_token_id=0, **config))
            except Exception:
                continue  # no such class, or refused
            config["architectures"] = [type(built).__name__]
            yield {"_name": "%s %s" % (kind, task), "_parameters":
                   sum(p.numel() for p in built.parameters()), "model_type": kind, **config}


def drawn(seed, each, kinds):
    rng = random.Random(seed)
    for kind in kinds:
        # Of their own, the others stay as they are.
        if kind in TEXTS or kind in FURTHER or kind in SEQUENCES:
            rng = random.Random("%s %s" % (seed, kind))
        made = passed_over = 0
        while made < each and passed_over < 20 * each:
            config = draw(rng, kind)
            try:
                number = count(kind, config)
            except Exception as wrong:
                # transformers itself refuses: key and value heads that do not divide by default,
                # and the like
                print("%s: passed over: %s" % (kind, str(wrong).splitlines()[0]), file=sys.stderr)
                passed_over += 1
                continue
            made += 1
            yield {"_name": "%s random %d" % (kind, made), "_parameters": number,
                   "model_type": kind, **config}


def published():
    for name, kind, config in PUBLISHED + PUBLISHED_HYBRIDS + PUBLISHED_MORE + PUBLISHED_WIDTHS + \
            PUBLISHED_RECENT + PUBLISHED_USED + PUBLISHED_BUILT:
        config = with_router(name, with_facts(name, config))
        yield {"_name": name, "_parameters": count(kind, config), "model_type": kind, **config}


def ours(line):
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/config.json", "w") as file:
            json.dump(line, file)
        subprocess.run(["bin/plumbline", "import", "hf", "--mtp", "0", folder + "/config.json",
                        "-o", folder + "/model.json"], check=True,
                       capture_output=True)
        table = subprocess.run(["bin/plumbline", "models", folder + "/model.json"], check=True,
                               capture_output=True, text=True)
        with open(folder + "/model.json") as file:
            model = json.load(file)
        if line["model_type"] in TOWERS:
            return int(table.stdout.splitlines()[1].split()[1]), [], []
        runs, shape = model["runs"][1:-1], model["shape"]
        layers = [(run["kind"] == "moe", run.get("window", 0)) for run in runs
                  for _ in range(run["count"])]
        facts = [shape.get("activation"), shape["norm_epsilon"], shape.get("rotary_base", 0),
                 shape.get("rotary_share", 1)]
        return int(table.stdout.splitlines()[1].split()[1]), layers, facts


def first(config, *keys):
    if config.model_type in ("t5", "mt5", "umt5"):
        keys = keys[-1:] + keys[:-1]
    return next((getattr(config, key) for key in keys if getattr(config, key, None) is not None),
                None)


def theirs(kind, config):
    built, model = build(kind, config)
    if kind in TOWERS:
        return parameters(kind, model), [], []
    mixtures = {int(name.split("layers.")[1].split(".")[0]) for name, _ in model.named_parameters()
                if "experts" in name}
    if kind == "longcat_flash":  # each of its layers is two of ours
        mixtures = {2 * i for i in mixtures}
    window = getattr(built, "sliding_window", None) or getattr(built, "window_size", None) or 0
    if kind == "modernbert":  # to both sides
        window = 2 * window + 1
    types = getattr(built, "layer_types", None)
    if kind == "gpt_neo":
        types = ["sliding_attention" if t == "local" else t for t in built.attention_layers]
    count_of_layers = built.num_hidden_layers + (built.num_decoder_layers if kind.endswith("t5")
                                                 else 0)
    if kind in PAIRS:
        count_of_layers = built.encoder_layers + built.decoder_layers
    near = [types[i] == "sliding_attention" if types else True for i in range(count_of_layers)]
    rotary = getattr(built, "rope_parameters", None) or {}
    rotary = rotary.get("full_attention", rotary) or rotary.get("sliding_attention") or {}
    if getattr(built, "alibi", False):
        rotary = {}
    if kind in ("gptj", "codegen"):
        rotary = {"rope_theta": 10000,
                  "partial_rotary_factor": built.rotary_dim * built.n_head / built.n_embd}
    facts = [first(built, "mlp_hidden_act", "hidden_activation", "hidden_act",
                   "activation_function", "activation", "dense_act_fn") or
             ({"rwkv": "relu2", "lfm3": "silu"}.get(kind, "silu" if kind.startswith("lfm2") else
                                                       "gelu")),
             first(built, "rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps",
                   "norm_epsilon") or (1e-12 if kind == "distilbert" else 1e-5),
             rotary.get("rope_theta", 0), rotary.get("partial_rotary_factor", 1)]
    return (parameters(kind, model),
            [(i in mixtures, window if near[i] else 0) for i in range(count_of_layers)], facts)


def check(seed, kinds):
    """Each config as drawn, and as transformers saves it: all keys, and those that are not as its
    class has them."""
    wrong = lines = 0
    for line in drawn(seed, 12, kinds):
        kind, config = line["model_type"], {k: v for k, v in line.items() if k[0] != "_"
                                            and k != "model_type"}
        built, expected = build(kind, config)[0], theirs(kind, config)
        for form in (line, json.loads(built.to_json_string(use_diff=True)),
                     json.loads(built.to_json_string(use_diff=False))):
            lines += 1
            if ours(form) != expected:
                wrong += 1
                print("differs: ours %s, transformers' %s: %s" % (ours(form), expected,
                                                                  json.dumps(form)))
    print("%d random configs, %d differ (seed %d, transformers %s)" % (lines, wrong, seed,
                                                                       transformers.__version__))
    return wrong > 0


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    if sys.argv[1] == "--check":
        sys.exit(check(int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6),
                       sys.argv[3:] or KINDS))
    with open(sys.argv[1], "w") as record:
        for line in list(published()) + list(drawn(1, 4, KINDS)) + \
                list(drawn_tasks(1, TASK_KINDS)):
            record.write(json.dumps(line) + "\n")

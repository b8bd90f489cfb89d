"""Megatron Core's own model of an export: megatron_core.py FOLDER ...

A folder, or its launch/, holds megatron.sh or nemo.yaml; it has plan.json and model.json. Each
stage's model is built on the meta device from the flags or fields alone, by Megatron Core's layer
specifications (the local ones, without Transformer Engine), and has as many parameters as the
plan's stage has bytes of weights, two each; of a model that predicts further tokens Megatron has
the last norm with the last decoder layer. Prints stages and parameters."""
import importlib
import json
import os
import subprocess
import sys

import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

for name in ("Stream", "synchronize", "_lazy_init"):
    setattr(torch.cuda, name, lambda *a, **k: None)
torch.cuda.current_device = lambda: torch.device("meta")
torch.cuda.is_available = lambda: False
torch.Tensor.cuda = lambda self, *a, **k: self


FILES = "megatron.sh", "launch/megatron.sh", "nemo.yaml", "launch/nemo.yaml"
YARN = dict(
    rotary_scaling_factor=1.0,
    original_max_position_embeddings=4096,
    beta_fast=32.0,
    beta_slow=1.0,
    mscale=None,
    mscale_all_dim=None,
    correction_range_round_to_int=True,
)


class Linear(torch.nn.Module):
    """Of the latents, which every tensor rank has whole."""

    def __init__(self, inputs, outputs, *args, **keys):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(outputs, inputs))


class NoCore(torch.nn.Module):
    def __init__(self, *args, **keys):
        super().__init__()


import megatron.core.transformer.multi_latent_attention as latent_attention  # noqa: E402

latent_attention.TELinear = Linear
from megatron.core import parallel_state  # noqa: E402
from megatron.core.models.gpt import GPTModel  # noqa: E402
from megatron.core.models.gpt import gpt_layer_specs as specs  # noqa: E402
from megatron.core.transformer.transformer_config import (
    MLATransformerConfig,
    TransformerConfig,
)  # noqa: E402


def flags_of_fields(file):
    import yaml

    fields = yaml.safe_load(open(file))["model"]
    stated = {key: value for key, value in fields.items() if value is not None}
    flags = {key.replace("_", "-"): str(value) for key, value in stated.items()}
    for flag, field, value in (
        ("swiglu", "gated_linear_unit", True),
        ("disable-bias-linear", "add_bias_linear", False),
        ("untie-embeddings-and-output-weights", "share_embeddings_and_output_weights", False),
    ):
        if fields[field] == value:
            flags[flag] = None
    for flag in "qk-layernorm", "add-qkv-bias", "multi-latent-attention", "moe-shared-expert-gate":
        if flags.get(flag) == "False":
            del flags[flag]
    flags["max-position-embeddings"] = flags["seq-length"]
    if "num-moe-experts" in flags:
        flags["num-experts"] = flags["num-moe-experts"]
    return flags


def flags_of(folder):
    file = next(f"{folder}/{x}" for x in FILES if os.path.exists(f"{folder}/{x}"))
    if file.endswith("yaml"):
        return flags_of_fields(file)
    words = subprocess.run(
        ["bash", "-c", f"source '{file}'; printf '%s\\n' \"${{MEGATRON_ARGS[@]}}\""],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    flags = {}
    for i, word in enumerate(words):
        if word.startswith("--"):
            flags[word[2:]] = (
                words[i + 1] if i + 1 < len(words) and not words[i + 1].startswith("--") else None
            )
            if word == "--spec":
                flags["layer"] = words[i + 2]
    return flags


def spec_of_last(flags, config, spec):
    """The layer that further tokens' are like, where the stage has no decoder layer: of a block of
    one stage its last."""
    if "num-experts" not in flags or spec.layer_specs:
        return spec
    latent, norm = config.multi_latent_attention, config.qk_layernorm
    mixed = eval(flags["moe-layer-freq"].strip("'"), {"__builtins__": {}})[-1]
    return specs.get_gpt_layer_local_spec(
        num_experts=config.num_moe_experts if mixed else None,
        qk_layernorm=norm,
        multi_latent_attention=latent,
        normalization=config.normalization,
    )


def spec_of(flags, config, turn):
    if flags.get("spec") == "plumbline_layer":
        return getattr(importlib.import_module("plumbline_layer"), flags["layer"]), None
    if "num-experts" in flags:
        spec = specs.get_gpt_decoder_block_spec(config, use_transformer_engine=False, vp_stage=turn)
    else:
        spec = specs.get_gpt_layer_local_spec(
            qk_layernorm=config.qk_layernorm,
            normalization=config.normalization,
            multi_latent_attention=config.multi_latent_attention,
        )
    further = (
        specs.get_gpt_mtp_block_spec(
            config, spec_of_last(flags, config, spec), use_transformer_engine=False, vp_stage=turn
        )
        if config.mtp_num_layers
        else None
    )
    layers = list(spec.layer_specs) if hasattr(spec, "layer_specs") else [spec]
    if further:
        layers += [layer.submodules.transformer_layer for layer in further.layer_specs]
    for layer in layers:
        attention = layer.submodules.self_attention.submodules
        attention.core_attention = NoCore
        if config.multi_latent_attention:
            attention.linear_q_down_proj = attention.linear_kv_down_proj = Linear
    return spec, further


def check(folder):
    flags = flags_of(folder)

    def count(name, otherwise=None):
        return int(flags[name]) if name in flags else otherwise

    plan = json.load(open(f"{folder}/plan.json"))
    stages = plan["stages"]
    tensor, pipeline = count("tensor-model-parallel-size"), count("pipeline-model-parallel-size")
    expert = count("expert-model-parallel-size", 1)
    # Ranks of a context have the same parameters as replicas.
    replicas = count("context-parallel-size", 1) * plan["layout"].get("data", 1)
    gated = "swiglu" in flags or "quick-geglu" in flags
    turns = len(stages) // pipeline
    keys = dict(
        num_layers=count("num-layers"),
        hidden_size=count("hidden-size"),
        ffn_hidden_size=count("ffn-hidden-size"),
        num_attention_heads=count("num-attention-heads"),
        num_query_groups=count("num-query-groups"),
        kv_channels=count("kv-channels"),
        add_bias_linear="disable-bias-linear" not in flags,
        add_qkv_bias="add-qkv-bias" in flags,
        gated_linear_unit=gated,
        activation_func=torch.nn.functional.silu if gated else torch.nn.functional.gelu,
        normalization=flags.get("normalization", "LayerNorm"),
        qk_layernorm="qk-layernorm" in flags,
        tensor_model_parallel_size=tensor,
        pipeline_model_parallel_size=pipeline,
        expert_model_parallel_size=expert,
        expert_tensor_parallel_size=count("expert-tensor-parallel-size", tensor),
        virtual_pipeline_model_parallel_size=turns if turns > 1 else None,
        pipeline_model_parallel_layout=(flags.get("pipeline-model-parallel-layout") or "").strip(
            "'"
        )
        or None,
        pipeline_dtype=torch.bfloat16,
        params_dtype=torch.bfloat16,
        bf16=True,
        use_cpu_initialization=True,
        perform_initialization=False,
        init_model_with_meta_device=True,
        mtp_num_layers=count("mtp-num-layers"),
        softmax_type=flags.get("softmax-type", "vanilla"),
        qk_l2_norm="qk-l2-norm" in flags,
    )
    if "num-experts" in flags:
        keys.update(
            num_moe_experts=count("num-experts"),
            moe_router_topk=count("moe-router-topk"),
            moe_ffn_hidden_size=count("moe-ffn-hidden-size"),
            moe_token_dispatcher_type=flags["moe-token-dispatcher-type"],
            moe_layer_freq=eval(flags["moe-layer-freq"].strip("'"), {"__builtins__": {}}),
            moe_shared_expert_intermediate_size=count("moe-shared-expert-intermediate-size"),
            moe_shared_expert_gate="moe-shared-expert-gate" in flags,
            moe_router_score_function=flags.get("moe-router-score-function") or "softmax",
            moe_apply_probs_on_input="moe-apply-probs-on-input" in flags,
            no_rope_freq=count("no-rope-freq"),
        )
    kind = TransformerConfig
    if "multi-latent-attention" in flags:
        kind = MLATransformerConfig
        keys.update(
            multi_latent_attention=True,
            q_lora_rank=count("q-lora-rank"),
            kv_lora_rank=count("kv-lora-rank"),
            qk_head_dim=count("qk-head-dim"),
            qk_pos_emb_head_dim=count("qk-pos-emb-head-dim"),
            v_head_dim=count("v-head-dim"),
            rope_type=flags.get("rope-type") or "yarn",
            rotary_scaling_factor=float(flags.get("rotary-scaling-factor", 1)),
        )
    model = json.load(open(f"{folder}/model.json"))
    vocabulary = model["shape"]["vocabulary"]
    multiple = count("make-vocab-size-divisible-by", 128) * tensor
    vocabulary = -(-vocabulary // multiple) * multiple
    counts = {}
    for rank in range(pipeline):
        dist.init_process_group(
            "fake",
            store=FakeStore(),
            rank=rank * tensor * replicas,
            world_size=tensor * replicas * pipeline,
        )
        parallel_state.initialize_model_parallel(
            create_gloo_process_groups=False,
            tensor_model_parallel_size=tensor,
            pipeline_model_parallel_size=pipeline,
            expert_model_parallel_size=expert,
            expert_tensor_parallel_size=count("expert-tensor-parallel-size", tensor),
            virtual_pipeline_model_parallel_size=turns if turns > 1 else None,
        )
        dist.all_reduce = lambda *a, **k: None
        config = kind(**keys)
        if flags.get("position-embedding-type") == "yarn":  # decides no parameter
            for key, value in YARN.items():
                setattr(config, f"yarn_{key}", value)
        for turn in range(turns):
            stage, chunk = turn * pipeline + rank, turn if turns > 1 else None
            spec, further = spec_of(flags, config, chunk)
            with torch.device("meta"):
                part = GPTModel(
                    config,
                    spec,
                    vocab_size=vocabulary,
                    max_sequence_length=count("max-position-embeddings"),
                    pre_process=stage == 0,
                    post_process=stage == len(stages) - 1,
                    mtp_block_spec=further,
                    share_embeddings_and_output_weights="untie-embeddings-and-output-weights"
                    not in flags,
                    position_embedding_type=flags.get("position-embedding-type")
                    or "learned_absolute",
                    vp_stage=chunk,
                )
            counts[stage] = sum(p.numel() for p in part.parameters())
            for layer in part.decoder.layers if config.qk_l2_norm else ():
                bare = layer.self_attention.q_layernorm is None
                assert bare == (layer.layer_number % 4 == 0), f"layer {layer.layer_number}"
        parallel_state.destroy_model_parallel()
        dist.destroy_process_group()
    if (
        config.mtp_num_layers
        and "t" not in str(keys["pipeline_model_parallel_layout"] or "t").split("|")[-1]
    ):
        counts[len(stages) - 1] += config.hidden_size
        counts[
            max(
                s
                for s, part in enumerate(keys["pipeline_model_parallel_layout"].split("|"))
                if "t" in part
            )
        ] -= config.hidden_size
    # Values of a layer that are not told apart (gpt-oss: biases of experts) are planned whole on
    # each rank.
    more = max(run.get("more_values", 0) for run in model["runs"])
    wrong = {}
    for s, n in counts.items():
        layers = stages[s]["last_layer"] - stages[s]["first_layer"] + 1
        if not n <= stages[s]["memory"]["weight_bytes"] / 2 <= n + more * layers:
            wrong[s] = (n, stages[s]["memory"]["weight_bytes"] / 2)
    assert not wrong, f"{folder}: parameters of stages, Megatron Core's and the plan's: {wrong}"
    print(f"{folder}: {len(counts)} stages, {sum(counts.values())} parameters on one rank of each")


for path in sys.argv[1:]:
    sys.path[0] = f"{path}/launch"
    sys.modules.pop("plumbline_layer", None)
    check(path)

"""torchtitan's own models of plans: titan_stages.py FOLDER ...

A folder holds torchtitan_plan.py and plan.json of a layout in which each rank has its stage's
weights whole (tensor and expert degrees of 1, ZeRO 2). The configuration's model is built by
torchtitan 0.3 on the meta device and split by its own function at the configuration's stages; each
has as many parameters as the plan's stage has bytes of weights, two each, where embedding, learned
positions and head count twice (FORMULAS 4). Positions that turn a part of each head turn it as
transformers' GLM-4.5 does, but for pairs of numbers (titan_layers.py). Biases and experts that all
tokens use are where the model has them. Prints stages and parameters."""
import importlib.util
import json
import sys

import torch
from torchtitan.distributed.pipeline_parallel import _split_module


ENDS = "tok_embeddings", "norm", "lm_head"


def values(*modules):
    """Of each parameter, also one that modules share, its number of values."""
    return {id(p): p.numel() for m in modules if m for p in m.parameters()}.values()


def turns_a_part(rope):
    """Whether a rope of this configuration does what transformers' layers of GLM-4.5 do."""
    from transformers.models.glm4_moe.modeling_glm4_moe import apply_rotary_pos_emb

    own = rope.build()
    own._init_self_buffers(buffer_device=torch.device("cpu"))
    places, width = torch.arange(7), own.config.dim
    queries, keys = torch.randn(1, 7, 4, 2 * width), torch.randn(1, 7, 2, 2 * width)
    angles = torch.outer(places, own.config.theta ** (-torch.arange(0, width, 2) / width))
    both = torch.cat((angles, angles), -1)[None]
    wanted = apply_rotary_pos_emb(
        queries.transpose(1, 2), keys.transpose(1, 2), both.cos(), both.sin()
    )
    found = own(queries, keys, places[None])
    return all(torch.allclose(f.transpose(1, 2), w, atol=1e-5) for f, w in zip(found, wanted))


def has_parts(layer, shape, run):
    """Biases of queries, keys and values, and the experts of the run."""
    bias = any(name.endswith("qkv.bias") for name, _ in layer.attention.named_parameters())
    mixture = getattr(layer, "moe_enabled", False)
    shared = layer.moe.shared_experts if mixture else None
    width = shared.w1.out_features if shared else 0
    experts = run.get("moe", {})
    return (bias, mixture, width) == (
        shape["qkv_bias"],
        "moe" in run,
        experts.get("shared_ffn", 0),
    )


def configuration(folder):
    spec = importlib.util.spec_from_file_location("torchtitan_plan", f"{folder}/torchtitan_plan.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.plan()


def check(folder):
    config = configuration(folder)
    plan = json.load(open(f"{folder}/plan.json"))
    with torch.device("meta"):
        model = config.model_spec.model.build()
    parts = config.parallelism.module_fqns_per_model_part
    if parts:
        stages = [_split_module(model, part) for part in parts]
    else:
        stages = [model]
    ends = [[getattr(stage, x) for x in ENDS] for stage in stages]
    ends[0].append(getattr(model.layers["0"], "places", None))
    counts = [sum(values(stage)) + sum(values(*end)) for stage, end in zip(stages, ends)]
    planned = [stage["memory"]["weight_bytes"] / 2 for stage in plan["stages"]]
    assert counts == planned, f"{folder}: parameters of stages: {counts}, the plan's {planned}"
    document = json.load(open(f"{folder}/model.json"))
    runs = [run for run in document["runs"][1:-1] for _ in range(run["count"])]
    if hasattr(config.model_spec.model.layers[0].attention, "qkv_linear"):
        sinks = any(run.get("more_values") for run in runs)
        layers = zip(model.layers.values(), runs)
        assert sinks or all(has_parts(x, document["shape"], run) for x, run in layers), folder
    rope = config.model_spec.model.layers[0].attention.rope
    if document["shape"].get("rotary_share", 1) < 1:
        assert rope.dim == document["shape"]["rotary_share"] * document["shape"]["head_width"]
        pairs = document["name"].startswith("gpt-j")
        assert pairs or turns_a_part(rope), f"{folder}: positions"
    print(f"{folder}: {len(counts)} stages, {sum(counts)} parameters")


for path in sys.argv[1:]:
    check(path)

"""torchtitan's own models of plans: titan_stages.py FOLDER ...

A folder holds torchtitan_plan.py and plan.json of a layout in which each rank has its stage's
weights whole (tensor and expert degrees of 1, ZeRO 2). The configuration's model is built by
torchtitan 0.3 on the meta device and split by its own function at the configuration's stages; each
has as many parameters as the plan's stage has bytes of weights, two each, where embedding and head
count twice (FORMULAS 4). Prints stages and parameters."""
import importlib.util
import json
import sys

import torch
from torchtitan.distributed.pipeline_parallel import _split_module


ENDS = "tok_embeddings", "norm", "lm_head"


def values(*modules):
    """Of each parameter, also one that modules share, its number of values."""
    return {id(p): p.numel() for m in modules if m for p in m.parameters()}.values()


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
    counts = [sum(values(stage)) + sum(values(*end)) for stage, end in zip(stages, ends)]
    planned = [stage["memory"]["weight_bytes"] / 2 for stage in plan["stages"]]
    assert counts == planned, f"{folder}: parameters of stages: {counts}, the plan's {planned}"
    print(f"{folder}: {len(counts)} stages, {sum(counts)} parameters")


for path in sys.argv[1:]:
    check(path)

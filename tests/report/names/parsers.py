"""usage: parsers.py FOLDER: the frameworks' own parsers take the launch files of FOLDER, as far as
this Python has them; Megatron-LM's from the checkout that MEGATRON_LM names."""
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])


def has(package):
    return importlib.util.find_spec(package) is not None


if (folder / "megatron.sh").exists() and os.environ.get("MEGATRON_LM") and has("torch"):
    import argparse
    import typing

    import typing_extensions

    typing.override = typing_extensions.override  # of Python 3.12
    sys.path.insert(0, os.environ["MEGATRON_LM"])
    from megatron.training.arguments import add_megatron_arguments

    words = subprocess.run(
        ["bash", "-c", f"source '{folder}/megatron.sh'; printf '%s\\n' \"${{MEGATRON_ARGS[@]}}\""],
        capture_output=True, text=True, check=True).stdout.splitlines()
    parser = argparse.ArgumentParser(allow_abbrev=False)
    add_megatron_arguments(parser)
    read = parser.parse_args(words)
    print("Megatron-LM:", read.num_layers, "layers", read.pipeline_model_parallel_layout)
if (folder / "torchtitan_plan.py").exists() and has("torchtitan"):
    from torchtitan.config.manager import ConfigManager

    sys.path.insert(0, str(folder))
    for name in "plan", "mock":
        read = ConfigManager().parse_args(["--module", "torchtitan_plan", "--config", name])
        assert read.training.steps > 0
    print("torchtitan:", len(read.model_spec.model.layers), "layers")
if (folder / "deepspeed.json").exists() and has("deepspeed"):
    from deepspeed.runtime.config import DeepSpeedConfig

    config = json.loads((folder / "deepspeed.json").read_text())
    steps = config["train_micro_batch_size_per_gpu"] * config["gradient_accumulation_steps"]
    config["train_batch_size"] = steps  # it asks as if it were alone
    DeepSpeedConfig(config)
    print("DeepSpeed: taken")
if (folder / "nemo.yaml").exists() and has("yaml"):
    import yaml

    assert set(yaml.safe_load((folder / "nemo.yaml").read_text())) >= {"model", "train"}

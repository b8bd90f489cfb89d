"""How far published runs of a program are from their cold predictions, each set by what the others
of its class show: left_out.py PLUMBLINE [SETS]. A set is a table's rows on one GPU (of a mixture,
of one model), a class the runs that share one number. The half-width is the least
|ln(measured / predicted)|, without what is done once an iteration (docs/FORMULAS.md 19), that holds
77 % of the other sets' rows, with sets weighed alike and with rows weighed alike: small sets say
little of rows, large ones little of sets."""
import csv
import math
import os
import subprocess
import sys
from collections import defaultdict

plumbline = sys.argv[1]
sets = sys.argv[2] if len(sys.argv) > 2 else "../shared/validation"
share = 0.77
recipes = "overlap=1,overlap_messages=1,overlap_tensor=1,gradient_bytes=2"
# table, rows, further options
tables = [
    ("data/runs/nvidia-megatron.csv", "", []),
    ("data/runs/megatron-bridge.csv", "", []),
    ("data/runs/moe-zoo-cards.csv", "", []),
    ("data/runs/mlperf-training.csv", "", []),
    ("data/runs/mlperf-rounds.csv", "model!=llama-2-70b", []),
    ("data/runs/mlperf-5.1.csv", "", []),
    ("data/runs/nemo-long-context.csv", "", []),
    ("data/runs/dgxc-25.05.csv", "", []),
    ("data/runs/dgxc-releases.csv", "", []),
    ("data/runs/nvidia-pages.csv", "framework=NeMo", []),
    ("data/runs/bridge-finetuning.csv", "", []),
    ("data/runs/bridge-gb200-gb300.csv", "", []),
    (f"{sets}/nvidia_dgxc_v25.04.csv", "", ["--default", recipes]),
    ("data/runs/mpt-llm-foundry.csv", "", []),
    ("data/runs/torchtitan-llama3.csv", "", []),
    ("data/runs/fsdp-teams.csv", "framework=torchtitan", []),
]
notes = ["175B of 2022", "5B of 2022-06", "5B of 2022-09", "NeMo 24.07", "container"]
once_s = 0.025


mixtures = ("deepseek", "gpt-oss", "qwen3", "kimi", "mixtral")


def class_of(table, gpu, part):
    if part in mixtures:
        joined = "NVL72" if gpu in ("GB200", "GB300") else "nodes of eight"
        return f"Megatron-Bridge's mixtures on {joined}"
    if "foundry" in table:
        return table
    if "torchtitan" in table or "fsdp" in table:
        return "torchtitan"
    if "bridge" in table or part == "container":
        return "Megatron-Bridge"
    return "NeMo since 2024-09 on H100" if "dgxc" in table and "H100" in gpu else "other recipes"


def beside_once(row, time):
    """The part of ln(measured / predicted) that p has to hold."""
    if row["metric"] != "iteration_time" or time < 0:
        return abs(time)
    once = math.log1p(once_s / float(row["predicted"]))
    return math.sqrt(max(0, time**2 - once**2))


def off(table, rows, options):
    """(table, GPU, part) -> [(ln(measured time / predicted time), beside what is done once)]"""
    with open(table, newline="") as file:
        stated = {r["id"]: r for r in csv.DictReader(file)}
    chosen = ["--rows", rows] if rows else []
    command = [plumbline, "validate", table, "--list", "--read-notes", *chosen, *options]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = defaultdict(list)
    for r in csv.DictReader(listed.splitlines()):
        if not r["predicted"] or r["excluded"] or r["metric"].endswith("memory"):
            continue
        row = stated[r["id"]]
        part = next((n for n in notes if n in row.get("notes", "")), "")
        if row.get("lora_rank", "") not in ("", "0"):
            continue  # no class
        mixture = next((n for n in mixtures if n in row.get("model", "")), "")
        if mixture or row.get("experts", "0") not in ("", "0"):
            if "Bridge" not in row["framework"]:
                continue
            part = mixture
        if "nvidia-megatron" in table and not part:
            continue  # the README's nine models: Megatron run by others than a recipe's makers
        time = math.log(float(r["measured"]) / float(r["predicted"]))
        time = time if r["metric"] == "iteration_time" else -time
        found[table.split("/")[-1], row["gpu"], part].append((time, beside_once(r, time)))
    return found


def held_by(points):
    """The least x that holds the share of these (x, weight)."""
    held, all_of = 0, sum(w for _, w in points)
    for x, weight in sorted(points):
        held += weight
        if held >= share * all_of:
            return x
    return max(points)[0]


def half_width(groups):
    sets_alike = [(x, 1 / len(g)) for g in groups for _, x in g]
    rows_alike = [(x, 1) for g in groups for _, x in g]
    return max(held_by(sets_alike), held_by(rows_alike))


classes = defaultdict(dict)
for table, rows, options in tables:
    if os.path.exists(table):
        for name, own in off(table, rows, options).items():
            classes[class_of(*name)][name] = own
for kind, found in classes.items():
    print(f"== {kind}: {len(found)} sets, half-width of all {half_width(found.values()):.3f}")
    inside = width = error = 0
    for name, own in found.items():
        others = [g for n, g in found.items() if n != name]
        d = half_width(others) if others else math.nan
        held = sum(x <= d for _, x in own)
        mean = sum(abs(math.exp(-x) - 1) for x, _ in own) / len(own)
        print(f"{' '.join(name):48} {len(own):4} by the others {d:.3f}: {held} inside, "
              f"mean {100 * mean:.1f} %")
        inside += held / len(own)
        width += 2 * math.sinh(d)
        error += mean
    n = len(found)
    print(f"mean of sets: {100 * inside / n:.0f} % inside, width {100 * width / n:.0f} %, "
          f"{width / error:.1f} times the mean error")

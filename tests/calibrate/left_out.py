"""How far published dense runs of a program are from their cold predictions, each set by what the
others show: left_out.py PLUMBLINE [SETS]. A set is a table's rows on one GPU. The half-width is the
least |ln(measured / predicted)| that holds 77 % of the other sets' rows, sets weighed alike."""
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
# program, table, rows, further options
tables = [
    ("recipes", "data/runs/nvidia-megatron.csv", "", []),
    ("recipes", "data/runs/megatron-bridge.csv", "model~llama", []),
    ("recipes", "data/runs/mlperf-training.csv", "", []),
    ("recipes", "data/runs/nemo-long-context.csv", "", []),
    ("recipes", f"{sets}/nvidia_dgxc_v25.04.csv", "", ["--default", recipes]),
    ("FSDP", "data/runs/mpt-llm-foundry.csv", "", []),
    ("FSDP", "data/runs/torchtitan-llama3.csv", "", []),
]
notes = ["175B of 2022", "5B of 2022-06", "5B of 2022-09", "NeMo 24.07", "container"]


def off(table, rows, options):
    """(GPU, part) -> [ln(measured time / predicted time)]"""
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
        if "nvidia-megatron" in table and not part:
            continue  # the README's nine models: Megatron run by others than a recipe's makers
        time = math.log(float(r["measured"]) / float(r["predicted"]))
        found[table.split("/")[-1], row["gpu"], part].append(
            time if r["metric"] == "iteration_time" else -time)
    return found


def half_width(groups):
    points = sorted((abs(x), 1 / len(g)) for g in groups for x in g)
    held, all_of = 0, sum(w for _, w in points)
    for x, weight in points:
        held += weight
        if held >= share * all_of:
            return x
    return points[-1][0]


programs = defaultdict(dict)
for program, table, rows, options in tables:
    if os.path.exists(table):
        programs[program].update(off(table, rows, options))
for program, found in programs.items():
    print(f"== {program}: {len(found)} sets, half-width of all {half_width(found.values()):.3f}")
    inside = width = error = 0
    for name, own in found.items():
        d = half_width([g for n, g in found.items() if n != name])
        held = sum(abs(x) <= d for x in own)
        mean = sum(abs(math.exp(-x) - 1) for x in own) / len(own)
        print(f"{' '.join(name):48} {len(own):4} by the others {d:.3f}: {held} inside, "
              f"mean {100 * mean:.1f} %")
        inside += held / len(own)
        width += 2 * math.sinh(d)
        error += mean
    n = len(found)
    print(f"mean of sets: {100 * inside / n:.0f} % inside, width {100 * width / n:.0f} %, "
          f"{width / error:.1f} times the mean error")

"""How far published runs of a program are from their cold predictions, each set by what the others
of its class show: left_out.py PLUMBLINE [SETS]. A set is a table's rows on one GPU (of a mixture,
of one model), a class the runs that share one number. The half-width is the least
|ln(measured / predicted)|, without what is done once an iteration (docs/FORMULAS.md 19), that holds
80 % of the other sets' rows, the level of all ranges, with sets weighed alike and with rows weighed
alike: small sets say little of rows, large ones little of sets. Beside it, what normal errors of
sets and of rows in a set would give (medians of absolute deviations, squares added).

Then runs of which no program's number holds, by teams weighed alike: how many of each team's are
within what their costs leave open, at which multiple of it 80 % are, and of mixtures what else has
to be left open, joined by squares, so that 80 % are inside, each team by the others."""
import csv
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict

plumbline = sys.argv[1]
sets = sys.argv[2] if len(sys.argv) > 2 else "../shared/validation"
share = 0.80
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
    if part.startswith("NeMo's"):
        return "NeMo's mixtures"
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


def listed(table, rows, options):
    """(row as its table states it, row of `validate --list`, ln(measured / predicted time))"""
    with open(table, newline="") as file:
        stated = {r["id"]: r for r in csv.DictReader(file)}
    chosen = ["--rows", rows] if rows else []
    command = [plumbline, "validate", table, "--list", "--read-notes", *chosen, *options]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for r in csv.DictReader(text.splitlines()):
        if r["predicted"] and not r["excluded"] and not r["metric"].endswith("memory"):
            time = math.log(float(r["measured"]) / float(r["predicted"]))
            yield stated[r["id"]], r, time if r["metric"].endswith("_time") else -time


def mixture_of(row):
    return next((n for n in mixtures if n in row.get("model", "")), "")


def is_mixture(row):
    return bool(mixture_of(row)) or row.get("experts", "") not in ("", "0")


def off(table, rows, options):
    """(table, GPU, part) -> [(ln(measured time / predicted time), beside what is done once)]"""
    found = defaultdict(list)
    for row, r, time in listed(table, rows, options):
        part = next((n for n in notes if n in row.get("notes", "")), "")
        if row.get("lora_rank", "") not in ("", "0"):
            continue  # no class
        if is_mixture(row):
            if "Bridge" not in row["framework"] and "NeMo" not in row["framework"]:
                continue
            own = "" if "Bridge" in row["framework"] else "NeMo's "
            part = own + (mixture_of(row) or "mixture by its shape")
        if "nvidia-megatron" in table and not part:
            continue  # the README's nine models: Megatron run by others than a recipe's makers
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


def median_width(groups):
    """Of normal errors of sets and of rows in a set, with the scales that medians give."""
    z = statistics.NormalDist().inv_cdf(0.5 + share / 2) / statistics.NormalDist().inv_cdf(0.75)
    middles = [statistics.median(t for t, _ in g) for g in groups]
    rows = [abs(t - m) for g, m in zip(groups, middles) for t, _ in g if len(g) > 2]
    between, within = statistics.median(map(abs, middles)), statistics.median(rows)
    return z * math.hypot(within, between * math.sqrt(1 + 1 / len(groups)))


classes = defaultdict(dict)
for table, rows, options in tables:
    if os.path.exists(table):
        for name, own in off(table, rows, options).items():
            classes[class_of(*name)][name] = own
for kind, found in classes.items():
    print(f"== {kind}: {len(found)} sets, half-width of all {half_width(found.values()):.3f}, "
          f"by medians {median_width(list(found.values())):.3f}")
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

# ---- runs that no program's number holds

recipes_2104 = "seq=1024,recompute=full"
teams = [  # name, table, rows, further options
    ("vTrain", f"{sets}/vtrain_single_2312.12391.csv", "", []),
    ("vTrain", f"{sets}/vtrain_multi_2312.12391.csv", "", []),
    ("Megatron's papers", f"{sets}/korthikanti_2205.05198.csv", "metric=iteration_time", []),
    ("Megatron's papers", f"{sets}/megatron_sc21_2104.04473.csv", "", ["--default", recipes_2104]),
    ("Megatron's README", "data/runs/nvidia-megatron.csv", "notes~README", []),
    ("BigScience", f"{sets}/bigscience_176B_prequel_A100.csv", "metric=iteration_time",
     ["--default", "heads=96,kv_heads=96"]),
    *((name, f"data/runs/{table}.csv", rows, []) for name, table, rows in (
        ("zero-bubble", "zero-bubble-2401.10241", ""), ("Llama 3", "llama3-2407.21783", ""),
        ("MT-NLG", "mt-nlg-2201.11990", ""), ("GLM", "glm-130b-2210.02414", ""),
        ("MegaScale", "megascale-2402.15627", ""), ("InternEvo", "internevo", ""),
        ("Automodel", "automodel", ""), ("AMD", "amd-training", ""), ("XTuner", "xtuner", ""),
        ("fms-fsdp", "fsdp-teams", "source~fms-fsdp"),
        ("KempnerForge", "fsdp-teams", "framework=KempnerForge"),
        ("Megatron's zoo", "moe-zoo-cards", "framework=Megatron-LM"),
        ("Megatron Core's paper", "mixtures-2026", "source~arXiv"),
        ("torchtune", "mixtures-2026", "framework=torchtune"))),
]


def by_costs(folder):
    """kind -> team -> [(ln(measured / predicted), fast end's, slow end's logarithm)], by costs
    whose spread is none assumed, so that nothing is known of programs and mixtures."""
    with open("data/costs/kernels.json") as file:
        costs = file.read()
    path = f"{folder}/kernels.json"
    before, spread = costs.split('"iteration_spread": {', 1)
    with open(path, "w") as file:
        file.write(before + '"iteration_spread": {' + spread.replace('"assumed"', '"published"', 1))
    found = {"dense": defaultdict(list), "mixtures": defaultdict(list)}
    for team, table, rows, options in teams:
        if not os.path.exists(table):
            continue
        for row, r, time in listed(table, rows, [*options, "--costs", path]):
            ends = [math.log(float(r[end]) / float(r["predicted"])) for end in ("low", "high")]
            if not r["metric"].endswith("_time"):
                ends = [-ends[1], -ends[0]]
            found["mixtures" if is_mixture(row) else "dense"][team].append((time, *ends))
    return found


def beyond(row, more=0):
    """How often its doubt a row is off, with so much more left open."""
    time, fast, slow = row
    return abs(time) / math.hypot(slow if time > 0 else fast, more)


def inside(rows, more=0):
    return sum(beyond(row, more) <= 1 for row in rows) / len(rows)


def more_for(groups):
    """The least that has to be left open besides, in steps of 0.005."""
    return next(more / 1000 for more in range(0, 1000, 5)
                if statistics.mean(inside(rows, more / 1000) for rows in groups) >= share)


with tempfile.TemporaryDirectory() as folder:
    for kind, found in by_costs(folder).items():
        times = held_by([(beyond(row), 1 / len(rows)) for rows in found.values() for row in rows])
        print(f"== {kind}, {len(found)} teams: 80 % within {times:.2f} times their costs' doubt; "
              f"{100 * statistics.mean(map(inside, found.values())):.0f} % inside it; "
              f"besides, {more_for(found.values()):.3f}")
        for team, rows in found.items():
            more = more_for([g for t, g in found.items() if t != team])
            print(f"{team:24} {len(rows):4}: {100 * inside(rows):3.0f} % inside, by the others "
                  f"{more:.3f} besides: {100 * inside(rows, more):3.0f} %")

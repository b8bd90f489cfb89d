"""How wide the cold ranges of sets are beside their errors, and how wide they would be if all but a
new set's common error were known (docs/VALIDATION.md 6): set_errors.py PLUMBLINE [SETS]. For each
set: rows, rows inside, width, width over mean error, half of it, and mean and standard deviation of
ln(measured / predicted). Then 4,000 drawn sets of 40 rows, whose common error has the standard
deviation of these means and whose rows scatter as one of these sets does."""
import csv
import math
import random
import statistics
import subprocess
import sys

plumbline = sys.argv[1]
shared = sys.argv[2] if len(sys.argv) > 2 else "../shared/validation"
recipes = "overlap=1,overlap_messages=1,overlap_tensor=1,gradient_bytes=2"
megatron = "data/runs/nvidia-megatron.csv"
foundry = "data/runs/mpt-llm-foundry.csv"
bridge = "data/runs/megatron-bridge.csv"
sets = [
    [f"{shared}/vtrain_single_2312.12391.csv"],
    [f"{shared}/vtrain_multi_2312.12391.csv"],
    [f"{shared}/korthikanti_2205.05198.csv", "--rows", "metric=iteration_time"],
    [f"{shared}/megatron_sc21_2104.04473.csv", "--default", "seq=1024,recompute=full",
     "--set", "node_doubling_share=1"],
    [f"{shared}/nvidia_dgxc_v25.04.csv", "--default", recipes],
    [f"{shared}/amp_homogeneous_2210.07297.csv", "--costs", "t4-kernels", "--cluster", "t4-4x4",
     "--default", "gradient_bytes=4"],
    [f"{shared}/bigscience_176B_prequel_A100.csv", "--default", "heads=96,kv_heads=96",
     "--rows", "metric=iteration_time"],
    *([foundry, "--rows", f"gpu={gpu}"] for gpu in ("A100-40GB", "A100-80GB", "H100-80GB")),
    ["data/runs/torchtitan-llama3.csv", "--rows", "metric=throughput"],
    *([megatron, "--rows", f"notes~{part}"]
      for part in ("5B of,layers=24", "175B of 2022-07", "175B of 2022-09", "NeMo 24.07",
                   "container,gpu=H100-80GB", "container,gpu=B200", "README")),
    ["data/runs/mlperf-rounds.csv", "--rows", "model!=llama-2-70b"],
    [bridge, "--rows", "model~llama"],
    [bridge, "--rows", "ep>0"],
    *([f"data/runs/{name}.csv"]
      for name in ("llama3-2407.21783", "mt-nlg-2201.11990", "glm-130b-2210.02414",
                   "megascale-2402.15627", "zero-bubble-2401.10241", "nemo-long-context",
                   "bridge-gb200-gb300", "mlperf-training", "mlperf-5.1", "moe-zoo-cards",
                   "dgxc-25.05", "dgxc-releases", "amd-training")),
]


def validate(*words):
    command = [plumbline, "validate", *words, "--read-notes"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def rows_of(words):
    """ln(measured time / predicted time) of a set's rows, and their mean error."""
    found, errors = [], []
    for r in csv.DictReader(validate(*words, "--list")):
        timed = "memory" not in r["metric"] and "oom" not in r["metric"]
        if timed and r["predicted"] and not r["excluded"]:
            log = math.log(float(r["measured"]) / float(r["predicted"]))
            found.append(log if r["metric"].endswith("_time") else -log)
            errors.append(abs(float(r["error"])))
    return found, statistics.mean(errors)


def range_of(words):
    """Rows inside and mean width of a set's ranges."""
    rows = inside = width = 0
    for line in validate(*words):
        f = line.split()
        if len(f) > 8 and f[-1] == "%" and f[2].isdigit() and "memory" not in f[1]:
            n = int(f[2])
            rows, inside, width = (rows + n, inside + n * float(f[-4]) / 100,
                                   width + n * float(f[-2]) / 100)
    return inside, width / rows


def error_of(logs):
    return sum(abs(math.exp(-x) - 1) for x in logs) / len(logs)


def half_width(logs):
    return sorted(abs(x) for x in logs)[int(0.77 * len(logs))]


def show_draws(common, scatters, known):
    """The widths that hold 77 % of all rows, or of those of sets that scatter alike."""
    rng = random.Random(5)
    drawn = []
    for _ in range(4000):
        own, scatter = rng.gauss(0, common), rng.choice(scatters)
        drawn.append((scatter, [own + rng.gauss(0, scatter) for _ in range(40)]))
    held = {s: half_width([x for t, logs in drawn for x in logs if not known or t == s])
            for s in set(scatters)}
    inside = [sum(abs(x) <= held[s] for x in logs) / len(logs) for s, logs in drawn]
    ratios = [2 * math.sinh(held[s]) / error_of(logs) for s, logs in drawn]
    good = [0.75 <= i <= 0.95 for i in inside]
    print(f"{'scatter known' if known else f'one half-width, {max(held.values()):.3f}'}: "
          f"{sum(good) / 40:.0f} % of sets have 75 to 95 % inside, "
          f"{sum(r <= 3 for r in ratios) / 40:.0f} % a width of at most 3 errors, "
          f"{sum(g and r <= 3 for g, r in zip(good, ratios)) / 40:.0f} % both")


means, scatters = [], []
for words in sets:
    (logs, error), (inside, width) = rows_of(words), range_of(words)
    ratio = width / error
    means.append(statistics.mean(logs))
    if len(logs) >= 8:
        scatters.append(statistics.pstdev(logs))
    name = " ".join(w.split("/")[-1] for w in words if not w.startswith("--"))
    print(f"{name[:58]:58} {len(logs):4} {100 * inside / len(logs):4.0f} % {100 * width:5.1f} % "
          f"{ratio:4.1f} {ratio / 2:4.1f}  {means[-1]:+.3f} {statistics.pstdev(logs):.3f}")
common = statistics.pstdev(means)
print(f"{len(sets)} sets, their means {common:.3f} apart")
for known in (False, True):
    show_draws(common, scatters, known)

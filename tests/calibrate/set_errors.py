"""How wide the cold ranges of sets are beside their errors, and how wide they would be if all but a
new set's common error were known (docs/VALIDATION.md 6): set_errors.py PLUMBLINE [SETS]. For each
set of 20 rows and more, and for all others together: rows, mean error, rows inside, width (high -
low over the prediction), width over mean error, half the width over it, mean and standard deviation
of ln(measured / predicted), and, of 75 to 95 % inside, "half" where half the width is at most three
times the mean error, "full" where the width is. Sets that were gathered after the 17 are counted
apart. Then 4,000 drawn sets of 40 rows, whose common error has the standard deviation of these
means and whose rows scatter as one of these sets does."""
import csv
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

plumbline = sys.argv[1]
shared = sys.argv[2] if len(sys.argv) > 2 else "../shared/validation"
recipes = "overlap=1,overlap_messages=1,overlap_tensor=1,gradient_bytes=2"
megatron = "data/runs/nvidia-megatron.csv"
foundry = "data/runs/mpt-llm-foundry.csv"
bridge = "data/runs/megatron-bridge.csv"
temporary = tempfile.TemporaryDirectory()


def roce():
    """InternEvo's fabric, as its page states it: four NICs of 100 Gb/s RoCE a node."""
    path = f"{temporary.name}/a100-128x8-roce.json"
    with open("data/clusters/a100-16x8.json") as file:
        text = file.read()
    for was, now in (('"a100-16x8"', '"a100-128x8-roce"'), ('"nodes": 16', '"nodes": 128'),
                     ('"infiniband"', '"roce"'), ('"count": 8', '"count": 4'),
                     ("25000000000", "12500000000")):
        text = text.replace(was, now)
    with open(path, "w") as file:
        file.write(text)
    return path


sets = {
    "vtrain_single": [f"{shared}/vtrain_single_2312.12391.csv"],
    "vtrain_multi": [f"{shared}/vtrain_multi_2312.12391.csv"],
    "sc21, its fabric stated": [f"{shared}/megatron_sc21_2104.04473.csv", "--default",
                                "seq=1024,recompute=full", "--set", "node_doubling_share=1"],
    "dgxc": [f"{shared}/nvidia_dgxc_v25.04.csv", "--default", recipes],
    "its other releases": ["data/runs/dgxc-releases.csv"],
    "amp": [f"{shared}/amp_homogeneous_2210.07297.csv", "--costs", "t4-kernels", "--cluster",
            "t4-4x4", "--default", "gradient_bytes=4"],
    "bigscience": [f"{shared}/bigscience_176B_prequel_A100.csv", "--default",
                   "heads=96,kv_heads=96", "--rows", "metric=iteration_time"],
    **{f"MPT on {gpu}": [foundry, "--rows", f"gpu={gpu}"]
       for gpu in ("A100-40GB", "A100-80GB", "H100-80GB")},
    "torchtitan": ["data/runs/torchtitan-llama3.csv", "--rows", "metric=throughput"],
    "zero-bubble": ["data/runs/zero-bubble-2401.10241.csv"],
    "MLPerf": ["data/runs/mlperf-training.csv"],
    "Megatron-Bridge, dense": [bridge, "--rows", "model~llama"],
    "Megatron-Bridge, mixtures": [bridge, "--rows", "ep>0"],
    "mixtures set apart": ["data/runs/moe-zoo-cards.csv"],
    "InternEvo, its fabric stated": ["data/runs/internevo.csv", "--cluster", roce()],
}
since = {
    "NVIDIA's pages": ["data/runs/nvidia-pages.csv"],
    "FSDP by three teams": ["data/runs/fsdp-teams.csv"],
    "XTuner": ["data/runs/xtuner.csv"],
    "mixtures and adapters of 2026": ["data/runs/mixtures-2026.csv"],
}
small = {
    "korthikanti": [f"{shared}/korthikanti_2205.05198.csv", "--rows", "metric=iteration_time"],
    **{f"NVIDIA's Megatron, {part}": [megatron, "--rows", f"notes~{part}"]
       for part in ("5B of,layers=24", "175B of 2022-07", "175B of 2022-09", "NeMo 24.07",
                    "container,gpu=H100-80GB", "container,gpu=B200", "README")},
    "MLPerf, other rounds": ["data/runs/mlperf-rounds.csv", "--rows", "model!=llama-2-70b"],
    "its LoRA": ["data/runs/mlperf-rounds.csv", "--rows", "model=llama-2-70b"],
    **{name: [f"data/runs/{name}.csv"]
       for name in ("llama3-2407.21783", "mt-nlg-2201.11990", "glm-130b-2210.02414",
                    "megascale-2402.15627", "nemo-long-context", "bridge-gb200-gb300", "mlperf-5.1",
                    "dgxc-25.05", "amd-training", "automodel", "bridge-finetuning",
                    "bridge-25.09")},
}


def rows_of(words):
    """(ln(measured time / predicted time), error, inside, width) of a set's rows."""
    command = [plumbline, "validate", *words, "--read-notes", "--list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for r in csv.DictReader(listed.splitlines()):
        if not r["predicted"] or r["excluded"] or "memory" in r["metric"] or "oom" in r["metric"]:
            continue
        columns = "measured predicted low high".split()
        measured, predicted, low, high = (float(r[column]) for column in columns)
        log = math.log(measured / predicted)
        yield (log if r["metric"].endswith("_time") else -log, abs(float(r["error"])),
               low <= measured <= high, (high - low) / predicted)


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


def show(name, rows):
    """The set's line; how it is inside, and wide at most, by half its width and by all of it."""
    logs, errors, inside, widths = zip(*rows)
    held, error, width = map(statistics.mean, (inside, errors, widths))
    good = 0.75 <= held <= 0.95
    half, full = good and width / 2 <= 3 * error, good and width <= 3 * error
    print(f"{name:34} {len(rows):4} {100 * error:5.1f} % {100 * held:4.0f} % {100 * width:5.1f} % "
          f"{width / error:5.1f} {width / error / 2:5.1f}  {statistics.mean(logs):+.3f} "
          f"{statistics.pstdev(logs):.3f}  {'half' if half else ''} {'full' if full else ''}")
    return good, half, full


print(f"{'set':34} rows  error inside  width  over error, half   mean, deviation")
all_logs, small_rows = [], []
for title, group in (("", sets), ("gathered since", since), ("under 20 rows", small)):
    counts = []
    if title:
        print(f"{title}:")
    for name, words in group.items():
        if not os.path.exists(words[0]):
            continue
        rows = list(rows_of(words))
        counts.append(show(name, rows))
        all_logs.append([log for log, *_ in rows])
        small_rows += rows if group is small else []
    good, half, full = map(sum, zip(*counts))
    print(f"{len(counts)} sets: {good} with 75 to 95 % inside; half the width {half}, all of it "
          f"{full} at most three errors")
show("sets under 20 rows, together", small_rows)
means = [statistics.mean(logs) for logs in all_logs]
scatters = [statistics.pstdev(logs) for logs in all_logs if len(logs) >= 8]
common = statistics.pstdev(means)
print(f"{len(means)} sets, their means {common:.3f} apart")
for known in (False, True):
    show_draws(common, scatters, known)

#!/usr/bin/env python3
"""Eleven plans of one small GPT carried out on this machine's processors, by own kernels and by
PyTorch, beside what was predicted: one line a plan, then the medians, the order of the plans, and
the memory of each rank. What docs/VALIDATION.md, Plans carried out, has.

tests/bench/runs.py own|torch [FOLDER]

own: costs are measured anew before every third plan; then with the costs that
follow from the first run. torch: costs of processors first;
then those that follow from one run, 1f1b. RUNS_PYTHON: a Python that has torch. RUNS_ITERATIONS=5.
"""
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile

BIN = os.path.abspath(os.environ.get("BIN", "bin"))
PYTHON = os.environ.get("RUNS_PYTHON", "python3")
ITERATIONS = os.environ.get("RUNS_ITERATIONS", "5")
# name, schedule, ranks, stages a rank, replicas, recomputation, layers of the first stage
PLANS = [("even", "1f1b", 2, 1, 1, "none", 5), ("gpipe", "gpipe", 2, 1, 1, "none", 0),
         ("uneven", "1f1b", 2, 1, 1, "none", 3), ("four", "1f1b", 4, 1, 1, "none", 0),
         ("interleaved", "interleaved", 2, 2, 1, "none", 0), ("zb-h1", "zb-h1", 2, 1, 1, "none", 0),
         ("zb-v", "zb-v", 2, 2, 1, "none", 0), ("looped-bfs", "looped-bfs", 2, 2, 1, "none", 0),
         ("full", "1f1b", 2, 1, 1, "full", 4), ("v-half", "v-half", 2, 2, 1, "none", 0),
         ("replicas", "1f1b", 2, 1, 2, "none", 0)]


def call(*words):
    done = subprocess.run([os.path.join(BIN, "plumbline"), *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"plumbline {' '.join(words)}: {done.stderr}")
    return done.stdout


def write(name, content):
    with open(name, "w", encoding="utf-8") as file:
        json.dump(content, file)


def read(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def measure(model, costs, processes):
    """processes: own kernels' links and memory are measured, too; else the memory of torch's."""
    call("measure", "compute", "--shared", "--threads", "1", "--model", model, "--sequence", "128",
         "--name", "core", "--quiet", "-o", "samples.json")
    if not processes:
        call("measure", "memory", "--largest-mib", "1", "--budget-s", "1", "--threads", "1",
             "--python", PYTHON, "--name", "core", "--quiet", "-o", "memory.json")
        call("calibrate", "samples.json", "memory.json", "--model", model, "-o", costs)
        return
    call("measure", "memory", "--largest-mib", "1", "--budget-s", "1", "--threads", "1", "--name",
         "core", "--quiet", "-o", "memory.json")
    subprocess.run(["mpirun", "-n", "2", os.path.join(BIN, "plumbline-measure"), "links",
                    "--budget-s", "1", "--width", "10", "--largest", "65536", "--alone", "0",
                    "--name", "core", "--quiet", "-o", "links.json"], check=True)
    call("calibrate", "samples.json", "memory.json", "links.json", "--model", model, "-o", costs)


def solve(plan, costs):
    name, schedule, ranks, turns, replicas, recompute, first = plan
    write("cluster.json", {
        "kind": "plumbline.cluster", "version": 1, "name": "cores", "groups": [{
            "name": "cores", "gpu": "core", "nodes": 1, "gpus_per_node": 4,
            "memory_bytes": 8000000000, "intra": {"bytes_per_s": 4e9, "latency_s": 3e-6}}]})
    rules = [{"action": "require", "stage": 0, "layers_min": first, "layers_max": first}]
    write(f"{name}.job.json", {
        "kind": "plumbline.job", "version": 1, "name": name, "sequence": 128, "global_batch": 6,
        "precision": "fp32", "trainer": "other", "recompute": [recompute],
        "rules": rules if first else [],
        "layout": {"pipeline": ranks, "virtual_stages": turns, "schedule": schedule,
                   "data": replicas}})
    write(f"{name}.problem.json", {
        "kind": "plumbline.problem", "version": 1, "model": "gpt.json", "cluster": "cluster.json",
        "costs": costs, "job": f"{name}.job.json"})
    call("solve", f"{name}.problem.json", "--quiet", "-o", f"{name}.{costs}.plan.json")
    return f"{name}.{costs}.plan.json"


def carry_out(plan, how, run):
    call("run", plan, *how, "--iterations", ITERATIONS, "--quiet", "-o", run)


def layers_of(plan):
    return [stage["layer_count"] for stage in read(plan)["stages"]]


def against(plan, run):
    """Predicted, low, high and measured ms, predicted and held GB of each rank, and what the
    measured times were multiplied by."""
    lines = call("report", plan, "--against", run).splitlines()
    words = lines[0].replace("(", "").replace(")", "").replace(",", "").split()
    at, unit = words.index("predicted"), {"us": 1e-3, "ms": 1, "s": 1e3}
    measured = words.index("measured") + 1
    measured = float(words[measured]) * unit[words[measured + 1]]
    scale = unit[words[at + 2]]
    low, high = float(words[at + 3]) * scale, float(words[at + 5]) * scale
    memory, inside, speed = [], False, 1.0
    for line in lines:
        if "measured times are multiplied by " in line:
            speed = float(line.split("multiplied by ")[1].split(",")[0])
        if line.startswith("  rank  predicted GB"):
            inside = True
        elif inside and not line:
            break
        elif inside:
            memory.append((float(line.split()[-3]), float(line.split()[-2])))
    return float(words[at + 1]) * scale, low, high, measured, memory, speed


def order(rows):
    """Pairs predicted at least 2 % apart, and how many of them are measured in that order."""
    apart = [(a, b) for a in rows for b in rows if b[0] >= 1.02 * a[0]]
    return len(apart), sum(a[3] < b[3] for a, b in apart)


def tell(name, row):
    predicted, low, high, measured, memory, speed = row
    off = 100 * (measured / predicted - 1)
    held = " ".join(f"{100 * (h / p - 1):+.1f}" for p, h in memory)
    print(f"{name:12} {predicted:8.1f} ({low:.1f} to {high:.1f}) {measured:8.1f} {off:+6.1f} % "
          f"{'inside' if low <= measured <= high else 'outside':8} x {speed:.3f} memory {held}  "
          f"load {os.getloadavg()[0]:.0f}", flush=True)


def conclude(what, rows):
    offs = [abs(row[3] / row[0] - 1) * 100 for row in rows]
    held = [abs(h / p - 1) * 100 for row in rows for p, h in row[4]]
    apart, right = order(rows)
    print(f"{what}: {len(rows)} plans, median {statistics.median(offs):.1f} %, worst "
          f"{max(offs):.1f} %; {sum(r[1] <= r[3] <= r[2] for r in rows)} inside; order {right} of "
          f"{apart}; memory worst {max(held, default=0):.1f} % of {len(held)} ranks", flush=True)


def score_own():
    rows, after, stages = [], [], {}
    for i, plan in enumerate(PLANS):
        if i % 3 == 0:
            measure("gpt.json", f"costs{i}.json", True)
            costs = f"costs{i}.json"
        path = solve(plan, costs)
        stages[plan[0]] = layers_of(path)
        carry_out(path, [], f"{plan[0]}.run.json")
        rows.append(against(path, f"{plan[0]}.run.json"))
        tell(plan[0], rows[-1])
    conclude("own", rows)
    conclude("own, as they were", [(*row[:3], row[3] / row[5], *row[4:]) for row in rows])
    call("calibrate", "even.run.json", "-o", "after.json")
    for plan in PLANS[1:]:
        path = solve(plan, "after.json")
        if layers_of(path) != stages[plan[0]]:
            continue  # another plan with the costs of the run
        made = read(f"{plan[0]}.run.json")
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        made["made_from"] = [{"role": "plan", "path": path, "sha256": digest}]
        write("again.run.json", made)
        after.append(against(path, "again.run.json"))
        tell(plan[0], after[-1])
    conclude("own, after one run", after)


def score_torch():
    how = ["--with", "torch", "--python", PYTHON]
    measure("gpt.json", "costs.json", False)
    cold, after = [], []
    for plan in PLANS:
        path = solve(plan, "costs.json")
        carry_out(path, how, f"{plan[0]}.run.json")
        cold.append(against(path, f"{plan[0]}.run.json"))
        tell(plan[0], cold[-1])
    conclude("torch, cold", cold)
    beside = [read(f"{plan[0]}.run.json")["yardstick_ns"] for plan in PLANS]
    conclude("torch, cold, all at the first one's speed of the machine",
             [(*row[:3], row[3] * beside[0] / took, *row[4:]) for row, took in zip(cold, beside)])
    call("calibrate", "even.run.json", "-o", "after.json")
    for plan in PLANS[1:]:
        path = solve(plan, "after.json")
        carry_out(path, how, f"{plan[0]}.again.json")
        after.append(against(path, f"{plan[0]}.again.json"))
        tell(plan[0], after[-1])
    conclude("torch, after one run", after)


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("own", "torch"):
        sys.exit(__doc__)
    model = os.path.abspath("tests/measure/gpt_small.json")
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    write("gpt.json", read(model))
    {"own": score_own, "torch": score_torch}[sys.argv[1]]()


if __name__ == "__main__":
    main()

"""Scores `plumbline explain` on a folder of logs with an index of what an expert reads out of each.

usage: shared_logs.py PLUMBLINE FOLDER [--show]

A value that the log states and that is read otherwise is wrong; one that the index has only by the
expert's knowledge may be missing, or assumed. Exit 1: a value is wrong, or a verdict is.
"""
import json
import os
import statistics
import subprocess
import sys

COLUMNS = {"num_gpus": "num_gpus", "seq": "seq", "tp": "tp", "pp": "pp", "cp": "cp", "dp": "dp",
           "ep": "ep", "vpp": "vpp", "micro_batch": "micro_batch", "global_batch": "global_batch",
           "sp": "sp", "zero": "zero", "gpus_per_node": "gpus_per_node"}
SHAPE = {"layers": "layers", "hidden": "hidden", "ffn": "ffn", "heads": "heads",
         "kv_heads": "kv_heads", "vocab": "vocab"}


def expected_of(row):
    wanted = {column: row[key] for key, column in COLUMNS.items() if isinstance(row.get(key), int)}
    if isinstance(row.get("model"), dict):
        wanted.update({column: row["model"][key] for key, column in SHAPE.items()
                       if isinstance(row["model"].get(key), int)})
    for word in ("full", "selective", "none"):
        if str(row.get("recompute", "")).startswith(word) and "?" not in row["recompute"]:
            wanted["recompute"] = "none" if row["recompute"] == "none stated" else word
    if row.get("recompute") == "none stated":
        wanted.pop("recompute")
    for word in ("fp8", "bf16", "fp16"):
        if str(row.get("precision", "")).startswith(word):
            wanted["precision"] = word
    return wanted


def time_of(row):
    m = row.get("measured", {})
    if "iteration_ms" in m and isinstance(m["iteration_ms"], (int, float)):
        return m["iteration_ms"] / 1000
    return m.get("iteration_s")


def score(plumbline, folder, row):
    answer = json.loads(subprocess.run(
        [plumbline, "explain", os.path.join(folder, row["file"]), "--json"],
        check=True, capture_output=True, text=True).stdout)
    stated = {key: told["value"] for key, told in answer["stated"].items()}
    assumed = {item["column"]: item["value"] for item in answer["assumed"]}
    read, taken, other, missing, wrong = [], [], [], [], []
    for column, value in expected_of(row).items():
        found = stated.get(column, assumed.get(column))
        if found is None:
            missing.append(column)
        elif str(found) != str(value) and column not in stated:
            other.append(column)
        elif str(found) != str(value):
            wrong.append("%s %s not %s" % (column, found, value))
        else:
            (read if column in stated else taken).append(column)
    time, found = time_of(row), answer["measured"].get("iteration_s")
    if time and (not found or abs(found / time - 1) > 0.03):
        wrong.append("time %s not %s" % (found, time))
    return answer, read, taken, other, missing, wrong


def main():
    plumbline, folder = sys.argv[1], sys.argv[2]
    rows = [json.loads(line) for line in open(os.path.join(folder, "index.jsonl"))]
    total, bad, errors, inside = [0, 0, 0, 0, 0], 0, [], 0
    for row in rows:
        answer, *parts = score(plumbline, folder, row)
        for i, part in enumerate(parts):
            total[i] += len(part)
        bad += bool(parts[4])
        predicted = answer["predicted"].get("iteration_s")
        measured = answer["measured"].get("iteration_s")
        off = predicted / measured - 1 if predicted and measured else None
        guessed = any(item["column"] == "gpu" and "proves little" in item["why"]
                      for item in answer["assumed"])
        healthy = answer["verdict"] not in (
            "not stationary", "warm-up only", "out of memory", "allocator retries")
        if off is not None and healthy and not guessed:
            errors.append(abs(off))
            p = answer["predicted"]
            inside += p["iteration_low_s"] <= measured <= p["iteration_high_s"]
        if "--show" in sys.argv or parts[4]:
            print("%-46s %2d read, %2d taken, otherwise %s, missing %s%s; %s; %s%s" % (
                row["file"][:46], len(parts[0]), len(parts[1]), " ".join(parts[2]) or "-",
                " ".join(parts[3]) or "-", "; WRONG " + ", ".join(parts[4]) if parts[4] else "",
                answer["reading"]["outcome"],
                answer["verdict"], "" if off is None else "; %+.1f %%" % (100 * off)))
    print("%d logs: %d values read, %d taken, %d otherwise, %d missing, %d wrong; "
          "%d times, median %.1f %%, "
          "%d inside" % (len(rows), *total, len(errors),
                         100 * statistics.median(errors) if errors else 0, inside))
    sys.exit(bad > 0)


main()

"""Tables of published runs with the columns that their makers print, and no others:
unstated_tables.py FOLDER [SETS [LOGS]] writes plain-*.csv (shape, degrees, batch, precision; with
and without source) and logs.csv (what a log states) into FOLDER."""
import csv
import json
import os
import re
import sys

folder = sys.argv[1]
sets = sys.argv[2] if len(sys.argv) > 2 else "../shared/validation"
logs = sys.argv[3] if len(sys.argv) > 3 else "../shared/logs"
plain = ("id source gpu num_gpus layers hidden ffn heads kv_heads vocab seq tp pp cp dp vpp "
         "micro_batch global_batch precision metric value unit").split()


def write(name, columns, rows):
    with open(f"{folder}/{name}.csv", "w", newline="") as to:
        out = csv.DictWriter(to, columns, extrasaction="ignore", lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def plain_tables(name, rows):
    write(f"plain-{name}", plain, rows)
    write(f"plain-{name}-nosource", [c for c in plain if c != "source"], rows)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


nvidia = [r for r in rows_of("data/runs/nvidia-megatron.csv") if "nm-22" <= r["id"] <= "nm-46"]
plain_tables("bridge", [r for r in nvidia if "Bridge" in r["source"]])
plain_tables("nemo", [r for r in nvidia if "Bridge" not in r["source"]])
plain_tables("torchtitan", [r for r in rows_of("data/runs/torchtitan-llama3.csv")
                            if r["metric"] == "throughput"])
if os.path.isdir(sets):
    dgxc = rows_of(f"{sets}/nvidia_dgxc_v25.04.csv")
    for r in dgxc:
        r["precision"] = "fp8" if "FP8" in r["notes"] else "bf16"
    plain_tables("dgxc", [r for r in dgxc if r["metric"] == "iteration_time"])

# ---- logs: of 20 the index has what an expert reads; here only what the log itself states

shape = "layers hidden ffn heads kv_heads head_width vocab".split()
layout = "num_gpus gpus_per_node seq tp pp cp dp vpp micro_batch global_batch zero".split()
measured = {"iteration_ms": ("iteration_time", "ms"), "iteration_s": ("iteration_time", "s"),
            "samples_per_s": ("throughput", "samples/s"), "tps": ("throughput", "tokens/s/GPU")}


def number(cell):
    found = re.match(r"\s*(\d+)", str(cell))
    return int(found.group(1)) if found and "?" not in str(cell) else ""


def row_of_log(log):
    model = log["model"] if isinstance(log.get("model"), dict) else {}
    gpu = log.get("gpu", "")
    row = {"id": log["id"], "framework": log.get("framework", ""),
           "version": log.get("version", ""),
           "gpu": "MI300X" if "MI300X" in gpu else re.sub(r" ?\(.*", "", gpu)}
    row.update({c: number(model.get(c)) for c in shape})
    row.update({c: number(log.get(c)) for c in layout})
    if "Polaris" in gpu:
        row["gpus_per_node"] = 4
    said = str(log.get("recompute", ""))
    mode = (said.split() or [""])[0].rstrip("?")
    inferred = any(w in said for w in ("none stated", "(recipe)", "default"))
    row["recompute"] = mode if mode in ("full", "selective", "none") and not inferred else ""
    precision = (str(log.get("precision", "")).split() or [""])[0].rstrip(",")
    row["precision"] = precision if precision in ("bf16", "fp16", "fp8", "fp32") else ""
    for key, (metric, unit) in measured.items():
        value = log.get("measured", {}).get(key)
        if isinstance(value, (int, float)):
            return {**row, "metric": metric, "value": value, "unit": unit}
    return {**row, "metric": "oom", "value": 1, "unit": "flag"} if log.get("measured", {}).get(
        "oom") is True else row


if os.path.isfile(f"{logs}/index.jsonl"):
    with open(f"{logs}/index.jsonl") as file:
        read = [row_of_log(json.loads(line)) for line in file]
    write("logs", ["id", "framework", "version", "gpu"] + shape + layout +
          ["recompute", "precision", "metric", "value", "unit"], read)

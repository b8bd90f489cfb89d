#!/bin/sh
# Activations kept, recomputed or swapped to the host (KARMA, arXiv 2008.11421): a transformer of
# 8.3 10^9 parameters (72 blocks of hidden width 3,072) on 128 V100 of 16 GB, data parallel with
# ZeRO 3, two sequences of 1,024 a GPU. Lines of: GB/s of a GPU's link to its host (assumed), blocks
# swapped, recomputed and kept, the iteration's time, that of full recomputation, of the best number
# of recomputed blocks, of the best number of swapped ones, the others kept.
#   karma.sh FOLDER [GB/s ...]
# PIPELINE=16: stages so many, one sequence a micro-batch, ZeRO 1. Lines of: GB/s, the iteration's
# time without swapping, where passes wait for their transfers, and with transfers across passes,
# too; of the first stage the blocks swapped and recomputed where passes wait, and where not all do.
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
layout="--pipeline 1 --micro-batch 2 --global-batch 256 --zero 3" names="all full recompute swap"
[ -z "${PIPELINE:-}" ] || {
    layout="--pipeline $PIPELINE --micro-batch 1 --global-batch 512 --zero 1"
    names="kept wait across"
}
for link in ${*:-0.5 3 8 12 24 48}; do
    here=$folder/$link
    "$plumbline" example gpt --memory-fraction 0.8 --framework any --model gpt2-xl \
        --cluster v100-16gb-16x8 --tensor 1 $layout --sequence 1024 --precision fp16 \
        --schedule 1f1b --gradient-sync exposed --unfused-attention --force \
        -o "$here" > "$here.log"
    python3 - "$here" "$link" <<'END'
import json, sys
folder, link = sys.argv[1], float(sys.argv[2])


def change(name, to, how):
    document = json.load(open(folder + "/" + name))
    how(document)
    json.dump(document, open(folder + "/" + to, "w"))


def costs(c):
    for gpu in c["gpus"]:
        gpu["host_link_bytes_per_s"] = {"value": link * 1e9, "origin": "assumed"}


def model(m):
    m["shape"].update(hidden=3072, ffn=12288, heads=32, kv_heads=32, head_width=96)
    for run in m["runs"]:
        run["count"] = 72 if run["kind"] == "block" else run["count"]


def offer(modes, across):
    def how(j):
        j["recompute"] = ["none"] + modes
        j["tier_options"] = [{"name": str(beside), "activations": {"tier": "host",
                                                                   "across_passes": beside}}
                             for beside in across]
        if modes == ["full"]:
            j["rules"] = [{"action": "require", "recompute": ["full"]}]
    return how


change("costs.json", "costs.json", costs)
change("model.json", "model.json", model)
for name, modes, across in (
        ("all", ["full", "first_layers", "swap"], []), ("full", ["full"], []),
        ("recompute", ["full", "first_layers"], []), ("swap", ["swap"], []),
        ("kept", ["full", "first_layers"], []), ("wait", ["full", "first_layers"], [False]),
        ("across", ["full", "first_layers"], [False, True])):
    change("job.json", name + ".job.json", offer(modes, across))
    change("problem.json", name + ".problem.json", lambda p: p.update(job=name + ".job.json"))
END
    for name in $names; do
        "$plumbline" solve "$here/$name.problem.json" -o "$here/$name.plan.json" --certificate \
            "$here/$name.certificate.json" --quiet >> "$here.log" 2>&1
        "$plumbline" verify "$here/$name.plan.json" >> "$here.log" 2>&1
    done
    python3 - "$here" "$link" $names <<'END'
import json, sys
plans = [json.load(open(sys.argv[1] + "/" + name + ".plan.json")) for name in sys.argv[3:]]
if len(plans) == 3:
    print(sys.argv[2], *("%.3f" % (p["iteration_ns"] / 1e9) for p in plans),
          *("%d,%d" % (p["stages"][0].get("swapped_layers", 0), p["stages"][0]["recomputed_layers"])
            for p in plans[1:]))
    sys.exit()
stage = plans[0]["stages"][0]
swapped = stage.get("swapped_layers", 0)
again = 72 if stage["recompute"] == "full" else stage["recomputed_layers"]
print(sys.argv[2], swapped, again, 72 - swapped - again,
      *("%.9f" % (p["iteration_ns"] / 1e9) for p in plans))
END
done

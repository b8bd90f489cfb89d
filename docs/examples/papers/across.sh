#!/bin/sh
# Swapped activations in transfer under other passes, or only under their own: the model and the GPUs
# of karma.sh in a pipeline of eight stages, 16 micro-batches of two sequences. Lines of: GB/s of a
# GPU's link to its host (assumed), the iteration's time without swapping, with passes that wait for
# their transfers, and with transfers across passes as well; of the first stage the blocks swapped and
# recomputed where passes wait, and where they need not.
#   across.sh FOLDER [GB/s ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for link in ${*:-3 12 24 48 96}; do
    here=$folder/$link
    "$plumbline" example gpt --memory-fraction 0.8 --framework any --model gpt2-xl \
        --cluster v100-16gb-16x8 --tensor 1 \
        --pipeline 8 --micro-batch 2 --global-batch 512 --sequence 1024 --precision fp16 \
        --schedule 1f1b --zero 1 --gradient-sync exposed --unfused-attention --force \
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


def offer(options):
    def how(j):
        j["recompute"] = ["none", "full", "first_layers"]
        j["tier_options"] = [{"name": name, "activations": {"tier": "host", "across_passes": across}}
                             for name, across in options]
    return how


change("costs.json", "costs.json", costs)
change("model.json", "model.json", model)
for name, options in (("kept", []), ("wait", [("wait", False)]),
                      ("across", [("wait", False), ("across", True)])):
    change("job.json", name + ".job.json", offer(options))
    change("problem.json", name + ".problem.json", lambda p: p.update(job=name + ".job.json"))
END
    for name in kept wait across; do
        "$plumbline" solve "$here/$name.problem.json" -o "$here/$name.plan.json" --certificate \
            "$here/$name.certificate.json" --quiet >> "$here.log" 2>&1
        "$plumbline" verify "$here/$name.plan.json" >> "$here.log" 2>&1
        "$plumbline" check "$here/$name.certificate.json" >> "$here.log" 2>&1
    done
    python3 - "$here" "$link" <<'END'
import json, sys
plans = [json.load(open("%s/%s.plan.json" % (sys.argv[1], name))) for name in ("kept", "wait", "across")]
stages = [plan["stages"][0] for plan in plans[1:]]
print(sys.argv[2], *("%.4g" % (plan["iteration_ns"] / 1e9) for plan in plans),
      *("%d,%d" % (s.get("swapped_layers", 0), s.get("recomputed_layers", 0)) for s in stages))
END
done

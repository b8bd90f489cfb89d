#!/bin/sh
# Gradients in one bit each (1-bit Adam, arXiv 2102.02888): BERT-large on 256 V100 in nodes of four,
# 16 sequences of 128 a GPU, as the nodes' network gets faster. Lines of: GB/s of a node's card,
# what is done to the gradients, the iteration's time, that without compression. The published
# effective bandwidth of its 40 Gb/s Ethernet is 0.51 GB/s. Rates of packing (12 bytes moved for a
# value) are assumed.
#   onebit.sh FOLDER [GB/S ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for speed in ${*:-0.51 3 12.5 50 100 200 400}; do
    here=$folder/$speed
    "$plumbline" example gpt --memory-fraction 0.8 --framework any --model bert-large \
        --gpu v100-16gb --nodes 16 \
        --tensor 1 --pipeline 1 --micro-batch 16 --global-batch 2048 --sequence 128 \
        --precision fp16 --schedule 1f1b --zero 0 --gradient-sync exposed --gradient-rank 0 \
        --boundary-rank 0 \
        --force -o "$here" > "$here.log"
    python3 - "$here" "$speed" <<'END'
import json, sys
folder, speed = sys.argv[1], float(sys.argv[2])


def change(name, to, how):
    document = json.load(open(folder + "/" + name))
    how(document)
    json.dump(document, open(folder + "/" + to, "w"))


def cluster(c):
    group = c["groups"][0]
    group["nodes"], group["gpus_per_node"] = 64, 4
    group["nics"] = [{"kind": "ethernet", "count": 1,
                      "link": {"bytes_per_s": speed * 1e9, "latency_s": 1e-5}}]


def costs(c):
    for gpu in c["gpus"]:
        for key in ("quantise_values_per_s", "quantise_back_values_per_s"):
            gpu[key] = {"value": 6e10, "origin": "assumed"}


def bits(j):
    j["global_batch"], j["layout"]["data"] = 4096, 256
    j["gradient_bytes_per_value"] = 2
    j["gradient_options"] = [{"bits": 1, "quality_cost": 1}, {"bits": 8, "quality_cost": 0}]


def plain(j):
    j["gradient_options"] = []


change("cluster.json", "cluster.json", cluster)
change("costs.json", "costs.json", costs)
change("job.json", "job.json", bits)
change("job.json", "plain.json", plain)
change("problem.json", "plain.problem.json", lambda p: p.update(job="plain.json"))
END
    "$plumbline" solve "$here/problem.json" -o "$here/plan.json" --certificate \
        "$here/certificate.json" --quiet >> "$here.log" 2>&1
    "$plumbline" solve "$here/plain.problem.json" -o "$here/plain.plan.json" --quiet \
        >> "$here.log" 2>&1
    python3 - "$here" "$speed" <<'END'
import json, sys
plan, plain = (json.load(open(sys.argv[1] + "/" + name)) for name in
               ("plan.json", "plain.plan.json"))
option = plan["gradient_options"][plan["stages"][0]["gradient_option"]]
print(sys.argv[2], "%d-bit" % option["bits"] if "bits" in option else "whole",
      "%.9f" % (plan["iteration_ns"] / 1e9), "%.9f" % (plain["iteration_ns"] / 1e9))
END
done

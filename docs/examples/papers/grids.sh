#!/bin/sh
# Tensor grids (AxoNN, arXiv 2305.13525): GPTs on A100 of 80 GB in nodes of four with four 25 GB/s
# cards, sequences of 2,048, ZeRO 1, no pipeline: which grid of how many tensor ranks, against
# tensor ranks in one dimension, and against one dimension with a pipeline. The larger the model,
# the fewer of its layers fit into a node. Lines of: GPUs, parameters in 10^9, the grid and its
# time, then one dimension's, then with pipelines as well: pipeline x tensor, its time.
#   grids.sh FOLDER [LAYERS,HIDDEN,GPUS,SEQUENCES ...]
# CARD: GB/s of a card (25); NODE: GPUs and cards of a node (4); TENSOR: tensor degrees
# (1,2,4,8,16,32); OVERLAP: share of tensor collectives that is hidden (0)
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for row in ${*:-24,4096,64,512 32,7168,256,2048 38,9216,512,4096 42,12288,1024,8192}; do
    here=$folder/$row
    "$plumbline" example gpt --memory-fraction 0.8 --framework any --model gpt3-175b \
        --gpu a100-80gb --nodes 16 \
        --tensor 1 --pipeline 1 --micro-batch 1 --global-batch 1024 --sequence 2048 \
        --precision bf16 \
        --schedule 1f1b --zero 1 --gradient-sync overlapped --boundary-rank 0 --gradient-rank 0 \
        --no-sequence-parallel --force -o "$here" > "$here.log"
    python3 - "$here" "$row" "${CARD:-25}" "${NODE:-4}" "${TENSOR:-1,2,4,8,16,32}" "${OVERLAP:-0}" \
        <<'END'
import json, sys
folder, card, node = sys.argv[1], float(sys.argv[3]), int(sys.argv[4])
tensor, overlap = list(map(int, sys.argv[5].split(","))), float(sys.argv[6])
layers, hidden, gpus, batch = map(int, sys.argv[2].split(","))


def change(name, to, how):
    document = json.load(open(folder + "/" + name))
    how(document)
    json.dump(document, open(folder + "/" + to, "w"))


def cluster(c):
    group = c["groups"][0]
    group["nodes"], group["gpus_per_node"] = gpus // node, node
    group["nics"][0]["count"] = node
    group["nics"][0]["link"]["bytes_per_s"] = card * 1e9


def model(m):
    m["shape"].update(hidden=hidden, ffn=4 * hidden, heads=hidden // 128, kv_heads=hidden // 128)
    m["runs"][1]["count"] = layers


def costs(c):
    if overlap:
        c["tensor_overlap"] = {"value": overlap, "origin": "assumed"}


def job(grids, pipelines):
    def fill(j):
        j["global_batch"], j["layout"]["data"] = batch, gpus
        j["recompute"] = ["none", "full"]
        j["space"] = {"all": ["data", "micro_batch"], "tensor": tensor,
                      "tensor_grids": grids}
        if pipelines:
            j["space"]["pipeline"] = [1, 2, 4, 8, 16]
            j["layout"]["sequence_parallel"] = True
    return fill


change("model.json", "model.json", model)
change("cluster.json", "cluster.json", cluster)
change("costs.json", "costs.json", costs)
change("job.json", "job.json", job(True, False))
change("job.json", "line.json", job(False, False))
change("job.json", "piped.json", job(False, True))
for name in "line", "piped":
    change("problem.json", name + ".problem.json", lambda p: p.update(job=name + ".json"))
END
    "$plumbline" solve "$here/problem.json" -o "$here/plan.json" --certificate \
        "$here/certificate.json" --quiet >> "$here.log" 2>&1
    for name in line piped; do
        "$plumbline" solve "$here/$name.problem.json" -o "$here/$name.plan.json" --quiet \
            >> "$here.log" 2>&1
    done
    "$plumbline" verify "$here/plan.json" >> "$here.log" 2>&1
    python3 - "$here" "$row" <<'END'
import json, sys
layers, hidden, gpus, batch = map(int, sys.argv[2].split(","))
plan, line, piped = (json.load(open(sys.argv[1] + "/" + name)) for name in
                     ("plan.json", "line.plan.json", "piped.plan.json"))


def degrees(p):
    l = p["layout"]
    return "x".join(map(str, l.get("tensor_grid", [l["tensor"], 1, 1]))) + ":%d" % l["data"]


def seconds(p):
    return "%.6f" % (p["iteration_ns"] / 1e9)


print(gpus, "%.1f" % ((12 * layers * hidden + 51200) * hidden / 1e9), degrees(plan), seconds(plan),
      degrees(line), seconds(line),
      "%dx%d" % (piped["layout"]["pipeline"], piped["layout"]["tensor"]), seconds(piped))
END
done

#!/bin/sh
# Tensor grids (AxoNN, arXiv 2305.13525): GPTs on A100 of 80 GB in nodes of four with four 25 GB/s
# cards, sequences of 2,048, ZeRO 1, collectives under the products. The larger the model, the fewer
# of its layers fit into a node. Lines of: GPUs, parameters in 10^9, then four degrees and times:
# the best grid x data as AxoNN has them, without a pipeline; one dimension x data; one dimension
# with a pipeline (stages x tensor) and sequence parallelism; and the best of everything: grids of
# every order and with all gathers, pipelines, sequence parallelism, with its certificate; last what
# plan --for axonn finds: ZeRO 0, grids of every tensor degree x data, proven.
#   grids.sh FOLDER [LAYERS,HIDDEN,GPUS,SEQUENCES ...]
# CARD: GB/s of a card (25); NODE: GPUs and cards of a node (4); TENSOR: tensor degrees
# (1 to 256, powers of two); ZERO: stages of the last two (1)
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
    python3 - "$here" "$row" "${CARD:-25}" "${NODE:-4}" \
        "${TENSOR:-1,2,4,8,16,32,64,128,256}" "${ZERO:-1}" <<'END'
import json, sys
folder, card, node = sys.argv[1], float(sys.argv[3]), int(sys.argv[4])
tensor, zero = list(map(int, sys.argv[5].split(","))), list(map(int, sys.argv[6].split(",")))
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


def job(grids, pipelines):
    def fill(j):
        j["global_batch"], j["layout"]["data"] = batch, gpus
        j["recompute"], j["overlapped_tensor"] = ["none", "full"], True
        space = j["space"] = {"all": ["data", "micro_batch"], "tensor": tensor,
                              "tensor_grids": grids}
        if pipelines:
            space["pipeline"], space["sequence_parallel"] = [1, 2, 4, 8, 16], [0, 1]
            space["zero"] = zero
            space["all"] += ["grid_order", "grid_gathers"] if grids else []
        elif grids:
            space["grid_order"], space["grid_gathers"] = ["2-1-3"], ["pass", "micro_batch"]
    return fill


change("model.json", "model.json", model)
change("cluster.json", "cluster.json", cluster)
change("job.json", "line.json", job(False, False))
change("job.json", "piped.json", job(False, True))
change("job.json", "all.json", job(True, True))
change("job.json", "job.json", job(True, False))
for name in "line", "piped", "all":
    change("problem.json", name + ".problem.json", lambda p: p.update(job=name + ".json"))
END
    for name in '' line. piped.; do
        "$plumbline" solve "$here/${name}problem.json" -o "$here/${name}plan.json" --quiet \
            >> "$here.log" 2>&1
    done
    "$plumbline" solve "$here/all.problem.json" -o "$here/all.plan.json" --certificate \
        "$here/all.certificate.json" --quiet >> "$here.log" 2>&1
    "$plumbline" verify "$here/all.plan.json" >> "$here.log" 2>&1
    "$plumbline" plan --for axonn --model "$here/model.json" --cluster "$here/cluster.json" \
        --costs published --memory-fraction 0.8 --sequence 2048 --global-batch "${row##*,}" \
        --gap 0 --time-limit-s 600 --force -o "$here/axonn" >> "$here.log" 2>&1
    python3 - "$here" "$row" <<'END'
import json, sys
layers, hidden, gpus, batch = map(int, sys.argv[2].split(","))
plan, line, piped, everything = (json.load(open(sys.argv[1] + "/" + name + "plan.json"))
                                 for name in ("", "line.", "piped.", "all."))
axonn = json.load(open(sys.argv[1] + "/axonn/plan.json"))
assert axonn["bound_ns"] == axonn["iteration_ns"]


def grid(p):
    l = p["layout"]
    axes = "x".join(map(str, l.get("tensor_grid", [l["tensor"], 1, 1])))
    return ",".join([axes] + [l[key] for key in ("grid_order", "grid_gathers") if key in l])


def seconds(p):
    return "%.6f" % (p["iteration_ns"] / 1e9)


def stages(p, tensor):
    return "%dx%s" % (p["layout"]["pipeline"], tensor)


print(gpus, "%.1f" % ((12 * layers * hidden + 51200) * hidden / 1e9),
      "%s:%d" % (grid(plan), plan["layout"]["data"]), seconds(plan),
      "%d:%d" % (line["layout"]["tensor"], line["layout"]["data"]), seconds(line),
      stages(piped, piped["layout"]["tensor"]), seconds(piped),
      "%s:%d%s" % (stages(everything, grid(everything)), everything["layout"]["data"],
                   ",sp" * everything["layout"]["sequence_parallel"]), seconds(everything),
      "%s:%d" % (grid(axonn), axonn["layout"]["data"]), seconds(axonn))
END
done

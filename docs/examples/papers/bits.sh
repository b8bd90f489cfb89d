#!/bin/sh
# Frozen weights in few bits under trained adapters (QLoRA, arXiv 2305.14314): LLaMA 65B with
# adapters of rank 16, sequences of 512, on GPUs of 48 GB (rates of an A100) over a pipeline, as the
# bits of all its frozen matrices and of its vocabularies change. Lines of: bits, the least pipeline
# of 1, 2 and 4 that has a plan, its recomputation, the iteration's time, GB of the fullest GPU.
#   bits.sh FOLDER [BITS ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for bits in ${*:-16 8 4 3}; do
    for pipeline in 1 2 4; do
        here=$folder/$bits.$pipeline
        "$plumbline" example gpt --memory-fraction 0.8 --framework any --model llama-2-70b \
            --gpu a100-80gb --nodes 1 \
            --tensor 1 --pipeline "$pipeline" --micro-batch 1 --global-batch 16 --sequence 512 \
            --schedule 1f1b --zero 0 --force -o "$here" > "$here.log"
        python3 - "$here" "$bits" "$pipeline" <<'END2'
import json, sys
folder, bits, pipeline = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def change(name, how, key=None):
    document = json.load(open(folder + "/" + (key or name)))
    how(document)
    json.dump(document, open(folder + "/" + name, "w"))


def model(m):
    m["name"] = "llama-65b-adapters"
    m["shape"].update(ffn=22016, kv_heads=64, vocabulary=32000)
    for run in m["runs"]:
        run["frozen"] = True
        if bits < 16:
            run["weight_bits"] = bits
        if run["kind"] == "block":
            run["adapter_rank"] = 16


def cluster(c):
    c["groups"][0].update(nodes=1, gpus_per_node=pipeline, memory_bytes=48 * 10**9)


def job(j):
    j["layout"]["data"], j["memory_fraction"], j["gradient_bytes_per_value"] = 1, 1, 2


source = json.load(open(folder + "/problem.json"))["model"]
change("model.json", model, source)
change("cluster.json", cluster)
change("job.json", job)
change("problem.json", lambda p: p.update(model="model.json"))
END2
        "$plumbline" solve "$here/problem.json" -o "$here/plan.json" --certificate \
            "$here/certificate.json" --quiet >> "$here.log" 2>&1 || continue
        python3 - "$here" "$bits" "$pipeline" <<'END2'
import json, sys
plan = json.load(open(sys.argv[1] + "/plan.json"))
modes = sorted({s["recompute"] for s in plan["stages"]})
print(sys.argv[2], sys.argv[3], ",".join(modes), "%.6f" % (plan["iteration_ns"] / 1e9),
      "%.1f" % max(s["memory"]["total_bytes"] / 1e9 for s in plan["stages"]))
END2
        break
    done
done

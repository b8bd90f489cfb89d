#!/bin/sh
# Local losses (local updates of pipeline stages, arXiv 2411.12780): every boundary between stages
# is local, so that no gradient is sent back over it, at the price of a head on each stage before
# one. GPT-2 XL on two nodes of eight A100, pipelines of 2 to 16 with two micro-batches for each
# stage. Lines of: stages, the time with one loss, with local ones that cost nothing, and with local
# heads like the model's own, and of embedding_width 400, 100 and 25; the widest that gains.
#   local.sh FOLDER [STAGES ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for stages in ${*:-2 4 8 16}; do
    here=$folder/$stages
    "$plumbline" example gpt --framework any --model gpt2-xl --cluster a100-16x8 --nodes 2 \
        --tensor 1 --data 1 --gpus 16 --pipeline 16 --global-batch $((2 * stages)) \
        --sequence 1024 --zero 0 --force -o "$here" > "$here.log"
    python3 - "$here" "$stages" <<'END'
import json, sys
folder, stages = sys.argv[1], int(sys.argv[2])
job, problem, model = (json.load(open(f"{folder}/{n}.json")) for n in ("job", "problem", "model"))
cluster = json.load(open(f"{folder}/cluster.json"))
cluster["groups"][0].update(nodes=max(1, stages // 8), gpus_per_node=min(8, stages))
json.dump(cluster, open(f"{folder}/cluster.json", "w"))
job["layout"]["pipeline"] = stages
words = model["shape"]["vocabulary"]
free = {"forward_s": 0, "backward_s": 0, "bytes": 0}
for name in ("one", "free", "1600", "400", "100", "25"):
    job["layout"]["local_loss_every"] = int(name != "one")
    job["local_loss"] = free if name in ("one", "free") else {
        "head": {"vocabulary": words, "embedding_width": int(name)}}
    json.dump(job, open(f"{folder}/{name}.json", "w"))
    json.dump(dict(problem, job=name + ".json"), open(f"{folder}/{name}.problem.json", "w"))
END
    for name in one free 1600 400 100 25; do
        "$plumbline" solve "$here/$name.problem.json" -o "$here/$name.plan.json" --gap 0.001 \
            --quiet >> "$here.log" 2>&1
        "$plumbline" verify "$here/$name.plan.json" >> "$here.log"
    done
    python3 - "$here" "$stages" <<'END'
import json, sys
names = ("one", "free", "1600", "400", "100", "25")
ns = {n: json.load(open(f"{sys.argv[1]}/{n}.plan.json"))["iteration_ns"] for n in names}
gains = [n for n in names[2:] if ns[n] < ns["one"]]
print(sys.argv[2], *("%.3f" % (ns[n] / 1e9) for n in names), gains[0] if gains else "none")
END
done

#!/bin/sh
# Local losses (local updates of pipeline stages, arXiv 2411.12780): every boundary between stages
# is local, so that no gradient is sent back over it, at the price of a head on each stage before
# one. GPT-2 XL on two nodes of eight A100, pipelines of 2 to 16 with two micro-batches for each
# stage. Lines of: stages, the time with one loss, with local ones that cost nothing, and with a
# local loss as long as the model's own head.
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
    "$plumbline" price "$here/problem.json" -o "$here/priced.json" >> "$here.log" 2>&1
    python3 - "$here" "$stages" <<'END'
import json, sys
folder, stages = sys.argv[1], int(sys.argv[2])
job, problem, priced = (json.load(open(f"{folder}/{n}.json")) for n in ("job", "problem", "priced"))
cluster = json.load(open(f"{folder}/cluster.json"))
cluster["groups"][0].update(nodes=max(1, stages // 8), gpus_per_node=min(8, stages))
json.dump(cluster, open(f"{folder}/cluster.json", "w"))
job["layout"]["pipeline"] = stages
head = next(r for r in priced["runs"] if r["name"] == "head")
for name, every, seconds in (("one", 0, 0), ("free", 1, 0), ("heads", 1, 1)):
    job["layout"]["local_loss_every"] = every
    job.pop("local_loss", None)
    if seconds:
        job["local_loss"] = {"forward_s": head["forward_ns"][0] / 1e9,
                             "backward_s": head["backward_ns"][0] / 1e9, "bytes": 0}
    json.dump(job, open(f"{folder}/{name}.json", "w"))
    json.dump(dict(problem, job=name + ".json"), open(f"{folder}/{name}.problem.json", "w"))
END
    for name in one free heads; do
        "$plumbline" solve "$here/$name.problem.json" -o "$here/$name.plan.json" --gap 0.001 \
            --quiet >> "$here.log" 2>&1
    done
    python3 - "$here" "$stages" <<'END'
import json, sys
one, free, heads = (json.load(open(f"{sys.argv[1]}/{n}.plan.json"))
                    for n in ("one", "free", "heads"))
print(sys.argv[2], *("%.6f" % (p["iteration_ns"] / 1e9) for p in (one, free, heads)))
END
done

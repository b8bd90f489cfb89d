#!/bin/sh
# Segments that read their inputs and labels from a file (partitioned training with synthetic
# intermediate labels, arXiv 2403.11204) and so neither send nor wait. GPT-2 XL on two nodes of
# eight A100, a stage on each of 2 to 16 GPUs, two micro-batches for each stage, and heads of
# embedding_width 400 before local boundaries. Lines of: stages, the time with one loss, with local
# losses on every boundary, with these and stored inputs, and with stored inputs for segments of two
# stages; then GB of the fullest GPU in the same four cases.
#   stored.sh FOLDER [STAGES ...]
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
job["local_loss"] = {"head": {"vocabulary": model["shape"]["vocabulary"], "embedding_width": 400}}
for name, every, stored in (("one", 0, False), ("sent", 1, False), ("stored", 1, True),
                            ("pairs", 2, True)):
    job["layout"].update(local_loss_every=every, stored_inputs=stored)
    json.dump(job, open(f"{folder}/{name}.json", "w"))
    json.dump(dict(problem, job=name + ".json"), open(f"{folder}/{name}.problem.json", "w"))
END
    for name in one sent stored pairs; do
        "$plumbline" solve "$here/$name.problem.json" -o "$here/$name.plan.json" --gap 0.001 \
            --quiet >> "$here.log" 2>&1
        "$plumbline" verify "$here/$name.plan.json" >> "$here.log"
    done
    python3 - "$here" "$stages" <<'END'
import json, sys
names = ("one", "sent", "stored", "pairs")
plans = [json.load(open(f"{sys.argv[1]}/{n}.plan.json")) for n in names]
fullest = [max(s["memory"]["total_bytes"] for s in p["stages"]) for p in plans]
print(sys.argv[2], *("%.3f" % (p["iteration_ns"] / 1e9) for p in plans),
      *("%.3g" % (b / 1e9) for b in fullest))
END
done

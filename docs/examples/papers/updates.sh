#!/bin/sh
# Local updates (arXiv 2411.12780): every stage has a loss of its own, and its optimizer steps once
# an iteration or after each micro-batch, while other stages compute. GPT-2 XL with a head of its
# own on two nodes of eight A100, heads of embedding_width 100. Lines of: stages, micro-batches, the
# time with one loss, with local ones and one step, and with a step after each micro-batch.
#   updates.sh FOLDER [STAGES,MICRO_BATCHES ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for pair in ${*:-4,1 4,8 4,32 8,1 8,16 8,64}; do
    stages=${pair%,*} batches=${pair#*,} here=$folder/$pair
    "$plumbline" example gpt --framework any --model gpt2-xl --cluster a100-16x8 --nodes 2 \
        --tensor 1 --data 1 --gpus 16 --pipeline 16 --global-batch "$batches" --schedule 1f1b \
        --sequence 1024 --zero 0 --force -o "$here" > "$here.log"
    python3 - "$here" "$stages" <<'END'
import json, sys
folder, stages = sys.argv[1], int(sys.argv[2])
names = ("job", "problem", "model", "cluster")
job, problem, model, cluster = (json.load(open(f"{folder}/{n}.json")) for n in names)
cluster["groups"][0].update(nodes=max(1, stages // 8), gpus_per_node=min(8, stages))
json.dump(cluster, open(f"{folder}/cluster.json", "w"))
model["shape"]["tied_embeddings"] = False
json.dump(model, open(f"{folder}/model.json", "w"))
job["layout"]["pipeline"] = stages
head = {"head": {"vocabulary": model["shape"]["vocabulary"], "embedding_width": 100}}
for name in ("one", "once", "each"):
    job["layout"]["local_loss_every"] = int(name != "one")
    if name != "one": job["local_loss"] = dict(head, step_each_micro_batch=name == "each")
    json.dump(job, open(f"{folder}/{name}.json", "w"))
    json.dump(dict(problem, job=name + ".json"), open(f"{folder}/{name}.problem.json", "w"))
END
    for name in one once each; do
        "$plumbline" solve "$here/$name.problem.json" -o "$here/$name.plan.json" --gap 0.001 \
            --certificate "$here/$name.certificate.json" --quiet >> "$here.log" 2>&1
        "$plumbline" verify "$here/$name.plan.json" >> "$here.log"
    done
    python3 - "$here" "$stages" "$batches" <<'END'
import json, sys
names = ("one", "once", "each")
ns = [json.load(open(f"{sys.argv[1]}/{n}.plan.json"))["iteration_ns"] for n in names]
print(*sys.argv[2:], *("%.3f" % (n / 1e9) for n in ns))
END
done

#!/bin/sh
# Segments alone (partitioned training with synthetic intermediate labels, arXiv 2403.11204): GPT-2
# XL with a head of its own on one A100, in 1 to 16 segments of equal layers that are trained one
# after another; each but the last has a head of embedding_width 400, each but the first reads its
# inputs. 8 sequences of 1,024, one by one. Lines of: segments, the sum of their times for an
# iteration of each, the longest of them, GB of the fullest and of the emptiest.
#   alone.sh FOLDER [SEGMENTS ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for segments in ${*:-1 2 4 8 16}; do
    here=$folder/$segments
    "$plumbline" example gpt --framework any --model gpt2-xl --cluster a100-16x8 --nodes 1 \
        --tensor 1 --data 8 --gpus 8 --pipeline 1 --global-batch 8 --sequence 1024 --zero 0 \
        --force -o "$here" > "$here.log"
    python3 - "$here" "$segments" <<'END'
import copy, json, sys
folder, segments = sys.argv[1], int(sys.argv[2])
names = ("job", "problem", "model", "cluster")
job, problem, model, cluster = (json.load(open(f"{folder}/{n}.json")) for n in names)
cluster["groups"][0]["gpus_per_node"] = job["layout"]["data"] = 1
model["shape"]["tied_embeddings"] = False
embedding, block, head = model["runs"]
for name, document in ("job", job), ("cluster", cluster):
    json.dump(document, open(f"{folder}/{name}.json", "w"))
for i in range(segments):
    own = copy.deepcopy(model)
    own["runs"] = [dict(block, count=block["count"] // segments), head]
    if i == 0: own["runs"].insert(0, embedding)
    if i < segments - 1: own["shape"]["embedding_width"] = 400
    json.dump(own, open(f"{folder}/{i}.model.json", "w"))
    json.dump(dict(problem, model=f"{i}.model.json"), open(f"{folder}/{i}.problem.json", "w"))
END
    for problem in "$here"/*.problem.json; do
        "$plumbline" solve "$problem" -o "${problem%.problem.json}.plan.json" --quiet \
            --certificate "${problem%.problem.json}.certificate.json" >> "$here.log" 2>&1
    done
    python3 - "$here" "$segments" <<'END'
import json, sys
plans = [json.load(open(f"{sys.argv[1]}/{i}.plan.json")) for i in range(int(sys.argv[2]))]
s = [p["iteration_ns"] / 1e9 for p in plans]
gb = [max(x["memory"]["total_bytes"] for x in p["stages"]) / 1e9 for p in plans]
print(sys.argv[2], "%.3f %.3f %.2f %.2f" % (sum(s), max(s), max(gb), min(gb)))
END
done

#!/bin/sh
# Layers that share weights (ALBERT, arXiv 1909.11942): ALBERT-large beside BERT-large on 64 V100 in
# nodes of four, 512 sequences of 512, as the nodes' network gets faster: pipelines of 1, 2 and 4
# times as many replicas as are left. Lines of: GB/s of a node's card, for ALBERT and for BERT the
# pipeline chosen and the iteration's time, times faster.
#   albert.sh FOLDER [GB/S ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for speed in ${*:-0.5 1.25 3 12.5 50}; do
    here=$folder/$speed
    "$plumbline" example gpt --memory-fraction 0.8 --framework any --model bert-large \
        --gpu v100-16gb --nodes 8 \
        --tensor 1 --pipeline 1 --micro-batch 4 --global-batch 512 --sequence 512 \
        --precision fp16 --schedule 1f1b --zero 0 --gradient-sync exposed --gradient-rank 0 \
        --boundary-rank 0 --force -o "$here" > "$here.log"
    python3 - "$here" "$speed" <<'END2'
import json, sys
folder, speed = sys.argv[1], float(sys.argv[2])
problem = json.load(open(folder + "/problem.json"))


def change(name, to, how):
    document = json.load(open(folder + "/" + name))
    how(document)
    json.dump(document, open(folder + "/" + to, "w"))


def cluster(c):
    c["groups"][0].update(nodes=16, gpus_per_node=4, nics=[
        {"kind": "ethernet", "count": 1, "link": {"bytes_per_s": speed * 1e9, "latency_s": 1e-5}}])


# Rows of 128 of the vocabulary, positions and token types, then a projection; none of it shared.
def albert(m):
    m["name"] = "albert-large"
    m["shape"].update(vocabulary=30000, embedding_width=128, positions=0)
    m["runs"][0]["more_values"] = (512 + 2 + 2) * 128 + 1024
    m["runs"][1]["shared_weights"] = True
    m["runs"][2]["more_values"] = 3 * 128 + 30000


def job(j):
    j["layout"]["data"], j["gradient_bytes_per_value"] = 64, 2
    j["space"] = {"pipeline": [1, 2, 4], "data": [16, 32, 64]}


change("cluster.json", "cluster.json", cluster)
change("job.json", "job.json", job)
change(problem["model"], "albert.json", albert)
change("problem.json", "albert.problem.json", lambda p: p.update(model="albert.json"))
END2
    for way in albert. ""; do
        "$plumbline" solve "$here/${way}problem.json" -o "$here/${way}plan.json" --gap 0.001 \
            --certificate \
            "$here/${way}certificate.json" --quiet >> "$here.log" 2>&1
    done
    python3 - "$here" "$speed" <<'END2'
import json, sys
plans = [json.load(open(sys.argv[1] + "/" + name)) for name in ("albert.plan.json", "plan.json")]
times = [p["iteration_ns"] / 1e9 for p in plans]
print(sys.argv[2], *("%d %.6f" % (p["layout"]["pipeline"], t) for p, t in zip(plans, times)),
      "%.2f" % (times[1] / times[0]))
END2
done

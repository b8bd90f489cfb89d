#!/bin/sh
# The fused embedding sync (Optimus-CC, arXiv 2301.09830): GPT of 2.5 10^9 parameters on nodes of
# four A100 with a card of 25 GB/s, a pipeline of four stages on a node each, D replicas, as D
# grows. The nodes have names; their links are what their group states. Lines of: D, what a job that
# may choose takes, its time, the time of the other, both without names. FOLDER [D ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for replicas in ${*:-1 2 4 8}; do
    here=$folder/$replicas
    mkdir -p "$here"
    cat > "$here/model.json" <<'END'
{"kind": "plumbline.model", "version": 1, "name": "gpt-2.5b",
 "shape": {"hidden": 1920, "ffn": 7680, "heads": 20, "kv_heads": 20, "head_width": 96,
           "vocabulary": 51200, "positions": 1024, "tied_embeddings": true},
 "runs": [{"name": "embedding", "kind": "embedding", "count": 1},
          {"name": "block", "kind": "block", "count": 52},
          {"name": "head", "kind": "head", "count": 1}]}
END
    "$plumbline" example gpt --memory-fraction 0.8 --framework any --model "$here/model.json" \
        --gpu a100-80gb \
        --nodes $((4 * replicas)) --tensor 4 --pipeline 4 --data "$replicas" --micro-batch 8 \
        --global-batch $((128 * replicas)) --sequence 1024 --precision fp16 --schedule 1f1b \
        --zero 0 \
        --gradient-sync exposed --gradient-rank 0 --boundary-rank 0 --force -o "$here" > "$here.log"
    python3 - "$here" <<'END'
import json, sys
folder = sys.argv[1]


def load(name):
    return json.load(open(folder + "/" + name))


def save(name, document):
    json.dump(document, open(folder + "/" + name, "w"))


cluster, job, problem = load("cluster.json"), load("job.json"), load("problem.json")
group = cluster["groups"][0]
group["gpus_per_node"] = 4
group["nics"] = [{"kind": "infiniband", "count": 1,
                  "link": {"bytes_per_s": 25e9, "latency_s": 5e-6}}]
save("cluster.json", cluster)
cluster["places"] = {"nodes": [{"name": "n%d" % i, "group": group["name"]}
                               for i in range(group["nodes"])]}
save("named.json", cluster)
for fused in (False, True):
    job["layout"]["fused_embedding_sync"] = fused
    save("job%d.json" % fused, job)
    for name, where in (("plain", "cluster.json"), ("named", "named.json")):
        save("%s%d.problem.json" % (name, fused),
             dict(problem, cluster=where, job="job%d.json" % fused))
END
    for what in plain0 plain1 named0 named1; do
        rm -f "$here/$what.plan.json" "$here/$what.certificate.json"
        "$plumbline" solve "$here/$what.problem.json" -o "$here/$what.plan.json" --certificate \
            "$here/$what.certificate.json" --quiet >> "$here.log" 2>&1
    done
    python3 - "$here" "$replicas" <<'END'
import json, sys
ns = {w: json.load(open("%s/%s.plan.json" % (sys.argv[1], w)))["iteration_ns"] / 1e9
      for w in ("named0", "named1", "plain0", "plain1")}
best = min("named0", "named1", key=lambda w: ns[w])
other = "named1" if best == "named0" else "named0"
print(sys.argv[2], "fused" if best == "named1" else "separate", *("%.9f" % ns[w] for w in (
    best, other, best.replace("named", "plain"), other.replace("named", "plain"))))
END
done

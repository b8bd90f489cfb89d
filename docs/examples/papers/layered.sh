#!/bin/sh
# Layered accumulation (arXiv 2106.02679): with weights sharded (ZeRO 3) over replicas that 25 Gb/s
# join, which order is best, in how many stages (34: single layers), and what it costs, as a
# replica's micro-batches grow; plans verified and certificates audited. Lines of: micro-batches,
# the order chosen, its stages, its time, the time of 1F1B alone.
#   layered.sh FOLDER [MICRO_BATCHES ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for m in ${*:-1 2 4 8 16 32 64}; do
    here=$folder/$m
    "$plumbline" example gpt --memory-fraction 0.8 --framework any --model llama-3.1-8b \
        --gpu a100-80gb --nodes 4 \
        --tensor 1 --pipeline 1 --micro-batch 1 --global-batch $((32 * m)) --schedule 1f1b \
        --zero 3 --force -o "$here" > "$here.log"
    # One card of 25 Gb/s a node.
    python3 - "$here" <<'END'
import json, sys
folder = sys.argv[1]
cluster = json.load(open(folder + "/cluster.json"))
cluster["groups"][0]["nics"] = [
    {"kind": "ethernet", "count": 1, "link": {"bytes_per_s": 3.125e9, "latency_s": 1e-5}}]
json.dump(cluster, open(folder + "/cluster.json", "w"))
job = json.load(open(folder + "/job.json"))
json.dump(job, open(folder + "/alone.json", "w"))
job["space"] = {"schedule": ["1f1b", "looped-bfs"], "virtual_stages": [8, 17, 34], "zero": [3]}
json.dump(job, open(folder + "/job.json", "w"))
problem = json.load(open(folder + "/problem.json"))
problem["job"] = "alone.json"
json.dump(problem, open(folder + "/alone.problem.json", "w"))
END
    "$plumbline" solve "$here/problem.json" -o "$here/plan.json" --gap 0.01 --certificate \
        "$here/certificate.json" --quiet >> "$here.log" 2>&1
    "$plumbline" verify "$here/plan.json" >> "$here.log"
    "$plumbline" check "$here/certificate.json" "$here/problem.json" >> "$here.log"
    "$plumbline" solve "$here/alone.problem.json" -o "$here/alone.plan.json" --quiet \
        >> "$here.log" 2>&1
    python3 - "$here" "$m" <<'END'
import json, sys
chosen, alone = (json.load(open(sys.argv[1] + "/" + name))
                 for name in ("plan.json", "alone.plan.json"))
print(sys.argv[2], chosen["layout"]["schedule"], chosen["layout"].get("virtual_stages", 1),
      "%.9f" % (chosen["iteration_ns"] / 1e9),
      "%.9f" % (alone["iteration_ns"] / 1e9))
END
done

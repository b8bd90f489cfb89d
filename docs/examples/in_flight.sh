#!/bin/sh
# Micro-batches in flight as a decision of each stage: Llama-3.1 8B over a pipeline of four H100, 12
# micro-batches. Lines of: how many times slower links are, the part of the memory that may be
# used, the numbers chosen (together with the stages, proven over all lists up to nine), their time,
# the time of 1f1b's own.
#   in_flight.sh FOLDER [TIMES/PART ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for case in ${*:-1/0.9 20/0.9 60/0.9 20/0.6 20/0.5}; do
    times=${case%/*} part=${case#*/}
    here=$folder/$times-$part
    "$plumbline" example gpt --framework any --model llama-3.1-8b --gpu h100-80gb --gpus 4 \
        --tensor 1 --pipeline 4 --data 1 --micro-batch 1 --global-batch 12 --sequence 2048 \
        --schedule 1f1b --memory-fraction "$part" --force -o "$here" > "$here.log"
    python3 - "$here" "$times" <<'END'
import json, sys
folder, times = sys.argv[1], int(sys.argv[2])
cluster = json.load(open(folder + "/cluster.json"))
for group in cluster["groups"]:
    group["intra"]["bytes_per_s"] /= times
json.dump(cluster, open(folder + "/cluster.json", "w"))
job = json.load(open(folder + "/job.json"))
json.dump(job, open(folder + "/own.json", "w"))
job["space"] = {"in_flight_max": 9}
json.dump(job, open(folder + "/job.json", "w"))
problem = json.load(open(folder + "/problem.json"))
problem["job"] = "own.json"
json.dump(problem, open(folder + "/own.problem.json", "w"))
END
    "$plumbline" solve "$here/problem.json" -o "$here/plan.json" \
        --certificate "$here/certificate.json" --quiet >> "$here.log" 2>&1
    "$plumbline" solve "$here/own.problem.json" -o "$here/own.plan.json" --quiet \
        >> "$here.log" 2>&1
    python3 - "$here" "$times" "$part" <<'END'
import json, sys
chosen, own = (json.load(open(sys.argv[1] + "/" + name)) for name in ("plan.json", "own.plan.json"))
print(*sys.argv[2:], ",".join(map(str, chosen["layout"].get("in_flight", ["own"]))),
      "%.9f" % (chosen["iteration_ns"] / 1e9), "%.9f" % (own["iteration_ns"] / 1e9))
END
done

#!/bin/sh
# TeraPipe's largest settings (arXiv 2102.07988): GPT-3 175B, two sequences of 2,048 tokens, on 48
# nodes of eight V100 that 25 Gb/s join: GPipe against equal slices. Lines of: pipeline x tensor
# degree, slices, time.
#   terapipe.sh FOLDER [SLICES ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for pipeline in 48 96; do
    for slices in 1 ${*:-8 16 32}; do
        here=$folder/$pipeline-$slices
        "$plumbline" example gpt --framework any --model gpt3-175b --gpu v100-16gb --nodes 48 \
            --tensor $((384 / pipeline)) --pipeline "$pipeline" --data 1 --micro-batch 1 \
            --global-batch 2 --sequence 2048 --precision fp16 --schedule gpipe \
            --memory-fraction 0.95 --force -o "$here" > "$here.log"
        python3 - "$here" "$slices" <<'END'
import json, sys
folder, slices = sys.argv[1], int(sys.argv[2])
cluster = json.load(open(folder + "/cluster.json"))
cluster["groups"][0]["nics"] = [
    {"kind": "ethernet", "count": 1, "link": {"bytes_per_s": 3.125e9, "latency_s": 2e-5}}]
json.dump(cluster, open(folder + "/cluster.json", "w"))
job = json.load(open(folder + "/job.json"))
if slices > 1:
    job["layout"].update(schedule="token-sliced", slices=[2048 // slices] * slices)
json.dump(job, open(folder + "/job.json", "w"))
END
        "$plumbline" solve "$here/problem.json" -o "$here/plan.json" --gap 0.001 --quiet \
            >> "$here.log" 2>&1
        python3 - "$here" "$pipeline" "$slices" <<'END'
import json, sys
plan = json.load(open(sys.argv[1] + "/plan.json"))
print("%s x %d" % (sys.argv[2], 384 // int(sys.argv[2])), sys.argv[3],
      "%.9f" % (plan["iteration_ns"] / 1e9))
END
    done
done

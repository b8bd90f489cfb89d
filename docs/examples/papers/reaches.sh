#!/bin/sh
# Which kinds of card rings use, decided (Holmes, arXiv 2312.03549): a GPT of 7.5 10^9 on an
# InfiniBand and a RoCE cluster of four nodes of eight GPUs, a pipeline of two, 32 replicas, with
# one Ethernet card a node between the clusters. Lines of: GB/s of that card, micro-batches, how
# many replicas have their stages in both clusters (every ring is then within one) and in one (rings
# are over Ethernet), the iteration's time, the proven bound, and seconds to solve.
#   reaches.sh FOLDER [GB/s,MICRO_BATCHES ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for row in ${*:-0.3,12 1,12 3.125,12 12.5,12 1,192}; do
    here=$folder/$row
    "$plumbline" example clusters --layers 36 --hidden 4096 --heads 32 --tensor 1 --nodes 4 \
        --pipeline 2 --micro-batch 4 --micro-batches "${row#*,}" --force -o "$here" > "$here.log"
    python3 - "$here" "${row%,*}" <<'END'
import json, sys
path = sys.argv[1] + "/cluster.json"
cluster = json.load(open(path))
for group in cluster["groups"]:
    for card in group["nics"]:
        if card["kind"] == "ethernet":
            card["count"], card["link"]["bytes_per_s"] = 1, int(float(sys.argv[2]) * 1e9)
json.dump(cluster, open(path, "w"))
END
    begun=$(date +%s)
    "$plumbline" solve "$here/problem.json" -o "$here/plan.json" --gap 0.01 --time-limit-s 60 \
        --certificate "$here/certificate.json" --quiet >> "$here.log" 2>&1 || [ $? = 10 ]
    "$plumbline" verify "$here/plan.json" >> "$here.log"
    "$plumbline" check "$here/certificate.json" "$here/problem.json" >> "$here.log"
    python3 - "$here" "$row" "$(($(date +%s) - begun))" <<'END'
import json, sys
plan = json.load(open(sys.argv[1] + "/plan.json"))
group = {node["name"]: node["group"] for node in json.load(open(sys.argv[1] + "/cluster.json"))
         ["places"]["nodes"]}
across = sum(len({group[node] for node in replica["nodes"]}) > 1
             for replica in plan["placement"]["replicas"])
print(*sys.argv[2].split(","), across, len(plan["placement"]["replicas"]) - across,
      *("%.6f" % (plan[key] / 1e9) for key in ("iteration_ns", "bound_ns")), sys.argv[3])
END
done

#!/bin/sh
# Two clusters with network cards of different kinds (Holmes, arXiv 2312.03549): a GPT over an
# InfiniBand cluster and a RoCE cluster with Ethernet between them, whose GPUs have 0.55 and 0.45 of
# the speed; a stage on each. Lines of: blocks, those of each stage with its cluster, the time with
# rings of replicas as is fastest, and with every ring within one cluster; both to 0.1 %.
#   holmes.sh FOLDER [LAYERS,HIDDEN,HEADS,TENSOR ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for row in ${*:-30,3072,32,1 48,8192,64,8}; do
    here=$folder/$row
    rest=${row#*,}
    layers=${row%%,*} hidden=${rest%%,*} tensor=${row##*,}
    heads=${rest#*,} heads=${heads%,*}
    nodes=4
    [ "$tensor" = 1 ] && nodes=1
    for way in free within; do
        within=
        [ $way = free ] || within=--homogeneous-groups
        "$plumbline" example clusters --layers "$layers" --hidden "$hidden" --heads "$heads" \
            --tensor "$tensor" --nodes $nodes $within --force -o "$here-$way" > "$here.log"
        "$plumbline" solve "$here-$way/problem.json" -o "$here-$way/plan.json" --gap 0.001 \
            --time-limit-s 30 --quiet >> "$here.log" 2>&1 || [ $? = 10 ]
    done
    python3 - "$here" "$layers" <<'END'
import json, sys
free, within = (json.load(open(f"{sys.argv[1]}-{way}/plan.json")) for way in ("free", "within"))
last = free["stages"][-1]["first_layer"] + free["stages"][-1]["layer_count"] - 1
stages = []
for stage in free["stages"]:
    first, count = stage["first_layer"], stage["layer_count"]
    blocks = count - (first == 0) - (first + count - 1 == last)
    stages.append(f"{blocks} {stage['group']}")
print(sys.argv[2], ", ".join(stages),
      *("%.6f" % (p["iteration_ns"] / 1e9) for p in (free, within)))
END
done

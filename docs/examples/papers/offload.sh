#!/bin/sh
# Shares of the optimizer's state on the host (Deep Optimizer States, arXiv 2410.21316): GPT-NeoX
# 20B on four H100 with ZeRO 3, one sequence of each, as their memory shrinks. Lines of: GB of a
# GPU, percent of the state on the host, the iteration's time, that of all of it there, updated
# after the backward passes. The host's rates (a quarter of 16 channels of DDR5-4800 and of 96
# cores, a link of PCIe 5) are assumed; LINK is another rate of the link in bytes a second.
#   offload.sh FOLDER [GB ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for gb in ${*:-80 60 40}; do
    here=$folder/$gb
    "$plumbline" example gpt --memory-fraction 0.8 --framework any --model gpt-neox-20b \
        --gpu h100-80gb --nodes 1 \
        --tensor 1 --pipeline 1 --micro-batch 1 --global-batch 8 --sequence 2048 \
        --schedule 1f1b --zero 3 --force -o "$here" > "$here.log"
    python3 - "$here" "$gb" "${LINK:-55e9}" <<'END'
import json, sys
folder, gb, link = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])


def change(name, to, how):
    document = json.load(open(folder + "/" + name))
    how(document)
    json.dump(document, open(folder + "/" + to, "w"))


def cluster(c):
    c["groups"][0]["gpus_per_node"], c["groups"][0]["memory_bytes"] = 4, int(gb * 1e9)


def costs(c):
    for gpu in c["gpus"]:
        for key, value in (("host_link_bytes_per_s", link), ("host_memory_bytes_per_s", 9e10),
                           ("host_update_values_per_s", 2.5e9)):
            gpu[key] = {"value": value, "origin": "assumed"}


def shares(j):
    j["global_batch"], j["layout"]["data"] = 4, 4
    j["offload_percents"] = list(range(10, 101, 10))


def whole(j):
    del j["offload_percents"]
    j["layout"]["offload_optimizer"] = True


change("cluster.json", "cluster.json", cluster)
change("costs.json", "costs.json", costs)
change("job.json", "job.json", shares)
change("job.json", "whole.json", whole)
change("problem.json", "whole.problem.json", lambda p: p.update(job="whole.json"))
END
    "$plumbline" solve "$here/problem.json" -o "$here/plan.json" --certificate \
        "$here/certificate.json" --quiet >> "$here.log" 2>&1
    "$plumbline" solve "$here/whole.problem.json" -o "$here/whole.plan.json" --quiet \
        >> "$here.log" 2>&1
    python3 - "$here" "$gb" <<'END'
import json, sys
plan, whole = (json.load(open(sys.argv[1] + "/" + name)) for name in
               ("plan.json", "whole.plan.json"))
print(sys.argv[2], plan["stages"][0].get("offloaded_percent", 0),
      "%.9f" % (plan["iteration_ns"] / 1e9), "%.9f" % (whole["iteration_ns"] / 1e9))
END
done

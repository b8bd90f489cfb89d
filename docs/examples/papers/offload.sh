#!/bin/sh
# Shares of the optimizer's state on the host (Deep Optimizer States, arXiv 2410.21316): GPT-NeoX
# 20B on four H100 with ZeRO 3, one sequence of each, as their memory shrinks. Lines of: GB of a
# GPU, percent of the state on the host, the iteration's time, that of all of it there, updated
# after the backward passes, the link's rate in GB/s; "none fits" where no plan does. The host's
# rates (a quarter of 16 channels of DDR5-4800 and of 96 cores, a link of PCIe 5) are assumed; LINK
# is another rate of the link in bytes a second; HOST: bytes of the host that the four share.
#   offload.sh FOLDER [GB ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"

# solve PROBLEM PLAN OPTION ...: a job that fits nowhere is an answer, too
solve() {
    code=0
    "$plumbline" solve "$@" --quiet >> "$here.log" 2>&1 || code=$?
    [ $code = 0 ] || [ $code = 11 ] || { cat "$here.log" >&2; exit $code; }
}

for row in ${*:-85 80 70 55 80,12e9}; do
    gb=${row%,*} link=${LINK:-55e9}
    [ "$row" = "$gb" ] || link=${row#*,}
    here=$folder/$row
    "$plumbline" example gpt --memory-fraction 0.8 --framework any --model gpt-neox-20b \
        --gpu h100-80gb --nodes 1 \
        --tensor 1 --pipeline 1 --micro-batch 1 --global-batch 8 --sequence 2048 \
        --schedule 1f1b --zero 3 --force -o "$here" > "$here.log"
    python3 - "$here" "$gb" "$link" "${HOST:-}" <<'END'
import json, sys
folder, gb, link, host = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), sys.argv[4]


def change(name, to, how):
    document = json.load(open(folder + "/" + name))
    how(document)
    json.dump(document, open(folder + "/" + to, "w"))


def cluster(c):
    c["groups"][0]["gpus_per_node"], c["groups"][0]["memory_bytes"] = 4, int(gb * 1e9)
    if host:
        c["groups"][0]["tiers"] = [{"name": "host", "bytes": int(float(host)), "gpus": 4}]


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
    solve "$here/problem.json" -o "$here/plan.json" --certificate "$here/certificate.json"
    solve "$here/whole.problem.json" -o "$here/whole.plan.json"
    python3 - "$here" "$gb" "$link" <<'END'
import json, sys
plan, whole = (json.load(open(sys.argv[1] + "/" + name)) for name in
               ("plan.json", "whole.plan.json"))


def seconds(p):
    return "%.9f" % (p["iteration_ns"] / 1e9) if p["stages"] else "none fits"


name = plan["stages"][0].get("tier_option", "optimizer 0 %") if plan["stages"] else "-"
share = name.split()[1] if " " in name else name
print(sys.argv[2], share, seconds(plan), seconds(whole), "%g" % (float(sys.argv[3]) / 1e9))
END
done

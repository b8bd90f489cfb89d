#!/bin/sh
# One pool for several memory layers (memory layers at scale, arXiv 2412.09764): Llama-3.1 8B with
# three memory layers behind blocks 12, 16 and 20, on four nodes of eight H100, a pipeline of four,
# as their values grow: one pool that all share, or as many values in three pools. Lines of: 10^9
# values in all, for both ways blocks of each stage, the iteration's time and GB of the fullest
# device ("-": no plan fits).
#   pools.sh FOLDER [HALF_KEYS ...]      half keys: the square root of the shared pool's values
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for half in ${*:-512 1024 2048 3072 4096 5000}; do
    here=$folder/$half
    "$plumbline" example gpt --memory-fraction 0.8 --framework any --model llama-3.1-8b \
        --gpu h100-80gb --nodes 4 \
        --tensor 1 --pipeline 4 --micro-batch 1 --global-batch 256 --sequence 4096 \
        --schedule 1f1b --zero 1 --force -o "$here" > "$here.log"
    python3 - "$here" "$half" <<'END2'
import json, sys
folder, half = sys.argv[1], int(sys.argv[2])
problem = json.load(open(folder + "/problem.json"))
model = json.load(open(sys.argv[1] + "/" + problem["model"]))


def write(way, half, shared):
    runs = [model["runs"][0]]
    for i, blocks in enumerate((12, 4, 4, 12)):
        if i:
            runs.append({"name": "memory %d" % i, "kind": "memory", "memory": {
                "values": half * half, "width": 4096, "heads": 4, "key_width": 512, "top_k": 32,
                "gated": True, "shared": shared}})
        runs.append(dict(model["runs"][1], name="block %d" % i, count=blocks))
    json.dump(dict(model, runs=runs + [model["runs"][2]]), open(folder + "/%s.model.json" % way, \
        "w"))
    json.dump(dict(problem, model=way + ".model.json"), open(folder + "/%s.problem.json" % way, \
        "w"))


write("shared", half, True)
write("apart", round(half / 3 ** 0.5), False)
END2
    for way in shared apart; do
        "$plumbline" solve "$here/$way.problem.json" -o "$here/$way.plan.json" --certificate \
            "$here/$way.certificate.json" --quiet >> "$here.log" 2>&1 ||
            rm -f "$here/$way.plan.json"
    done
    python3 - "$here" "$half" <<'END2'
import json, os, sys
words = ["%.1f" % (int(sys.argv[2]) ** 2 * 4096 / 1e9)]
for way in ("shared", "apart"):
    path = sys.argv[1] + "/%s.plan.json" % way
    if not os.path.exists(path):
        words += ["-", "-", "-"]
        continue
    plan = json.load(open(path))
    tables, split, at = (13, 18, 23), [], 0
    for s in plan["stages"]:
        first, count = at, s["layer_count"]
        at += count
        split.append(sum(i not in tables and 0 < i < 36 for i in range(first, at)))
    words += [",".join(map(str, split)), "%.6f" % (plan["iteration_ns"] / 1e9), "%.1f" % max(
        s["memory"]["total_bytes"] / 1e9 for s in plan["stages"])]
print(*words)
END2
done

#!/bin/sh
# Frozen blocks with adapters (adapter-ALBERT, arXiv 2303.16100; low-rank adapters here): GPT-2 XL
# on one A100, 16 sequences of 512 one by one: everything trained, or the adapters alone; then with
# the frozen weights in 4 bits (MARLIN, PPoPP'25, for their products). Lines of: what is trained,
# the iteration's time, GB of the GPU, GB of its weights, gradients and states.
#   adapters.sh FOLDER [RANK]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1 rank=${2:-16}
mkdir -p "$folder"
for way in all adapters 4-bit; do
    here=$folder/$way
    "$plumbline" example gpt --framework any --model gpt2-xl --cluster a100-16x8 --gpus 1 \
        --tensor 1 --pipeline 1 --micro-batch 1 --global-batch 16 --sequence 512 --zero 0 --force \
        -o "$here" > "$here.log"
    python3 - "$here" $way "$rank" << 'END'
import json, sys
folder, way, rank = sys.argv[1], sys.argv[2], int(sys.argv[3])
problem = json.load(open(folder + "/problem.json"))
path = folder + "/" + problem["model"]
model = json.load(open(path))
for run in model["runs"]:
    if way == "all": continue
    run["frozen"] = True
    if run["kind"] == "block":
        run["adapter_rank"] = rank
        if way == "4-bit": run["weight_bits"] = 4
json.dump(model, open(path, "w"))
END
    "$plumbline" solve "$here/problem.json" -o "$here/plan.json" --quiet >> "$here.log" 2>&1
    python3 - "$here" $way << 'END'
import json, sys
plan = json.load(open(sys.argv[1] + "/plan.json"))
memory = plan["stages"][0]["memory"]
states = sum(memory[k] for k in ("weight_bytes", "gradient_bytes", "optimizer_bytes"))
print(sys.argv[2], "%.6f" % (plan["iteration_ns"] / 1e9),
      "%.2f" % (sum(v for v in memory.values() if isinstance(v, int)) / 1e9),
      "%.2f" % (states / 1e9))
END
done

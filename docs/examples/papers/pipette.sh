#!/bin/sh
# The objective that the published planner Pipette anneals (arXiv 2405.18093; FORMULAS 16): a GPT of
# 64 layers on 16 nodes with a measured matrix of bandwidths. Without MATRIX one is drawn: 20 GB/s,
# each direction times 0.9 to 1.1. Lines of: the matrix, stages, the objective with the nodes in the
# matrix's order, the least (proven), both in ms.
#   pipette.sh FOLDER [MATRIX ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
[ $# -gt 0 ] || python3 - "$folder/drawn.json" << 'END'
import json, random, sys
rng = random.Random(1)
names = [f"n{i}" for i in range(16)]
rate = [[240.0 if a == b else round(20 * rng.uniform(0.9, 1.1), 3) for b in names] for a in names]
json.dump({"gpus": names, "bandwidth": rate}, open(sys.argv[1], "w"))
END
for matrix in "${@:-$folder/drawn.json}"; do
    for stages in 2 4 8 16; do
        here=$folder/$(basename "$matrix" .json)-$stages
        "$plumbline" example pipette --matrix "$matrix" --stages $stages --force -o "$here" \
            > "$here.log" 2>&1
        "$plumbline" solve "$here/problem.json" -o "$here/plan.json" --quiet >> "$here.log" 2>&1
        python3 - "$here" "$matrix" $stages << 'END'
import json, sys
plan, matrix = json.load(open(sys.argv[1] + "/plan.json")), json.load(open(sys.argv[2]))
stages, rate = int(sys.argv[3]), [[float(x) for x in row] for row in matrix["bandwidth"]]
message, gradient = 0.050332, 2.493112  # GB: boundary, a tensor rank's gradient
chains = [list(range(i * stages, (i + 1) * stages)) for i in range(16 // stages)]
hops = max(sum(2 * message / rate[a][b] for a, b in zip(c, c[1:])) for c in chains)
first, count = [c[0] for c in chains], len(chains)
ring = 0 if count == 1 else 2 * (count - 1) / count * gradient * max(
    1 / rate[a][b] for a, b in zip(first, first[1:] + first[:1]))
print(sys.argv[2].split("/")[-1], stages, "%.3f" % (1e3 * (hops + ring)),
      "%.6f" % (plan["objective_ns"] / 1e6))
END
    done
done

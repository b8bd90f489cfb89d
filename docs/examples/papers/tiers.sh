#!/bin/sh
# Frozen parts in a dense memory, adapters in the fast one (adapter-ALBERT, arXiv 2303.16100), at
# the scale of a GPU: GPT-2 XL with adapters of rank 16 on one A100 whose fast memory shrinks,
# beside a dense tier that is read in place; 16 sequences of 512 one by one. Offered are shares of
# the frozen weights and of the adapters in the tier. Lines of: GB of fast memory, GB/s at which
# the tier is read, percent of the frozen weights and of the adapters in it, recomputation, the
# iteration's time; "none fits" where no plan does. The tier's rates are assumed; it is written at
# a fiftieth of its rate.
#   tiers.sh FOLDER [GB,GB/S ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for row in ${*:-8,200 6.4,200 5.4,200 4.9,200 4.3,200 3.1,200 4.3,800 3.5,800 4.3,50}; do
    gb=${row%,*} rate=${row#*,}
    here=$folder/$row
    "$plumbline" example gpt --framework any --model gpt2-xl --cluster a100-16x8 --gpus 1 \
        --tensor 1 --pipeline 1 --micro-batch 1 --global-batch 16 --sequence 512 --zero 0 --force \
        -o "$here" > "$here.log"
    python3 - "$here" "$gb" "$rate" << 'END'
import json, sys
folder, gb, rate = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]) * 1e9
problem = json.load(open(folder + "/problem.json"))


def change(what, how):
    path = folder + "/" + problem[what]
    document = json.load(open(path))
    how(document)
    json.dump(document, open(path, "w"))


def model(m):
    for run in m["runs"]:
        run["frozen"] = True
        if run["kind"] == "block":
            run["adapter_rank"] = 16


def cluster(c):
    group = c["groups"][0]
    group["memory_bytes"] = int(gb * 1e9)
    group["tiers"] = [{"name": "dense", "bytes": 4000000000, "read_bytes_per_s": rate,
                       "write_bytes_per_s": rate / 50, "in_place": True}]


def job(j):
    shares = [{"name": "frozen %d" % p, "frozen_weights": {"tier": "dense", "percent": p}}
              for p in (25, 50, 75, 100)]
    shares.append({"name": "all", "frozen_weights": {"tier": "dense", "percent": 100},
                   "trained_weights": {"tier": "dense", "percent": 100}})
    j["tier_options"], j["memory_fraction"] = shares, 1


for what, how in (("model", model), ("cluster", cluster), ("job", job)):
    change(what, how)
END
    code=0
    "$plumbline" solve "$here/problem.json" -o "$here/plan.json" --certificate \
        "$here/certificate.json" --quiet >> "$here.log" 2>&1 || code=$?
    [ $code = 0 ] || [ $code = 11 ] || { cat "$here.log" >&2; exit $code; }
    [ $code = 11 ] || {
        "$plumbline" verify "$here/plan.json" >> "$here.log" 2>&1
        "$plumbline" check "$here/certificate.json" "$here/problem.json" >> "$here.log" 2>&1
    }
    python3 - "$here" "$gb" "$rate" << 'END'
import json, sys
plan = json.load(open(sys.argv[1] + "/plan.json"))
if not plan["stages"]:
    print(sys.argv[2], sys.argv[3], "- - -", "none fits")
    sys.exit()
stage = plan["stages"][0]
option = stage.get("tier_option", "frozen 0")
frozen = 100 if option == "all" else int(option.split()[1])
again = stage["recompute"]
if again == "first_layers":
    again = "first %d layers" % stage["recomputed_layers"]
print(sys.argv[2], sys.argv[3], frozen, 100 if option == "all" else 0, again,
      "%.6f" % (plan["iteration_ns"] / 1e9))
END
done

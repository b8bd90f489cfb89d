#!/bin/sh
# Energy of a dense memory beside a fast one (adapter-ALBERT, arXiv 2303.16100), as the share of
# trained parameters moves: GPT-2 XL on one A100, 16 sequences of 512 one by one, frozen blocks with
# adapters of a rank (0: everything is trained). The fast memory takes 31 pJ a byte both ways; a
# dense tier of 4 GB, read in place at 200 GB/s, takes 10 to read and WRITE (1000) to write (all
# assumed). Shares of the frozen weights, of the trained ones, or of both may be in the tier. Lines
# of: rank, percent of the parameters that are trained, the limit in percent of what everything in
# the fast memory takes (x1.3: none, but the least energy within 1.3 times the time of that),
# percent of the frozen weights and of the trained ones in the tier, the iteration's time, joules of
# weights and states; "none fits" where no plan keeps the limit.
#   energy.sh FOLDER [RANK,LIMIT ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
rows="16,100 16,80 16,60 16,50 16,x1.1 16,x1.3 16,x2 256,80 256,60 256,50 1024,80"
rows="$rows 1024,60 1024,x1.1 0,80"

# The problem's best plan within so many microjoules, or (x) of least energy within so many ns,
# verified, its certificate audited; 0: with everything in the fast memory.
take() {
    python3 - "$here/job.json" "$1" << 'END'
import json, sys
job, least, limit = json.load(open(sys.argv[1])), sys.argv[2][0] == "x", int(sys.argv[2].strip("x"))


def option(frozen, trained):
    parts = {"frozen_weights": frozen, "trained_weights": trained}
    return dict({part: {"tier": "dense", "percent": p} for part, p in parts.items() if p},
                name="frozen %d, trained %d" % (frozen, trained))


job["tier_options"], job["memory_fraction"] = [], 1
if limit:
    job["tier_options"] = [option(*shares) for shares in
                           ((25, 0), (50, 0), (75, 0), (100, 0), (0, 100), (100, 100))]
    job.update({"objective": "energy", "iteration_limit_s": limit / 1e9} if least else
               {"budget": {"energy_max_uj": limit}})
json.dump(job, open(sys.argv[1], "w"))
END
    code=0
    "$plumbline" solve "$here/problem.json" -o "$here/plan.json" --certificate \
        "$here/certificate.json" --quiet >> "$here.log" 2>&1 || code=$?
    [ $code = 0 ] || [ $code = 11 ] || { cat "$here.log" >&2; exit $code; }
    [ $code = 11 ] ||
        "$plumbline" verify "$here/plan.json" -o "$here/verdict.json" >> "$here.log" 2>&1
    "$plumbline" check "$here/certificate.json" "$here/problem.json" >> "$here.log" 2>&1
}

for row in ${*:-$rows}; do
    rank=${row%,*} limit=${row#*,}
    here=$folder/$row
    "$plumbline" example gpt --framework any --model gpt2-xl --cluster a100-16x8 --gpus 1 \
        --tensor 1 --pipeline 1 --micro-batch 1 --global-batch 16 --sequence 512 --zero 0 --force \
        -o "$here" > "$here.log"
    python3 - "$here" "$rank" "${WRITE:-1000}" << 'END'
import json, sys
folder, rank, write = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
problem = json.load(open(folder + "/problem.json"))
model = json.load(open(folder + "/" + problem["model"]))
for run in model["runs"] if rank else []:
    run["frozen"] = True
    if run["kind"] == "block":
        run["adapter_rank"] = rank
json.dump(model, open(folder + "/" + problem["model"], "w"))
cluster = json.load(open(folder + "/" + problem["cluster"]))
group = cluster["groups"][0]
group["memory_read_pj_per_byte"] = group["memory_write_pj_per_byte"] = 31
group["tiers"] = [{"name": "dense", "bytes": 4000000000, "read_bytes_per_s": 2e11, "in_place": True,
                   "write_bytes_per_s": 4e9, "read_pj_per_byte": 10, "write_pj_per_byte": write}]
json.dump(cluster, open(folder + "/" + problem["cluster"], "w"))
END
    take 0
    take "$(python3 - "$here" "$limit" << 'END'
import json, sys
folder, limit = sys.argv[1:]
if limit[0] == "x":
    print("x%d" % (json.load(open(folder + "/plan.json"))["iteration_ns"] * float(limit[1:])))
else:
    print(json.load(open(folder + "/verdict.json"))["energy_uj"] * int(limit) // 100)
END
)"
    python3 - "$here" "$rank" "$limit" << 'END'
import json, sys
folder, rank, limit = sys.argv[1:]
runs = json.load(open(folder + "/certificate.priced.json"))["runs"]
# With all frozen weights in the tier the others are left; those of embeddings never go there.
left = sum(r["count"] * r["tiered"][4]["weight_bytes"] for r in runs if r["name"] != "embedding")
left += sum(r["weight_bytes"] for r in runs if r["name"] == "embedding" and rank == "0")
share = 100 * left / sum(r["count"] * r["weight_bytes"] for r in runs)
plan = json.load(open(folder + "/plan.json"))
if not plan["stages"]:
    print(rank, "%.1f" % share, limit, "- - -", "none fits")
    sys.exit()
option = plan["stages"][0].get("tier_option", "frozen 0, trained 0")
frozen, trained = (part.split()[1] for part in option.split(", "))
energy = json.load(open(folder + "/verdict.json"))["energy_uj"]
print(rank, "%.1f" % share, limit, frozen, trained, "%.6f" % (plan["iteration_ns"] / 1e9),
      "%.3f" % (energy / 1e6))
END
done

#!/bin/sh
# Hardware as a decision (PHAZE, arXiv 2407.13143): 1,024 devices with links of 4 GiB/s, batches
# of 4,096 sequences, as in its program (msr-fiddle/phaze fed7cde): arrays of 32 x 32 to 256 x 256,
# their number, vector units and the buffer, in the area of the TPUv4-like device it compares with
# (8 arrays of 128 x 128, 2 vector units, 128 MiB, 1.05 GHz), with 32 GiB at 1.2 TB/s. Lines of:
# model, iteration of the TPUv4-like device with the plan that PHAZE fixes for it (pipeline x data x
# tensor), with its best plan, of the best design with its best plan, times faster than the first,
# than the second, the design, designs searched of how many, % above the bound over all.
#   designs.sh FOLDER [MODEL ...]
# AREA: share of the TPUv4-like device's area (1)
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
python3 - "$folder" "${AREA:-1}" <<'END'
import json, sys
folder, share = sys.argv[1], float(sys.argv[2])
MIB = 1 << 20
# Fitted to the 29,360 areas that PHAZE's Estimator/arch_configs/cores.json lists: at most 5 %, in
# the mean 1 % off.
area = {"fixed": 0.627, "multiplier": 7.894e-4, "matrix_unit": 5.524e-3, "lane": 7.747e-4,
        "vector_unit": 6.071e-3, "buffer_byte": 1.3805 / MIB}
tpu = {"matrix_units": [8], "rows": [128], "vector_units": [2], "buffer_bytes": [128 * MIB]}
own = {"matrix_units": [4, 8, 16, 32, 64, 128, 256], "rows": [32, 64, 128, 256],
       "vector_units": [2, 8, 32], "buffer_bytes": [8 * MIB, 32 * MIB, 128 * MIB]}
rest = {"clock_hz": [1.05e9], "memory_bytes": [32 << 30], "memory_bytes_per_s": [1.2e12],
        "link_bytes_per_s": [4 << 30], "network_bytes_per_s": [4 << 30], "devices": [8],
        "nodes": [128]}
most = (area["fixed"] + 8 * 128 * 128 * area["multiplier"] + 8 * area["matrix_unit"] +
        256 * area["lane"] + 2 * area["vector_unit"] + 128 * MIB * area["buffer_byte"])
for name, lists in ("tpu", tpu), ("own", own):
    document = {"kind": "plumbline.designs", "version": 1, "name": name, "area": area}
    document.update({k: {"values": v} for k, v in {**lists, **rest}.items()})
    if name == "own":
        document["area_most_mm2"] = share * most * (1 + 1e-9)
    json.dump(document, open(f"{folder}/{name}.json", "w"))
END
for model in ${*:-bert-large gpt2-xl llama-2-7b}; do
    case $model in # as PHAZE's Solver/baseline_configs.py; without its tensor ranks, which are 1
    bert-large) sequence=512 pipeline=8 ;;
    gpt2-xl) sequence=1024 pipeline=32 ;;
    *) sequence=4096 pipeline=8 ;;
    esac
    here=$folder/$model
    offers() { # NAME, DESIGNS, what else is stated
        name=$1 designs=$2
        shift 2
        "$plumbline" offers --model "$model" --designs "$folder/$designs.json" --fastest --for any \
            --schedule 1f1b --zero 0 --sequence $sequence --global-batch 4096 --tokens 1e9 \
            --time-limit-s 600 --force -o "$here.$name" "$@" > "$here.$name.txt" 2> "$here.log"
    }
    offers fixed tpu --pipeline $pipeline --tensor 1 --data $((1024 / pipeline))
    offers tpu tpu
    offers own own
    python3 - "$here" "$model" $sequence <<'END'
import csv, sys
here, model, sequence = sys.argv[1], sys.argv[2], int(sys.argv[3])
iterations = 1e9 / (4096 * sequence)
rows = {n: list(csv.DictReader(open(f"{here}.{n}/offers.csv"))) for n in ("fixed", "tpu", "own")}
best = {n: next(r for r in each if r["best"] == "1") for n, each in rows.items()}
s = {n: 3600 * float(r["hours"]) / iterations for n, r in best.items()}
bound = min(float(r["hours_at_least"]) for r in rows["own"])
searched = sum(not r["state"].startswith("dismissed") for r in rows["own"])
print(model, *("%.4f" % s[n] for n in ("fixed", "tpu", "own")), "%.2f" % (s["fixed"] / s["own"]),
      "%.2f" % (s["tpu"] / s["own"]), best["own"]["machine"], f"{searched} of {len(rows['own'])}",
      "%.2f" % (100 * (1 - bound / float(best["own"]["hours"]))))
END
done

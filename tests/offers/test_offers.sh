#!/bin/sh
# plumbline offers against a search of each machine by itself: the same cheapest and fastest, prices
# that are hours x GPUs x rate, bounds that no machine's own best is below; and what is moved moves
# the answer.
BIN=${BIN:-bin} work=build/test_offers.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "offers: $*" >&2; failed=1; }
command -v python3 >/dev/null || { echo "skipped: python3 is not there"; exit 0; }

offers() { # NAME, what is asked: leaves $work/NAME/offers.csv
    name=$1; shift
    "$plumbline" offers --model llama-3.1-8b --offer h100-80gb:1,2:2.5 --offer a100-80gb:1,2,4:1 \
        --tokens 1e9 --global-batch 64 --gap 0 -o "$work/$name" "$@" >"$work/$name.txt" \
        2>"$work/log"
}

refuse() {
    words=$1; shift
    "$plumbline" offers -o "$work/none" "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || wrong "$*: not refused"
    [ "$(wc -l <"$work/err")" -eq 1 ] || wrong "$*: not one line: $(cat "$work/err")"
    grep -q -- "$words" "$work/err" || wrong "$*: not said: $words: $(cat "$work/err")"
}

offers cheapest || wrong "cheapest: $(cat "$work/log")"
for folder in "$work"/cheapest/*/; do # every machine by itself
    "$plumbline" solve "$folder/problem.json" -o "$folder/own.json" --quiet 2>"$work/log" ||
        wrong "$folder: $(cat "$work/log")"
done
cat >"$work/compare.py" <<'END'
import csv, json, sys
folder, name, goal, limit = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
rows = list(csv.DictReader(open(f"{folder}/{name}/offers.csv")))
def own(row):
    plan = json.load(open(f"{folder}/cheapest/{row['machine']}-{row['nodes']}/own.json"))
    hours = 1e9 / (64 * 2048) * plan["iteration_ns"] / 3600e9
    return hours, hours * int(row["gpus"]) * float(row["gpu_hour_price"])
truth = {(r["machine"], r["nodes"]): own(r) for r in rows}
key = (lambda v: v[0]) if goal == "fastest" else (lambda v: v[1])
within = {k: v for k, v in truth.items() if (v[1] if goal == "fastest" else v[0]) <= limit}
best = [r for r in rows if r["best"] == "1"]
said = "nothing" if not best else f"{best[0]['machine']}-{best[0]['nodes']}"
if not within: sys.exit(bool(best) and f"{name}: {said}, but nothing is within {limit}")
if len(best) != 1: sys.exit(f"{name}: no best")
least = min(map(key, within.values()))
mine = (float(best[0]["hours"]), float(best[0]["price"]))
if abs(key(mine) / least - 1) > 1e-8:
    sys.exit(f"{name}: {said} {mine}, but {least} is the least of {within}")
for r in rows:
    hours, price = truth[r["machine"], r["nodes"]]
    of_hours = r["hours"] and float(r["hours"]) * int(r["gpus"]) * float(r["gpu_hour_price"])
    if r["hours"] and abs(float(r["price"]) / of_hours - 1) > 1e-8:
        sys.exit(f"{name}: {r}: price")
    if (float(r["hours_at_least"]) > hours * (1 + 1e-8) or
            float(r["price_at_least"]) > price * (1 + 1e-8)):
        sys.exit(f"{name}: {r}: takes {hours} hours, {price}")
print(said)
END
compare() { python3 "$work/compare.py" "$work" "$@" >"$work/said" 2>"$work/log" ||
    wrong "$(cat "$work/log")"; cat "$work/said"; }

first=$(compare cheapest cheapest 1e30)
hours=$(python3 -c "
import csv
rows = csv.DictReader(open('$work/cheapest/offers.csv'))
print(0.7 * min(float(r['hours']) for r in rows if r['best'] == '1'))")
offers within --within-hours "$hours" || wrong "within: $(cat "$work/log")"
[ "$(compare within cheapest "$hours")" != "$first" ] ||
    wrong "a machine that takes longer than $hours hours is still the cheapest within them"
"$plumbline" offers --model gpt2-xl --offer a100-80gb:1:1 --tokens 1e6 --budget 1e9 --gap 0.1 \
    -o "$work/plenty" >"$work/out" 2>"$work/log" ||
    wrong "a budget for years of an iteration: $(cat "$work/log")"
offers budget --budget 1000000 || wrong "budget: $(cat "$work/log")"
compare budget fastest 1e6 >/dev/null
offers none --within-hours 0.001
[ $? -eq 11 ] || wrong "a thousandth of an hour: not infeasible"
compare none cheapest 0.001 >/dev/null
grep -q "within the limit" "$work/none.txt" || wrong "not said that nothing is within the limit"
"$plumbline" verify "$work/cheapest/$first/plan.json" >"$work/log" 2>&1 ||
    wrong "verify: $(cat "$work/log")"

# Random offers; make test-exact draws 500.
mkdir "$work/drawn"
python3 "$(dirname "$0")/offers_drawn.py" "$plumbline" "$work/drawn" 5 >"$work/out" \
    2>"$work/log" || wrong "$(cat "$work/log")"

# Designs: the more area, the more multipliers and the faster; at the least price, another machine;
# a plan that verifies and certifies; random documents, of which make test-exact draws 500.
designs() { # FILE, what is put in place of its area_most_mm2
    cat >"$work/$1.json" <<END
{"kind": "plumbline.designs", "version": 1, "name": "small",
 "matrix_units": {"from": 4, "to": 64, "times": 2}, "rows": {"values": [64, 128]},
 "vector_units": {"values": [8]}, "buffer_bytes": {"values": [8388608, 134217728]},
 "clock_hz": {"values": [1.05e9]}, "memory_bytes": {"values": [68719476736]},
 "memory_bytes_per_s": {"values": [1.2e12]}, "link_bytes_per_s": {"values": [1e11]},
 "network_bytes_per_s": {"values": [1e10]}, "devices": {"values": [8]}, "nodes": {"values": [1]},
 "area": {"fixed": 0.627, "multiplier": 7.894e-4, "buffer_byte": 1.3e-6},
 "hour_price": {"fixed": 0.5, "area_mm2": 0.01}, $2}
END
}
design() { # NAME, FILE, what is asked: its best machine
    name=$1 file=$2
    shift 2
    "$plumbline" offers --model gpt2-xl --designs "$work/$file.json" --schedule 1f1b --zero 1 \
        --sequence 1024 --global-batch 64 -o "$work/$name" "$@" >"$work/$name.txt" 2>"$work/log" ||
        wrong "$name: $(cat "$work/log")"
    sed -n 's/^\(Fastest\|Cheapest\): \([^,]*\),.*/\2/p' "$work/$name.txt"
}
multipliers() { echo "$1" | awk -F'[mr-]' '{ print $2 * $4 * $4 }'; }
for area in 60 150 282; do
    designs "area$area" "\"area_most_mm2\": $area"
    machine=$(design "fastest$area" "area$area" --fastest)
    [ "$(multipliers "$machine")" -gt "${before:-0}" ] || wrong "$area mm2: $machine"
    before=$(multipliers "$machine")
    grep -q "by their bounds" "$work/fastest$area.txt" || wrong "$area mm2: none dismissed"
done
cheap=$(design cheap area282)
[ -n "$cheap" ] && [ "$cheap" != "$machine" ] || wrong "the cheapest design is the fastest: $cheap"
"$plumbline" solve "$work/fastest282/$machine/problem.json" -o "$work/again.json" --quiet \
    --certificate "$work/again.certificate.json" >"$work/log" 2>&1 &&
    "$plumbline" verify "$work/fastest282/$machine/plan.json" >"$work/log" 2>&1 &&
    "$plumbline" check "$work/again.certificate.json" "$work/fastest282/$machine/problem.json" \
        >"$work/log" 2>&1 || wrong "$machine: $(cat "$work/log")"
sed 's/"clock_hz": 1050000000/"clock_hz": 2100000000/' "$work/fastest282/$machine/costs.json" \
    >"$work/forged" && mv "$work/forged" "$work/fastest282/$machine/costs.json"
"$plumbline" verify "$work/fastest282/$machine/plan.json" >"$work/log" 2>&1 &&
    wrong "a plan of another clock verifies"
mkdir "$work/designed"
python3 "$(dirname "$0")/designs_drawn.py" "$plumbline" "$work/designed" 1 >"$work/out" \
    2>"$work/log" || wrong "$(cat "$work/log")"

mistaken() { # what is said, what is in place of area_most_mm2
    designs mistaken "$2"
    refuse "$1" --model gpt2-xl --designs "$work/mistaken.json" --fastest
}
mistaken "found none of 20" '"area_most_mm2": 1'
mistaken 'unknown key "area_most"' '"area_most": 1'
mistaken "expected values, or from and to" '"columns": {"from": 4}'
mistaken "expected values or steps" '"columns": {"values": [4], "plus": 4}'
mistaken "expected rising values" '"columns": {"values": [4, 4]}'
mistaken "columns: expected whole numbers from 1" '"columns": {"values": [0.5]}'
mistaken "expected at most 1048576 choices" \
    '"columns": {"from": 1, "to": 500, "plus": 1}, "lanes": {"from": 1, "to": 500, "plus": 1}'
designs free '"area_most_mm2": 99'
sed 's/"hour_price": {[^}]*},//' "$work/free.json" >"$work/unpriced.json"
# Cut before anything is proven: no bound is said, nor anything about it.
"$plumbline" offers --model llama-3.1-405b --offer h100-80gb:64:2.5 --offer a100-80gb:16:1 \
    --tokens 1e9 --global-batch 512 --time-limit-s 0.01 -o "$work/cut" >"$work/out" 2>"$work/log"
grep -q '^Cheapest: h100-80gb-64' "$work/out" || wrong "cut: no plan: $(cat "$work/out")"
grep -q 'nothing is proven' "$work/out" || wrong "cut: $(cat "$work/out")"
grep -q ' 0 \|less than' "$work/out" && wrong "cut: a bound that nobody has: $(cat "$work/out")"

refuse "terms of a price above 0, or --fastest" --model gpt2-xl --designs "$work/unpriced.json"

refuse "requires --tokens" --model llama-3.1-8b --offer h100-80gb:1,2:2.5 --budget 4000
refuse "model is missing" --offer h100-80gb:1:2
refuse "--offer or --designs" --model llama-3.1-8b
refuse "PRICE above 0" --model llama-3.1-8b --offer h100-80gb:1:free
refuse "NODES from 1" --model llama-3.1-8b --offer h100-80gb:none:2
refuse "with two colons" --model llama-3.1-8b --offer h100-80gb
refuse "did you mean h100-80gb" --model llama-3.1-8b --offer h100-81gb:1:2
[ "$failed" = 0 ] && echo "offers: as each machine's own search says ($first the cheapest)"
exit $failed

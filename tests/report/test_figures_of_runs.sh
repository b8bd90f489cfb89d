#!/bin/sh
# What the report tells of a run beside its plan: tokens, utilisation, hours and price, from the
# problem that the plan was made from, where it is at hand and unchanged; and what it says where a
# number is missing.
set -u
root=$(pwd) here=$(pwd)/build/test_figures_of_runs.$$
case ${BIN:=bin} in /*) plumbline=$BIN/plumbline ;; *) plumbline=$root/$BIN/plumbline ;; esac
failures=0
rm -rf "$here" && mkdir -p "$here" && cd "$here" || exit 1
trap 'cd "$root"; rm -rf "$here"' EXIT
says() { grep -q -- "$1" out || { echo "FAILED: '$1' is not in the report"; sed -n 1,14p out
    failures=$((failures + 1)); }; }
silent() { ! grep -q -- "$1" out || { echo "FAILED: '$1' is in the report"
    failures=$((failures + 1)); }; }
report() { "$plumbline" report "$1/plan.json" > out 2> err ||
    { cat err; echo "FAILED: report"; failures=$((failures + 1)); }; }
solve() { "$plumbline" solve "$1/problem.json" -o "$1/plan.json" --quiet > out 2> err ||
    { cat err; echo "FAILED: solve"; exit 1; }; }

"$plumbline" example mixed -o mixed > out 2> err || { cat err; exit 1; }
sed -i 's/"gpus_per_node": \([0-9]*\),/"gpus_per_node": \1, "gpu_hour_price": 2.5,/' \
    mixed/cluster.json
sed -i 's/"sequence":/"run_tokens": 1000000000000, "sequence":/' mixed/job.json
solve mixed
report mixed
ns=$(sed -n 's/^  "iteration_ns": \([0-9]*\),.*/\1/p' mixed/plan.json)
tokens=$(awk -v ns="$ns" -v s="$(sed -n 's/.*"sequence": \([0-9]*\).*/\1/p' mixed/job.json)" \
    -v b="$(sed -n 's/.*"global_batch": \([0-9]*\).*/\1/p' mixed/job.json)" \
    'BEGIN { printf "%.9f", s * b / (ns / 1e9) }')
# of_tokens FORMAT AND VALUES: printed by awk, where t is the tokens of a second
of_tokens() { awk -v t="$tokens" "BEGIN { printf $1 }"; }
says "tokens *$(of_tokens '"%.6g a second, %.0f a GPU-hour", t, t * 3600 / 64')"
says 'price *160.00 an hour'
hours='1e12 / t / 3600'
says "run *1000000000000 tokens: $(
    of_tokens "\"%.1f hours, price %.0f\", $hours, 160 * ($hours)")"
says 'of a peak of 13.98 PFLOP/s'     # 32 A100 at 312 and 32 V100 at 125 TFLOP/s
mfu=$(sed -n 's/^  MFU *\([0-9.]*\) %.*/\1/p' out)
# The tables of several plans say the same: that plan's line has figures, a plan without its problem
# has none.
cp mixed/plan.json stray.json
table() { "$plumbline" report mixed/plan.json stray.json --format $1 > out 2> err ||
    { cat err; echo "FAILED: report --format $1"; failures=$((failures + 1)); }; }
table latex
prices=$(of_tokens '"%.4f & %.0f", 160e6 / t / 3600, 160e12 / t / 3600')
says "& $(of_tokens '"%.0f", t') & [0-9.]* & $mfu & $prices "
says '& -- & -- & -- & -- & -- \\\\$'
[ "$(tail -5 out | sed -n 2,3p | awk -F'&' '{ print NF }' | sort -u)" = 12 ] ||
    { echo "FAILED: lines of unlike length"; cat out; failures=$((failures + 1)); }
table csv
says "$(of_tokens '",%.6g,", t')"
says "$(of_tokens '",160,%.6g,%.6g,%.6g", 160e6 / t / 3600, 1e12 / t / 3600, 160e12 / t / 3600')"
says ',,,,,,,,,,"proven, not yet audited".$'
[ "$(sed 's/"[^"]*"/text/g' out | awk -F, '{ print NF }' | sort -u)" = 24 ] ||
    { echo "FAILED: lines of unlike length"; cat out; failures=$((failures + 1)); }
"$plumbline" predict mixed/problem.json --recompute full > out 2> err || cat err
says '^price *160 an hour'

sed -i 's/, *"peak_flop_per_s": {[^}]*}//; /"peak_flop_per_s"/d' mixed/costs.json
sed -i ':a; N; $!ba; s/},\n\( *\)}/}\n\1}/g' mixed/costs.json
solve mixed
report mixed
says 'MFU *not known: the costs state no peak_flop_per_s of'
sed -i 's/"gpu_hour_price": 2.5,//' mixed/cluster.json
report mixed                          # another cluster than the plan's
silent 'a GPU-hour'

"$plumbline" example chain --layers 8 --stages 2 --micro-batches 4 -o chain > out 2> err ||
    { cat err; exit 1; }
solve chain
report chain
says 'MFU *not known: the model has measured layers'
[ $failures = 0 ] && echo "figures of runs: all as expected"
[ $failures = 0 ]

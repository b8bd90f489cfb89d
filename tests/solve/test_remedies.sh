#!/bin/sh
# Where no layout has a plan: what would do is named, and does; what is called none has none. GPUs
# that a plan leaves idle are counted. After the loss of a node the layouts that are left are
# searched, and the command that is named writes their best.
BIN=${BIN:-bin} work=build/test_remedies.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "remedies: $*" >&2; failed=1; }

# solve CODE OPTION ...: the problem of these options of example gpt
solve() {
    code=$1; shift
    rm -rf "$work/problem"
    "$plumbline" example gpt --gpu h100-80gb --sequence 8192 --layouts degrees "$@" \
        -o "$work/problem" >"$work/log" 2>&1 || wrong "$*: $(cat "$work/log")"
    "$plumbline" solve "$work/problem/problem.json" --gap 0.5 --quiet -o "$work/plan.json" \
        >"$work/log" 2>&1
    got=$?
    [ $got -eq "$code" ] || wrong "$*: exit $got, not $code: $(cat "$work/log")"
}

solve 11 --model llama-3.1-70b --nodes 1 --global-batch 64
reason=$(cat "$work/log")
nodes=$(echo "$reason" | sed -n 's/.*there is one with \([0-9]*\) nodes (none with.*/\1/p')
memory=$(echo "$reason" | sed -n 's/.*, or with \([0-9]*\) GB in a GPU (none with.*/\1/p')
[ "${nodes:-0}" -gt 1 ] && [ "${memory:-0}" -gt 85 ] || wrong "70b on one node: no remedy: $reason"
"$plumbline" report "$work/plan.json" | grep -q "there is one with $nodes nodes" ||
    wrong "the report does not say it"
cp -r "$work/problem" "$work/more"
for gigabytes in $memory $((memory - 1)); do
    sed -i "s/\"memory_bytes\": [0-9]*/\"memory_bytes\": ${gigabytes}000000000/" \
        "$work/more/cluster.json"
    "$plumbline" solve "$work/more/problem.json" --gap 0.9 --quiet -o "$work/plan.json" \
        >"$work/log" 2>&1
    got=$?
    [ $gigabytes -eq "$memory" ] && [ $got -ne 0 ] &&
        wrong "$gigabytes GB do not do: $(cat "$work/log")"
    [ $gigabytes -lt "$memory" ] && [ $got -ne 11 ] &&
        wrong "$gigabytes GB would do, too: $(cat "$work/log")"
done
solve 0 --model llama-3.1-70b --nodes "$nodes" --global-batch 64
solve 11 --model llama-3.1-70b --nodes $((nodes - 1)) --global-batch 64

# A gap of 1 closes no layout of which no plan was found, and a first plan is found where stages
# before the mixtures state their places.
"$plumbline" example gpt --model deepseek-v3-mtp --gpu h100-80gb --sequence 4096 --gpus 256 \
    --layouts one --tensor 2 --pipeline 8 --expert 8 --schedule interleaved --virtual-stages 2 \
    -o "$work/mtp" >"$work/log" 2>&1 || wrong "mtp: $(cat "$work/log")"
sed -i "s/\"memory_bytes\": [0-9]*/\"memory_bytes\": 200000000000/" "$work/mtp/cluster.json"
"$plumbline" solve "$work/mtp/problem.json" --gap 1 --quiet -o "$work/plan.json" >"$work/log" 2>&1
grep -q "^within the gap" "$work/log" && grep -q ", 0 infeasible," "$work/log" ||
    wrong "mtp with 200 GB: $(cat "$work/log")"

solve 0 --model llama-3.1-8b --nodes 3 --global-batch 64 --layouts one --tensor 8 --pipeline 2 \
    --data 1
grep -q "8 of the cluster's 24 GPUs are idle" "$work/log" ||
    wrong "no idle GPUs: $(cat "$work/log")"
solve 0 --model llama-3.1-8b --nodes 2 --global-batch 64
grep -q idle "$work/log" && wrong "idle GPUs: $(cat "$work/log")"

solve 0 --model llama-3.1-8b --nodes 4 --global-batch 96 --fewer-devices
"$plumbline" solve "$work/problem/problem.json" --start "$work/plan.json" --without h100=1 \
    --gap 0.5 --quiet -o "$work/kept.json" >"$work/out" 2>"$work/log"
grep -q '^  any layout  *[0-9.]* s.*pipeline [0-9]*, tensor' "$work/out" ||
    wrong "no layout for the nodes that are left: $(cat "$work/out" "$work/log")"
said=$(sed -n 's/^  any layout  *\([0-9.]*\) s.*/\1/p' "$work/out")
"$plumbline" solve "$work/problem/problem.json" --without h100=1 --gap 0.5 \
    --quiet -o "$work/anew.json" >"$work/out" 2>"$work/log"
grep -q "new plan  *$said s" "$work/out" || wrong "$said s said, and written: $(cat "$work/out")"
[ $failed -eq 0 ] && echo "remedies: all as expected"
exit $failed

#!/bin/bash
# The two searches over all layouts, in Markdown on standard output: layouts.sh PLUMBLINE [THREADS]
set -u
plumbline=$1 threads=${2:-2}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

field() { sed -n "s/.*\"$2\": *\([0-9.eE+-]*\).*/\1/p" "$1" | head -1; }

echo "## Searches over all layouts"
echo
echo "$threads worker processes; every key of the layout free but local losses; wall seconds of the whole command."
echo
echo "| problem | layouts | gap asked | limit s | iteration s | bound s | gap | s |"
echo "|---|---|---|---|---|---|---|---|"
search() {      # search NAME GAP LIMIT example options ...
    local name=$1 gap=$2 limit=$3 begin; shift 3
    "$plumbline" example gpt --layouts all "$@" -o "$work/$name" > "$work/log" || exit 1
    begin=$(date +%s.%N)
    timeout $((limit + 60)) "$plumbline" solve "$work/$name/problem.json" -o "$work/$name/plan.json" --gap "$gap" --time-limit-s "$limit" --threads "$threads" --quiet 2> "$work/log"
    awk -v n="$name" -v c="$(field "$work/$name/plan.layouts.json" count)" -v g="$gap" -v l="$limit" -v t="$(field "$work/$name/plan.json" iteration_ns)" \
        -v b="$(field "$work/$name/plan.json" bound_ns)" -v s="$(awk "BEGIN { print $(date +%s.%N) - $begin }")" \
        'BEGIN { printf "| %s | %d | %g %% | %d | %.6f | %.6f | %.3f %% | %.1f |\n", n, c, 100 * g, l, t / 1e9, b / 1e9, t ? 100 * (t - b) / t : 100, s }'
}
search llama-3.1-405b-on-h100-128x8 0.01 300 --model llama-3.1-405b --cluster h100-128x8 --sequence 8192 --global-batch 1024
search gpt3-175b-on-a100-16x8 0.001 60 --global-batch 1536

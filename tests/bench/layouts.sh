#!/bin/bash
# The two searches over all layouts and the certificates of their whole spaces, in Markdown on
# standard output: layouts.sh PLUMBLINE [THREADS]
set -u
plumbline=$1 threads=${2:-2}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

field() { sed -n "s/.*\"$2\": *\([0-9.eE+-]*\).*/\1/p" "$1" | head -1; }

echo "## Searches over all layouts"
echo
echo "$threads worker processes; every key of the layout free but local losses; wall seconds of" \
    "the whole command; of it, \`certificate s\` went into the certificate of all layouts." \
    "\`check\`: plumbline check, one thread, wall seconds; what it accepts as bound."
echo
echo "| problem | layouts | gap asked | limit s | iteration s | bound s | gap | s | certificate s" \
    "| bytes | proofs | check s | check bound s |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
search() {      # search NAME GAP LIMIT example options ...
    local name=$1 gap=$2 limit=$3 begin seconds written proofs; shift 3
    "$plumbline" example gpt --layouts all --framework any "$@" -o "$work/$name" > "$work/log" ||
        exit 1
    begin=$(date +%s.%N)
    timeout $((limit + 600)) "$plumbline" solve "$work/$name/problem.json" \
        -o "$work/$name/plan.json" --gap "$gap" --time-limit-s "$limit" --threads "$threads" \
        --quiet \
        --certificate "$work/$name/certificate.json" 2> "$work/log"
    seconds=$(awk "BEGIN { print $(date +%s.%N) - $begin }")
    written=$(sed -n 's/^certificate: [0-9]* layouts.*; \([0-9.]*\) s$/\1/p' "$work/log")
    proofs=$(sed -n 's/^certificate: .* dominated, \([0-9]*\) with a proof.*/\1/p' "$work/log")
    "$plumbline" check "$work/$name/certificate.json" "$work/$name/problem.json" \
        > "$work/checked" || echo "not accepted: $(head -1 "$work/checked")" >&2
    awk -v n="$name" -v c="$(field "$work/$name/plan.layouts.json" count)" -v g="$gap" \
        -v l="$limit" -v t="$(field "$work/$name/plan.json" iteration_ns)" \
        -v b="$(field "$work/$name/plan.json" bound_ns)" -v s="$seconds" -v w="$written" \
        -v p="$proofs" -v size="$(stat -c %s "$work/$name/certificate.json")" \
        -v k="$(sed -n 's/^  took *\([0-9.]*\) s$/\1/p' "$work/checked")" \
        -v kb="$(sed -n 's/^certified: .*less than \([0-9]*\) ns$/\1/p' "$work/checked")" \
        'BEGIN { printf "| %s | %d | %g %% | %d | %.6f | %.6f | %.3f %% | %.1f | %.1f | %d | %d " \
                        "| %.1f | %.6f |\n",
                     n, c, 100 * g, l, t / 1e9, b / 1e9, t ? 100 * (t - b) / t : 100, s,
                     w, size, p, k, kb / 1e9 }'
}
search llama-3.1-405b-on-h100-128x8 0.01 300 --model llama-3.1-405b --cluster h100-128x8 \
    --sequence 8192 --global-batch 1024
search gpt3-175b-on-a100-16x8 0.001 60 --global-batch 1536

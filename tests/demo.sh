#!/bin/sh
# make demo: the whole chain, twice. This machine measured, calibrated, and GPT-2 XL planned on four
# of its kind; then Llama-3.1 70B in fp16 on a mixed A100/V100 cluster from shipped costs. Each
# command is printed before it runs; any failure ends the demo. Everything lies under build/demo
# afterwards.
set -eu
BIN=${BIN:-bin}
here=build/demo
budget_s=${DEMO_BUDGET_S:-20}
rm -rf "$here"
mkdir -p "$here"

say() { printf '\n# %s\n' "$*"; }
run() {
    printf '\n$ plumbline'
    for word in "$@"; do case $word in *[!A-Za-z0-9_./=:-]*) printf " '%s'" "$word" ;; *) printf \
        ' %s' "$word" ;; esac; done
    printf '\n'
    "$BIN/plumbline" "$@"
}

# Each of the four machines has what this one has, at least 32 GB.
memory_gb=$(awk '/^MemTotal:/ { printf "%d", $2 * 1024 / 1e9 }' /proc/meminfo 2>/dev/null || true)
[ "${memory_gb:-0}" -ge 32 ] || memory_gb=32

say "1. Measure this machine: the parts of a block of GPT-2 XL, about $budget_s s"
run measure compute --model data/models/openai/gpt2-xl.json --sequence 1024 --budget-s "$budget_s" \
    -o $here/samples.json

say "2. Calibrate: rates and overheads, each with its interval, against the samples they come from"
run calibrate $here/samples.json --show -o $here/costs.json

say "3. Plan GPT-2 XL on four such machines ($memory_gb GB each, assumed)" \
    "joined by 10 Gb/s Ethernet"
run example four --costs $here/costs.json --memory-gb "$memory_gb" -o $here/four
run solve $here/four/problem.json -o $here/four/plan.json

say "4. Let the independent judge recompute it, and report"
run verify $here/four/plan.json
run report $here/four/plan.json

say "5. Plan Llama-3.1 70B in fp16 on a mixed A100/V100 cluster, from shipped costs"
run example mixed -o $here/mixed
run solve $here/mixed/problem.json -o $here/mixed/plan.json

say "6. Judge and report"
run verify $here/mixed/plan.json
run report $here/mixed/plan.json

say "Done: two plans, each with a bound on all plans, checked by code that shares nothing with" \
    "what made them. All files: $here"

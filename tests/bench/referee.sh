#!/bin/bash
# The verified referee on certificates of BENCHMARKS of its kinds, one line a problem: the bytes it
# reads, its answer, its seconds, and how many kinds of forgery it refused; all where it takes less
# than REFEREE_FORGED_S=0.3, of others false claims. Needs what make proofs and run-test_referee
# build. REFEREE_LIMIT_S=10: of each search.
set -u
root=$(pwd)
plumbline=${BIN:-$root/bin}/plumbline limit=${REFEREE_LIMIT_S:-10} out=${OUT:-$root/build/release}
forged=${REFEREE_FORGED_S:-0.3}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/logs/tests" "$folder/logs/rocq"
cp "$out/rocq/plumbline-referee" "$folder/logs/rocq" || exit 1

problems() {
    sh "$root/tests/bench/engines.sh" list
    for chain in 24/4/1/16 24/4/2/16 48/8/1/32 48/8/2/32 96/16/1/64 96/16/2/64 96/16/4/64 \
        126/16/2/64 126/16/2/128 126/32/2/128; do
        IFS=/ read -r l s k m <<< "$chain"
        echo "chain chain --layers $l --stages $s --types $k --micro-batches $m"
    done
}

problems | while read -r _ arguments; do
    cd "$folder" && rm -rf one && mkdir one && cd one || exit 1
    # shellcheck disable=SC2086 # the options
    "$plumbline" example $arguments -o . --quiet > out 2>&1 || continue
    "$plumbline" solve problem.json --certificate c.json --priced priced.json -o plan.json \
        --time-limit-s "$limit" --quiet > out 2>&1 < /dev/null
    if ! "$plumbline" check c.json priced.json --elaborate elaborated > out 2>&1; then
        echo "$arguments | not of its kinds: $(tail -1 out)"
        continue
    fi
    seconds=$({ TIMEFORMAT=%U && time "$folder/logs/rocq/plumbline-referee" elaborated priced.json \
        > said; } 2>&1)
    every=$(awk "BEGIN { print $seconds < $forged ? 1 : 2 }")
    LOGS="$folder/logs/tests" "$out/tests/test_referee" 0 0 "$every" "$folder/one" > out 2>&1
    echo "$arguments | $(wc -c < elaborated) | $(cut -d: -f1 said) | $seconds |" \
        "$(grep -h 'forgeries refused\|: accepts' out)"
done

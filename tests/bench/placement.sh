#!/bin/bash
# Placements on measured links, in Markdown on standard output: placement.sh PLUMBLINE
# BENCH-PLACEMENT [MATRIX.json ...]
#     BENCH_SET=quick|full     quick: 1 s of annealing, one seed of the racks, no 256 nodes
# Asked of the exact time: a gap of 0.02 % in 30 s (quick: 5) for the measured nodes, 0.3 % for the
# racks of 64, 1 % for those of 256. MATRIX.json: tables as `plumbline import matrix` reads them, 16
# nodes each. All runs have one thread.
set -u
plumbline=$1 bench=$2; shift 2
set=${BENCH_SET:-quick}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
seconds=10 seeds="1 2 3 4 5" runs=5 large=yes limit=30
[ "$set" = full ] || seconds=1 seeds=1 runs=3 large="" limit=5
matrices=""
for file in "$@"; do
    if [ -f "$file" ]; then matrices="$matrices $file"
    else echo "placement: $file is not there: left out" >&2; fi
done

now() { date +%s.%N; }
since() { awk "BEGIN { printf \"%.2f\", $(now) - $1 }"; }

cat > "$work/gpt64.json" <<'MODEL'
{"kind": "plumbline.model", "version": 1, "name": "gpt64",
 "shape": {"hidden": 3072, "ffn": 12288, "heads": 32, "vocabulary": 50256, "positions": 1024,
           "qkv_bias": true, "linear_bias": true, "dropout": true, "tied_embeddings": true},
 "runs": [{"name": "embedding", "kind": "embedding"},
          {"name": "block", "kind": "block", "count": 64, "recomputable": true},
          {"name": "head", "kind": "head"}]}
MODEL

example() {     # example FOLDER CLUSTER options of example gpt ...
    local to=$1 cluster=$2; shift 2
    "$plumbline" example gpt --cluster "$cluster" --tensor 8 "$@" -o "$to" > "$work/log" || exit 1
}
measured() {    # measured FOLDER CLUSTER STAGES
    example "$1" "$2" --model "$work/gpt64.json" --pipeline "$3" --data $((16 / $3)) \
        --micro-batch 4 --global-batch 128 --sequence 1024 --precision fp32
}
racks() {       # racks FOLDER RACKS SIZE SEED STAGES REPLICAS
    "$bench" racks "$2" "$3" "$4" "$1.cluster.json" || exit 1
    example "$1" "$1.cluster.json" --model gpt3-175b --pipeline "$5" --data "$6" --micro-batch 1 \
        --global-batch $((64 * $6)) --sequence 2048
}
solve() {       # solve FOLDER GAP LIMIT_S -> $took; the plan stands in FOLDER/plan.json
    local begin; begin=$(now)
    "$plumbline" solve "$1/problem.json" -o "$1/plan.json" --threads 1 --gap "$2" \
        --time-limit-s "$3" --quiet 2> "$work/log"
    took=$(since "$begin")
    "$plumbline" verify "$1/plan.json" --problem "$1/problem.json" > "$work/verdict" ||
        echo "NOT VERIFIED: $1" >&2
}

pipette_row() {     # pipette_row NAME FOLDER SECONDS RUNS
    "$bench" pipette "$2/problem.json" "$3" "$4" | awk -v n="$1" '{ worse = 100 * ($4 - $1) / $1
        printf "| %s | %.6f | %.6f | %.3f %% | %.2f | %.6f | %+.3f %% | %.2f |%s\n",
            n, $1 / 1e6, $2 / 1e6, 100 * ($1 - $2) / $1, $3, $4 / 1e6, worse, $6,
            worse < 0 ? " WORSE" : "" }'
}
time_row() {        # time_row NAME FOLDER SECONDS RUNS; after solve
    "$bench" time "$2/problem.json" "$2/plan.json" "$3" "$4" |
        awk -v n="$1" -v s="$took" '{ worse = 100 * ($4 - $1) / $1
        printf "| %s | %.6f | %.6f | %.3f %% | %.1f %% | %s | %.6f | %+.3f %% | %.2f |%s\n",
            n, $1 / 1e6, $2 / 1e6, 100 * ($1 - $2) / $1, 100 * ($1 - $2) / ($1 - $3), s,
            $4 / 1e6, worse, $6, worse < 0 ? " WORSE" : "" }'
}
pipette_head() { echo
    echo "| case | value ms | bound ms | gap | s | annealed ms | beside ours | annealing s |"
    echo "|---|---|---|---|---|---|---|---|"; }
time_head() {
    echo
    echo "| case | iteration ms | bound ms | gap | (T - bound) / (T - T with free links) | s" \
        "| annealed ms | beside ours | annealing s |"
    echo "|---|---|---|---|---|---|---|---|---|"
}

echo "## Placements"
echo
echo "annealed: the published planner's way, by the clock, from the order of the matrix; the" \
    "median of $runs runs for racks, each as long as ours took, one run of ${seconds} s else;"
echo "under the exact time with the layers of our plan, and every ring in its best order."
if [ -n "$matrices" ]; then
    echo; echo "### 16 measured nodes, Pipette's objective"
    pipette_head
    for file in $matrices; do
        name=$(basename "$file" .json)
        "$plumbline" import matrix "$file" -o "$work/$name.json" --rows sender --unit gb \
            --gpu a100-80gb --gpus-per-node 8 --memory-gb 80 --intra-gb-s 300 \
            --intra-latency-us 3.4 --latency-us 14 \
            2> "$work/log" || { cat "$work/log" >&2; exit 1; }
        "$bench" slower "$work/$name.json" 10 "$work/$name-slow.json" || exit 1
        for stages in 2 4 8 16; do
            measured "$work/$name-$stages" "$work/$name.json" $stages
            measured "$work/$name-slow-$stages" "$work/$name-slow.json" $stages
            pipette_row "$name, $stages stages" "$work/$name-$stages" "$seconds" 1
        done
    done
    echo; echo "### 16 measured nodes, exact iteration time; slow: links ten times slower"
    time_head
    for file in $matrices; do
        for stages in 2 4 8 16; do
            for kind in "" -slow; do
                folder="$work/$(basename "$file" .json)$kind-$stages"
                solve "$folder" 0.0002 "$limit"
                time_row "$(basename "$folder")" "$folder" "$seconds" 1
            done
        done
    done
fi

echo; echo "### 64 nodes, 8 racks of 8, GPT-3 175B in 16 stages x 4 replicas, exact iteration time"
time_head
for seed in $seeds; do
    racks "$work/racks-$seed" 8 8 "$seed" 16 4
    solve "$work/racks-$seed" 0.003 300
    time_row "seed $seed" "$work/racks-$seed" "$took" "$runs"
done
echo; echo "### The same, Pipette's objective"
pipette_head
for seed in $seeds; do pipette_row "seed $seed" "$work/racks-$seed" 0 "$runs"; done

if [ -n "$large" ]; then
    echo; echo "### 256 nodes, 16 racks of 16, GPT-3 175B in 16 stages x 16 replicas"
    racks "$work/large" 16 16 1 16 16
    solve "$work/large" 0.01 600
    time_head
    time_row "exact iteration time ($(sed -n '1s/ .*//p' "$work/verdict"))" "$work/large" "$took" 1
    pipette_head
    pipette_row "Pipette's objective" "$work/large" 0 1
fi

#!/bin/sh
# Which of 81 problems each engine proves optimal by itself: ours (boxes, then the tree), and GLPK's
# branch and bound (--engine glpk: no boxes, nothing eliminated before). One line a problem: proven
# or the gap, and seconds, of each; then the shares. ENGINES_LIMIT_S=10: of each search.
set -u
root=$(pwd) list=${1:-}
plumbline=${BIN:-$root/bin}/plumbline limit=${ENGINES_LIMIT_S:-10}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# The example's options, one problem a line, after the name of its family.
problems() {
    for layers in 24 48 96; do for stages in 4 8 16; do for types in 1 2 4; do
        echo "chain chain --layers $layers --stages $stages --types $types"
    done; done; done
    for schedule in gpipe 1f1b zb-h1; do
        for sync in exposed overlapped; do for batch in 32 64 128; do
            echo "mixed mixed --schedule $schedule --gradient-sync $sync --global-batch $batch"
        done; done
        for pipeline in 4 8 16; do for budget in 0 3; do
            echo "gpt gpt --schedule $schedule --pipeline $pipeline --boundary-rank 64" \
                "--gradient-rank 64 --quality-budget $budget"
        done; done
    done
    for schedule in interleaved looped-bfs zb-v v-half v-min; do for pipeline in 2 4; do
        echo "turns gpt --model gpt2-xl --tensor 1 --data 8 --global-batch 64 --framework any" \
            "--schedule $schedule --virtual-stages 2 --pipeline $pipeline"
    done; done
    for virtual in 2 4; do
        echo "turns mixed --model llama-3.1-8b --schedule interleaved" \
            "--virtual-stages $virtual --pipeline 4"
        echo "turns gpt --schedule interleaved --virtual-stages $virtual --pipeline 4" \
            "--framework any"
    done
    for schedule in gpipe 1f1b; do for batch in 64 128; do
        echo "load mixed --objective max_load --schedule $schedule --global-batch $batch"
    done; done
}

if [ "$list" = list ]; then
    problems
    exit
fi

# answer OPTION ...: "proven SECONDS" or "GAP % SECONDS".
answer() {
    "$plumbline" solve one/problem.json -o plan.json --time-limit-s "$limit" --quiet "$@" \
        > out 2> err
    line=$(grep 'gap' err | head -1)
    seconds=$(echo "$line" | sed -n 's/.* \([0-9.]*\) s.*/\1/p')
    case $line in
    optimal*) echo "proven $seconds" ;;
    open*) echo "$(echo "$line" | sed 's/.*gap \([0-9.e+-]*\) %.*/\1/')% $seconds" ;;
    *) echo "none $limit" ;;
    esac
}

problems | while read -r family arguments; do
    rm -rf one
    # shellcheck disable=SC2086 # the options
    if ! "$plumbline" example $arguments -o one --quiet > out 2> err; then
        echo "$family refused: $arguments: $(cat err)"
        continue
    fi
    echo "$family | $(answer) | $(answer --engine glpk) | $arguments"
done | tee lines
awk -F' [|] ' '/refused/ { next }
    { all++; family[$1]++; ours[$1] += $2 ~ /^proven/; glpk[$1] += $3 ~ /^proven/ }
    END {
        for (f in family) {
            printf "%s: %d problems, %d proven by our engines, %d by GLPK\n", f, family[f],
                ours[f], glpk[f]
            a += ours[f]; b += glpk[f]
        }
        printf "all: %d problems, %d proven by our engines, %d by GLPK\n", all, a, b
    }' lines

#!/bin/bash
# The table of the chain family and the side-by-side, in Markdown on standard output.
# BENCH_SET=quick|full|certificates BENCH_LIMIT_S=60 (of one run) BENCH_RUNS=3 (median)
# BENCH_PYTHON=python3 (one that has highspy)
#     BENCH_CERTIFICATE_RUNS=9
# Every solver gets one thread. CBC and HiGHS take part where they are found.
set -u
set=${BENCH_SET:-quick} limit=${BENCH_LIMIT_S:-60} runs=${BENCH_RUNS:-3} \
    python=${BENCH_PYTHON:-python3}
certificate_runs=${BENCH_CERTIFICATE_RUNS:-$((2 * runs + 3))}
plumbline=$1 separate=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

certified="48/8/1/32 48/8/2/32 96/16/1/64 96/16/2/64 96/16/4/64 126/16/2/64 126/32/2/128"
if [ "$set" = certificates ]; then
    proofs="" sides=""
elif [ "$set" = full ]; then
    proofs="24/4/1/16 24/4/2/16 48/8/1/32 48/8/2/32 96/16/1/64 96/16/2/64 96/16/4/64"
    proofs="$proofs 126/16/2/128 126/32/2/128 126/32/4/256"
    sides="24/4/2/16 48/8/1/32 48/8/2/32 96/16/1/64 96/16/2/64"
else
    proofs="24/4/1/16 24/4/2/16 48/8/1/32 48/8/2/32 96/16/1/64 96/16/2/64"
    sides="24/4/2/16 48/8/1/32 48/8/2/32" certified="48/8/1/32 48/8/2/32 96/16/1/64 96/16/2/64"
fi

problem() {     # problem L/S/K/M -> its file
    local d="$work/${1//\//-}"
    if [ ! -d "$d" ]; then
        IFS=/ read -r l s k m <<< "$1"
        mkdir -p "$d" && "$plumbline" example chain --layers "$l" --stages "$s" --types "$k" \
            --micro-batches "$m" -o "$d" > /dev/null || exit 1
    fi
    echo "$d/problem.json"
}
now() { date +%s.%N; }
since() { awk "BEGIN { printf \"%.3f\", $(now) - $1 }"; }
field() { sed -n "s/.*\"$2\": *\([0-9.eE+-]*\).*/\1/p" "$1" | head -1; }
median() { sort -g |
    awk '{ x[NR] = $1 } END { print NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2 }'; }

solve() {       # solve PROBLEM GAP -> $seconds (median), plan in $work/plan.json
    local times=""
    for _ in $(seq "$runs"); do
        local begin; begin=$(now)
        timeout $((limit + 20)) "$plumbline" solve "$1" -o "$work/plan.json" --threads 1 \
            --gap "$2" --time-limit-s "$limit" --quiet 2> "$work/log"
        times="$times $(since "$begin")"
        # one cut short is enough
        [ "$(field "$work/plan.json" bound_ns)" = "$(field "$work/plan.json" iteration_ns)" ] ||
            [ "$2" != 0 ] || break
    done
    seconds=$(tr ' ' '\n' <<< "$times" | grep . | median)
}

echo "## Time to a proven optimum"
echo
echo "One thread, gap 0, median of $runs runs of the whole command, at most $limit s each."
echo
echo "| L / S / K / M | iteration ms | bound ms | gap | s | boxes | path rows |"
echo "|---|---|---|---|---|---|---|"
for size in $proofs; do
    solve "$(problem "$size")" 0
    awk -v n="$size" -v t="$(field "$work/plan.json" iteration_ns)" \
        -v b="$(field "$work/plan.json" bound_ns)" -v s="$seconds" \
        -v x="$(field "$work/plan.json" boxes)" -v r="$(field "$work/plan.json" path_rows)" \
        'BEGIN { printf "| %s | %.6f | %.6f | %.3f %% | %.3f | %s | %s |\n",
                     n, t / 1e6, b / 1e6, t ? 100 * (t - b) / t : 100, s, x, r }'
done

# What a certificate costs: runs with and without it in turn, so that both see the same machine;
# processor time, too, for the wall's is the disk's as well: each file is synced.
spent() {       # spent FILE ARGUMENTS...: appends wall and processor seconds of one solve to FILE
    local to=$1; shift
    { TIMEFORMAT="%R %U %S"; time timeout $((limit + 20)) "$plumbline" solve "$@" \
        -o "$work/plan.json" --threads 1 --time-limit-s "$limit" --quiet 2> "$work/log"; } 2>> "$to"
}
median_of() { awk -v c="$2" '{ print c == 1 ? $1 : $2 + $3 }' "$1" | median; }

echo
echo "## Certificates"
echo
echo "\`solve --certificate\` against \`solve\`, medians of $certificate_runs runs of each in" \
    "turn; check is the whole command's own figure, the median of 5; then"
echo "with \`--shrink-certificate\`, one run."
echo
echo "| L / S / K / M | solve s | with certificate s | ratio | of processor time | bytes" \
    "| check s | shrunk bytes | check s |"
echo "|---|---|---|---|---|---|---|---|---|"
for size in $certified; do
    file=$(problem "$size") certificate="$work/certificate.json"
    rm -f "$work/without" "$work/with"
    for _ in $(seq "$certificate_runs"); do
        spent "$work/without" "$file"
        spent "$work/with" "$file" --certificate "$certificate"
    done
    row=""
    for shrink in "" --shrink-certificate; do
        [ -z "$shrink" ] || spent "$work/shrunk" "$file" --certificate "$certificate" $shrink
        seconds=$(for _ in 1 2 3 4 5; do "$plumbline" check "$certificate" |
            sed -n 's/^ *took *\([0-9.]*\).*/\1/p'; done | median)
        row="$row | $(wc -c < "$certificate") | $seconds"
    done
    awk -v n="$size" -v a="$(median_of "$work/without" 1)" -v b="$(median_of "$work/with" 1)" \
        -v x="$(median_of "$work/without" 2)" \
        -v y="$(median_of "$work/with" 2)" -v r="$row" \
        'BEGIN { printf "| %s | %.3f | %.3f | %.3f | %.3f%s |\n", n, a, b, b / a, y / x, r }'
done

solvers=""
command -v cbc > /dev/null && solvers="cbc"
"$python" -c "import highspy" 2> /dev/null && solvers="$solvers highs"
echo
echo "## Side by side: time to a gap of 0.1 %"
echo
echo "One thread and the same gap for all. *loop*: the formulation with plumbline's starting" \
    "rows; after each answer the decision is replayed and its critical path"
echo "added (tests/bench/separate.c), until best replay and bound are within the gap; total time." \
    "*export*: the program that"
echo "\`plumbline solve --program\` writes, after elimination, with all path rows: one solve." \
    "Limit $limit s; a gap in brackets is what was open there."
[ -n "$solvers" ] || echo "Neither CBC nor HiGHS was found."
echo
echo "| L / S / K / M | solver | formulation | s | times plumbline's | rounds |"
echo "|---|---|---|---|---|---|"
for size in $sides; do
    file=$(problem "$size")
    solve "$file" 0.001
    ours=$seconds
    echo "| $size | plumbline | its own | $ours | 1 | |"
    "$plumbline" solve "$file" -o "$work/plan.json" --threads 1 --quiet --time-limit-s "$limit" \
        --program "$work/export.mps" 2> "$work/log"
    for solver in $solvers; do
        command="$here/cbc.sh"
        [ $solver = highs ] && command="$python $here/highs.py"
        for form in textbook choices; do
            read -r s _ _ gap rounds _ <<< "$("$separate" "$file" $form "$limit" 0.001 "$command")"
            awk -v n="$size" -v v=$solver -v f=$form -v s="$s" -v o="$ours" -v g="$gap" \
                -v r="$rounds" \
                'BEGIN { open = g > 0.0010001
                         printf "| %s | %s | %s, loop | %s%.2f%s | %s%.0f | %s |\n", n, v, f,
                             open ? "> " : "", s, open ? sprintf(" (%.1f %%)", 100 * g) : "",
                             open ? "> " : "", s / o, r }'
        done
        begin=$(now)
        $command "$work/export.mps" "$work/answer" "$limit" 0.001
        s=$(since "$begin")
        awk -v n="$size" -v v=$solver -v s="$s" -v o="$ours" -v l="$limit" \
            'BEGIN { over = s + 0 >= l + 0 ? "> " : ""
                     printf "| %s | %s | choices, export | %s%.2f | %s%.1f | 1 |\n",
                         n, v, over, s, over, s / o }'
    done
done

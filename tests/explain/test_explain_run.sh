#!/bin/sh
# Faults planted in runs on a simulated machine: explain names each of them first, and none in runs
# without one.
set -u
name=test_explain_run
. tests/links/begin.sh
plumbline=$BIN/plumbline
cp tests/measure/gpt_small.json "$folder/gpt.json"
"$plumbline" measure compute --backend simulated --simulate noise=none --model "$folder/gpt.json" \
    --sequence 128 --name core --quiet -o "$folder/samples.json" &&
    "$plumbline" calibrate "$folder/samples.json" --model "$folder/gpt.json" \
        -o "$folder/costs.json" 2> "$folder/err" || complain "no costs"

# Messages take what the links state, however busy this host is. A launcher that gives rank $SLOW a
# slower machine, and what rank $LATE sends a slower link.
link=link=4e9,latency=3e-6
cat > "$folder/rank.sh" << 'END'
plant() {
    for word do
        shift
        case $word in noise=none,*) word=$word,$plant ;; esac
        set -- "$@" "$word"
    done
    exec "$@"
}
plant=noise=none
[ "${SLOW:-}" != "$OMPI_COMM_WORLD_RANK" ] || plant=gemm=7e11,memory=7e10
[ "${LATE:-}" != "$OMPI_COMM_WORLD_RANK" ] || plant=latency=2e-3
plant "$@"
END
cat > "$folder/launch.sh" << 'END'
shift; ranks=$1; shift
exec mpirun -n "$ranks" sh "$(dirname "$0")/rank.sh" "$@"
END

# planted EXPECTED SCHEDULE RANKS STAGES-A-RANK RECOMPUTE FIRST-STAGE'S-LAYERS: runs the plan, and
# wants EXPECTED in the first line of what explain names.
plants=0 named=0
planted() {
    rules=
    [ "$6" = - ] || rules=", \"rules\": [{\"action\": \"require\", \"stage\": 0,
        \"layers_min\": $6, \"layers_max\": $6}]"
    cat > "$folder/cluster.json" << END
{"kind": "plumbline.cluster", "version": 1, "name": "cores", "groups": [{"name": "cores",
 "gpu": "core", "nodes": 1, "gpus_per_node": $3, "memory_bytes": ${MEMORY:-8000000000},
 "intra": {"bytes_per_s": 4e9, "latency_s": 3e-6}}]}
END
    cat > "$folder/job.json" << END
{"kind": "plumbline.job", "version": 1, "name": "planted", "sequence": 128, "global_batch": 8,
 "precision": "fp32", "trainer": "other", "recompute": ["$5"],
 "layout": {"pipeline": $3, "virtual_stages": $4, "schedule": "$2", "recompute": "$5"}$rules}
END
    cat > "$folder/problem.json" << 'END'
{"kind": "plumbline.problem", "version": 1, "model": "gpt.json", "cluster": "cluster.json",
 "costs": "costs.json", "job": "job.json"}
END
    "$plumbline" solve "$folder/problem.json" --quiet -o "$folder/plan.json" 2> "$folder/err" &&
        timeout $patience_s "$plumbline" run "$folder/plan.json" --backend simulated \
            --simulate noise=none,$link --iterations 2 --quiet --launcher "sh $folder/launch.sh" \
            -o "$folder/run.json" > "$folder/out" 2> "$folder/err" < /dev/null &&
        "$plumbline" explain "$folder/run.json" > "$folder/text" 2> "$folder/err" ||
        { complain "$*: not carried out"; return; }
    plants=$((plants + 1))
    if grep -A 1 '^What most' "$folder/text" | grep -q "$1"; then named=$((named + 1))
    else echo "missed: $*: $(grep -A 2 '^What most' "$folder/text" | tail -2)"
    fi
}
SLOW=1; export SLOW
planted 'slow rank: rank 1 ' 1f1b 2 1 none -
SLOW=0
planted 'slow rank: rank 0 ' interleaved 2 2 none -
SLOW=2
planted 'slow rank: rank 2 ' 1f1b 4 1 none -
SLOW=
planted 'recomputation: ' 1f1b 2 1 full -
# the room that it says is what a plan without recomputation takes
most() { sed -n 's/.*"total_bytes": \([0-9]*\).*/\1/p' "$folder/plan.json" | sort -n | tail -1; }
planted 'recomputation: ' gpipe 2 1 full -
full=$(most)
said=$(sed -n 's/.*without it every rank fits: rank [01] takes \([0-9.]*\) of .*/\1/p' \
    "$folder/text" | head -1)
planted nothing gpipe 2 1 none - > "$folder/out"
none=$(most)
plants=$((plants - 1)) named=$((named - 1))
awk -v said="$said" -v none="$none" \
    'BEGIN { exit !(said != "" && said - none / 1e9 < 0.006 && none / 1e9 - said < 0.006) }' ||
    complain "without recomputation: said $said GB, a plan takes $none bytes"
MEMORY=$(((full + none) / 2 * 10 / 9))
planted 'recomputation: .*without it rank [01] does not fit' gpipe 2 1 full -
MEMORY=
planted 'unbalanced split: stage 1 ' 1f1b 2 1 none 3
planted 'unbalanced split: stage 0 ' gpipe 2 1 none 8
planted 'unbalanced split: stage 0 ' 1f1b 4 1 none 5
LATE=0; export LATE
planted 'slow link: messages forward over the boundary after stage 0' 1f1b 2 1 none -
LATE=3
planted 'slow link: messages back over the boundary after stage 2' 1f1b 4 1 none -
LATE=
echo "$named of $plants faults named"
[ $((10 * named)) -ge $((9 * plants)) ] || complain "fewer than nine of ten"

# ---- runs without a fault
plants=0 named=0
planted ' nothing: ' 1f1b 2 1 none -
planted ' nothing: ' interleaved 2 2 none -
planted ' nothing: ' 1f1b 4 1 none -
[ $named = $plants ] || complain "a fault is named where there is none"
[ $failures = 0 ] || exit 1

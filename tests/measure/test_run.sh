#!/bin/sh
# Plans carried out on a simulated machine by ranks on this host: nine schedules and splits come out
# as predicted, the report of the difference adds up, and runs that are cut short, die or are of
# another plan are told from others.
set -u
name=test_run
. tests/links/begin.sh
plumbline=$BIN/plumbline
says() { grep -qE -- "$1" "$folder/err" || complain "'$1' is not in what it says"; }

cp tests/measure/gpt_small.json "$folder/gpt.json"
"$plumbline" measure compute --backend simulated --simulate spread=0.003 \
    --model "$folder/gpt.json" \
    --sequence 128 --name core --quiet -o "$folder/samples.json" &&
    "$plumbline" calibrate "$folder/samples.json" --model "$folder/gpt.json" \
        -o "$folder/costs.json" || complain "no costs"

# problem NAME SCHEDULE RANKS STAGES-A-RANK MICRO-BATCHES DATA RECOMPUTE [LAYOUT [JOB [MODEL]]]
problem() {
    devices=$(($3 * $6))
    case ${8:-} in *tensor* | *context*) devices=$((2 * devices)) ;; esac
    mkdir -p "$folder/$1"
    cat > "$folder/$1/cluster.json" << END
{"kind": "plumbline.cluster", "version": 1, "name": "cores", "groups": [{"name": "cores",
 "gpu": "core", "nodes": 1, "gpus_per_node": $devices, "memory_bytes": 8000000000,
 "intra": {"bytes_per_s": 4e9, "latency_s": 3e-6}}]}
END
    cat > "$folder/$1/job.json" << END
{"kind": "plumbline.job", "version": 1, "name": "$1", "sequence": 128,
 "global_batch": $(($5 * $6)), "precision": "fp32", "trainer": "other", "recompute": ["$7"],
 ${9:-}
 "layout": {"pipeline": $3, "virtual_stages": $4, "schedule": "$2", "data": $6${8:-}}}
END
    cat > "$folder/$1/problem.json" << END
{"kind": "plumbline.problem", "version": 1, "model": "../${10:-gpt.json}",
 "cluster": "cluster.json", "costs": "../costs.json", "job": "job.json"}
END
    "$plumbline" solve "$folder/$1/problem.json" --quiet -o "$folder/$1/plan.json" \
        2> "$folder/err" ||
        complain "$1: no plan: $(cat "$folder/err")"
}
link=link=4e9,latency=3e-6 # of messages, as the clusters state it
# carries NAME ARGUMENT ...
carries() {
    of=$1; shift
    timeout $patience_s "$plumbline" run "$folder/$of/plan.json" --backend simulated \
        --simulate noise=none,$link --iterations 2 --quiet -o "$folder/$of/run.json" "$@" \
        > "$folder/out" 2> "$folder/err" < /dev/null
}
# accounted NAME OFF MODEL ARGUMENT ...: carried out; measured differs by OFF % from predicted at
# most, and the schedule model has at most MODEL % of it. Passes, messages and rings take what the
# simulated machine states, however busy this host is.
accounted() {
    of=$1 off=$2 model=$3; shift 3
    carries "$of" "$@" || { complain "$of: $(cat "$folder/err")"; return; }
    "$plumbline" report "$folder/$of/plan.json" --against "$folder/$of/run.json" \
        > "$folder/text" || { complain "$of: no report"; return; }
    awk -v off="$off" -v model="$model" '
        function beyond(x, most) { return x + 0 > most || x + 0 < -most }
        NR == 1 { sub(/ %.*/, ""); sub(/.*, /, ""); bad = $0 !~ /^[+-]/ || beyond($0, off) }
        /^  schedule model/ { seen = 1; if (beyond($NF, model)) bad = 1 }
        END { exit bad || !seen }' "$folder/text" ||
        complain "$of: $(sed -n '1p;/^  schedule model/p' "$folder/text")"
}
# ---- nine schedules and splits
while read -r plan; do
    # shellcheck disable=SC2086
    problem $plan
    of=${plan%% *}
    accounted "$of" 2 0.01
done << 'END'
gpipe gpipe 2 1 6 1 none
even 1f1b 2 1 6 1 none
four 1f1b 4 1 6 1 none
loops interleaved 2 2 6 1 none
zb zb-h1 2 1 6 1 none
zbv zb-v 2 2 6 1 none
again 1f1b 2 1 6 1 full
half v-half 2 2 6 1 none
rings 1f1b 2 1 3 2 none
END
"$plumbline" report --format html "$folder/zb/plan.json" --against "$folder/zb/run.json" \
    -o "$folder/page.html" && grep -q 'id="against-chart"' "$folder/page.html" ||
    complain "the page has no charts of a run"
"$plumbline" report --format trace "$folder/zb/plan.json" --against "$folder/zb/run.json" |
    grep -q '"measured, stage 1' || complain "the trace has no measured ranks"
if python3 -c 'import jsonschema' 2> /dev/null; then
    python3 tests/check_schemas.py good "$folder"/*/run.json > "$folder/err" 2>&1 ||
        complain "the runs do not follow their schema: $(tail -1 "$folder/err")"
fi

# ---- degrees, sharding, slices, compression: the order of what is carried out is the plan's
sed 's/"vocabulary"/"tied_embeddings": true, "vocabulary"/' "$folder/gpt.json" \
    > "$folder/tied.json"
"$plumbline" measure compress --backend simulated --simulate spread=0.003 --rank 8 \
    --model "$folder/gpt.json" --sequence 128 --name core --quiet -o "$folder/packed.json" &&
    "$plumbline" calibrate "$folder/samples.json" "$folder/packed.json" \
        --model "$folder/gpt.json" -o "$folder/costs.json" || complain "no costs of compression"
# further EVENTS OFF PROBLEM ...: in one iteration
further() {
    events=$1 off=$2; shift 2
    problem "$@"
    accounted "$1" "$off" 2 --iterations 1
    found=$(grep -c '"iteration": 0' "$folder/$1/run.json")
    [ "$found" = "$events" ] || complain "$1: expected $events events, found $found"
}
packs='"boundary_options": [{"rank": 8}], "gradient_options": [{"bits": 8}],
 "rules": [{"action": "require", "stage": 1, "compresses_boundary": true},
           {"action": "require", "compresses_gradient": true}],'
# a pass, a message: both directions; of each stage a sync and a step
further 44 7 tensor 1f1b 2 1 3 1 none ', "tensor": 2' '' tied.json
further 44 5 rows 1f1b 2 1 3 1 none ', "tensor": 2, "sequence_parallel": true' '' tied.json
further 44 7 keys 1f1b 2 1 3 1 full ', "context": 2' '"context_kind": "all_gather",'
further 40 7 eight 1f1b 2 1 1 2 full ', "tensor": 2, "zero": 1'
further 40 8 sharded 1f1b 2 1 3 2 none ', "zero": 3, "gradient_sync": "overlapped"'
further 24 2 wholes 1f1b 1 1 2 4 none ', "zero": 2'
further 63 3 listed 1f1b 3 1 6 1 none ', "in_flight": [5, 2, 1]'
further 56 18 slices token-sliced 2 1 3 1 none ', "slices": [64, 32, 32]'
further 44 2 beside 1f1b 2 1 3 2 none ', "gradient_sync": "overlapped"' "$packs"
further 48 2 fused 1f1b 2 1 3 2 none ', "fused_embedding_sync": true' '' tied.json
grep -q '"operation": "compress"' "$folder/beside/run.json" || complain "nothing was compressed"

# ---- what is refused
problem whole 1f1b 1 1 2 2 none '' '"whole_gradient_sums": true,'
carries whole && complain "sums of whole gradients run"
says "whole/plan.json: job: whole_gradient_sums: not carried out"
"$plumbline" report "$folder/even/plan.json" --against "$folder/zb/run.json" 2> "$folder/err"
[ $? = 2 ] && says "made_from: expected the plan" || complain "a run of another plan is taken"
sed 's/"kind": "forward", "iteration": 0/"kind": "forward", "iteration": 9/' \
    "$folder/even/run.json" > "$folder/bad.json"
"$plumbline" report "$folder/even/plan.json" --against "$folder/bad.json" 2> "$folder/err"
[ $? = 2 ] && says "events\[.*iteration: expected one of the 2 iterations, found 9" ||
    complain "an event of no iteration is taken"
cp "$folder/even/run.json" "$folder/kept.json"
carries even --backend cpue && complain "an unknown back end runs"
says "backend: expected one of cpu, simulated, cuda"
cmp -s "$folder/even/run.json" "$folder/kept.json" || complain "a run that failed took the old one"

# ---- costs from a run: of a machine whose layers take half as long again, by what is told of it
carries even --simulate noise=none,$link,memory=5e10,gemm=6e11
"$plumbline" calibrate "$folder/even/run.json" -o "$folder/corrected.json" 2> "$folder/err" ||
    complain "no costs from a run"
says "measured: [0-9]* samples of whole layers; other_step_factor"
sed 's/"\.\.\/costs.json"/"..\/corrected.json"/' "$folder/four/problem.json" \
    > "$folder/four/again.json"
"$plumbline" solve "$folder/four/again.json" --quiet -o "$folder/four/plan.json" 2> "$folder/err"
carries four --simulate noise=none,$link,memory=5e10,gemm=6e11
"$plumbline" report "$folder/four/plan.json" --against "$folder/four/run.json" > "$folder/text"
grep -q 'within the cost uncertainty' "$folder/text" ||
    complain "another plan is not inside its interval: $(head -1 "$folder/text")"

# ---- costs that state what a host takes to start a layer's kernels, as a GPU's do: layers as they
# ran on a processor hold it
carries even
python3 - "$folder/costs.json" "$folder/hosted.json" << 'END'
import json, sys
costs = json.load(open(sys.argv[1]))
costs["gpus"][0]["layer_launch_s"] = {"value": 1, "origin": "assumed"}
json.dump(costs, open(sys.argv[2], "w"))
END
"$plumbline" calibrate "$folder/even/run.json" --costs "$folder/hosted.json" \
    -o "$folder/corrected.json" 2> "$folder/err" || complain "no costs from costs of a GPU"
sed 's/"\.\.\/costs.json"/"..\/corrected.json"/' "$folder/even/problem.json" \
    > "$folder/even/again.json"
"$plumbline" solve "$folder/even/again.json" --quiet -o "$folder/even/plan.json" 2> "$folder/err"
carries even
"$plumbline" report "$folder/even/plan.json" --against "$folder/even/run.json" > "$folder/text"
grep -q 'within the cost uncertainty' "$folder/text" ||
    complain "a host's launches are counted again: $(head -1 "$folder/text")"

# ---- a run with torch beside which a reference layer was timed: costs from it state what that
# took, and a run on a machine half as fast comes out as if on the one of the costs
carries even
# slow BY YARDSTICK FROM TO: a run as if PyTorch had taken BY times as long
slow() {
    python3 - "$@" << 'END'
import json, sys
by, yardstick = int(sys.argv[1]), int(sys.argv[2])
run = json.load(open(sys.argv[3]))
run["with"], run["yardstick_ns"] = "torch", yardstick
for iteration in run["iterations"]:
    iteration["ns"] *= by
    iteration["yardstick_ns"] = yardstick
for event in run["events"]:
    event["start_ns"] *= by
    event["end_ns"] *= by
json.dump(run, open(sys.argv[4], "w"))
END
}
slow 1 2000000 "$folder/even/run.json" "$folder/even/known.json"
"$plumbline" calibrate "$folder/even/known.json" -o "$folder/known.json" 2> "$folder/err" &&
    grep -q '"torch_yardstick_s": {"value": 0.002,' "$folder/known.json" ||
    complain "the costs do not say how fast the machine was"
sed 's/"\.\.\/costs.json"/"..\/known.json"/' "$folder/even/problem.json" \
    > "$folder/even/again.json"
"$plumbline" solve "$folder/even/again.json" --quiet -o "$folder/even/plan.json" 2> "$folder/err"
carries even
slow 1 2000000 "$folder/even/run.json" "$folder/even/known.json"
slow 2 4000000 "$folder/even/run.json" "$folder/even/half.json"
for run in known half; do
    "$plumbline" report "$folder/even/plan.json" --against "$folder/even/$run.json" \
        > "$folder/$run.text"
done
says_of() { sed -n '1{s/.*: measured \([^(]*\)(.*/\1/;p;}' "$folder/$1.text"; }
[ "$(says_of known)" = "$(says_of half)" ] &&
    grep -q 'took 4.*multiplied by 0.500' "$folder/half.text" ||
    complain "half the speed: $(head -2 "$folder/known.text" "$folder/half.text")"

# ---- the same of own kernels, whose layer is timed beside shared samples, and after passes: of a
# machine on which all takes twice as long, and of costs that state no layer
problem paced 1f1b 2 1 6 1 none
carries paced
[ "$("$plumbline" report "$folder/paced/plan.json" --against "$folder/paced/run.json" |
    grep -c 'multiplied by')" = 0 ] || complain "a run without costs' layer is multiplied"
"$plumbline" measure compute --backend simulated --shared --simulate spread=0.003 \
    --model "$folder/gpt.json" --sequence 128 --name core --quiet -o "$folder/shared.json" &&
    "$plumbline" calibrate "$folder/shared.json" --model "$folder/gpt.json" \
        -o "$folder/paced.json" || complain "no costs of shared samples"
grep -q '"kernels_yardstick_s": {"value": 0.00[0-9]*, .*"origin": "measured"' \
    "$folder/paced.json" ||
    complain "the costs do not say how fast the machine was beside the samples"
sed 's/"\.\.\/costs.json"/"..\/paced.json"/' "$folder/paced/problem.json" \
    > "$folder/paced/again.json"
"$plumbline" solve "$folder/paced/again.json" --quiet -o "$folder/paced/plan.json" 2> "$folder/err"
accounted paced 2 1.5 --simulate noise=none,$link,gemm=5e11,memory=5e10,call=1e-5
grep -q 'took .*multiplied by 0\.\(49\|50\)' "$folder/text" ||
    complain "own kernels at half the speed: $(head -2 "$folder/text")"
"$plumbline" calibrate "$folder/paced/run.json" -o "$folder/slow.json" 2> "$folder/err"
python3 - "$folder/paced.json" "$folder/slow.json" << 'END' ||
import json, sys
fast, slow = (json.load(open(path))["gpus"][0]["kernels_yardstick_s"] for path in sys.argv[1:])
sys.exit(abs(slow["value"] / fast["value"] - 2) > 0.02)
END
    complain "the run's costs are not at its speed"

# ---- what a process with PyTorch takes, as it says itself
printf '#!/bin/sh\n[ "$2" = --memory ] && echo 800000000\n' > "$folder/python"
chmod +x "$folder/python"
"$plumbline" measure memory --backend simulated --largest-mib 1 --python "$folder/python" \
    --name core --quiet -o "$folder/memory.json" &&
    "$plumbline" calibrate "$folder/samples.json" "$folder/memory.json" -o "$folder/held.json" &&
    grep -q '"constant_bytes": {"value": 800000000,' "$folder/held.json" ||
    complain "the process's bytes: $(grep constant_bytes "$folder/held.json")"
"$plumbline" measure memory --backend simulated --largest-mib 1 --python false \
    -o "$folder/memory.json" 2> "$folder/err"
[ $? = 2 ] && [ "$(wc -l < "$folder/err")" = 1 ] &&
    says '--python: false: expected a Python with torch.distributed.pipelining' ||
    complain "a Python without PyTorch: $(cat "$folder/err")"

# ---- a signal keeps what was measured; a rank that dies ends all, by name
cut() { # SIGNAL TO
    : > "$folder/err"
    "$plumbline" run "$folder/even/plan.json" --backend simulated --iterations 100000 \
        -o "$folder/cut.json" > "$folder/out" 2> "$folder/err" < /dev/null &
    run=$!
    tries=0
    until grep -q '^iteration 2 ' "$folder/err" || [ $tries = 600 ]; do
        tries=$((tries + 1)); sleep 0.1
    done
    if [ "$2" = run ]; then kill "-$1" $run
    else kill "-$1" "$(pgrep -P "$(pgrep -P $run | head -1)" | tail -1)"; fi
    wait $run
}
cut INT run
[ $? = 10 ] && grep -q '"end": "interrupted"' "$folder/cut.json" ||
    complain "SIGINT: expected exit code 10 and the run so far: $(tail -1 "$folder/err")"
cut KILL rank
[ $? = 1 ] && says "rank [01] .*exited on signal 9.*the others were ended" ||
    complain "a rank that died: $(tail -1 "$folder/err")"
[ $failures = 0 ] || exit 1

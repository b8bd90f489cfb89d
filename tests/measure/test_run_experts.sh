#!/bin/sh
# Plans of a mixture carried out by two and four ranks on this host: rows go to their experts and
# back with their true sizes, among the ranks that FORMULAS 1 names; passes take as long as their
# kernels and messages; kernels take what the costs say; kinds of context ranks likewise. What is
# not carried out is refused by name.
set -u
name=test_run_experts
. tests/links/begin.sh
plumbline=$BIN/plumbline patience_s=120 # ranks in other groups wait for each other
says() { grep -qE -- "$1" "$folder/err" || complain "'$1' is not in what it says"; }

# model FILE MIXTURE: four mixtures
model() {
    cat > "$folder/$1" << END
{"kind": "plumbline.model", "version": 1, "name": "mix-small",
 "shape": {"hidden": 128, "ffn": 256, "heads": 4, "kv_heads": 2, "head_width": 32,
  "vocabulary": 512, "gated_ffn": true, "rms_norm": true},
 "runs": [{"name": "embedding", "kind": "embedding", "count": 1, "recomputable": false},
  {"name": "mixture", "kind": "moe", "count": 4, "recomputable": true, "moe": {$2}},
  {"name": "head", "kind": "head", "count": 1, "recomputable": false}]}
END
}
model mix.json '"experts": 8, "top_k": 2, "ffn": 192'
model shared.json '"experts": 8, "top_k": 2, "ffn": 192, "shared_ffn": 256, "imbalance": 1.5'
simulate=call=0,block=1e-6,link=4e9,latency=3e-6 # of messages, as the clusters state it
"$plumbline" measure compute --backend simulated --simulate spread=0.001,$simulate \
    --model "$folder/mix.json" --experts 4,8 --sequence 128 --name core --quiet \
    -o "$folder/samples.json" &&
    "$plumbline" calibrate "$folder/samples.json" --model "$folder/mix.json" \
        -o "$folder/costs.json" 2> "$folder/err" || complain "no costs"

# carries NAME PIPELINE DATA TENSOR LAYOUT [JOB [MODEL]]: solved and carried out, unless refused
carries() {
    devices=$(($2 * $3 * $4))
    case $5 in *context*) devices=$((2 * devices)) ;; esac
    mkdir -p "$folder/$1"
    cat > "$folder/$1/cluster.json" << END
{"kind": "plumbline.cluster", "version": 1, "name": "cores", "groups": [{"name": "cores",
 "gpu": "core", "nodes": 1, "gpus_per_node": $devices, "memory_bytes": 8000000000,
 "intra": {"bytes_per_s": 4e9, "latency_s": 3e-6}}]}
END
    cat > "$folder/$1/job.json" << END
{"kind": "plumbline.job", "version": 1, "name": "$1", "sequence": 128, "global_batch": $((3 * $3)),
 "precision": "fp32", "trainer": "other", "recompute": ["full"], ${6:-}
 "layout": {"pipeline": $2, "data": $3, "tensor": $4$5}}
END
    cat > "$folder/$1/problem.json" << END
{"kind": "plumbline.problem", "version": 1, "model": "../${7:-mix.json}",
 "cluster": "cluster.json", "costs": "../costs.json", "job": "job.json"}
END
    "$plumbline" solve "$folder/$1/problem.json" --quiet -o "$folder/$1/plan.json" \
        2> "$folder/err" || { complain "$1: no plan"; return 1; }
    timeout $patience_s "$plumbline" run "$folder/$1/plan.json" --backend simulated \
        --simulate noise=none,$simulate --iterations 2 --quiet -o "$folder/$1/run.json" \
        > "$folder/out" 2> "$folder/err" < /dev/null
}
# checked NAME RULE...: tests/measure/walked.py says what of the run is otherwise
checked() {
    of=$1; shift
    python3 tests/measure/walked.py "$folder/$of/run.json" "$@" > "$folder/err" ||
        complain "$of: $*"
}
# within NAME OFF: measured differs by OFF % from predicted at most
within() {
    "$plumbline" report "$folder/$1/plan.json" --against "$folder/$1/run.json" > "$folder/err"
    awk -v off="$2" 'NR == 1 { sub(/ %.*/, ""); sub(/.*, /, ""); bad = !/^[+-]/ || $0 + 0 > off ||
        $0 + 0 < -off } END { exit bad || !NR }' "$folder/err" || complain "$1: not within $2 %"
}

# ---- one rank, or a pipeline: kernels alone
carries one 1 1 1 '' && within one 0.5
"$plumbline" report "$folder/one/plan.json" --against "$folder/one/run.json" > "$folder/err"
# every kernel by its own cost
awk '/^Kernels and rings/ { on = 1 } /^Memory|^As pred/ { on = 0 }
    on && /experts|router|copy|activation|adam/ { rows++; off = $(NF - 3); if (off > 0.5 ||
        off < -0.5) exit bad = 1 } END { exit bad || rows != 14 }' "$folder/err" ||
    complain "one: kernels against their costs"
carries shares 1 1 1 '' '' shared.json && within shares 0.5
carries again 2 1 1 ', "recompute": "full"' && within again 10
carries apart 2 1 1 ', "schedule": "zb-h1"' && checked apart passes

# ---- groups: two rows for each of 128 tokens, 128 wide, in fp32
all=131072
carries two 1 2 1 ', "expert": 2' &&
    checked two all_to_all=0-1 bytes=$all exchanges=4 passes all_reduce=0-1
carries four 1 4 1 ', "expert": 2' &&
    checked four all_to_all=0-1,2-3 bytes=$all exchanges=4 passes all_reduce=0-1-2-3,0-2,1-3
carries full 1 2 1 ', "expert": 2, "recompute": "full"' &&
    checked full all_to_all=0-1 bytes=$all exchanges=6
carries stages 2 2 1 ', "expert": 2' &&
    checked stages all_to_all=0-2,1-3 bytes=$all exchanges=2 passes
carries narrow 1 1 2 ', "expert": 2, "expert_tensor": 1, "sequence_parallel": true' &&
    checked narrow all_to_all=0-1 bytes=65536 exchanges=4
carries wide 1 2 2 ', "expert": 2' &&
    checked wide all_to_all=0-2,1-3 bytes=65536 exchanges=4
carries sharded 1 4 1 ', "expert": 2, "zero": 3' &&
    checked sharded all_to_all=0-1,2-3 bytes=$all exchanges=4 all_gather=0-1-2-3,0-2,1-3
carries fuller 1 2 1 ', "expert": 2' '' shared.json &&
    checked fuller all_to_all=0-1 bytes=196608 exchanges=4 passes

# ---- context ranks: a step of a ring passes 64 tokens' keys and values; an exchange has queries
# and keys of 64 tokens
carries ring 1 1 1 ', "context": 2' '"context_kind": "ring",' &&
    checked ring link=32768 link=65536 passes
carries heads 1 1 1 ', "context": 2, "expert": 2' '"context_kind": "all_to_all",' &&
    checked heads bytes=32768 bytes=16384 passes
carries keys 1 1 1 ', "context": 2, "expert": 2' '"context_kind": "all_gather",' &&
    checked keys all_gather=0-1 passes

# ---- what is refused
carries deep 1 2 1 ', "expert": 2' '"dispatcher": "deepep",' && complain "DeepEP runs"
says "deep/plan.json: job.dispatcher other than all_to_all: not carried out with own kernels"
carries beside 1 2 1 ', "expert": 2' '"overlapped_dispatch": true,' &&
    complain "an overlapped dispatch runs"
says "beside/plan.json: job.overlapped_dispatch: not carried out"

# ---- costs from a run of two ranks: a plan for one is inside its interval
"$plumbline" calibrate "$folder/two/run.json" -o "$folder/corrected.json" 2> "$folder/err" ||
    complain "no costs from a run"
sed 's/"\.\.\/costs.json"/"..\/corrected.json"/' "$folder/one/problem.json" \
    > "$folder/one/next.json"
"$plumbline" solve "$folder/one/next.json" --quiet -o "$folder/one/plan.json" 2> "$folder/err"
timeout $patience_s "$plumbline" run "$folder/one/plan.json" --backend simulated \
    --simulate noise=none,$simulate --iterations 2 --quiet -o "$folder/one/run.json" \
    > "$folder/out" 2> "$folder/err" < /dev/null
"$plumbline" report "$folder/one/plan.json" --against "$folder/one/run.json" > "$folder/err"
grep -q 'within the cost uncertainty' "$folder/err" ||
    complain "another plan is not inside its interval"

[ $failures = 0 ] && echo "$name: passed"
exit $failures

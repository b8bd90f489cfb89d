#!/bin/sh
# report --nearest: what the framework cannot express is gone from the plan, what it can is as it
# was, the judge accepts it, its time is that of the same layout asked for directly, and the export
# has no decision left over. An expressible plan stays; a folder of somebody's own is refused.
BIN=${BIN:-bin} work=build/test_nearest.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "FAILED: nearest: $*" >&2; failed=1; }

if ! command -v python3 >/dev/null; then
    echo "nearest: no python3; not tested"
    exit 0
fi

# make OPTION ...: a problem of one layout and its plan in $work/p
make_plan() {
    rm -rf "$work/p" "$work/near"
    "$plumbline" example gpt --memory-fraction 0.8 --model llama-3.1-8b --gpu h100-80gb --nodes 4 \
        --sequence 4096 --global-batch 64 --framework any "$@" -o "$work/p" >"$work/log" 2>&1 &&
        "$plumbline" solve "$work/p/problem.json" --quiet -o "$work/p/plan.json" 2>"$work/log" ||
        wrong "$*: $(cat "$work/log")"
}

# nearest FORMAT CHANGED ABSENT KEYS: the log tells of CHANGED, the export not of ABSENT, and only
# KEYS of the layout differ (,-separated)
nearest() {
    "$plumbline" report --format "$1" --nearest "$work/near" "$work/p/plan.json" -o "$work/export" \
        2>"$work/log" || { wrong "$*: $(cat "$work/log")"; return; }
    grep -q -- "$2" "$work/log" || wrong "$*: the log has no '$2': $(cat "$work/log")"
    sed -n '/[Nn]ot expressed\|not_expressed/,$p' "$work/export" | grep -q -- "$3" &&
        wrong "$*: '$3' is left over"
    "$plumbline" verify "$work/near/plan.json" >/dev/null || wrong "$*: not accepted"
    python3 - "$work" "$4" <<'END' || wrong "$*"
import json, sys
work, keys = sys.argv[1], set(sys.argv[2].split(","))
was, now = (json.load(open(f"{work}/{x}/plan.json")) for x in ("p", "near"))
a, b = was["layout"], now["layout"]
differ = {k for k in {*a, *b} if a.get(k) != b.get(k)}
assert differ <= keys, differ
log = open(f"{work}/log").read()
assert f"iteration {now['iteration_ns'] / 1e9:.9f} s" in log, log
assert f"the plan's {was['iteration_ns'] / 1e9:.9f} s" in log, log
# Asked for directly, with the layout found: no other plan of it is faster.
job = json.load(open(f"{work}/near/job.json"))
job.pop("space", None), job.pop("made_from", None)
job["layout"] = b
json.dump(job, open(f"{work}/direct.json", "w"))
problem = json.load(open(f"{work}/near/problem.json"))
for key in "model", "cluster", "costs":
    problem[key] = "near/" + problem[key]
problem["job"] = "direct.json"
problem.pop("made_from", None)
json.dump(problem, open(f"{work}/direct_problem.json", "w"))
END
    "$plumbline" solve "$work/direct_problem.json" --quiet -o "$work/direct_plan.json" \
        2>"$work/log" || wrong "$*: directly: $(cat "$work/log")"
    python3 -c 'import json, sys
a, b = (json.load(open(x))["iteration_ns"] for x in sys.argv[1:])
assert a == b, (a, b)' "$work/near/plan.json" "$work/direct_plan.json" ||
    wrong "$*: directly it takes another time"
}

make_plan --tensor 2 --pipeline 4 --data 4 --zero 3 --schedule zb-v --virtual-stages 2
nearest megatron "ZeRO 3 -> " "zb-v\|ZeRO\|fold" schedule,virtual_stages,zero,recompute
nearest torchtitan "priced as megatron -> torchtitan" "the trainer" recompute
nearest deepspeed "schedule zb-v -> 1f1b" "the trainer\|zb-v\|refuses it" \
    schedule,virtual_stages,zero,gradient_sync,recompute
make_plan --tensor 2 --pipeline 4 --data 4 --zero 1 --boundary-rank 16 --gradient-rank 16
nearest megatron "stages with compression . -> 0" "low-rank" none
make_plan --tensor 2 --pipeline 4 --data 4 --zero 1
sed -i 's/"pipeline": 4,/& "in_flight": [6, 4, 2, 1],/' "$work/p/job.json"
"$plumbline" solve "$work/p/problem.json" --quiet -o "$work/p/plan.json" 2>"$work/log" ||
    wrong "in flight: $(cat "$work/log")"
for format in sbatch torchrun try; do
    "$plumbline" report "$work/p/plan.json" --format $format -o "$work/x" 2> "$work/log"
    grep -q "^# Not in it: micro-batches in flight 6 4 2 1 by stage" "$work/x" ||
        wrong "$format does not say that lists are not in it: $(cat "$work/log")"
done
nearest megatron "in flight on the first stage 6 -> 0" "in flight" in_flight,recompute
make_plan --model qwen2.5-72b --tensor 8 --pipeline 4 --data 1 --zero 1 --micro-batch 2
python3 -c 'import json, sys
stages = json.load(open(sys.argv[1]))["stages"]
assert len({(s["recompute"], s.get("recomputed_layers")) for s in stages}) > 1' \
    "$work/p/plan.json" || wrong "the stages' recomputation does not differ"
nearest nemo "changed: .*recomputation" "recomputation" recompute,recomputed_layers

# Flags are each rank's own, and say it.
"$plumbline" report --format megatron --nearest "$work/near" "$work/p/plan.json" -o "$work/export" \
    2>"$work/log" || wrong "ranks"
grep -q "the plan itself" "$work/log" || wrong "ranks, but: $(cat "$work/log")"

# One stage of twelve recomputes a layer: the first layer of each costs less than layers that fit
# without, and is what the configuration and --nearest say.
make_plan --model llama-3.1-70b --nodes 6 --sequence 8192 --tensor 2 --context 2 --pipeline 12 \
    --data 1 --offload-optimizer --memory-fraction 0.7
"$plumbline" report --format nemo --nearest "$work/near" "$work/p/plan.json" -o "$work/export" \
    2>"$work/log" || wrong "first layers: $(cat "$work/log")"
grep -q "recomputation 1 x first layer, 11 x none -> 12 x first layer" "$work/log" ||
    wrong "first layers: $(cat "$work/log")"
grep -q "recomputation that differs" "$work/export" &&
    wrong "first layers: recomputation is left over"
"$plumbline" verify "$work/near/plan.json" >/dev/null || wrong "first layers: not accepted"
grep -q "recompute_num_layers: 1$" "$work/export" || wrong "first layers: no number of them"
"$plumbline" report --format nemo "$work/p/plan.json" >"$work/told" 2>"$work/log"
[ $? -eq 2 ] && [ ! -s "$work/told" ] &&
    grep -q "stages: recomputation differs between them, and NeMo has one setting for all" \
        "$work/log" || wrong "not refused: $(cat "$work/log")"

# Settings of the job that no configuration has are named, and left out of the nearest plan's job.
make_plan --tensor 4 --pipeline 2 --data 4 --zero 1 --schedule 1f1b
sed -i -e 's/^  "recompute": .*/  "recompute": ["full"],/' \
    -e 's/^  "sequence": /  "stopped_recompute": true, "overlapped_messages": true,&/' \
    -e 's/^  "global_batch": /  "chunked_loss": true, "fp8_activation_input": true,&/' \
    "$work/p/job.json"
sed -i 's/^    "pipeline": /    "recompute": "full",&/' "$work/p/job.json"
"$plumbline" solve "$work/p/problem.json" --quiet -o "$work/p/plan.json" 2>"$work/log" ||
    wrong "settings: $(cat "$work/log")"
"$plumbline" report --format megatron "$work/p/plan.json" -o "$work/export" 2>"$work/log"
for word in "sent without waiting" "stops before a block's last product" "chunk by chunk" \
    "one byte a value"; do
    grep -q "$word" "$work/export" || wrong "settings: not named: $word"
done
nearest megatron "waiting yes -> no; .*product yes -> no; .*chunk by chunk yes -> no" \
    "waiting\|product\|chunk" recompute

# What is stated of experts: what a framework has stays, the rest goes and is told.
# Padded rows alone are nobody's.
make_plan --model qwen3-30b-a3b --tensor 1 --pipeline 1 --data 32 --expert 8 --zero 1
stated() { # KEYS: the job's, and its plan
    sed -i "s/^  \"trainer\"/  $1,\n&/" "$work/p/job.json"
    "$plumbline" solve "$work/p/problem.json" --quiet -o "$work/p/plan.json" 2>"$work/log" ||
        wrong "$1: $(cat "$work/log")"
}
stated '"dispatcher": "deepep", "expert_padding": 1.5, "expert_products": "grouped"'
nearest megatron "padded to 1.5 .*; experts' products: grouped yes -> no" "expert" recompute
rm -rf "$work/near"
nearest torchtitan "the dispatcher deepep yes -> no" "experts'\|deepep" recompute,zero
sed -i 's/"expert_products": "grouped"/"fixed_capacity": true/' "$work/p/job.json"
"$plumbline" solve "$work/p/problem.json" --quiet -o "$work/p/plan.json" 2>"$work/log"
"$plumbline" report --format megatron --nearest "$work/near" "$work/p/plan.json" -o "$work/export" \
    2>"$work/log" && grep -q "the plan itself" "$work/log" &&
    grep -q "moe-expert-capacity-factor 1.5" "$work/export" || wrong "capacity: $(cat "$work/log")"

make_plan --tensor 2 --pipeline 4 --data 4 --zero 1
"$plumbline" report --format megatron --nearest "$work/near" "$work/p/plan.json" -o "$work/export" \
    2>"$work/log" || wrong "expressible"
grep -q "the plan itself" "$work/log" && [ ! -e "$work/near" ] ||
    wrong "expressible, but: $(cat "$work/log")"
refused() { words=$1; shift; "$plumbline" report "$@" >"$work/out" 2>"$work/log"; [ $? -eq 2 ] &&
    grep -q -- "$words" "$work/log" || wrong "$*: $(cat "$work/log")"; }
refused "is not from an earlier" --format torchtitan --nearest "$work/p" "$work/p/plan.json"
refused 'nearest: requires --format megatron' --format trace --nearest "$work/q" "$work/p/plan.json"
sed -i 's/"sequence": 4096/"sequence": 2048/' "$work/p/job.json"
refused "its problem is missing" --format torchtitan --nearest "$work/q" "$work/p/plan.json"

[ $failed -eq 0 ] && echo "nearest: all as expected"
exit $failed

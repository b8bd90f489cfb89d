#!/bin/sh
# report --format axonn: the arguments of AxoNN's calls say what the plan decides, what they cannot
# say is named; import axonn reads the same job, whose plan takes the same time to the nanosecond;
# plan --for axonn searches what it runs.
BIN=${BIN:-bin} work=build/test_axonn.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline python=python3

wrong() { echo "axonn: $*" >&2; failed=1; }

"$plumbline" example gpt --framework any --model llama-2-7b --gpu a100-80gb --nodes 4 --tensor 1 \
    --pipeline 1 --data 32 --micro-batch 1 --global-batch 128 --sequence 2048 --schedule 1f1b \
    --zero 0 --gradient-sync exposed --no-sequence-parallel -o "$work/p" >"$work/log" 2>&1 ||
    wrong "$(cat "$work/log")"
cp "$work/p/job.json" "$work/base.json"

# case LAYOUT JOB WORDS: what changes in the layout and in the job, as JSON; words (;-separated) of
# the notes, "-" before one that must not stand there
case_of() {
    "$python" - "$work" "$1" "$2" <<'END'
import json, sys
folder = sys.argv[1]
job = json.load(open(folder + "/base.json"))
job.pop("space", None)
job["layout"].update(json.loads(sys.argv[2]))
job.update(json.loads(sys.argv[3]))
json.dump(job, open(folder + "/p/job.json", "w"))
problem = json.load(open(folder + "/p/problem.json"))
json.dump({**problem, "job": "read.json"}, open(folder + "/p/read.problem.json", "w"))
END
    "$plumbline" solve "$work/p/problem.json" --quiet -o "$work/p/plan.json" \
        >"$work/log" 2>&1 || { wrong "$1: $(cat "$work/log")"; return; }
    "$plumbline" report --format axonn "$work/p/plan.json" -o "$work/p/axonn.json" 2>"$work/log" &&
        "$plumbline" import axonn "$work/p/axonn.json" -o "$work/p/read.json" 2>"$work/log" &&
        "$plumbline" solve "$work/p/read.problem.json" --quiet \
            -o "$work/p/read.plan.json" >"$work/log" 2>&1 ||
        { wrong "$1: $(cat "$work/log")"; return; }
    "$python" - "$work/p" "$3" <<'END' 2>"$work/log" || wrong "$1: $(tail -1 "$work/log")"
import json, sys
folder, words = sys.argv[1:]
c, plan, read, job = (json.load(open(f"{folder}/{name}.json"))
                      for name in ("axonn", "plan", "read.plan", "job"))
assert plan["iteration_ns"] == read["iteration_ns"], (plan["iteration_ns"], read["iteration_ns"])
l, init, data = plan["layout"], c["init"], c["create_dataloader"]
# Their arguments, at 660a2246 of axonn-ai/axonn.
assert set(init) <= {"G_inter", "G_data", "G_intra_r", "G_intra_c", "G_intra_d", "gpus_per_node",
                     "enable_internal_timers"}, init
assert set(data) <= {"global_batch_size", "micro_batch_size", "num_workers"}, data
assert set(c["strategy"]) <= {"overlap_communication", "activation_checkpointing"}
axes = l.get("tensor_grid", [l.get("tensor", 1), 1, 1])
assert [init["G_intra_r"], init["G_intra_c"], init["G_intra_d"]] == axes
gpus = 1
for name in "G_inter", "G_data", "G_intra_r", "G_intra_c", "G_intra_d":
    gpus *= init[name]
assert gpus == 32 and init["gpus_per_node"] == 8
assert data["micro_batch_size"] * axes[2] == l.get("micro_batch", 1)
assert data["global_batch_size"] == job["global_batch"]
assert data["global_batch_size"] % (init["G_data"] * data["micro_batch_size"]) == 0
notes = "\n".join(c["plumbline"]["not_expressed"])
for word in filter(None, words.split(";")):
    assert (word[1:] not in notes) if word[0] == "-" else word in notes, word
END
}

step="once for each step;full recomputation;overlapped with"
order="order over the ranks, 3-1-2: AxoNN's is 2-1-3;sequence parallelism"
none='{}' under='{"overlapped_tensor": true}'
plain='-order over the ranks;-sequence parallelism;-ZeRO;-the pipeline;-overlapped with'
case_of '{"tensor": 4, "data": 8}' "$none" "$plain;set in the script"
case_of '{"tensor": 8, "tensor_grid": [2, 2, 2], "grid_order": "2-1-3", "data": 4,
    "micro_batch": 2}' "$under" "$plain;-cache_weights"
case_of '{"tensor": 8, "tensor_grid": [4, 1, 2], "data": 4, "micro_batch": 2,
    "grid_gathers": "micro_batch"}' "$under" "$plain;cache_weights_in_all_gather"
case_of '{"tensor": 8, "tensor_grid": [2, 1, 4], "grid_order": "3-1-2", "data": 2, "pipeline": 2,
    "micro_batch": 4, "grid_gathers": "step", "sequence_parallel": true, "zero": 1,
    "recompute": "full", "gradient_sync": "overlapped"}' '{"recompute": ["none", "full"],
    "overlapped_tensor": true}' \
    "$order;ZeRO 1;the pipeline;$step"
case_of '{"data": 32, "zero": 2, "gradient_sync": "overlapped"}' "$none" "ZeRO 2"

# refuse WORDS JSON OPTION ...
refuse() {
    words=$1 text=$2; shift 2
    echo "$text" >"$work/bad.json"
    "$plumbline" import axonn "$work/bad.json" -o "$work/out.json" "$@" >"$work/log" 2>&1
    [ $? -eq 2 ] || wrong "$text: accepted"
    grep -q -e "$words" "$work/log" && [ "$(wc -l <"$work/log")" -eq 1 ] ||
        wrong "$text: $(cat "$work/log")"
}
init='"init": {"G_inter": 1, "G_data": 2, "G_intra_r": 2, "G_intra_c": 2, "G_intra_d": 1}'
batch='"create_dataloader": {"global_batch_size": 8, "micro_batch_size": 1}'
refuse 'give it with --sequence' "{$init, $batch}"
refuse 'init.G_intra_c: expected 1 or more, of 65536 ranks, found 0' \
    '{"init": {"G_data": 2, "G_intra_c": 0}, '"$batch}" --sequence 128
refuse 'expected G_inter and G_data of 1 or more, found 1 and 0' \
    '{"init": {"G_inter": 1, "G_data": 0}, '"$batch}" --sequence 128
refuse 'micro_batch_size: expected 1 to 2^20 sequences, found 0' "{$init}" --sequence 128
refuse 'expected create_dataloader.global_batch_size (--global-batch), found none' \
    "{$init}" --sequence 128 --micro-batch 1
refuse 'expected a multiple\|--gpus over' "{$init, $batch}" --sequence 128 --gpus 9
echo "{$init, $batch}" >"$work/own.json"
"$plumbline" import axonn "$work/own.json" --sequence 128 --gpus 16 -o "$work/own.job.json" \
    2>"$work/log" || wrong "$(cat "$work/log")"
grep -q '"grid_order": "2-1-3"' "$work/own.job.json" && grep -q '"data": 4' "$work/own.job.json" ||
    wrong "$(cat "$work/own.job.json")"
# The space of what AxoNN runs: a grid, proven over all of it; what it has not is refused by name.
plan="plan --model llama-2-7b --gpu a100-80gb --nodes 2 --sequence 2048 --global-batch 64 \
    --for axonn"
"$plumbline" $plan -o "$work/for" >"$work/log" 2>&1 || wrong "$(cat "$work/log")"
grep -q '"tensor_grid"' "$work/for/plan.json" || wrong "no grid: $(grep layout "$work/log")"
for file in axonn.json torchrun.sh job.sbatch try.sh hostfile; do
    [ -s "$work/for/launch/$file" ] || wrong "plan --for axonn: no launch/$file"
done
"$plumbline" solve "$work/for/problem.json" --quiet --certificate "$work/for/proof.json" \
    -o "$work/for/plan.json" >"$work/log" 2>&1 &&
    "$plumbline" check "$work/for/proof.json" "$work/for/problem.json" >"$work/log" 2>&1 ||
    wrong "$(cat "$work/log")"
grep -q "no plan of any layout takes less" "$work/log" || wrong "$(cat "$work/log")"
while read -r key option; do
    "$plumbline" $plan $option -o "$work/no" >"$work/log" 2>&1
    [ $? -eq 2 ] && [ "$(wc -l <"$work/log")" -eq 1 ] &&
        grep -q "axonn runs no layout of the space with $key [0-9a-z]* (" "$work/log" ||
        wrong "$option: $(cat "$work/log")"
done <<'LIST'
pipeline --pipeline 2
zero --zero 1
gradient_sync --gradient-sync overlapped
context --context 2
expert --expert 2
offload_optimizer --offload-optimizer
LIST
# A plan that only another framework runs is in no space of AxoNN's.
for change in '"sequence_parallel": false/"sequence_parallel": true' '"zero": 0/"zero": 1' \
    '"gradient_sync": "exposed"/"gradient_sync": "overlapped"'; do
    sed "s/$change/" "$work/for/plan.json" >"$work/for/forged.json"
    cmp -s "$work/for/plan.json" "$work/for/forged.json" && wrong "nothing to forge: $change"
    "$plumbline" verify "$work/for/forged.json" >"$work/log" 2>&1
    [ $? -eq 20 ] && grep -q "layout is not in the job's space" "$work/log" ||
        wrong "$change: $(cat "$work/log")"
done
[ $failed -eq 0 ] && echo "axonn: all as expected"
exit $failed

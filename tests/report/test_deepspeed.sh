#!/bin/sh
# report --format deepspeed: the JSON says what the plan decides, and each decision without a key
# stands under "plumbline". With DeepSpeed at hand (EXPORT_PYTHON, default python3) its own reader
# of configurations takes it.
BIN=${BIN:-bin} work=build/test_deepspeed.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline python=${EXPORT_PYTHON:-python3}

wrong() { echo "deepspeed: $*" >&2; failed=1; }
command -v "$python" >/dev/null || { echo "deepspeed: no $python; not tested"; exit 0; }

# config WORDS OPTION ...: WORDS (;-separated) stand in the notes
config() {
    words=$1; shift
    rm -rf "$work/p"
    "$plumbline" example gpt --model llama-3.1-8b --gpu h100-80gb --nodes 4 --sequence 4096 \
        --global-batch 64 "$@" -o "$work/p" >"$work/log" 2>&1 &&
        sed -i "s/\"trainer\": \"deepspeed\"/&$job/" "$work/p/job.json" &&
        "$plumbline" solve "$work/p/problem.json" --gap 0.2 --quiet -o "$work/p/plan.json" \
        2>"$work/log" || { wrong "$*: $(cat "$work/log")"; return; }
    "$plumbline" report --format deepspeed "$work/p/plan.json" -o "$work/p/deepspeed.json" ||
        wrong "$*"
    "$python" - "$work/p" "$words" <<'END' 2>"$work/log" || \
        wrong "$*: $(tail -1 "$work/log"): $(cat "$work/p/deepspeed.json")"
import json, sys
folder, words = sys.argv[1:]
c, plan, job = (json.load(open(f"{folder}/{name}.json")) for name in ("deepspeed", "plan", "job"))
l = plan["layout"]
get = lambda key, default: l.get(key, default)
assert c["train_batch_size"] == job["global_batch"]
assert c["train_micro_batch_size_per_gpu"] == get("micro_batch", 1)
assert c["gradient_accumulation_steps"] == plan["micro_batches"]
steps = c["gradient_accumulation_steps"]
assert c["train_batch_size"] == c["train_micro_batch_size_per_gpu"] * steps * get("data", 1)
zero = c["zero_optimization"]
assert zero["stage"] == get("zero", 0)
assert zero["overlap_comm"] == (get("gradient_sync", "exposed") == "overlapped")
assert ("offload_optimizer" in zero) == (get("offload_optimizer", False) and get("zero", 0) > 0)
precision = job["precision"]
assert ("fp16" in c) == (precision == "fp16") and ("bf16" in c) == (precision in ("bf16", "fp8"))
if precision != "fp32":
    wide = job["gradient_bytes_per_value"] == 4 and zero["stage"] > 0
    narrow = "fp16" if "fp16" in c else "bf16"
    assert c["data_types"]["grad_accum_dtype"] == ("fp32" if wide else narrow)
    whole = wide and zero["stage"] == 1 or job.get("whole_gradient_sums") and not zero["stage"]
    assert c["communication_data_type"] == ("fp32" if whole else narrow)
notes = "\n".join(c["plumbline"]["not_expressed"])
for word in words.split(";"):
    assert word in notes, word
if get("pipeline", 1) > 1:
    assert "stages of " + ", ".join(str(s["layer_count"]) for s in plan["stages"]) in notes
assert (f"tensor parallelism over {get('tensor', 1)}" in notes) == (get("tensor", 1) > 1)
try:
    from deepspeed.runtime.config import DeepSpeedConfig
except ImportError:
    sys.exit()
c["train_batch_size"] //= get("data", 1)  # it asks as if it were alone
read = DeepSpeedConfig(c)
assert read.zero_optimization_stage == get("zero", 0)
assert read.gradient_accumulation_steps == plan["micro_batches"]
assert read.bfloat16_config.enabled == ("bf16" in c)
assert read.float16_config.enabled == ("fp16" in c)
END
}

ours="--framework deepspeed" job=
config "sequence of 4096" $ours --tensor 1 --pipeline 1 --data 32 --zero 3
config "tensor parallelism over 4" $ours --tensor 4 --pipeline 1 --data 8 --zero 2
config "partition_method" $ours --tensor 2 --pipeline 4 --data 4 --zero 1
config "model's code" $ours --tensor 4 --pipeline 1 --data 8 --zero 1 --offload-optimizer
config "tensor parallelism over 4" $ours --tensor 4 --pipeline 2 --data 4 --zero 0 --precision fp16
job=', "whole_gradient_sums": true'
config "" $ours --tensor 4 --pipeline 2 --data 4 --zero 0 --precision bf16
grep -q whole_gradient_sums "$work/p/job.json" &&
    grep -q '"communication_data_type": "fp32"' "$work/p/deepspeed.json" || wrong "sums in fp32"
job=
config "zb-h1 schedule" --tensor 2 --pipeline 4 --data 4 --zero 1 --schedule zb-h1 --framework any
config "low-rank;the trainer megatron" --tensor 2 --pipeline 4 --data 4 --zero 0 \
    --boundary-rank 16 --gradient-rank 16 --framework any
"$python" -c 'import deepspeed' 2>/dev/null ||
    echo "deepspeed: $python has no deepspeed; its reader was not asked"
[ $failed -eq 0 ] && echo "deepspeed: all as expected"
exit $failed

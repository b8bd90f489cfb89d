#!/bin/sh
# report --format nemo: the YAML says the plan's layout, the model's shape and the job; each key is
# a field of the class that Megatron Bridge merges its section into, with a value of the field's
# type (from their sources where MEGATRON_BRIDGE and MEGATRON_LM name checkouts, else from a list of
# fields); what it cannot say stands in its comments. EXPORT_PYTHON (default python3) needs yaml.
BIN=${BIN:-bin} work=build/test_nemo.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline python=${EXPORT_PYTHON:-python3}

wrong() { echo "nemo: $*" >&2; failed=1; }

if ! "$python" -c 'import yaml' 2>/dev/null; then
    echo "nemo: $python has no yaml; not tested"
    exit 0
fi

# config WORDS OPTION ...: WORDS (;-separated, may be empty) stand in the comments
config() {
    words=$1; shift
    rm -rf "$work/p"
    "$plumbline" example gpt --gpu h100-80gb --nodes 4 --sequence 4096 --global-batch 64 "$@" \
        -o "$work/p" >"$work/log" 2>&1 || { wrong "$*: $(cat "$work/log")"; return; }
    # NeMo has one setting of recomputation for all stages.
    sed -i 's|"local_loss_every": 0|&, "recompute": "full"|' "$work/p/job.json"
    grep -q '"recompute": "full"' "$work/p/job.json" || wrong "$*: $(cat "$work/p/job.json")"
    "$plumbline" solve "$work/p/problem.json" --gap 0.2 --quiet -o "$work/p/plan.json" \
        2>"$work/log" || { wrong "$*: $(cat "$work/log")"; return; }
    "$plumbline" report --format nemo "$work/p/plan.json" -o "$work/p/nemo.yaml" || wrong "$*"
    "$python" tests/report/nemo_check.py "$work/p" "$words" >"$work/log" 2>&1 ||
        wrong "$*: $(tail -3 "$work/log")"
}

config "" --model mixtral-8x7b --tensor 2 --pipeline 4 --data 4 --zero 1
config "" --model qwen2.5-7b --tensor 1 --pipeline 4 --data 8 --zero 1 --schedule interleaved \
    --virtual-stages 7
config "" --model llama-2-7b --tensor 1 --pipeline 1 --data 32 --zero 1
config "" --model gpt2-xl --sequence 1024 --tensor 1 --pipeline 4 \
    --data 8 --zero 0 --unfused-attention
for precision in fp16 bf16 fp8; do
    for width in 2 4; do
        config "" --model llama-2-7b --tensor 2 --pipeline 4 --data 4 --zero 1 \
            --precision $precision --gradient-bytes $width
    done
done
config "" --model deepseek-v2-lite --tensor 1 --pipeline 4 --data 8 --zero 1
config "" --model llama-3.1-8b --tensor 2 --pipeline 4 --data 4 --zero 1
grep '"_name": "deepseek-v2-lite",' tests/imports/hf_counts.jsonl >"$work/config.json"
"$plumbline" import hf "$work/config.json" --mtp 1 -o "$work/further.json" 2>"$work/log" ||
    wrong "$(cat "$work/log")"
config "" --model "$work/further.json" --tensor 1 --pipeline 4 --data 8 --zero 1
# Ways that Megatron has not, and one that it has with any numbers.
stretched() {
    sed "s|\"rotary_base\": 10000|&, \"rotary_factor\": $1, \"rotary_scaling\": $2|" \
        data/models/meta/llama-2-7b.json >"$work/model.json"
    config "$3" --model "$work/model.json" --tensor 2 --pipeline 4 --data 4 --zero 1
}
stretched 4 '{"type": "linear"}' ""
stretched 2.5 '{"type": "linear"}' ""
stretched 4 \
    '{"type": "yarn", "beta_fast": 16, "beta_slow": 2, "original_max_position_embeddings": 2048}' ""
stretched 4 '{"type": "dynamic"}' "scaled by 4 (dynamic)"
scaling='"type": "llama3", "low_freq_factor": 1, "high_freq_factor": 1'
stretched 16 "{$scaling, \"original_max_position_embeddings\": 8192}" \
    "Megatron's are 1, 4 and 8192"
config "ZeRO 3;zb-v" --model llama-2-7b --tensor 2 --pipeline 4 --data 4 --zero 3 --schedule zb-v \
    --virtual-stages 2 --framework any
config "learned positions for 2050" \
    --model opt-66b --tensor 4 --pipeline 8 --data 1 --zero 1 --sequence 2048
grep -q '^  activation_func: relu$' "$work/p/nemo.yaml" ||
    wrong "OPT's activation: $(grep activation "$work/p/nemo.yaml")"
config "low-rank" --model llama-2-7b --tensor 2 --pipeline 4 --data 4 --zero 1 --boundary-rank 16 \
    --gradient-rank 16 --framework any
config "" --model llama-2-7b --tensor 2 --pipeline 4 --data 4 --zero 1 --precision fp8

[ -n "${MEGATRON_BRIDGE:-}" ] ||
    echo "nemo: MEGATRON_BRIDGE and MEGATRON_LM name no checkouts; keys were held against a list"
[ $failed -eq 0 ] && echo "nemo: all as expected"
exit $failed

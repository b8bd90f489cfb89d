#!/bin/sh
# report --format megatron against Megatron Core itself, where EXPORT_PYTHON (default python3) has
# it: its own model of the flags, built stage by stage, has the plan's parameters; layers that
# predict further tokens among them.
BIN=${BIN:-bin} work=build/test_megatron_core.$$ failed=0 folders=
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline python=${EXPORT_PYTHON:-python3}

wrong() { echo "megatron core: $*" >&2; failed=1; }

"$python" -c 'import megatron.core' 2>/dev/null ||
    { echo "megatron core: $python has no megatron.core; not tested"; exit 0; }

# export NAME WORDS OPTION ...: WORDS stand in the flags
export_plan() {
    name=$1 words=$2; shift 2
    "$plumbline" example gpt --gpu h100-80gb --nodes 8 --sequence 4096 --global-batch 64 "$@" \
        -o "$work/$name" >"$work/log" 2>&1 &&
        "$plumbline" solve "$work/$name/problem.json" --gap 0.3 --quiet -o "$work/$name/plan.json" \
        2>"$work/log" &&
        "$plumbline" report --format megatron "$work/$name/plan.json" -o "$work/$name/megatron.sh" \
        2>"$work/log" ||
        { wrong "$name: $(cat "$work/log")"; return; }
    grep -q -- "$words" "$work/$name/megatron.sh" ||
        wrong "$name: no $words: $(cat "$work/$name/megatron.sh")"
    grep -q '^#   (nothing)' "$work/$name/megatron.sh" ||
        wrong "$name: $(sed -n '/Not expressed/,$p' "$work/$name/megatron.sh")"
    folders="$folders $work/$name"
}

grep '"_name": "deepseek-v2-lite",' tests/imports/hf_counts.jsonl >"$work/lite.json"
"$plumbline" import hf "$work/lite.json" --mtp 2 -o "$work/further.json" 2>"$work/log" ||
    wrong "$(cat "$work/log")"
grep '"_name": "llama-3.1-8b",' tests/imports/hf_counts.jsonl >"$work/llama.json"
"$plumbline" import hf "$work/llama.json" --mtp 1 -o "$work/llama.json.model" 2>"$work/log" ||
    wrong "$(cat "$work/log")"
export_plan further 'mtp-num-layers 2' --model "$work/further.json" --tensor 2 --pipeline 4 \
    --data 8 --expert 4 --zero 1
grep -q "m\*2L'" "$work/further/megatron.sh" ||
    wrong "layout: $(grep layout "$work/further/megatron.sh")"
export_plan turns 'mtp-num-layers 1' --model "$work/llama.json.model" --tensor 2 --pipeline 4 \
    --data 8 --schedule interleaved --virtual-stages 2
export_plan one 'mtp-loss-scaling-factor 0.1' --model "$work/llama.json.model" --tensor 8 \
    --pipeline 1 --data 8
export_plan llama 'use-rope-scaling' --model llama-3.1-8b --tensor 4 --pipeline 4 --data 4
export_plan qwen 'qk-layernorm' --model qwen3-8b --tensor 2 --pipeline 4 --data 8
export_plan gpt2 'max-position-embeddings 1024' --model gpt2-xl --sequence 1024 --tensor 1 \
    --pipeline 4 --data 16
# shellcheck disable=SC2086
"$python" tests/report/megatron_core.py $folders >"$work/log" 2>&1 ||
    wrong "$(grep -a -o 'Error.*' "$work/log" | tail -1)"
grep stages, "$work/log" | sed "s|$work/||"
[ $failed -eq 0 ] && echo "megatron core: all as expected"
exit $failed

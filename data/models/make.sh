#!/bin/sh
# The shipped models out of their Hugging Face configs, whose facts stand in
# tests/imports/hf_counts.jsonl: make.sh [FOLDER] (this one)
set -eu
cd "$(dirname "$0")/../.."
to=${1:-data/models} folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for model in \
    alibaba/qwen2-vl-7b alibaba/qwen2.5-72b alibaba/qwen2.5-7b alibaba/qwen3-235b-a22b \
    alibaba/qwen3-30b-a3b \
    alibaba/qwen3-32b alibaba/qwen3-8b \
    deepseek/deepseek-v2 deepseek/deepseek-v2-lite deepseek/deepseek-v3 deepseek/deepseek-v3-mtp \
    deepseek/deepseek-v3.2 \
    google/bert-large google/gemma-2-27b google/gemma-2-9b google/gemma-3-27b google/t5-11b \
    meta/llama-2-13b meta/llama-2-70b meta/llama-2-7b meta/llama-3.1-405b meta/llama-3.1-70b \
    meta/llama-3.1-8b meta/llama-3.2-1b meta/llama-3.2-3b meta/llama-3.3-70b \
    meta/llama-4-maverick meta/llama-4-scout meta/opt-175b meta/opt-66b \
    mistral/mistral-7b mistral/mistral-small-3-24b mistral/mixtral-8x22b mistral/mixtral-8x7b \
    openai/gpt-oss-120b openai/gpt-oss-20b openai/gpt2-xl \
    others/apertus-70b others/apertus-8b others/glm-4.5 others/glm-4.5-air others/kimi-k2 \
    others/minimax-m2 \
    others/falcon-40b others/gpt-neox-20b others/llava-1.5-13b others/llava-1.5-7b \
    others/olmo-2-13b others/olmo-3-32b others/olmo-3-7b others/phi-3-mini others/phi-4 \
    others/smollm3-3b; do
    name=${model##*/}
    mkdir -p "$to/${model%/*}"
    # Layers that predict further tokens are in the model that is called after them alone.
    case $name in *-mtp) further= ;; *) further="--mtp 0" ;; esac
    grep "\"_name\": \"${name%-mtp}\"," tests/imports/hf_counts.jsonl > "$folder/config.json"
    "${BIN:-bin}/plumbline" import hf "$folder/config.json" --name "$name" $further \
        2> "$folder/log" > "$folder/model.json" ||
        { cat "$folder/log" >&2; exit 1; }
    # The config is a line of another file: no source of its own.
    awk '/"made_from": \[/ { skip = 1 } !skip { print } skip && /\]/ { skip = 0 }' \
        "$folder/model.json" | grep -v '"made_by"' > "$to/$model.json"
done

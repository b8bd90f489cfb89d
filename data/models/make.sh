#!/bin/sh
# The shipped models out of their Hugging Face configs, whose facts stand in tests/imports/hf_counts.jsonl: make.sh [FOLDER] (this one)
set -eu
cd "$(dirname "$0")/../.."
to=${1:-data/models} folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for name in gpt2-xl llama-3.1-8b llama-3.1-70b llama-3.1-405b mixtral-8x7b llama-2-7b llama-2-13b llama-2-70b llama-3.2-1b llama-3.2-3b llama-3.3-70b llama-4-scout llama-4-maverick mistral-7b mixtral-8x22b \
    qwen2.5-7b qwen2.5-72b qwen3-8b qwen3-32b qwen3-30b-a3b qwen3-235b-a22b deepseek-v2-lite deepseek-v2 deepseek-v3 gemma-2-9b gemma-2-27b \
    gemma-3-27b phi-3-mini phi-4 falcon-40b olmo-2-13b gpt-neox-20b opt-66b opt-175b bert-large t5-11b; do
    grep "\"_name\": \"$name\"," tests/imports/hf_counts.jsonl > "$folder/config.json"
    "${BIN:-bin}/plumbline" import hf "$folder/config.json" --name "$name" 2> "$folder/log" > "$folder/model.json" ||
        { cat "$folder/log" >&2; exit 1; }
    # The config is a line of another file: no source of its own.
    awk '/"made_from": \[/ { skip = 1 } !skip { print } skip && /\]/ { skip = 0 }' "$folder/model.json" | grep -v '"made_by"' > "$to/$name.json"
done

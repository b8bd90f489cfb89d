#!/bin/sh
# The shipped models out of their Hugging Face configs, whose facts stand in
# tests/imports/hf_counts.jsonl: make.sh [FOLDER] (this one). A new one begins as an empty file.
set -eu
cd "$(dirname "$0")/../.."
to=${1:-data/models} folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for model in data/models/*/*.json; do
    model=${model#data/models/} && model=${model%.json}
    name=${model##*/}
    mkdir -p "$to/${model%/*}"
    # Layers that predict further tokens are in the model that is called after them alone.
    # NVIDIA trains Super with two further tokens (Megatron-Bridge 067f987d).
    case $name in
        nemotron*-mtp) further="--mtp 2" ;;
        *-mtp) further= ;;
        *) further="--mtp 0" ;;
    esac
    grep "\"_name\": \"${name%-mtp}\"," tests/imports/hf_counts.jsonl > "$folder/config.json" ||
        continue # not of a published config
    "${BIN:-bin}/plumbline" import hf "$folder/config.json" --name "$name" $further \
        2> "$folder/log" > "$folder/model.json" ||
        { cat "$folder/log" >&2; exit 1; }
    # The config is a line of another file: no source of its own.
    awk '/"made_from": \[/ { skip = 1 } !skip { print } skip && /\]/ { skip = 0 }' \
        "$folder/model.json" | grep -v '"made_by"' > "$to/$model.json"
done

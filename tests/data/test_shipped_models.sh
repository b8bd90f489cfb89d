#!/bin/sh
# Shipped models are what import hf makes of their configs (data/models/make.sh), byte for byte;
# models, clusters and costs list what is shipped with its sizes, a name stands where a file may,
# and the nearest is named for one that does not exist.
set -u
here=$(pwd)/build/test_shipped_models.$$ plumbline=${BIN:-bin}/plumbline failures=0
mkdir -p "$here" || exit 1
trap 'rm -rf "$here"' EXIT
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
expect() { grep -q -- "$2" "$here/$1" || { fail "$1: no \"$2\" in:"; cat "$here/$1"; }; }

sh data/models/make.sh "$here" || fail "data/models/make.sh"
made=0
for file in "$here"/*/*.json; do
    made=$((made + 1))
    shipped=data/models/${file#"$here"/}
    cmp -s "$file" "$shipped" || fail "$shipped is not what import hf makes"
done
[ "$made" -ge 25 ] || fail "only $made models were made"

for what in models clusters costs; do
    "$plumbline" $what > "$here/$what" || fail "$what: exit code $?"
    for file in data/$what/*.json data/$what/*/*.json; do
        [ -e "$file" ] || continue
        name=${file##*/}
        expect $what "^${name%.json} "
    done
    "$plumbline" $what nonesuch 2> "$here/log" > "$here/out" && fail "$what nonesuch is accepted"
    expect log "the nearest"
    [ -s "$here/out" ] && fail "$what nonesuch: something on stdout"
done
expect models "^deepseek-v3  *671026404352  *37552282624  *61  *7168  *128  *128$"
expect clusters "^h100-128x8  *128 x 8  *h100-80gb  *[0-9.]*  *450.0  *8 x 50 infiniband"
"$plumbline" models lama-3.1-8b 2> "$here/log" && fail "lama-3.1-8b is a model"
expect log 'the nearest is "llama-3.1-8b"'
while read -r said meant; do
    "$plumbline" models "$said" 2> "$here/log" && fail "$said is a model"
    expect log "the nearest is \"$meant\""
done <<'END'
llama3-8b llama-3.1-8b
llama3-70b llama-3.1-70b
Llama_3.1_70B llama-3.1-70b
gpt3 gpt3-175b
mixtral mixtral-8x22b
deepseekv3 deepseek-v3
gemma2-9b gemma-2-9b
END
# Names of a hub: the owner, editions, case and punctuation left out.
while read -r said meant; do
    "$plumbline" models "$said" > "$here/out" 2> "$here/log" || fail "$said: exit code $?"
    values=$("$plumbline" models "$meant" | sed -n '2s/^[^ ]*  *//p')
    expect out "^$said  *$values$"
done <<'END'
meta-llama/Llama-3.1-70B llama-3.1-70b
meta-llama/Meta-Llama-3.1-8B-Instruct llama-3.1-8b
Qwen/Qwen3-235B-A22B-Instruct-2507 qwen3-235b-a22b
google/gemma-2-9b-it gemma-2-9b
mistralai/Mixtral-8x7B-v0.1 mixtral-8x7b
nvidia/Nemotron-H-8B-Base-8K nemotron-h-8b
nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 nemotron-3-nano-30b-a3b
moonshotai/Moonlight-16B-A3B-Instruct moonlight-16b-a3b
deepseek-ai/DeepSeek-R1 deepseek-v3
zai-org/GLM-5.1-FP8 glm-5
MiniMaxAI/MiniMax-M2.5 minimax-m2
TinyLlama/TinyLlama-1.1B-Chat-v1.0 tinyllama-1.1b
mistralai/Mistral-Nemo-Instruct-2407 mistral-nemo
END
"$plumbline" models mistralai/Mistral-7B-v0.3 2> "$here/log" && fail "another vocabulary is taken"
expect log 'the nearest is "mistral-7b"'
"$plumbline" models "$here/google/gemma-2-9b.json" gpt2-xl > "$here/out" || fail "models FILE NAME"
expect out "9241705984"
expect out "^gpt2-xl  *1557611200"

"$plumbline" calibrate --model lama-2-7b nowhere.json 2> "$here/log" &&
    fail "calibrate takes lama-2-7b"
expect log 'the nearest is "llama-2-7b"'
[ $failures = 0 ] || exit 1
echo "$made models as import hf makes them"

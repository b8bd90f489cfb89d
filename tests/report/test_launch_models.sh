#!/bin/sh
# Launch files of six models in each framework: every name in them is one that the framework's
# newest source takes, none is left to fill in, and the frameworks' own parsers take them where
# EXPORT_PYTHON (default python3) has them: torchtitan 0.3's ConfigManager, DeepSpeed's reader, and
# Megatron-LM's parser from a checkout that MEGATRON_LM names. Models that Megatron Core (for
# Megatron and NeMo) and torchtitan build of them have the plan's parameters, stage by stage. A
# model that a framework lacks is refused by name.
BIN=${BIN:-bin} work=build/test_launch_models.$$ failed=0 files=0 refused=0 built=
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline python=${EXPORT_PYTHON:-python3}

wrong() { echo "launch models: $*" >&2; failed=1; }

command -v python3 >/dev/null || { echo "launch models: no python3; not tested"; exit 0; }

# launch FRAMEWORK MODEL OPTION ...
launch() {
    framework=$1 model=$2 at=$work/$1-$(basename "$2" .json); shift 2
    if ! "$plumbline" example gpt --model "$model" --gpu h100-80gb --gpus 64 --sequence 4096 \
        --global-batch 128 --framework "$framework" --layouts all "$@" -o "$at" \
        >"$work/log" 2>&1; then
        grep -q "cannot express this model" "$work/log" && refused=$((refused + 1)) ||
            wrong "$framework $model: $(cat "$work/log")"
        return
    fi
    "$plumbline" solve "$at/problem.json" --quiet --gap 0.3 --time-limit-s 20 -o "$at/plan.json" \
        >"$work/log" 2>&1
    "$plumbline" report --format launch --for "$framework" -o "$at/launch" "$at/plan.json" \
        2>"$work/log" || { wrong "$framework $model: $(cat "$work/log")"; return; }
    grep -q "instead, which fits" "$work/log" && wrong "$framework $model: $(cat "$work/log")"
    grep -l "package of your own" "$at"/launch/* >"$work/log" &&
        wrong "$framework $model: $(cat "$work/log")"
    python3 tests/report/names/lint.py "$at"/launch/* >"$work/log" 2>&1 ||
        wrong "$framework $model: $(cat "$work/log")"
    files=$((files + $(ls "$at/launch" | wc -l)))
    "$python" tests/report/names/parsers.py "$at/launch" >"$work/log" 2>&1 ||
        wrong "$framework $model: $(tail -3 "$work/log")"
    case $framework-$model in
    nemo-gemma*) ;; # Bridge's own layers
    megatron-* | nemo-*) built="$built $at" ;;
    esac
}

# builds PROGRAM FOLDER ...
builds() {
    "$python" "tests/report/$@" >"$work/log" 2>&1 || wrong "$1: $(grep Error "$work/log" | tail -1)"
    grep -E "stages,|layers," "$work/log" | sed "s|$work/||"
}

# Of each framework, in the degrees that hold the model; the rest is searched.
for framework in megatron nemo torchtitan deepspeed; do
    launch $framework llama-3.1-8b --tensor 2 --pipeline 2 --micro-batch 1
    launch $framework llama-3.1-70b --tensor 4 --pipeline 4 --micro-batch 1
    launch $framework qwen3-32b --tensor 4 --pipeline 2 --micro-batch 1
    launch $framework qwen3-30b-a3b --tensor 2 --pipeline 2 --micro-batch 1
    launch $framework gpt-oss-20b --tensor 2 --pipeline 2 --micro-batch 1
    launch $framework mixtral-8x7b --tensor 4 --pipeline 4 --micro-batch 1
done
# Llama 4 Maverick, in chunks no shorter than the sequence: every fourth layer without positions.
for framework in megatron nemo; do
    launch $framework llama-4-maverick --tensor 8 --pipeline 4 --micro-batch 1
done
# Scout's norms of queries and keys, of the others alone, are in a layer of its own.
launch megatron llama-4-scout --tensor 8 --pipeline 4 --micro-batch 1
[ -s "$work/megatron-llama-4-scout/launch/plumbline_layer.py" ] || wrong "no layer of Scout's"
# So are norms over all heads, behind attention and feed-forward part or before them.
launch megatron olmo-3-32b --tensor 4 --pipeline 4 --micro-batch 1
launch megatron olmo-2-13b --tensor 2 --pipeline 4 --micro-batch 1
launch megatron minimax-m2 --tensor 4 --pipeline 4 --micro-batch 1
# And activations that no flag names; Gemma 3's positions and norms are its own, too.
launch megatron opt-66b --tensor 4 --pipeline 4 --micro-batch 1 --sequence 2048
launch megatron gemma-3-27b --tensor 4 --pipeline 4 --micro-batch 1
grep -q -- "--no-rope-freq 4" "$work/megatron-llama-4-maverick/launch/megatron.sh" &&
    grep -q "^  no_rope_freq: 4" "$work/nemo-llama-4-maverick/launch/nemo.yaml" ||
    wrong "layers without positions"
# Gemma 3 in Megatron Bridge's class of it: read back, it is the model, and the job has its layout.
gemma=$work/nemo-gemma-3-27b
launch nemo gemma-3-27b --tensor 8 --pipeline 2 --micro-batch 1
"$plumbline" import nemo "$gemma/launch/nemo.yaml" --gpus 64 -o "$gemma/read.json" \
    --job "$gemma/read-job.json" 2>"$work/log" || wrong "gemma: $(cat "$work/log")"
python3 -c 'import json, sys
made, model, job, plan = (json.load(open(path)) for path in sys.argv[1:])
assert all(made[key] == model[key] for key in ("shape", "runs")), "another model"
assert job["layout"] == {k: plan["layout"][k] for k in job["layout"]}, "another layout"
' "$gemma/read.json" "$gemma/model.json" "$gemma/read-job.json" "$gemma/plan.json" ||
    wrong "gemma: read back otherwise"
# Another size of the class has such layers, too, and is not read as ordinary ones.
sed 's/hidden_size: 5376/hidden_size: 3840/' "$gemma/launch/nemo.yaml" >"$work/smaller.yaml"
"$plumbline" import nemo "$work/smaller.yaml" --gpus 64 -o "$gemma/no.json" 2>"$work/log" &&
    wrong "gemma: another size is read"
grep -q "expected num_layers 62 and hidden_size 5376, found 62 and 3840" "$work/log" ||
    wrong "gemma: $(cat "$work/log")"
# No flavors of torchtitan, but layers of its llama3, qwen3, deepseek_v3 in other dimensions.
launch torchtitan phi-4 --tensor 2 --pipeline 2 --micro-batch 1
launch torchtitan glm-4.5-air --tensor 2 --pipeline 2 --micro-batch 1
sed 's/"name": "deepseek-v2-lite"/"name": "V2 of our own"/; s/"count": 26/"count": 21/
    s/"experts": 64/"experts": 96/' data/models/*/deepseek-v2-lite.json >"$work/latent.json"
launch torchtitan olmo-3-32b --tensor 8 --pipeline 4 --micro-batch 1
launch torchtitan llama-4-scout --tensor 4 --pipeline 4 --micro-batch 1
launch torchtitan gemma-3-27b --tensor 8 --micro-batch 1
launch torchtitan gpt-neox-20b --tensor 4 --pipeline 4 --micro-batch 1
launch torchtitan mpt-7b --tensor 2 --micro-batch 1
sed 's/"dropout": true/"dropout": false/; s/"name": "opt-66b"/"name": "opt of our own"/
    s/"positions": 2050/"positions": 4098/' data/models/*/opt-66b.json >"$work/opt.json"
launch torchtitan "$work/opt.json" --tensor 8 --micro-batch 1
launch torchtitan "$work/latent.json" --tensor 1 --pipeline 2 --micro-batch 1
sed 's/"hidden": 4096/"hidden": 2048/; s/"ffn": 12288/"ffn": 6000/; s/"heads": 32/"heads": 24/
    s/"name": "qwen3-8b"/"name": "8B of our own"/; s/"count": 36/"count": 22/
    s/"norm_epsilon": 1e-06/"norm_epsilon": 1e-05/' data/models/*/qwen3-8b.json >"$work/own.json"
sed 's/"tied_embeddings": false/"tied_embeddings": true/' "$work/own.json" >"$work/tied.json"
# shellcheck disable=SC2086
if "$python" -c 'import megatron.core' 2>/dev/null; then
    builds megatron_core.py $built
    "$python" -c 'import transformers' 2>/dev/null && builds names/megatron_layers.py \
        "$work/megatron-olmo-3-32b" "$work/megatron-olmo-2-13b" "$work/megatron-gemma-3-27b" \
        "$work/megatron-opt-66b" "$work/megatron-minimax-m2"
fi
if "$python" -c 'import torchtitan.distributed.pipeline_parallel' 2>/dev/null; then
    built='' layers=''
    sed 's/"dropout": true/"dropout": false/; s/"name": "gpt3-175b"/"name": "gpt3 of our own"/
        s/"positions": 2048/"positions": 4096/' data/models/*/gpt3-175b.json >"$work/gpt3.json"
    known="olmo-2-13b olmo-3-7b minimax-m2 llama-4-scout llama-4-maverick gemma-2-9b gemma-2-27b
        gemma-3-27b starcoder2-15b mpt-7b mpt-30b falcon-40b gpt-neox-20b gpt-j-6b phi-2
        $work/gpt3.json $work/opt.json"
    for model in llama-3.1-70b qwen3-32b qwen3-30b-a3b gpt-oss-20b deepseek-v2 deepseek-v3 phi-4 \
        mistral-7b llama-2-13b mixtral-8x7b kimi-k2 mistral-small-3-24b qwen2.5-7b glm-4.5 \
        glm-4.5-air "$work/own.json" "$work/tied.json" phi-3-mini $known; do
        at=$work/whole-$(basename "$model" .json) ranks=4
        case $model in
        */tied.json | */gpt3.json | */opt.json | gemma* | starcoder2* | mpt* | falcon*) ranks=1 ;;
        esac
        built="$built $at"
        case " $(echo $known) " in *" $model "*) layers="$layers $at" ;; esac
        "$plumbline" example gpt --model "$model" --gpu h100-80gb --gpus 32 --sequence 4096 \
            --global-batch 128 --framework torchtitan --tensor 1 --pipeline $ranks \
            --data $((32 / ranks)) --zero 2 \
            --micro-batch 1 -o "$at" >"$work/log" 2>&1 &&
            sed -i 's/"memory_bytes": [0-9]*/"memory_bytes": 8000000000000/' "$at/cluster.json" &&
            "$plumbline" solve "$at/problem.json" --quiet --gap 0.3 -o "$at/plan.json" \
                >"$work/log" 2>&1 &&
            "$plumbline" report --format torchtitan-python "$at/plan.json" \
                -o "$at/torchtitan_plan.py" 2>"$work/log" || wrong "$model: $(cat "$work/log")"
    done
    builds titan_stages.py $built
    "$plumbline" plan --model mpt-7b --gpu h100-80gb --nodes 2 --tensor 2 --context 4 \
        --for torchtitan -o "$work/slopes" >"$work/log" 2>&1 || wrong "slopes: $(cat "$work/log")"
    builds names/titan_slopes.py "$work/slopes/launch/torchtitan_plan.py" 2 4
    # What torchtitan lacks is in classes that do what transformers' do.
    "$python" -c 'import transformers' 2>/dev/null && builds names/titan_layers.py $layers
fi
# Layers of one part, by their letters with strokes between stages: read back, they are the model,
# and the job has the plan's layout.
hybrid=$work/megatron-nemotron-h-8b
launch megatron nemotron-h-8b --tensor 2 --pipeline 2 --virtual-stages 2 --schedule interleaved \
    --micro-batch 1
"$plumbline" report "$hybrid/plan.json" --format megatron -o "$work/in.sh" &&
    "$plumbline" import megatron "$work/in.sh" --gpus 64 --vocabulary 131072 \
        -o "$work/model.json" --job "$work/job.json" 2>"$work/log" &&
    grep -q "pretrain_hybrid.py" "$work/in.sh" || wrong "hybrid: $(cat "$work/log")"
python3 -c 'import json, sys
made, model, job, plan = (json.load(open(path)) for path in sys.argv[1:])
kinds = [[(r["kind"], r.get("linear"), r.get("attention"), r.get("feed_forward"))
          for r in m["runs"] for _ in range(r["count"])] for m in (made, model)]
assert kinds[0] == kinds[1] and made["shape"] == model["shape"], "another model"
assert job["layout"] == {k: plan["layout"][k] for k in job["layout"]}, "another layout"
' "$work/model.json" "$hybrid/model.json" "$work/job.json" "$hybrid/plan.json" ||
    wrong "hybrid: read back otherwise"
[ $refused -le 1 ] || wrong "$refused of 24 refused"
echo "launch models: $files files, $refused of 24 refused as not expressible"
[ $failed -eq 0 ] && echo "launch models: all as expected"
exit $failed

#!/bin/bash
# The headline of a plan is what its launch files run: for models and frameworks, what `plan --for`
# writes, read back by `import`, is a problem in which the judge finds every price, the memory and
# the time of the plan, to the nanosecond; nothing is changed at the export. A model that a
# framework cannot express is refused by name before the search. MODELS and FRAMEWORKS choose; make
# test-launched takes eight models.
name=test_launched
. tests/script.sh

models=${MODELS:-llama-3.1-8b qwen3-30b-a3b gpt-oss-20b}
frameworks=${FRAMEWORKS:-megatron nemo torchtitan torchtitan-0.2 deepspeed axonn}
nodes=${NODES:-4} sequence=${SEQUENCE:-4096} batch=${BATCH:-512} seconds=${SECONDS_EACH:-60}
gpu=h100-80gb
same=0 refused=0 more=

# read_back FRAMEWORK FILE: its job, and where it states it its model, to again/
read_back() {
    vocabulary=$(sed -n 's/.*"vocabulary": \([0-9]*\).*/\1/p' plan/model.json | head -1)
    schedule=$(sed -n 's/.*"schedule": "\([a-z0-9-]*\)".*/\1/p' plan/plan.json | head -1)
    set -- "$1" "$2" --gpus $((nodes * 8))
    case $1 in
    megatron | nemo)
        set -- "$@" --vocabulary "$vocabulary" --job again/job.json -o again/model.json ;;
    *) set -- "$@" -o again/job.json ;;
    esac
    grep -q schedule.csv "$2" && set -- "$@" --schedule "$schedule"
    answers 0 "" import "$@"
}

# The plan says of which documents it is: of those that were read back.
rename_sources() {
    sed "$(for file in job.json model.json; do
        cat plan/$file | sha256sum; cat again/$file | sha256sum
    done | awk 'NR % 2 { was = $1; next } { printf "s/%s/%s/;", was, $1 }')" plan/plan.json \
        > again/plan.json
}

try() { # MODEL FRAMEWORK
    rm -rf plan again && mkdir again
    "$plumbline" plan --model $1 --gpu $gpu --nodes $nodes --sequence $sequence \
        --global-batch $batch --for $2 --gap 0.3 --time-limit-s $seconds $more -o plan > out 2> err
    code=$?
    if grep -q "$2 cannot express this model" err; then
        refused=$((refused + 1))
        return
    fi
    case $code in 0 | 10) ;; *) complain "plan --model $1 --for $2: exit code $code"; return ;; esac
    grep -h "instead, which\|NAME.THE" err plan/launch/* > said && complain "$1 for $2: $(cat said)"
    case $2 in
    megatron) file=plan/launch/megatron.sh ;;
    nemo) file=plan/launch/nemo.yaml ;;
    torchtitan) file=plan/launch/torchtitan_plan.py ;;
    torchtitan-0.2) file=plan/launch/torchtitan.toml ;;
    deepspeed) file=plan/launch/deepspeed.json ;;
    axonn) file=plan/launch/axonn.json ;;
    esac
    cp plan/problem.json plan/model.json plan/cluster.json plan/costs.json again
    read_back ${2%-0.2} $file
    rename_sources
    before=$failures
    answers 0 "accepted: iteration $(sed -n 's/^  "iteration_ns": \([0-9]*\),/\1/p' \
        plan/plan.json) ns" verify again/plan.json --problem again/problem.json
    [ $failures = $before ] && same=$((same + 1)) || echo "    $1 for $2"
}

for model in $models; do
    for framework in $frameworks; do try $model $framework; done
done
# Models that torchtitan has in other dimensions.
[ -n "${MODELS:-}" ] || for model in phi-4 mistral-7b; do try $model torchtitan; done
# A layer in a file of its own; a vocabulary that the tensor ranks do not divide.
more="--tensor 4 --pipeline 2"
[ -n "${MODELS:-}" ] || try olmo-3-32b megatron
[ -n "${MODELS:-}" ] || try gemma-3-27b megatron
[ -n "${MODELS:-}" ] || sequence=2048 try opt-66b megatron
# GPUs that keep attention's scores; gradients of the width that a recipe of NeMo has not.
more="--precision fp16"
for framework in megatron nemo deepspeed; do
    [ -n "${MODELS:-}" ] || gpu=v100-32gb try llama-3.2-1b $framework
done
more="--gradient-bytes 2"
[ -n "${MODELS:-}" ] || try llama-3.2-3b nemo
more=
# Grids of tensor ranks: AxoNN has no pipeline.
if [ -z "${MODELS:-}" ]; then
    sequence=1024 batch=256 try gpt2-xl axonn
    more="--tensor 16" sequence=2048 batch=64 try llama-2-13b axonn
    grep -q '"tensor_grid"' plan/plan.json || complain "AxoNN's plan has no grid"
fi
# Twelve interleaved stages, which do not divide 34 layers.
more="--uneven-stages --schedule interleaved --pipeline 4 --virtual-stages 3"
for framework in megatron nemo; do
    [ -n "${MODELS:-}" ] || try llama-3.1-8b $framework
done
# Layers of one part each with experts, overlapped dispatch on offer (costs by kernels), which
# Megatron's HybridModel has not: Nemotron 3 Nano, sizes of Megatron-LM d98e8a64, examples/
# post_training/modelopt/conf/nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16.sh.
cat > nano.json << 'T'
{"model_type": "nemotron_h", "hidden_size": 2688, "num_hidden_layers": 52,
 "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
 "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128, "intermediate_size": 1856,
 "mamba_num_heads": 64, "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8,
 "n_routed_experts": 128, "num_experts_per_tok": 6, "moe_intermediate_size": 1856,
 "moe_shared_expert_intermediate_size": 3712, "n_shared_experts": 1, "vocab_size": 131072}
T
if [ -z "${MODELS:-}" ]; then
    answers 0 "" import hf nano.json -o nano-model.json
    more="--pipeline 1 --tensor 1 --expert 8 --micro-batch 1"
    try nano-model.json megatron
    grep -q '"expert": 8' plan/plan.json || complain "the hybrid's experts are on one rank each"
    grep -q '"all": .*"overlapped_dispatch"' plan/job.json || complain "a hybrid is not asked"
    grep -q "moe-expert-parallel\|overlapped_dispatch" plan/launch/megatron.sh &&
        complain "a hybrid's dispatch is overlapped, or said not to be"
fi
echo "$same plans come back to the nanosecond, $refused models are refused by name"
[ -n "${MODELS:-}" ] || [ $same -ge 20 ] || complain "only $same plans came back"
ended

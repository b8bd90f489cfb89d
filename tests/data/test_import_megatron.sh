#!/bin/sh
# import megatron: launch scripts and argument lists as models and jobs; what is not read is listed,
# what contradicts itself refused.
set -u
here=$(pwd)/build/test_import_megatron.$$ plumbline=${BIN:-bin}/plumbline failures=0
mkdir -p "$here" || exit 1
trap 'rm -rf "$here"' EXIT
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
expect() { grep -q -- "$2" "$here/$1" || { fail "$3: no \"$2\" in $1:"; cat "$here/$1"; }; }
read_list() {
    "$plumbline" import megatron "$@" -o "$here/model.json" --job "$here/job.json" \
        2> "$here/log" || { fail "$*:"; cat "$here/log"; }
}
plain='--num-layers 8 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048'
plain="$plain --micro-batch-size 2 --vocab-size 1000"
accept() { echo "$1" > "$here/args.txt"; read_list "$here/args.txt" --gpus 16; }
refuse() {
    echo "$1" > "$here/args.txt"
    "$plumbline" import megatron "$here/args.txt" --gpus 16 -o "$here/no.json" \
        --job "$here/no-job.json" 2> "$here/log"
    [ $? = 2 ] || fail "$1: not refused"
    expect log "$2" "$1"
    [ ! -e "$here/no.json" ] && [ ! -e "$here/no-job.json" ] || fail "$1: something was written"
}

read_list tests/imports/megatron_gpt.sh
expect model.json '"vocabulary": 50257' script
expect model.json '"ffn": 49152' script
expect model.json '"qkv_bias": true' script
expect job.json '"global_batch": 1536' script
expect job.json '"tensor": 8' script
expect job.json '"pipeline": 4' script
expect job.json '"data": 1,' script
expect job.json '"precision": "fp16"' script
expect job.json '"gradient_bytes_per_value": 2' script
expect job.json '"sequence_parallel": true' script
expect log 'ignored (harmless): --lr, --save$' script
# 96 (12 h^2 + 13 h) + (50257 + 2048) h + 2 h, h = 12288.
expect log '174604259328 parameters' script

accept "$plain --swiglu --normalization RMSNorm --disable-bias-linear --position-embedding-type rope
    --group-query-attention --num-query-groups 4 --bf16 --use-distributed-optimizer
    --overlap-grad-reduce --recompute-activations --attention-dropout 0 --hidden-dropout 0
    --untie-embeddings-and-output-weights --pipeline-model-parallel-size 2
    --num-layers-per-virtual-pipeline-stage 2 --global-batch-size 64 --norm-epsilon 1e-6
    --rotary-base 500000 --rotary-percent 0.5"
expect model.json '"ffn": 2688' swiglu
expect model.json '"kv_heads": 4' swiglu
expect model.json '"norm_epsilon": 1e-06' swiglu
expect model.json '"rotary_base": 500000' swiglu
expect model.json '"rotary_share": 0.5' swiglu
expect model.json '"dropout": false' swiglu
expect job.json '"schedule": "interleaved"' swiglu
expect job.json '"virtual_stages": 2' swiglu
expect job.json '"data": 8' swiglu
expect job.json '"zero": 1' swiglu
expect job.json '"recompute": \["none", "selective"\]' swiglu

# how experts get their tokens
moe="$plain --swiglu --num-experts 8 --expert-model-parallel-size 4 --global-batch-size 32"
accept "$moe --moe-token-dispatcher-type flex --moe-flex-dispatcher-backend hybridep
    --overlap-moe-expert-parallel-comm --cuda-graph-impl transformer_engine
    --cuda-graph-modules attn moe_router moe_preprocess"
expect job.json '"dispatcher": "hybridep"' dispatch
expect job.json '"overlapped_dispatch": true' dispatch
expect job.json '"graphs": "parts"' dispatch
accept "$moe --moe-token-dispatcher-type flex --moe-expert-capacity-factor 1.25
    --moe-pad-expert-input-to-capacity --cuda-graph-impl full_iteration"
expect job.json '"dispatcher": "deepep"' capacity
expect job.json '"fixed_capacity": true' capacity
expect job.json '"graphs": "step"' capacity
accept "$moe --moe-token-dispatcher-type alltoall --moe-pad-expert-input-to-capacity"
grep -q 'dispatcher\|capacity\|graphs' "$here/job.json" && fail "an all-to-all is no default"

accept "$plain --pipeline-model-parallel-size 2
    --pipeline-model-parallel-layout 'Et*2|(t*2|)*2,ttL' --global-batch-size 32"
expect job.json '"virtual_stages": 2' layout
expect job.json '"schedule": "interleaved"' layout
accept "$plain --pipeline-model-parallel-size 4
    --pipeline-model-parallel-layout='Et*2|t*2|t*2|t*2L' --cross-entropy-loss-fusion"
expect job.json '"virtual_stages": 1' 'layout of a stage a rank'
expect job.json '"fused_loss": true' 'layout of a stage a rank'
accept "$plain --cross-entropy-loss-fusion --cross-entropy-fusion-impl te"
expect job.json '"loss_in_place": true' 'the loss of Transformer Engine'
refuse "$plain --pipeline-model-parallel-size 2 --pipeline-model-parallel-layout 'Et*4|t*2|t*2L'" \
    'stages of --pipeline-model-parallel-layout: expected a multiple of 2, found 3'
refuse "$plain --pipeline-model-parallel-size 2 --pipeline-model-parallel-layout 'Et*4|t*4L'
    --num-virtual-stages-per-pipeline-rank 2" 'together with virtual stages'

# DeepSeek-V2-Lite by its flags has as many parameters as by its config.
accept "--num-layers 27 --hidden-size 2048 --num-attention-heads 16 --seq-length 4096
    --micro-batch-size 1 --vocab-size 102400 --bf16 --ffn-hidden-size 10944 --swiglu
    --normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights
    --qk-layernorm --position-embedding-type rope --multi-latent-attention --kv-lora-rank 512
    --qk-head-dim 128 --qk-pos-emb-head-dim 64 --v-head-dim 128 --num-experts 64
    --moe-router-topk 6 --moe-ffn-hidden-size 1408 --moe-shared-expert-intermediate-size 2816
    --moe-layer-freq '([0]*1+[1]*26)' --expert-model-parallel-size 8"
expect log '15706484224 parameters' deepseek-v2-lite
expect model.json '"name": "mixture-2"' deepseek-v2-lite
expect job.json '"expert": 8' deepseek-v2-lite
refuse "$plain --num-experts 4 --tensor-model-parallel-size 2 --sequence-parallel
    --expert-tensor-parallel-size 4" 'expected a divisor of --tensor-model-parallel-size, 2'

# Further tokens, and positions that are stretched in each way.
rope="$plain --position-embedding-type rope"
accept "$rope --mtp-num-layers 2 --mtp-loss-scaling-factor 0.3 --use-rope-scaling
    --rope-scaling-factor 16"
expect model.json '"name": "mtp", "kind": "block", "count": 2, "recomputable": true, "mtp": true' \
    mtp
expect model.json '"mtp_loss_scale": 0.3' mtp
expect model.json '"rotary_factor": 16' mtp
scaling='"type": "llama3", "low_freq_factor": 1, "high_freq_factor": 4'
expect model.json \
    "\"rotary_scaling\": {$scaling, \"original_max_position_embeddings\": 8192}" mtp
accept "$rope --rotary-seq-len-interpolation-factor 4"
expect model.json '"rotary_scaling": {"type": "linear"}' linear
accept "$plain --position-embedding-type yarn --rotary-scaling-factor 4 --yarn-beta-fast 16"
scaling='"type": "yarn", "original_max_position_embeddings": 4096'
expect model.json \
    "\"rotary_scaling\": {$scaling, \"beta_fast\": 16, \"beta_slow\": 1, \"mscale\": 1}" yarn
refuse "$plain --max-position-embeddings 2048 --mtp-num-layers 1" \
    'runs\[2\].mtp: expected a model without learned positions'
accept "$plain --num-layers 9"
expect log 'assumed: .*--num-layers appears twice, with 8 and with 9, which counts' twice
expect model.json '"count": 9' twice
refuse "$plain --bf16 --fp16" 'bf16 and --fp16'
refuse "$plain --swiglu --squared-relu" 'squared-relu'
# FlagScale's: 8/3 x 1024 x 1.3 = 3549, to the next multiple of 256.
accept "$plain --swiglu --multiple-of 256 --hidden-dim-multiplier 1.3"
expect model.json '"ffn": 3584' multiple-of
refuse "$plain --num-query-groups 4" 'group-query-attention'
refuse "$plain --tensor-model-parallel-size 3" 'expected a multiple of 3, found 16: .*--gpus'
refuse "$plain --global-batch-size 33" 'expected a multiple of 32, found 33: 16 data ranks .*--gpus'
refuse "$plain --expert-model-parallel-size 3 --num-experts 6" \
    '16 ranks that 16 GPUs .*--gpus'
refuse "$plain --moe-layer-freq 2" 'without --num-experts'
refuse "$plain --num-experts 4 --moe-layer-freq '[1]*7'" 'moe-layer-freq'
refuse "$plain --num-virtual-stages-per-pipeline-rank 2" 'without a pipeline'
refuse "$plain --tensor-model-parallel-size 3" 'multiple of 3'
refuse "$plain --global-batch-size 33" 'global-batch-size'
refuse "$plain --num-experts 4 --moe-layer-freq '[1]*9223372036854775807'" 'moe-layer-freq'
refuse "$plain --pipeline-model-parallel-size 1000000000" '1e6'
refuse "$(echo "$plain" | sed 's/--num-layers 8/--num-layers 999999999/')" 'num-layers'
refuse "$plain --hidden-size" 'value is missing'
refuse "$plain --kv-channels x" 'whole number'
refuse "$plain --recompute-granularity some" 'recompute-granularity'
refuse "--num-layers 8" 'hidden-size'
refuse "$(echo "$plain" | sed 's/--vocab-size 1000//')" 'vocabulary'
refuse "$plain --group-query-attention --num-query-groups 5" 'divisor of heads'
# Flags of some ranks, which a launch script adds to its own, allow what any rank has; windows
# and linear attention make layers of several kinds, as Python reads the lists.
{ echo "ARGS=($plain)"; echo "OWN=("
  echo "'--recompute-granularity full --recompute-method block --recompute-num-layers 2'"
  echo "'--recompute-granularity selective --recompute-modules moe_act layernorm' '')"
} > "$here/ranks"
"$plumbline" import megatron "$here/ranks" --gpus 8 --job "$here/ranks.json" 2>"$here/log" &&
    grep -q '"recompute": \["none", "first_layers", "moe_act+layernorm"\]' "$here/ranks.json" ||
    { echo "flags of ranks: $(cat "$here/log" "$here/ranks.json")"; failures=1; }
echo "$plain --window-size '127,0' --window-attn-skip-freq '([0]*3+[1])*2'
    --experimental-attention-variant gated_delta_net --linear-attention-freq 4" > "$here/kinds"
"$plumbline" import megatron "$here/kinds" --gpus 8 -o "$here/kinds.json" 2>"$here/log" &&
    [ "$(grep -c '"window": 128' "$here/kinds.json") $(grep -c '"linear": true' \
        "$here/kinds.json") $(grep -c '"kind": "block"' "$here/kinds.json")" = "2 2 4" ] ||
    { echo "kinds of layers: $(cat "$here/log" "$here/kinds.json")"; failures=1; }
refuse "$plain --window-size 5,5" 'window-size'
refuse "$plain --window-size 5,0 --window-attn-skip-freq [1]*7" 'window-attn-skip-freq'
refuse "$plain --experimental-attention-variant dsa" 'expected latents'

# gpt-oss: biases of each layer's router (4) and experts (4 x (2 x 64 + 1024)), and 16 sinks;
# without biases, or with a layer that is no mixture, the sinks alone.
sinks="$plain --softmax-type learnable --num-experts 4 --moe-ffn-hidden-size 64
    --glu-linear-offset 1 --activation-func-clamp-value 7"
more() { accept "$sinks $1"; expect model.json "\"more_values\": $2" "$1"; }
more "--quick-geglu" 4628
expect model.json '"linear_bias": false' sinks
expect model.json '"output_bias": true' sinks
grep -q 'left out' "$here/log" && fail "sinks: $(cat "$here/log")"
more "--quick-geglu --disable-bias-linear" 16
more "--quick-geglu --moe-layer-freq 2" 16
more "" 16
refuse "$sinks --quick-geglu --swiglu" 'expected one of them'
refuse "$sinks --quick-geglu --mtp-num-layers 1" 'softmax-type learnable'

# What report writes for a shipped model is that model again: latents pass their norms
# (--qk-layernorm), and nothing is warned of.
for model in deepseek-v2-lite qwen3-30b-a3b llama-3.2-1b gpt-oss-20b; do
    "$plumbline" example gpt --model $model --gpu h100-80gb --nodes 4 --sequence 4096 \
        --global-batch 64 --tensor 1 --pipeline 4 --data 8 -o "$here/out" >"$here/log" 2>&1 &&
        "$plumbline" solve "$here/out" --gap 0.5 --quiet -o "$here/out/plan.json" 2>"$here/log" &&
        "$plumbline" report "$here/out" --format megatron -o "$here/out/flags.sh" 2>"$here/log" &&
        "$plumbline" import megatron "$here/out/flags.sh" --gpus 32 \
        --vocabulary "$(sed -n 's/.*"vocabulary": \([0-9]*\).*/\1/p' "$here/out/model.json")" \
            -o "$here/out/again.json" --job "$here/out/again-job.json" >"$here/log" 2>&1 ||
            { echo "$model: $(cat "$here/log")"; failures=1; }
    grep -q "norms of the latents" "$here/log" && { echo "$model: $(cat "$here/log")"; failures=1; }
    count() { "$plumbline" models "$1" | sed -n '$s/^[^ ]* *\([0-9]*\) .*/\1/p'; }
    [ "$(count "$here/out/again.json")" = "$(count "$here/out/model.json")" ] ||
        { echo \
        "$model: $(count "$here/out/again.json") parameters, not $(count "$here/out/model.json")"
        failures=1; }
    rm -rf "$here/out"
done
[ $failures = 0 ] || exit 1
echo "launch scripts are models and jobs"

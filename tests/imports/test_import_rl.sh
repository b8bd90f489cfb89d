#!/bin/bash
# import rl: the update of a policy as veRL's script and NeMo RL's YAML state it, with the file that
# the YAML names.
BIN=${BIN:-bin} work=build/test_import_rl.$$ status=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline
wrong() { echo "import rl: $*"; status=1; }
says() { grep -q -e "$1" "$work/err" || wrong "not said: $1: $(cat "$work/err")"; }

cat >"$work/rl.sh" <<'END'
NODES=${NODES:-2}
python3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer \
    data.train_batch_size=512 data.max_prompt_length=1024 data.max_response_length=3072 \
    actor_rollout_ref.model.path="$MODEL" actor_rollout_ref.rollout.n=4 \
    actor_rollout_ref.rollout.tensor_model_parallel_size=8 \
    actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.actor.use_dynamic_bsz=True \
    actor_rollout_ref.actor.ppo_max_token_len_per_gpu=8192 \
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 \
    actor_rollout_ref.actor.megatron.param_offload=True \
    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity=full \
    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method=uniform \
    trainer.n_gpus_per_node=8 trainer.nnodes=$NODES
END
"$plumbline" import rl "$work/rl.sh" -o "$work/job.json" 2>"$work/err" ||
    wrong "veRL: $(cat "$work/err")"
python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]
want = {"sequence": 4096, "global_batch": 256, "tensor": 2, "data": 8, "zero": 1, "micro_batch": 2,
        "sequence_parallel": True}
got = {k: j.get(k, l.get(k)) for k in want}
assert got == want and "full" in j["recompute"], got' "$work/job.json" || wrong "rl: another job"
says 'an update of the policy alone, as Megatron trains it'
says 'param_offload: what is on the host between updates'
# Megatron Core's keys in the policy's section: read, or what they change is said
core=actor_rollout_ref.actor.megatron.override_transformer_config
for key in fp8=hybrid fp8_recipe=blockwise recompute_granularity=selective \
    recompute_modules=[core_attn,moe_act] moe_shared_expert_overlap=True; do echo "+$core.$key \\"
done >"$work/keys"
sed "/recompute_method/d; /recompute_granularity/{
r $work/keys
d
}" "$work/rl.sh" >"$work/core.sh"
"$plumbline" import rl "$work/core.sh" -o "$work/job.json" 2>"$work/err" ||
    wrong "Megatron Core's keys: $(cat "$work/err")"
grep -q '"precision": "fp8_block"' "$work/job.json" || wrong "fp8 is not read"
says 'moe_shared_expert_overlap: that overlap is not priced'
sed 's/override_transformer_config.fp8=hybrid/fake/; s/+[a-z_.]*fake/+X=bf16/
    s/X/actor_rollout_ref.actor.optim.override_optimizer_config.exp_avg_dtype/' \
    "$work/core.sh" >"$work/state.sh"
"$plumbline" import rl "$work/state.sh" -o "$work/job.json" 2>"$work/err" &&
    wrong "states in 16 bits without their flag are read"
says 'exp-avg-dtype bf16: Megatron-LM takes other types than fp32 with'
sed 's/^\(.*override_optimizer_config.\)exp_avg_dtype=.*/&\n\1use_precision_aware_optimizer=True \\/
    s/_dtype=bf16$/& \\/' "$work/state.sh" >"$work/aware.sh"
"$plumbline" import rl "$work/aware.sh" -o "$work/job.json" 2>"$work/err" ||
    wrong "states in 16 bits: $(cat "$work/err")"
grep -q '"state_bytes_per_value": 8' "$work/job.json" || wrong "states of 2 + 2 + 4 bytes"
sed 's/.fp8=hybrid/.fp32_residual_connection=True/' "$work/core.sh" >"$work/wide.sh"
"$plumbline" import rl "$work/wide.sh" -o "$work/job.json" 2>"$work/err" && wrong "fp32 is read"
says 'fp32_residual_connection: is not read: residuals in fp32'
# veRL's FSDP: what it keeps, and copies in 16 bits
fsdp() { # KEY=VALUE of fsdp_config
    sed "s/--config-name=[a-z_]*//; /actor.megatron/d
        s/trainer.nnodes/actor_rollout_ref.actor.fsdp_config.$1 &/" "$work/rl.sh" >"$work/fsdp.sh"
    "$plumbline" import rl "$work/fsdp.sh" -o "$work/job.json" 2>"$work/err"
}
fsdp reshard_after_forward=False && grep -q '"zero": 2' "$work/job.json" ||
    wrong "reshard_after_forward: $(cat "$work/err")"
fsdp model_dtype=fp32 && grep -q '"zero": 3' "$work/job.json" || wrong "fp32: $(cat "$work/err")"
fsdp model_dtype=bf16 && wrong "copies in 16 bits are read"
says "model_dtype: is not read: the optimizer's copies in 16 bits"
"$plumbline" import nemo "$work/rl.sh" --job "$work/j.json" 2>"$work/err" && wrong "nemo: reads rl"
says 'is of reinforcement learning: plumbline import rl'
cat >"$work/base.yaml" <<END
policy:
  train_global_batch_size: 64
  train_micro_batch_size: 2
  max_total_sequence_length: 2048
  precision: bfloat16
  dtensor_cfg:
    enabled: true
    tensor_parallel_size: 2
  megatron_cfg:
    enabled: false
    tensor_model_parallel_size: 1
cluster:
  gpus_per_node: 8
  num_nodes: 1
END
printf 'defaults: base.yaml\ncluster:\n  num_nodes: 4\n' >"$work/own.yaml"
"$plumbline" import rl "$work/own.yaml" -o "$work/job.json" 2>"$work/err" ||
    wrong "NeMo RL: $(cat "$work/err")"
grep -q '"tensor": 2' "$work/job.json" && grep -q '"data": 16' "$work/job.json" &&
    grep -q '"zero": 3' "$work/job.json" || wrong "rl: not FSDP's job of 32 GPUs"
says 'read with base.yaml'
printf 'defaults: base.yaml\npolicy:\n  dtensor_cfg:\n    expert_parallel_size: 4\n' \
    >"$work/own.yaml"
"$plumbline" import rl "$work/own.yaml" -o "$work/job.json" 2>"$work/err" ||
    wrong "NeMo RL: experts: $(cat "$work/err")"
grep -q '"expert": 4' "$work/job.json" || wrong "NeMo RL: experts are not spread"
# ROLL: 16 GPUs, replicas of 4, micro-batches of 2, 8 of them each; AReaL: letters
cat >"$work/roll.yaml" <<'END'
prompt_length: 1024
response_length: 3072
pretrain: Qwen/Qwen2.5-7B
reward_clip: 10
actor_train:
  model_args: {disable_gradient_checkpointing: false, dtype: bf16}
  training_args: {per_device_train_batch_size: 2, gradient_accumulation_steps: 8}
  strategy_args:
    strategy_name: megatron_train
    strategy_config:
      tensor_model_parallel_size: 2
      pipeline_model_parallel_size: 2
      sequence_parallel: true
      recompute_granularity: full
  device_mapping: list(range(0,12))+list([12,13,14,15])
actor_infer:
  strategy_args: {strategy_name: vllm, strategy_config: {tensor_model_parallel_size: 8}}
END
job() { # NAME WANTED: what the job of NAME.yaml must be, as "key=value ..."
    "$plumbline" import rl "$work/$1.yaml" -o "$work/job.json" 2>"$work/err" ||
        wrong "$1: $(cat "$work/err")"
    python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); j.update(j["layout"]); j["full"] = "full" in j["recompute"]
for pair in sys.argv[2].split():
    key, value = pair.split("=")
    assert str(j.get(key)) == value, (key, value, j.get(key))' "$work/job.json" "$2" ||
        wrong "$1: another job"
}
job roll "sequence=4096 global_batch=64 tensor=2 pipeline=2 data=4 micro_batch=2 zero=0 full=True
    sequence_parallel=True trainer=megatron"
sed -e 's/megatron_train/deepspeed_train/' \
    -e 's/strategy_config:$/strategy_config: ${deepspeed_zero2}/' \
    -e '/^      /d' "$work/roll.yaml" >"$work/zero.yaml"
job zero "global_batch=256 tensor=1 data=16 zero=2 trainer=deepspeed full=True"
sed -i 's/${deepspeed_zero2}/${my_own}/' "$work/zero.yaml"
"$plumbline" import rl "$work/zero.yaml" -o "$work/no.json" 2>"$work/err" && wrong "ROLL: no stage"
says 'which ZeRO stage it is'
sed -i '/device_mapping/d' "$work/roll.yaml"
"$plumbline" import rl "$work/roll.yaml" -o "$work/no.json" 2>"$work/err" && wrong "ROLL: no GPUs"
says 'give it with --gpus'
cat >"$work/areal.yaml" <<'END'
cluster: {n_nodes: 8, n_gpus_per_node: 8}
gconfig: {n_samples: 8, max_new_tokens: 3072}
rollout: {backend: "sglang:d4t8"}
actor:
  backend: "megatron:(attn:d4p4t2|ffn:d2p4e4)"
  path: Qwen/Qwen3-30B-A3B
  gradient_checkpointing: true
  dtype: bfloat16
  mb_spec: {max_tokens_per_mb: 8192}
  reward_scaling: 10.0
  ppo_n_minibatches: 2
train_dataset: {batch_size: 16, max_length: 1024}
END
job areal "sequence=4096 global_batch=64 tensor=2 pipeline=4 data=4 expert=4 expert_tensor=1 zero=1
    micro_batch=2 sequence_parallel=True full=True trainer=megatron"
sed -i 's/megatron:(.*)/fsdp:d8/' "$work/areal.yaml"
job areal "data=8 zero=3 trainer=other global_batch=64 sequence_parallel=False"
sed -i 's/fsdp:d8/fsdp:8d/' "$work/areal.yaml"
"$plumbline" import rl "$work/areal.yaml" -o "$work/no.json" 2>"$work/err" && wrong "AReaL: 8d"
says 'expected an engine with its degrees'
# slime and miles have Megatron's flags: 8 prompts with 4 answers of 768 tokens, in two updates
cat >"$work/slime.sh" <<'END'
PERF=(--tensor-model-parallel-size 2 --context-parallel-size 2 --use-dynamic-batch-size
   --max-tokens-per-gpu 1024 --rollout-batch-size 8 --n-samples-per-prompt 4
   --rollout-max-prompt-len 256 --rollout-max-response-len 512 --num-steps-per-rollout 2)
ray job submit --address=http://127.0.0.1:8265 -- python3 train.py --actor-num-nodes 2 \
   --actor-num-gpus-per-node 8 --colocate ${PERF[@]}
END
"$plumbline" import megatron "$work/slime.sh" --job "$work/job.json" 2>"$work/err" ||
    wrong "slime: $(cat "$work/err")"
python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]
assert (l["tensor"], l["context"], l["data"], l["micro_batch"], l["zero"], j["sequence"],
        j["global_batch"], j["precision"]) == (2, 2, 4, 2, 1, 768, 16, "bf16"), j' \
    "$work/job.json" || wrong "slime: another job"
says 'every sequence is of 768 tokens, a prompt and its answer, 2 in a micro-batch'
sed -i 's/tokens-per-gpu 1024/tokens-per-gpu 9000/' "$work/slime.sh"
"$plumbline" import megatron "$work/slime.sh" --job "$work/job.json" 2>"$work/err"
says 'micro-batches of 4 sequences, not 23: 4 are a replica'
sed 's/--colocate/--train-backend fsdp/' "$work/slime.sh" >"$work/fsdp.sh"
"$plumbline" import megatron "$work/fsdp.sh" --job "$work/no.json" 2>"$work/err" &&
    wrong "slime: another program's training is read"
says 'train-backend: is not read: a policy trained by another program'
"$plumbline" import rl "$work/slime.sh" 2>"$work/err" >"$work/out" && wrong "slime: read by rl"
says 'flags of slime and miles: plumbline import megatron'

[ $status = 0 ] && echo "import rl: all as expected"
# prime-rl's TOML: tables in lists have sections of their own
cat >"$work/prime.toml" <<'END'
seq_len = 4096
[model]
name = "Qwen/Qwen3-8B"
[deployment]
type = "multi_node"
num_train_nodes = 2
[trainer.model]
cp = 4
cp_style = "ulysses"
optim_cpu_offload = false
ac = "None"
[orchestrator]
batch_size = 64
[[orchestrator.train.source]]
name = "a"
[orchestrator.train.source.env]
id = "x"
[[orchestrator.train.source]]
name = "b"
[orchestrator.train.source.env]
id = "y"
END
"$plumbline" import rl "$work/prime.toml" -o "$work/job.json" 2>"$work/err" ||
    wrong "prime-rl: $(cat "$work/err")"
python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]
assert (j["sequence"], j["global_batch"], l["context"], l["data"], l["zero"], l["micro_batch"],
        l["offload_optimizer"], j["context_kind"], j["recompute"]) == \
    (4096, 64, 4, 4, 3, 1, False, "all_to_all", ["none"]), j' "$work/job.json" ||
    wrong "prime-rl: another job"
says 'the model is Qwen/Qwen3-8B'
sed -i 's/cp = 4/cp = 2\ndp_replicate = 2/' "$work/prime.toml"
"$plumbline" import rl "$work/prime.toml" -o "$work/job.json" 2>"$work/err" ||
    wrong "prime-rl: $(cat "$work/err")"
grep -q '"data_shard": 4' "$work/job.json" || wrong "prime-rl: no groups of data ranks"
sed -i 's/optim_cpu_offload = false/full_offload = true/' "$work/prime.toml"
"$plumbline" import rl "$work/prime.toml" -o "$work/no.json" 2>"$work/err" &&
    wrong "prime-rl: states on the host are read"
says 'trainer.model.full_offload: is not read: states on the host'

# EasyR1's script over the file that it names, seen from a folder above; its answers are of a prompt
mkdir -p "$work/easy/examples"
cat >"$work/easy/examples/config.yaml" <<'END'
data: {max_prompt_length: 512, max_response_length: 1536, rollout_batch_size: 64}
worker:
  actor:
    global_batch_size: 16
    micro_batch_size_per_device_for_update: 2
    micro_batch_size_per_device_for_experience: 4
    ulysses_size: 2
    model: {model_path: m, enable_gradient_checkpointing: false}
    fsdp: {enable_full_shard: true, enable_cpu_offload: false}
  rollout: {n: 4, tensor_parallel_size: 2}
trainer: {n_gpus_per_node: 8, nnodes: 1}
END
easy() { # OVERRIDE WANTED: refused with these words, or "key=value ..." of the job
    printf 'python3 -m verl.trainer.main \\\n config=examples/config.yaml \\\n data.seed=1 %s\n' \
        "$1" >"$work/easy/examples/run.sh"
    if "$plumbline" import rl "$work/easy/examples/run.sh" -o "$work/job.json" 2>"$work/err"; then
        python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); j.update(j["layout"])
for pair in sys.argv[2].split():
    key, value = pair.split("=")
    assert str(j.get(key)) == value, (key, value, j.get(key))' "$work/job.json" "$2" ||
            wrong "EasyR1: another job: $1"
    else says "$2"
    fi
}
easy worker.rollout.n=8 "sequence=2048 global_batch=128 context=2 data=4 micro_batch=2 zero=3"
easy worker.actor.fsdp.enable_full_shard=false "global_batch=64 zero=2"
easy worker.actor.fsdp.enable_cpu_offload=true 'enable_cpu_offload: is not read: states on the host'
easy worker.actor.optim.strategy=adamw_bf16 'optim.strategy: is not read: an optimizer with other'
printf 'python3 -m verl.trainer.main_ppo data.max_prompt_length=512 data.max_response_length=512 \
    actor_rollout_ref.actor.ppo_mini_batch_size=64 trainer.n_gpus_per_node=8 trainer.nnodes=2 \
    actor_rollout_ref.actor.ppo_micro_batch_size=32\n' >"$work/old.sh"
"$plumbline" import rl "$work/old.sh" -o "$work/job.json" 2>"$work/err" ||
    wrong "older veRL: $(cat "$work/err")"
grep -q '"micro_batch": 2,' "$work/job.json" || wrong "older veRL: another micro-batch"
says 'micro-batches of 2: ppo_micro_batch_size is of all GPUs'
rm "$work/easy/examples/config.yaml"
easy worker.rollout.n=8 \
    'config.yaml, which is not there: the sequence length, the micro-batch and the number of GPUs'
says 'are missing: give them with'

exit $status

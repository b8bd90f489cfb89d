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
exit $status

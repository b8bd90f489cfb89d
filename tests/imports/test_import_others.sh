#!/bin/sh
# Configurations of other programs: LLaMA-Factory's version 1, GPT-NeoX, veRL, Primus's torchtitan;
# adapters of all of them.
set -u
name=test_import_others
. tests/imports/import.sh

printf 'micro_batch_size: 1\ncutoff_len: 64\ndist_config:\n  name: fsdp2\n' >"$work/v1.yaml"
"$plumbline" import trainer "$work/v1.yaml" --gpus 8 -o "$work/job.json" 2>"$work/err" ||
    wrong "LLaMA-Factory's version 1: $(cat "$work/err")"
grep -q '"zero": 3' "$work/job.json" || wrong "LLaMA-Factory's version 1: not sharded"
printf 'peft_config:\n  name: lora\n' >>"$work/v1.yaml"
"$plumbline" import trainer "$work/v1.yaml" --gpus 8 -o "$work/job.json" 2>"$work/err" ||
    wrong "LLaMA-Factory's version 1: $(cat "$work/err")"
told 'the model.s: write "frozen": true, "adapter_rank": 8 in its runs of kind block, and "frozen"'
printf 'train_dataset: data/v1_dpo_demo.yaml\n' >>"$work/v1.yaml"
"$plumbline" import trainer "$work/v1.yaml" --gpus 8 -o "$work/no.json" 2>"$work/err" &&
    wrong "LLaMA-Factory's version 1: pairs are read"
told 'train_dataset: data/v1_dpo_demo.yaml: pairs'
printf 'micro_batch_size: 1\ncutoff_len: 64\ndist_config:\n  name: deepspeed
  config_file: ds_z2_config.json\n' >"$work/v1.yaml"
"$plumbline" import trainer "$work/v1.yaml" --gpus 8 -o "$work/job.json" 2>"$work/err" ||
    wrong "LLaMA-Factory's version 1: $(cat "$work/err")"
grep -q '"zero": 2' "$work/job.json" || wrong "LLaMA-Factory's version 1: not DeepSpeed's stage"
# A launch of another program's is not Megatron's, nor a script JSON; what one may state is right.
launch() { # WORDS TO TEXT OPTION ...: refused with these words, or read
    words=$1 to=$2; shift 2
    printf '%s\n' "$1" >"$work/launch.sh"; shift
    "$plumbline" import "$to" "$work/launch.sh" "$@" >"$work/out" 2>"$work/err" &&
        [ "$words" != ok ] && wrong "not refused: $(cat "$work/launch.sh")"
    [ "$words" = ok ] || told "$words"
}
own='torchrun --nproc_per_node=8 train.py --hidden_width=4096 --num_layers=32 --num_heads=32
    --max_context_width=4096 --intermediate_size=11008 --num_key_value_heads=32
    --sharding_strategy=full'
launch '--hidden-width (did .*or the file is another program' megatron "$(echo $own)" \
    --sequence 4096 --micro-batch 1 --job "$work/no.json"
esm='torchrun --nproc_per_node=8 train_esm2 --num-layers 6 --micro-batch-size 4 --num-steps 9
    --precision=bf16-mixed --val-check-interval 5 --max-seq-length 64 --result-dir x
    --num-attention-head 2'
launch '--num-attention-head (did .*or the file is another program' megatron "$(echo $esm)" \
    --sequence 64 --job "$work/no.json"
launch 'expected JSON, found a script' deepspeed '#!/bin/bash
deepspeed train.py --deepspeed ds.json' --sequence 64 -o "$work/no.json"
mha='pretrain_gpt.py --num-layers 2 --hidden-size 64 --seq-length 64 --micro-batch-size 1 --bf16
    --max-position-embeddings 64 --vocab-size 99 --num-attention-heads 4'
launch ok megatron "python $(echo $mha) --num-query-groups 4" --gpus 8 -o "$work/mha.json"
grep -q '"kv_heads": 4' "$work/mha.json" || wrong "as many groups as heads: $(cat "$work/err")"
launch 'num-query-groups without' megatron "python $(echo $mha) --num-query-groups 2" --gpus 8 \
    -o "$work/no.json"
launch 'line 4: the settings are in config.yaml' nanotron '#!/bin/bash
#SBATCH --nodes=1
echo "--- setting up"
torchrun --nproc_per_node=4 run_train.py --config-file config.yaml'
launch 'no launch of it names a file of settings' torchtitan '#!/bin/bash
torchrun train.py --training.seq_len=8' --gpus 8 -o "$work/no.json"
task='torchrun --nproc_per_node 8 tasks/main.py --num-layers 2 --hidden-size 64
    --num-attention-heads 2 --seq-length 64 --micro-batch-size 1 --task'
launch 'fine-tunes an encoder for a task (MNLI)' megatron "$(echo $task) MNLI" --job "$work/no.json"
launch 'does not train' megatron "$(echo $task) LAMBADA" --job "$work/no.json"
launch ok megatron "while true; do for i in \$(seq 200); do :; done
    $(echo $task | sed 's/tasks.main.py/pretrain_gpt.py/; s/--task//') --bf16 --vocab-size 64 \
    --max-position-embeddings 64; sleep 1; done" --job "$work/endless.json"
[ -s "$work/endless.json" ] || wrong "a loop without end: $(cat "$work/err")"
swift='megatron sft --tensor_model_parallel_size 2 --micro_batch_size 1 --max_length 64'
launch ok megatron "$swift --recompute_granularity none" --gpus 8 --job "$work/job.json"
grep -q '"recompute": \["none"\]' "$work/job.json" || wrong "recompute: none"
launch 'expert-tensor-parallel-size 4: expected a divisor of' megatron \
    "$swift --expert_tensor_parallel_size 4 --expert_model_parallel_size 2" --gpus 16 \
    --job "$work/no.json"
launch ok nemo 'python run_recipe.py --recipe deepseek_v4_flash_pretrain_mxfp8_config' --gpus 32 \
    --job "$work/job.json"
grep -q '"precision": "mxfp8"' "$work/job.json" || wrong "a recipe in MXFP8"
launch 'the recipe llama3_8b of .*scripts/performance' nemo 'python run_script.py --gpu h100 \
    --model_recipe_name llama3_8b train.micro_batch_size=1' --gpus 8 --job "$work/no.json"
launch ok nemo 'torchrun --nproc_per_node 8 run_recipe.py --recipe gpt_oss_20b_sft_config \
    model.offload_modules=[moe_act] \
    model.fine_grained_activation_offloading=true' --gpus 8 \
    --job "$work/job.json"
told 'assumed: .*fine_grained_activation_offloading: what offload_modules keep stays on the GPU'
printf 'trainer: {devices: 8, precision: bf16}
model: {encoder_seq_length: 64, micro_batch_size: 1}\n' \
    >"$work/nodes.yaml"
"$plumbline" import nemo "$work/nodes.yaml" --job "$work/job.json" 2>"$work/err" ||
    wrong "NeMo: $(cat "$work/err")"
told 'assumed: .*one node of 8 GPUs, as num_nodes is not stated'

printf '{"pipe_parallel_size": 1, "num_layers": 2, "hidden_size": 8, "num_attention_heads": 2}\n' \
    >"$work/in.yml"
"$plumbline" import megatron "$work/in.yml" --vocabulary 9 >"$work/out" 2>"$work/err" ||
    wrong "GPT-NeoX: $(cat "$work/err")"
told 'read: --pipe-parallel-size, --num-layers'
cp "$work/in.yml" "$work/in.json"
"$plumbline" import megatron "$work/in.json" --vocabulary 9 >"$work/out" 2>"$work/err" ||
    wrong "GPT-NeoX in JSON: $(cat "$work/err")"
echo '{"num_layers": 2, "hidden_size": 8, "num_attention_heads": 2, "vocab_size": 9}' \
    >"$work/in.json"
"$plumbline" import megatron "$work/in.json" >"$work/out" 2>"$work/err" &&
    wrong "JSON without GPT-NeoX's keys is read"
told "expected GPT-NeoX.s keys, found others: a model.s config.json is read by import hf"
# These look like a known one.
for said in 'framework: maxtext/framework: expected megatron' \
    'framework: megatron\n    trainer_class: FluxTrainer/trainer_class: trains a diffusion'; do
    printf "modules:\n  pre_trainer:\n    ${said%%/*}\n    overrides: {seq_length: 64}\n" \
        >"$work/other.yaml"
    "$plumbline" import megatron "$work/other.yaml" --gpus 8 --job "$work/no.json" 2>"$work/err" &&
        wrong "Primus: $said"
    told "${said##*/}"
done
printf 'python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.ppo_micro_batch_size=1\n' \
    >"$work/in.sh"
"$plumbline" import nemo "$work/in.sh" --gpus 8 --sequence 8 --micro-batch 1 --job "$work/no.json" \
    2>"$work/err" && wrong "veRL as NeMo"
told 'actor_rollout_ref.actor.ppo_micro_batch_size: is of reinforcement learning'
printf 'torchrun -m verl.trainer.fsdp_sft_trainer data.micro_batch_size=4\n' >"$work/in.sh"
"$plumbline" import nemo "$work/in.sh" --gpus 8 --sequence 8 --job "$work/no.json" \
    2>"$work/err" && wrong "veRL as NeMo"
told 'verl.trainer.fsdp_sft_trainer: is of reinforcement learning: plumbline import rl'
printf 'modules:\n  pre_trainer:\n    framework: torchtitan\n    model: llama3.1_8B-fp8.yaml
    overrides:\n      training: {seq_len: 64, local_batch_size: 3}
      parallelism:\n        tensor_parallel_degree: 2
      primus_turbo: {enable_primus_turbo: true}\n' >"$work/primus.yaml"
"$plumbline" import torchtitan "$work/primus.yaml" --gpus 8 -o "$work/job.json" 2>"$work/err" ||
    wrong "Primus: $(cat "$work/err")"
told 'llama3.1_8B-fp8.yaml converts linear layers to fp8'
python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]
assert (j["sequence"], l["tensor"], l["data"], j["global_batch"], j["precision"]) == \
    (64, 2, 4, 12, "fp8"), j' "$work/job.json" || wrong "Primus: another job"
sed 's/: torchtitan/: megatron/' "$work/primus.yaml" >"$work/other.yaml"
"$plumbline" import torchtitan "$work/other.yaml" --gpus 8 -o "$work/no.json" 2>"$work/err" &&
    wrong "Primus: Megatron-LM's read as torchtitan's"
told 'modules.pre_trainer.framework torchtitan: other YAML'
sed 's/degree: 2/degree: ${TP:2}/' "$work/primus.yaml" >"$work/other.yaml"
"$plumbline" import torchtitan "$work/other.yaml" --gpus 8 -o "$work/no.json" 2>"$work/err" &&
    wrong "Primus: a value of the environment"
told 'is set by the environment, "${TP:2}"'

# Primus's for Megatron-LM: what its file of defaults states, unless told; argparse's name of fp8.
printf 'modules:\n  pre_trainer:\n    config: pre_trainer.yaml\n    overrides:\n      seq_length: 64
      micro_batch_size: 1\n      global_batch_size: 8\n' >"$work/primus.yaml"
primus() { # precision, ZeRO's stage
    "$plumbline" import megatron "$work/primus.yaml" --gpus 8 --job "$work/job.json" \
        2>"$work/err" || wrong "Primus: $(cat "$work/err")"
    grep -q "\"precision\": \"$1\"" "$work/job.json" && grep -q "\"zero\": $2" "$work/job.json" ||
        wrong "Primus: another job than $1, ZeRO $2"
}
primus bf16 1
told 'use_distributed_optimizer, as pre_trainer.yaml states it'
printf '      fp8: hybrid\n      use_distributed_optimizer: false\n' >>"$work/primus.yaml"
primus fp8 0

# How Accelerate and FSDP shard states, said at the launch, by a name, or in JSON that the script
# writes; what ms-swift saves of a run.
trained() { # ZeRO's stage, words that are said, the launch's or the file's text
    printf "$3" >"$work/in.${4:-sh}"
    "$plumbline" import trainer "$work/in.${4:-sh}" --gpus 8 -o "$work/job.json" 2>"$work/err" ||
        wrong "trainer: $(cat "$work/err")"
    told "$2"
    grep -q "\"zero\": $1," "$work/job.json" || wrong "trainer: not ZeRO $1: $3"
}
# what Weights & Biases saves of a run: arguments, and the model's keys, which are no arguments
saved='_wandb:\n  value:\n    cli_version: 0.21.0\n    m:\n      - "1": x\n        "6": [3]\n'
for pair in num_hidden_layers:40 max_length:20 max_seq_length:512 per_device_train_batch_size:2 \
    gradient_accumulation_steps:4 bf16:true fsdp:full_shard; do
    saved="$saved${pair%:*}:\n  desc: null\n  value: ${pair#*:}\n"
done
is_read() { # WORDS OF THE JOB ...
    printf "$saved" >"$work/wandb.yaml"
    "$plumbline" import trainer "$work/wandb.yaml" --gpus 8 -o "$work/job.json" 2>"$work/err" ||
        wrong "wandb: $(cat "$work/err")"
    for words in "$@"; do grep -q "$words" "$work/job.json" || wrong "wandb: no $words"; done
}
is_read '"sequence": 512' '"global_batch": 64' '"zero": 3'
told 'num-hidden-layers is unknown and left out'

# axolotl's names; lists and sections say how states are sharded, and what is another job.
axolotl='base_model: m\nsequence_len: 64\nmicro_batch_size: 1\nadapter: qlora\n'
trained 0 '"adapter_rank": 8, "adapter_modules": ..query", "value"., "weight_bits": 4' \
    "${axolotl}load_in_4bit: true\nflash_attention: true" yaml
trained 3 'offload: the optimizer on the host' \
    "${axolotl}fsdp:\n  - full_shard\nfsdp_config:\n  fsdp_offload_params: true" yml
trained 2 'the model is m' "${axolotl}fsdp_config:\n  reshard_after_forward: false" yml
trained 1 'ZeRO 1, as the name deepspeed_configs/zero1.json' \
    "${axolotl}deepspeed: deepspeed_configs/zero1.json" yaml
trained 0 'optimizer adamw_bnb_8bit: moments of one byte, next to weights in fp32' \
    "${axolotl}optimizer: adamw_bnb_8bit" yaml
axolotl='base_model: m\nsequence_len: 64\nmicro_batch_size: 1\n'
for other in 'rl: kto/--rl: is not read: pairs' \
    'dp_shard_size: 4/--dp-shard-size: times replicas: expected 8' \
    'expert_parallel_size: 2/--expert-parallel-size: is not read' \
    'dense_mixer: true/--dense-mixer: is not read' \
    'optimizer: galore_adamw_8bit/--optimizer: galore_adamw_8bit has other states' \
    'gradient_checkpointing: flase/checkpointing: expected true or false, found "flase"' \
    'batch_size: 8/batch_size: expected gradient_accumulation_steps'; do
    printf "$axolotl${other%%/*}\n" >"$work/in.yaml"
    "$plumbline" import trainer "$work/in.yaml" --gpus 8 >"$work/out" 2>"$work/err" &&
        wrong "axolotl: read: $other"
    told "${other#*/}"
done
trained 0 'the model is m' "${axolotl}gradient_checkpointing: no" yaml # no as YAML says it
grep -q '"full"' "$work/job.json" && wrong "axolotl: no counts as yes"
trained 3 'the model is m' "${axolotl}tensor_parallel_size: 2\n"\
'dp_shard_size: 2\ndp_replicate_size: 2\nfsdp_config:\n  fsdp_version: 2' yml
grep -q '"gathered_logits": true' "$work/job.json" && grep -q '"tensor": 2' "$work/job.json" ||
    wrong "axolotl: no tensor ranks"
grep -q '"data_shard": 2' "$work/job.json" || wrong "axolotl: no groups of data ranks"
trained 2 'the model is m' "${axolotl}overrides_of_model_config:\n  num_hidden_layers: 2\n"\
'context_parallel_size: 2\nfsdp_config:\n  fsdp_reshard_after_forward: false\n'\
'  activation_checkpointing: true' yml
told '--overrides-of-model-config: the model is its config.json'
grep -q '"context": 2' "$work/job.json" && grep -q '"full"' "$work/job.json" ||
    wrong "axolotl: no context ranks or recomputation"
# Accelerate's own flags; its processes are those of all machines.
trained 3 'offload: the optimizer on the host' "accelerate launch --num_processes 8 \
--num_machines 2 --mixed_precision fp16 --use_fsdp --fsdp_offload_params true \
--parallelism_config_tp_size 2 t.py \
--per_device_train_batch_size 1 --max_length 64"
"$plumbline" import trainer "$work/in.sh" -o "$work/job.json" 2>"$work/err" # without --gpus
grep -q '"precision": "fp16"' "$work/job.json" && grep -q '"data": 4,' "$work/job.json" ||
    wrong "Accelerate's precision or degrees are lost"
trained 2 'ZeRO 2 with the optimizer on the host\|read: .*--offload-optimizer-device' \
    "accelerate launch --use_deepspeed --offload_optimizer_device cpu t.py \
--per_device_train_batch_size 1 --max_length 64 --bf16"
own='t.py --per_device_train_batch_size 1 --max_length 64 --bf16 true'
trained 3 'ZeRO 3, as the name c/deepspeed_zero3.yaml' \
    "accelerate launch --config_file c/deepspeed_zero3.yaml $own"
trained 2 'read: --config-file, --zero-stage' \
    "accelerate launch --config_file a.yaml --zero_stage 2 $own"
trained 2 'hybrid\|read' "accelerate launch --fsdp_sharding_strategy SHARD_GRAD_OP $own"
trained 0 'no_shard, as the name c/multi_gpu.yaml' \
    "accelerate launch --config_file c/multi_gpu.yaml $own"
trained 3 'offload: the optimizer on the host' 'F=/a/$(date)/f.json\ncat >$F <<E
{"fsdp": "full_shard auto_wrap offload", "fsdp_config": {"activation_checkpointing": true}}
E\nswift sft --fsdp $F --max_length 64 --per_device_train_batch_size 1\n'
grep -q '"recompute": "full"' "$work/job.json" || wrong "FSDP in JSON: no recomputation"
trained 3 'read: --per-device-train-batch-size' '{"per_device_train_batch_size": 1, "fsdp":
"full_shard", "max_length": 64, "bf16": true, "gradient_checkpointing": false, "tuner_type": "full",
"deepspeed": null, "lora_rank": 8, "global_world_size": 8}' json
grep -q 'adapters' "$work/err" && wrong "args.json: adapters of a whole model"
grep -q '"recompute": "none"' "$work/job.json" || wrong "args.json: recomputation"
echo "accelerate launch --config_file my.yaml $own" |
    refused trainer 'how states are sharded is stated in my.yaml: add --zero_stage' --gpus 8
printf 'export TP=2\nexec bash scripts/run.sh\n' |
    refused megatron 'no launch with settings .* may be in run.sh, which it reads in or runs'
printf '[float8]\nenable_float8_linear = true\n[training]\nwarmup_steps = 2\n' >"$work/in.toml"
"$plumbline" import torchtitan "$work/in.toml" --gpus 8 -o "$work/job.json" 2>"$work/err" &&
    grep -q '"precision": "fp8"' "$work/job.json" || wrong "torchtitan until 0.1: not fp8"
# A module that a job cannot name is kept; the recipe of tuning is one of two since; RL's update.
printf 'torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 \
    --num-attention-heads 4 --seq-length 64 --micro-batch-size 1 --vocab-size 64 --bf16 \
    --recompute-granularity selective --recompute-modules core_attn shared_experts \
    --perform-rl-step --grpo-prompts-per-step 4\n' >"$work/run.txt"
printf 'srun bash -x -c "%s"\n' "$(cat "$work/run.txt")" >"$work/in.sh"
"$plumbline" import megatron "$work/in.sh" --job "$work/job.json" 2>"$work/err" ||
    wrong "modules: $(cat "$work/err")"
told 'recompute_modules shared_experts: what it would make again is kept'
told 'one update of the policy: rollouts are no part of it'
printf 'python run_recipe.py --recipe nemotron_3_nano_finetune_config --peft_scheme lora \
    train.global_batch_size=16\n' >"$work/in.sh"
"$plumbline" import nemo "$work/in.sh" --gpus 16 --job "$work/job.json" 2>"$work/err" ||
    wrong "finetune: $(cat "$work/err")"
told 'the recipe nemotron_3_nano_peft_config is that of Megatron Bridge'
printf 'R="x.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 --load <PATH TO A> \
    --fp16 --seq-length 64 --micro-batch-size 1 --activations-checkpoint-method uniform"
srun sh -c "torchrun --nproc_per_node 8 $R"
' >"$work/in.sh"
"$plumbline" import megatron "$work/in.sh" --job "$work/job.json" 2>"$work/err" &&
    "$plumbline" import trainer "$work/in.sh" -o "$work/job.json" 2>"$work/err" # without --gpus
grep -q '"precision": "fp16"' "$work/job.json" && grep -q '"none", "full"' "$work/job.json" ||
    wrong "a placeholder takes what follows it: $(cat "$work/err")"
printf '[model]\nname = "flux"\n' >"$work/in.toml"
"$plumbline" import torchtitan "$work/in.toml" --gpus 8 2>"$work/err" && wrong "flux is read"
told 'trains a diffusion model'
# StarCoder2-7B, with the number of its parameters on the hub; of two equal keys the last one counts
printf 'parallelism: {dp: 2, tp: 4, pp: 1, pp_engine: 1f1b}\nmodel:\n  model_config:
    {is_starcoder2_config: true, sliding_window_size: 4096, grouped_query: true, num_kv_heads: 4,
    hidden_size: 4608, num_attention_heads: 36, num_hidden_layers: 32, vocab_size: 1}
  model_config.vocab_size: 49152
  dtype: bfloat16\ntokens: {sequence_length: 64, micro_batch_size: 1}\n' >"$work/in.yaml"
"$plumbline" import nanotron "$work/in.yaml" -o "$work/model.json" 2>"$work/err" ||
    wrong "Starcoder 2: $(cat "$work/err")"
told '7173923840 parameters'
told 'vocab_size stands twice: the last counts'
# SmolLM3 as nanotron trained it, with the number of its parameters on the hub: a Qwen 2 whose
# queries, keys and values have no bias.
printf 'model:\n  model_config:\n    {is_qwen2_config: true, attention_bias: false,
    hidden_size: 2048, intermediate_size: 11008, num_attention_heads: 16, num_hidden_layers: 36,
    num_key_value_heads: 4, vocab_size: 128256, tie_word_embeddings: true}\n' >"$work/in.yaml"
"$plumbline" import nanotron "$work/in.yaml" -o "$work/model.json" 2>"$work/err" ||
    wrong "SmolLM3: $(cat "$work/err")"
told '3075098624 parameters'
# Megatron-DeepSpeed and BigCode's Megatron fuse attention by a flag alone; a vocabulary padded to.
old='torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 --seq-length 64
    --num-attention-heads 4 --max-position-embeddings 64 --micro-batch-size 1 --bf16
    --global-batch-size 8'
for flags in '--deepspeed --zero-stage 1' '--attention-head-type multiquery'; do
    launch ok megatron "$(echo $old $flags --pad-vocab-size-to 1000)" -o "$work/model.json" \
        --job "$work/job.json"
    told 'attention is not fused, as without --use-flash-attn'
    grep -q '"fused_attention": false' "$work/job.json" || wrong "$flags: attention is fused"
    grep -q '"vocabulary": 1000' "$work/model.json" || wrong "$flags: another vocabulary"
    launch ok megatron "$(echo $old $flags --vocab-size 99 --use-flash-attn)" --job "$work/job.json"
    grep -q '"fused_attention": true' "$work/job.json" || wrong "$flags: attention is not fused"
done
launch ok megatron "$(echo $old --vocab-size 99)" --job "$work/job.json"
grep -q '"fused_attention": true' "$work/job.json" || wrong "Megatron: attention is not fused"
# A recipe under a file, and a file under another: the file's own words count.
printf 'recipe:\n  _target_: bridge.recipes.qwen3_8b_pretrain_config\nrun:\n  env:\n    nodes: 2
    gpus_per_node: 8\ntrain: {global_batch_size: 64, micro_batch_size: 2}\n' >"$work/default.yaml"
printf 'defaults: default.yaml\nmodel: {seq_length: 1024, tensor_model_parallel_size: 4}
train:\n  micro_batch_size: 1\n' >"$work/in.yaml"
"$plumbline" import nemo "$work/in.yaml" --job "$work/job.json" 2>"$work/err" ||
    wrong "a file with a base: $(cat "$work/err")"
told 'read with default.yaml'
told 'the recipe qwen3_8b_pretrain_config is that of Megatron Bridge'
python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]
assert (l["tensor"], l["data"], l["micro_batch"], j["sequence"], j["global_batch"],
        j["precision"], l["zero"]) == (4, 4, 1, 1024, 64, "bf16", 1), j' "$work/job.json" ||
    wrong "a file with a base: another job"
printf 'defaults: gone.yaml\nmodel: {seq_length: 64, micro_batch_size: 1}\n' >"$work/in.yaml"
"$plumbline" import nemo "$work/in.yaml" --gpus 8 --job "$work/job.json" 2>"$work/err"
told 'what is not here is in gone.yaml, another file'
# Experts on a latent, as Nemotron 3 has them: as many parameters as its config.json.
flags='--hybrid-layer-pattern M*EME --hidden-size 64 --ffn-hidden-size 96 --num-attention-heads 4
    --group-query-attention --num-query-groups 2 --kv-channels 16 --mamba-num-heads 8
    --mamba-head-dim 16 --mamba-num-groups 2 --mamba-state-dim 16 --num-experts 8
    --moe-router-topk 2 --moe-ffn-hidden-size 48 --moe-shared-expert-intermediate-size 80
    --moe-latent-size 24 --squared-relu --disable-bias-linear --normalization RMSNorm --bf16
    --position-embedding-type none --untie-embeddings-and-output-weights --seq-length 64
    --micro-batch-size 1 --vocab-size 128 --make-vocab-size-divisible-by 1
    --max-position-embeddings 64 --moe-router-enable-expert-bias
    --moe-router-score-function sigmoid'
launch ok megatron "$(echo python pretrain_mamba.py $flags)" --gpus 8 -o "$work/model.json"
printf '{"model_type": "nemotron_h", "hidden_size": 64, "hybrid_override_pattern": "M*EME",
    "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
    "mamba_num_heads": 8, "mamba_head_dim": 16, "n_groups": 2, "ssm_state_size": 16,
    "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 48,
    "n_shared_experts": 1, "moe_shared_expert_intermediate_size": 80, "moe_latent_size": 24,
    "vocab_size": 128, "num_hidden_layers": 5}' >"$work/config.json"
sed -n 's/^megatron: //p' "$work/err" >"$work/counted"
"$plumbline" import hf "$work/config.json" -o "$work/hf.json" 2>"$work/err"
told "nemotron_h: $(cat "$work/counted")"
grep -q '"latent": 24' "$work/model.json" || wrong "no latent"
# Another program's file with one name in common; bytes that are no text.
printf 'a = 1\nb = 1\nc = 1\nd = 1\ne = 1\nf = 1\ng = 1\nh = 1\ni = 1\n[model]\nname = "x"\n' \
    >"$work/in.toml"
"$plumbline" import torchtitan "$work/in.toml" --gpus 8 2>"$work/err" && wrong "any file is read"
told 'hardly one of its 10 settings'
printf 'model: {seq_length: 64, micro_batch_size: 1}\nfr\376b: 1\n' >"$work/in.yaml"
"$plumbline" import nemo "$work/in.yaml" --gpus 8 --job "$work/job.json" 2>"$work/err"
told 'fr?b is unknown and left out'

# Adapters as configurations state them: what trainers' and RL's imports say to write into a model,
# and the model that NeMo's makes, whose parameters are counted here once more.
says() { # IMPORTER WORDS LINE ...: a file of these lines has adapters that are told as WORDS
    kind=$1 words=$2 file=$work/in.yaml; shift 2
    case $1 in torchrun*|python3*|swift*) file=$work/in.sh;; esac
    printf '%s\n' "$@" >"$file"
    "$plumbline" import "$kind" "$file" --gpus 8 -o "$work/job.json" 2>"$work/err" ||
        wrong "not read: $*: $(cat "$work/err")"
    if [ "$words" = none ]; then
        grep 'assumed:.*\(adapter\|frozen\)' "$work/err" && wrong "adapters: $*"
    else
        told "write \"frozen\": true, $words in its runs of kind block, and \"frozen\": true in the"
    fi
}
factory='cutoff_len: 64
per_device_train_batch_size: 1
bf16: true'
some='"adapter_rank": 16, "adapter_modules": \["query", "value"\]'
says trainer "$some, \"weight_bits\": 4" "$factory" 'finetuning_type: lora' 'lora_rank: 16' \
    'lora_target: q_proj,v_proj' 'quantization_bit: 4'
says trainer '"adapter_rank": 16' "$factory" 'finetuning_type: lora' 'lora_rank: 16' \
    'lora_target: all'
says trainer none "$factory" 'finetuning_type: full' 'lora_rank: 16' 'lora_target: all'
says trainer '"adapter_rank": 16' 'cutoff_len: 64' 'micro_batch_size: 1' \
    'peft_config: {name: lora, r: 16, target_modules: all}'
axolotl='base_model: m
sequence_len: 64
micro_batch_size: 1
gradient_accumulation_steps: 1
bf16: true'
says trainer "$some, \"weight_bits\": 4" "$axolotl" 'adapter: qlora' 'lora_r: 16' \
    'lora_target_modules:' '  - q_proj' '  - v_proj' 'load_in_4bit: true' 'load_in_8bit: false'
grep -q 'twice' "$work/err" && wrong "a list is said to stand twice"
says trainer '"adapter_rank": 16, "weight_bits": 8' "$axolotl" 'adapter: lora' 'lora_r: 16' \
    'lora_target_linear: true' 'load_in_8bit: true'
says trainer "$some" "$axolotl" 'adapter: lora' 'lora_r: 16'
told 'adapters on q_proj, v_proj, the program.s default'
says trainer none "$axolotl" 'adapter:' 'lora_r: 8' 'lora_alpha: 16' \
    'lora_target_modules: [q_proj]'
says trainer '"adapter_rank": 16, "adapter_modules": \["query", "gate"\]' "$axolotl" \
    'adapter: lora' 'lora_r: 16' \
    "lora_target_modules: 'model.layers.[\\d]+.(mlp|self_attn).(gate|q)_proj'"
launch='torchrun --nproc_per_node 8 sft.py --per_device_train_batch_size 1 --bf16
--max_seq_length 64 --lora_r 16'
launch=$(echo $launch)
says trainer "$some, \"weight_bits\": 4" \
    "$launch --use_peft --load_in_4bit --lora_target_modules q_proj v_proj"
says trainer "$some" "$launch --lora_target '^model\.layers.*\.(q_proj|v_proj)\$'"
says trainer '"adapter_rank": 16, "adapter_modules": \["output", "gate", "qkv"\]' \
    "$launch --lora_target_modules attention.wqkv attention.wo feed_forward.w1"
swift='swift sft --model m --per_device_train_batch_size 1 --max_length 64 --torch_dtype bfloat16'
says trainer '"adapter_rank": 8' "$swift --tuner_type lora --target_modules all-linear"
says trainer none "$swift --tuner_type full --target_modules all-linear --lora_rank 8"
printf '%s\n' "$launch --lora_target_modules my_own" >"$work/in.sh"
refused_adapters() { # LINE ...: what stderr says of the file, which is refused
    "$plumbline" import trainer "$work/in.sh" --gpus 8 -o "$work/job.json" 2>"$work/err"
    [ $? -eq 2 ] || wrong "$1: not refused"
    told "$1"
}
refused_adapters 'in.sh: adapters: expected names of products (q_proj, linear_qkv), found my_own'
printf '%s\n' "$launch --lora_target_modules q_proj v_prj" >"$work/in.sh"
refused_adapters 'found v_prj; the nearest is v_proj'
printf '%s\n' "$launch --lora_target_modules q_proj lm_head" >"$work/in.sh"
refused_adapters 'expected products of blocks, found lm_head: no other is priced'
printf '%s\n' "$launch --use_peft --peft_layers_to_transform 3" >"$work/in.sh"
refused_adapters 'adapters on some layers alone'

verl='python3 -m verl.trainer.main_ppo data.train_batch_size=64 data.max_prompt_length=64
data.max_response_length=64 actor_rollout_ref.actor.ppo_mini_batch_size=64
actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 trainer.n_gpus_per_node=8 trainer.nnodes=1
actor_rollout_ref.model.lora_alpha=32 actor_rollout_ref.model.path=m'
verl=$(echo $verl) own=actor_rollout_ref.model
says rl '"adapter_rank": 16' "$verl $own.lora_rank=16 $own.target_modules=all-linear"
says rl "$some" "$verl $own.lora_rank=16 $own.target_modules=[q_proj,v_proj]"
says rl none "$verl $own.lora_rank=0 $own.target_modules=all-linear"
policy() { # of DTensor's section
    printf 'policy:\n  train_global_batch_size: 64\n  train_micro_batch_size: 2
  max_total_sequence_length: 64\n  dtensor_cfg:\n    enabled: true\n    lora_cfg: {%s, dim: 16}
  megatron_cfg: {enabled: false, peft: {enabled: false, dim: 8}}
cluster: {gpus_per_node: 8, num_nodes: 1}' "$1"
}
says rl "$some" "$(policy 'enabled: true, target_modules: [q_proj, v_proj]')"
says rl '"adapter_rank": 16' "$(policy 'enabled: true, target_modules: [], match_all_linear: true')"
says rl none "$(policy 'enabled: false, target_modules: [q_proj]')"

# Megatron Bridge's: the model has them. A matrix of a x b has adapters of rank x (a + b) values.
made() { # MODULES VALUES PEFT: four layers of hidden 64, 4 heads in 2 groups, gated ffn of 96
    printf 'model: {num_layers: 4, hidden_size: 64, num_attention_heads: 4, num_query_groups: 2,
  ffn_hidden_size: 96, seq_length: 64, add_bias_linear: false, gated_linear_unit: true,
  activation_func: silu}\ntrain: {micro_batch_size: 1, global_batch_size: 8}\n%s\n' "$3" \
        >"$work/in.yaml"
    "$plumbline" import nemo "$work/in.yaml" --gpus 8 --vocabulary 100 --precision bf16 \
        -o "$work/model.json" 2>"$work/err" || wrong "$3: $(cat "$work/err")"
    python3 - "$work/model.json" "$1" <<'END' || wrong "$3: another model"
import json, sys
runs, want = json.load(open(sys.argv[1]))["runs"], sys.argv[2]
adapters = [r.get("adapter_modules", ["all"]) for r in runs if r.get("adapter_rank", 0) > 0]
assert adapters == ([] if want == "none" else [want.split()]), runs
assert all(r.get("frozen", False) == (want != "none") for r in runs), runs
END
    values=$(sed -n 's/.*: \([0-9]*\) parameters$/\1/p' "$work/err")
    [ -n "${whole:-}" ] || whole=$values
    [ $((values - whole)) -eq "$2" ] || wrong "$3: $((values - whole)) values of adapters, not $2"
}
made none 0 'peft: null'
printf '%s\n' 'precision: bf16' >>"$work/in.yaml" # the activation's input in single bytes
sed -i 's/activation_func: silu/&, activation_func_fp8_input_store: true/' "$work/in.yaml"
"$plumbline" import nemo "$work/in.yaml" --gpus 8 --vocabulary 100 --precision bf16 \
    --job "$work/job.json" 2>"$work/err"
grep -q '"fp8_activation_input": true' "$work/job.json" || wrong "fp8_activation_input"
bridge='peft: {_target_: megatron.bridge.peft.lora.LoRA, dim: 16, alpha: 32'
made 'output qkv' $((4 * 16 * (64 + 64 + 64 + 128))) \
    "$bridge, target_modules: [linear_qkv, linear_proj]}"
made 'output down qkv gate_up' $((4 * 16 * (64 + 64 + 64 + 128 + 64 + 192 + 96 + 64))) "$bridge}"
told 'adapters on linear_qkv, linear_proj, linear_fc1, linear_fc2, the program.s default'
made all $((4 * 16 * (64 + 64 + 2 * (64 + 32) + 64 + 64 + 3 * (64 + 96)))) \
    'peft: {_target_: megatron.bridge.peft.canonical_lora.CanonicalLoRA, dim: 16}'
sed -i 's/hidden_size: 64/hidden_size: 64, num_moe_experts: 4, moe_router_topk: 2/' "$work/in.yaml"
"$plumbline" import nemo "$work/in.yaml" --gpus 8 --vocabulary 100 --precision bf16 \
    -o "$work/model.json" 2>"$work/err" && wrong "adapters of experts are not refused"
told 'in.yaml: adapters on experts are not priced: name products of attention alone'
flags='torchrun pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4
--seq-length 64 --max-position-embeddings 64 --micro-batch-size 1 --vocab-size 99 --bf16
--lora-r 16 --lora-target-modules linear_qkv linear_proj'
echo $flags >"$work/in.sh"
"$plumbline" import megatron "$work/in.sh" --gpus 8 -o "$work/model.json" 2>"$work/err" ||
    wrong "flags: $(cat "$work/err")"
grep -q '"adapter_modules": \["output", "qkv"\]' "$work/model.json" || wrong "flags: other adapters"

[ -e "$work/failed" ] && exit 1
echo "configurations of other programs: all as expected"

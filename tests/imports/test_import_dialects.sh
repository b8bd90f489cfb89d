#!/bin/sh
# torchtune's, litgpt's and LLM-Foundry's YAML; files of settings that launches name; classes on top
# of torchtitan's trainer.
set -u
name=test_import_dialects
. tests/imports/import.sh

# job FORMAT FILE ASSERTIONS [OPTION ...]: j, l: the job and its layout
job() {
    format=$1 file=$2 asserted=$3; shift 3
    "$plumbline" import "$format" "$work/$file" "$@" -o "$work/job.json" 2>"$work/err" || {
        wrong "$file: $(cat "$work/err")"; return
    }
    python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]
for a in sys.argv[2].split(";"): assert eval(a.strip()), (a, j)' "$work/job.json" "$asserted" \
        2>"$work/log" || wrong "$file: $(tail -1 "$work/log")"
}
no() { # FORMAT FILE WORDS [OPTION ...]
    format=$1 file=$2 words=$3; shift 3
    "$plumbline" import "$format" "$work/$file" "$@" -o "$work/no.json" 2>"$work/err"
    [ $? -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] || wrong "not refused: $words"
    told "$words"
}

llama="  _component_: torchtune.models.llama3_1.llama3_1_8b"
tune() { # LINES ...: a recipe of torchtune with these in place of its model's
    printf '%s\n' 'tokenizer:' '  _component_: torchtune.models.llama3.llama3_tokenizer' \
        '  max_seq_len: 4096' 'batch_size: 3' 'gradient_accumulation_steps: 5' 'dtype: bf16' \
        'enable_activation_checkpointing: True' 'optimizer:' '  _component_: torch.optim.AdamW' \
        '  lr: 1e-5' "$@" >"$work/tune.yaml"
}
tune model: "$llama"
job trainer tune.yaml "j['sequence']==4096;l['micro_batch']==3;l['data']==8;l['zero']==3;
    j['global_batch']==120;l['recompute']=='full'" --gpus 8
job trainer tune.yaml "j['state_bytes_per_value']==4;j['gradient_bytes_per_value']==2" --gpus 8
told 'weights, gradients and states in 16 bits alone'
told 'the model is llama3_1_8b'
tune model: '  _component_: torchtune.models.llama3_1.qlora_llama3_1_8b' '  lora_rank: 4' \
    '  lora_attn_modules: [q_proj, output_proj]' '  apply_lora_to_mlp: True' \
    'tensor_parallel_dim: 2'
job trainer tune.yaml "l['tensor']==2;l['data']==4" --gpus 8
told '"adapter_rank": 4, "adapter_modules": \["query", "output", "gate", "up", "down"\], "weight_b'
tune model: '  _component_: torchtune.models.llama3_1.lora_llama3_1_8b' '  lora_rank: 4' \
    '  lora_attn_modules: [q_proj]' '  apply_lora_to_output: True'
no trainer tune.yaml 'found lm_head: no other is priced' --gpus 8
tune model: "$llama" 'enable_activation_offloading: True'
no trainer tune.yaml 'activation-offloading: is not read: activations' --gpus 8
tune model: "$llama" 'loss:' \
    '  _component_: torchtune.rlhf.loss.DPOLoss'
no trainer tune.yaml 'loss._component_: .*DPOLoss: pairs' --gpus 8
tune model: "$llama" 'teacher_model:' '  x: 1'
no trainer tune.yaml 'teacher_model.x: is not read: pairs' --gpus 8
tune model: "$llama" 'sequence_parallel_dim: 2'
no trainer tune.yaml 'unknown, and by the name .*sequence_parallel_dim' --gpus 8
tune model: "$llama" \
    'fsdp_reshard_after_forward: False' 'data_parallel_shard_dim: -1'
job trainer tune.yaml "l['zero']==2" --gpus 8
sed -i 's/PagedAdamW//; s/torch.optim.AdamW/bitsandbytes.optim.PagedAdamW8bit/' "$work/tune.yaml"
job trainer tune.yaml "l['zero']==2 and j['state_bytes_per_value']==2" --gpus 8
sed -i 's/bitsandbytes.optim.PagedAdamW8bit/torch.optim.SGD/' "$work/tune.yaml"
job trainer tune.yaml "not j['adam']" --gpus 8
sed -i 's/  lr: 1e-5/&\n  momentum: 0.9/' "$work/tune.yaml"
job trainer tune.yaml "j['adam'];j['state_bytes_per_value']==2" --gpus 8
sed -i 's/dtype: bf16/dtype: fp32/' "$work/tune.yaml"
job trainer tune.yaml "j['precision']=='fp32';j['state_bytes_per_value']==4" --gpus 8
told 'optimizer torch.optim.SGD: one moment'
sed -i 's/momentum: 0.9/momentum: 0.0/' "$work/tune.yaml"
job trainer tune.yaml "not j['adam']" --gpus 8

lit() { # LINES ...
    printf '%s\n' 'precision: bf16-true' 'train:' '  global_batch_size: 48' \
        '  micro_batch_size: 2' '  max_seq_length: 1024' '  epochs: 1' "$@" >"$work/lit.yaml"
}
lit 'checkpoint_dir: checkpoints/some/model' 'devices: 4' 'num_nodes: 2'
job trainer lit.yaml "l['data']==8;j['global_batch']==48;l['zero']==3;l['recompute']=='full'"
told 'blocks recomputed, as litgpt'
job trainer lit.yaml "j['state_bytes_per_value']==4;j['gradient_bytes_per_value']==2"
sed -i s/bf16-true/bf16-mixed/ "$work/lit.yaml"
job trainer lit.yaml "'state_bytes_per_value' not in j;j['gradient_bytes_per_value']==4"
lit 'checkpoint_dir: x/y' 'devices: 1' 'lora_r: 8' 'lora_query: true' 'lora_key: false' \
    'lora_mlp: true' 'quantize: bnb.nf4'
job trainer lit.yaml "l['data']==1;l['zero']==0;l['recompute']=='none';j['precision']=='bf16'"
told '"adapter_modules": \["query", "gate", "up", "down"\], "weight_bits": 4'
lit 'model_name: pythia-1b' 'devices: 8'
job trainer lit.yaml "l['zero']==3;l['recompute']=='none'"
lit 'model_name: pythia-1b' 'devices: auto'
no trainer lit.yaml 'the number of GPUs is missing'
lit 'model_name: pythia-1b' 'devices: 5'
no trainer lit.yaml 'expected'

foundry() { # LINES ...
    printf '%s\n' 'variables:' '  length: 512' 'max_seq_len: ${variables.length}' \
        'global_train_batch_size: 64' 'precision: amp_bf16' 'optimizer:' \
        '  name: decoupled_adamw' 'max_duration: 10ba' 'model:' '  name: mpt_causal_lm' \
        '  d_model: 64' "$@" >"$work/foundry.yaml"
}
foundry 'device_train_microbatch_size: 4' 'fsdp_config:' '  sharding_strategy: SHARD_GRAD_OP' \
    '  activation_checkpointing: true'
job trainer foundry.yaml "j['sequence']==512;j['global_batch']==64;l['micro_batch']==4;
    l['zero']==2;l['recompute']=='full'" --gpus 8
told 'sizes are the section.s: mpt_causal_lm'
foundry 'device_train_microbatch_size: auto'
no trainer foundry.yaml 'the micro-batch is missing: give it with --micro-batch' --gpus 8
job trainer foundry.yaml "l['micro_batch']==2;l['zero']==0" --gpus 8 --micro-batch 2
foundry 'device_train_microbatch_size: 4' 'fsdp_config:' '  activation_cpu_offload: true'
no trainer foundry.yaml 'activations or layers on the host' --gpus 8

printf '%s\n' 'model:' '  d_model: 64' '  max_sequence_length: 256' 'optimizer:' '  name: adamw' \
    'fsdp:' '  precision: mixed' 'global_train_batch_size: 32' 'device_train_microbatch_size: 2' \
    'precision: amp_bf16' 'evaluators:' '  - label: a' '  - label: b' >"$work/olmo.yaml"
job trainer olmo.yaml "j['sequence']==256;l['zero']==3;l['micro_batch']==2;j['global_batch']==32" \
    --gpus 8
echo 'activation_checkpointing: whole_layer' >>"$work/olmo.yaml"
job trainer olmo.yaml "l['recompute']=='full'" --gpus 8
sed -i 's/whole_layer/one_in_two/' "$work/olmo.yaml"
no trainer olmo.yaml 'one_in_two: which layers are recomputed' --gpus 8

# ---- files of settings that launches name, under what the command states
mkdir -p "$work/conf"
printf 'model_name_or_path: m\nper_device_train_batch_size: 2\ncutoff_len: 512\nbf16: true\n' \
    >"$work/conf/sft.yaml"
launches() { printf '%s\n' "$@" >"$work/launch.sh"; }
launches 'torchrun --nproc_per_node 4 --nnodes 2 src/train.py conf/sft.yaml \' \
    '  gradient_accumulation_steps=3 cutoff_len=1024'
job trainer launch.sh "l['data']==8;j['sequence']==1024;j['global_batch']==48;
    l['micro_batch']==2"
told 'settings of conf/sft.yaml, which the launch names'
launches 'accelerate launch --config_file zero2.yaml --num_processes 4 sft.py --config \' \
    'conf/sft.yaml --per_device_train_batch_size 6'
job trainer launch.sh "l['data']==4;l['micro_batch']==6;l['zero']==2"
launches 'llamafactory-cli train conf/sft.yaml'
job trainer launch.sh "l['data']==2" --gpus 2
launches 'llamafactory-cli train conf/other.yaml' 'llamafactory-cli export conf/sft.yaml'
no trainer launch.sh 'line 1: the settings are in conf/other.yaml, which is not here'
sed 's/: 2/: 4/' "$work/conf/sft.yaml" >"$work/conf/more.yaml"
launches 'llamafactory-cli train conf/sft.yaml' 'llamafactory-cli train conf/more.yaml'
no trainer launch.sh '2 launches that differ.*conf/more.yaml.*choose one' --gpus 2
job trainer launch.sh "l['micro_batch']==4" --gpus 2 --launch 2
launches 'python watch.py --config conf/sft.yaml' 'torchrun --nproc_per_node 2 train.py \' \
    '--per_device_train_batch_size 1 --gradient_accumulation_steps 2 --cutoff_len 64'
job trainer launch.sh "l['micro_batch']==1;l['data']==2"

launches 'torchrun --nproc_per_node=8 main_training_llama.py --model_variant=llama2_7b \' \
    '--fsdp_activation_checkpointing=True --selective_checkpointing=1 --batch_size=4 \' \
    '--low_cpu_fsdp=True'
job trainer launch.sh "j['sequence']==4096;l['micro_batch']==4;l['zero']==3;
    l['recompute']=='full';'data_shard' not in l"
told 'max-seq-length 4096, the program.s own'
sed -i 's/--nproc_per_node=8/--nnodes=4 &/' "$work/launch.sh"
job trainer launch.sh "l['data']==32;l['zero']==3;l['data_shard']==8"
told 'hybrid_shard: states are sharded over the 8 data ranks of a node'
sed -i 's/selective_checkpointing=1/selective_checkpointing=0.5/' "$work/launch.sh"
no trainer launch.sh 'selective-checkpointing: is not read: which layers'
sed -i 's/=0.5/=1 --sharding_strategy=ddp/; s/ing=True/ing=False/' "$work/launch.sh"
job trainer launch.sh "l['zero']==0"

# ---- what was read in silence before
launches 'megatron sft --micro_batch_size 1 --max_length 64 --recompute_granularity full'
no trainer launch.sh 'import megatron reads it' --gpus 2
launches 'deepspeed main.py --per_device_train_batch_size 4 --max_seq_len 512 --zero_stage 2 \' \
    '--gradient_accumulation_steps 1 --num_padding_at_beginning 1'
no trainer launch.sh 'num-padding-at-beginning: is not read: pairs' --gpus 2
launches 'deepspeed openrlhf.py --per_device_train_batch_size 4 --max_seq_len 512 --zero_stage 2'
sed -i 's/$/ --zpg 4 --gradient_accumulation_steps 2/' "$work/launch.sh"
no trainer launch.sh 'weights sharded within a part' --gpus 8
printf 'per_device_train_batch_size: 2\ncutoff_len: 512\nmoe_settings:\n  experts: 4\n' \
    >"$work/conf/own.yaml"
no trainer conf/own.yaml 'unknown, and by the name .*--moe-settings' --gpus 8
printf 'from torchtitan.models.llama3 import model_registry\n
def own() -> OwnTrainer.Config:\n    return OwnTrainer.Config(
        model_spec=model_registry("8B"), training=TrainingConfig(local_batch_size=3))\n
def picture() -> FluxTrainer.Config:\n    return FluxTrainer.Config(
        model_spec=model_registry("flux-dev"), training=TrainingConfig(local_batch_size=3))\n' \
    >"$work/own.py"
job torchtitan own.py "l['micro_batch']==3;l['data']==8" --config own --gpus 8
told 'OwnTrainer: what it does beyond'
no torchtitan own.py 'FluxTrainer trains a diffusion model' --config picture --gpus 8
verl='python3 -m verl.trainer.main_ppo data.max_prompt_length=512 data.max_response_length=1536
    actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.rollout.n=4
    trainer.n_gpus_per_node=8 trainer.nnodes=1'
launches "$(echo $verl) actor_rollout_ref.actor.use_dynamic_bsz=True"
job rl launch.sh "l['micro_batch']==8;j['sequence']==2048"
told 'micro-batches of 8 whole sequences, of 16384 tokens'
verl="$(echo $verl) actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2"
launches "$verl actor_rollout_ref.actor.strategy=veomni"
no rl launch.sh 'expected fsdp, fsdp2 or megatron, found "veomni"'
launches "$verl actor_rollout_ref.actor.optim.optimizer=AdamW8bit"
no rl launch.sh 'other states than Adam.s'
printf 'trainer: {devices: 8, num_nodes: 1, precision: bf16}
model: {num_layers: 2, hidden_size: 64, num_attention_heads: 4, encoder_seq_length: 64, bias: false,
  micro_batch_size: 1, override_vocab_size: 99, qkv_bias: true}\n' >"$work/nemo.yaml"
"$plumbline" import nemo "$work/nemo.yaml" -o "$work/model.json" 2>"$work/err" ||
    wrong "qkv_bias: $(cat "$work/err")"
grep -q '"qkv_bias": true' "$work/model.json" || wrong "qkv_bias is not read"
printf 'base_model: m\nbatch_size: 4\nmax_length: 64\n' >"$work/conf/other.yaml"
no trainer conf/other.yaml 'expected per_device_train_batch_size, found none' --gpus 2
printf 'optimizer:\n  lr: 1\nmodel:\n  width: 4\n' >"$work/conf/other.yaml"
no trainer conf/other.yaml 'no setting that import trainer reads'
printf '%s\n' '[1,0]<stdout>: gpus' 'model_name_or_path: x' >"$work/conf/printed.yaml" # no name
no trainer conf/printed.yaml 'expected per_device_train_batch_size, found none'
printf '[model]\nname = "llama3"\nflavor = "8B"\nconverters = "float8"\n' >"$work/old.toml"
job torchtitan old.toml "j['precision']=='fp8'" --gpus 8
printf '%s\n' 'language_model:' '  num_layers: 4' '  hidden_size: 64' '  num_attention_heads: 4' \
    '  activation_func: swiglu' '  add_bias_linear: False' '  ffn_hidden_size: 96' \
    'model_parallel:' '  tensor_model_parallel_size: 2' '  bf16: True' 'micro_batch_size: 1' \
    'seq_length: 64' 'max_position_embeddings: 64' >"$work/core.yaml"
"$plumbline" import megatron "$work/core.yaml" --gpus 8 --vocabulary 128 -o "$work/job.json" \
    --job "$work/core.json" 2>"$work/err" || wrong "Megatron's own YAML: $(cat "$work/err")"
python3 -c 'import json, sys
m, j = (json.load(open(p)) for p in sys.argv[1:])
assert j["layout"]["tensor"] == 2 and j["precision"] == "bf16", j
assert m["shape"]["gated_ffn"] and not m["shape"]["linear_bias"], m' \
    "$work/job.json" "$work/core.json" || wrong "Megatron's own YAML"
launches 'set -e' 'torchrun run_train.py --config-file conf/sft.yaml'
no nanotron launch.sh 'none of its 4 settings, such as bf16, is one that import nanotron reads'
launches 'set -e' 'torchrun run_train.py --config-file conf/none.yaml'
no nanotron launch.sh 'line 2: the settings are in conf/none.yaml, which is not here'

# ---- a launch at the door of the file that it names
mkdir -p "$work/train"
printf '%s\n' '[model]' 'name = "llama3"' 'flavor = "8B"' '[training]' 'local_batch_size = 2' \
    'seq_len = 1024' >"$work/train/small.toml"
launches 'CONFIG=${CONFIG:-"./train/small.toml"}' 'NGPU=${NGPU:-"4"}' \
    'torchrun --nproc_per_node=${NGPU} --nnodes 2 -m torchtitan.train \' \
    '  --job.config_file ${CONFIG} --training.seq-len 2048 --parallelism.tensor_parallel_degree=2'
job torchtitan launch.sh "l['data']==4;l['tensor']==2;j['sequence']==2048;l['micro_batch']==2"
told '8 GPUs, as the launch has them'
job torchtitan launch.sh "l['data']==8" --set NGPU=8
job torchtitan launch.sh "l['data']==16" --gpus 32
no torchtitan launch.sh 'line 3: the settings are in other.toml' --set CONFIG=other.toml
launches 'torchrun --nproc_per_node=8 -m torchtitan.train --training.seq_len 8'
no torchtitan launch.sh 'no launch of it names a file of settings'
launches 'CONFIG=${CONFIG:-small}' 'torchrun --nproc_per_node=8 -m torchtitan.train \' \
    '  --module llama3 --config ${CONFIG} --training.local_batch_size 5'
no torchtitan launch.sh 'the settings are the function small of torchtitan.s llama3'
mkdir -p "$work/torchtitan/models/llama3"
printf 'from . import model_registry\n\ndef small() -> Trainer.Config:\n    return Trainer.Config(
        model_spec=model_registry("8B"), training=TrainingConfig(local_batch_size=3))\n
def none() -> Trainer.Config:\n    return Trainer.Config()\n' \
    >"$work/torchtitan/models/llama3/config_registry.py"
job torchtitan launch.sh "l['micro_batch']==5;l['data']==8"
no torchtitan launch.sh 'has no function other' --set CONFIG=other
printf '%s\n' 'pipe_parallel_size: 1' 'model_parallel_size: 2' 'num_layers: 4' 'hidden_size: 64' \
    'num_attention_heads: 4' 'seq_length: 64' 'max_position_embeddings: 64' \
    'train_micro_batch_size_per_gpu: 3' >"$work/train/neox.yml"
launches 'python deepy.py train.py train/neox.yml'
"$plumbline" import megatron "$work/launch.sh" --gpus 8 --job "$work/job.json" 2>"$work/err" ||
    wrong "a launch of GPT-NeoX: $(cat "$work/err")"
grep -q '"micro_batch": 3' "$work/job.json" || wrong "a launch of GPT-NeoX is not read"
told 'settings of train/neox.yml, which the launch names'
launches '[ -z "$EXP" ] && exit 1' 'torchrun --nproc_per_node 8 primus/train.py --config $EXP'
no megatron launch.sh 'line 2 launches primus/train.py .*--config ${EXP}; not set: EXP'

mkdir -p "$work/primus/configs/models/megatron" "$work/examples"
(cd "$work/primus/configs/models/megatron" && printf 'num_layers: 9\nhidden_size: 64
swiglu: true\nadd_bias_linear: false\n' >base.yaml && printf 'bases:\n  - base.yaml
num_layers: 4\nnum_attention_heads: 4\nffn_hidden_size: 96\n' >small.yaml)
printf '%s\n' 'modules:' '  pre_trainer:' '    framework: megatron' '    config: pre_trainer.yaml' \
    '    model: ${SIZE:small}.yaml' '    overrides:' '      ffn_hidden_size: 128' \
    '      seq_length: 64' '      max_position_embeddings: 64' '      micro_batch_size: 1' \
    '      tensor_model_parallel_size: 2' >"$work/examples/run.yaml"
primus() { # WORDS OPTION ...
    words=$1; shift
    "$plumbline" import megatron "$work/examples/run.yaml" --gpus 4 --vocabulary 128 \
        -o "$work/model.json" --job "$work/job.json" "$@" 2>"$work/err"
    told "$words"
}
primus 'the model of primus/configs/models/megatron/small.yaml'
python3 -c 'import json, sys
m = json.load(open(sys.argv[1])); s = m["shape"]
assert s["ffn"] == 128 and s["hidden"] == 64 and s["gated_ffn"], s
assert sum(r.get("count", 1) for r in m["runs"] if r["kind"] == "block") == 4, m["runs"]' \
    "$work/model.json" 2>"$work/log" || wrong "Primus's model: $(tail -1 "$work/log")"
primus 'sizes are not here.*what is not here is in ${SIZE:small}.yaml' --set SIZE=other
# bases again, and those that name themselves
cp "$work/model.json" "$work/once.json"
(cd "$work/primus/configs/models/megatron" && sed 's/.*base.yaml/&\n&/' small.yaml >twice.yaml
{ cat small.yaml; echo extends:; yes '  - itself.yaml' | head -40; } >itself.yaml)
primus 'megatron/twice.yaml' --set SIZE=twice
cmp -s "$work/model.json" "$work/once.json" || wrong "Primus's model: a base that is named twice"
primus 'sizes are not here' --set SIZE=itself
printf 'model = dict(num_layers=4)\n' >"$work/intern.py"
no trainer intern.py "expected XTuner's configuration in Python, found another program's"

# ---- what launchers and files beside them say
# files that are no settings, and a launch of itself
truncate -s 400M "$work/large.yaml" && mkdir "$work/folder.yaml" && mkfifo "$work/pipe.yaml"
for file in large folder pipe; do
    launches "torchrun --nproc-per-node 8 train.py --config $file.yaml"
    case $BIN in *asan*) limit=unlimited ;; *) limit=300000 ;; esac # KiB
    (ulimit -v $limit; "$plumbline" import nanotron "$work/launch.sh" 2>"$work/err")
    [ $? -eq 2 ] || wrong "$file: $(cat "$work/err")"
    case $file in large) told 'large.yaml, which is larger than 256 KiB' ;; *)
        told "the settings are in $file.yaml, which is not here" ;;
    esac
done
launches 'bash launch.sh' 'bash launch.sh'
no trainer launch.sh 'the script does more than is followed'
yes '#' | head -125000 >"$work/long.yaml"
launches "$(yes 'accelerate launch --config_file long.yaml train.py' | head -100)"
no trainer launch.sh 'the script does more than is followed'
launches 'swift rlhf --rlhf_type grpo --model m --tuner_type lora --external_plugins own.py \' \
    '--max_length 512 --per_device_train_batch_size 1 --deepspeed zero3'
job trainer launch.sh "j['sequence']==1024;l['zero']==3" --gpus 8
told '"adapter_rank": 8' # what stands before a file in Python was lost
launches 'srun --nodes=1 --gpus-per-node=3 deepspeed train.py --max_seq_len 64 \' \
    '--per_device_train_batch_size 2 --deepspeed zero.json'
printf '{"zero_optimization": {"stage": 1}}\n' >"$work/zero.json"
job trainer launch.sh "l['data']==3;l['zero']==1"
told 'ZeRO 1, as .*zero.json says'
launches 'deepspeed --num_gpus 2 train.py --max_seq_len 64 --per_device_train_batch_size 2 \' \
    '--deepspeed zero3.json'
printf '{"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}\n' \
    >"$work/zero3.json" # whatever its name is
job trainer launch.sh "l['zero']==2;l['offload_optimizer']"
own='--per_device_train_batch_size 1 --max_seq_length 64 --bf16'
launches "accelerate launch --config_file own.yaml train.py $own"
printf '%s\n' 'distributed_type: FSDP' 'num_processes: 4' 'fsdp_config:' \
    '  fsdp_sharding_strategy: SHARD_GRAD_OP' '  fsdp_offload_params: true' >"$work/own.yaml"
job trainer launch.sh "l['data']==4;l['zero']==2;l['offload_optimizer']"
printf '%s\n' 'distributed_type: DEEPSPEED' 'num_processes: 2' 'deepspeed_config:' \
    '  zero_stage: 3' '  offload_optimizer_device: cpu' >"$work/own.yaml"
job trainer launch.sh "l['data']==2;l['zero']==3;l['offload_optimizer'];j['trainer']=='deepspeed'"
printf '%s\n' 'distributed_type: MULTI_GPU' 'num_processes: 8' >"$work/own.yaml"
job trainer launch.sh "l['data']==8;l['zero']==0;j['gradient_bytes_per_value']==4"
launches "accelerate launch --config_file own.yaml train.py $own --torch_dtype bfloat16"
job trainer launch.sh "j['state_bytes_per_value']==4;j['gradient_bytes_per_value']==2"
launches "accelerate launch --config_file own.yaml train.py $own --optim lion_32bit"
job trainer launch.sh "j['state_bytes_per_value']==8"
told 'optimizer lion_32bit: one moment, next to weights in fp32'
launches "accelerate launch --config_file own.yaml train.py $own --optim adafactor"
job trainer launch.sh "j['state_bytes_per_value']==4"
launches "accelerate launch --config_file own.yaml train.py $own --optim paged_lion_8bit"
job trainer launch.sh "j['state_bytes_per_value']==5"
launches 'cat >run <<EOF' 'torchrun --nproc_per_node 2 train.py --per_device_train_batch_size 1 \' \
    '  --max_seq_length 64 --bf16' 'EOF' 'sbatch run'
job trainer launch.sh "l['data']==2"

# ---- optimizers of Megatron-LM and DeepSpeed
core="torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 --bf16
    --num-attention-heads 4 --seq-length 64 --max-position-embeddings 64 --micro-batch-size 1
    --vocab-size 99"
of_core() { # FLAGS ASSERTION
    launches "$(echo $core) $1"
    "$plumbline" import megatron "$work/launch.sh" --job "$work/core.json" 2>"$work/err" ||
        wrong "$1: $(cat "$work/err")"
    python3 -c "import json; j = json.load(open('$work/core.json')); assert $2, j" 2>"$work/log" ||
        wrong "$1: $(tail -1 "$work/log")"
}
of_core '--optimizer sgd' "j['state_bytes_per_value'] == 8"
of_core '--optimizer sgd --sgd-momentum 0' "not j['adam']"
of_core '--optimizer muon' "j['state_bytes_per_value'] == 8"
told 'the optimizer muon: one moment'
of_core '--exp-avg-dtype fp32' "j.get('state_bytes_per_value') is None"
launches "$(echo $core) --exp-avg-dtype bf16"
"$plumbline" import megatron "$work/launch.sh" --job "$work/no.json" 2>"$work/err" &&
    wrong 'narrow moments without their flag are read'
told '--exp-avg-dtype bf16: Megatron-LM takes other types'
for of in SGD:4 Lion:8 Adagrad:8 Adafactor:4; do
    printf '{"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true}, "optimizer": {"type":
        "%s"}}\n' "${of%:*}" >"$work/ds.json"
    job deepspeed ds.json "j['state_bytes_per_value']==${of#*:}" --gpus 8 --sequence 64
done

[ -e "$work/failed" ] && exit 1
echo "$name: all as expected"

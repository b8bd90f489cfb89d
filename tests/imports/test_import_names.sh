#!/bin/sh
# Names of settings of NeMo, Megatron Bridge, DeepSpeed, nanotron and Trainer: known ones are read,
# harmless, or refused with what to do, unknown ones are said with the nearest; recipes by name.
name=test_import_names
. tests/imports/import.sh

# a recipe by its name: its settings, those of the overrides above them, and the shipped model
printf '#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\nsrun python run_recipe.py \\
    --recipe llama31_70b_pretrain_config train.global_batch_size=64\n' >"$work/in.sh"
"$plumbline" import nemo "$work/in.sh" --job "$work/job.json" -o "$work/model.json" 2>"$work/err" ||
    wrong "recipe: $(cat "$work/err")"
python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]
assert (l["tensor"], l["pipeline"], l["context"], l["virtual_stages"], l["data"], l["zero"]) == \
    (4, 4, 2, 5, 1, 1) and (j["sequence"], j["global_batch"], j["precision"]) == \
    (131072, 64, "bf16"), j
assert json.load(open(sys.argv[2]))["runs"][1]["count"] == 80' "$work/job.json" \
    "$work/model.json" || wrong "recipe: another job or model"
told '70553706496 parameters'
sed -i 's/llama31_70b_pretrain/llama31_70b_pretran/' "$work/in.sh"
"$plumbline" import nemo "$work/in.sh" --sequence 512 --micro-batch 1 --job "$work/job.json" \
    2>"$work/err" || wrong "unknown recipe: $(cat "$work/err")"
told 'which has no row here (the nearest is llama31_70b_pretrain'

# names of each framework: known ones are harmless, others are said with the nearest, and what a job
# cannot state is refused by name
unknown() { # WORDS KIND EXTRA LINE ...: the line is added to the file
    words=$1 kind=$2 extra=$3; shift 3
    printf '%s\n' "$@" >>"$work/in.yaml"
    "$plumbline" import "$kind" "$work/in.yaml" $extra >"$work/out" 2>"$work/err"
    told "$words"
}
echo 'cutoff_len: 2048
per_device_train_batch_size: 1
bf16: true
save_total_limit: 3
galore_rank: 8' >"$work/in.yaml"
unknown '--gradient-checkpoint (did you mean --gradient-checkpointing?): --ignore' trainer \
    '--gpus 8' 'gradient_checkpoint: true'
unknown '--gradient-checkpoint changes nothing, as --ignore says' trainer \
    '--gpus 8 --ignore gradient-checkpoint' 'logging_stepps: 5'
told '--logging-stepps is unknown and left out; did you mean --logging-steps?'
told 'ignored (harmless): --save-total-limit, --galore-rank'
sed -i /gradient/d "$work/in.yaml"
unknown 'assumed: .*adapters of rank 8, the program.s default; adapters on all' trainer '--gpus 8' \
    'finetuning_type: lora'
unknown '--stage: is not read: pairs, rewards or another model' trainer '--gpus 8' 'stage: ppo'
echo 'cutoff_len: 2048
per_device_train_batch_size: 1' >"$work/in.yaml"
unknown '--optim: apollo_adamw has other states' trainer '--gpus 8' 'optim: apollo_adamw'
sed -i /optim/d "$work/in.yaml"
unknown '--beta: is not read: pairs, rewards or another model' trainer '--gpus 8' 'beta: 0.01'
echo 'model: {num_layers: 4, hidden_size: 64, num_attention_heads: 4, seq_length: 64,
  micro_batch_size: 1, global_batch_size: 8, apply_rope_fusion: true,
  tensor_model_paralel_size: 2, optim: {tensor_model_parallel_size: 4}}' >"$work/in.yaml"
unknown 'states: .*paralel_size (did you mean model.tensor_model_parallel' \
    nemo "--gpus 8 --vocabulary 100 --precision bf16 --job $work/job.json" 'exp_manager: {name: x}'
told 'model.optim.tensor_model_parallel_size (did you mean .*: --ignore NAME'
sed -i 's/  tensor_model_paralel.*/}/' "$work/in.yaml"
unknown 'read: ' nemo "--gpus 8 --vocabulary 100 --precision bf16 --job $work/job.json"
told 'ignored (harmless): model.apply_rope_fusion, exp_manager'
unknown 'model.expert_gtp_weight_remat_size: is not read: weights sharded once more' nemo \
    "--gpus 8 --vocabulary 100 --precision bf16 --job $work/job.json" \
    'model.expert_gtp_weight_remat_size: 2'
echo '{"train_batch_size": 8, "train_micro_batch_size_per_gpu": 1, "wall_clock_breakdown": false,
"zero_optimization": {"stage": 2, "reduce_bucket_sizes": 5, "reduce_scatter": true}}' \
    >"$work/in.yaml"
unknown 'reduce_bucket_sizes is unknown and left out; did you mean .*reduce_bucket_size' deepspeed \
    '--gpus 8 --sequence 512'
told 'ignored (harmless): wall_clock_breakdown, zero_optimization.reduce_scatter'

# beside a tower for images the sequence is the decoder's; without one it is the encoder's
tower() {
    echo "torchrun --nproc-per-node 8 train.py --seq-length 256 --decoder-seq-length 4096 $* \
        --micro-batch-size 1 --global-batch-size 8 --bf16 --num-layers 2 --hidden-size 64 \
        --num-attention-heads 4 --packing-seq-length 4096" >"$work/in.sh"
    "$plumbline" import megatron "$work/in.sh" --job "$work/job.json" 2>"$work/err" ||
        wrong "tower: $(cat "$work/err")"
}
tower --language-model-type=llama3_8b && grep -q '"sequence": 4096' "$work/job.json" ||
    wrong "the tower's sequence was taken"
told 'a sequence has --decoder-seq-length.s 4096 tokens'
tower && grep -q '"sequence": 256' "$work/job.json" || wrong "another sequence without a tower"

# a script of Trainer's: DeepSpeed's own file says the stage, adapters and attention are said
mkdir -p "$work/scripts" "$work/configs"
echo 'deepspeed train.py --deepspeed configs/my.json --per_device_train_batch_size 2 --bf16 True \
    --max_seq_length 2048 --lora_r 8 --use_flash_attention_2 True' >"$work/scripts/t.sh"
stage() { # JSON KEYS: the file, and the words that the job must have
    echo "$1" >"$work/configs/my.json"; shift
    "$plumbline" import trainer "$work/scripts/t.sh" --gpus 8 >"$work/out" 2>"$work/err" ||
        wrong "stage: $(cat "$work/err")"
    for words in "$@"; do grep -q "$words" "$work/out" || wrong "stage: no $words"; done
}
stage '{"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}}}' '"zero": 3' \
    '"offload_optimizer": true'
told 'ZeRO 3 with the optimizer on the host, as .*configs/my.json says'
stage '{"zero_optimization": {"stage": 2}}' '"zero": 2' '"offload_optimizer": false'
told 'write "frozen": true, "adapter_rank": 8, "adapter_modules": ..query", "value".'
stage '{"zero_optimization": {}}' '"zero": 0' # DeepSpeedZeroConfig's default
echo '{"zero_optimization": {"stage": ""}}' >"$work/configs/my.json"
"$plumbline" import trainer "$work/scripts/t.sh" --gpus 8 2>"$work/err" && wrong "no stage is read"
told 'the ZeRO stage is stated in'

# NxD Training: its names of biases and experts; a manual precision is several keys together
neuron() { # TYPE OF PRECISION
    printf 'trainer: {devices: 8, num_nodes: 1}\nprecision: {type: %s, master_weights: false}\n' $1
    echo 'data: {micro_batch_size: 1, global_batch_size: 8, seq_length: 64}
model: {num_layers: 2, hidden_size: 64, ffn_hidden_size: 128, num_attention_heads: 4,
  normalization: rmsnorm, activation: swiglu, position_embedding_type: rope, has_bias: false,
  share_embeddings_and_output_weights: false, moe: {num_experts: 4, top_k: 2, dropless: true}}'
}
neuron mixed_precision >"$work/nxd.yaml"
"$plumbline" import nemo "$work/nxd.yaml" --vocabulary 100 -o "$work/out" --job /dev/null \
    2>"$work/err" || wrong "NxD Training: $(cat "$work/err")"
# 2 x 100 x 64 + 2 (4 x 64^2 + 4 x 64 + 4 x 3 x 64 x 128 + 2 x 64) + 64
told "$((12800 + 2 * (16384 + 256 + 98304 + 128) + 64)) parameters"
neuron manual >"$work/nxd.yaml"
"$plumbline" import nemo "$work/nxd.yaml" --job /dev/null 2>"$work/err" && wrong "manual is read"
told 'precision.type: manual is not read'

# Megatron-DeepSpeed: DeepSpeed's own file decides; where it is not there, that is said
echo 'deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 4 --hidden-size 64 \
    --num-attention-heads 4 --seq-length 64 --micro-batch-size 1 --vocab-size 100 --deepspeed \
    --zero-stage 3 \
    --deepspeed_config configs/my.json' >"$work/scripts/m.sh"
megatron() { # WORDS OF THE JOB
    "$plumbline" import megatron "$work/scripts/m.sh" -o /dev/null --job "$work/out" \
        2>"$work/err" || wrong "stage: $(cat "$work/err")"
    grep -q "$1" "$work/out" || wrong "Megatron-DeepSpeed: no $1"
}
echo '{"zero_optimization": {"stage": 1}}' >"$work/configs/my.json"
megatron '"zero": 1'
told 'ZeRO 1, as .*configs/my.json says'
rm "$work/configs/my.json"
megatron '"zero": 3'
sed -i 's/--zero-stage 3//' "$work/scripts/m.sh"
megatron '"zero": 0'
told "ZeRO 0: DeepSpeed's configuration, configs/my.json, is not there"

# ms-swift: an update of the policy alone (GRPO) has a prompt and its answer, other models, pairs
# and heads are refused; its Megatron has other defaults than Megatron-LM
swift() { # DOOR WORDS OF THE LAUNCH ...
    door=$1; shift
    echo "NPROC_PER_NODE=8 $*" >"$work/in.sh"
    out=-o; [ "$door" = megatron ] && out=--job
    "$plumbline" import "$door" "$work/in.sh" $out "$work/job.json" 2>"$work/err"
}
mega='megatron sft --model Qwen/Qwen3-8B --max_length 1024 --tensor_model_parallel_size 4'
swift megatron "$mega --tuner_type lora --freeze_vit true --merge_lora false" ||
    wrong "swift: $(cat "$work/err")"
told 'write "frozen": true, "adapter_rank": 8, "adapter_modules": ..output", "down", "qkv"'
python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]
assert (l["zero"], l["micro_batch"], j["recompute"], j["global_batch"], j["fused_loss"],
        j["sequence"]) == (1, 1, ["none", "selective"], 16, True, 1024), j' "$work/job.json" ||
    wrong "swift: other defaults"
plainmega="$mega --pipeline_model_parallel_size 2"
mega=$(echo "$mega" | sed 's/sft/rlhf/')
swift megatron "$mega --rlhf_type grpo --max_completion_length 3072 --num_generations 8 \
    --reward_funcs accuracy --offload_model true --vllm_mode colocate --some_new 2" ||
    wrong "swift: $(cat "$work/err")"
grep -q '"sequence": 4096' "$work/job.json" || wrong "swift: another sequence of GRPO's"
told 'an update of the policy alone'
swift megatron "$mega --rlhf_type dpo --beta 0.1" && wrong "swift: DPO is read"
told '--rlhf-type: is not read: pairs, rewards'
swift megatron "$mega --task_type seq_cls" && wrong "swift: another head is read"
told '--task-type: is not read'
plain='--model Qwen/Qwen3-8B --per_device_train_batch_size 4 --max_length 512'
swift trainer "swift rlhf --rlhf_type grpo $plain --num_generations 8 --beta 0.04 \
    --reward_weights 1" || wrong "swift: $(cat "$work/err")"
grep -q '"sequence": 1024' "$work/job.json" || wrong "swift: another sequence of Trainer's GRPO"
swift trainer "swift rlhf --rlhf_type gkd $plain" && wrong "swift: a teacher is read"
told '--rlhf-type: is not read'
swift trainer "swift sft --task_type reranker $plain" && wrong "swift: a reranker is read"
told '--task-type: is not read'

swift megatron "$plainmega --decoder_first_pipeline_num_layers 3" ||
    wrong "swift: $(cat "$work/err")"
python3 -c 'import json, sys
rules = json.load(open(sys.argv[1]))["rules"]
assert [(r["stage"], r["layers_max"]) for r in rules] == [(0, 4)], rules' "$work/job.json" ||
    wrong "swift: not the layers of the first stage alone"

# MindSpeed-LLM: layers of each stage, experts over tensor ranks, a gated unit; the vocabulary by
# the tokenizer's name
echo 'torchrun --nproc-per-node 8 pretrain_gpt.py --seq-length 256 --micro-batch-size 1 --bf16 \
    --global-batch-size 8 --num-layers 5 --hidden-size 64 --num-attention-heads 4 --gelu-tanh \
    --ffn-hidden-size 128 --pipeline-model-parallel-size 2 --num-layer-list 2,3 \
    --tensor-model-parallel-size 2 --num-experts 4 --expert-model-parallel-size 2 \
    --moe-tp-extend-ep --sequence-parallel \
    --tokenizer-name-or-path /models/Qwen2.5-7B-Instruct' >"$work/in.sh"
"$plumbline" import megatron "$work/in.sh" --job "$work/job.json" -o "$work/model.json" \
    2>"$work/err" || wrong "MindSpeed: $(cat "$work/err")"
python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]; m = json.load(open(sys.argv[2]))["shape"]
assert (l["expert"], l["expert_tensor"]) == (4, 1), l
assert [r["layers_max"] for r in j["rules"]] == [3, 4], j["rules"]
assert (m["vocabulary"], m["gated_ffn"], m["activation"]) == (152064, True, "gelu"), m' \
    "$work/job.json" "$work/model.json" || wrong "MindSpeed: another job or model"
told 'a vocabulary of 152064, as tokenizer-name-or-path /models/Qwen2.5-7B-Instruct has it'
sed -i 's/2,3/2,2/' "$work/in.sh"
"$plumbline" import megatron "$work/in.sh" --job "$work/no.json" 2>"$work/err" &&
    wrong "a list of other layers is read"
told '--num-layer-list: expected the layers of each of 2 stages, 5 in all'
sed -i 's/--num-layer-list 2,2//; s/--num-layers 5 --hidden-size 64 --num-attention-heads 4//
    s/--ffn-hidden-size/--hf-checkpoint \/root\/Qwen3-8B\/ --ffn-hidden-size/' "$work/in.sh"
"$plumbline" import megatron "$work/in.sh" -o "$work/model.json" 2>"$work/err" ||
    wrong "a model by name: $(cat "$work/err")"
told 'the model is the shipped qwen3-8b'

sed -i 's/--gelu-tanh/--gelu-tanh --stage dpo/' "$work/in.sh"
"$plumbline" import megatron "$work/in.sh" --job "$work/no.json" 2>"$work/err" &&
    wrong "MindSpeed: pairs are read"
told '--stage: is not read: pairs'

# slime's tuning: tokens of a sequence as asked, as many sequences at once as fit
echo 'python3 train_async.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 --num-layers 2 \
    --hidden-size 64 --num-attention-heads 4 --global-batch-size 64 --rollout-batch-size 64 \
    --use-dynamic-batch-size --max-tokens-per-gpu 1024 --vocab-size 512' >"$work/in.sh"
"$plumbline" import megatron "$work/in.sh" --sequence 256 --job "$work/job.json" 2>"$work/err" ||
    wrong "slime: $(cat "$work/err")"
told 'every sequence is of 256 tokens, an answer of full length, 4 in a micro-batch'

# deepspeed's own list of GPUs
echo 'deepspeed --include a:0,1,2@b:0,1,2 train.py --deepspeed --zero_stage 2 --bf16 \
    --per_device_train_batch_size 2 --max_seq_length 512' >"$work/in.sh"
"$plumbline" import trainer "$work/in.sh" -o "$work/job.json" 2>"$work/err" ||
    wrong "include: $(cat "$work/err")"
grep -q '"data": 6' "$work/job.json" || wrong "include: another number of GPUs"
sed 's/--include a:0,1,2@b:0,1,2//; s/^/CUDA_VISIBLE_DEVICES=0,1,5 /' "$work/in.sh" >"$work/see.sh"
"$plumbline" import trainer "$work/see.sh" -o "$work/job.json" 2>"$work/err" ||
    wrong "visible: $(cat "$work/err")"
grep -q '"data": 3' "$work/job.json" || wrong "visible: another number of GPUs"
told 'assumed: .*3 GPUs, as CUDA_VISIBLE_DEVICES says'
sed -i 's/@b:0,1,2/@b:0/' "$work/in.sh"
"$plumbline" import trainer "$work/in.sh" -o "$work/no.json" 2>"$work/err" &&
    wrong "include: nodes unlike each other are read"
told 'the number of GPUs is missing'

# a file beside the flag alone says how states are sharded
echo 'deepspeed --include=localhost:0,1 main.py --deepspeed --deepspeed_config conf/ds_zero2.json \
    --bf16 --per_device_train_batch_size 2 --max_seq_length 512' >"$work/in.sh"
"$plumbline" import trainer "$work/in.sh" -o "$work/job.json" 2>"$work/err" ||
    wrong "deepspeed_config: $(cat "$work/err")"
grep -q '"zero": 2' "$work/job.json" || wrong "deepspeed_config: another stage"
told 'ZeRO 2, as the name conf/ds_zero2.json says'

# OpenRLHF's flags, before and since they have sections: BATCH SEQUENCE WORDS
openrlhf() {
    cat >"$work/in.sh"
    "$plumbline" import trainer "$work/in.sh" --gpus 8 -o "$work/job.json" 2>"$work/err" ||
        { wrong "openrlhf: $(cat "$work/err")"; return; }
    python3 -c "
import json, sys
d = json.load(open('$work/job.json')); l = d['layout']
print(d['global_batch'], d['sequence'], *(l[k] for k in ('micro_batch', 'context', 'zero')),
      l['offload_optimizer'], l['fused_attention'], 'full' in d['recompute'])" >"$work/out"
    [ "$(cat "$work/out")" = "$1" ] || wrong "openrlhf: expected $1, found $(cat "$work/out")"
}
openrlhf "64 1024 2 2 3 True True True" <<'END'
read -r -d '' training_commands <<EOF
openrlhf.cli.train_sft --max_len 1024 --train_batch_size 64 --micro_train_batch_size 2 \
    --pretrain meta-llama/Meta-Llama-3-8B --zero_stage 3 --bf16 --flash_attn --adam_offload \
    --gradient_checkpointing --ring_attn_size 2 --ring_head_stride 2 --packing_samples
EOF
deepspeed --module $training_commands
END
told 'packing: every sequence has the stated length'
openrlhf "128 1536 4 1 2 False False False" <<'END'
ray job submit --address="http://127.0.0.1:8265" -- python3 -m openrlhf.cli.train_ppo_ray \
    --actor_num_nodes 1 --actor_num_gpus_per_node 8 --pretrain a/b --reward_pretrain a/c \
    --micro_train_batch_size 4 --train_batch_size 128 --rollout_batch_size 1024 \
    --prompt_max_len 1024 --generate_max_len 512 --bf16
END
told 'an update of the policy alone'
told 'attention is eager, as without --flash_attn'
told 'ZeRO 2, OpenRLHF'
openrlhf "1024 4096 1 1 3 False True True" <<'END'
python3 -m openrlhf.cli.train_ppo_ray --actor.num_nodes 1 --actor.num_gpus_per_node 4 \
    --actor.model_name_or_path Qwen/Qwen3-4B --train.micro_batch_size 1 --train.batch_size 1024 \
    --data.max_len 4096 --rollout.max_new_tokens 2048 --ds.zero_stage 3 --ds.param_dtype bf16 \
    --actor.gradient_checkpointing_enable --actor.adam.lr 1e-6
END
sed -i 's/train_ppo_ray/train_dpo/; s/train.batch_size 1024/train.batch_size 100/' "$work/in.sh"
"$plumbline" import trainer "$work/in.sh" --gpus 8 -o "$work/no.json" 2>"$work/err" &&
    wrong "openrlhf: pairs are read"
sed -i 's/train_dpo/train_sft/' "$work/in.sh"
"$plumbline" import trainer "$work/in.sh" --gpus 8 -o "$work/no.json" 2>"$work/err" &&
    wrong "openrlhf: a batch that its ranks do not divide is read"
told 'the batch over data ranks and micro-batches: expected a multiple of 8, found 100'

# torchtitan: what its lists of harmless keys do not hold is said
printf '[model]\nname = "llama3"\nflavor = "8B"\nnorm_type = "layernorm"\n[training]\nseq_len = 512
local_batch_size = 1\n[fault_tolerance]\nenable = true\n[float8]
enable_fsdp_float8_all_gather = true\n' >"$work/t.toml"
"$plumbline" import torchtitan "$work/t.toml" --gpus 8 >"$work/out" 2>"$work/err" ||
    wrong "torchtitan: $(cat "$work/err")"
told 'model.norm_type: norms are the shipped model'
told 'fault_tolerance.enable: one group of replicas'
told 'all_gather: weights are gathered in 16 bits'

# a tool that reads data is no training
echo 'python ../analyze_data.py --micro-batch-size 64 --global-batch-size 64 --seq-length 512 \
    --num-layers 2 --hidden-size 64 --num-attention-heads 4' >"$work/in.sh"
"$plumbline" import megatron "$work/in.sh" --gpus 1 --job "$work/no.json" 2>"$work/err" &&
    wrong "analyze_data is read as training"
told 'analyze_data.py does not train'

# neuronx-distributed-training: a section of degrees; pairs are refused
cat >"$work/in.yaml" <<'END'
trainer: {devices: 32, num_nodes: 4}
distributed_strategy: {tensor_model_parallel_size: 8, pipeline_model_parallel_size: 4, zero1: true,
  sequence_parallel: true, kv_replicator: 4}
data: {micro_batch_size: 1, global_batch_size: 64}
model: {encoder_seq_length: 4096, num_layers: 32, qkv_linear: true}
precision: {type: mixed_precision}
END
"$plumbline" import nemo "$work/in.yaml" --job "$work/job.json" 2>"$work/err" ||
    wrong "neuronx: $(cat "$work/err")"
python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]
assert (l["tensor"], l["pipeline"], l["data"], l["zero"], l["sequence_parallel"], j["precision"],
        j["sequence"]) == (8, 4, 4, 1, True, "bf16", 4096), j' "$work/job.json" ||
    wrong "neuronx: another job"
told 'kv_replicator: ranks that share keys and values make them once'
echo 'model_alignment_strategy: {dpo: {kl_beta: 0.1}}' >>"$work/in.yaml"
"$plumbline" import nemo "$work/in.yaml" --job "$work/no.json" 2>"$work/err" && wrong "DPO is read"
told 'pairs, with another model beside it'

# Of NxD Training: false is a statement, too.
for key in sliding_window_size:\ 64 fusions.flash_attention:\ false; do
    printf 'model: {num_layers: 2, %s}\n' "${key#fusions.}" >"$work/in.yaml"
    "$plumbline" import nemo "$work/in.yaml" -o "$work/no.json" --job "$work/job.json" \
        2>"$work/err" && wrong "$key is read"
    told 'is not read'
done

# Names that the tables list as known, that no row or effect has, and that say a model, a layout or
# memory by the words that refuse an unknown name: those of listed_names.txt. A new one is to be
# read, refused or assumed, or is added there once it is known to change nothing.
cat >"$work/listed.py" <<'END'
import glob, re, sys

def literals(path):
    text = re.sub(r'"\s*\n\s*"', "", open(path).read())
    return re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)

def words_of(name):
    said = re.sub(r'"\s*\n\s*"', "", open("data/import/jobs/settings_said.c").read())
    return set(re.search(name + r'\[\] =\s*"([^"]*)"', said).group(1).split())

weighty, weightless = words_of("weighty"), words_of("weightless")
tables = "megatron nemo deepspeed nanotron hf_trainer maxtext torchtitan rl axonn recipes".split()
known = set()
for table in tables:
    for path in glob.glob("data/frameworks/%s*.c" % table):
        for text in literals(path):
            known.update(part for word in text.split() for part in (word, word.split(".")[-1]))
    for path in glob.glob("data/frameworks/effects/%s.txt" % table):
        for word in open(path).read().split():
            known.update((word, word.split(".")[-1]))
listed = set()
for path in glob.glob("data/frameworks/names/*.txt"):
    listed.update(word for line in open(path) if line[0] not in "#[" for word in line.split())

def weighs(name):
    words = set(re.split(r"[^a-z0-9]+", name.lower().split(".")[-1]))
    return bool(words & weighty) and not words & weightless

found = sorted(name for name in listed - known if weighs(name))
if len(sys.argv) > 1:
    open(sys.argv[1], "w").write("\n".join(found) + "\n")
    sys.exit()
reviewed = open("tests/documents/listed_names.txt").read().split()
new = [name for name in found if name not in set(reviewed)]
old = [name for name in reviewed if name not in set(found)]
if new:
    print("listed as harmless, not looked at (read, refuse or assume them, or add them to "
          "tests/documents/listed_names.txt): " + " ".join(new))
if old:
    print("in tests/documents/listed_names.txt, no longer listed: " + " ".join(old))
sys.exit(bool(new or old))
END
python3 "$work/listed.py" || wrong "names are listed as harmless that nobody has looked at"
sed 1d tests/documents/listed_names.txt >"$work/fewer.txt"
sed "s|tests/documents/listed_names.txt\").read|$work/fewer.txt\").read|" "$work/listed.py" \
    >"$work/other.py"
python3 "$work/other.py" >"$work/out" && wrong "a new name is not told"
grep -q "$(head -1 tests/documents/listed_names.txt)" "$work/out" ||
    wrong "the new name is not named"

[ -e "$work/failed" ] && exit 1
echo "names of settings: all as expected"

#!/bin/sh
# Configurations in Python (XTuner's, InternEvo's), Levanter's, MaxText's, litgpt's command and
# ColossalAI's; pairs of answers; files too large to be settings.
set -u
name=test_import_programs
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

# ---- XTuner: names, arithmetic, tables, what a later line changes
cat >"$work/x.py" <<'END'
"""A text
batch_size = 100"""
from mmengine.optim import AmpOptimWrapper
path = 'm/base'
max_length = 1024 * 2  # tokens
parallel = 2
batch_size = 3
accumulative_counts = 4
accumulative_counts *= parallel
betas = (0.9, 0.999)
model = dict(
    type=SupervisedFinetune,
    llm=dict(type=AutoModelForCausalLM.from_pretrained, pretrained_model_name_or_path=path,
             quantization_config=dict(type=B, load_in_4bit=True)),
    lora=dict(type=LoraConfig, r=8 << 3 if False else 16, lora_alpha=16))
model['lora']['r'] = int(64 / 2) - 2 ** 3
optim_wrapper = dict(type=AmpOptimWrapper, optimizer=dict(type=AdamW, lr=2e-4), dtype='bfloat16')
if parallel > 1:
    hooks = [7]
END
job trainer x.py "j['sequence']==2048;l['micro_batch']==3;j['global_batch']==3*8*8;l['zero']==0;
    j['precision']=='bf16';l['recompute']=='full'" --gpus 8
told 'the model is m/base'
told '"adapter_rank": 24'
told '"weight_bits": 4'
printf 'NPROC_PER_NODE=4 xtuner train x.py --deepspeed deepspeed_zero2\n' >"$work/x.sh"
job trainer x.sh "l['data']==4;l['zero']==2;j['trainer']=='deepspeed'"
# What is not known is refused where it is read, and nowhere else.
unknown() { # KEY LINE
    { cat "$work/x.py"; printf '%b\n' "$2"; } >"$work/u.py"
    no trainer u.py "$1: expected a value, found" --gpus 8
}
unknown accumulative_counts 'if parallel > 1:\n    x, accumulative_counts = 1, 16'
unknown accumulative_counts 'if parallel > 1: accumulative_counts = 16'
unknown batch_size 'batch_size = 4 if parallel > 1 else 8'
unknown batch_size 'path, batch_size = 4, 8'
unknown batch_size 'batch_size //= 2'
unknown model 'model.update(lora=None)'
unknown model.lora 'del model["lora"]'
unknown strategy.config 'strategy = dict(config=f"{path}/zero3.json")'
{ cat "$work/x.py"; printf '%b\n' 'more = dict(accumulation=2)' 'kind = a if b else c' \
    'batch_size = (2\n  + 4); accumulative_counts: int = 2' 'model["lora"] = dict(type=L, **more)' \
    'optim_wrapper["accumulative_counts"] = accumulative_counts' 'from .base import *'
} >"$work/k.py"
job trainer k.py "l['micro_batch']==6;j['global_batch']==6*2*8;j['gradient_bytes_per_value']==4" \
    --gpus 8
told '"adapter_rank": 8'
told 'takes from another file is not read'
sed 's/SupervisedFinetune/DPO/' "$work/x.py" >"$work/dpo.py"
no trainer dpo.py 'model.type: DPO: pairs' --gpus 8
cat >"$work/x1.py" <<'END'
length = 4096
fsdp = FSDPConfig(tp_size=2, recompute_ratio=1.0)
loader = DataloaderConfig(dataset_config_list=[{"dataset": D(name="a"), "weight": 1}],
                          pack_max_length=length)
trainer = TrainerConfig(model_cfg=Qwen3Dense4BConfig(), dataloader_cfg=loader, fsdp_cfg=fsdp,
                        global_batch_size=16)
END
job trainer x1.py "j['sequence']==4096;l['tensor']==2;l['data']==4;l['zero']==3;l['micro_batch']==1;
    j['global_batch']==16" --gpus 8
sed 's/ratio=1.0/ratio=0.5/' "$work/x1.py" >"$work/half.py"
no trainer half.py 'recompute_ratio: 0.5: which layers' --gpus 8
printf 'parallel = dict(pipeline=2, tensor=dict(size=4, mode="2d"))\nBATCH = 8\n' >"$work/c.py"
no trainer c.py "found ColossalAI's, whose model"
printf 'x = [\n' >"$work/open.py"
no trainer open.py 'expected ], found the end'
python3 -c 'print("x = " + "[" * 30000)' >"$work/deep.py"
no trainer deep.py 'nested deeper than 64'
python3 -c 'print("x = " + "(" * 30000)' >"$work/round.py"
no trainer round.py 'nested deeper than 64'
{ echo 'a0 = [1, 2]'; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    echo "a$i = [a$((i - 1)), a$((i - 1))]"; done; } >"$work/twice.py"
no trainer twice.py 'more than 16384 settings'

# ---- InternEvo: InternLM's 7,321,948,160 parameters
cat >"$work/i.py" <<'END'
SEQ_LEN = 2048
HIDDEN_SIZE = 4096
data = dict(seq_len=SEQ_LEN, micro_num=4, micro_bsz=2)
hybrid_zero_optimizer = dict(overlap_sync_grad=True)
model = dict(checkpoint=False, num_attention_heads=32, vocab_size=103168, hidden_size=HIDDEN_SIZE,
             num_layers=32, mlp_ratio=8 / 3, dtype="torch.bfloat16", norm_type="rmsnorm")
parallel = dict(zero1=dict(size=-1), tensor=dict(size=2, mode="msp"), pipeline=dict(size=1))
END
"$plumbline" import megatron "$work/i.py" --gpus 64 -o "$work/model.json" --job "$work/job.json" \
    2>"$work/err" || wrong "InternEvo: $(cat "$work/err")"
told '7321948160 parameters'
python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]
assert j["global_batch"] == 4 * 2 * 32 and l["sequence_parallel"] and l["zero"] == 1, j
assert j["owner_broadcasts"] and j["gradient_bytes_per_value"] == 2, j
assert j["trainer"] == "other", j' \
    "$work/job.json" 2>"$work/log" || wrong "InternEvo: $(tail -1 "$work/log")"
printf 'torchrun --nproc-per-node 8 train.py --config i.py --launcher torch\n' >"$work/i.sh"
"$plumbline" import megatron "$work/i.sh" -o "$work/again.json" --job "$work/job.json" \
    2>"$work/err" || wrong "InternEvo's launch: $(cat "$work/err")"
sed 's/size=-1/size=4/' "$work/i.py" >"$work/zero.py"
"$plumbline" import megatron "$work/zero.py" --gpus 64 --job "$work/job.json" 2>"$work/err" &&
    grep -q '"data_shard": 4' "$work/job.json" || wrong "zero1: $(tail -1 "$work/err")"
sed 's/size=-1/size=5/' "$work/i.py" >"$work/zero.py"
"$plumbline" import megatron "$work/zero.py" --gpus 64 --job "$work/job.json" 2>"$work/err" &&
    wrong "zero1 of 5 ranks in 32"
told '5 ranks in a group that shares states: expected a divisor of the 32'
sed 's/msp/isp/' "$work/i.py" >"$work/isp.py"
no megatron isp.py 'tensor.mode: isp gathers weights' --gpus 64
no megatron x.py "expected InternEvo's configuration"

# ---- torchtitan's functions: what is not run is no default, as a branch,
# an operation on what is not known, what others return.
unknown() { # WORDS BODY ...
    words=$1; shift
    printf 'N = 2\ndef f() -> Trainer.Config:\n' >"$work/f.py"
    printf '    %s\n' "$@" >>"$work/f.py"
    "$plumbline" import torchtitan "$work/f.py" --gpus 64 -o "$work/no.json" 2>"$work/err" &&
        wrong "torchtitan: read: $*"
    told "$words"
}
plain='c = Trainer.Config(training=TrainingConfig(local_batch_size=2 * N, seq_len=4096))'
unknown 'line 5: parallelism.tensor_parallel_degree: expected a value' "$plain" 'if cheap(c):' \
    '    c.parallelism.tensor_parallel_degree = 4' 'return c'
unknown 'training.local_batch_size: expected a value' "$plain" \
    'c.training.local_batch_size *= 2' 'return c'
unknown 'training.seq_len: expected a value' "$plain" \
    'c.training.seq_len = c.training.seq_len // 2' 'return c'
unknown 'line 3: parallelism: expected a value, found "par' 'return Trainer.Config(parallelism=par)'
unknown 'line 3: \*\*: expected a value' 'return Trainer.Config(**others)'
unknown 'f returns nothing that is read' 'return to_graph_trainer(base())'
unknown 'f returns nothing that is read' 'if a:' '    return Trainer.Config(steps=1)'

# ---- Levanter, MaxText, litgpt, ColossalAI
printf '%s\n' 'model:' '  type: llama' '  seq_len: 4096' 'trainer:' '  mp: p=f32,c=bfloat16' \
    '  train_batch_size: 1024' '  per_device_parallelism: -1' >"$work/l.yaml"
sed 's/  seq_len/  gradient_checkpointing: offload\n&/' "$work/l.yaml" >"$work/o.yaml"
no trainer o.yaml 'gradient_checkpointing: expected true' --gpus 64
{ cat "$work/l.yaml"; printf '  replica_dcn_axis_size: 4\n'; } >"$work/r.yaml"
job trainer r.yaml "l['data']==64;l['data_shard']==16" --gpus 64
{ cat "$work/l.yaml"; printf '  mesh: {axes: {model: 2}}\n'; } >"$work/r.yaml"
no trainer r.yaml 'mesh.axes.model: is not read' --gpus 64
{ cat "$work/l.yaml"; printf '  parameter_axis_resources:\n    embed: null\n'; } >"$work/r.yaml"
no trainer r.yaml 'parameter_axis_resources.embed: null: an axis that is not split' --gpus 64
job trainer l.yaml "l['micro_batch']==16;l['zero']==3;l['recompute']=='full'" --gpus 64
printf 'python -m levanter.main.train_lm --config_path l.yaml --trainer.per_device_parallelism 4' \
    >"$work/l.sh"
job trainer l.sh "l['micro_batch']==4;j['global_batch']==1024" --gpus 64
printf 'python3 -m MaxText.train base.yml model_name=llama2-7b per_device_batch_size=2 %s\n' \
    'ici_tensor_parallelism=4 max_target_length=4096 remat_policy=full' >"$work/m.sh"
job trainer m.sh "l['micro_batch']==8;l['tensor']==4;l['data']==8;j['sequence']==4096" --gpus 32
told 'what is not here is in base.yml'
sed 's/remat_policy=full/ici_pipeline_parallelism=2/' "$work/m.sh" >"$work/p.sh"
no trainer p.sh 'ici_pipeline_parallelism: is not read: parallelism' --gpus 32
printf '%s: %s\n' base_emb_dim 64 per_device_batch_size 1 quantization fp8 base_config b \
    rope_theta 10000 original_seq_len 4096 \
    >"$work/m.yaml"
job trainer m.yaml "j['sequence']==2048" --gpus 8
told "the model's sizes are the file's"
told 'products are in 16 bits'
printf '%s: %s\n' per_device_batch_size 1 base_config b ici_fsdp_parallelism 8 \
    dcn_data_parallelism 4 attention dot_product >"$work/m.yaml"
job trainer m.yaml "l['data']==32;l['data_shard']==8;not l['fused_attention']" --gpus 32
sed 's/_parallelism: 8/_parallelism: 1/' "$work/m.yaml" >"$work/w.yaml" # weights stay in fp32
job trainer w.yaml "l['zero']==0;j['precision']=='bf16';j['gradient_bytes_per_value']==4" --gpus 4
printf 'litgpt finetune_lora a/b --train.max_seq_length 512 --devices 2 --lora_r 4 --data A\n' \
    >"$work/g.sh"
job trainer g.sh "j['global_batch']==16;l['micro_batch']==1;l['data']==2;l['zero']==3"
told '"adapter_rank": 4, "adapter_modules": \["query", "value"\]'
told "train.global_batch_size 16, litgpt's own"
printf 'colossalai run --nproc_per_node 8 train.py --plugin %s --batch_size 2 --max_length 512 %s' \
    zero2_cpu '--accumulation_steps 3 --use_grad_checkpoint --use_flash_attn' >"$work/c.sh"
job trainer c.sh "j['global_batch']==48;l['zero']==2;l['offload_optimizer'];l['recompute']=='full'"

printf 'torchrun --nproc-per-node 4 train.py --plugin gemini --train_batch_size 1\n' \
    >"$work/c.sh"
no trainer c.sh 'plugin: expected --batch_size beside it'

printf '[model]\nbackbone = "v"\n[training]\nbatch_size = 1\n' >"$work/v.toml"
no torchtitan v.toml 'line 2: model.backbone: expected model.name' --gpus 8

# ---- what scripts count
counted() { # PIPE
    printf 'A=0,1,2\ntorchrun --nproc_per_node $(echo $A | %s) train.py --cutoff_len 8 %s\n' "$1" \
        '--per_device_train_batch_size 1 --flash_attn --bf16' >"$work/n.sh"
    job trainer n.sh "l['data']==3;l['fused_attention']"
}
counted "awk -F',' '{print NF}'"
counted "tr ',' '\\n' | wc -l"
counted "tr ',' '\\n' | grep -c ."
counted "tr ',' ' ' | wc -w"
printf 'axolotl preprocess a.yaml\naxolotl train a.yaml -- --nproc_per_node 8\n' >"$work/a.sh"
no trainer a.sh 'line 2: the settings are in a.yaml, which is not here'

# ---- pairs: two sequences each
pairs() { # ASSERTIONS FLAGS
    printf 'torchrun --nproc-per-node 8 src/train.py --per_device_train_batch_size 2 %s\n' "$2" \
        >"$work/pairs.sh"
    job trainer pairs.sh "$1"
}
pairs "l['micro_batch']==4;j['global_batch']==32;j['sequence']==2048" \
    '--stage dpo --finetuning_type full --model_name_or_path m --bf16 true'
told 'the reference model, its weights on the GPUs and its forward pass, is no part of the job'
pairs "l['micro_batch']==4" '--stage dpo --finetuning_type lora --model_name_or_path m --bf16 true'
told 'what the frozen weights alone say of them is no part'
no trainer pairs.sh 'would be assumed' --strict
sed 's/dpo/ppo/' "$work/pairs.sh" >"$work/ppo.sh"
no trainer ppo.sh 'stage: is not read: pairs, rewards'

# ---- sizes
for form in yaml json toml py sh; do
    head -c 17000000 /dev/zero | tr '\0' '\n' >"$work/big.$form"
    for format in trainer megatron; do
        [ "$form $format" != "toml $format" ] &&
            no $format big.$form 'expected settings of at most 16 MiB, found 16 MiB'
    done
done
[ -e "$work/failed" ] && exit 1
echo "$name: all as expected"

#!/bin/sh
# import torchtitan, import deepspeed, import nemo: configurations are what their programs make of
# them (EXPORT_PYTHON with DeepSpeed: its own reader says the batch sizes); what a job does not hold
# is named, a wrong line is told by its number. Our own exports: tests/report/test_frameworks.c.
BIN=${BIN:-bin} work=build/test_import_jobs.$$
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "import of jobs: $*" >&2; : >"$work/failed"; } # behind a pipe, too

# job FORMAT ASSERTIONS OPTION ...: standard input as a job j, layout l, of which the assertions
# hold; stderr is kept
job() {
    format=$1 assertions=$2; shift 2
    cat >"$work/in"
    rm -f "$work/job.json"
    "$plumbline" import "$format" "$work/in" "$@" -o "$work/job.json" 2>"$work/err" ||
        { wrong "$format: $(cat "$work/err")"; return; }
    python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]
for a in sys.argv[2].split(";"): assert eval(a.strip()), (a, j)' "$work/job.json" "$assertions" \
    2>"$work/log" || wrong "$format: $(tail -1 "$work/log")"
}
says() { grep -q -- "$1" "$work/err" || wrong "not said: $1: $(cat "$work/err")"; }
unknown='is unknown and left out; did you mean'

# refuse WORDS FORMAT TEXT OPTION ...
refuse() {
    words=$1 format=$2; shift 2
    printf "$1" >"$work/in"; shift
    rm -f "$work/no.json"
    "$plumbline" import "$format" "$work/in" "$@" -o "$work/no.json" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || wrong "$format: not refused: $(cat "$work/in")"
    [ "$(wc -l <"$work/err")" -eq 1 ] || wrong "$format: not one line: $(cat "$work/err")"
    grep -q -- "$words" "$work/err" || wrong "$format: not said: $words: $(cat "$work/err")"
    [ ! -e "$work/no.json" ] || wrong "$format: written all the same: $(cat "$work/in")"
}

# ---- torchtitan's: a configuration of every kind of value, with defaults of its job_config.py
{ printf '\357\273\277# with the mark of byte order, and ends of lines as elsewhere\r\n[model]\r\n'
  printf 'name = "llama3"\r\nflavor = "70B"\r\nconverters = ["float8",\r\n  # and\r\n]\r\n'
  printf '[training]\r\nlocal_batch_size = 1_6\r\n"seq_len"=8192 # tokens\r\nsteps = 3000\r\n'
  printf '[parallelism]\r\ntensor_parallel_degree = 8\r\npipeline_parallel_degree = 4\r\n'
  printf 'pipeline_parallel_schedule = "interleaved1f1b"\r\n'
  printf 'pipeline_parallel_layers_per_stage = 11\r\npipeline_parallel_microbatch_size = 2\r\n'
  printf '[compile]\r\nenable = true\r\n[optimizer]\r\nname='"'Adam'"'\r\n'; } |
    job torchtitan "j['sequence']==8192;j['global_batch']==16*8;l['data']==8;
        l['virtual_stages']==2;l['schedule']=='interleaved';l['micro_batch']==2;l['zero']==2;
        j['precision']=='fp8';j['fused_loss'];j['compiled'];j['recompute']==['none','full'];
        l['sequence_parallel'];j['trainer']=='torchtitan'" --gpus 256
says 'ignored (harmless): .*training.steps'
says 'shipped as llama-3.1-70b'
says 'selective_ac_option "2"'
job torchtitan "l['zero']==0;l['data']==4;j['precision']=='bf16';l['micro_batch']==8;
    j['global_batch']==64;j['recompute']==['none','selective']" <<'END'
training.global_batch_size = 64
parallelism = { data_parallel_replicate_degree = 4, data_parallel_shard_degree = 1, tensor_parallel_degree = 1 }
activation_checkpoint.mode = "selective"
activation_checkpoint.selective_ac_option = 'op'
job.description = """
A text [of] several
lines"""
metrics.nothing.at.all = 1979-05-27T07:32:00Z
END
says 'ignored (harmless): job, metrics'
refuse 'tensor_parallel_dgree (did you mean parallelism.tensor_parallel_degree?): --ignore' \
    torchtitan '[parallelism]\npipeline_parallel_degree = 2\ntensor_parallel_dgree = 2\n' --gpus 16
job torchtitan "l['data']==16;l['zero']==3;l['data_shard']==8" --gpus 16 --ignore parallelism.tensor_parallel_dgree <<'END'
[parallelism]
data_parallel_replicate_degree = 2
tensor_parallel_dgree = 2
END
says "parallelism.tensor_parallel_dgree changes nothing, as --ignore says"
job torchtitan "j['precision']=='fp32'" <<'END'
[parallelism]
data_parallel_shard_degree = 1
tensor_parallel_degree = 2
END
says 'trains in fp32'
job torchtitan "l['tensor']==2;l['pipeline']==4;l['virtual_stages']==2;l['data']==4;
    l['micro_batch']==2;j['global_batch']==64;l['schedule']=='interleaved'" --gpus 32 <<'END'
# of torchtitan 0.0
[training]
batch_size = 16
tensor_parallel_degree = 2
data_parallel_shard_degree = -1
[experimental]
pipeline_parallel_degree = 4
pipeline_parallel_schedule = "Interleaved1F1B"
pipeline_parallel_microbatches = 8
pipeline_parallel_split_points = ["layers.4", "layers.8", "layers.12", "layers.16", "layers.20",
    "layers.24", "layers.28"]
END
job torchtitan "l['schedule']=='zb-h1'" --schedule zb-h1 <<'END'
[parallelism]
data_parallel_shard_degree = 2
pipeline_parallel_degree = 2
pipeline_parallel_schedule_csv = "schedule.csv"
END
degrees='[parallelism]\ndata_parallel_shard_degree = 2\npipeline_parallel_degree = 2\n'
refuse 'name the schedule with --schedule' torchtitan \
    "${degrees}pipeline_parallel_schedule_csv = \"x.csv\"\\n"
degrees='pipeline_parallel_degree=2, data_parallel_shard_degree=1'
nearest='"1F2B" is not a schedule of torch; did you mean 1F1B'
refuse "line 1: parallelism.pipeline_parallel_schedule: $nearest" torchtitan \
    "parallelism = { pipeline_parallel_schedule = \"1F2B\", $degrees }\\n"
# Later ones are functions in Python: calls, assignments, other functions, what only runs say.
mkdir -p "$work/llama3"
cat >"$work/llama3/config_registry.py" <<'END'
"""Text with def f() -> Trainer.Config: in it."""
from . import model_registry

def small() -> Trainer.Config:
    """One # not a comment"""
    spec = model_registry("8B", converters=[Float8LinearConverter.Config(filter_fqns=["lm_head"])])
    wide = compile.enable and "model" in what  # known to a run alone
    return Trainer.Config(
        loss=ChunkedLossWrapper.Config(loss_fn=CrossEntropyLoss.Config(size=size_of(spec))),
        model_spec=spec, optimizer=default_adamw(lr=3e-4),
        training=TrainingConfig(num_tokens_per_microbatch_per_dp_rank=2 * 8192,
                                max_context_length=8192, steps=wide),
        parallelism=ParallelismConfig(tensor_parallel_degree=4, context_parallel_degree=2),
        activation_checkpoint=None,
    )

def large() -> "Trainer.Config":
    config = small()
    for block in config.model_spec.model.blocks:
        config.training.steps = 1
    if cheap(config):
        config.training.steps = 2
    config.activation_checkpoint = FullAC.Config()
    config.parallelism.num_pp_microbatches = 8
    config.parallelism.pipeline_parallel_degree = 2
    config.parallelism.context_parallel_degree = 1
    config.compile = CompileConfig(enable=True, components=["model", "loss"])
    config.parallelism.enable_sequence_parallel = False
    return config
END
python() { # NAME ASSERTIONS
    "$plumbline" import torchtitan "$work/llama3/config_registry.py" --config $1 --gpus 64 \
        -o "$work/job.json" 2>"$work/err" || { wrong "torchtitan $1: $(cat "$work/err")"; return; }
    python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]
for a in sys.argv[2].split(";"): assert eval(a.strip()), (a, j)' "$work/job.json" "$2" \
        2>"$work/log" || wrong "torchtitan $1: $(tail -1 "$work/log")"
}
python small "j['sequence']==8192;j['global_batch']==16;l['data']==8;l['tensor']==4;l['zero']==3;
    l['micro_batch']==2;j['chunked_loss'];j['recompute']==['none'];j['precision']=='fp8';
    l['context']==2;l['sequence_parallel'];not j.get('compiled')"
says 'shipped as llama-3.1-8b'
says 'disable_cuda_graphs is not set'
python large "l['pipeline']==2;l['data']==8;l['micro_batch']==2;j['global_batch']==128;
    j['recompute']==['none','full'];j['compiled'];j['fused_loss'];not l['sequence_parallel'];
    l['zero']==2;l['tensor']==4"
"$plumbline" import torchtitan "$work/llama3/config_registry.py" 2>"$work/err" -o "$work/no.json" &&
    wrong 'two functions, none named: read'
says 'name one with --config (small, large)'
refuse 'give their number with --gpus' torchtitan '[training]\nseq_len = 10\n'
refuse 'together are 6, --gpus 12\|expected a multiple' torchtitan \
    '[parallelism]\ndata_parallel_shard_degree = 2\ntensor_parallel_degree=3\n' --gpus 12
refuse 'line 2: training.seq_len: expected a whole number from 0 to 1e9, found "long"' torchtitan \
    '[training]\nseq_len = "long"\n' --gpus 1
refuse 'empty' torchtitan ''
refuse 'empty' torchtitan '\n \r\n'
refuse 'line 3: training.seq_len: already set in line 2' torchtitan \
    '[training]\nseq_len = 1\nseq_len = 2\n' --gpus 1
refuse 'line 1: expected " at the end' torchtitan 'model.name = "llama3\n' --gpus 1
refuse 'line 3: expected , or ]' torchtitan 'model.converters = ["a"\n\n"b"]\n' --gpus 1
refuse 'line 2: expected = after' torchtitan '[training]\nseq_len\n' --gpus 1
refuse 'line 1: expected ] after' torchtitan '[training\nseq_len = 1\n' --gpus 1
refuse 'line 1: expected \[section\] or key = value' torchtitan '{"a": 1}\n' --gpus 1
refuse 'expected 1 to 65536' torchtitan '[parallelism]\ndata_parallel_shard_degree = 0\n' --gpus 4
refuse 'local_batch_size: expected' torchtitan '[training]\nlocal_batch_size = 9007199254740992\n' \
    --gpus 4
refuse 'optimizer.name: expected Adam or AdamW' torchtitan '[optimizer]\nname = "Muon"\n' --gpus 4
refuse 'zero byte' torchtitan 'a = \000\n' --gpus 4

# ---- DeepSpeed's
batches='{"train_batch_size": 32, "train_micro_batch_size_per_gpu": 2'
batches="$batches, \"gradient_accumulation_steps\": 2"
printf '%s, "bf16": {"enabled": true}, "zero_optimization": {"stage": 3,
    "offload_param": {"device": "cpu"}, "reduce_bucket_size": 5e8}, "gradient_clipping": 1.0}' \
    "$batches" |
    job deepspeed "j['global_batch']==32;l['data']==8;l['micro_batch']==2;l['zero']==3;
        l['gradient_sync']=='overlapped';j['precision']=='bf16';
        j['gradient_bytes_per_value']==2;j['trainer']=='deepspeed'" --sequence 4096
says 'ignored (harmless): zero_optimization.reduce_bucket_size, gradient_clipping'
says 'offload_param'
{ printf '{\r\n"train_micro_batch_size_per_gpu": 4,\r\n// as hjson has it\r\n'
  printf '"gradient_accumulation_steps": 8, "fp16": {"enabled": "auto"}, '
  printf '"zero_optimization": true, "optimizer": {"type": "SGD"}, "train_batchsize": "auto",'
  printf '\r\n}\r\n'; } |
    job deepspeed "j['global_batch']==4*8*16;l['data']==16;l['tensor']==2;l['pipeline']==2;
        l['zero']==1;j['precision']=='fp32';not j['adam']" \
    --sequence 1024 --gpus 64 --tensor 2 --pipeline 2
says "line 4: train_batchsize $unknown train_batch_size"
says 'optimizer SGD'
printf '{"train_batch_size": 64, "fp16": {"enabled": true},
    "data_types": {"grad_accum_dtype": "fp32"},
    "zero_optimization": {"stage": 2, "overlap_comm": false, "cpu_offload": true},
    "activation_checkpointing": {"partition_activations": true}}' |
    job deepspeed "l['micro_batch']==8;j['precision']=='fp16';j['gradient_bytes_per_value']==4;
        l['offload_optimizer'];l['gradient_sync']=='exposed';j['recompute']==['none','full']" \
    --sequence 1024 --gpus 8
for sums in '"communication_data_type": "fp32"' '"fp32_allreduce": true'; do
    echo "{\"train_batch_size\": 64, \"fp16\": {\"enabled\": true}, $sums}" |
        job deepspeed \
        "j['whole_gradient_sums'];j['gradient_bytes_per_value']==2;l.get('zero',0)==0" \
        --sequence 1024 --gpus 8
    echo "{\"train_batch_size\": 64, \"fp16\": {\"enabled\": true}, $sums,
        \"zero_optimization\": {\"stage\": 1}}" |
        job deepspeed \
        "'whole_gradient_sums' not in j;j['gradient_bytes_per_value']==2;l['zero']==1" \
        --sequence 1024 --gpus 8
done
auto='{"bf16": {"enabled": "auto"}, "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto"}'
echo "$auto" |
    job deepspeed "j['global_batch']==64;l['micro_batch']==2;l['data']==8;j['precision']=='bf16'" \
    --sequence 8 --gpus 8 --global-batch 64 --micro-batch 2 --precision bf16
echo "$auto" | job deepspeed "j['precision']=='fp32'" --sequence 8 --gpus 8 --micro-batch 2
says 'the precision is "auto"'
refuse 'as "auto", which the script fills in: give --global-batch' deepspeed "$auto" --sequence 8 \
    --gpus 8
for degree in '"size": 2' '"tp_size": 2' '"tensor_parallel": {"tp_size": 2}'; do
    refuse 'is not read: state tensor_parallel.autotp_size' deepspeed \
        "$batches, \"tensor_parallel\": {\"enabled\": true, $degree}}" --sequence 8
done
refuse 'give it with --sequence' deepspeed "$batches}"
refuse 'give the number of GPUs with --gpus' deepspeed '{"train_batch_size": 32}' --sequence 8
refuse 'expected train_batch_size or train_micro_batch_size_per_gpu' deepspeed \
    '{"bf16": {"enabled": true}}' --sequence 8
refuse 'train_batch_size: expected micro-batch 2 x steps 2 x replicas 4 = 16, found 32' deepspeed \
    "$batches}" --sequence 8 --gpus 4
refuse 'bf16 and fp16' deepspeed \
    "$batches, \"bf16\": {\"enabled\": true}, \"fp16\": {\"enabled\": true}}" --sequence 8
refuse 'line 1: expected } for the { of line 1, found the end of the file' deepspeed \
    '{"train_batch_size": 32, "zero_optimization": {"stage": 1' --sequence 8
refuse 'line 1: expected {' deepspeed '[1, 2]' --sequence 8
refuse 'after }' deepspeed '{} {}' --sequence 8
refuse 'stage: expected 0 to 3, found 4' deepspeed \
    "$batches, \"zero_optimization\": {\"stage\": 4}}" --sequence 8
refuse 'nested deeper' deepspeed "{\"a\": $(printf '[%.0s' $(seq 100))" --sequence 8
if "${EXPORT_PYTHON:-python3}" -c 'import deepspeed' 2>/dev/null; then
    "${EXPORT_PYTHON:-python3}" - "$plumbline" "$work" <<'END' 2>"$work/log" || \
        wrong "DeepSpeed reads otherwise: $(tail -1 "$work/log")"
import itertools, json, subprocess, sys
from deepspeed.runtime.config import DeepSpeedConfig
plumbline, work = sys.argv[1:]
keys = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")
for values in itertools.product((None, 24), (None, 2), (None, 3, 12)):
    c = {k: v for k, v in zip(keys, values) if v}
    json.dump(c, open(f"{work}/c.json", "w"))
    r = subprocess.run([plumbline, "import", "deepspeed", f"{work}/c.json", "--sequence", "8",
                        "--gpus", "1", "-o", f"{work}/c.job"], capture_output=True, text=True)
    try: d = DeepSpeedConfig(dict(c))
    except AssertionError: d = None
    assert (d is not None) == (r.returncode == 0), (c, r.stderr)
    if d:
        j = json.load(open(f"{work}/c.job"))
        assert (j["global_batch"], j["layout"]["micro_batch"]) == (
            d.train_batch_size, d.train_micro_batch_size_per_gpu), (c, j)
END
else
    echo "import of jobs: no deepspeed; its reader was not asked"
fi
# ---- NeMo's: the same model and job as Megatron's flags give
cat >"$work/flags" <<'END'
--num-layers 8 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 --micro-batch-size 2
--vocab-size 1000 --swiglu --ffn-hidden-size 2816 --normalization RMSNorm --disable-bias-linear
--position-embedding-type rope --group-query-attention --num-query-groups 4 --bf16
--max-position-embeddings 4096 --use-distributed-optimizer --overlap-grad-reduce
--attention-dropout 0 --hidden-dropout 0 --untie-embeddings-and-output-weights --sequence-parallel
--tensor-model-parallel-size 2 --pipeline-model-parallel-size 2
--num-virtual-stages-per-pipeline-rank 2 --no-overlap-p2p-communication --global-batch-size 64 --norm-epsilon 1e-6
--rotary-base 500000 --recompute-granularity full --recompute-method block
--recompute-num-layers 1 --num-experts 4 --moe-layer-freq [0,1,1,1,1,1,1,1]
--moe-ffn-hidden-size 512 --expert-model-parallel-size 2 --expert-tensor-parallel-size 1
END
sed 's/\[0,1,1,1,1,1,1,1\]/"&"/' "$work/flags" >"$work/list"
"$plumbline" import megatron "$work/list" --gpus 16 --name x -o "$work/m.json" \
    --job "$work/mj.json" 2>"$work/err" || wrong "$(cat "$work/err")"
# same OPTION ...: standard input as a NeMo configuration is the model and the job of these flags
same() {
    cat >"$work/in"
    rm -f "$work/n.json" "$work/nj.json"
    "$plumbline" import nemo "$work/in" --name x -o "$work/n.json" --job "$work/nj.json" "$@" \
        2>"$work/err" || { wrong "nemo: $(cat "$work/err")"; return; }
    python3 - "$work" <<'END' || wrong "nemo: $(cat "$work/in")"
import json, sys
for a, b in (("m", "n"), ("mj", "nj")):
    a, b = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in (a, b))
    for d in (a, b): d.pop("made_from", 0)
    assert a == b, [(k, a[k], b.get(k)) for k in a if a[k] != b.get(k)]
END
}
same <<'END'
# of NeMo 1
name: anything
trainer:
  devices: 8
  num_nodes: 2
  precision: bf16-mixed   # by Lightning
exp_manager: {name: "${name}", checkpoint_callback_params: {every_n_train_steps: 10}}
model:
  mcore_gpt: True
  micro_batch_size: 2
  global_batch_size: 64
  tensor_model_parallel_size: 2
  pipeline_model_parallel_size: ${.tensor_model_parallel_size}
  virtual_pipeline_model_parallel_size: ${model.tensor_model_parallel_size}
  expert_model_parallel_size: 2
  expert_tensor_parallel_size: 1
  num_moe_experts: 4
  moe_ffn_hidden_size: 512
  moe_layer_freq:
  - 0
  - 1
  - 1
  - 1
  - 1
  - 1
  - 1
  - 1
  encoder_seq_length: 2048
  max_position_embeddings: ${.encoder_seq_length}
  num_layers: 8
  hidden_size: 1024
  ffn_hidden_size: 2816
  num_attention_heads: 16
  num_query_groups: 4
  kv_channels: null
  hidden_dropout: 0.0
  attention_dropout: 0
  normalization: rmsnorm
  layernorm_epsilon: 1e-6
  activation: fast-swiglu
  bias: false
  position_embedding_type: 'rope'
  rotary_percentage: 1.0
  rotary_base: 500000
  share_embeddings_and_output_weights: False
  sequence_parallel: True
  activations_checkpoint_granularity: full
  activations_checkpoint_method: block
  activations_checkpoint_num_layers: 1
  override_vocab_size: 1000
  data:
    data_prefix: ???
    seq_length: ${model.encoder_seq_length}
  optim:
    name: distributed_fused_adam
    overlap_grad_sync: True
    betas:
      - 0.9
      - 0.98
END
says 'ignored (harmless): name, exp_manager, model.mcore_gpt, model.optim.betas'
same --gpus 16 --vocabulary 1000 <<'END'
---
_target_: of.megatron.bridge.ConfigContainer
model:
  _target_: a.Provider
  activation_func: {_call_: false, _target_: torch.nn.functional.silu}
  gated_linear_unit: true
  num_layers: 8
  hidden_size: 1024
  ffn_hidden_size: 2816
  num_attention_heads: 16
  num_query_groups: 4
  add_bias_linear: false
  attention_dropout: 0.0
  hidden_dropout: 0.0
  layernorm_epsilon: 1.0e-06
  normalization: RMSNorm
  position_embedding_type: rope
  rotary_base: 500_000
  share_embeddings_and_output_weights: false
  seq_length: 2048
  sequence_parallel: true
  tensor_model_parallel_size: 2
  pipeline_model_parallel_size: 2
  virtual_pipeline_model_parallel_size: 2
  expert_model_parallel_size: 2
  expert_tensor_parallel_size: 1
  num_moe_experts: 4
  moe_ffn_hidden_size: 512
  moe_layer_freq: [0, 1, 1, 1, 1, 1, 1,
    1]
  recompute_granularity: full
  recompute_method: block
  recompute_num_layers: 1
  vocab_size: null
train:
  global_batch_size: 64
  micro_batch_size: 2
ddp:
  use_distributed_optimizer: true
  overlap_grad_reduce: true
mixed_precision: bf16_mixed
optimizer:
  optimizer: adam
  lr: 3.0e-4
END
cat >"$work/in" <<'END'
_target_: megatron.bridge.training.config.ConfigContainer
dataset: {_target_: a.b, sequence_length: 1024, split: "1,1,1"}
ddp: {grad_reduce_in_fp32: true, overlap_grad_reduce: true, use_distributed_optimizer: true}
mixed_precision: {bf16: true, fp16: false, fp8: null,
  params_dtype: {_call_: false, _target_: torch.bfloat16}}
model: {activation_func: {_target_: torch.nn.functional.silu}, gated_linear_unit: true,
  add_bias_linear: false, attention_dropout: 0.0, hidden_dropout: 0.0, hidden_size: 2048,
  ffn_hidden_size: 8192, kv_channels: 64, normalization: RMSNorm, num_attention_heads: 32,
  num_layers: 16, num_query_groups: 8, position_embedding_type: rope, seq_length: 131072,
  should_pad_vocab: false, vocab_size: 128256, cross_entropy_loss_fusion: true,
  attention_backend: {_args_: [3], _call_: true,
    _target_: megatron.core.transformer.enums.AttnBackend},
  share_embeddings_and_output_weights: true}
train: {global_batch_size: 32, micro_batch_size: 1}
END
"$plumbline" import nemo "$work/in" --gpus 8 -o "$work/n.json" --job "$work/job.json" \
    2>"$work/err" || wrong "$(cat "$work/err")"
says ' 1235814400 parameters' # those of Llama 3.2 1B
says 'of 1024 tokens in the data, of 131072 in the model'
says 'ignored (harmless): dataset.split$'
grep -q '"fused_attention": false' "$work/job.json" || wrong "a built backend is not read"
grep -q '"sequence": 1024' "$work/job.json" && grep -q '"fused_loss": true' "$work/job.json" &&
    grep -q '"zero": 1' "$work/job.json" ||
    wrong "a job of Megatron-Bridge: $(cat "$work/job.json")"
{ printf 'model:\r\n  tensor_model_parallel_sise: 2\r\n  context_parallel_size: 2\r\n'
  printf 'train: {global_batch_size: 8, micro_batch_size: 1}\r\n'
  printf 'dataset:\r\n  seq_length: 4096\r\n'; } >"$work/in"
"$plumbline" import nemo "$work/in" --gpus 8 --job "$work/no.json" 2>"$work/err" &&
    wrong "nemo: a key of another spelling"
says 'model.tensor_model_parallel_sise (did you mean model.tensor_model_parallel_size?)'
"$plumbline" import nemo "$work/in" --gpus 8 --job "$work/job.json" \
    --ignore model.tensor_model_parallel_sise 2>"$work/err" || wrong "$(cat "$work/err")"
says 'the precision is missing'
refuse 'found no num_attention_heads: write only the job' nemo \
    'model: {num_layers: 2, hidden_size: 8}\ntrainer: {devices: 8}\n'
refuse 'found no num_layers: write only the job' nemo \
    'train: {global_batch_size: 8, micro_batch_size: 1}\ndataset:\n  seq_length: 4096\n' --gpus 8
printf 'train: {global_batch_size: 8, micro_batch_size: 1}\n' >"$work/in"
"$plumbline" import nemo "$work/in" --gpus 8 --job "$work/no.json" 2>"$work/err" &&
    wrong "nemo: a job without a sequence"
says 'give it with --sequence'
sizes='num_layers: 2, hidden_size: 8, num_attention_heads: 2, vocab_size: 9, seq_length: 8'
sizes="$sizes, micro_batch_size: 1"
refuse ': global_batch_size: expected a multiple of 8, found 9' nemo \
    "model: {$sizes, global_batch_size: 9}" --gpus 8 --job "$work/no.json"
refuse 'trainer.devices, num_nodes) is missing: give it with --gpus' nemo "model: {$sizes}" \
    --job "$work/no.json"
refuse 'flags of experts without num_experts' nemo "model: {$sizes, expert_model_parallel_size: 2}"
refuse 'line 2: expected spaces' nemo 'a:\n\tb: 1\n'
refuse 'line 2: is indented deeper' nemo 'a: 1\n  b: 2\n'
refuse 'line 3: is indented deeper' nemo 'a:\n  b: 2\n    c: 3\n'
refuse 'line 3: is indented deeper than a' nemo 'a:\n  b: 2\n c: 3\n'
refuse 'line 2: \*y: expected an anchor' nemo 'a: &x 1\nb: *y\n'
refuse 'line 1: <<: expected up to 16 aliases' nemo '<<: 1\n'
refuse 'in brackets are not read' nemo 'a: &x 1\nb: [*x]\n'
# What a mapping states goes before what it merges, whole subsections too; a list's element is whole.
printf 'x: &x\n  seq_length: 64\n  micro_batch_size: &m 2\n  num_layers: 4\n  deep: {one: 1}
y: &y {num_layers: 9, pipeline_model_parallel_size: 2}\nmodel:\n  <<: [*x, *y]\n  seq_length: 128
  deep: {other: 1}\n  global_batch_size: 8\n  tensor_model_parallel_size: *m # of x\n' >"$work/in"
"$plumbline" import nemo "$work/in" --gpus 8 --precision bf16 --job "$work/job.json" \
    2>"$work/err" || wrong "anchors: $(cat "$work/err")"
python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]
assert (j["sequence"], l["micro_batch"], l["tensor"], l["pipeline"], l["data"]) == \
    (128, 2, 2, 2, 2), j' "$work/job.json" || wrong "anchors: another job"
# The last rows of the model's sections.
printf 'model: {seq_length: 64, num_moe_experts: 8, bf16: true, moe_enable_deepep: true}
train: {global_batch_size: 8, micro_batch_size: 1}\n' >"$work/in"
"$plumbline" import nemo "$work/in" --gpus 8 --job "$work/job.json" 2>"$work/err" ||
    wrong "sections: $(cat "$work/err")"
grep -q '"dispatcher": "deepep"' "$work/job.json" && grep -q '"precision": "bf16"' \
    "$work/job.json" || wrong "sections: $(cat "$work/job.json" "$work/err")"
refuse 'line 1: expected key: value, found' nemo 'no yaml at all\n'
refuse 'line 2: a: already set in line 1' nemo 'a: 1\na: 2\n'
refuse 'only comments' nemo '# a\n'
refuse 'there is no activation "mish"' nemo \
    "model: {$sizes, activation: mish}\\n"
refuse 'line 1: model.num_layers: expected a whole number' nemo 'model: {num_layers: two}\n'

# ---- narrow precisions by their recipes, and one that the framework has no name for
job torchtitan "j['precision']=='mxfp8'" --gpus 8 <<'END'
[model]
name = "llama3"
flavor = "8B"
converters = ["mx"]
END
for recipe in bf16_with_mxfp8_mixed:mxfp8 bf16_with_nvfp4_mixed:nvfp4 \
    bf16_with_fp8_subchannel_scaling_mixed:fp8_block bf16_with_fp8_current_scaling_mixed:fp8; do
    printf 'model: {%s, global_batch_size: 8}\nmixed_precision: %s\n' "$sizes" "${recipe%:*}" >"$work/in"
    "$plumbline" import nemo "$work/in" --gpus 8 -o "$work/n.json" --job "$work/job.json" \
        2>"$work/err" || wrong "$(cat "$work/err")"
    grep -q "\"precision\": \"${recipe#*:}\"" "$work/job.json" || wrong "nemo: not $recipe"
done
for precision in fp8_block mxfp8 nvfp4; do
    "$plumbline" plan --gpu b200-180gb --nodes 1 --model llama-3.2-1b --sequence 4096 \
        --global-batch 32 --gap 0.2 --precision "$precision" -o "$work/$precision" >"$work/out" 2>&1 ||
        wrong "plan in $precision: $(cat "$work/out")"
    for format in megatron nemo; do
        [ $format = nemo ] && words= || words="--vocabulary 128256"
        "$plumbline" report "$work/$precision/plan.json" --format "$format" -o "$work/own" 2>"$work/err" &&
            "$plumbline" import "$format" "$work/own" --gpus 8 -o "$work/n.json" $words \
                --job "$work/job.json" 2>"$work/err" || wrong "$format: $(cat "$work/err")"
        grep -q "\"precision\": \"$precision\"" "$work/job.json" ||
            wrong "$format: $precision is not read back"
    done
    "$plumbline" report "$work/$precision/plan.json" --format deepspeed >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && says "precision is $precision: for DeepSpeed expected fp8"
done

# ---- nanotron's YAML, Hugging Face's Trainer, overrides of a recipe in a script
nanotron='model:
  dtype: bfloat16
  make_vocab_size_divisible_by: 1
  model_config: {hidden_act: silu, hidden_size: 64, intermediate_size: 128, is_llama_config: true,
    num_attention_heads: 4, num_hidden_layers: 3, num_key_value_heads: 2, vocab_size: 1000,
    tie_word_embeddings: true}
optimizer: {accumulate_grad_in_fp32: true, zero_stage: 1}
parallelism: {dp: 4, pp: 1, tp: 2, tp_mode: REDUCE_SCATTER, recompute_layer: true}
tokens: {sequence_length: 512, micro_batch_size: 2, batch_accumulation_per_replica: 3}'
echo "$nanotron" >"$work/in"
"$plumbline" import nanotron "$work/in" -o "$work/m.json" --job "$work/job.json" 2>"$work/err" ||
    wrong "nanotron: $(cat "$work/err")"
# 1000 x 64 + 3 (2 x 64^2 + 2 x 64 x 32 + 3 x 64 x 128 + 2 x 64) + 64
says 'nanotron: 175040 parameters'
python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]
assert (l["data"], l["tensor"], l["zero"], l["sequence_parallel"], j["global_batch"]) == \
    (4, 2, 1, True, 24), j
assert j["gradient_bytes_per_value"] == 4 and "full" in j["recompute"], j' "$work/job.json" ||
    wrong "nanotron: another job"
# experts in two of the layers: 2 (8 x 64 + 8 x 3 x 64 x 32 + 3 x 64 x 96 + 64) + 3 x 64 x 128
# + 3 (2 x 64^2 + 2 x 64 x 32 + 2 x 64) + 64 + 1000 x 64
{ echo "$nanotron" | sed 's/is_llama_config: true,/is_qwen2_config: true,/
    s/tie_word_embeddings: true}/tie_word_embeddings: true,\n    moe_config: {num_experts: 8, \
    top_k: 2, moe_intermediate_size: 32, shared_expert_intermediate_size: 96, \
    enable_shared_expert: true, layers: [0, 2]}}/'; } >"$work/in"
"$plumbline" import nanotron "$work/in" -o "$work/m.json" 2>"$work/err" ||
    wrong "nanotron's experts: $(cat "$work/err")"
says "nanotron: $((2 * (512 + 49152 + 18432 + 64) + 24576 + 3 * 12416 + 64000 + 64)) parameters"
refuse 'is_mamba_config: is not read: state spaces' nanotron \
    'model:\n  model_config:\n    is_mamba_config: true\n'

echo 'model_name_or_path: Qwen/Qwen3-4B
finetuning_type: full
deepspeed: examples/deepspeed/ds_z3_offload_config.json
cutoff_len: 2048
per_device_train_batch_size: 1
gradient_accumulation_steps: 2
bf16: true
disable_gradient_checkpointing: true' >"$work/in.yaml"
"$plumbline" import trainer "$work/in.yaml" --gpus 8 -o "$work/job.json" 2>"$work/err" ||
    wrong "trainer: $(cat "$work/err")"
says 'assumed: ZeRO 3 with the optimizer on the host, as the name .*the model is Qwen/Qwen3-4B'
printf 'nproc_per_node=4\nNPROC_PER_NODE=$nproc_per_node \\\nswift sft --model x --tuner_type full \\
    --max_length 2048 --per_device_train_batch_size 1 --torch_dtype bfloat16 \\
    --gradient_accumulation_steps $(expr 16 / $nproc_per_node) --deepspeed zero3_offload \\
    --gradient_checkpointing false\n' >"$work/in.sh"
"$plumbline" import trainer "$work/in.sh" -o "$work/swift.json" 2>"$work/err" ||
    wrong "swift: $(cat "$work/err")"
python3 -c 'import json, sys
for name, steps, data in ((sys.argv[1], 2, 8), (sys.argv[2], 4, 4)):
    j = json.load(open(name)); l = j["layout"]
    assert (l["data"], l["zero"], l["offload_optimizer"], j["global_batch"], j["trainer"]) == \
        (data, 3, True, data * steps, "deepspeed"), j
    assert j["recompute"] == ["none"] and j["sequence"] == 2048, j' "$work/job.json" \
    "$work/swift.json" || wrong "trainer: another job"
"$plumbline" import trainer "$work/in.yaml" --gpus 8 --strict >"$work/out" 2>"$work/err" &&
    wrong "trainer: an assumption is read with --strict"
says '--strict: would be assumed: ZeRO 3'

printf 'TP=2\nfor pp in 1 2; do\nIFS=, read -r MB GB <<<"1,32"\nCMD="torchrun run_recipe.py --recipe r"
CMD="$CMD model.tensor_model_parallel_size=$TP model.pipeline_model_parallel_size=$pp"
CMD="$CMD train.micro_batch_size=$MB train.global_batch_size=$GB +model.seq_length=4096"
srun bash -c "$CMD logger.log_dir=$pp"; done\n' >"$work/in.sh"
"$plumbline" import nemo "$work/in.sh" --gpus 8 --precision bf16 --job "$work/job.json" \
    2>"$work/err" && wrong "overrides: launches that differ are read"
says 'launches that differ, model.pipeline_model_parallel_size=1 (line 7)'
"$plumbline" import nemo "$work/in.sh" --gpus 8 --precision bf16 --launch 2 --job \
    "$work/job.json" 2>"$work/err" || wrong "overrides: $(cat "$work/err")"
python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); l = j["layout"]
assert (l["tensor"], l["pipeline"], l["data"], j["sequence"], j["global_batch"]) == \
    (2, 2, 2, 4096, 32), j' "$work/job.json" || wrong "overrides: another job"

[ -e "$work/failed" ] && exit 1
echo "import of jobs: all as expected"

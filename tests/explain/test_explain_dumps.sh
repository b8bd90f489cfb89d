#!/bin/sh
# `plumbline explain` on the arguments that Megatron-LM prints: a mixture of latent attention with
# its optimizer on the host, a padded vocabulary, arguments of which some are quoted.
name=test_explain_dumps
. tests/script.sh
. "$root/tests/explain/reads.sh"

# dump FILE KEY=VALUE ...: the arguments of DeepSeek-V3 (its model is shipped) on 256 GPUs, with
# what is stated instead ("-": left out), and lines of 20 s with the TFLOP/s of "rate"
dump() {
    python3 - "$@" << 'END_OF_DUMP' > "$1"
import sys
given = dict(word.split("=", 1) for word in sys.argv[2:])
rate = given.pop("rate", None)
arguments = dict(line.split(" ", 1) for line in """
accumulate_allreduce_grads_in_fp32 True
add_bias_linear False
attention_dropout 0.0
bf16 True
context_parallel_size 1
expert_model_parallel_size 16
expert_tensor_parallel_size 1
ffn_hidden_size 18432
global_batch_size 1024
group_query_attention False
hidden_dropout 0.0
hidden_size 7168
kv_channels 128
kv_lora_rank 512
make_vocab_size_divisible_by 128
micro_batch_size 1
moe_ffn_hidden_size 2048
moe_router_topk 8
moe_shared_expert_intermediate_size 2048
moe_token_dispatcher_type alltoall
multi_latent_attention True
normalization RMSNorm
num_attention_heads 128
num_experts 256
num_layers 61
num_query_groups 1
optimizer adam
optimizer_cpu_offload True
optimizer_offload_fraction 1.0
overlap_grad_reduce True
pipeline_model_parallel_size 16
position_embedding_type rope
q_lora_rank 1536
qk_head_dim 128
qk_layernorm True
qk_pos_emb_head_dim 64
recompute_granularity full
recompute_method uniform
recompute_num_layers 1
seq_length 4096
sequence_parallel False
swiglu True
tensor_model_parallel_size 1
transformer_impl transformer_engine
untie_embeddings_and_output_weights True
use_distributed_optimizer True
v_head_dim 128
vocab_size 129280
world_size 256""".strip().split("\n"))
arguments["decoder_first_pipeline_num_layers"] = "3"
arguments["decoder_last_pipeline_num_layers"] = "2"
arguments["moe_layer_freq"] = str([0] * 3 + [1] * 58)
arguments.update(given)
print("------------------------ arguments ------------------------")
for key in sorted(arguments):
    if arguments[key] != "-":
        print("  " + key + " " + "." * (48 - len(key)) + " " + arguments[key])
print("-------------------- end of arguments ---------------------")
print("NVIDIA H100 80GB HBM3")
for step in range(1, 7):
    print(f" [2025-06-01 10:0{step}:00] iteration {step}/ 100 | consumed samples: {1024 * step} |"
          f" elapsed time per iteration (ms): 20002.0 |"
          + (f" throughput per GPU (TFLOP/s/GPU): {rate} |" if rate else "") +
          " global batch size: 1024 | lm loss: 2.0 |")
END_OF_DUMP
}

bytes_of() { python3 -c 'import json; print(json.load(open("out"))["predicted"]["device_bytes"])'; }

# ---- the optimizer on the host, and how much of it; FLOP of a token as Megatron-LM's own function
# counts them: latent attention's products and the causal half of its cells
dump host.log rate=204.6
reads host.log offload=1 layers=61 experts=256 kv_rank=512 tp=1 pp=16 dp=16 reading=certified
host=$(bytes_of)
grep -q '"name": "causal attention"' out || complain "its own count is not among the counts"
dump device.log rate=204.6 optimizer_cpu_offload=False
reads device.log offload=- reading=certified
device=$(bytes_of)
[ "$host" -lt "$((device * 2 / 3))" ] || complain "the optimizer's state is not on the host"
dump none.log optimizer_offload_fraction=0.0
reads none.log offload=-
[ "$(bytes_of)" = "$device" ] || complain "a share of 0 is on the host"
dump half.log optimizer_offload_fraction=0.5
reads half.log offload=1
grep -q '"column": "offload_share".*0.5' out || complain "half of the state is not named"

# ---- with a layer for further tokens the others stay as printed: three of 61 are dense, and the
# 31.8e9 parameters of their experts are not there
dump further.log rate=213.0 mtp_num_layers=1
reads further.log offload=1 reading=certified
"$plumbline" explain further.log -o further > out 2> err || complain "further tokens"
grep -q '682.6B parameters' out || complain "further tokens: another model"

# ---- a vocabulary that is printed padded stays as it is, whatever else is printed of it
dump padded.log vocab_size=129000 padded_vocab_size=129280 tensor_model_parallel_size=8 \
    sequence_parallel=True
reads padded.log vocab=129280
"$plumbline" explain padded.log -o padded > out 2> err || complain "a padded vocabulary"
grep -q '"vocabulary": 129280' padded/model.json || complain "another vocabulary"
grep -q vocabulary_multiple padded/model.json && complain "padded once more"

# ---- some arguments between the lines that begin and end all: what is not among them is not known
quote() { # FILE: from the beginning, and the end, and what was measured
    { sed -n '/^-.* arguments -/p; /  \(hidden_size\|num_layers\|num_attention_heads\|seq_len\)/p
        /  \(bf16\|world_size\|moe_token\|micro_batch\|ffn_hidden\)/p; /end of/p' host.log
        grep 'H100\| iteration ' host.log; } > "$1"
}
quote some.log
reads some.log layers=61 gated=- flash=- fused_loss=- tied=- dispatcher=all_to_all
"$plumbline" explain some.log > out 2> err || complain "some arguments"
grep -q 'gated 0\|dispatcher all\|this version has no\|as no argument' out &&
    complain "the page tells what nobody stated"
# the end alone, behind which nothing is known either
sed '/- arguments -/d' host.log > end.log
reads end.log layers=61 fused_loss=-
# all of them: what is off because no argument has it is one item
"$plumbline" explain host.log > out 2> err || complain "all arguments"
tr -s '\n ' ' ' < out | grep -q 'off, as no argument has it: overlap_messages, overlap_tensor' ||
    complain "what has no argument is not told in one item"

# ---- what the last line alone is slow by (a checkpoint, an evaluation, the end) is no trend; what
# slows down from line to line is one
logs=$root/tests/explain/logs
awk '/ iteration 6\// { sub(/\(ms\): [0-9.]*/, "(ms): 31000.0") } { print }' "$logs/megatron.log" \
    > last.log
reads last.log iteration_s=7.0045 verdict=agrees
grep -v 'iteration [45]/' last.log > few.log
reads few.log iteration_s=7.003 verdict=agrees
awk '/ iteration / { n++; sub(/\(ms\): [0-9.]*/, "(ms): " 7000 * n) } { print }' \
    "$logs/megatron.log" > moves.log
reads moves.log "verdict=not stationary"
# ---- the layer for a further token alone on its stage: predicted as such, and no plan
stages() { # FILE LAYOUT
    dump "$1" mtp_num_layers=1 decoder_first_pipeline_num_layers=- \
        decoder_last_pipeline_num_layers=- "pipeline_model_parallel_layout=$2"
}
stages lone.log 'Et*3|(tt|)*29m|L'
stages head.log 'Et*3|(tt|)*29|mL' # nothing is on the last stage but one
stages both.log 'Et*3|(tt|)*28t|t|mL'
reads lone.log vpp=2
reads both.log vpp=2
answers 0 "682.6B parameters" explain lone.log
answers 0 "further_stage 1: the stage of further tokens alone" explain lone.log
answers 0 "stage 30 holds no layer" explain head.log
answers 2 "plans have them where the head is" explain lone.log -o lone
python3 - << 'END' || complain "the head's stage is not relieved of the layer before it"
import json
time = lambda name: json.load(open(f"explained-{name}.log.json"))["predicted"]["iteration_s"]
assert 0.9 * time("both") < time("lone") < time("both"), (time("lone"), time("both"))
END
ended

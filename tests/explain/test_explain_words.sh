#!/bin/sh
# `plumbline explain` on words of posts: machines and cards in Chinese, cards of other makers, what
# a page says of runs that are not meant, code in notebooks, lone lines and shapes of other runs.
name=test_explain_words
. tests/script.sh
. "$root/tests/explain/reads.sh"

# ---- a lack of memory, and how many cards, in Chinese
printf '# 两台8卡A800全量微调Qwen2.5-32B，显存不足\n' > machines.md
reads machines.md "verdict=out of memory" num_gpus=16 gpus_per_node=8 gpu=a800
printf '# 单机双卡3090微调Yi-6B爆显存\n' > desk.md
reads desk.md "verdict=out of memory" num_gpus=2 gpu=rtx3090
printf '# 2机2卡A10微调Qwen2.5-7B，显存不够\n' > shared.md
reads shared.md num_gpus=2 gpu=a10
printf '# 双机16卡H100训练Llama-3.1-70B，CUDA outof memory\n' > wide.md
reads wide.md "verdict=out of memory" num_gpus=16
printf '%s\n' '# Qwen2.5-7B SFT OOM' \
    '一共三个节点，每个节点上有 4 个 GPU，都是A100' > nodes.md
reads nodes.md num_gpus=12 gpus_per_node=4
printf '# 第一张A100上显存溢出，Qwen2.5-7B\n' > first.md
reads first.md "verdict=out of memory" num_gpus=-
printf '# 4张24GB显卡，Baichuan2-13B微调，OutOfMemory\n' > bare.md
reads bare.md num_gpus=4 gpu=- card_bytes=25769803776
answers 0 "the memory of the log's card" explain bare.md
printf '# 内存不足 on the host, Qwen2.5-7B on 8 A100 80GB\nIteration time: 2.0 s\n' > host.md
reads host.md out_of_memory=- # of a host
printf '# 4张4090lora微调Yi-6B，显存不足\n' > glued.md
reads glued.md num_gpus=4 gpu=rtx4090 adapters=1
printf '%s\n' 'LLaMA-Factory, Yi-6B on 4 A100 80GB: OOM' '--cutoff_len 1536 --max_length 320' \
    > writes.md
reads writes.md seq=1536
# ---- cards that no cluster has
printf 'Llama-2-7b full finetune on 2 x Titan RTX: OOM\n' > titan.md
reads titan.md gpu=titan-rtx "verdict=out of memory"
answers 0 "gpu titan-rtx: as .*, but for its memory of 24.0 GiB" explain titan.md
printf 'OOM of Llama-2-7b on one W7900\n' > amd.md
reads amd.md gpu=w7900
printf 'Yi-6B on an RTX 2080Ti 11G goes OOM\n' > old.md
reads old.md gpu=rtx2080ti
printf 'It is 2080 samples on a V100-32GB, Llama-2-7b, OOM\n' > number.md
reads number.md gpu=v100-32gb
# ---- what failed and says nothing of recomputation did none, whatever its program
printf 'own trainer: Llama-2-7b on 8 A100 80GB, batch size 8, sequence length 4096: OOM\n' > own.md
answers 0 "recompute none: it failed, and does not say that it recomputes" explain own.md
# ---- names of models with their own widths of heads, and in code
printf 'Qwen3-4B on 1 A100 80GB OOM\n' > narrow.md
reads narrow.md layers=36 hidden=2560 heads=32 kv_heads=8 head_width=128 tied=1
cat > code.ipynb << 'END'
{"cells": [{"cell_type": "code", "source": [
    "# Adapters on Falcon-40B\n",
    "model_id = \"tiiuae/falcon-7b\"\n",
    "\"\"\"\n",
    "config = BitsAndBytesConfig(load_in_4bit=True)\n",
    "\"\"\"\n",
    "pip install torch-2.0-cp39-cp39-linux.whl numpy-1-cp39-cp39.whl\n",
    "config = LoraConfig(\n",
    "    r=8, lora_alpha=32,\n",
    "    target_modules=[\n",
    "        \"query_key_value\",\n",
    "        \"dense\",\n",
    "    ],\n",
    "args = transformers.TrainingArguments(per_device_train_batch_size=4, bf16=True)\n"],
  "outputs": [{"text": ["{'train_runtime': 100.0, 'train_samples_per_second': 4.0}\n"]}]}]}
END
sed 's/{"cells": \[{/{\n/' code.ipynb | sed 's/^"cell_type"/ "cell_type"/' > cells.ipynb
reads cells.ipynb layers=32 hidden=4544 cp=- weight_bits=- micro_batch=4 \
    adapter_modules=o_proj,linear_qkv
printf 'LoraModel(model, adapter_name=adapter_name)\nLoRA of Llama-2-7b on 1 V100 32GB: OOM\n' \
    > traceback.md
reads traceback.md adapters=1
# ---- what is left out, of at least, or of two runs in a line, states nothing
cat > pages.md << 'END'
# Llama3-8B in torchtitan on 8 H100
Remove the `--model.converters="float8"` flag for the plain run; at least 16x H100 serve best.
Then H100s reach **1979** TFLOPS in FP8. Set `tp_size=8`, and for the small one `tp_size=2`.
step: 10 loss: 9.1 memory: 60.00GiB(75.00%) tps: 6,000 tflops: 347.46 mfu: 35.13%
step: 20 loss: 8.1 memory: 60.00GiB(75.00%) tps: 6,000 tflops: 347.46 mfu: 35.13%
END
reads pages.md precision=- tp=- num_gpus=8 tokens_per_s_per_gpu=6000
# ---- columns that are alike in all rows of a table, and steps within its cells
cat > alike.md << 'END'
# Llama-3.1-8B pretraining recipes, H100
| GPUs | SeqLen | TP | MBS | GBS |
|---|---|---|---|---|
| 16 | 4096 | 2 | 2 | 64 |
| 32 | 4096 | 2 | 2 | 128 |
Training epoch 0, iteration 9/49 | global_batch_size: 64 | global_step: 9 | \
peak_memory_usage: 60000000000 | train_step_timing in s: 2.0
END
reads alike.md seq=4096 tp=2 micro_batch=2 global_batch=64 allocated_bytes=60000000000
cat > steps.md << 'END'
# torchtitan, Llama3-8B
## Qwen3-8B
| GPU | local_bs | global_bs | last line |
|---|---|---|---|
| H100 | 1 | 8 | step: 100 loss: 6.4 memory: 60.00GiB(75%) tps: 6,000 tflops: 300.0 |
| H200 | 2 | 16 | step: 100 loss: 6.4 memory: 90.00GiB(64%) tps: 7,000 tflops: 350.0 |
END
answers 2 "expected --run to choose one of 2 runs in its tables: 1 'H100', 2 'H200'" \
    explain steps.md
"$plumbline" explain steps.md --run 2 --json > out 2> err || complain "steps.md --run 2"
python3 - << 'END' || complain "another row of the table was read"
import json
answer = json.load(open("out"))
said = {key: told["value"] for key, told in answer["stated"].items()}
assert (said["gpu"], said["micro_batch"], said["model"]) == ("h200", "2", "qwen3-8b"), said
assert answer["measured"]["tokens_per_s_per_gpu"] == 7000, answer["measured"]
END
# ---- numbers of tokens, of several runs, or of which a part was read state no batch
batch() {
    printf 'Llama-3.1-8B on 8 H100, %s. Iteration time: 2.0 s\n' "$1" > batch.md
    shift
    reads batch.md "$@"
}
batch 'global batch size of 4M tokens' global_batch=- micro_batch=-
batch 'the batch size is 512 tokens' micro_batch=-
batch 'batch size 4/8' micro_batch=-
batch 'batch size of 1,024 in all' global_batch=1024 micro_batch=-
batch 'training batch size 1024 (micro batch 1)' global_batch=1024 micro_batch=1
batch 'micro-batch size 2, batch size 64' global_batch=64 micro_batch=2
batch 'batch size per GPU is 4' micro_batch=4 global_batch=-
batch 'a batch size of 4 per device' micro_batch=4 global_batch=-
batch 'local batch size 2, overall batch size 128' micro_batch=2 global_batch=128
batch 'batch size 256 across 8 GPUs' global_batch=256 micro_batch=-
batch 'rollout batch size 512, eval batch size 8' micro_batch=- global_batch=-
batch 'sequence length of 4096, output length 512' seq=4096
batch 'seq_length 2048, eval sequence length 128' seq=2048
batch '--micro_batch_size=4 --batch_size=16' micro_batch=4 global_batch=16
batch 'TP=2 PP=1 GBS=1,024' tp=2 global_batch=-
batch 'TP=2 PP=1 GBS 1,024' tp=2 global_batch=-
batch 'GBS=16/32, MBS=2' global_batch=- micro_batch=2
batch 'DP=8,GBS=16,MBS=2' dp=8 global_batch=16 micro_batch=2
# ---- a flag that is none, a letter away from one
cat > typo.log << 'END'
Llama-3.1-8B on 8 H100: torchrun pretrain_gpt.py --tensor-model-paralel-size 2 --seq-lenght 8192 \
    --micro-batch-size 1 --global-batch-size 64 --my-own-flag 3 --min-length 7
 iteration 10/ 100 | elapsed time per iteration (ms): 4000.0 | global batch size: 64 |
END
reads typo.log tp=- seq=- micro_batch=1 global_batch=64
answers 0 "^not read  --tensor-model-paralel-size (line 1): no flag that is known" explain typo.log
answers 0 "^ *--tensor-model-parallel-size$" explain typo.log
answers 0 "seq-lenght (line 1): no flag that is known; the nearest is --seq-length" explain typo.log
answers 0 "tensor-model-paralel-size and others are no flag that is known" explain typo.log
grep -q 'my-own\|min-length' "$here/out" && complain "a program's own flag is called a mistake"
sed 's/paralel/parallel/; s/lenght/length/' typo.log > right.log
reads right.log tp=2 seq=8192
grep -q not_read out && complain "a right flag is called a mistake"
# ---- a lone late line is no mean from the beginning
line() {
    printf ' iteration %8d/ 1000 | consumed samples: %8d | elapsed time per iteration (ms): ' $1 $2
    printf '4000.0 | throughput per GPU (TFLOP/s/GPU): 400.0 | global batch size: 64 |\n'
}
{ echo 'Llama-3.1-8B, 8 H100, tp1_pp1, seq 8192'; line 100 6400; } > early.log
reads early.log "verdict=warm-up only"
{ echo 'Llama-3.1-8B, 8 H100, tp1_pp1, seq 8192'; line 700 44800; } > late.log
"$plumbline" explain late.log --json > out; grep -q "warm-up" out && complain "a late line"
# ---- a rank that holds another number of parameters by far
sed 's/ > number of parameters on .*//' "$root/tests/explain/logs/megatron.log" > shape.log
echo ' > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 1000' >> shape.log
answers 0 "a rank of the model does not hold the parameters that the log counts" \
    explain shape.log
# ---- a tower of images: its FLOP are counted, too, and refuse nothing
cat > images.md << 'END'
# Qwen3-VL-30B-A3B on 8x H200, seq_len = 8192, local_batch_size = 1
step: 10 loss: 9.1 memory: 60.00GiB(43.00%) tps: 6,000 tflops: 250.0 mfu: 25.3%
step: 20 loss: 8.1 memory: 60.00GiB(43.00%) tps: 6,000 tflops: 250.0 mfu: 25.3%
END
reads images.md "reading=not certified" model=qwen3-30b-a3b
# ---- no change that the framework refuses: a dispatch that is hidden is never computed again
{
    echo "using world size: 16, data-parallel size: 8"
    echo "------------------------ arguments ------------------------"
    sed 's/^\([^ ]*\) /  \1 ................... /' << 'END'
bf16 True
expert_model_parallel_size 8
expert_tensor_parallel_size 1
ffn_hidden_size 6144
hidden_size 2048
kv_channels 128
micro_batch_size 4
moe_ffn_hidden_size 768
moe_router_topk 8
moe_token_dispatcher_type alltoall
normalization RMSNorm
num_attention_heads 32
num_experts 128
num_layers 48
num_query_groups 4
overlap_grad_reduce True
overlap_moe_expert_parallel_comm True
padded_vocab_size 151936
position_embedding_type rope
recompute_granularity None
seq_length 4096
sequence_parallel True
swiglu True
tensor_model_parallel_size 2
tp_comm_overlap True
transformer_impl transformer_engine
untie_embeddings_and_output_weights True
use_distributed_optimizer True
END
    echo "-------------------- end of arguments ---------------------"
    for i in 1 2 3 4; do
        echo " iteration $i/ 9 | global batch size: 128 | elapsed time per iteration (ms): 2707.5 |"
    done
} > beside.log
answers 0 "\"iteration_s\": 2.7" explain beside.log --gpu h200-141gb --json
grep -q "\"recompute\": \"full\"" out && complain "a hidden dispatch is computed again"
# ---- the model of printed arguments is the one that import reads: dense layers, latents, norms
sed '/^  bf16 /i \  moe_layer_freq ................... ([0]*2+[1]*46)\
  qk_layernorm ................... True' beside.log > dense.log
answers 0 "" explain dense.log --gpu h200-141gb -o dense
answers 0 "" import megatron dense.log -o dense.json
for key in count qk_norm; do
    grep -o "\"$key\": [^,]*" dense.json > asked
    grep -o "\"$key\": [^,]*" dense/model.json | cmp -s - asked || complain "another model: $key"
done
grep -q '"kind": "block", "count": 2' dense/model.json || complain "no dense layers"
# ---- adapters of a mixture: on its attention, whose gradients pass through experts
mixture='Mixtral-8x7B on 8 H100 80GB, seq_length: 2048, micro_batch_size: 1, global_batch_size: 8,
LoRA r=16 target_modules=["q_proj", "v_proj"%s]\nIteration time: 1.5 s\n'
printf "$mixture" '' > attention.md
printf "$mixture" ', "up_proj"' > experts.md
answers 0 "Mixtral\|mixtral" explain attention.md -o attention
grep -A3 '"kind": "moe"' attention/model.json | grep -q frozen || complain "a mixture is trained"
grep -q '"adapter_modules": \["query", "value"\]' attention/model.json ||
    complain "no adapters on a mixture's attention"
answers 0 "adapter_modules attention: adapters on a mixture's experts are not priced" \
    explain experts.md
# ---- degrees, batches and sharded replicas in words, a list's items before prose
printf '%s\n' '# Llama-3.1-70B: our PP2 runs against torchtitan on 64 H100 80GB' \
    '- FSDP32, TP2, PP1' '- BF16, MBS2, GBS64' 'step time: 5.0 s' > items.md
reads items.md dp=32 tp=2 pp=1 micro_batch=2 global_batch=64 zero=3 precision=bf16
printf '%s\n' '4 nodes, MBS 4, GBS 128, Llama-3.1-8B with fp8 precision' 'Iteration time ~1.5 s' \
    'FSDP2 shards, EP is off, and BF16 and FP8 precision are supported' > apart.md
reads apart.md micro_batch=4 global_batch=128 precision=fp8 iteration_s=1.5 dp=-
printf '%s\n' 'Llama-3.1-8B, 8 H100, GBS/MBS 1024/2' 'step time: 5.0 s' > batches.md
reads batches.md micro_batch=2 global_batch=1024
printf '%s\n' 'TorchTitan, Llama-3.1-8B, H100 80GB' \
    'FSDP=16, local batch size=2, full AC, torch.compile is enabled: TPS ~7,000' > sharded.md
reads sharded.md num_gpus=16 dp=16 micro_batch=2 recompute=full compiled=1
answers 0 "run       torchtitan" explain sharded.md
printf '%s\n' 'Llama-2-13b on 3 nodes × 4 A100 80GB, without full AC' 'step time: 5.0 s' > times.md
reads times.md num_gpus=12 gpus_per_node=4 recompute=-
# ---- tables without bars around them, of a row's own model and machine
cat > rows.md << 'END'
# Llama 2 in our trainer, measured beside an 8x H100 node
Model size | Hardware | Batch size | Activation checkpointing | Post-warmup step time
-- | -- | -- | -- | --
13B | 4x GH200 | 2 | selective op | 0.75 s
70B | 16x A100 | 1 | full | 750 ms
END
"$plumbline" explain rows.md --run 70B --json > out 2> err || complain "rows.md --run 70B"
python3 - << 'END' || complain "a row without bars was not read"
import json
answer = json.load(open("out"))
said = {key: told["value"] for key, told in answer["stated"].items()}
found = [said.get(key) for key in ("model", "gpu", "num_gpus", "micro_batch", "recompute")]
assert found == ["llama-2-70b", "a100", "16", "1", "full"], found
assert abs(answer["measured"]["iteration_s"] - 0.75) < 1e-9, answer["measured"]
END
cat > shape.md << 'END'
I am now getting 640.5ms per iteration for single GPU, V100 32GB, GPT-2:
Config | Hidden size | Attention heads | Number of layers
-- | -- | -- | --
1 | 1920 | 20 | 24
END
reads shape.md hidden=1920 heads=20 layers=24 num_gpus=1 iteration_s=0.6405
printf 'Llama-3.1-8B on 8 H100 takes 3.5 s per iteration (proven)\n' > plan.md
answers 2 "expected a training log" explain plan.md
# ---- a class is no model, a terminal's code no card, a compact notebook one process
printf '%s\n' 'hf_id: someone/Sunbeam-16B-A3B' 'architecture: DeepseekV3ForCausalLM, 8 H100' \
    'step time: 2.0 s' > class.md
reads class.md model=- gpu=h100
cat > compact.ipynb << END
{"cells":[{"cell_type":"code","source":["SFTTrainer(model=\"Qwen/Qwen2.5-7B\")\n"],"outputs":[{
      "\u001b[2K \u001b[32m40.8/40.8 MB\u001b[0m\n",
"data":{"text/plain":["TrainOutput(global_step=75, metrics={'train_runtime': 30.0, \
'train_samples_per_second': 20.0, 'train_steps_per_second': 2.5})"]}}]}]}
END
reads compact.ipynb num_gpus=1 global_batch=8 gpu=-
answers 0 "micro_batch 8: the batch over replicas" explain compact.ipynb
# ---- one program's batch beside its micro-batch, in either order
printf '%s\n' 'Llama-13b on 8 A100 80GB' '--micro_batch_size=2 --batch_size=64' \
    'step time: 2.0 s' > both.md
reads both.md micro_batch=2 global_batch=64
sed 's/^--.*/--batch_size 64 --micro_batch_size 2/' both.md > turned.md
reads turned.md micro_batch=2 global_batch=64
# ---- what a page would add to another command
printf '%s\n' 'Llama-3.1-8B, 8 H100, seq_length: 2048' 'step time: 2.0 s' \
    'Add `max_length=1024` to the evaluation if it bothers you.' > advice.md
reads advice.md seq=2048
# ---- a line without its number is not the first one
printf '%s\n' 'Llama-3.1-8B on 8 H100 80GB, MBS 1, GBS 64' \
    'reduced_train_loss: 0.2 | train_step_timing in s: 3.5 | consumed_samples: 3200' > quoted.md
answers 0 "" explain quoted.md
grep -q "warm-up" out && complain "a quoted line was taken for the first one"

# ---- a run without its time is no refusal, and a rate in other words is one
cat > plan.md << 'END'
Llama 3 8B on 8 H100 80GB: TP=2, sequence length of 8192, micro batch size 1
END
reads plan.md "verdict=not measured" num_gpus=8 tp=2 seq=8192 micro_batch=1 model=llama-3.1-8b
sed 's/$/, global batch size 32; we see 36.5% MFU/' plan.md > share.md
"$plumbline" explain share.md | grep -q "measured .* an iteration" || complain "MFU is no rate"
for words in '8,000 tokens per second per GPU' '8000 tokens/gpu/s' 'our 8,000 tokens/second/GPU'; do
    sed "s|\$|, global batch size 32, $words|" plan.md > rate.md
    reads rate.md global_batch=32
    answers 0 "measured 4.096 s an iteration" explain rate.md
done
for size in '124M 12' '350M 24' '774M 36' '1.5B 48'; do
    printf 'GPT-2 %s on 8 V100 32GB, micro batch size 4\n' "${size% *}" > sized.md
    reads sized.md "layers=${size#* }"
done

# ---- hybrid sharding: the shards of a group are not all data ranks
for words in 'dp_replicate_size=4, dp_shard_size=8' 'hybrid shard (HSDP), 4 groups'; do
    printf 'Llama 3 8B on 32 H100, %s, sequence 4096, micro batch 1\n' "$words" > groups.md
    reads groups.md num_gpus=32 zero=3 tp=- dp=-
done
# ---- what a README states of others' runs; a vocabulary in thousands; a table of two systems
printf 'I saw that in your README TP8 PP2 was fast\n' > theirs.md
printf 'Llama 3 70B on 128 H100 with TP8 PP8, 300 TFLOPs/s/GPU\n' >> theirs.md
reads theirs.md pp=8
printf 'Llama-2-7B on 8 H100 (vocab 32k, bf16, seq length 4096): 1.5 steps/s\n' > vocabulary.md
reads vocabulary.md seq=4096
cat > systems.md << 'END'
Llama 2 7B on A100 80 GB GPUs with FSDP
| model | gpu-count | seq-len | num-ckpt-layers | YaFSDP step time (s) | FSDP step time (s) |
| :---- | --------: | ------: | --------------: | ---------------: | ---------------: |
| Llama 2 7B | 64 | 2048 | 0 | 0.81 | 0.90 |
| Llama 2 7B | 128 | 8192 | 5 | 2.25 | 2.31 |
In each run per-device batch size is set to 1.
END
answers 0 "measured 900" explain systems.md --run 1
answers 0 "measured 2.310 s" explain systems.md --run 2
for run in 1:1 2:0; do # the second's has 5 layers of them
    "$plumbline" explain systems.md --run "${run%:*}" --json > systems.json
    python3 -c 'import json; print(int("recompute" in json.load(open("systems.json"))["stated"]))' |
        grep -qx "${run#*:}" || complain "checkpointed layers of run $run"
done

# ---- a configuration beside a run of another batch: its tokens/s times its clock
printf 'batch_size = 8\nseq_len = 2048\n# llama2 7b\n' > clock.md
for step in 1 2 3 4 5 6; do
    printf '2024-10-03 15:01:%02d,000 - root - INFO - step: %s  loss: 3.9  wps: 1,638\n' \
        $((5 * step)) $step >> clock.md
done
answers 0 "micro_batch 4: tokens/s of a GPU x the clock of its lines" explain clock.md

# ---- a run is not older than its model
printf 'Llama-3.1-8B on 8 H100 with FSDP\n2.0 s/step\n' > month.md
answers 0 "sdpa since 4.36" explain month.md
sed 's/Llama-3.1-8B/Llama-2-7b/' month.md > older.md
answers 0 "before fused attention" explain older.md
ended

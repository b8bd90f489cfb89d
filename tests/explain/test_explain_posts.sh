#!/bin/sh
# `plumbline explain` on posts and pages: which of several runs, what a configuration says against a
# title, counts and rates in words, what a shell has from its launcher.
name=test_explain_posts
. tests/script.sh
. "$root/tests/explain/reads.sh"

# ---- tables of several runs: none is taken unless one is asked for, by its first cell or number
cat > runs.md << 'END'
# Scaling of our Qwen3-8B runs on H100

| Run | Nodes | GPUs | GBS | Iter (s) | TFLOPS/GPU |
|-----|-------|------|-----|----------|------------|
| small | 1 | 8 | 128 | 3.20 | 410 |
| large | 4 | 32 | 512 | 3,400 ms | 385 |
END
answers 2 "line 5: expected --run to choose one of 2 runs in its tables: 1 'small', 2 'large'" \
    explain runs.md
answers 2 "expected --run to name one of 2 runs" explain runs.md --run medium
sed 's/large/small/' runs.md > equal.md
answers 2 "--run small: expected the number of one of several runs of that name: 1 'small'," \
    explain equal.md --run small
echo 'Iteration time: 3.2 s' > times.log
printf '| run | tokens/s |\n|---|---|\n| one | 9000 |\n| two | 9500 |\n' > rates.md # of what?
answers 2 "line 4: --run two: expected a rate under a column that says of what it is" \
    explain rates.md --run two
answers 2 "times.log: --run: expected a table of runs with a column of rates, found none" \
    explain times.log --run two
answers 2 "plumbline explain: missing operand; usage: plumbline explain LOG" explain
chosen() {
    "$plumbline" explain runs.md --run "$1" --json > out 2> err || complain "--run $1"
    python3 - "$2" "$3" "$4" "$5" << 'END' || complain "--run $1: not its row"
import json, sys
answer = json.load(open("out"))
gpus, batch, seconds, tflops = sys.argv[1:]
assert answer["stated"]["num_gpus"]["value"] == gpus, answer["stated"]
assert answer["stated"]["global_batch"]["value"] == batch
assert abs(answer["measured"]["iteration_s"] - float(seconds)) < 1e-9, answer["measured"]
assert answer["measured"]["tflops_per_gpu"] == float(tflops)
END
}
chosen small 8 128 3.2 410
chosen LARGE 32 512 3.4 385
chosen 2 32 512 3.4 385
cp equal.md runs.md && chosen 2 32 512 3.4 385
sed '6s/small/large/' equal.md > runs.md
sed '/large/d' runs.md > one.md # one run needs no name
reads one.md num_gpus=8 global_batch=128 iteration_s=3.2 tflops_per_gpu=410 model=qwen3-8b
printf 'Iteration time: 3.2 s\nlater\nIteration time: 9.1 s\n' > times.md # of which run is not said
answers 2 "expected a training log" explain times.md

# ---- Megatron's feed-forward width with swiglu; what "fits" where the run itself is said not to
cat > swiglu.md << 'END'
torchrun pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --swiglu \
 --seq-length 4096 --micro-batch-size 1 --global-batch-size 8 --tensor-model-parallel-size 8
 iteration 10/ 50 | elapsed time per iteration (ms): 9000.0 | global batch size: 8 |
END
reads swiglu.md ffn=10880 hidden=4096 layers=32
sed 's/--swiglu/--squared-relu/' swiglu.md > plain.md
reads plain.md ffn=- hidden=4096
answers 2 "explain: --set: column tp: expected a whole" explain plain.md --set tp=two
cat > full.md << 'END'
TrainingArguments(per_device_train_batch_size=4, gradient_accumulation_steps=8, bf16=True)
model: Qwen/Qwen2.5-7B   max_seq_length=2048   4x A6000
***** Running training *****
  Instantaneous batch size per device = 4
  Total train batch size (w. parallel, distributed & accumulation) = 128
  Gradient Accumulation steps = 8
 10%| | 120/1218 [1:02:11<9:30:22, 31.2s/it]
END
answers 0 "of [0-9]* that take no more memory" explain full.md

# ---- a configuration's model against the title's; a title's GPUs against the lines behind it
cat > title.md << 'END'
# OOM with qwen2 7b on 8 A100 80G
torch.OutOfMemoryError: CUDA out of memory.
model_name_or_path: /models/Qwen2-72B
finetuning_type: full
END
reads title.md layers=80 hidden=8192 num_gpus=8 model=- "verdict=out of memory"
cat > cards.md << 'END'
# OOM: 8卡4090 and Qwen2.5-7B
here 2卡4090 run out of memory as well
model_name_or_path: Qwen2.5-7B-Instruct
END
reads cards.md num_gpus=2 model=qwen2.5-7b gpu=rtx4090

# ---- words and verbs, products, nodes
cat > verbs.md << 'END'
gemma-2-9b CUDA-OOMs on 8xH100-80GB
tensor model parallel size = 4, pipeline model parallel size = 2
END
reads verbs.md num_gpus=8 tp=4 pp=2 dp=1 model=gemma-2-9b "verdict=out of memory"
printf 'OOM with Qwen3-VL-235B-A22B (4x8H100-80G)\n' > product.md
reads product.md num_gpus=32 model=qwen3-235b-a22b gpu=h100-80gb
printf 'DeepSeek-V3 on 16 GB200 nodes / 64 GPUs, GBS=512: 12.5 s/step\n' > nodes.md
reads nodes.md num_gpus=64 gpus_per_node=4 global_batch=512 model=deepseek-v3 iteration_s=12.5
cat > launched.md << 'END'
out of memory with llama-7b on 4x8H100
if [ -z "$MASTER" ]; then
    export NNODES=1
    export NPROC_PER_NODE=8
else
    export NNODES=${WORLD_SIZE:-1}
fi
END
reads launched.md num_gpus=32 model=llama-2-7b

# ---- rates in words
printf 'llama3_70b.toml of torchtitan on 32 H200 GPUs: wps is only around ~210\n' > wps.md
reads wps.md num_gpus=32 model=llama-3.1-70b gpu=h200 tokens_per_s_per_gpu=210
printf 'swift sft of Qwen3-8B on 8 H100 GPUs: train speed 0.05iter/s\n' > speed.md
reads speed.md iteration_s=20 num_gpus=8
printf 'Llama 3.2 3B\nTraining runtime: 50 seconds\nSamples per second: 4.5\n' > ended.md
reads ended.md samples_per_s=4.5 model=llama-3.2-3b

# ---- DeepSpeed of 2021, whose timer prints only a mean; GPT-NeoX's lines
for step in 10 20 30; do
    printf '[2021-11-02 03:10:%d,100] [INFO] [timer.py:189:stop] 0/%d, SamplesPerSec=41.5, %s\n' \
        "$step" "$step" 'MemAllocated=1.5GB, MaxMemAllocated=12.25GB'
done > timer.log
reads timer.log timer_samples_per_s=41.5 allocated_bytes=13153337344
cat > neox.log << 'END'
[checkpointing.py:531:forward] ----contiguous Memory Checkpointing False with 24 total layers
 samples/sec: 16.000 | iteration       20/   10000 | elapsed time per iteration (ms): 4000.0 |
 samples/sec: 16.000 | iteration       21/   10000 | elapsed time per iteration (ms): 4000.0 |
END
reads neox.log layers=24 global_batch=64 iteration_s=4 samples_per_s=16
cat > pipe.log << 'END'
trained on 16(2*8) 32GB V100, seq_length is 1024
steps: 10 loss: 9.1 iter time (s): 2.500 samples/sec: 51.200
steps: 20 loss: 8.7 iter time (s): 2.500 samples/sec: 51.200
END
reads pipe.log num_gpus=16 gpu=v100-32gb seq=1024 iteration_s=2.5 samples_per_s=51.2 \
    global_batch=128

# ---- YAML: a key with nothing behind it, a list; what is behind "reducing to" ran
cat > lists.md << 'END'
# QLoRA of Llama-2-70b-hf on 2*RTX3090 (24G): CUDA out of memory
bf16: auto
fp16:
micro_batch_size: 4 goes OOM, reducing to micro_batch_size: 2 works
fsdp:
  - full_shard
END
reads lists.md zero=3 precision=- micro_batch=4 num_gpus=2 model=llama-2-70b
grep -q 'of a card of 25' out && grep -q '"predicted"' out || complain "no prediction of adapters"

# ---- a notebook is one process; a tokenizer's vocabulary and answers' length are not the run's
cat > notebook.ipynb << 'END'
   "cell_type": "code",
      "Qwen2Tokenizer(name_or_path='Qwen2.5-7B', vocab_size=151000, model_max_length=512)\n",
    "MAX_LENGTH = 384\n",
    "    lora_alpha=32,\n",
    "    per_device_train_batch_size=4,\n",
    "    gradient_accumulation_steps=2,\n",
      "WARNING:root:Some parameters were offloaded to the cpu.\n",
       "metrics={'train_runtime': 60.0, 'train_samples_per_second': 16.0})\n",
    "gen_kwargs = {\"max_length\": 2500, \"do_sample\": True}\n",
END
reads notebook.ipynb num_gpus=1 vocab=- seq=384 micro_batch=4 iteration_s=0.5 model=qwen2.5-7b

# ---- what failed recomputes only if its program does unless told; offload in a file's name; what
# sends fewer bits is said, and not priced
cat > axolotl.md << 'END'
# LoRA of Mistral 7B on 1 A100 80GB GPU with axolotl goes OOM
base_model: mistralai/Mistral-7B-v0.1
sequence_len: 4096
micro_batch_size: 4
adapter: lora
END
answers 0 "recompute none.*it failed, and does not say that it recomputes" explain axolotl.md
answers 0 "is predicted not to fit" explain axolotl.md
sed 's/axolotl/swift sft/' axolotl.md > swift.md
answers 0 "recompute full: gradient checkpointing" explain swift.md
cat > bits.md << 'END'
CUDA out of memory: Qwen3-8B on 8 A100 80GB GPUs, cut_off 2048, ds_z2_offload_config.json
"optimizer": {"type": "OneBitAdam", "params": {"lr": 1e-4}}
END
reads bits.md seq=2048 zero=2 num_gpus=8
answers 0 "1-bit Adam sends fewer bits: gradients are priced whole" explain bits.md
answers 0 "host_update_values_per_s" explain bits.md

# ---- joined degrees; instances; settings are no traceback; another program's stage
printf 'TP1EP8PP2VP24 takes 14 s/step\n' > joined.md
reads joined.md tp=1 ep=8 pp=2 vpp=24 iteration_s=14
printf 'Llama3.1-8B on 2 x p5.48xlarge instances (each has 8 x H100 GPUs): %s\n' \
    '5,000 tokens/s/GPU' > cloud.md
reads cloud.md num_gpus=16 gpus_per_node=8 tokens_per_s_per_gpu=5000
cat > where.md << 'END'
OOM of Qwen3-8B with 七张A800; deepspeed zero3 在别处可以正常微调
exp_avg_sq_dtype=torch.float32 --cross_entropy_loss_fusion true
END
reads where.md num_gpus=7 zero=- gpu=a800
grep -q 'ran out of memory in' out && complain "a setting is taken for a traceback's line"

# ---- out of memory: what the report says by itself, and what stands in for values that are not
# stated: a model by its parameters or a request of all of them, a batch by a request of logits
cat > sized.md << 'END'
# Cuda OOM with a 20B model on 4 x V100 32GB GPUs
END
answers 0 "model gpt-neox-20b: not named: of usual ones the nearest to 20B parameters" \
    explain sized.md
answers 0 "is predicted not to fit" explain sized.md
printf 'OOM after 20B tokens on 8 A100 80GB GPUs, 3,000 billion tokens wanted\n' > tokens.md
answers 0 "not predicted: the model is not in the text" explain tokens.md
answers 0 "not with a model as large as llama-2-7b (6.74B parameters) or larger" \
    explain tokens.md
cat > whole.md << 'END'
# SFT on one A800 80GB: how much memory do we need?
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 25.10 GiB. GPU 0
END
reads whole.md num_gpus=1 gpu=a800-80gb model=- failed_request_bytes=26950919782
answers 0 "request that failed is that of all its parameters in 4" explain whole.md
cat > request.md << 'END'
# Megatron-LM: GPT2-large (774M) runs out of memory on V100-32GB
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 786.00 MiB (GPU 0; 31.74 GiB
 total capacity; 28.82 GiB already allocated; 577.12 MiB free; 29.97 GiB reserved in total)
END
answers 0 "seq 1024: not in the log: as far as its positions go" explain request.md
answers 0 "micro_batch 4: .*the request that failed is logits of 4 bytes" explain request.md
sed 's/786.00/826.00/' request.md > other.md # of no batch
answers 0 "micro_batch 1: not in the log" explain other.md
sed 's/786.00/246.00/' request.md > vocabulary.md # 50257 x 1280 x 4: weights
answers 0 "micro_batch 1: not in the log" explain vocabulary.md
# the least batch and length that do not fit, found by asking again with them set
printf 'QLoRA of Llama-3.1-8B on one A100 80GB goes OOM with axolotl\n' > range.md
"$plumbline" explain range.md --json > out 2> err || complain "range.md"
python3 - "$plumbline" << 'END' || complain "the ranges are not the least that do not fit"
import json, subprocess, sys
found = json.load(open("out"))["would_resolve"]
assert [i["column"] for i in found] == ["micro_batch", "seq"], found
def fits(column, value):
    set_ = f"{column}={value}" + (f",global_batch={value}" if column == "micro_batch" else "")
    words = [sys.argv[1], "explain", "range.md", "--json", "--set", set_]
    return json.loads(subprocess.run(words, capture_output=True).stdout)["predicted"]["fits"]
for item, tile in zip(found, (1, 64)):
    value = int(item["value"])
    assert not fits(item["column"], value) and fits(item["column"], value - tile), item
END
cat > npu.md << 'END'
# 910B: Qwen2.5-7B full SFT
RuntimeError: NPU out of memory. Tried to allocate 386.00 MiB (NPU 2;
 60.97 GiB total capacity; 59.57 GiB already allocated; 59.57 GiB current active; 16.54 MiB free;
 60.06 GiB reserved in total by PyTorch)
END
reads npu.md "verdict=out of memory" card_bytes=65466039009 gpu=ascend-910b model=qwen2.5-7b
answers 0 "gpu ascend-910b: as .*, but for its memory of 61.0 GiB" explain npu.md
answers 0 "a request for 386 MiB with 59.57 GiB of 60.97 GiB" explain npu.md
cat > others.md << 'END'
# LoRA of Qwen2.5-7B
torch.OutOfMemoryError: HIP out of memory. Tried to allocate 1.50 GiB. GPU 0 has
 a total capacity of 191.98 GiB of which 1.00 GiB is free. Of the allocated memory
20.00 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated.
END
reads others.md "verdict=out of memory" card_bytes=206136955371 failed_allocated_bytes=21474836480
own='Including non-PyTorch memory, this process has 22.00 GiB memory in use.'
sed "s/Of the allocated/$own &/" others.md > beside.md
answers 0 "other processes hold 168.98 GiB of the card" explain beside.md
cat > unshared.md << 'END'
# benchmark of llama2-7b OOM on 8 A100 80GB
Namespace(batch_size=16, max_length=4096, tp=4, pp=2, grad_checkpoint=True)
CUDA out of memory. Tried to allocate 32.00 GiB (GPU 6; 79.20 GiB total capacity;
 54.76 GiB already allocated; 22.56 GiB free; 55.44 GiB reserved in total by PyTorch)
END
answers 0 "no tensor ranks" \
    explain unshared.md
answers 0 "(tp=1)" explain unshared.md

# ---- which products have adapters, where the text does not say so
printf 'LoRA of Llama-3.1-8B on one A100 80GB goes OOM\n' > plain.md
answers 0 "adapter_modules q_proj,v_proj: .*peft's of" explain plain.md
sed 's/LoRA of/LoRA with unsloth of/' plain.md > every.md
answers 0 "adapter_modules all: .*its program's" explain every.md
{ cat plain.md; echo 'lora_target_modules: q_proj,v_prj'; } > typo.md
answers 0 "adapter_modules q_proj,?: a name of no known product is left out" explain typo.md
grep -q v_prj "$here/out" && complain "an unknown name is shown, which may be a person's"
# ---- what a program says of its GPU and its precision; batches by what was measured
cat > preset.md << 'END'
NOTE: this toml config is a preset for 64 A100 GPUs, torchtitan
[rank0]:2025-02-13 - root - INFO - CUDA capacity: NVIDIA H200 with 139.83GiB memory
[rank0]:2025-02-13 - root - INFO - step: 10  loss:  9.8  tps: 7,026  mfu: 41.15%
END
reads preset.md gpu=h200
lowest='"lowest_numerical_precision_linear",'
for wide in mxfp4 fp8; do
    { cat "$root/tests/explain/logs/mlperf.log"
        grep -m1 '"global_batch_size"' "$root/tests/explain/logs/mlperf.log" |
            sed "s/\"global_batch_size\", \"value\": [0-9]*/$lowest \"value\": \"$wide\"/"
    } > $wide.log
done
reads mxfp4.log precision=nvfp4
reads fp8.log precision=fp8
printf '%s\n' 'OPT-1.3b, fp16, --num_gpus 1 on an A100 80GB' \
    '--gradient_accumulation_steps 8' > chat.log
for latency in 0.73 0.73 0.73 1.10 0.37 0.73; do
    echo "Model Parameters: 1.429 B, Latency: ${latency}s, TFLOPs: 63.8, Samples/sec: 21.96," \
        "Time/seq 0.05s, Batch Size: 16, Sequence Length: 512"
done >> chat.log
reads chat.log micro_batch=16 seq=512
answers 0 "global_batch 128" explain chat.log
printf '%s\n' 'transformers, Qwen2.5-7B on one A100 80GB' \
    "{'train_runtime': 84.1, 'train_samples_per_second': 2.298, 'train_steps_per_second': 0.574}" \
    > steps.log
reads steps.log global_batch=4
printf '%s\n' 'Megatron-Bridge, Llama-3.1-8B on 8 H100' \
    'Step Time : 12.78s GPU utilization: 528.1MODEL_TFLOP/s/GPU' > flop.log
answers 0 "seq 8192: with it, the model's FLOP of an iteration are the log's" explain flop.log
answers 0 "global_batch 128: with it, the model's FLOP" explain flop.log
printf '%s\n' 'Megatron-Bridge, Llama-3.1-405B on 512 H100' \
    'Step Time : 10.03s GPU utilization: 500.0MODEL_TFLOP/s/GPU' > several.log
"$plumbline" explain several.log | tr -s ' \n' ' ' | grep -q "two of sequences, as with seq 2048" ||
    complain "of several lengths one is taken without a word"
"$plumbline" explain flop.log | grep -q "as with seq" && complain "a length is told that is none"
printf '%s\n' '# 2x A6000 vs 2x A100 80GB, Llama-2-7b' 'step time: 2.0 s' > sizes.md
reads sizes.md gpu=a6000
for card in 'A6000 Ada' 'RTX 6000 Ada' 'RTX6000 Ada'; do
    printf '%s\n' "4x $card 48GB, Llama-2-7b" 'step time: 2.0 s' > ada.md
    reads ada.md gpu=rtx6000ada
done
# words that a micro-batch beside a batch has, and no such one
for words in '4 on 8 devices' '4, 40 GB per GPU' '4, trained locally' '4 of microsoft/phi-2'; do
    printf '%s\n' "Llama-2-7b, 8x A100 80GB, batch size $words" 'step time: 2.0 s' > beside.md
    reads beside.md micro_batch=4
done
printf '%s\n' 'Llama-2-7b, 8x A100 80GB, batch size 64 (local batch size 4)' 'step time: 2.0 s' \
    > beside.md
reads beside.md micro_batch=4 global_batch=64
ended

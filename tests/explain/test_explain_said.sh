#!/bin/sh
# `plumbline explain` on what posts and pages say in other ways: numbers as words, machines of
# clouds, columns that are runs, ranks of adapters in code, lengths in thousands.
name=test_explain_said
. tests/script.sh
. "$root/tests/explain/reads.sh"

# ---- columns that are runs
cat > columns.md << 'END'
training.model.tensor_model_parallel_size=4
training.model.pipeline_model_parallel_size=1
training.model.micro_batch_size=4
sequence length = 4096
| Nemotron4 15b BF16 (TP=4, PP=1) | on 16x H100 GPUs (GBS=64) | on 64x H100 GPUs (GBS=256) |
|---:|:---:|:---:|
| Training step time (seconds per step) | 2.83 | 2.86 |
| Model flops utilization | 62.10% | 61.45% |
END
answers 2 "expected --run to choose one of 2 runs in its tables: 1 'on 16x H100 GPUs" \
    explain columns.md
column() {
    "$plumbline" explain columns.md --run "$1" --json > out 2> err || complain "--run $1"
    python3 - "$2" "$3" "$4" << 'END' || complain "--run $1: not its column"
import json, sys
answer = json.load(open("out"))
gpus, batch, seconds = sys.argv[1:]
said = {key: told["value"] for key, told in answer["stated"].items()}
assert (said["num_gpus"], said["global_batch"]) == (gpus, batch), said
assert (said["tp"], said["micro_batch"], said["hidden"]) == ("4", "4", "6144"), said
assert abs(answer["measured"]["iteration_s"] / float(seconds) - 1) < 1e-6, answer["measured"]
END
}
column 2 64 256 2.86
column "on 16x H100 GPUs (GBS=64)" 16 64 2.83
answers 2 "expected --run to name one of 2 runs" explain columns.md --run 3
sed 's/64x/16x/; s/GBS=256/GBS=64/' columns.md > equal.md
answers 2 "expected the number of one of several runs of that name" \
    explain equal.md --run "on 16x H100 GPUs (GBS=64)"
sed 's/Training step time (seconds per step)/Days/' columns.md > days.md
answers 2 "expected a table of runs with a column of rates, found none" explain days.md --run 1
cat > words.md << 'END'
| Precision | Avg step time | Throughput (Model TFLOP/s/GPU) |
|---|---|---|
| wide | 9.05 s | ~1399 |
| narrow | **5.39 s** | 2347 |
END
"$plumbline" explain words.md --run narrow --json > out 2> err || complain "--run narrow"
python3 -c 'import json; m = json.load(open("out"))["measured"]
assert (m["iteration_s"], m["tflops_per_gpu"]) == (5.39, 2347), m' || complain "narrow"

# ---- adapters: the rank, wherever it stands, says more than that they are there
cat > rank.md << 'END'
OOM with Qwen/Qwen2.5-7B on two A100
model = get_peft_model(base, LoraConfig(
    lora_alpha=64, r=16,
    target_modules=["q_proj", "v_proj"],
))
error = 1; r=7
END
reads rank.md adapters=16 num_gpus=2
printf 'OOM of Qwen3-8B: swift sft --lora_rank 8 --lora_alpha 32 --train_type lora\n' > type.md
reads type.md adapters=8
printf 'OOM of Qwen3-8B: swift sft --lora_rank 8 --train_type full\n' > full.md
reads full.md adapters=-

# ---- numbers as words; machines of clouds; one of many cards
printf 'OOM: Qwen3-8B on three workers, each with two GPUs (A100)\n' > words.md
reads words.md num_gpus=6 gpus_per_node=2
printf 'OOM: Qwen3-8B on 4 x p5.48xlarge\n' > cloud.md
reads cloud.md num_gpus=32 gpus_per_node=8 gpu=h100-80gb
printf 'OOM: Qwen3-8B on eight A6000, not on p5.48xlarge\n' > other.md
reads other.md num_gpus=8 gpu=a6000 gpus_per_node=-
printf 'OOM: Qwen3-8B\nSpecs: 8 x 4090 instance\n' > cards.md
reads cards.md num_gpus=8 gpu=rtx4090
printf 'OOM without A100 GPUs: Qwen3-8B on 10 * Nvidia A40\nCUDA_VISIBLE_DEVICES=2,3,4 run\n' \
    > shown.md
reads shown.md num_gpus=3 gpu=a40
printf 'OOM: Qwen3-8B\nI have 9 V100 16G GPUs\ntorchrun --nproc_per_node=1 train.py\n' > one.md
reads one.md num_gpus=1 gpu=v100-16gb
printf 'OOM of Qwen3-8B: 8*910B (64G)\n' > ascend.md
answers 0 "the card has 68.72 GB" explain ascend.md

# ---- lengths and batches; what is not asked for, but supported, advised or asked about
printf 'OOM: Qwen3-8B, 8 H100: the context is large (32k), batch size to 2\n' > long.md
reads long.md seq=32768 micro_batch=2
printf 'OOM of Qwen3-8B on 8 H100\nit supports 128k context; global batch size 64\n' > can.md
reads can.md seq=- global_batch=64 micro_batch=-
printf 'OOM of Qwen3-8B on 8 H100: max_length=16K --per_device_batch_size 3\n' > keys.md
reads keys.md seq=16384 micro_batch=3
printf 'OOM: Qwen3-8B, 8 H100\nDid you also set --use_flash_attn?\nYou can set --tp_size 4\n' \
    > ask.md
reads ask.md flash=- tp=-
printf 'OOM: Qwen3-8B, 8 H100\n"fp16": { "enabled": false }, "bf16": { "enabled": true }\n' \
    > json.md
reads json.md precision=bf16
printf 'OOM: Qwen3-8B, 8 H100\nTrainingArguments(fp16=False, bf16=False)\n' > wide.md
reads wide.md precision=fp32

# ---- what ran and warns of failures did not fail; its steps over its runtime
cat > ran.md << 'END'
base_model_id = "microsoft/phi-2" on one A100, as Mistral-7B before
If you get `OutOfMemoryError: CUDA out of memory`, lower the batch
TrainOutput(global_step=500, metrics={'train_runtime': 485.5, 'train_steps_per_second': 1.03})
END
reads ran.md iteration_s=0.971 model=phi-2
grep -q '"out_of_memory"' out && complain "a warning is taken for a failure"
printf 'Llama-3.1-8B on 8 H100\nEach train step takes ~1.85 seconds, at 70K TPS/GPU\n' > prose.md
reads prose.md iteration_s=1.85 tokens_per_s_per_gpu=70000
ended

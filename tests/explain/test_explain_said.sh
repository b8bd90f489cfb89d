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

printf 'OOM: llama-65b, only one card A100 80G, enable fsdp; batch_per_device=7\n' > card.md
reads card.md num_gpus=1 gpu=a100-80gb zero=3 micro_batch=7
printf 'qwen3_235b/b300/mxfp8_128GPU_TP2PP1EP16_cg.yaml: MBS3/GBS9216, 922.6 TFLOP/s/GPU\n' > run.md
reads run.md num_gpus=128 model=qwen3-235b-a22b precision=mxfp8 tp=2 ep=16 micro_batch=3
python3 -c 'print("OOM: Qwen2.5-3B, 4\u5f203090, \u5e8f\u5217\u957f\u5ea6\u662f512")' > zh.md
python3 -c 'print("batch_size\u4e3a3")' >> zh.md
reads zh.md seq=512 micro_batch=3 num_gpus=4

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

# ---- what is held besides: peft's fp32, scales, pairs and their reference, a copy of the weights
device() { # FILE: predicted bytes of the device
    "$plumbline" explain "$1" --json > out 2> err || complain "explain $1"
    python3 -c 'import json; print(json.load(open("out"))["predicted"]["device_bytes"])'
}
more() { # BYTES FILE THAN: FILE's are so many more, within a hundredth of them
    more=$(device "$2") than=$(device "$3")
    python3 - "$1" "$more" "$than" << 'END' || complain "$2: $more, $3: $than"
import sys
wanted, more, than = map(float, sys.argv[1:])
assert abs((more - than) / wanted - 1) < 0.01, (more - than, wanted)
END
}
post() { printf 'CUDA out of memory: meta-llama/Llama-3.1-8B on one RTX 4090\n%s\n' "$1"; }
lora='TrainingArguments(bf16=True, per_device_train_batch_size=1, gradient_checkpointing=True)
LoraConfig(r=16, target_modules="all-linear") max_seq_length=512'
post "$lora load_in_4bit=True, bnb_4bit_use_double_quant=True" > narrow.md
post "$lora load_in_4bit=True" > scales.md
post "$lora load_in_4bit=True, bnb_4bit_use_double_quant=True by unsloth" > other.md
# 224 matrices' values of blocks, 3/64 bytes each; embedding and head, 2 bytes more
more $((6979584000 * 3 / 64)) scales.md narrow.md
more $((2 * 2 * 128256 * 4096)) narrow.md other.md
answers 0 "peft casts to fp32" explain narrow.md
"$plumbline" explain other.md | grep -q "peft casts" && complain "unsloth prepares otherwise"
full='TrainingArguments(bf16=True, per_device_train_batch_size=2, optim="lion_8bit") zero3 ds.json'
head='CUDA out of memory: meta-llama/Llama-3.1-8B on 8 RTX 4090'
printf '%s\n%s\nmax_seq_length=512\n' "$head" "$full" > plain.md
printf '%s\n%s\nmax_seq_length=512 DPOTrainer\n' "$head" "$full" | sed 's/size=2/size=1/' > pairs.md
more $((2 * 8030261248 / 8)) pairs.md plain.md
reads pairs.md micro_batch=1
answers 0 "preference pairs" explain pairs.md
cat > step.md << 'END'
CUDA out of memory: Qwen/Qwen2.5-0.5B on one RTX 4090
TrainingArguments(bf16=True, per_device_train_batch_size=1, gradient_checkpointing=True)
max_seq_length=64
END
sed 's/bf16=True/bf16=True, optim="adamw_torch_fused"/' step.md > fused.md
python3 - "$(device step.md)" "$(device fused.md)" << 'END' || complain "the step of PyTorch's Adam"
import sys
step, fused = map(float, sys.argv[1:])
assert 0.1e9 < step - fused <= 4 * 494032768, step - fused
END
cat > copy.md << 'END'
OOM: qwen3-32b, 8 H100: megatron sft --tensor_model_parallel_size 8
--train_type lora --max_length 512
CUDA out of memory. Tried to allocate 7.80 GiB (GPU 2; 15.00 GiB total capacity;
END
answers 0 "rank's weights: with it 22.1 GB" explain copy.md
printf 'OOM of a 13B model on 4*2080ti 22g cards\n"num_layers": 40, zero stage 3\n' > size.md
reads size.md num_gpus=4 gpu=rtx2080ti-22gb
answers 0 "nearest to 13B" explain size.md
printf 'OOM of deepseek-v2-prover7B on 8*RTX3080\n' > prover.md
reads prover.md model=- num_gpus=8

# ---- what ran and warns of failures did not fail; its steps over its runtime
cat > ran.md << 'END'
base_model_id = "microsoft/phi-2" on one A100, as Mistral-7B before
If you get `OutOfMemoryError: CUDA out of memory`, lower the batch
TrainOutput(global_step=500, metrics={'train_runtime': 485.5, 'train_steps_per_second': 1.03})
END
reads ran.md iteration_s=0.971 model=phi-2
grep -q '"out_of_memory"' out && complain "a warning is taken for a failure"
cat > raised.md << 'END'
Qwen3-8B on 8 A100: per_device_train_batch_size: 6, cutoff_len: 8192
 15%|| 129/882 [40:17<3:41:05, 17.62s/it]
torch.cuda.OutOfMemoryError: CUDA out of memory.
END
reads raised.md "verdict=out of memory"
printf 'Llama-3.1-8B on 8 H100\nEach train step takes ~1.85 seconds, at 70K TPS/GPU\n' > prose.md
reads prose.md iteration_s=1.85 tokens_per_s_per_gpu=70000

# ---- shapes in prose: layers and width of one line; nothing of a part, of two, or without a legend
shape() { # WHETHER IT IS READ, TEXT: 32 layers, 4096 wide, with 32 heads
    printf 'CUDA out of memory on 8 H100 80GB, sequence length 2048\n%s\n' "$2" > shape.md
    if [ "$1" = read ]; then reads shape.md layers=32 hidden=4096 heads=32
    else reads shape.md layers=- hidden=- heads=-
    fi
}
shape read 'hidden size of 4096, 32 layers, 32 heads'
shape read 'n_layer=32 n_embd=4096 n_head=32'
shape read 'a 32-layer transformer with a hidden size of 4,096 and 32 attention heads'
shape read 'number of layers: 32, hidden dimension: 4096, number of attention heads: 32'
shape read 'num_layers 32 num_attention_heads 32 hidden_size 4096'
shape read 'L=32, H=4096, A=32'
shape read 'd_model = 4096, n_layers = 32, n_heads = 32'
shape read '**32 layers**, 32 heads, 4096 hidden'
shape read '4096/32/32/8 (hidden/heads/layers/batch)'
shape read 'Hidden/Heads/Layers: 4096/32/32'
shape left '4096/32/32/8'
shape left 'I froze 20 layers and trained 12 layers with hidden size 4096 and 32 heads'
shape left 'it ran with 16 layers, and failed with 32 layers of hidden size 4096'
shape left '8 layers per GPU, hidden size 4096'
shape left 'between 32 and 48 layers: hidden size 4096-8192'
shape left 'We use 64 experts, 32 layers, hidden size 4096'
shape left '12 encoder layers and 12 decoder layers, hidden size 768'
shape left '32 layers, dropout 0.1'
# a model that is named says more
printf 'OOM: Qwen3-8B on 8 H100\n32 layers, hidden size 4096\n' > named.md
reads named.md model=qwen3-8b layers=-
printf 'OOM on 8 H100\n32 layers, hidden size 4096, 32 heads: llama-65b\n' > named.md
reads named.md layers=80 hidden=8192 heads=64
# ---- the optimizer's states, as importers read them
cat > aware.log << 'END'
Llama-3.1-8B on 8 H100 80GB
--tensor-model-parallel-size 1 --seq-length 8192 --micro-batch-size 1 --global-batch-size 128 --bf16
--use-distributed-optimizer
--use-precision-aware-optimizer --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16
 iteration 10/ 50 | elapsed time per iteration (ms): 13000.0 | global batch size: 128 |
 iteration 20/ 50 | elapsed time per iteration (ms): 13000.0 | global batch size: 128 |
END
reads aware.log state_bytes=6 gradient_bytes=-
sed 's/--exp-avg-dtype.*/--main-grads-dtype bf16/' aware.log > sums.log
reads sums.log state_bytes=10 gradient_bytes=2
sed 's/--use-precision-aware-optimizer//' aware.log > plain.log
reads plain.log state_bytes=-
printf '%s\n' 'transformers: Llama-3.1-8B on 8 A100 80GB, --optim adamw_bnb_8bit --bf16 True' \
    '--per_device_train_batch_size 1 --max_seq_length 2048 --deepspeed ds_z2.json' \
    "{'train_runtime': 100.0, 'train_samples_per_second': 8.0, 'train_steps_per_second': 1.0}" \
    > eight.md
reads eight.md state_bytes=6 adam=1
sed 's/adamw_bnb_8bit/galore_adamw_8bit/' eight.md > other.md
reads other.md state_bytes=-
# ---- what is refused with what no column says is left out, and said
python3 - "$root/data/costs/kernels.json" << 'END'
import json, sys
costs = json.load(open(sys.argv[1]))
for gpu in costs["gpus"]:
    gpu.pop("host_link_bytes_per_s", None), gpu.pop("host_memory_bytes_per_s", None)
json.dump(costs, open("hostless.json", "w"))
END
sed 's/--use-precision-aware.*/--optimizer-cpu-offload/' aware.log > host.log
answers 0 "columns_alone 1: what no column says" explain host.log --costs hostless.json
answers 0 "" explain host.log
grep -q columns_alone out && complain "an offload that is priced was said to be left out"
# ---- several runs in a text: what is measured of one ends where the next begins
run_of() { # layers, degree of pipelines, first step
    for step in 0 1 2; do
        printf ' iteration %d/ 90 | elapsed time per iteration (ms): ' $((step + $3))
        echo "$1$2.0 | global batch size: 64 |"
    done
}
launch='torchrun --nproc_per_node 8 pretrain_gpt.py --bf16'
sizes='--hidden-size 4096 --num-attention-heads 32 --tensor-model-parallel-size 1'
sizes="$sizes --seq-length 2048 --micro-batch-size 1 --global-batch-size 64"
{
    echo 'Two trials on 8 H100'
    echo "$launch $sizes --num-layers 36 --pipeline-model-parallel-size 4"; run_of 36 4 10
    echo "$launch $sizes --num-layers 24 --pipeline-model-parallel-size 2"; run_of 24 2 10
} > trials.md
reads trials.md layers=36 pp=4 iteration_s=0.364 gpu=h100
answers 0 "2 in the text (--run N chooses): 1 'line 2' (line 2), which is this, 2 'line 6'" \
    explain trials.md
"$plumbline" explain trials.md --run 2 --json > second.json 2> err || complain "--run 2"
python3 - << 'END' || complain "the second run was not read alone"
import json
answer = json.load(open("second.json"))
said = {key: told["value"] for key, told in answer["stated"].items()}
assert (said["layers"], said["pp"], said["gpu"]) == ("24", "2", "h100"), said
assert abs(answer["measured"]["iteration_s"] - 0.242) < 1e-6, answer["measured"]
assert [run["chosen"] for run in answer["runs"]] == [False, True], answer["runs"]
END
answers 2 "expected 1 to 2 or the heading of one of its runs: 'line 2', 'line 6'" \
    explain trials.md --run 3
{ # one run that was begun again
    echo "$launch $sizes --num-layers 36 --pipeline-model-parallel-size 4 on 8 H100"; run_of 36 4 10
    echo "$launch $sizes --num-layers 36 --pipeline-model-parallel-size 4"; run_of 36 4 13
} > again.md
reads again.md layers=36 lines=6
"$plumbline" explain again.md | grep -q "^runs" && complain "a resumed run was taken for two"
{
    printf '## Setting\n%s --num-layers 36 on 8 H100\n' "$sizes"
    echo '### with PP=2, TP=1'; run_of 50 0 10
    echo '### someone@host: /home/x'; run_of 30 0 10
} > headed.md
reads headed.md layers=36 pp=2 iteration_s=0.5
answers 0 "1 'with PP=2, TP=1' (line 3), which is this, 2" explain headed.md
answers 0 "'someone?host? ?home?x' (line 7)" explain headed.md
"$plumbline" explain headed.md --run 2 --json > second.json 2> err
python3 -c 'import json; a = json.load(open("second.json")); assert "pp" not in a["stated"] and \
    a["stated"]["layers"]["value"] == "36" and a["measured"]["iteration_s"] == 0.3' \
    || complain "what stands before all runs counts for each, and what is of another does not"
ended

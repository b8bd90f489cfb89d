#!/bin/sh
# `plumbline explain` on what ran out of memory: what other processes hold, the other models of a
# trainer, answers in a forward pass, weights before they are shared, what a trainer does unless
# told, and from which value on a run that seems to fit would not.
name=test_explain_failed
. tests/script.sh
. "$root/tests/explain/reads.sh"

# ---- other processes, by the report
report='torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 1 has a total
capacity of 23.60 GiB of which 40.00 MiB is free.'
printf '%s' "$report" | tr '\n' ' ' > others.md
{
    printf ' Process 71 has 20.10 GiB memory in use. Process 83 has 3.46 GiB memory in use.'
    printf ' Of the allocated memory 3.00 GiB is allocated by PyTorch, and 80.00 MiB is'
    printf ' reserved by PyTorch but unallocated.\n'
} >> others.md
sed 's/ Process 71 has 20.10 GiB memory in use.//' others.md > alone.md
cp others.md small.md
printf 'Qwen2.5-0.5B on one RTX 4090, micro_batch_size 1, seq_length 128\n' >> small.md
sed 's/ Process 71 has 20.10 GiB memory in use.//' small.md > own.md
answers 0 "other processes hold 20.10 GiB of the card, without which the request would" \
    explain others.md
"$plumbline" explain alone.md | grep -q "other processes" && complain "its own process is another"
answers 0 "is predicted not to fit" explain small.md
answers 0 "is predicted to fit" explain own.md

# ---- read: what is trained, cards with their memory, machines, lists of flags, words, advice
cat > full.md << 'END'
CUDA out of memory: Baichuan2-13B on one A800 80GB
finetuning_type: full
lora_rank: 8
lora_alpha: 16
per_device_train_batch_size: 1
END
reads full.md adapters=-
sed 's/: full/: lora/' full.md > lora.md
reads lora.md adapters=8
printf 'OOM: Qwen3-8B on 8x48GB GPUs\n' > sized.md
reads sized.md num_gpus=8
answers 0 "the card has 47.73 GB" explain sized.md
printf 'OOM: Qwen3-8B on 2x24GB Titan RTX\n' > titan.md
reads titan.md num_gpus=2 gpu=titan-rtx
printf 'OOM: Qwen3-8B, my cuda memory is 40GB\n' > card.md
answers 0 "the card has 42.28 GB" explain card.md
printf 'OOM: Qwen3-8B on 3 nodes, with 8 H100\n' > nodes.md
reads nodes.md num_gpus=24 gpus_per_node=8
printf 'OOM: Qwen3-8B on one H100\nset gradient_checkpointing to True, micro_batch_size to 2\n' \
    > words.md
reads words.md recompute=full micro_batch=2
printf 'OOM: Qwen3-8B on one H100\nwith gradient_checkpointing to True it works\n' > helped.md
reads helped.md recompute=-
cat > list.md << 'END'
# OOM with Qwen3-8B on 8 H100
1/64 [00:05<05:15,  5.00s/it]Traceback (most recent call last):
['python', '-m', 'train', '--adam_offload', '--gradient_checkpointing'] exits with code 1
END
reads list.md offload=1 recompute=full "verdict=out of memory"
sed '1s/OOM with/Steps of/' list.md > ran.md
"$plumbline" explain ran.md --json | grep -q '"out of memory"' && complain "what ran failed"
printf '# OOM: Qwen3-8B on one H100\n\nuse --adam_offload\ncomment: try --tp_size 4\n' > advice.md
reads advice.md offload=- tp=-
printf 'OOM: Qwen3-8B on one H100 at 12k seq-len\n' > long.md
reads long.md seq=12288
printf 'OOM: Qwen3-8B on one H100, 8192ctx\n' > context.md
reads context.md seq=8192
cat > modules.md << 'END'
OOM: Qwen3-8B on one RTX 4090, LoRA
Lora_target: q_proj,v_proj
END
reads modules.md adapter_modules=q_proj,v_proj

echo 'OOM: I successfully loaded Qwen3-8B with LoRA on one A100' > adapters.md
reads adapters.md adapters=1
printf '# OOM\n\nQwen3-8B on one A100\n\nI am using QLoRA.\n' > narrow.md
reads narrow.md adapters=1 weight_bits=4
printf '# OOM\n\nQwen3-8B on one A100\n\nShould I be using QLoRA?\n' > asked.md
reads asked.md adapters=-
printf 'OOM: microsoft PHI-2 on an RTX 3070 Ti with 8Gb memory\n' > short.md
reads short.md model=phi-2
answers 0 "the card has 8.59 GB" explain short.md
printf 'OOM: a 13B model on 24GB\n' > size.md
answers 0 "the card has 25.4" explain size.md
python3 -c 'print("OOM: Qwen3-8B, 8\u5361H100, 2\u5361\u5373\u53ef")' > zh.md
echo 'swift rollout --data_parallel_size 2' >> zh.md
echo 'NPROC_PER_NODE=6 swift rlhf' >> zh.md
reads zh.md num_gpus=6 dp=-

printf 'I am running out of GPU memory: Qwen3-8B on 2 16G A4000, add --use_lora to it\n' > said.md
reads said.md num_gpus=2 gpu=a4000-16gb adapters=1 "verdict=out of memory"
printf 'It is out of GPU power: Qwen3-8B on one A100\n' > power.md
answers 2 "expected a training log" explain power.md
python3 -c 'print("OOM: Qwen3-8B, 8xH100, CUTOFF_LEN=32768\uff0cwhy")' > comma.md
reads comma.md seq=32768
printf 'OOM: Qwen1.5-32B, 8xH100\noffload_optimizer_device: cpu\n  --bf16 true\n' > place.md
reads place.md offload=1 ffn=27392 precision=bf16

# ---- a family's smallest model; what a program that is run as it is does unless told
assumes() { # FILE COLUMN VALUE
    "$plumbline" explain "$1" --json > out 2> err || complain "explain $1"
    python3 - "$2" "$3" << 'END' || complain "$1: $2 is not assumed to be $3"
import json, sys
found = {row["column"]: row["value"] for row in json.load(open("out"))["assumed"]}
assert found.get(sys.argv[1], "-") == sys.argv[2], found
END
}
printf 'OOM: LLaMA 3.1 on one RTX 4090\n' > family.md
assumes family.md model llama-3.1-8b
printf 'OOM: LLaMA 3.1 70B on one RTX 4090\n' > sized.md
assumes sized.md model -
echo 'OOM: Llama 2, llama-recipes/finetuning.py, one A100 --enable_fsdp --use_fp16' > own.md
assumes own.md micro_batch 4
assumes own.md seq 2048
reads own.md zero=3 precision=fp16
sed 's/$/ --batch_size_training 1/' own.md > told.md
reads told.md micro_batch=1

# ---- transformers' batch of 8, where all of a trainer's arguments are seen
cat > code.md << 'END'
CUDA out of memory: Qwen3-8B on one A100 80GB
args = TrainingArguments(
    output_dir=make("here"), bf16=True,
)
END
assumes code.md micro_batch 8
sed 's/bf16=True,/bf16=True, .../' code.md > cut.md
assumes cut.md micro_batch 1
sed 's/bf16=True,/bf16=True, per_device_train_batch_size=2/' code.md > two.md
assumes two.md micro_batch -

# ---- PPO's other models, and answers in a forward pass
ppo() { # PROGRAM FLAGS
    echo "CUDA out of memory: meta-llama/Llama-3.1-8B on 8 H100"
    echo "deepspeed --module openrlhf.cli.$1 --zero_stage $2 --bf16 --micro_train_batch_size 1"
    echo "--train_batch_size 8 --prompt_max_len 512 --generate_max_len 512 ${3-}"
}
device() { # FILE: predicted bytes of the device; the page's parts
    "$plumbline" explain "$1" --json > out 2> err || complain "explain $1"
    python3 -c 'import json; print(json.load(open("out"))["predicted"]["device_bytes"])'
}
parts() { # FILE: weights, gradients, optimizer in GB
    "$plumbline" explain "$1" | tr '\n' ' ' | tr -s ' ' |
        sed 's/.*weights \([0-9.]*\), gradients \([0-9.]*\), optimizer \([0-9.]*\),.*/\1 \2 \3/'
}
for stage in 2 3; do
    ppo train_sft $stage > sft.md
    ppo train_ppo $stage > ppo.md
    ppo train_ppo_ray $stage > ray.md
    python3 - $stage "$(device ppo.md)" "$(device sft.md)" "$(device ray.md)" "$(parts sft.md)" \
        << 'END' || complain "PPO's models at ZeRO $stage"
import sys
stage, ppo, sft, ray = map(float, sys.argv[1:5])
critic = sum(map(float, sys.argv[5].split())) * 1e9
read = 2 * 2 * 8030261248 / (8 if stage == 3 else 1)
assert ray == sft, (ray, sft)
assert abs(ppo - sft - critic - read) < 0.02e9, (ppo - sft, critic, read)
END
done
answers 0 "models 4: PPO" explain ppo.md
ppo train_ppo_ray 3 "--micro_rollout_batch_size 32" > some.md
ppo train_ppo_ray 3 "--micro_rollout_batch_size 48" > many.md
ppo train_ppo_ray 3 "--micro_rollout_batch_size 1" > few.md
python3 - "$(device many.md)" "$(device some.md)" "$(device few.md)" "$(device ray.md)" \
    << 'END' || complain "answers in a forward pass"
import sys
many, some, few, none = map(float, sys.argv[1:])
logits = 1024 * 128256 * (2 + 4)
assert abs((many - some) / (16 * logits) - 1) < 1e-6, many - some
assert few == none < some, (few, none, some)
END

# ---- an engine that writes answers on the same GPUs
cat > verl.md << 'END'
torch.OutOfMemoryError: CUDA out of memory: veRL on 8 H100
python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen3-8B \
 data.max_prompt_length=512 data.max_response_length=1536 \
 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 critic.ppo_micro_batch_size_per_gpu=7 \
 actor_rollout_ref.rollout.tensor_model_parallel_size=4 \
 actor_rollout_ref.ref.fsdp_config.optimizer_offload=True trainer.n_gpus_per_node=8
END
reads verl.md tp=- zero=3 micro_batch=2 seq=2048 offload=- num_gpus=8
assumes verl.md engine sleeps
cat > alone.md << 'END'
CUDA out of memory: Qwen3-8B on 8 V100 16GB with zero3 LoRA, zero3_init_flag: true
--per_device_train_batch_size 1 --max_length 256 --gradient_checkpointing true
END
sed '2s/$/ --vllm_mode colocate --vllm_gpu_memory_utilization 0.25/' alone.md > awake.md
sed '2s/$/ --vllm_tensor_parallel_size 8/' awake.md > shared.md
sed '2s/$/ --sleep_level 1/' awake.md > asleep.md
sed '2s/$/ --sleep_level 1/' shared.md > small.md
python3 - "$(device alone.md)" "$(device awake.md)" "$(device shared.md)" "$(device asleep.md)" \
    "$(device small.md)" << 'END' || complain "an engine beside the trainer"
import sys
alone, awake, shared, asleep, small = map(float, sys.argv[1:])
weights = 2 * 8190735360
assert abs((awake - alone) / weights - 1) < 1e-3, awake - alone # more than its share
assert abs(shared - alone - 0.25 * 16.93e9) < 0.01e9, shared - alone
assert small == alone < asleep < awake, (small, alone, asleep, awake)
END

# ---- weights that are all there before ZeRO 3 shares them
cat > whole.md << 'END'
CUDA out of memory: meta-llama/Llama-2-70b on 8 A100 80GB with zero3
LoraConfig(r=8) TrainingArguments(per_device_train_batch_size=1) max_seq_length=256
END
answers 0 "each GPU was given all of them, 138.0 GB" explain whole.md
sed '1s/$/, zero3_init_flag: true/' whole.md > made.md
"$plumbline" explain made.md | grep -q "given all of them" && complain "it was made in shares"
sed 's/Llama-2-70b/Llama-2-7b/' whole.md > one.md
"$plumbline" explain one.md | grep -q "given all of them" && complain "one GPU has room for all"

# ---- from which value on it does not fit, and what was taken for it
cat > open.md << 'END'
CUDA out of memory: Qwen3-8B on one A100 80GB, LoRA
per_device_train_batch_size: 1, gradient_checkpointing: true, bf16: true
END
"$plumbline" explain open.md --json > out 2> err || complain "explain open.md"
limit=$(python3 -c '
import json
answer = json.load(open("out"))
least = [row["value"] for row in answer["would_resolve"] if row["column"] == "seq"]
assert "to fit with seq 1024, as assumed" in answer["why"], answer["why"]
print(least[0])') || complain "open.md: no length is named"
for length in $limit $((limit - 128)); do
    "$plumbline" explain open.md --set seq=$length --json > out 2> err || complain "seq=$length"
    python3 - $((length == limit)) << 'END' || complain "the length is not the least"
import json, sys
assert json.load(open("out"))["predicted"]["fits"] == (sys.argv[1] == "0")
END
done

# ---- what trainers do unless told, and from which value on that does not fit
cat > default.md << 'END'
CUDA out of memory: Qwen3-8B on one A100 80GB, LoRA, bf16: true
llamafactory-cli train --finetuning_type lora --lora_rank 8
END
reads default.md micro_batch=- seq=-
answers 0 "micro_batch 8: not in the log: LLaMA-Factory's default" explain default.md
answers 0 "seq 2048: not in the log: LLaMA-Factory's default" explain default.md
sed 's/80GB/40GB/' default.md > larger.md
"$plumbline" explain larger.md --json > out 2> err || complain "explain larger.md"
least=$(python3 -c '
import json, re
why = json.load(open("out"))["why"]
assert "not to fit with seq 2048 and micro_batch 8, as assumed" in why, why
print(re.search(r"from micro_batch (\d+) on", why).group(1))') || complain "no batch is named"
for batch in $least $((least - 1)); do
    "$plumbline" explain larger.md --set micro_batch=$batch,seq=2048 --json > out 2> err ||
        complain "micro_batch=$batch"
    python3 - $((batch == least)) << 'END' || complain "the batch is not the least"
import json, sys
assert json.load(open("out"))["predicted"]["fits"] == (sys.argv[1] == "0")
END
done

# ---- pieces that the report names are taken from the card
printf 'Qwen3-8B LoRA on one A100 80GB, micro_batch_size 1, seq_length 1024, bf16\n' > pieces.md
printf 'CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 79.15 GiB total capacity; ' \
    >> pieces.md
printf '19.00 GiB already allocated; 0.50 GiB free; 77.00 GiB reserved in total)\n' >> pieces.md
answers 0 "has 62.3 GB reserved in pieces" explain pieces.md
answers 0 "is predicted not to fit" explain pieces.md
sed 's/77.00 GiB/19.50 GiB/; s/0.50 GiB free/58.00 GiB free/' pieces.md > whole.md
answers 0 "is predicted to fit" explain whole.md

# ---- a process that its host's system ended
cat > killed.md << 'END'
# Llama 2 70B with ZeRO-3 on 8x A100 80GB, offloaded
The node has 512GB RAM. per_device_train_batch_size: 1, max_seq_length: 2048
"offload_optimizer": {"device": "cpu"}
failed (exitcode: -9) local_rank: 3 (pid: 1234) of trainer.py
END
reads killed.md "verdict=killed by its host" num_gpus=8 zero=3
"$plumbline" explain killed.md | tr -s ' \n' ' ' > said
grep -q "with what is offloaded a host holds 1104 GB" said || complain "offloaded: $(cat said)"
grep -q "each read all weights in 4 bytes hold 2207 GB: it does not fit" said ||
    complain "read: $(cat said)"
sed 's/512GB/8TB/' killed.md > roomy.md
answers 0 "which would leave room" explain roomy.md
printf 'CUDA out of memory. Tried to allocate 1.00 GiB\n' >> killed.md
reads killed.md "verdict=out of memory"
for words in 'line 7: 4123 Killed' 'slurmstepd: error: Detected 1 oom-kill event' \
    'exits with return code = -9' 'Reason: OOMKilled'; do
    printf 'Qwen3-8B on 8 H100\n%s\n' "$words" > words.md
    reads words.md "verdict=killed by its host"
done

# ---- a lack of memory with hyphens, questions, cards by number, programs by their scripts
printf 'Qwen3-8B on 4 gpus (3090, each with 24gb) raises out-of-memory errors\n' > hyphens.md
reads hyphens.md "verdict=out of memory" gpu=rtx3090-24gb
printf 'OOM: Qwen3-8B on one H100\nDid u use LORA while doing this, or did you use LoRA alone?\n' \
    > asked.md
reads asked.md adapters=-
printf 'OOM on A100 40GB: python finetune/lora.py --checkpoint_dir mistralai/Mistral-7B-v0.1\n' \
    > script.md
answers 0 "micro_batch 4: not in the log: lit-gpt's default" explain script.md
printf 'gpt-j-6B is Killed\nexits with return code = -9\n' > alone.md
answers 0 "holds 24.2 GB" explain alone.md

# ---- the host's allocator; a comparison of runs; a batch that was tried instead
printf 'Qwen3-8B on 8 H100\nDefaultCPUAllocator: can not allocate memory: you tried 64\n' > cpu.md
reads cpu.md "verdict=killed by its host"
answers 0 "an allocation in its host's memory failed" explain cpu.md
printf '# Llama3 8B FP8 on 8xH100 is 21%% slower than BF16 & OOMs\nbatch size 2: 442\n' > slower.md
reads slower.md "verdict=not measured"
printf 'OOM: Qwen3-8B on one H100\nA batch size of 3 did not work, I reduced it to 1\n' > instead.md
reads instead.md micro_batch=1
# ---- adapters, bits and widths that programs have unless told, or unless they train everything
printf 'OOM on one T4: FastLanguageModel of unsloth, Qwen3-14B\n' > unsloth.md
reads unsloth.md adapters=16 weight_bits=4
printf 'OOM on one T4: full finetuning by unsloth, Qwen3-14B\n' > unsloth.md
reads unsloth.md adapters=- weight_bits=-
printf 'OOM on one L40S: llamafactory-cli --use_unsloth --finetuning_type lora, Qwen3-14B\n' \
    > both.md
reads both.md adapters=1 weight_bits=-
printf '# OOM on 4 A100\nswift sft --model Qwen/Qwen2.5-7B\n' > swift.md
reads swift.md adapters=8
sed 's/-7B/-7B --train_type full/' swift.md > swift_full.md
reads swift_full.md adapters=-
printf '# OOM on one 4090\ntune run full_finetune_single_device --config llama3/8B\n' > tune.md
reads tune.md state_bytes=4 gradient_bytes=2 adapters=-
sed 's/full_finetune/lora_finetune/' tune.md > tune_lora.md
reads tune_lora.md adapters=1 state_bytes=4
printf '# OOM with Qwen3-8B on 8 A100\npython -m openrlhf.cli.train_dpo --max_len 2048\n' > rlhf.md
reads rlhf.md zero=2
answers 0 "micro_batch 16: preference pairs" explain rlhf.md
printf '# OOM: llama-2-70b on 24 A100 40GB\ntorchrun \\\n  finetune_with_qlora.py\n' > named.md
reads named.md adapters=1 weight_bits=4
printf 'xtuner train llama2_7b_qlora_alpaca_e3 on one T4: CUDA out of memory\n' > named.md
reads named.md adapters=1 weight_bits=4
printf 'CUDA out of memory: run_clm.py --model_name_or_path gpt2 on one V100 32GB\n' > small.md
reads small.md layers=12 precision=fp32
printf 'OOM: Qwen3-8B on 8 V100 32GB, batchsize \351\203\275\350\260\203\346\210\220' > chat.md
printf '1\n--actor_zero_stage 3 --critic_zero_stage 3\n' >> chat.md
reads chat.md zero=3 micro_batch=1
answers 0 "PPO: a critic is trained, too" explain chat.md

# ---- weights of 4 bytes, where the text's own code reads them without a type
printf 'OOM: Qwen3-8B, LoRA, one A100 40GB, micro_batch_size 1, max_seq_length 512, bf16: true\n' \
    > read.md
printf 'model = AutoModelForCausalLM.from_pretrained(name)\n' >> read.md
sed 's/(name)/(name, torch_dtype=torch.bfloat16)/' read.md > typed.md
for file in read typed; do
    "$plumbline" explain $file.md --json > $file.json 2> err || complain "explain $file.md"
done
python3 -c '
import json
wide, typed = [json.load(open(f + ".json"))["predicted"] for f in ("read", "typed")]
more = wide["device_bytes"] - typed["device_bytes"]
assert 15.9e9 < more < 16.8e9, more' || complain "weights without a type are as with one"

# ---- what the report shows to be no lack of the card's memory alone
printf '# 70B: OOM out of CPU memory on 8 A100\nLlama 2 70B, ZeRO-3, --max_seq_len 512\n' > ram.md
reads ram.md "verdict=killed by its host"
sed 's/# 70B: OOM out of CPU memory/RAM OOM problem\nQwen3-8B/' ram.md > short.md
reads short.md "verdict=killed by its host"
printf 'CUDA out of memory. Tried to allocate 1.00 GiB\n' >> ram.md
reads ram.md "verdict=out of memory"
printf 'OOM: Qwen3-0.6B, one A100, micro_batch_size 1, seq_length 512\nmemory leak?\n' > leak.md
answers 0 "memory came to lack after steps that ran" explain leak.md
sed 's/memory leak?/it fails after step 683/' leak.md > later.md
answers 0 "memory came to lack after steps that ran" explain later.md
grep -v leak leak.md > once.md
"$plumbline" explain once.md | grep -q "after steps" && complain "steps that nobody names"

# ---- cards
printf 'OOM: Qwen3-8B, cards `A100-80Gx8`\n' > cards.md
reads cards.md gpu=a100-80gb num_gpus=8
printf 'OOM: Qwen3-8B, GPU: 4x A40 --> Total of 180GB\n' > cards.md
reads cards.md gpu=a40 num_gpus=4
printf 'OOM: Qwen3-8B\n256Gb VRAM = 32Gb VRAM x 8 GPUs on a node\n' > cards.md
reads cards.md num_gpus=8
answers 0 "of a card of 34" explain cards.md
printf '# NVIDIA GeForce RTX 4060 Ti 16G: OOM of Qwen3-8B\n' > cards.md
answers 0 "of a card of 1[5-7]" explain cards.md
ended

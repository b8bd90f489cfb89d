#!/bin/sh
# `plumbline explain` on what ran out of memory: when it did, by the traceback, and what is on a GPU
# then; what the report's own numbers add up to; what programs hold that no plan does.
name=test_explain_moment
. tests/script.sh
. "$root/tests/explain/reads.sh"

# moment FILE: predicted GB of the device, GB at the moment of the failure (-: not another one)
moment() {
    "$plumbline" explain "$1" --json > out 2> err || complain "explain $1"
    python3 - << 'END'
import json, re
answer = json.load(open("out"))
found = re.search(r"\(([0-9.]+) GB at that moment[,)]", answer["why"])
print(answer["predicted"]["device_bytes"] / 1e9, found.group(1) if found else "-")
END
}
parts() { # FILE: weights, gradients, optimizer in GB
    "$plumbline" explain "$1" | tr '\n' ' ' | tr -s ' ' |
        sed 's/.*weights \([0-9.]*\), gradients \([0-9.]*\), optimizer \([0-9.]*\),.*/\1 \2 \3/'
}
says() { # WORDS FILE: in the answer, however its lines are broken
    "$plumbline" explain "$2" | tr -s ' \n' ' ' > out
    grep -q "$1" out || complain "$2: '$1' is not in what it says"
}
failed() { # WORDS FRAME...: a traceback whose frames are in these functions
    echo "CUDA out of memory: $1"
    shift
    echo 'Traceback (most recent call last):'
    for frame; do
        printf '  File "/usr/lib/%s.py", line 7, in %s\n    call()\n' "$frame" "$frame"
    done
}

# ---- the outermost kind of place counts, and only frames are looked at
run='Qwen3-8B on 8 H100, bf16, seq_length=4096, micro_batch_size=1'
check() { # WORDS FRAME...
    words=$1
    shift
    failed "$run" "$@" > place.md
    says "of memory $words[;(: ]" place.md
}
check "in forward" train forward
check "in evaluation" train evaluation_loop forward
check "in evaluation" train evaluate prediction_step forward
check "while it saved" train save_model state_dict
check "while it loaded the model" main from_pretrained _apply
check "while it loaded a checkpoint" train load_checkpoint load_state_dict
check "while it wrote answers" train generate forward
check "while it made the optimizer's states" main _configure_zero_optimizer
check "in the optimizer's step" train step
{
    echo "CUDA out of memory: $run"
    echo 'model = AutoModel.from_pretrained("here")'
    echo 'model.save_pretrained("there")'
} > code.md
"$plumbline" explain code.md | grep -q "while it" && complain "code is taken for a traceback"
printf 'OOM during evaluation: %s\n' "$run" > words.md
says "ran out of memory in evaluation" words.md
printf 'OOM: %s. Its evaluation takes long.\n' "$run" > other.md
"$plumbline" explain other.md | grep -q "in evaluation" && complain "any word is a moment"

# ---- an evaluation: logits of its own batch, transformers' 8 unless told, in 2 and 4 bytes
lora='Qwen3-8B with LoRA on 1 H100, bf16, seq_length=8192, micro_batch_size=1'
failed "$lora" evaluation_loop forward > eight.md
{ cat eight.md; echo 'per_device_eval_batch_size: 1'; } > one.md
eight=$(moment eight.md) one=$(moment one.md)
python3 - ${eight#* } ${one#* } << 'END' || complain "an evaluation's batch"
import sys
eight, one = map(float, sys.argv[1:])
assert abs(eight - one - 7 * 8192 * 151936 * 6 / 1e9) < 0.11, (eight, one)
END
failed 'Megatron-LM, Qwen3-8B on 8 H100, bf16, --seq-length 8192 --micro-batch-size 1' \
    evaluate forward > own.md
for count in 1 8; do
    { cat own.md; echo "per_device_eval_batch_size: $count"; } > told$count.md
done
own=$(moment own.md) least=$(moment told1.md) most=$(moment told8.md)
[ "${own#* }" = "${least#* }" ] || complain "Megatron evaluates micro-batches: $own, not $least"
[ "${own#* }" != "${most#* }" ] || complain "an evaluation's batch that is told"
says "at that moment it would not with the logits of 21 sequences kept, 2.49 GB each" one.md

# ---- loading: all weights on each GPU, unless they are made in shares; a checkpoint: the
# optimizer's state twice; FSDP saves whole weights of 4 bytes
shared='Qwen3-8B on 8 H100, bf16, seq_length=4096, micro_batch_size=1, ZeRO-3'
failed "$shared" from_pretrained > whole.md
{ cat whole.md; echo 'zero3_init_flag: true'; } > shares.md
failed "$shared" load_checkpoint > resumed.md
failed 'Qwen3-8B on 8 H100, bf16, seq_length=4096, micro_batch_size=1, with FSDP' save_model \
    > saved.md
failed "$shared" generate forward > gathered.md
python3 - "$(moment whole.md)" "$(moment shares.md)" "$(moment resumed.md)" "$(moment saved.md)" \
    "$(moment gathered.md)" "$(parts resumed.md)" << 'END' || complain "other moments"
import sys
whole, shares, resumed, saved, gathered, (weights, gradients, optimizer) = (
    [float(word) for word in words.split()] for words in sys.argv[1:])
values = 8.19
assert 2 * values < whole[1] < 2 * values + 5, whole
assert abs(whole[1] - shares[1] - 2 * values * 7 / 8) < 0.2, (whole, shares)
assert 0 <= resumed[1] - weights - 2 * optimizer < 5, (resumed, weights, optimizer)
assert abs(saved[1] - (resumed[1] - optimizer) - 4 * values) < 0.3, (saved, resumed)
assert abs(gathered[1] - (resumed[1] - optimizer) - 2 * values) < 0.3, (gathered, resumed)
assert all(row[0] + 0.1 > row[1] for row in (whole, shares, resumed, saved, gathered))
END
says "the weights of 5 ranks on one GPU" whole.md
long='Qwen3-8B with LoRA on 1 H100, bf16, seq_length=131072, micro_batch_size=4'
failed "$long" from_pretrained > load.md
says "in a training pass: [0-9.]* GB of a card of 84.9 (1[0-9.]* GB at that moment, which" load.md
set -- $(moment load.md) $(parts load.md)
python3 - $2 $3 << 'END' || complain "a load is weights, context and libraries, once"
import sys
moment, weights = map(float, sys.argv[1:])
assert 1.5 < moment - weights < 2, (moment, weights)
END
failed "$long" forward > pass.md
"$plumbline" explain pass.md | grep -q "in a training pass" && complain "a pass is told apart"
failed 'Llama-2-70b on 1 H100, bf16, seq_length=4096, micro_batch_size=1' from_pretrained > none.md
says "predicted not to fit: [0-9.]* GB of a card of 84.9 (1[0-9.]* GB at that moment)" none.md
{
    failed "$long" from_pretrained
    echo "Tried to allocate 1.00 GiB (GPU 0; 79.15 GiB total capacity; 14.00 GiB already allocated;"
} > sum.md
says "by its report it needed 16.1 GB, as is predicted" sum.md

# ---- the report's sum, beside the prediction
report() { # ALLOCATED TRIED FREE RESERVED: PyTorch's older words, GiB
    echo "Qwen3-8B with LoRA on one A100 80GB, bf16, seq_length=512, micro_batch_size=1"
    echo "CUDA out of memory. Tried to allocate $2 GiB (GPU 0; 79.15 GiB total capacity; $1 GiB" \
        "already allocated; $3 GiB free; $4 GiB reserved in total by PyTorch)"
}
report 70.00 8.00 6.00 72.00 > more.md
python3 - "$(moment more.md)" << 'END' || complain "a report's sum"
import json, re, sys
answer = json.load(open("out"))
found = re.search(r"needed ([0-9.]+) GB, ([0-9.]+) more", answer["why"])
needed, above = map(float, found.groups())
own = float(sys.argv[1].split()[0])
assert answer["predicted"]["fits"] and abs(needed - 78 * 1.0737) < 0.06, needed
assert 0 <= needed - above - own + 3 < 4, (needed, above, own)  # own has what is no allocator's
END
report 16.00 1.00 0.20 20.00 > others.md
says "other processes hold 57.95 GiB of the card" others.md
report 18.00 0.50 1.00 77.00 > own.md
"$plumbline" explain own.md | grep -q "other processes" && complain "a context is another process"
cat > older.md << 'END'
Qwen3-8B on one A100: CUDA out of memory. Tried to allocate 98.00 MiB. GPU 5 has a total capacty of
15.77 GiB of which 5.12 MiB is free. Of the allocated memory 9.00 GiB is allocated by PyTorch
END
tr '\n' ' ' < older.md > joined.md
says "9.00 GiB of 15.77 GiB allocated" joined.md

# ---- adapters on experts; weights in 4 bytes; answers and groups as batches; sizes within names
experts() { # MODULES
    echo 'CUDA out of memory: Qwen3-30B-A3B on 8 H100, LoRA, bf16, seq_length=512'
    echo "--expert_model_parallel_size 2 --micro_batch_size 1 --lora_rank 8 --target_modules $1"
}
experts all-linear > all.md
experts q_proj,v_proj > attention.md
python3 - "$(moment all.md)" "$(moment attention.md)" << 'END' || complain "adapters on experts"
import sys
every, attention = (float(words.split()[0]) for words in sys.argv[1:])
values = 48 * 128 / 2 * 3 * (2048 + 768) * 8
assert 0 <= every - attention - 18 * values / 1e9 < 0.5, (every, attention, values)
END
wide='CUDA out of memory: Llama-2-7b with LoRA on one RTX 4090, seq_length=128, micro_batch_size=1'
echo "$wide" > wide.md
says "weights in 4 bytes, as from_pretrained reads them" wide.md
echo "$wide, torch_dtype=bfloat16" > typed.md
echo "$wide, load_in_8bit=True" > eight.md
for file in typed eight; do
    "$plumbline" explain $file.md | tr '\n' ' ' | tr -s ' ' | grep -q "weights in 4 bytes" &&
        complain "$file: a type is given"
done
grouped='OOM: Qwen3-0.6B on one RTX 4090, bf16, --per_device_train_batch_size 2 --max_length 512'
echo "$grouped --train_group_size 16" > group.md
says "micro_batch 32: all passages" group.md
echo "$grouped --num_generations 64" > answers.md
says "all 64 answers to a prompt in one pass" answers.md
echo 'FSDP SFT deepseekv2-prover7B OOM on 8*RTX3080' > prover.md
says "predicted not to fit" prover.md
for called in Qwen-1_8B bloom-1b7 phi-1.5 EleutherAI/gpt-j; do
    echo "OOM: $called on one RTX 4090" > name.md
    says "not named: of usual ones the nearest to \(1.8\|1.7\|1.4\|6.05\)B parameters" name.md
done
echo 'OOM: our 8x7B on 8*RTX3080' > eightfold.md
"$plumbline" explain eightfold.md | grep -q "nearest to" && complain "8x7B is a size"

# ---- what works instead is not what failed; programs that shard; h_dim; machines of one GPU
printf 'OOM: Qwen3-8B on 8 H100\n%s\n' 'ds_z3_config.json does, ds_z3_offload_config.json runs' \
    > instead.md
reads instead.md zero=3 offload=-
printf 'OOM: Qwen3-8B on 8 H100\ndeepspeed: ds_z3_offload_config.json\n' > offload.md
reads offload.md zero=3 offload=1
printf 'OOM: Qwen3-8B on 8 H100\ntorchrun -m verl.trainer.fsdp_sft_trainer %s\n' \
    data.micro_batch_size_per_gpu=2 > verl.md
reads verl.md zero=3 micro_batch=2
printf 'OOM: Qwen3-8B on 8 H100\ntune run full_finetune_distributed --config here.yaml\n' > tune.md
reads tune.md zero=3
printf 'OOM: a model on one H100: --num_layers 24 --h_dim 4096\n' > wide.md
reads wide.md hidden=4096
printf 'OOM: Qwen3-8B on g5.8xlarge\n' > cloud.md
reads cloud.md gpu=a10g-24gb gpus_per_node=1

# ---- LoRA that was used; weights of few bits by their model's name; cards in other words
echo 'OOM: Qwen3-8B on one H100: even though I have used LoRA' > used.md
reads used.md adapters=1
for called in unsloth/llama-3-8b-bnb-4bit Qwen-72B-Chat-Int4 llama-3.3-70b-instruct-awq; do
    echo "OOM: $called on one H100" > narrow.md
    reads narrow.md weight_bits=4 adapters=1
done
echo 'OOM: Qwen3-8B on one H100, an awq or-int4 kernel' > kernel.md
reads kernel.md weight_bits=- adapters=-
echo 'OOM: Qwen3-8B, 8*32GV100' > glued.md
reads glued.md num_gpus=8 gpu=v100-32gb
echo 'OOM: Qwen3-8B on dual RTX 3090 (48 GB)' > dual.md
reads dual.md num_gpus=2
says "the card has 25.4" dual.md
echo 'OOM: Qwen3-8B, I have 2 GPU of 24 GB RTX 4090 GPU' > plural.md
reads plural.md num_gpus=2
echo 'OOM: Qwen3-8B on 4 RTX 4090' > four.md
reads four.md num_gpus=4
echo 'OOM: Qwen3-8B on one H100. I tried to use LoRA but it failed.' > refuted.md
reads refuted.md adapters=-
echo 'OOM: Qwen3-8B on one H100. Setting the offload_optimizer_device to CPU results in hours' \
    > results.md
reads results.md offload=-
python3 -c 'print("OOM: Llama-2-7b, \u663e\u5361\u662fA00 40G")' > shown.md
says "the card has 42.28" shown.md
echo 'OOM: Qwen3-32B on 8 H100, batch size 1, global batch size 4' > fewer.md
says "predicted not to fit" fewer.md
says "4 are no micro-batches of all replicas" fewer.md
ended

#!/bin/sh
# `plumbline explain` on what programs print about themselves in forms of their own: GPT-NeoX's
# arguments with where each is from, torchtitan's pipelines whose batches are summed, cards of
# several verified runs, examples of a notebook.
name=test_explain_items
. tests/script.sh
. "$root/tests/explain/reads.sh"

# ---- GPT-NeoX: dots and a word behind each value, names of its own
{
    echo '-------------------- arguments --------------------'
    python3 - << 'END'
for line in """attention_config ['flash', 'flash'] updated
checkpoint_activations True updated
hidden_size 1024 updated
moe_num_experts 8 updated
moe_top_k 2 updated
no_weight_tying True updated
num_attention_heads 16 updated
num_layers 24 updated
global_num_gpus 4 updated
precision bfloat16 updated
seq_length 2048 updated
norm rmsnorm updated
mlp_type llama updated
pos_emb rotary updated
train_batch_size 32 updated
train_micro_batch_size_per_gpu 4 updated
zero_stage 1 updated
attention_dropout 0.0 default
gradient_accumulation_steps 2 default
hidden_dropout 0.0 default
model_parallel_size 1 default
pipe_parallel_size 1 default""".split("\n"):
    key, _, rest = line.partition(" ")
    value, _, origin = rest.rpartition(" ")
    print(f"  {key} ".ljust(36, ".") + " " + value.ljust(30, ".") + origin)
for i in range(80):
    print(f"  other_{i} ........ None...........................default")
END
    echo '---------------- end of arguments ----------------'
    for i in 10 20 30 40; do
        echo " samples/sec: 40.000 | iteration $i/ 90 | elapsed time per iteration (ms): 800.0 |"
    done
} > neox.log
reads neox.log layers=24 hidden=1024 heads=16 experts=8 top_k=2 seq=2048 micro_batch=4 zero=1 \
    recompute=full tied=0 rms_norm=1 gated=1 flash=flash precision=bf16 dropout=0 global_batch=32 \
    num_gpus=4 iteration_s=0.8

# one expert is none, whatever recomputation's backend is by default
sed 's/ moe_num_experts .*/ moe_num_experts ..... 1............default/
    s/ checkpoint_activations .*/ checkpoint_activations ... False...........default/
    s/ other_1 .*/ deepspeed_activation_checkpointing  True.....default/' neox.log > dense.log
reads dense.log experts=- top_k=- recompute=none layers=24

# ---- torchtitan: a replica's batch in pieces through a pipeline, several times an iteration
titan() { # FILE SCHEDULE STAGES: 64 sequences of 1,024 tokens in 4 batches of 8 pieces
    arguments='TransformerModelArgs(dim=2048, n_layers=16, n_heads=32, n_kv_heads=8, '
    arguments="${arguments}vocab_size=128256, multiple_of=256, ffn_dim_multiplier=1.5)"
    batches='global batch size 64, gradient accumulation steps 4, sequence length 1024'
    {
        printf '# Llama 3.2 1B, a preset for 64 A100 GPUs\n[optimizer]\nname = "AdamW"\n'
        printf '[activation_checkpoint]\nmode = "none" # or "selective"\n'
        sed 's/^/[rank0]:/' << END
2025-11-06 04:33:16,000 - CUDA capacity: NVIDIA RTX 6000 Ada Generation with 47.51GiB memory
2025-11-06 04:33:16,001 - Building 1-D device mesh with ['pp'], [4]
2025-11-06 04:33:16,002 - Building llama3 1B with $arguments
2025-11-06 04:33:16,003 - Using pipeline schedule $2 with 8 microbatches and $3 stages.
2025-11-06 04:33:16,004 - Trainer is initialized with local batch size 16, $batches
- optimizer:
- name: AdamW
END
        for step in 50 100 150; do
            echo "[rank0]:2025-11-06 04:4$((step / 50)):00,000 - step: $step loss: 9.0" \
                "grad_norm: 1.0 memory: 17.0GiB(36.0%) tps: 6,500 tflops: 50.8 mfu: 16.3%"
        done
    } > "$1"
}
titan ranks.log 1F1B 4
titan twice.log Interleaved1F1B 8
reads ranks.log gpu=rtx6000ada pp=4 vpp=- micro_batch=2 recompute=none adam=1 model=llama-3.2-1b
reads twice.log gpu=rtx6000ada pp=4 vpp=2 micro_batch=2
# adapters that are off, whatever their rank would be
{ cat ranks.log; printf -- '- lora:\n- enable_lora: False\n- lora_r: 16\n'; } > off.log
reads off.log adapters=- micro_batch=2
# the pipeline is filled and emptied for each of the four
sed 's/local batch size 16/local batch size 64/; s/steps 4,/steps 1,/; s/with 8 mic/with 32 mic/' \
    ranks.log > once.log
reads once.log micro_batch=2
answers 0 "pipeline_batches 4: gradients of so many are summed" explain ranks.log
python3 - << 'END' || complain "what four pipelines take"
import json
time = lambda f: json.load(open(f"explained-{f}.log.json"))["predicted"]["iteration_s"]
ratio = time("ranks") / time("once")  # (8 + 3) / 8 over (32 + 3) / 32 and a little
assert 1.15 < ratio < 1.35, ratio
END

# ---- more than these GPUs compute: from how many on they would
sed 's/iteration (ms): 800/iteration (ms): 80/' neox.log > fast.log
echo 'NVIDIA A100-SXM4-80GB' >> fast.log
reads fast.log gpu=a100-80gb "verdict=not read"
"$plumbline" explain fast.log > out 2> err || complain "faster than its GPUs"
tr -s '\n ' ' ' < out | grep -q 'does 312 at most: it was no fewer than [0-9]* of them' ||
    complain "from how many on they would"

# ---- a row's own precision, a launcher's banner and a chip that is priced as one like it
cat > rows.md << 'END'
# Llama 3.1 8B on GH200, `cfg.mixed_precision = "bf16_with_nvfp4_mixed"`
Total GPUs: 8
GPUs/node:  4
| Precision | Global batch | Step time (s) |
|---|---|---|
| BF16 baseline | 64 | 9.05 |
| FP8 (last in BF16) | 64 | 6.39 |
END
"$plumbline" explain rows.md --run 1 > out 2> err || complain "the first precision"
tr -s '\n ' ' ' < out | grep -q 'precision bf16' || complain "the first row's precision"
tr -s '\n ' ' ' < out | grep -q 'gpu gh: as h100-96gb' || complain "a GH200 has no costs"
tr -s '\n ' ' ' < out | grep -q 'num_gpus 8 .*gpus_per_node 4 ' || complain "a banner"
"$plumbline" explain rows.md --run 2 > out 2> err || complain "the second precision"
tr -s '\n ' ' ' < out | grep -q 'precision fp8' || complain "the second row's precision"

# ---- a card of Megatron-Bridge: each verified item is a run, the others are of none
cat > card.yaml << 'END'
# Agent-readable model verification card.
title: a_model
summary: >
  On GB300, GB200 and H100.
model:
  hf_id: Qwen/Qwen3-30B-A3B
verification_environment:
  bridge_commit: 0123456789
items:
  conversion:
    status: verified
    command: >
      ./convert.sh --nodes 4 --gpus-per-node 8 --tp 2 --pp 4 --ep 8
  pretrain:
    H100:
      status: verified
      precision: bf16
      command: >
        ./train.sh --nodes 2 --gpus-per-node 8 --mode pretrain --seq_length 4096
      metrics:
        last_10_steps_step_time_ms_avg: 30289.550
        last_10_steps_model_tflops_per_gpu_avg: 199.120
      expected_result: >
        It completes at TP1/PP1/CP1/EP8/ETP1, DP16, GBS/MBS
        1024/1, and sequence length 4096.
    GB200:
      status: unverified
      command: >
        ./train.sh --nodes 9 --gpus-per-node 4 --seq_length 512
      metrics:
        last_10_steps_step_time_ms_avg: null
  peft:
    H100:
      status: verified
      precision: bf16
      command: >
        ./train.sh --nodes 1 --gpus-per-node 4 --mode lora --seq_length 2048
      metrics:
        last_10_steps_step_time_ms_avg: 2000.000
      expected_result: >
        DP4, GBS/MBS 32/1.
  resume:
    H100:
      status: unverified
      command: >
        ./train.sh --nodes 7 --gpus-per-node 8 --seq_length 256
END
answers 2 "expected 1 to 2 or the heading of one of its runs: 'pretrain H100', 'peft H100'" \
    explain card.yaml --run pretrain_performance
reads card.yaml num_gpus=16 gpu=h100 tp=1 pp=1 ep=8 global_batch=1024 micro_batch=1 seq=4096 \
    adapters=- iteration_s=30.28955
"$plumbline" explain card.yaml --run peft --json > out 2> err || complain "an item by its name"
python3 - << 'END' || complain "another item's values"
import json
answer = json.load(open("out"))
said = {key: told["value"] for key, told in answer["stated"].items()}
assert said["num_gpus"] == "4" and said["seq"] == "2048" and said["adapters"] == "1", said
assert said["global_batch"] == "32" and "tp" not in said and "ep" not in said, said
assert answer["measured"]["iteration_s"] == 2
END

# ---- a notebook's examples, one precision after the other, and what it writes at its end
python3 - > four.ipynb << 'END'
import json
def cell(kind, text):
    lines = [line + "\n" for line in text.split("\n")]
    return {"cell_type": kind, "source": lines}
cells = [cell("markdown", "# Llama 3.1 8B in several formats\n4 GB200 GPUs, BF16 and NVFP4")]
for i, (words, setting, seconds) in enumerate([
        ("BF16 training (baseline)", "# the default", 11.65),
        ("FP8 training (H100+)", "cfg.mixed_precision = 'bf16_with_mxfp8_mixed'", 8.6)]):
    cells += [cell("markdown", f"## Example {i + 1}: {words}"),
              cell("code", "from megatron.bridge.recipes.llama.h100 import a_2gpu_h100_config\n"
                   "print(f'  precision: {cfg.mixed_precision}')\n"
                   f"cfg.train.micro_batch_size = 2\ncfg.train.global_batch_size = 128\n{setting}"),
              cell("markdown", f"With 4 GB200 you should see\nStep Time : {seconds}s "
                   f"GPU utilization: {13491 / seconds:.1f}TFLOP/s/GPU")]
json.dump({"cells": cells}, __import__("sys").stdout, indent=1)
END
reads four.ipynb gpu=gb200 num_gpus=4 precision=bf16 iteration_s=11.65 micro_batch=2
"$plumbline" explain four.ipynb --run 2 > out 2> err || complain "the second example"
grep -q 'precision mxfp8' out || complain "the second example's precision"
python3 - > writes.ipynb << 'END'
import json
text = """model = AutoModelForCausalLM.from_pretrained("meta-llama/Meta-Llama-3-8B-Instruct")
trainer = SFTTrainer(
    model, max_length=1024,
    args=TrainingArguments(per_device_train_batch_size=2, gradient_accumulation_steps=4, bf16=True),
)
TrainOutput(global_step=50, metrics={'train_runtime': 303.6, 'train_samples_per_second': 1.317})
sequences = pipeline(
    prompt,
    max_length=200,
)"""
json.dump({"cells": [{"cell_type": "code", "source": [s + "\n" for s in text.split("\n")]}]},
          __import__("sys").stdout, indent=1)
END
reads writes.ipynb seq=1024 micro_batch=2 precision=bf16
ended

#!/bin/sh
# `plumbline explain` on small logs of each program: what is read, from which line; what the FLOP of
# a token certify or refuse; the class of what is no healthy run; one line and exit 2 for the rest.
name=test_explain
. tests/script.sh
cp "$root"/tests/explain/logs/* .

. "$root/tests/explain/reads.sh"

# ---- Megatron-LM: its arguments, and iteration lines in milliseconds
reads megatron.log num_gpus=8 layers=32 hidden=4096 ffn=11008 heads=32 kv_heads=32 \
    vocab=32256 seq=4096 tp=4 pp=2 cp=1 dp=1 micro_batch=1 global_batch=128 \
    sp=1 zero=1 gated=1 rms_norm=1 tied=0 \
    bias=0 dropout=0 overlap=1 overlap_messages=0 overlap_tensor=0 flash=te recompute=none \
    precision=bf16 \
    gradient_bytes=4 adam=1 positions=0 gpu=h100-80gb iteration_s=7.004 rank=4 left_out=1 \
    allocated_bytes=31982092288 reserved_bytes=33554432000 reading=certified
grep -q 'secret' out && complain "names of hosts and users are echoed"

# the same behind what launchers put before each line, in colours, and with line ends of two systems
sed 's/^/ 0: /' megatron.log > srun.log
sed 's/^/[1,0]<stdout>:/' megatron.log > mpirun.log
sed 's/^/[pod\/train-0\/main] /' megatron.log > kubectl.log
awk '{ printf "\033[36m[default0]:%s\033[0m\r\n", $0 }' megatron.log > torchrun.log
for launcher in srun mpirun kubectl torchrun; do
    reads $launcher.log num_gpus=8 layers=32 tp=4 pp=2 global_batch=128 precision=bf16 \
        iteration_s=7.004 allocated_bytes=31982092288 reading=certified
done
# in seconds, and with the mean behind the value
sed 's/iteration (ms): 70\(.*\)\.0 | thr/iteration (s): 7.0\1\/7.1 | thr/' megatron.log \
    > seconds.log
reads seconds.log iteration_s=7.004 reading=certified

# ---- a reading that cannot be right, with the model's own counts
sed 's/  num_layers \(.*\) 32/  num_layers \1 24/' megatron.log > wrong.log
reads wrong.log layers=24 reading=refused "verdict=not read"

# ---- precisions narrower than the switch beside them says; degrees of experts without experts
{ cat mlperf.log; echo 'export FP8_RECIPE="mxfp8"'; } > mx.log
reads mx.log precision=mxfp8
{ cat mlperf.log; echo 'export FP4=True'; } > fp4.log
reads fp4.log precision=nvfp4
{ cat megatron.log; echo '  expert_tensor_parallel_size ......... 2'; } > experts.log
reads experts.log tp=4 etp=- reading=certified

# ---- namesakes: the length of what a configuration generates, a batch of all GPUs
{ cat trainer.log; echo '      "max_length": 50'; } > generates.log
reads generates.log seq=-
{ grep -v global mlperf.log | sed 's/.*MICRO_BATCH.*/  --batch_size 1024/'; } > whole.log
reads whole.log global_batch=1024 micro_batch=-

# ---- what is said elsewhere, or left to a default: batches in a line of their own, and the width
# that a small Llama's arguments give
args='dim=256, n_layers=6, n_heads=16, multiple_of=256, ffn_dim_multiplier=None, vocab_size=2048'
sed "s/ llama3 8B with .*/ llama3 debugmodel with TransformerModelArgs($args)/
    s/Training starts at step 1, with/Trainer is initialized with/
    s/global batch size 8,/global batch size 64, gradient accumulation steps 1,/" titan.log \
    > small.log
reads small.log global_batch=64 micro_batch=2 seq=8192 ffn=768 hidden=256
# a recipe of 4 bits behind a switch of 8, and a table's words
echo 'Config: 8xB200, GBS=128, MBS=2, Seq.Len=8192, TP=1, PP=1, CP=1
python -m scripts.performance.llm.pretrain_llama3_8b -g b200 --compute_dtype fp8 --fp8_recipe nvfp4
iteration 10/14 | global_batch_size: 128 | train_step_timing in s: 3.684 | TFLOPS_per_GPU: 1831' \
    > four_bits.log
reads four_bits.log precision=nvfp4 seq=8192 micro_batch=2 num_gpus=8 reading=certified
sed 's/ nvfp4$/ mxfp8/' four_bits.log > eight_bits.log
reads eight_bits.log precision=mxfp8
# a card's memory is no number of GPUs; experts as wide as the flag of others; a tokenizer's name
{ printf '4090 \345\215\225\345\215\241\345\217\252\346\234\211 24GB\nTP=1 PP=4\n'
    grep ' iteration ' megatron.log; } > gb.log
reads gb.log num_gpus=- pp=4
{ echo '--num-layers 4 --hidden-size 256 --ffn-hidden-size 1024 --num-attention-heads 4 \'
    echo '--num-experts 8 --moe-router-topk 2 --seq-length 256 --tokenizer-model meta-llama-3.1-8B'
    grep ' iteration ' megatron.log; } > moe.log
reads moe.log expert_ffn=1024 layers=4 model=-
{ grep -v moe megatron.log; echo '--tokenizer-model meta-llama-3.1-8B'; } > tokenizer.log
reads tokenizer.log layers=32 model=-
# a batch by a timer's rate and the clock of its lines, whose rates are rounded
for step in 10 20 30 40; do
    stamp="[2023-11-07 01:5$((step / 10)):00,714] [INFO] [timer.py:260:stop]"
    echo "$stamp epoch=0/micro_step=1/global_step=$step, RunningAvgSamplesPerSec=10.7," \
        "CurrSamplesPerSec=10.71, MemAllocated=4.32GB, MaxMemAllocated=38.49GB"
done > timer.log
reads timer.log global_batch=64
# adapters by the trainer's own words
{ cat trainer.log; echo 'llamafactory.model.adapter:143 >> Fine-tuning method: LoRA'; } > own.log
reads trainer.log
cp out full.json
reads own.log
python3 -c 'import json
full, own = (json.load(open(f))["predicted"]["device_bytes"] for f in ("full.json", "out"))
assert own < full / 2, (own, full)' || complain "adapters are not read in words"
# stages of GPT-3 that MLPerf's configurations of 2023 leave to their default
{ echo 'export TENSOR_MODEL_PARALLEL=4'; echo 'export PIPELINE_MODEL_PARALLEL=8'
    echo 'export DGXNNODES=64'; echo 'export DGXNGPU=8'
    grep -v PARALLEL mlperf.log | sed 's/xtp1pp1cp1//; s/llama31_8b/gpt3/
        s/"time_ms": 1000, "event_type": "POINT/"time_ms": 1696158512804, "event_type": "POINT/'
} > stages.log
reads stages.log tp=4 pp=8 vpp=-
grep -q '"column": "vpp", "value": "12"' out || complain "GPT-3 is not interleaved"
sed 's/1696158512804/1730000000000/' stages.log > later.log
reads later.log tp=4 pp=8
! grep -q 'INTERLEAVED_PIPELINE' out || complain "later configurations state it"

# ---- no degree is stated, and no GPU holds the model: the likeliest that fits, and no alarm
grep -v PARALLEL mlperf.log |
    sed 's/xtp1pp1cp1//; s/llama31_8b/gpt3/; s/max_sequence_length/other/' > degrees.log
reads degrees.log "verdict=unstated values"
python3 - << 'END' || complain "no degrees are assumed"
import json
answer = json.load(open("out"))
assumed = {item["column"]: int(item["value"]) for item in answer["assumed"]
           if "no GPU holds the model" in item["why"]}
assert assumed.get("tp", 1) * assumed.get("pp", 1) >= 8, assumed
assert answer["predicted"]["device_bytes"] < 85e9
END

# ---- classes
grep -v 'iteration [3-6]/' megatron.log > warm.log
reads warm.log "verdict=warm-up only"
awk '/ iteration / { n++; sub(/\(ms\): [0-9.]*/, "(ms): " 7000 * n) } { print }' megatron.log \
    > moves.log
reads moves.log "verdict=not stationary"
cat megatron.log oom.txt > oom.log
reads oom.log "verdict=out of memory" out_of_memory=True

# ---- torchtitan
reads titan.log num_gpus=8 tp=2 micro_batch=2 global_batch=8 seq=8192 recompute=selective \
    model=llama-3.1-8b gpu=h100-80gb tokens_per_s_per_gpu=6000 iteration_s=1.365333 \
    reserved_bytes=53687091200 reading=certified
# another rank's first line is a first line, too; a mode behind its section; a pipeline's batch
{ grep -v 'Applied' titan.log; sed -n 's/rank0/rank1/; /step:/p' titan.log;
  echo '--activation_checkpoint.mode "full"'; } | sort -k 3 > ranks.log
reads ranks.log recompute=full left_out=2
grep -v 'mesh\|starts' titan.log > pipeline.log
printf 'batch_size = 16\nseq_len = 512\npipeline_parallel_degree = 8\n' >> pipeline.log
reads pipeline.log pp=8 micro_batch=1
sed 's/2025-06/2025-01/' pipeline.log > pipeline_2024.log
reads pipeline_2024.log pp=8 micro_batch=2
cat titan.log retries.txt > retries.log
reads retries.log allocation_retries=7 "verdict=allocator retries"

# ---- DeepSpeed's own configuration: its world_size is the data degree
reads deepspeed.log dp=8 num_gpus=8 micro_batch=8 global_batch=64 zero=3 precision=bf16 seq=2048 \
    model=llama-2-7b gpu=a100-80gb iteration_s=4 allocated_bytes=20959440404

# ---- NeMo, MLPerf, transformers
reads nemo.log tp=1 pp=1 micro_batch=2 global_batch=128 seq=8192 iteration_s=6.06 gpu=b200 \
    allocated_bytes=115792977920 reserved_bytes=127785762816 reading=certified
reads mlperf.log num_gpus=64 gpus_per_node=8 tp=1 pp=1 micro_batch=1 global_batch=64 seq=8192 \
    precision=fp8 model=llama-3.1-8b gpu=h100 iteration_s=0.71
reads trainer.log micro_batch=4 global_batch=128 precision=bf16 recompute=full model=llama-2-7b \
    num_gpus=8 iteration_s=8.08

# ---- a card of averages: a value behind a line's end, degrees in words, packed documents
reads card.log num_gpus=4 seq=2048 dp=1 micro_batch=1 global_batch=32 model=qwen3-8b gpu=h100 \
    iteration_s=7.424 reading=certified "verdict=the host's floor"

# ---- MLPerf's LoRA: short names, a configuration that another replaces, the benchmark's rules
reads lora.log tp=4 pp=1 num_gpus=8 dp=2 micro_batch=1 global_batch=8 seq=8192 precision=fp8 \
    model=llama-2-70b gpu=h100 iteration_s=3.7647 verdict=agrees
grep -q '"column": "weight_bits", "value": "8"' out || complain "no frozen weights in FP8 alone"

# ---- in words; torchtitan's own configuration of the model states the rest
reads words.log num_gpus=8 compiled=1 tp=4 pp=2 model=llama-3.1-8b gpu=h100-80gb global_batch=- \
    tokens_per_s_per_gpu=6500 reserved_bytes=51163797913
grep -q '"column": "seq", "value": "8192", "why": "torchtitan' out || complain "no recipe is taken"

# ---- the batch by what was consumed; a format of fp8 that is switched off; nodes x GPUs
sed 's/global batch size: *128/gloabl batch size: 128/; /global_batch_size/d' \
    megatron.log > eaten.log
reads eaten.log global_batch=128 iteration_s=7.004 reading=certified
printf '  fp8: False\n  fp8_hybrid: True\n' | cat nemo.log - > wide.log
reads wide.log precision=bf16
# one of both formats is true, whichever is printed last; exports of a part that is called common
printf '  fp8: true\n  fp8_hybrid: true\n  fp8_e4m3: false\n' | cat nemo.log - > hybrid.log
reads hybrid.log precision=fp8
{ printf 'source config_common.sh\nexport DGXNGPU=8\nsource config_X_1x4x4.sh\n'
    printf '# config_X_common.sh\nexport DGXNGPU=4\nexport DGXNNODES=1\n'
    printf '1xX8640x4H100-SXM-80GB\n'; cat mlperf.log; } > inlined.log
reads inlined.log gpus_per_node=4 gpu=h100-80gb
printf '# 2Nodes * 8 A100 80G\nCUDA out of memory. Tried to allocate 1.00 GiB\n' > nodes.log
reads nodes.log num_gpus=16 gpus_per_node=8 gpu=a100-80gb "verdict=out of memory"
# one card, of a size before its name; times between numbers; lengths by other programs' words
printf 'out of memory on an 80 GB A100: mpt-7b\n --max_len 128 \\\n' > one.log
reads one.log num_gpus=1 gpu=a100-80gb seq=128 model=mpt-7b "verdict=out of memory"
printf 'should be 12*7 = 84 GB? I run GPT-2 large(774M) on 2*A100-80GB\nCUDA out of memory.\n' \
    > product.log
reads product.log num_gpus=2 gpu=a100-80gb layers=36 hidden=1280
printf '4\345\215\2414090 OOM\ndeepspeed --include localhost:1,5,6,7 train.py\n' > cards.log
reads cards.log gpus_per_node=4 gpu=rtx4090
# DeepSpeed whose stage is not stated
printf 'llamafactory-cli train --deepspeed $CONFIG --finetuning_type full\n%s\nCUDA OOM\n' \
    'llama-2-7b on 8 x A100 80GB, per_device_train_batch_size: 1' > staged.log
reads staged.log num_gpus=8 zero=-
grep -q '"column": "zero", "value": "2"' out || complain "DeepSpeed shards nothing"
printf 'on a A100 cluster: llava-v1.5-13b\n block_size=20000\nCUDA out of memory.\n' > many.log
reads many.log num_gpus=- model=llama-2-13b seq=20000
printf '4xV100x32G, precision：`fp16`, max length：`4096`\nCUDA out of memory.\n' > card-words.log
reads card-words.log num_gpus=4 gpu=v100-32gb seq=4096 precision=fp16
printf '%s\n' 'Building llama3 8B with ModelArgs(dim=4096, n_layers=32, n_heads=32)' |
    cat titan.log - > arguments.log
reads arguments.log hidden=4096 layers=32 heads=32

# ---- MLPerf without iterations: what it states at the end; a GPU that no cluster has
mllog() { printf ':::MLLOG {"time_ms": 1778651800896, "key": "%s", "value": %s, "metadata": {}}\n' \
    "$1" "$2"; }
{ mllog submission_benchmark '"llama31_8b"'; mllog submission_platform '"MI355X"'
    mllog tensor_parallelism 1; mllog pipeline_parallelism 1; mllog micro_batch_size 2
    mllog config_filename '"config_MI355X_1x8x1.sh"'; mllog global_batch_size 32
    mllog overall_throughput 32.0; } > short.log
reads short.log num_gpus=8 tp=1 pp=1 micro_batch=2 global_batch=32 seq=8192 model=llama-3.1-8b \
    gpu=mi355x iteration_s=1
sed 's/H100/910B/' megatron.log > other-gpu.log
reads other-gpu.log gpu=ascend-910b-80gb "verdict=not predicted"
answers 0 "agrees\|slow\|not explained" explain other-gpu.log --gpu-like h100-80gb --memory-gb 64

# ---- what launchers, shells and names of runs state; a size in MB is no optimizer
printf '%s\n' 'mpiexec --np=24 --ppn=12' 'TP=2' 'PP=4' 'NUM_HEADS=32' 'NUM_KV_HEADS=8' \
    'weight and optimizer=46038.57 MB' 'ds_stage2_pp4_tp2_fp16' 'CUDA out of memory.' > shell.log
reads shell.log num_gpus=24 gpus_per_node=12 tp=2 pp=4 heads=32 kv_heads=8 zero=2 precision=fp16 \
    adam=-
printf '%s\n' 'packed_sequence_size=1024, pp_microbatch_size=4' 'Gradient accumulation: 4' \
    '--model.converters="float8"' 'llama2 7b with compile' 'CUDA out of memory.' > keys.log
reads keys.log seq=1024 micro_batch=4 precision=fp8 compiled=1 model=llama-2-7b
printf '  %s\n' 'sequence_length: 1024' 'seq_length: 131072' 'gated_linear_unit: true' \
    'CUDA out of memory.' > data.log
reads data.log seq=1024 gated=1
printf '  Instantaneous batch size per device = 2\n  accumulation) = 16\n' > summary.log
reads summary.log micro_batch=2 global_batch=16
printf '  Gradient Accumulation steps = 4\n' | cat summary.log - > accumulated.log
reads accumulated.log dp=2
printf '%s\n' 'llama-3.1-8b on H100 fails, for nodes (8xh200) of H200' 'CUDA out of memory.' \
    'GPU 4 has a total capacity of 79.11 GiB' > two.log
answers 0 "h100-80gb: it is named too" explain two.log

# ---- sequence, batch and GPUs by rates and the clock; by the FLOP of a whole sequence
rates='elapsed time per iteration (ms): 131064.1 | tokens/sec/gpu: 8000.5 | global batch size: 1024'
echo "iteration 300/ 300 | consumed samples: 307200 | consumed tokens: 1.258B | $rates" \
    > tokens.log
reads tokens.log seq=4096 num_gpus=4 iteration_s=131.0641
for second in 32 36 40; do
    printf '16:44:%d,600 - INFO - step: %d loss: 1.0 memory: 33.11GiB(74.54%%) wps: 2,048\n' \
        $second $((second / 4))
done > clock.log
echo 'batch size 4' >> clock.log
reads clock.log seq=2048 micro_batch=4 iteration_s=4
for second in 32 36 40; do
    printf '[06:44:%d,600] stop] 0/%d, CurrSamplesPerSec=128.1, MaxMemAllocated=1.0GB\n' $second \
        $((second / 4))
done > timer.log
reads timer.log global_batch=512
sed 's/^ *seq_length .*//; s/^ *max_position_embeddings .*//' megatron.log > length.log
reads length.log seq=- reading=certified

# ---- MLPerf's LoRA by its names alone, at its end: no warm-up
{ printf 'source config_1cc_1x8x4xtp4pp1cp2.sh # llama2_70b_lora\n'
    mllog tracked_stats '{"throughput": 1.9}' | sed 's/{}/{"step": 3072}/'
} > end.log
reads end.log num_gpus=8 tp=4 pp=1 cp=2 seq=8192 model=llama-2-70b
grep -q warm-up out && complain "the end of a log is taken for its beginning"

# ---- every shipped model by its name
printf 'MiniMax-M2 on 8xH100, tp4 pp2\nCUDA out of memory.\n' > named.log
reads named.log model=minimax-m2 num_gpus=8 tp=4 pp=2 gpu=h100
printf 'CodeLlama-7B on 8xH100\nCUDA out of memory.\n' > other-model.log
reads other-model.log model=- layers=32 hidden=4096 vocab=32016

# ---- a shell's lines: flags without a value before a backslash; a failure in small letters
printf '%s\n' 'oom when training' 'run.py \' '--bf16 \' '--seq-length \' '4096 \' --swiglu > sh.log
reads sh.log precision=bf16 seq=4096 gated=1 "verdict=out of memory"
printf 'zooming in on a room\n' > zoom.log
answers 2 "expected a training log" explain zoom.log

# ---- reports of a lack of memory: FSDP's words, launchers, prompts and answers, nodes in words
printf '%s\n' 'CUDA_VISIBLE_DEVICES=0,1,2,3,4 torchrun train.py \' '--bf16 True \' \
    '--fsdp "full_shard auto_wrap offload"' 'llama-7b/13b on A100-40G' 'CUDA out of memory.' \
    > fsdp.log
reads fsdp.log zero=3 num_gpus=5 model=llama-2-7b
answers 0 "zero 3 offload" explain fsdp.log
printf '%s\n' 'Qwen2.5-Coder-32B on 1 node of 8 A100' '--max_source_length 2000' \
    '--max_target_length 1200' 'Is there a way to offload it?' 'CUDA out of memory.' > both.log
reads both.log seq=3200 layers=64 hidden=5120 num_gpus=8
"$plumbline" explain both.log | grep -q 'zero . offload' && complain "a question is read as offload"
printf '%s\n' 'OOM with 4 nodes, each 4 A100' 'pp_size=2' 'tp_size=1' 'ep_size=4' 'dp_size=2' \
    'A LLaMA of 1.3B' '"offload_optimizer": {' > spread.log
reads spread.log num_gpus=16 gpus_per_node=4 pp=2 tp=1 ep=4 dp=8 model=-
printf '%s\n' 'single node of 8 A100 GPUs, llama-7b' 'CUDA out of memory.' > node.log
reads node.log num_gpus=8
printf '%s\n' 'OOM, llama-2-7b on 4xA800-40GB, zero-2' > half.log
reads half.log gpu=a800-40gb
grep -q 'as a800-80gb, but for its memory of 40 GiB' out || complain "the card is not the named one"
printf '%s\n' 'Llama 3.1 (70B) on 8 NVIDIA 4090 GPUs' 'CUDA out of memory.' > round.log
reads round.log num_gpus=8 gpu=rtx4090 model=llama-3.1-70b
printf '%s\n' 'Vicuna-7b with 4*v100(32G), deep speed stage 3' 'CUDA out of memory.' > star.log
reads star.log num_gpus=4 gpu=v100-32gb zero=3
printf '\345\217\214\345\215\241 A800, Qwen-7B\nOOM\n' > two-cards.log
reads two-cards.log num_gpus=2
printf 'llama-2-7b\nCUDA out of memory.\n' > unnamed.log
answers 0 "gpu a100-80gb: not in the log" explain unnamed.log
answers 0 "is assumed" explain unnamed.log
# it would fit: what the report has in pieces, or what would not
{ echo 'llama-3.2-1b on 8xA100-80GB, zero-3, bf16'
    printf 'CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 79.15 GiB total capacity; '
    echo '3.00 GiB already allocated; 0.5 GiB free; 77.0 GiB reserved in total by PyTorch)'
} > pieces.log
answers 0 "79.5 GB" explain pieces.log
printf '%s\n' 'llama-3.2-1b on 8xA100-80GB, zero-3, bf16, batch size 1, sequence length 1024' \
    'CUDA out of memory.' > fills.log
answers 0 "which no value that the log leaves open fills" explain fills.log
printf '%s\n' 'llama-3.1-8b on 24xA100-80GB, zero-3, bf16' 'CUDA out of memory.' > fits.log
reads fits.log "verdict=out of memory"
python3 -c 'import json; assert json.load(open("out"))["would_resolve"]' || complain "no open value"
# a name that a number follows; DeepSpeed's update on a host
printf '%s\n' 'Mistral-7B 4k on 8xA100-40GB, zero-3, sequence length 4096' \
    '"offload_optimizer": {"device": "cpu"}' 'CUDA out of memory.' > behind.log
reads behind.log model=mistral-7b
sed 's/"offload_optimizer"/"offload_param"/' behind.log > fetched.log
answers 0 "offload_param 0: its weights are taken as on the device" explain fetched.log
answers 0 "host_update_values_per_s 1.62e+08" explain behind.log
# a frozen model of one GPU is what it was loaded as
printf '%s\n' 'qwen2.5-7b on a single A100-80GB GPU' 'lora_rank: 8' 'CUDA out of memory.' \
    > loaded.log
"$plumbline" explain loaded.log --json > out 2> err || complain "explain loaded.log"
python3 -c 'import json
assert json.load(open("out"))["predicted"]["device_bytes"] > 15.2e9' || complain "frozen weights"
# GB300 behind programs that call it gb200; superchips' hosts have four
{ cat mlperf.log; echo 'export GPU_ARCH="gb200"'; } | sed 's/H100/GB300/' > arch.log
reads arch.log gpu=gb300
{ mllog submission_benchmark '"llama31_8b"'; mllog submission_platform '"2xNVIDIA GB200"'
    mllog global_batch_size 16; mllog tracked_stats '{"train_step_time": 0.5}'
} > hosts.log
answers 0 "num_gpus 8: 4 GPUs in each" explain hosts.log
grep train_step hosts.log | sed 's/0\.5/0.35/' > step.log # five steps of a GB300 with NVFP4
{ grep -v train_step hosts.log; cat step.log step.log step.log step.log step.log; } > ultra.log
answers 0 "a GB300, which its programs" explain ultra.log

# ---- a long log takes no more memory than a short one
python3 - "$plumbline" << 'END' || complain "a long log takes more than 40 MB"
import resource, subprocess, sys
lines = open("megatron.log").readlines()
line = next(line for line in lines if " iteration " in line)
open("long.log", "w").writelines(lines + [line] * 60000)
subprocess.run([sys.argv[1], "explain", "long.log"], check=True, stdout=subprocess.DEVNULL)
assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 40000
END

# ---- GPUs of one node whose link does not hold
sed 's/per iteration (ms): 70/per iteration (ms): 970/' megatron.log |
    sed 's/throughput per GPU (TFLOP\/s\/GPU): [0-9.]* |//' > link.log
reads link.log "verdict=a slow network"
grep -q "a link between the node's GPUs" out || complain "the link within the node is not named"

# ---- stages of different depth become the run's split, and the documents hold it
sed 's/  num_layers \(.*\) 32/&\n  decoder_first_pipeline_num_layers ............... 15/' \
    megatron.log > uneven.log
reads uneven.log "split=15 17"
answers 0 "certified" explain uneven.log -o run
answers 0 "" compare run/run.json --uniform
grep -q '"layers_min": 16' run/job.json || complain "the run's stages are no rules of its job"
answers 0 "" verify run/run.json

# ---- every answer is as its schema says
if python3 -c 'from jsonschema import Draft202012Validator' 2> /dev/null; then
    python3 "$root/tests/check_schemas.py" good explained-*.json > out || complain "the schema"
else
    echo "skipped: explain against its schema: python3 has no jsonschema" >&2
fi

# ---- a run with 12 interleaved stages, which do not divide its 34 layers: nor do its space's
sed 's/ 4, pipeline-model-parallel size: 2/ 2, pipeline-model-parallel size: 4/
    s/  pipeline_model_parallel_size \(.*\) 2/  pipeline_model_parallel_size \1 4/
    s/  tensor_model_parallel_size \(.*\) 4/  tensor_model_parallel_size \1 2/
    s/  num_layers .*/&\n  virtual_pipeline_model_parallel_size ............ 3/' \
    megatron.log > wound.log
"$plumbline" explain wound.log --then plan -o wound --time-limit-s 20 > out 2> err ||
    complain "interleaved --then plan"
grep -q "its layout has a plan of" err && grep -q "stages in any number" err &&
    tail -1 out | grep -q '^any layout: .* s, -[0-9.]* % against the run' ||
    complain "interleaved --then plan: not from the run on"
sed 's/  virtual_pipeline\(.*\) 3/  virtual_pipeline\1 5/' wound.log > five.log
answers 0 "any layout: " explain five.log --then plan -o five --time-limit-s 20

# ---- a notebook's file, NULs where another writer's lines went, values by "=", and arguments of
# which a part was left out
python3 - << 'END'
import json
lines = open("megatron.log").read().split("\n")
with open("notebook.log", "w") as f:
    for line in lines:
        f.write("      " + json.dumps("\t" + line + "\n") + ",\n")
with open("nuls.log", "w") as f:
    f.write("\n".join(lines[:-4]) + "\n" + "\0" * 200 + "\n" + "\n".join(lines[-4:]))
with open("signs.log", "w") as f:
    for line in lines:
        f.write(line.replace("elapsed time per iteration (ms):", "elapsed_time_per_iteration_ms=")
                .replace("global batch size:", "global_batch_size=") + "\n")
with open("cut.log", "w") as f:
    for line in lines:
        f.write(line + "\n" + (" ...\n" if "num_layers" in line else ""))
END
for log in notebook nuls signs; do
    reads $log.log num_gpus=8 layers=32 tp=4 pp=2 global_batch=128 precision=bf16 \
        iteration_s=7.004 reading=certified
done
sed -i '/sequence_parallel/d' cut.log
reads cut.log layers=32 sp=-

# ---- bars of data and evaluation beside the training's; a report with an address; towers; a device
# that is null; what is said of other runs
cat > bars.log << 'END'
Loading checkpoint shards: 100%|####| 30/30 [00:00<00:00, 548.41it/s]
65446537it [11:32, 608611.75it/s]
***** Running training *****
  Instantaneous batch size per device = 2
  Total optimization steps = 1,000
"text_config": {"hidden_size": 2048, "num_hidden_layers": 24},
"vision_config": {
  "hidden_size": 1152,
  "num_hidden_layers": 27
},
# cfg.model.num_layers = 8
"zero_optimization": {"stage": 2,
    "offload_optimizer": {
        "device": null
    }
},
 99%|####| 5/1000 [00:20<1:02:01,  4.00s/it]
100%|####| 38/38 [00:02<00:00, 19.00it/s]
 99%|####| 6/1000 [00:24<1:02:01,  4.02s/it]
 99%|####| 7/1000 [00:28<1:02:01,  4.00s/it]
END
reads bars.log hidden=2048 layers=24 micro_batch=2 zero=2 iteration_s=4
grep -q offload out && complain "a device that is null is one"
sed '/Total optimization/d' bars.log > unstated.log
reads unstated.log iteration_s=4
{
    printf '8x H100, B200 in the next room\n[rank2]: torch.OutOfMemoryError: CUDA out of memory. '
    printf 'Tried to allocate 11.11 GiB. GPU 2 has a total capacity of 79.18 GiB of which 8.72 GiB '
    printf 'is free. See documentation (https://pytorch.org/docs/stable/notes/cuda.html)\n'
} > address.log
reads address.log out_of_memory=True card_bytes=85018877624 gpu=h100
sed 's/8x H100, //' address.log > other.log
reads other.log out_of_memory=True gpu=-
cat > counted.log << 'END'
from megatron.bridge.recipes.llama.h100 import llama31_8b_h100_config # needs H100+
cfg.train.micro_batch_size = 2
cfg.train.global_batch_size = 128
!torchrun --nproc-per-node 4 train.py
With 4 GB200 it is:
Step Time : 11.65s GPU utilization: 1158.1TFLOP/s/GPU
mem-max-allocated-gigabytes: 130.5 | mem-max-reserved-gigabytes: 140.25
4 nodes: DP=1 PP=2, 8 nodes: DP=2 PP=2
END
reads counted.log gpu=gb200 model=llama-3.1-8b num_gpus=4 verdict=agrees reading=certified \
    allocated_bytes=130500000000 reserved_bytes=140250000000

# ---- tables of Markdown: of one run; of several, which say nothing; of names and values
cat > table.md << 'END'
| GPUs | SeqLen | TP | PP | MBS | **GBS** | rate |
|------|:------:|:--:|---:|----:|--------:|------|
| 64   | 4,096  | 2  | NA | `2` | 256     | 3.5  |
END
printf '%s\n' 'Training epoch 0, iteration 1/9 | global_step: 1 | train_step_timing in s: 2.5' \
    'Training epoch 0, iteration 2/9 | global_step: 2 | train_step_timing in s: 2.0' > steps.log
cat table.md steps.log > one.log
reads one.log num_gpus=64 seq=4096 tp=2 pp=- micro_batch=2 global_batch=256
{ cat table.md; echo '| 128 | 8192 | 4 | 2 | 1 | 512 | 4.5 |'; cat steps.log; } > several.log
reads several.log seq=- tp=- micro_batch=- global_batch=-
printf '| Parameter | Value |\n|---|---|\n| Tensor parallel size | 4 |\n| GPUs | 8x H100 |\n' \
    > pairs.md
cat steps.log pairs.md > pairs.log
reads pairs.log tp=4

# ---- ms-swift's lines of JSON
printf '{"global_step/max_steps": "%d/20", "memory(GiB)": 26.8, "train_speed(s/it)": %s}\n' \
    1 9.5 2 5.01 3 5.0 4 5.0 > lines.jsonl
reads lines.jsonl iteration_s=5 reserved_bytes=28776280883

# ---- pdsh's host before each line, a command as a list of Python's, a row of nvidia-smi's table
sed 's/^/node-12: /; s/^node-12: \[/node-12: [/' megatron.log > hosts.log
reads hosts.log tp=4 num_gpus=8 iteration_s=7.004 reading=certified
printf '%s\n' "['/usr/bin/python3', '-u', 'src/train_bash.py', '--cutoff_len', '512'," \
    " '--per_device_train_batch_size', '1', '--model_name_or_path', '/x/Qwen-14B-Chat']" |
    tr -d '\n' > list.log
printf '\nCUDA out of memory on \344\270\244\345\274\240 24G\n' >> list.log
reads list.log seq=512 micro_batch=1 layers=40 num_gpus=2
{ cat card.log; printf '|   1  NVIDIA H100 80GB HBM3    On  | 0:00 Off |\n'; } > table_row.log
sed -i 's/--nodes 1 --gpus-per-node 4//' table_row.log
reads table_row.log gpus_per_node=2 num_gpus=2
# products and wholes of GPUs; a GPU within a maker's name; one that is like a known one
printf 'out of memory, 4 nodes (4 * 8 H100 GPUs), qwen3-8b\n' > factor.log
reads factor.log num_gpus=32
printf 'out of memory in the 256-GPU MXFP8 recipe of qwen3-8b on GB300\n' > whole.log
reads whole.log num_gpus=256 precision=mxfp8 gpu=gb300
sed 's/"closed"/"1xXE9680Lx8B200-SXM-180GB"/; s/H100/X/g' mlperf.log > maker.log
printf '# 1xXE9680Lx8B200-SXM-180GB\n' >> maker.log
reads maker.log gpu=b200-180gb
printf 'CUDA out of memory: 4*A10G 24 Gb, quantization_bit: 4, llama3-70b\n' > likely.log
reads likely.log num_gpus=4 gpu=a10g-24gb model=llama-3.1-70b
grep -q 'as a40-48gb, but for its memory of 24 GiB' out || complain "no likeness of an A10G"
# V100 that are told to compute bf16 run out of memory as in fp16
{ sed '/iteration /d; s/H100 80GB HBM3/V100-32GB/' megatron.log; echo 'CUDA out of memory'; } \
    > emulated.log
reads emulated.log precision=bf16 gpu=v100-32gb "verdict=out of memory"
grep -q '"column": "precision", "value": "fp16"' out || complain "bf16 on V100 is not priced"

# ---- rates in words: the author's own; a container's month; the only line is of the first ten
printf '%s\n' 'The blog has 2357 Tokens/s/GPU for LLaMA 13B, I get 1900 Tokens/s/GPU' \
    'nvcr.io/nvidia/nemo:23.08 with 8xA100-80GB, global_batch_size=32 seq_length=4096' > post.log
sed -n 1p post.log | sed 's/, I get.*//' > blog.log
printf 'we reach 1900 Tokens/s/GPU\n' >> blog.log && sed -n 2p post.log >> blog.log
sed 's/reach/saw/; s/1900/in your README 2500/' blog.log >> blog.log
printf 'Use deepspeed zero2\n' >> blog.log
reads blog.log zero=- tokens_per_s_per_gpu=1900 num_gpus=8 model=llama-2-13b iteration_s=8.623
sed '/iteration [2-6]\//d; s/iteration 1\//iteration 10\//; s/samples: 128 /samples: 1280 /' \
    megatron.log > mean.log
reads mean.log "verdict=warm-up only"
# a time that is stated by FLOP/s alone proves nothing more; one that no GPU has, nothing
printf 'llama3-8b on 8xH100-80GB: 400 TFLOP/s/GPU\nglobal_batch_size=128 seq_length=8192\n' \
    > flops.log
reads flops.log tflops_per_gpu=400
grep -q "the log's FLOP/s and the model's FLOP" out || complain "no time by FLOP/s"
sed 's/435.2/59892.5/' megatron.log > longest.log
reads longest.log "reading=not certified"

# ---- torchtitan names no model: by its FLOP of a token; the batch by the clock of its lines
sed '/Building llama3/d; /mesh\|starts/d' titan.log > nameless.log
reads nameless.log model=- num_gpus=- reading=certified
grep -q '"column": "model", "value": "llama-3.1-8b"' out || complain "no model by its FLOP"
printf 'deepseek_v3/train_configs/deepseek_v3_16b.toml\n' | cat - nameless.log > fuller.log
reads fuller.log model=deepseek-v2-lite

# ---- transformers' total_flos: the mean length of samples
sed "s/'train_steps/'total_flos': 1.0e17, 'train_steps/" trainer.log > lengths.log
reads lengths.log micro_batch=4
grep -q 'the mean: total_flos' out || complain "no mean length"
printf 'tracked_stats\n:::MLLOG {"time_ms": 1684043516415, "key": "tracked_stats", "value": %s}\n' \
    '{"train_step_timing": 12.1}' '{"train_step_timing": 12.0}' '{"train_step_timing": 12.0}' |
    cat mlperf.log - > stats.log
reads stats.log iteration_s=12

# ---- the search of any layout starts from the run, and is never worse
"$plumbline" explain megatron.log --then plan -o then --time-limit-s 20 > out 2> err ||
    complain "--then plan"
tail -1 out | grep -q '^any layout: .* s, -[0-9.]* % against the run' ||
    complain "--then plan: no better plan than the run's"

# ---- what is set instead of the log's, and what is no log
answers 0 "tensor-model-parallel-size\|micro_batch" explain megatron.log --set tp=2 --set pp=4
answers 0 "b200-180gb" explain megatron.log --gpu b200-180gb
answers 2 "expected a training log" explain ../../README.md
# what ran and does not fit as it was read lacks a value that makes room, whatever its time was
cat > full.log << 'END'
***** Running training *****
  Instantaneous batch size per device = 4
  Total train batch size (w. parallel, distributed & accumulation) = 128
  Gradient Accumulation steps = 4
  1%|          | 10/1218 [01:40<3:21:20, 10.00s/it]
  2%|          | 20/1218 [03:20<3:19:40, 10.00s/it]
END
answers 0 "its memory, not its time" explain full.log --gpu a100-80gb --set model=llama-2-7b
grep -q "zero=2" out || complain "what shards its states is not named: $(cat out)"
printf 'a\0b\n' > binary.log
answers 2 "expected text, found a NUL byte" explain binary.log
: > empty.log
answers 2 "expected a training log" explain empty.log
answers 2 "missing.log" explain missing.log
answers 2 "there is no column nothing" explain megatron.log --set nothing=1
answers 2 "requires -o" explain megatron.log --then plan
ended

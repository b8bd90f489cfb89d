#!/bin/sh
# Every figure of docs/VALIDATION.md, from the shared validation sets: sh tests/validation.sh
# [FOLDER]. Says so and ends where the folder is not at hand. Each line is one command; what it fits
# on and what it scores stands in it.
sets=${1:-../shared/validation}
plumbline=${BIN:-bin}/plumbline
[ -d "$sets" ] || { echo "validation: $sets is not at hand: nothing to do" >&2; exit 0; }
single=$sets/vtrain_single_2312.12391.csv multi=$sets/vtrain_multi_2312.12391.csv \
    bigscience=$sets/bigscience_176B_prequel_A100.csv
golden=$sets/megatron_lm_golden_values.csv
status=0

show() { echo; echo "== $1"; shift; "$plumbline" validate "$@" --read-notes || status=1; }

three=layer_overhead_s,layer_launch_s,misaligned_gemm_share
six=$three,collective_launch_s,embedding_launch_share,transfer_efficiency.intra
peaks=gemm=3.12e14,attention=3.12e14,memory=2.039e12,layer_overhead=3e-4,misaligned=0.3
peaks=$peaks,collective_launch=1e-4,embedding_launch=0.5,transfer_efficiency.intra=0.1
launch_s=collective_launch_s+transfer_launch_s
show "vtrain_single, 3 constants, 5 folds by row" "$single" --costs a100-tables --fit $three \
    --folds 5
show "vtrain_single, 3 constants, each cell from the others" "$single" --costs a100-tables \
    --fit $three --folds 0 --by cell
show "vtrain_single, 3 constants, each model from the others" "$single" --costs a100-tables \
    --fit $three --folds 0 --by model
show "vtrain_single, 6 constants, 5 folds by row" "$single" --costs a100-tables --set $peaks \
    --fit $six --folds 5
show "vtrain_single, 6 constants, each cell from the others" "$single" --costs a100-tables \
    --set $peaks --fit $six --folds 0 --by cell
show "vtrain_single, 6 constants, each model from the others" "$single" --costs a100-tables \
    --set $peaks --fit $six --folds 0 --by model
show "vtrain_single, table: pp > 1 from pp = 1" "$single" --costs a100-tables --table
show "vtrain_multi, compute from single, no constant of its own" "$multi" --costs a100-vtrain
show "vtrain_multi, compute from single, inter-node bandwidth from every third row" "$multi" \
    --costs a100-vtrain \
    --fit network_efficiency.infiniband --fit-rows row%3=0
show "amp, 3 constants, 5 folds" "$sets/amp_homogeneous_2210.07297.csv" --costs t4-deepspeed \
    --cluster t4-4x4 --default gradient_bytes=4 \
    --fit gemm+attention,$launch_s,intra_efficiency+network_efficiency.ethernet --folds 5
show "sailor, no constant" data/runs/sailor-opt350-gh200.csv --cluster gh200-clariden \
    --costs gh200-sailor \
    --exclude plan_config_N1_D1_M4_G1,plan_config_N1_D1_M4_G32,plan_config_N4_D1,plan_config_N4_D2
show "sailor, no constant, with the rows of the faulty table entry" \
    data/runs/sailor-opt350-gh200.csv --cluster gh200-clariden --costs gh200-sailor
show "korthikanti, 1 constant, 5 folds" "$sets/korthikanti_2205.05198.csv" --costs datasheet \
    --fit gemm+attention --folds 5
show "sc21 without ZeRO-3, 1 constant, 5 folds" "$sets/megatron_sc21_2104.04473.csv" \
    --costs datasheet --fit gemm+attention --folds 5 \
    --default seq=1024,recompute=full --rows zero=0
show "sc21 with ZeRO-3, 1 constant, 5 folds" "$sets/megatron_sc21_2104.04473.csv" \
    --costs datasheet --fit gemm+attention --folds 5 \
    --default seq=1024,recompute=full
show "dgxc v25.04, 1 constant, 5 folds" "$sets/nvidia_dgxc_v25.04.csv" \
    --costs datasheet-overlapped --default overlap=1,gradient_bytes=2 --fit gemm+attention --folds 5
show "dgxc v25.04, 1 constant, each model from the others" "$sets/nvidia_dgxc_v25.04.csv" \
    --costs datasheet-overlapped --default overlap=1,gradient_bytes=2 \
    --fit gemm+attention --folds 0 --by model
show "bigscience memory, 1 constant, 5 folds" "$bigscience" --costs a100-tables \
    --default heads=96,kv_heads=96 --rows metric!=iteration_time \
    --fit allocator_factor --folds 5
show "bigscience memory, 1 constant by likelihood, 5 folds" "$bigscience" --costs a100-tables \
    --default heads=96,kv_heads=96 \
    --rows metric!=iteration_time --fit allocator_factor --likelihood --folds 5
show "bigscience memory, 1 constant, each cell from the others" "$bigscience" --costs a100-tables \
    --default heads=96,kv_heads=96 \
    --rows metric!=iteration_time --fit allocator_factor --folds 0 --by cell
show "megatron golden 7B, pp = 1, no constant" "$golden" --costs datasheet \
    --rows "hidden>=3072,source~7b,metric!=iteration_time,pp=1"
show "megatron golden 7B, interleaved, no constant" "$golden" --costs datasheet \
    --rows "hidden>=3072,source~7b,metric!=iteration_time,pp>1"
show "megatron golden 15B, H100, dp 16 (chosen by the static bytes)" "$golden" --costs datasheet \
    --rows "source~15b,metric!=iteration_time,gpu=H100-80GB" \
    --default vocab=256000,positions=0,bias=0,dropout=0,dp=16,global_batch=384
show "megatron golden 15B, A100, dp 24 (chosen by the static bytes)" "$golden" --costs datasheet \
    --set library=21233664 \
    --rows "source~15b,metric!=iteration_time,gpu=A100-80GB" \
    --default vocab=256000,positions=0,bias=0,dropout=0,dp=24,global_batch=384
show "megatron golden, L12 h512" "$golden" --costs datasheet \
    --rows "hidden=512,metric!=iteration_time"
# Cold: nothing fitted on iterations.
recipes=overlap=1,overlap_messages=1,overlap_tensor=1,gradient_bytes=2
show "vtrain_single, cold" "$single" --costs kernels
show "vtrain_multi, cold" "$multi" --costs kernels
show "korthikanti, cold" "$sets/korthikanti_2205.05198.csv" --costs kernels
for zero in 0 3; do
    show "sc21, ZeRO $zero, cold" "$sets/megatron_sc21_2104.04473.csv" --costs kernels \
        --default seq=1024,recompute=full --rows zero=$zero
done
# Its section 5 states the fabric: three levels of a fat tree, which keeps its bandwidth.
show "sc21, cold, its fabric stated" "$sets/megatron_sc21_2104.04473.csv" --costs kernels \
    --default seq=1024,recompute=full --set node_doubling_share=1
show "dgxc v25.04, cold" "$sets/nvidia_dgxc_v25.04.csv" --costs kernels --default $recipes
show "amp, cold" "$sets/amp_homogeneous_2210.07297.csv" --costs t4-kernels --cluster t4-4x4 \
    --default gradient_bytes=4
show "bigscience iteration times, cold" "$bigscience" --costs kernels \
    --default heads=96,kv_heads=96 --rows metric=iteration_time
show "MPT of llm-foundry, cold" data/runs/mpt-llm-foundry.csv --costs kernels
for gpu in A100-40GB A100-80GB H100-80GB; do
    show "MPT on $gpu, cold" data/runs/mpt-llm-foundry.csv --costs kernels --rows "gpu=$gpu"
    show "MPT on $gpu, 1 constant, 5 folds" data/runs/mpt-llm-foundry.csv --costs kernels \
        --rows "gpu=$gpu" --fit sharded_step_factor --folds 5
done
show "torchtitan, cold" data/runs/torchtitan-llama3.csv --costs kernels
show "torchtitan, 1 constant, 5 folds" data/runs/torchtitan-llama3.csv --costs kernels \
    --rows metric=throughput --fit sharded_step_factor --folds 5
show "Llama 3 of its paper, cold" data/runs/llama3-2407.21783.csv --costs kernels
show "Llama 3 of its paper, 1 constant, 3 folds" data/runs/llama3-2407.21783.csv --costs kernels \
    --fit other_step_factor --folds 3
show "Megatron-Turing NLG, cold" data/runs/mt-nlg-2201.11990.csv --costs kernels
show "Megatron-Turing NLG, 1 constant, 3 folds" data/runs/mt-nlg-2201.11990.csv --costs kernels \
    --fit deepspeed_step_factor --folds 3
show "GLM-130B, cold" data/runs/glm-130b-2210.02414.csv --costs kernels
show "Megatron-LM as MegaScale's authors ran it, cold" data/runs/megascale-2402.15627.csv \
    --costs kernels
show "Megatron-LM as MegaScale's authors ran it, 1 constant, 3 folds" \
    data/runs/megascale-2402.15627.csv --costs kernels \
    --fit megatron_step_factor --folds 3
nvidia=data/runs/nvidia-megatron.csv
for part in "5B of,layers=24" "175B of 2022-07" "175B of 2022-09" "NeMo 24.07" \
    "container,gpu=H100-80GB" "container,gpu=B200" "README"; do
    show "NVIDIA's Megatron, $part, cold" $nvidia --costs kernels --rows "notes~$part"
    show "NVIDIA's Megatron, $part, 1 constant, 3 folds" $nvidia --costs kernels \
        --rows "notes~$part" --fit megatron_step_factor --folds 3
done
# Sets that are not shipped: the tables that tests/calibrate/layouts_2311.05610.py and
# mixed_2210.07297.py make, where LAYOUTS and MIXED name them.
[ -z "${LAYOUTS:-}" ] || for rows in "notes~attention2 + RMS" "notes~attention2" "tp>0"; do
    show "arXiv 2311.05610, $rows, cold" "$LAYOUTS" --costs kernels --rows "$rows"
    show "arXiv 2311.05610, $rows, 1 constant, 5 folds" "$LAYOUTS" --costs kernels --rows "$rows" \
        --fit other_step_factor --folds 5
done
[ -z "${MIXED:-}" ] || show "AMP's cluster of V100 and T4, cold" "$MIXED" --costs kernels \
    --cluster mixed-v100-t4
show "vtrain_multi, kernels, 1 constant, 5 folds" "$multi" --costs kernels \
    --fit deepspeed_step_factor --folds 5
show "korthikanti, kernels, 1 constant, 5 folds" "$sets/korthikanti_2205.05198.csv" \
    --costs kernels --fit megatron_step_factor --folds 5
show "sc21 without ZeRO-3, kernels, 1 constant, 5 folds" "$sets/megatron_sc21_2104.04473.csv" \
    --costs kernels --fit megatron_step_factor \
    --folds 5 --default seq=1024,recompute=full --rows zero=0
show "dgxc v25.04, kernels, 1 constant, 5 folds" "$sets/nvidia_dgxc_v25.04.csv" --costs kernels \
    --default $recipes \
    --fit megatron_step_factor --folds 5
show "amp, kernels, 1 constant, 5 folds" "$sets/amp_homogeneous_2210.07297.csv" --costs t4-kernels \
    --cluster t4-4x4 \
    --default gradient_bytes=4 --fit deepspeed_step_factor --folds 5
show "bigscience iteration times, kernels, 1 constant, 5 folds" "$bigscience" --costs kernels \
    --default heads=96,kv_heads=96 \
    --rows metric=iteration_time --fit deepspeed_step_factor --folds 5
# What nobody stated: tables with the columns that their makers print, logs, MLPerf's results.
tables=${TMPDIR:-/tmp}/plumbline-unstated.$$
mkdir -p "$tables" && python3 tests/calibrate/unstated_tables.py "$tables" "$sets" "$sets/../logs"
for name in dgxc bridge nemo torchtitan dgxc-nosource bridge-nosource nemo-nosource \
    torchtitan-nosource; do
    echo; echo "== $name, plain columns"
    "$plumbline" validate "$tables/plain-$name.csv" --suggest || status=1
done
echo; echo "== logs, but for warm-up alone (24) and a run in trouble (71)"
"$plumbline" validate "$tables/logs.csv" --exclude 24,71 || status=1
rm -r "$tables"
for gpu in H100-80GB H200 GB200; do
    show "MLPerf, 405B on $gpu" data/runs/mlperf-training.csv --rows "layers=126,gpu=$gpu"
done
bridge=data/runs/megatron-bridge.csv
for rows in "ep>0" "model~llama" precision=nvfp4; do
    show "Megatron-Bridge's page, $rows" $bridge --rows "$rows"
done
show "AMD" data/runs/amd-training.csv
show "NeMo Automodel" data/runs/automodel.csv
# Its page's fabric: four NICs of 100 Gb/s RoCE a node.
roce=${TMPDIR:-/tmp}/plumbline-roce.$$.json
sed 's/"a100-16x8"/"a100-128x8-roce"/; s/"nodes": 16/"nodes": 128/; s/"infiniband"/"roce"/
    s/"count": 8/"count": 4/; s/25000000000/12500000000/' data/clusters/a100-16x8.json > "$roce"
show "InternEvo, set apart, its fabric stated" data/runs/internevo.csv --cluster "$roce"
rm "$roce"
show "NVIDIA's pages, set apart" data/runs/nvidia-pages.csv
# fms-fsdp states its fabric: 400 Gb/s a node of A100, 800 of H100.
for fabric in "A100-80GB a100-16x8 8 4 25000000000 12500000000" \
    "H100-80GB h100-128x8 8 2 50000000000 50000000000"; do
    set -- $fabric
    sed "s/\"$2\"/\"$2-slow\"/; s/\"count\": $3/\"count\": $4/
        /infiniband/s/$5, \"latency/$6, \"latency/" \
        "data/clusters/$2.json" > "$roce"
    show "fms-fsdp on $1, set apart, its fabric stated" data/runs/fsdp-teams.csv --cluster "$roce" \
        --rows "source~fms-fsdp,gpu=$1"
done
rm "$roce"
for team in fms-fsdp torchtitan mfu_scaling moe_; do
    show "FSDP by three teams, $team, set apart" data/runs/fsdp-teams.csv --rows "source~$team"
done
show "Mixtures, set apart" data/runs/moe-zoo-cards.csv
show "XTuner, set apart" data/runs/xtuner.csv --costs kernels
show "Mixtures of Megatron-Bridge 25.09, set apart" data/runs/bridge-25.09.csv --costs kernels
show "Mixtures and adapters of 2026, set apart" data/runs/mixtures-2026.csv
show "halo and verification cards, set apart" data/runs/halo-cards.csv
show "NVIDIA's recipes of May 2025, set apart" data/runs/dgxc-25.05.csv
show "NVIDIA's recipes of other releases, set apart" data/runs/dgxc-releases.csv
show "MLPerf 5.1, set apart" data/runs/mlperf-5.1.csv
show "MLPerf, GPT-3" data/runs/mlperf-training.csv --rows layers=96
show "MLPerf, 8B" data/runs/mlperf-training.csv --rows layers=32
# What a program's own runs show, each set by the others.
echo; python3 tests/calibrate/left_out.py "$plumbline" "$sets" || status=1
for model in gpt3-175b llama-3.1-405b llama-3.1-8b llama-2-70b; do
    show "MLPerf, other rounds, $model" data/runs/mlperf-rounds.csv --rows "model=$model"
done
# Shipped costs on the rows that they were fitted to: what fitting leaves, no forecast.
show "vtrain_single, own costs" "$single" --costs a100-vtrain
show "amp, own costs" "$sets/amp_homogeneous_2210.07297.csv" --costs t4-amp --cluster t4-4x4 \
    --default gradient_bytes=4
show "korthikanti, own costs" "$sets/korthikanti_2205.05198.csv" --costs a100-korthikanti
show "dgxc v25.04, own costs" "$sets/nvidia_dgxc_v25.04.csv" --costs h100-dgxc \
    --default overlap=1,gradient_bytes=2
show "bigscience memory, own costs" "$bigscience" --costs a100-bigscience \
    --default heads=96,kv_heads=96 --rows metric!=iteration_time
for model in 1.5B 6.2B 14.6B 28.3B; do
    show "zero-bubble paper, $model, one 1F1B point" data/runs/zero-bubble-2401.10241.csv \
        --costs datasheet --rows notes~model=$model \
        --fit gemm+attention --fit-rows notes~calibration --list
done
exit $status

#!/bin/sh
# No run that a framework can do, with any switches, is faster than the bound of its space: drawn
# runs of every framework, and published ones (what_runs.py). Runs that the plan's own memory rule
# refuses are counted apart. DRAWN: runs for each space; SHARED: the folder with published runs.
# recipes.csv has layouts of public recipes without a time: NVIDIA/dgxc-benchmarking at 841f5466
# (MIT), aws-samples/awsome-distributed-training at 7217859f (MIT-0).
name=test_space_is_what_runs
. tests/script.sh

what_runs=$root/tests/judge/what_runs.py
python3 "$what_runs" "$plumbline" drawn "${SEED:-1}" "${DRAWN:-24}" > out 2> err ||
    complain "a drawn run"
cat out
python3 "$what_runs" "$plumbline" rows 20 "$root/data/runs/torchtitan-llama3.csv" > out 2> err ||
    complain "a published run"
cat out
most=72 # runs of so few GPUs; PUBLISHED: all (0)
[ -z "${PUBLISHED:-}" ] || most=0
GPUS_MOST=$most python3 "$what_runs" "$plumbline" rows 20 "$root/data/runs/mlperf-rounds.csv" \
    "$root/tests/judge/recipes.csv" > out 2> err || complain "a run or a recipe of a public table"
cat out
runs=${SHARED:-$root/../shared}/validation
if [ -d "$runs" ] && [ "${PUBLISHED:-}" ]; then
    python3 "$what_runs" "$plumbline" rows 20 "$root"/data/runs/*.csv \
        "$runs"/nvidia_dgxc_v25.04.csv "$runs"/megatron_sc21_2104.04473.csv \
        "$runs"/korthikanti_2205.05198.csv "$runs"/vtrain_multi_2312.12391.csv > out 2> err ||
        complain "a published run"
    cat out
fi
ended

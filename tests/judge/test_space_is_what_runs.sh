#!/bin/sh
# No run that a framework can do, with any switches, is faster than the bound of its space: drawn
# runs of every framework, and published ones (what_runs.py). Runs that the plan's own memory rule
# refuses are counted apart. DRAWN: runs for each space; SHARED: the folder with published runs.
name=test_space_is_what_runs
. tests/script.sh

what_runs=$root/tests/judge/what_runs.py
python3 "$what_runs" "$plumbline" drawn "${SEED:-1}" "${DRAWN:-24}" > out 2> err ||
    complain "a drawn run"
cat out
python3 "$what_runs" "$plumbline" rows 20 "$root/data/runs/torchtitan-llama3.csv" > out 2> err ||
    complain "a published run"
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

#!/bin/sh
# What is stated of a layout stays, whatever else is searched; what is excluded is not planned; both
# in `example`, in `plan` and in a sweep, whose keys are kept or refused.
name=test_stated
. tests/script.sh

machine="--model llama-3.1-8b --gpu h100-80gb --nodes 1 --sequence 8192 --global-batch 64"
example="example gpt $machine --costs kernels --layouts all --quiet --force"

# layouts JOB-OR-PLAN KEY: the values of a column over all layouts of space.layouts.json that ran
column() {
    "$plumbline" report --layouts "$1" --format csv --top 0 |
        python3 -c 'import csv, sys
print(" ".join(sorted({row[sys.argv[1]] for row in csv.DictReader(sys.stdin)})))' "$2"
}
has() { # has FOLDER KEY VALUES
    [ "$(column "$1/plan.layouts.json" "$2")" = "$3" ] ||
        complain "$1: $2 is $(column "$1/plan.layouts.json" "$2"), not $3"
}

# ---- stated keys, each by itself: the space has that value only, and the others open
while read -r option value key; do
    answers 0 "" $example --$option $value -o one
    python3 - one/job.json "$key" "$value" << 'END' || complain "--$option $value"
import json, sys
job = json.load(open(sys.argv[1]))
key, value = sys.argv[2], sys.argv[3]
layout, space = job["layout"], job["space"]
stated = layout[key] if isinstance(layout[key], str) else int(layout[key])
assert str(stated) == value, (layout[key], value)
assert key not in space["all"] and key not in space, space
assert len(space["all"]) >= 12, space
END
done << 'LIST'
tensor 2 tensor
context 2 context
data 4 data
pipeline 2 pipeline
micro-batch 2 micro_batch
schedule interleaved schedule
zero 0 zero
gradient-sync exposed gradient_sync
LIST
answers 0 "" $example --offload-optimizer --no-sequence-parallel -o one
grep -q '"offload_optimizer": true' one/job.json && grep -q '"sequence_parallel": false' \
    one/job.json || complain "switches are not stated"
grep -q '"all": .*"offload_optimizer"\|"all": .*"sequence_parallel"' one/job.json &&
    complain "stated switches are open"

# ---- in a plan: only such layouts are looked at, and the plan has them
answers 0 "tensor 2" plan $machine --tensor 2 --micro-batch 1 --without offload --gap 0.05 \
    --memory-fraction 0.95 -o fixed
grep -q '"memory_fraction": 0.95' fixed/job.json || complain "the memory rule is not the job's"
has fixed tensor 2
has fixed micro_batch 1
has fixed offload_optimizer 0
grep -q -- "--tensor 2 --micro-batch 1 --without offload" out || complain "not in its commands"
answers 0 "per iteration" plan $machine --without interleaved --without recompute \
    --without zero-1 --without tensor --gap 0.05 -o lean
has lean schedule 1f1b
has lean zero 0
has lean tensor 1
tr -d ' \n' < lean/job.json | grep -q '"recompute":\["none"\]\|"space"' || complain "recompute"
grep -q '"recompute": "[^n]' lean/plan.json && complain "recomputes"
# The degrees that are named have the answer that the whole space has, or none is better.
answers 0 "per iteration" plan $machine --gap 0 --time-limit-s 0 --without offload -o whole
tensor=$(sed -n 's/.*(tensor \([0-9]*\),.*/\1/p' out | head -1)
answers 0 "per iteration" plan $machine --gap 0 --time-limit-s 0 --without offload \
    --tensor "$tensor" -o same
[ "$(number whole/plan.json iteration_ns)" = "$(number same/plan.json iteration_ns)" ] ||
    complain "with the tensor degree of the best plan another one is best"
answers 11 "no product of its degrees" plan $machine --tensor 3 -o none

# ---- what cannot be
answers 2 "did you mean --tensor" plan $machine --tensr 2 -o no
answers 2 "found 'ofload'; the nearest is offload" plan $machine --without ofload -o no
answers 0 "" example gpt --model llama-3.1-8b --cluster mixed-a100-v100 --layouts all \
    --without v100-2 --without offload --without a100=2 -o nodes
grep -q '"nodes": 2' nodes/cluster.json && grep -q '"nodes": 3' nodes/cluster.json ||
    complain "--without v100-2: the cluster has it still"
answers 2 "the nearest is v100-2" example gpt --model llama-3.1-8b --cluster mixed-a100-v100 \
    --layouts all --without v1002 -o no
answers 0 "no stage on v100: v100-32gb lacks bf16; it has fp16, fp32" example gpt \
    --cluster mixed-a100-v100 --costs kernels --layouts all -o no16
printf 'anode01\nvnode01\nvnode03\n' > hosts
answers 0 "" import hostfile hosts --like anode=a100-16x8 --like vnode=v100-32gb-16x8 -o named.json
named="--model gpt2-xl --cluster named.json --costs kernels --precision fp16 --sequence 1024"
answers 2 "found 'vnode3'; the nearest is vnode03" example gpt $named --layouts all \
    --without vnode3 -o no
answers 0 "" example gpt $named --layouts all --global-batch 24 -o named
answers 2 "found 'vnode3'; the nearest is vnode03" solve named --without vnode3
answers 2 "the nearest to 'vnode3' is vnode03" solve named --degrade anode01:vnode3=0.5
# 512 GPUs are not whole NVLink domains of 72, but equal parts of 8.
answers 0 "" example gpt --model llama-3.1-8b --gpu gb200-186gb --gpus 512 --costs kernels \
    --layouts all -o parts
grep -q '"gpus_per_node": 64' parts/cluster.json && grep -q '"nodes": 8' parts/cluster.json &&
    grep -q '"count": 64' parts/cluster.json || complain "512 of GB200: $(cat parts/cluster.json)"
answers 2 "expected v100-0 to v100-3, found 'v100-9'" example gpt --model llama-3.1-8b \
    --cluster mixed-a100-v100 --layouts all --without v100-9 -o no
answers 2 "found 'interleave'; the nearest is interleaved" $example --without interleave -o no
answers 2 "state only one of them" $example --tensor 4 --without tensor -o no
answers 2 "state only one of them" $example --schedule interleaved --without interleaved -o no
answers 2 "no zero would be left" $example --without zero-0 --without zero-1 --without zero-2 \
    --without zero-3 -o no
answers 2 "requires a space" example gpt $machine --without offload -o no
[ -e no ] && complain "a folder although the line was refused"

# ---- sweeps
cat > sweep.jsonl << 'END'
{"sweep": {"model": "llama-3.1-8b", "gpu": "h100-80gb", "nodes": 1, "tensor": [1, 2]}}
END
sed -i 's/}}$/, "without": "offload"}}/' sweep.jsonl
answers 0 "" batch lines sweep.jsonl -o swept
for job in swept/*/job.json; do
    grep -q '"all": .*"tensor"\|"all": .*"offload' "$job" && complain "$job: it is open"
done
cat swept/*/job.json | grep -c '"tensor": 2' | grep -q '^1$' || complain "tensor 2 is not swept"
answers 0 "" $example -o open
refuse='{"sweep": {"problem": "open/problem.json", "job.layout.zero": [0, 1]}}'
echo "$refuse" > bad.jsonl
answers 2 "job.layout.zero: the job's space leaves zero open" batch lines bad.jsonl -o bad
echo "$refuse" | sed 's/}}/, "job.space": {"all": ["data"]}}}/' > good.jsonl
answers 0 "" batch lines good.jsonl -o good

# ---- one layout of a space: the job's, where it is one of them, or a plan's
wound="example gpt --schedule interleaved --virtual-stages 2 --quiet"
answers 0 "" $wound -o wound
grep -q '"recompute": "' wound/job.json && complain "a setting is stated, not chosen"
answers 0 "" solve wound/problem.json --gap 0.05 -o wound/plan.json
grep -q '"recompute": "' wound/plan.json || complain "interleaved, and each stage chooses"
answers 2 "layout.recompute.*state a plan of the space with --plan" formulate wound/problem.json \
    -o no.mps
answers 0 "rows" formulate wound/problem.json --plan wound/plan.json --path-of wound/plan.json \
    -o one.mps
answers 0 "(--plan: a plan's)" price wound/problem.json -o priced.json
answers 0 "" price wound/problem.json --plan wound/plan.json -o priced.json
grep -q "\"recompute\": \"$(sed -n 's/.*"recompute": "\([a-z_]*\)".*/\1/p' wound/plan.json |
    head -1)\"" priced.json || complain "price --plan: not the plan's layout"
answers 2 "expected a plan of this problem" formulate open/problem.json --plan wound/plan.json
answers 0 "" $wound --framework any -o free
answers 0 "" formulate free/problem.json -o free.mps

# ---- overlapped dispatch and dispatchers: kept, or refused where there are none
mixture="example gpt --quiet --force --model qwen3-30b-a3b --gpu h100-80gb --nodes 2"
mixture="$mixture --costs kernels"
answers 0 "" $mixture --layouts all -o kinds
grep -q '"all": .*"overlapped_dispatch"' kinds/job.json || complain "overlapped dispatch is closed"
answers 0 "" $mixture --layouts all --without overlapped-dispatch --graphs parts \
    --dispatcher deepep --context-kind ring -o hidden
grep -q '"all": .*"\(overlapped_dispatch\|context_kind\)"' hidden/job.json && complain "open"
grep -q '"all": .*"context_kind"' kinds/job.json || complain "context kinds are closed"
grep -q '"dispatcher": "deepep"' hidden/job.json || complain "--dispatcher is lost"
grep -q '"graphs": "parts"' hidden/job.json || complain "--graphs is lost"
answers 2 "all_to_all and none, as the launch files" $mixture --layouts all --framework torchtitan \
    --dispatcher hybridep -o no
answers 2 "with pipeline 2 and expert 4 and overlapped_dispatch 1" $mixture --layouts all \
    --overlapped-dispatch --expert 4 --pipeline 2 --tensor 1 --schedule 1f1b \
    --virtual-stages 1 -o no

# ---- precisions of GPUs and frameworks
narrow="example gpt --model llama-3.1-8b --nodes 1 --costs kernels --quiet --layouts all"
answers 2 "that a100-80gb has (compute capability 8.0), found fp8, which needs 8.9" $narrow \
    --gpu a100-80gb --precision fp8 -o no
answers 2 "h100-80gb has (compute capability 9.0), found mxfp8, which needs 10.0" $narrow \
    --gpu h100-80gb --precision mxfp8 -o no
answers 2 "expected fp8 or wider.*found nvfp4" $narrow --gpu b200-180gb --precision nvfp4 \
    --framework torchtitan -o no
answers 0 "" $narrow --gpu b200-180gb --precision nvfp4 -o narrow

ended

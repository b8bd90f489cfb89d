#!/bin/sh
# A GPU that is not shipped, as the guide goes about it (section 10): a cluster of it, costs fitted
# to a table of its own runs, a plan; and what is said where a table, a metric or a number of the
# costs is not what it should be.
BIN=${BIN:-bin} work=build/test_new_gpu.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "new GPU: $*" >&2; failed=1; }

# expect CODE WORDS ARGUMENT ...: the exit code, and the words in what is said
expect() {
    code=$1 words=$2; shift 2
    "$plumbline" "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ $got -eq "$code" ] || wrong "$*: exit $got, not $code: $(cat "$work/err")"
    grep -q -- "$words" "$work/out" "$work/err" ||
        wrong "$*: not said: $words: $(cat "$work/out" "$work/err")"
}

cat >"$work/runs.csv" <<'END'
gpu,num_gpus,layers,hidden,heads,kv_heads,ffn,vocab,seq,tp,pp,dp,micro_batch,global_batch,precision,metric,value,unit
B310,8,32,4096,32,8,14336,128256,8192,1,1,8,1,64,bf16,iteration_time,4.0,s
B310,8,80,8192,64,8,28672,128256,8192,8,1,1,1,16,bf16,iteration_time,8.1,s
B310,16,80,8192,64,8,28672,128256,8192,8,2,1,1,32,bf16,iteration_time,8.6,s
END
sed 's/iteration_time/iteration_s/' "$work/runs.csv" >"$work/odd.csv"
sed 's/^B310/B200/' "$work/runs.csv" >"$work/b200.csv"
fit="calibrate --iterations $work/runs.csv --cluster $work/b310.json --costs kernels"

expect 0 problem.json example gpt --gpu b200-180gb --nodes 2 --model gpt2-xl --tensor 1 \
    --pipeline 1 -o "$work/start"
sed 's/b200-180gb/b310-288gb/; s/191500000000/288000000000/' "$work/start/cluster.json" \
    >"$work/b310.json"
expect 0 "3 rows" $fit --like b310-288gb=b200-180gb --fit megatron_step_factor -o "$work/costs.json"
expect 0 "as of b200-180gb" costs "$work/costs.json"
expect 0 "  3  " validate "$work/runs.csv" --cluster "$work/b310.json" --costs "$work/costs.json"
expect 0 "per iteration" plan --model llama-3.1-8b --cluster "$work/b310.json" \
    --costs "$work/costs.json" --sequence 8192 --global-batch 64 \
    --gap 0.05 -o "$work/plan"
grep -q b310-288gb "$work/out" || wrong "the plan is not on the new GPU"

expect 2 "costs kernels have no GPU b400" $fit --like b310-288gb=b400 --fit megatron_step_factor
expect 2 "already have numbers of h100-80gb" $fit --like h100-80gb=b200-180gb \
    --fit megatron_step_factor
expect 2 "expected NEW=GPU" $fit --like b200-180gb --fit megatron_step_factor
expect 2 "no cluster has a GPU like 'B310'" calibrate --iterations "$work/runs.csv" \
    --fit gemm_flop_per_s
expect 2 "no group of b200-16x8 has a GPU like 'B310'" calibrate --iterations "$work/runs.csv" \
    --cluster b200-16x8 --fit gemm_flop_per_s
expect 2 "price products by product_flop_per_s" calibrate --iterations "$work/b200.csv" \
    --costs kernels --fit gemm_flop_per_s
expect 2 "nearest: gemm_flop_per_s" calibrate --iterations "$work/b200.csv" --fit gem_flop
expect 0 "hardly determine it" $fit --like b310-288gb=b200-180gb \
    --fit product_flop_per_s,megatron_step_factor -o "$work/costs.json"
expect 2 "unknown metric or unit.*3 rows" validate "$work/odd.csv"
expect 2 "no row has a known metric (expected columns metric and value)" validate "$work/odd.csv"
expect 0 "samples of collectives" import nccl-tests tests/imports/nccl_all_reduce.txt \
    -o "$work/nccl.json"
expect 0 "no entry for NVIDIA H100 .*; the nearest is h100-80gb" \
    calibrate "$work/nccl.json" --costs kernels -o "$work/nccl-costs.json"
expect 2 "take it as --gpu-like b200-180gb" plan --model gpt2-xl --gpu B200-190GB --nodes 1 \
    -o "$work/x"
expect 2 "cluster FILE" plan --model gpt2-xl --gpu "My CPU" --nodes 1 -o "$work/x"
exit $failed

#!/bin/sh
# A GPU that nobody ships, as one that is known: --gpu-like, --memory-gb, --intra of example, plan,
# predict and validate.
root=$(pwd) here=$(pwd)/build/test_gpu_like.$$ failures=0
case ${BIN:=bin} in /*) ;; *) BIN=$root/$BIN ;; esac
mkdir -p "$here" && cd "$here" || exit 1
trap 'rm -rf "$here"' EXIT
complain() { echo "FAILED: $*"; failures=$((failures + 1)); }
run() { "$BIN/plumbline" "$@" > out 2> err; }
refused() { # what is said, arguments
    what=$1; shift
    run "$@"
    [ $? = 2 ] && grep -q -- "$what" err && [ "$(wc -l < err)" = 1 ] ||
        { complain "not refused: $what"; cat err; }
}
like='--gpu-like h200-141gb --memory-gb 144 --intra 500'
run example gpt --model llama-3.1-8b --gpu gh200-144gb $like \
    --nodes 2 --tensor 2 --pipeline 1 -o new || complain example
expected='"gpus_per_node":8,"memory_bytes":144000000000,"intra":{"bytes_per_s":500000000000,'
tr -d ' \n' < new/cluster.json | grep -q "\"gpu\":\"gh200-144gb\",\"nodes\":2,$expected" ||
    complain "another cluster"
grep -q 'as of h200-141gb' new/costs.json || complain "costs do not say whose they are"
run example gpt --model llama-3.1-8b --gpu h200-141gb \
    --nodes 2 --tensor 2 --pipeline 1 -o known || complain "known"
run plan --model llama-3.1-8b --gpu gh200-144gb $like --nodes 1 --tensor 1 --time-limit-s 10 \
    -o planned || { complain plan; cat err; }
grep -q 'on gh200-144gb' out && grep -q -- '--gpu-like h200-141gb' out || complain "not told"
run verify planned/plan.json || complain "not verified"

# The same prices where memory and link are the same, in plans and in tables.
run example gpt --model llama-3.1-8b --gpu x --gpu-like h200-141gb \
    --nodes 2 --tensor 2 --pipeline 1 -o same
for problem in known same; do
    run solve $problem/problem.json -o $problem/plan.json
    grep '"iteration_ns"' $problem/plan.json | head -1
done | sort -u | wc -l | grep -q '^1$' || complain "other prices"
row='num_gpus=16 tp=8 layers=16 hidden=4096 heads=32 seq=4096 global_batch=16'
time_of() { run predict "$@" --no-ranges; grep "^iteration" out; }
[ "$(time_of gpu=x $row --gpu-like h200-141gb)" = "$(time_of gpu=h200-141gb $row)" ] ||
    complain "another time in a table"
[ "$(time_of gpu=h200-141gb $row $like)" = "$(time_of gpu=h200-141gb $row)" ] ||
    complain "a known GPU is another"
[ "$(time_of gpu=x $row $like)" != "$(time_of gpu=h200-141gb $row)" ] || complain "no slower link"
cat > t.csv << 'ROWS'
gpu,num_gpus,tp,layers,hidden,heads,seq,global_batch,metric,value,unit
x,16,8,16,4096,32,4096,16,iteration_time,1,s
ROWS
run validate t.csv && complain validate
grep -q 'has a GPU like' out err || complain "validate knows x"
run validate t.csv --gpu-like h200-141gb && grep -q 'iteration_time *1 ' out || complain "validate"

refused "the nearest is h100-80gb" plan --model llama-3.1-8b --gpu h1000 --nodes 1 -o z
refused "shipped cluster has this GPU" example gpt --model llama-3.1-8b --gpu x --gpu-like y -o z
refused "have h100-80gb itself" example gpt --model llama-3.1-8b --gpu h100-80gb \
    --gpu-like h200-141gb -o z
refused "--gpu-like: no cluster" predict gpu=x $row --gpu-like y
refused "requires --gpu-like" predict gpu=x $row --memory-gb 3
[ $failures = 0 ] && echo "test_gpu_like: ok"
exit $failures

#!/bin/sh
# plan --for all: one table of what each framework reaches, each row the plan of `--for` that one;
# --for any: from these plans on, and so never worse than one of them. Exit codes.
name=test_for_all
. tests/script.sh

job="--model llama-3.1-8b --gpu h100-80gb --nodes 1 --sequence 4096 --global-batch 32"

answers 0 "fastest" plan $job --for all -o all
[ "$(wc -l < all/frameworks.csv)" = 5 ] || complain "frameworks.csv: $(cat all/frameworks.csv)"
for framework in megatron torchtitan deepspeed nemo; do
    grep -q "^  $framework" out || complain "no row of $framework"
    for file in problem.json plan.json plan.txt report.html launch/hostfile; do
        [ -s all/$framework/$file ] || complain "no $framework/$file"
    done
    grep -q "^  plumbline solve" all/$framework/plan.txt || complain "$framework: no commands"
    "$plumbline" verify all/$framework/plan.json > said 2>&1 || complain "$framework: $(cat said)"
done
cp out table
# Each is what that framework alone gets, and the table says what its document says.
"$plumbline" plan $job --for deepspeed -o alone > said 2>&1 || complain "deepspeed: $(cat said)"
[ "$(number alone/plan.json iteration_ns)" = "$(number all/deepspeed/plan.json iteration_ns)" ] ||
    complain "deepspeed alone is another plan"
python3 - table all << 'END' || complain "the table is not of its plans: $(cat table)"
import csv, json, re, sys
said, folder = open(sys.argv[1]).read(), sys.argv[2]
best = None
for row in csv.DictReader(open(f"{folder}/frameworks.csv")):
    name = row["framework"]
    plan = json.load(open(f"{folder}/{name}/plan.json"))
    for key in "iteration_ns", "iteration_low_ns", "iteration_high_ns", "bound_ns":
        assert int(row[key]) == plan[key], (name, key)
    layout = plan["layout"]
    words = f"t{layout['tensor']} c{layout['context']} p{layout['pipeline']} d{layout['data']}"
    assert row["layout"].startswith(words), (row["layout"], words)
    line = re.search(rf"^  {name}( \*)? .*$", said, re.M).group(0)
    assert row["layout"] in line and f"{plan['bound_ns'] / 1e9:.3f}" in line, line
    best = min(best or (plan["iteration_ns"], name), (plan["iteration_ns"], name))
assert re.search(rf"^  {best[1]} \*", said, re.M), (best, said)
assert f"{folder}/{best[1]}/plan.json" in said
END

# ---- any: at least as good as the best of them, also with next to no time
for limit in 0.2 20; do
    "$plumbline" plan $job --for any --time-limit-s $limit --force -o any > out 2> err
    case $? in 0 | 10) ;; *) complain "any within $limit s" ;; esac
    best=$(for f in megatron torchtitan deepspeed nemo; do
        [ -s any/$f/plan.json ] && number any/$f/plan.json iteration_ns
    done | awk '$1 > 0' | sort -n | head -1)
    [ -n "$best" ] && [ "$(number any/plan.json iteration_ns)" -le "$best" ] ||
        complain "any within $limit s: $(number any/plan.json iteration_ns) ns, not $best"
    "$plumbline" verify any/plan.json > said 2>&1 || complain "any: $(cat said)"
done
grep -q -- "--known any/megatron/plan.json" out || complain "not in its commands"

# ---- several known plans: of other problems, priced anew; left out where not in the space
answers 0 "" example gpt $job --costs kernels --layouts all --tensor 4 --quiet -o two
answers 0 "" solve two/problem.json --gap 0 -o two/exact.json
answers 0 "not in the job's space; left out" solve two/problem.json --gap 0 -o two/plan.json \
    --known all/megatron/plan.json --known two/exact.json
[ "$(number two/exact.json iteration_ns)" = "$(number two/plan.json iteration_ns)" ] ||
    complain "known plans change what is optimal"
answers 2 "not in the job's space" solve two/problem.json -o no.json --known all/megatron/plan.json

# ---- exit codes
answers 11 "no product of its degrees" plan $job --tensor 3 --for all -o none
answers 0 "megatron runs no layout" plan $job --schedule zb-v --for all -o titan
grep -q "^  torchtitan \*" out || complain "zb-v: not torchtitan's"
gives 2 plan $job --for all --without ofload -o bad
[ "$(grep -c "the nearest is offload" err)" = 1 ] || complain "a wrong name is not told once"
answers 12 "no plan" plan --model llama-3.1-405b --gpu h100-80gb --nodes 2 --time-limit-s 0.001 \
    --for all -o soon
answers 2 "expected one of any, megatron, .*all" plan $job --for every -o bad

ended

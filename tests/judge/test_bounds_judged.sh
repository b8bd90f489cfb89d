#!/bin/sh
# What a new user meets: whether a bound was judged, and by what; names, inputs and options that are
# not as expected.
name=test_bounds_judged
. tests/script.sh

says_not() { cat out err | grep -q -- "$1" && complain "says '$1'"; }

answers 0 "" example gpt --model llama-3.1-8b --cluster a100-16x8 --gpus 16 --tensor 2 \
    --pipeline 4 -o one
answers 0 "" example gpt --model llama-3.1-8b --cluster a100-16x8 --gpus 16 --layouts degrees \
    -o many
answers 0 "" solve one/problem.json -o plan.json --certificate proof.json
answers 0 "" solve many/problem.json --gap 0.01 -o best.json --certificate space.json

# ---- a bound is judged by a certificate, or said not to be
answers 0 "proven, not yet audited (--certificate FILE audits it)" verify plan.json
answers 0 "certified by proof.json" verify plan.json --certificate proof.json -o verdict.json
answers 0 "certified by space.json" verify best.json --certificate space.json
answers 0 "" verify plan.json -o unjudged.json
answers 0 "optimal (proven, not yet audited)" report plan.json
says_not certified
answers 0 "optimal (proven, not yet audited)" report plan.json --verdict unjudged.json
answers 0 "optimal (certified)" report plan.json --verdict verdict.json
answers 0 "(certified)" report --format megatron plan.json --verdict verdict.json
answers 0 "(proven, not yet audited)" report --format megatron plan.json
answers 2 "is about the plan" report best.json --verdict verdict.json
answers 2 "plumbline.verdict" report plan.json --verdict proof.json
answers 2 "cannot be combined with --format" report --format csv plan.json --verdict verdict.json
answers 2 "combined with --layouts" report --layouts best.layouts.json --verdict verdict.json
answers 0 "(proven, not yet audited), gap" report --layouts best.layouts.json
grep -q "\"certificate\".*$(sha256sum < proof.json | cut -c1-64)" verdict.json ||
    complain "verdict.json: not the certificate's hash"
grep -q '"proven_bound_ns"' unjudged.json && complain "unjudged.json: a bound is proven by nothing"
grep -q '"bound_judged": false' unjudged.json ||
    complain "unjudged.json: does not say that the bound was not judged"

# ---- that there is no plan: of the problem that the document names alone
for folder in none less; do cp -r one $folder; done
sed -i 's/"memory_fraction": [0-9.]*/"memory_fraction": 0.01/' none/job.json
sed -i 's/"memory_fraction": [0-9.]*/"memory_fraction": 0.012/' less/job.json
for folder in none less; do answers 11 "" solve $folder/problem.json -o $folder.json \
    --certificate $folder-proof.json; done
answers 20 "a claim that cannot be judged" verify none.json
answers 0 "there is no plan, certified by none-proof.json" verify none.json \
    --certificate none-proof.json -o none-verdict.json
answers 0 "infeasible (certified)" report none.json --verdict none-verdict.json
answers 0 "infeasible (proven, not yet audited)" report none.json
answers 20 "hash: less/job.json" verify none.json --problem less/problem.json \
    --certificate less-proof.json -o other-verdict.json
answers 0 "infeasible (proven, not yet audited)" report none.json --verdict other-verdict.json
answers 2 "is about the plan" report less.json --verdict none-verdict.json
python3 - <<'P'
import json
none, plan = json.load(open('none.json')), json.load(open('plan.json'))
none['made_from'] = plan['made_from']
json.dump(none, open('forged.json', 'w'))
P
answers 20 "proof.json proves only a bound, the plan says otherwise" verify forged.json \
    --certificate proof.json
answers 20 "none-proof.json is not certified" verify forged.json --certificate none-proof.json
answers 20 "hash: none/job.json" verify forged.json --problem none/problem.json \
    --certificate none-proof.json

# ---- claims that no certificate covers: a higher bound, another problem's proof, a proof that is
# none, a slower plan's
bound=$(sed -n 's/.*"bound_ns": \([0-9]*\).*/\1/p' plan.json | head -1)
time=$(sed -n 's/.*"iteration_ns": \([0-9]*\).*/\1/p' plan.json | head -1)
[ "$bound" = "$time" ] || complain "the plan is not solved to the end"
low=$(sed -n 's/.*"bound_ns": \([0-9]*\).*/\1/p' best.json | head -1)
sed "s/\"gap_asked\": 0.01/\"gap_asked\": 0.02/; s/\"bound_ns\": $low/\"bound_ns\": $((low - 1))/
    /\"bound_s\"/d; /\"gap\"/d" best.json > lower.json
answers 0 "certified by space.json (which certifies $low ns)" verify lower.json \
    --certificate space.json
sed "s/\"proven_bound_ns\": $bound/\"proven_bound_ns\": $((bound - 1))/" verdict.json > edited.json
answers 2 "proven_bound_ns" report plan.json --verdict edited.json
sed "s/\"bound_ns\": $bound/\"bound_ns\": $((bound - 1))/" proof.json > weaker.json
answers 20 "bound: stated $bound ns, but weaker.json proves $((bound - 1)) ns" verify plan.json \
    --certificate weaker.json
sed "s/\"bound_ns\": $bound/\"bound_ns\": $((bound + 1))/" proof.json > stronger.json
answers 20 "stronger.json is not certified" verify plan.json --certificate stronger.json
answers 2 "" verify plan.json --certificate space.json
answers 2 "" verify best.json --certificate proof.json

# ---- inputs that cannot be read
answers 2 "absent.json" verify plan.json --certificate absent.json
answers 2 "absent.json" verify absent.json
mkdir empty
answers 2 "empty" verify empty
echo '{' > cut.json
answers 2 "cut.json" verify cut.json
answers 2 "plumbline.plan" verify proof.json
answers 2 "absent.json" verify plan.json --problem absent.json
for part in problem model cluster costs job; do
    mv one/$part.json kept
    answers 2 "one/$part.json" verify plan.json
    mkdir one/$part.json
    answers 2 "one/$part.json" verify plan.json
    rmdir one/$part.json
    mv kept one/$part.json
done

# ---- a GPU that the costs do not know
cp -r one typo
sed -i 's/"gpu": "a100-80gb"/"gpu": "a100-80"/' typo/cluster.json
found='found a100-80; nearest: a100-80gb'
for command in solve price formulate; do
    answers 2 "groups\[0\].gpu: expected a GPU of typo/costs.json .*, $found" \
        $command typo/problem.json
done
says_not '#'
answers 2 "expected a GPU of .*published.json .*, found gh-96" example gpt \
    --model llama-3.1-8b --cluster gh200-clariden -o gh
[ -e gh ] && complain "gh is written"
cp -r many typos
sed -i 's/"gpu": "a100-80gb"/"gpu": "A100-80GB"/' typos/cluster.json
answers 2 'nearest: a100-80gb' solve typos/problem.json

# ---- why layouts are refused: like reasons together, names as they are
answers 0 "" example gpt --model llama-3.1-8b --cluster mixed-a100-v100 --layouts degrees -o mixed
answers 11 "" solve mixed/problem.json -o mixed.json
answers 0 " v100-32gb lacks bf16" report --layouts mixed.layouts.json
says_not '#'
grep -q "tensor ..., found ..." out || complain "figures are not left out"

# ---- a space of layouts where one layout is taken
answers 0 "has a space of layouts" price many/problem.json -o priced.json
answers 0 "has a space of layouts" formulate many/problem.json -o program.lp
answers 0 "" price one/problem.json -o priced.json
says_not "space of layouts"

# ---- a plan of a space to begin from
answers 0 "the layout of best.json is kept" solve many/problem.json --start best.json -o again.json
answers 0 accepted verify again.json
[ "$(sed -n 's/.*"data": //p' again.json | head -1)" \
    = "$(sed -n 's/.*"data": //p' best.json | head -1)" ] || complain "another layout"
answers 2 "exists with other content" solve many/problem.json --start plan.json -o again.json
answers 2 "expected a job with a space" solve many/problem.json --start plan.json -o slower.json \
    --layouts fates.json
answers 2 "requires -o PLAN.json" solve many/problem.json --start best.json
answers 2 "expected a plan with stages" solve many/problem.json --start none.json -o no.json
answers 11 "the layout of best.json is kept" solve many/problem.json --start best.json \
    --without a100=1 -o fewer.json
grep -q '"fewer.job.json"' fewer.problem.json &&
    grep -q '"fewer.cluster.json"' fewer.problem.json ||
    complain "fewer.problem.json names other documents"
# Its bound is one layout's: of a problem with that layout, not of the space, where another one may
# be faster.
answers 0 "the layout of plan.json is kept" solve many/problem.json --start plan.json \
    -o slower.json --certificate slower-proof.json
answers 0 "certified by slower-proof.json" verify slower.json --certificate slower-proof.json
[ "$(sed -n 's/.*"bound_ns": \([0-9]*\).*/\1/p' slower.json | head -1)" \
    -gt "$(sed -n 's/.*"iteration_ns": \([0-9]*\).*/\1/p' best.json | head -1)" ] ||
    complain "slower.json: its bound would be one of the space, too"
answers 20 "hash: many/problem.json" verify slower.json --problem many/problem.json
cp -r many narrow
sed -i 's/"all": .*/"tensor": [8],/' narrow/job.json
answers 2 "expected a layout of the space of narrow/job.json; found is tensor 2" solve \
    narrow/problem.json --start plan.json -o no.json
[ -e no.json ] && complain "no.json is written"

# ---- what was asked of a placement, also where there is none
cp -r one placed
python3 - <<'P'
import json
c = json.load(open('placed/cluster.json'))
g = c['groups'][0]
c['places'] = {'nodes': [{'name': 'n%d' % i, 'group': g['name']} for i in range(g['nodes'])]}
json.dump(c, open('placed/cluster.json', 'w'))
j = json.load(open('placed/job.json'))
j['memory_fraction'] = 0.01
json.dump(j, open('placed/job.json', 'w'))
P
answers 11 "" solve placed/problem.json --gap 0.1 -o none.json
grep -q '"gap_asked": 0.1' none.json || complain "gap_asked: $(grep gap_asked none.json)"

ended

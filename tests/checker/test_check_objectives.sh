#!/bin/sh
# Certificates of other objectives from the command line: written, audited by every way into check
# and by verify, in words and as a document; refused where they are about something else.
name=test_check_objectives
. tests/script.sh

# ---- the greatest load of one layout
answers 0 "" example gpt --model gpt2-xl --gpus 16 --tensor 1 --pipeline 4 --global-batch 32 \
    --sequence 1024 --objective max_load -o load
answers 0 "^optimal: max_load" solve load -o load/plan.json --quiet --certificate proof.json
load=$(number load/plan.json objective_ns)
for against in "" proof.priced.json load/problem.json; do
    answers 0 "^proven: the plan has a greatest load (max_load) of $load ns, and no plan one of" \
        check proof.json $against
done
answers 0 "" check proof.json load -o checked.json --statement proven.txt
grep -q "about the objective max_load" proven.txt || complain "the statement names no objective"
[ "$(number checked.json objective_ns)" = "$load" ] || complain "the verdict states another load"
answers 0 "max_load $load ns, .*bound $load ns, gap 0, proven by proof.json" \
    verify load/plan.json --certificate proof.json
answers 0 "max_load,$load," report --format csv load/plan.json checked.json
answers 2 "proof.json: is about the objective max_load" vipr proof.json -o no.vipr
# A bound of the plan above what is proven, and the job's objective changed back.
sed "s/\"bound_ns\": $load/\"bound_ns\": $((load - 1))/" proof.json > lower.json
answers 20 "stated $load ns, but lower.json proves $((load - 1)) ns" \
    verify load/plan.json --certificate lower.json
sed -i 's/"objective": "max_load"/"objective": "iteration_time"/' load/job.json
answers 1 "not proven: load/job.json: its SHA-256" check proof.json load
answers 20 "proof.json is not proven" verify load/plan.json --certificate proof.json \
    --problem load/problem.json

ended

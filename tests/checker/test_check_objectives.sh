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
    answers 0 "^certified: the plan has a greatest load (max_load) of $load ns, and no plan one" \
        check proof.json $against
done
answers 0 "" check proof.json load -o checked.json --statement proven.txt
grep -q "about the objective max_load" proven.txt || complain "the statement names no objective"
grep -q "^  another objective" proven.txt || complain "the statement says no gap"
# That there is no plan: nothing is said of a bound or of paths.
cp -r load little
sed -i 's/"memory_margin_bytes": 0/"memory_margin_bytes": 84000000000/' little/job.json
answers 11 "infeasible" solve little -o none.json --quiet --certificate none.json.proof
answers 0 "^certified: there is no plan" check none.json.proof little --statement none.txt
grep -q "There is no plan: whatever is chosen" none.txt || complain "the statement finds a plan"
if grep -q "below the bound\\|lower bound\\|paths through" none.txt; then
    complain "the statement speaks of a bound that there is not"
fi
[ "$(number checked.json objective_ns)" = "$load" ] || complain "the verdict states another load"
answers 0 "max_load $load ns, .*bound $load ns, gap 0: certified by proof.json" \
    verify load/plan.json --certificate proof.json
answers 0 "max_load,$load," report --format csv load/plan.json checked.json
answers 2 "proof.json: is about the objective max_load" vipr proof.json -o no.vipr
# A bound of the plan above what is proven, and the job's objective changed back.
sed "s/\"bound_ns\": $load/\"bound_ns\": $((load - 1))/" proof.json > lower.json
answers 20 "stated $load ns, but lower.json proves $((load - 1)) ns" \
    verify load/plan.json --certificate lower.json
sed -i 's/"objective": "max_load"/"objective": "iteration_time"/' load/job.json
answers 1 "not certified: load/job.json: its SHA-256" check proof.json load
answers 20 "proof.json is not certified" verify load/plan.json --certificate proof.json \
    --problem load/problem.json

# ---- replicas in turn: the checker searches by itself
answers 0 "" example gpt --framework any --model gpt2-xl --gpu h100-80gb --gpus 8 --pipeline 2 \
    --tensor 1 --data 1 --micro-batch 1 --global-batch 32 --sequence 1024 --schedule 1f1b \
    --objective max_load -o turns
sed -i 's/^  "recompute":/  "stage_degrees": "per_stage", "replicas": "in_turn",\
  "widths": [{"tensor": [1], "data": [1, 2]}],\n&/' turns/job.json
answers 0 "certificate: bound and plan alone: the checker searches by itself" \
    solve turns -o turns.json --quiet --certificate turns.proof.json
answers 0 "^certified: the plan has a greatest load" check turns.proof.json turns

# ---- costs, limits and loads of a space
answers 0 "" example gpt --model gpt2-xl --gpus 16 --global-batch 64 --sequence 1024 \
    --layouts degrees --fewer-devices --objective cost -o space
sed -i 's/"gpus_per_node": 8,/"gpus_per_node": 8, "gpu_hour_price": 2,/' space/cluster.json
cp space/job.json job.json
# with KEYS OBJECTIVE: the job with other keys
with() { sed -e "s/\"memory_margin_bytes\": 0/\"memory_margin_bytes\": 0$1/" \
    -e "s/\"objective\": \"cost\"/\"objective\": \"$2\"/" job.json > space/job.json; }
# proven WORDS: by check and verify, with the statement
proven() {
    answers 0 "^optimal: " solve space -o plan.json --quiet --certificate proof.json
    answers 0 "^certified: the plan of layout [0-9]* $1" check proof.json space \
        --statement proven.txt
    grep -q "No plan of any layout.*$2" proven.txt || complain "the statement does not say $2"
    grep -q "The layout: tensor .*, ZeRO " proven.txt ||
        complain "the statement does not say the degrees"
    answers 0 "certified by proof.json" verify plan.json --certificate proof.json
}
proven "costs .* ns of a device, and no plan of any layout costs less" "costs less"
answers 2 "names no priced document: expected the certificate of one layout" \
    vipr proof.json -o no.vipr
cost=$(number plan.json objective_ns)
with ', "iteration_limit_s": 0.5' cost
answers 1 "not certified: space/job.json: its SHA-256" check proof.json space
proven "costs .* within the job's limits of time and price costs less" "within the job's limits"
[ "$(number plan.json objective_ns)" -gt "$cost" ] || complain "the limit changed nothing"
with ', "price_limit": 0.5' iteration_time
proven "takes .* within the job's limits" "within the job's limits of time and price takes less"
with ', "price_limit": 1e-9' iteration_time
answers 11 "infeasible" solve space -o none.json --quiet --certificate none.proof.json
answers 0 "^certified: no layout of the space has a plan within the job's limits of time and" \
    check none.proof.json space
answers 0 "accepted: there is no plan" verify none.json --certificate none.proof.json
with "" max_load
proven "has .* ns of micro-batches x greatest load, and no plan of any layout has less" "has less"
# Parts of it, joined.
with ', "iteration_limit_s": 0.5' cost
for part in 1 2; do
    answers 0 "" solve space -o p$part.json --part $part/2 --quiet --certificate part$part.json
done
answers 0 "^optimal: cost" solve space -o all.json --quiet --resume p1.json --resume p2.json \
    --certificate all.proof.json --join part1.json --join part2.json
answers 0 "^certified: the plan of layout [0-9]* costs" check all.proof.json space

# ---- Pipette's objective
echo '{"gpus": ["a", "b", "c", "d", "e", "f"], "bandwidth": [[0, 9, 8, 7, 6, 5], [4, 0, 9, 8, 7, 6],
    [5, 4, 0, 9, 8, 7], [6, 5, 4, 0, 9, 8], [7, 6, 5, 4, 0, 9], [8, 7, 6, 5, 4, 0]]}' > matrix.json
answers 0 "" example pipette --matrix matrix.json --stages 2 --layers 4 --hidden 128 --heads 8 \
    --sequence 128 --global-batch 96 -o pipette
answers 0 "^optimal: pipette" solve pipette -o plan.json --quiet --certificate rows.json
value=$(number plan.json objective_ns)
answers 0 "^certified: no plan on the nodes has a value of the objective pipette .* than $value" \
    check rows.json pipette --statement proven.txt
grep -q "value of the objective pipette .* of less than $value ns" proven.txt ||
    complain "the statement does not say the value"
answers 0 "pipette $value ns, its bound $value ns, gap 0: certified by rows.json" \
    verify plan.json --certificate rows.json
sed "s/\"bound_ns\": $value/\"bound_ns\": $((value + 1))/" rows.json > higher.json
answers 1 "not certified: rows of nodes have a value below bound_ns" check higher.json pipette
answers 20 "higher.json is not certified" verify plan.json --certificate higher.json
# Nodes of other names are another cluster.
sed -i 's/"b"/"z"/g' pipette/cluster.json
answers 1 "not certified: pipette/cluster.json: its SHA-256" check rows.json pipette

ended

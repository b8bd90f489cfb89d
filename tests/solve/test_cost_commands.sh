#!/bin/sh
# The objective cost and limits of time and price from the command line: the cheaper of the slower
# plans, and the judge's word on it.
name=test_cost_commands
. tests/script.sh

# with KEYS OBJECTIVE: the job with other keys
with() { sed -e "s/\"memory_margin_bytes\": 0/\"memory_margin_bytes\": 0$1/" \
    -e "s/\"objective\": \"cost\"/\"objective\": \"$2\"/" job.json > space/job.json; }

answers 0 "" example gpt --model gpt2-xl --gpus 16 --global-batch 64 --sequence 1024 \
    --layouts degrees --fewer-devices --objective cost -o space
sed -i 's/"gpus_per_node": 8,/"gpus_per_node": 8, "gpu_hour_price": 2,/' space/cluster.json
cp space/job.json job.json
before=0 seconds=0
for limit in "" ', "iteration_limit_s": 2' ', "iteration_limit_s": 1' \
    ', "iteration_limit_s": 0.5'; do
    with "$limit" cost
    answers 0 "^optimal: cost" solve space/problem.json -o plan.json --quiet
    answers 0 "accepted: .* cost $(number plan.json objective_ns) ns, its bound" verify plan.json
    [ "$(number plan.json objective_ns)" -ge "$before" ] || complain "less time costs less"
    before=$(number plan.json objective_ns)
done
[ "$(number plan.json iteration_ns)" -le 500000000 ] || complain "the limit of 0.5 s is not kept"
answers 0 "objective  cost: .* of a GPU" report plan.json
answers 0 "times are of cost" report --layouts plan.layouts.json
# What-if keeps the plan's layout, and of a cost that leaves the iteration time.
took=$(awk -v t="$(number plan.json iteration_ns)" 'BEGIN { printf "%.9f", t / 1e9 }')
answers 0 "earlier plan *$took s" solve space/problem.json --start plan.json \
    --without a100=1 -o fewer.json
# The fastest of those that cost so much is as fast as what cost so much.
price=$(awk -v c="$before" \
    'BEGIN { printf "%.12g", (c + 0.5) / 1e9 * 2 / 3600 / (64 * 1024) * 1e6 }')
fastest=$(number plan.json iteration_ns)
with ", \"price_limit\": $price" iteration_time
answers 0 "^optimal: iteration" solve space/problem.json -o priced.json --quiet
[ "$(number priced.json iteration_ns)" -le "$fastest" ] || complain "a plan of that price is faster"
answers 0 accepted verify priced.json
with ", \"price_limit\": $(awk -v p="$price" 'BEGIN { print p / 2 }')" iteration_time
answers 20 "limit: a million tokens cost" verify priced.json --problem space/problem.json
with ', "price_limit": 1e-9' iteration_time
answers 11 "infeasible" solve space/problem.json -o none.json
answers 2 "objective cost: expected a space of layouts" example gpt --objective cost -o no
sed -i 's/, *"gpu_hour_price": 2//' space/cluster.json
with ', "price_limit": 1' iteration_time
answers 2 "price_limit: expected a gpu_hour_price of group a100" solve space/problem.json \
    -o none.json

ended

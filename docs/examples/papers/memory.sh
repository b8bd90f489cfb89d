#!/bin/sh
# A published memory formula beside our own count (Fujii et al., arXiv 2411.06465): models and
# degrees of its kind, no recomputation, one sequence a micro-batch, ZeRO 1. Lines of: model, tensor
# x context x pipeline x data, GB of the first rank by our count, by the formula, its ratio to ours.
#   memory.sh FOLDER [MODEL,TENSOR,CONTEXT,PIPELINE,DATA,SEQUENCE ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for row in ${*:-llama-2-7b,4,1,2,8,4096 llama-2-13b,2,1,4,8,4096 llama-2-70b,8,1,8,2,4096 \
    llama-3.1-8b,4,1,2,8,8192 llama-3.1-70b,8,1,8,2,8192}; do
    here=$folder/$row
    IFS=, read -r model tensor context pipeline data sequence << END
$row
END
    "$plumbline" example gpt --framework any --model "$model" --cluster a100-16x8 \
        --gpus $((tensor * context * pipeline * data)) --tensor "$tensor" --context "$context" \
        --pipeline "$pipeline" --data "$data" --sequence "$sequence" --memory-fraction 1 --force \
        -o "$here" > "$here.log"
    python3 - "$here" << 'END'
import json, sys
path = sys.argv[1] + "/job.json"
job = json.load(open(path))
job["recompute"] = ["none"]
json.dump(job, open(path, "w"))
END
    "$plumbline" solve "$here/problem.json" -o "$here/plan.json" --gap 0.02 --quiet \
        >> "$here.log" 2>&1
    "$plumbline" verify "$here/plan.json" 2> /dev/null |
        sed -n "s/^memory of the first rank: \([0-9.]*\) GB a.*recomputation: \([0-9.]*\) GB,\
 \([0-9.]*\) times.*/$model $tensor x $context x $pipeline x $data \1 \2 \3/p"
done

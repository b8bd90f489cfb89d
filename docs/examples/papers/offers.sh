#!/bin/sh
# Which machine to hire: Llama-3.1 8B, 10^11 tokens, sequences of 4,096,
# 256 at a time, on 1 to 16 nodes of H100 at 2.50 an hour or 1, 2, 4 or 8 of A100 at 1.20
# (invented prices): the cheapest, the cheapest within 60 hours, the fastest for 25,000. Lines:
# the answers of plumbline offers.
#   offers.sh FOLDER
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
mkdir -p "$folder"
for request in "" "--within-hours 60" "--budget 25000"; do
    # shellcheck disable=SC2086
    "$plumbline" offers --model llama-3.1-8b --offer h100-80gb:1,2,4,8,16:2.5 \
        --offer a100-80gb:1,2,4,8:1.2 --tokens 1e11 --global-batch 256 --sequence 4096 $request \
        --force -o "$folder/${request%% *}" 2> "$folder/log" | sed -n '/^Cheapest\|^Fastest/p'
done

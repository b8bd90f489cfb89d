#!/bin/sh
# Slices of a sequence as a decision (TeraPipe, arXiv 2102.07988): Llama-3.1 8B over a pipeline of
# eight H100, one long sequence in four slices. Lines of: tokens, the lengths chosen (jointly with
# the stages, proven over all lengths that are multiples of a sixteenth), its time, the time of
# equal ones.
#   slices.sh FOLDER [TOKENS ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for tokens in ${*:-4096 16384 32768}; do
    here=$folder/$tokens
    "$plumbline" example gpt --memory-fraction 0.8 --framework any --model llama-3.1-8b \
        --gpu h100-80gb --gpus 8 \
        --tensor 1 --pipeline 8 --data 1 --micro-batch 1 --global-batch 1 --sequence "$tokens" \
        --schedule gpipe --force -o "$here" > "$here.log"
    python3 - "$here" "$tokens" <<'END'
import json, sys
folder, tokens = sys.argv[1], int(sys.argv[2])
job = json.load(open(folder + "/job.json"))
job["layout"].update(schedule="token-sliced", slices=[tokens // 4] * 4)
json.dump(job, open(folder + "/equal.json", "w"))
job["space"] = {"slice_count": [4], "slice_tokens": tokens // 16}
json.dump(job, open(folder + "/job.json", "w"))
problem = json.load(open(folder + "/problem.json"))
problem["job"] = "equal.json"
json.dump(problem, open(folder + "/equal.problem.json", "w"))
END
    "$plumbline" solve "$here/problem.json" -o "$here/plan.json" \
        --certificate "$here/certificate.json" --quiet >> "$here.log" 2>&1
    "$plumbline" solve "$here/equal.problem.json" -o "$here/equal.plan.json" --quiet \
        >> "$here.log" 2>&1
    python3 - "$here" "$tokens" <<'END'
import json, sys
chosen, equal = (json.load(open(sys.argv[1] + "/" + name))
                 for name in ("plan.json", "equal.plan.json"))
print(sys.argv[2], ",".join(map(str, chosen["layout"]["slices"])),
      "%.9f" % (chosen["iteration_ns"] / 1e9), "%.9f" % (equal["iteration_ns"] / 1e9))
END
done

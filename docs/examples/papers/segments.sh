#!/bin/sh
# Local losses as a decision (arXiv 2411.12780, 2403.11204): whether stages have losses of their
# own, of how many stages a segment is, and how many GPUs are a pipeline, in one space with the
# degrees and the micro-batch. GPT-2 XL on two nodes of eight A100 with one card each, 32 sequences
# of 1,024. Lines of: GB/s of a card, width of the heads (0: they cost nothing), then, where they
# send and wait and where they read a file: pipeline x data, stages of a segment (0: one loss),
# time, whether it is proven to 0.1 % and the certificate accepted; last the best with one loss.
#   segments.sh FOLDER [GB_PER_S,WIDTH ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for row in ${*:-25,0 25,100 25,1600 3,0 3,100 3,1600}; do
    here=$folder/$row
    "$plumbline" example gpt --framework any --model gpt2-xl --cluster a100-16x8 --nodes 2 \
        --tensor 1 --data 1 --gpus 16 --pipeline 16 --global-batch 32 --sequence 1024 --zero 0 \
        --force -o "$here" > "$here.log"
    python3 - "$here" "$row" <<'END'
import json, sys
folder, (card, width) = sys.argv[1], sys.argv[2].split(",")
job, problem, model = (json.load(open(f"{folder}/{n}.json")) for n in ("job", "problem", "model"))
cluster = json.load(open(f"{folder}/cluster.json"))
cluster["groups"][0]["nics"][0].update(count=1)
cluster["groups"][0]["nics"][0]["link"]["bytes_per_s"] = float(card) * 1e9
json.dump(cluster, open(f"{folder}/cluster.json", "w"))
head = {"vocabulary": model["shape"]["vocabulary"], "embedding_width": int(width)}
job["local_loss"] = {"head": head} if int(width) else {"forward_s": 0, "backward_s": 0, "bytes": 0}
for name, every in ("sent", [0, 1, 2, 4, 8]), ("stored", [0, 1, 2, 4, 8]), ("one", [0]):
    job["layout"].update(local_loss_every=1, stored_inputs=name == "stored")
    job["space"] = {"all": ["data", "micro_batch"], "pipeline": [1, 2, 4, 8, 16],
                    "local_loss_every": every}
    json.dump(job, open(f"{folder}/{name}.json", "w"))
    json.dump(dict(problem, job=name + ".json"), open(f"{folder}/{name}.problem.json", "w"))
END
    for name in sent stored one; do
        "$plumbline" solve "$here/$name.problem.json" -o "$here/$name.plan.json" --gap 0.001 \
            --certificate "$here/$name.certificate.json" --quiet >> "$here.log" 2>&1
        "$plumbline" verify "$here/$name.plan.json" >> "$here.log"
        "$plumbline" check "$here/$name.certificate.json" "$here/$name.problem.json" \
            > "$here/$name.checked.txt" 2>> "$here.log"
    done
    python3 - "$here" "$row" <<'END'
import json, sys
folder, (card, width) = sys.argv[1], sys.argv[2].split(",")
words = [card, width]
for name in "sent", "stored", "one":
    plan = json.load(open(f"{folder}/{name}.plan.json"))
    l, seconds = plan["layout"], "%.4f" % (plan["iteration_ns"] / 1e9)
    proven = plan["bound_ns"] >= 0.999 * plan["iteration_ns"]
    audited = "certified" in open(f"{folder}/{name}.checked.txt").read()
    every = l["local_loss_every"] if l["local_loss_every"] < l["pipeline"] else 0
    words += ["%dx%d" % (l["pipeline"], l["data"])] + [str(every)] * (name != "one")
    words += [seconds, "yes" if proven and audited else "no"]
print(*words)
END
done

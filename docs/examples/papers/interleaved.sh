#!/bin/sh
# Compression where a rank has several stages (Optimus-CC, arXiv 2301.09830): GPT-2.5B on 16 nodes
# of eight A100, pipeline 4, tensor 8, data 4, micro-batches of 8, interleaved with two stages a
# rank; backward transfers of the drain and gradient syncs of rank 2, each if that is faster, as the
# cards of a node get slower. Lines of: GB/s of a card, compressed boundaries and stages, time, time
# without compression, whether the first is proven; both to 1 %.
#   interleaved.sh FOLDER [GB_PER_S ...]
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for rate in ${*:-25 1}; do
    here=$folder/$rate
    "$plumbline" example gpt --memory-fraction 0.8 --framework any --model gpt3-175b \
        --cluster a100-16x8 --sequence 1024 \
        --tensor 8 --data 4 --pipeline 4 --micro-batch 8 --global-batch 512 --schedule interleaved \
        --virtual-stages 2 --boundary-rank 2 --gradient-rank 2 --force -o "$here" > "$here.log"
    python3 - "$here" "$rate" <<'END_PYTHON'
import json, sys
folder, rate = sys.argv[1], float(sys.argv[2])
def change(name, how, to=None):
    document = json.load(open(folder + "/" + name))
    how(document)
    json.dump(document, open(folder + "/" + (to or name), "w"))
def model(m):
    m["name"] = "gpt-2.5b"
    m["shape"].update(hidden=1920, ffn=7680, heads=24, kv_heads=24, head_width=80, positions=1024)
    m["runs"][1]["count"] = 52
def cluster(c):
    for nic in c["groups"][0]["nics"]:
        nic["link"]["bytes_per_s"] = rate * 1e9
def plain(j):
    del j["boundary_options"], j["gradient_options"]
change("model.json", model)
change("cluster.json", cluster)
change("job.json", plain, "plain.json")
change("problem.json", lambda p: p.update(job="plain.json"), "plain.problem.json")
END_PYTHON
    for name in "" plain.; do
        "$plumbline" solve "$here/${name}problem.json" -o "$here/${name}plan.json" --gap 0.01 \
            --threads 0 --quiet >> "$here.log" 2>&1
        "$plumbline" verify "$here/${name}plan.json" >> "$here.log"
    done
    python3 - "$here" "$rate" <<'END_PYTHON'
import json, sys
chosen, plain = (json.load(open(sys.argv[1] + "/" + n)) for n in ("plan.json", "plain.plan.json"))
stages = chosen["stages"]
print(sys.argv[2], sum(s["boundary_option"] > 0 for s in stages),
      sum(s["gradient_option"] > 0 for s in stages), "%.9f" % (chosen["iteration_ns"] / 1e9),
      "%.9f" % (plain["iteration_ns"] / 1e9), chosen["gap"] <= 0.01)
END_PYTHON
done

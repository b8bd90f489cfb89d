#!/bin/sh
# Over which group to spread a pool (memory layers at scale, arXiv 2412.09764): the 373M model of
# facebookresearch/memory, whose memory layers stand in place of the feed-forward part of blocks 4,
# 12 and 20 and share one pool, on nodes of eight H100, each GPU with one micro-batch of 8 x 4,096
# tokens. Free is the group that holds the pool once. Lines of: nodes, 10^9 values, the iteration's
# time without memory layers; the group chosen, its time over that and GB of a device; the same for
# one GPU, a node and all GPUs ("-": does not fit).
#   poolgroups.sh FOLDER [NODES,HALF_KEYS ...]   half keys: the square root of the pool's values
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
for row in ${*:-1,256 1,1024 8,256 8,512 8,1024 8,2048 8,4096 8,6144 8,8192 8,12288}; do
    nodes=${row%,*} half=${row#*,}
    here=$folder/$row
    "$plumbline" example gpt --memory-fraction 0.8 --framework any --model llama-3.1-8b \
        --gpu h100-80gb --nodes "$nodes" --tensor 1 --pipeline 1 --micro-batch 8 --global-batch \
        $((64 * nodes)) --sequence 1024 --schedule 1f1b --zero 1 --force -o "$here" > "$here.log"
    python3 - "$here" "$nodes" "$half" << 'END'
import json, sys
folder, nodes, half = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
problem = json.load(open(folder + "/problem.json"))
model, job = (json.load(open(folder + "/" + problem[k])) for k in ("model", "job"))
shape = {"hidden": 1024, "ffn": 2816, "heads": 16, "kv_heads": 16, "head_width": 64,
         "vocabulary": 32000, "positions": 0, "gated_ffn": True, "rms_norm": True}
ends = [{"name": n, "kind": n, "count": 1} for n in ("embedding", "head")]
block = {"kind": "block", "recomputable": True}
job["sequence"], job["recompute"] = 4096, ["none", "full"]


def write(way, runs, **more):
    json.dump(dict(model, shape=shape, runs=[ends[0]] + runs + [ends[1]]),
              open("%s/%s.model.json" % (folder, way), "w"))
    own = json.loads(json.dumps(job))
    if "pool" in more:
        own["layout"]["pool"] = more["pool"]
    elif "space" in more:
        own["space"] = {"all": ["pool"]}
    json.dump(own, open("%s/%s.job.json" % (folder, way), "w"))
    json.dump(dict(problem, model=way + ".model.json", job=way + ".job.json"),
              open("%s/%s.problem.json" % (folder, way), "w"))


runs = []
for i, blocks in enumerate((4, 7, 7, 3)):
    if i:
        runs += [dict(block, name="attention %d" % i, count=1, feed_forward=False),
                 {"name": "memory %d" % i, "kind": "memory", "count": 1, "memory": {
                     "values": half * half, "width": 1024, "heads": 4, "key_width": 512,
                     "top_k": 32, "gated": True, "shared": True}}]
    runs.append(dict(block, name="block %d" % i, count=blocks))
write("dense", [dict(block, name="block", count=24)])
write("free", runs, space=True)
for group in (1, 8, 8 * nodes):
    write("of %d" % group, runs, pool=group)
END
    for way in dense free "of 1" "of 8" "of $((8 * nodes))"; do
        code=0
        "$plumbline" solve "$here/$way.problem.json" -o "$here/$way.plan.json" --certificate \
            "$here/$way.certificate.json" --quiet >> "$here.log" 2>&1 || code=$?
        [ $code = 0 ] || [ $code = 11 ] || { cat "$here.log" >&2; exit $code; }
        [ $code = 11 ] || "$plumbline" verify "$here/$way.plan.json" >> "$here.log" 2>&1
        [ "$way" != free ] || [ $code = 11 ] ||
            "$plumbline" check "$here/$way.certificate.json" "$here/$way.problem.json" \
                >> "$here.log" 2>&1
    done
    python3 - "$here" "$nodes" "$half" << 'END'
import json, sys
folder, nodes, half = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def plan(way):
    return json.load(open("%s/%s.plan.json" % (folder, way)))


dense = plan("dense")["iteration_ns"]
words = [str(nodes), "%.2f" % (half * half * 1024 / 1e9), "%.4f" % (dense / 1e9)]
for way in ("free", "of 1", "of 8", "of %d" % (8 * nodes)):
    p = plan(way)
    if way == "free":
        words.append(str(p["layout"].get("pool", 8 * nodes)) if p["stages"] else "-")
    words += ["%.3f" % (p["iteration_ns"] / dense), "%.1f" % (
        p["stages"][0]["memory"]["total_bytes"] / 1e9)] if p["stages"] else ["-", "-"]
print(*words)
END
done

#!/bin/sh
# A plan carried out by PyTorch's pipeline runtime: its passes are the plan's, each once and in the
# plan's order. Skipped without a Python that has torch (TORCH_PYTHON names one).
set -u
root=$(pwd) folder=build/test_run_torch.$$ failures=0
plumbline=${BIN:-bin}/plumbline python=${TORCH_PYTHON:-python3}
"$python" -c 'import torch.distributed.pipelining' 2> /dev/null ||
    { echo "skipped: run --with torch: $python has no torch with pipelining"; exit 0; }
mkdir -p "$folder" && trap 'rm -rf "$folder"' EXIT
complain() { echo "FAILED: $*"; tail -5 "$folder/err"; failures=$((failures + 1)); }

cat > "$folder/gpt.json" << 'END'
{"kind": "plumbline.model", "version": 1, "name": "gpt-tiny",
 "shape": {"hidden": 64, "ffn": 256, "heads": 4, "kv_heads": 2, "head_width": 16,
  "vocabulary": 512, "positions": 64},
 "runs": [{"name": "embedding", "kind": "embedding", "count": 1, "recomputable": false},
  {"name": "block", "kind": "block", "count": 6, "recomputable": true},
  {"name": "head", "kind": "head", "count": 1, "recomputable": false}]}
END
"$plumbline" measure compute --backend simulated --simulate spread=0.003 \
    --model "$folder/gpt.json" --sequence 64 --name core --quiet -o "$folder/samples.json"
"$plumbline" calibrate "$folder/samples.json" --model "$folder/gpt.json" -o "$folder/costs.json"
cat > "$folder/cluster.json" << 'END'
{"kind": "plumbline.cluster", "version": 1, "name": "cores", "groups": [{"name": "cores",
 "gpu": "core", "nodes": 1, "gpus_per_node": 4, "memory_bytes": 8000000000,
 "intra": {"bytes_per_s": 4e9, "latency_s": 3e-6}}]}
END
cat > "$folder/problem.json" << 'END'
{"kind": "plumbline.problem", "version": 1, "model": "gpt.json", "cluster": "cluster.json",
 "costs": "costs.json", "job": "job.json"}
END
# carries SCHEDULE RANKS STAGES-A-RANK DATA RECOMPUTE
carries() {
    cat > "$folder/job.json" << END
{"kind": "plumbline.job", "version": 1, "name": "$1", "sequence": 64, "global_batch": $((4 * $4)),
 "precision": "fp32", "trainer": "other", "recompute": ["$5"],
 "layout": {"pipeline": $2, "virtual_stages": $3, "schedule": "$1", "data": $4}}
END
    "$plumbline" solve "$folder/problem.json" --quiet -o "$folder/plan.json" 2> "$folder/err" &&
        "$plumbline" run "$folder/plan.json" --with torch --python "$python" --iterations 1 \
            --quiet -o "$folder/run.json" 2> "$folder/err" &&
        "$plumbline" report "$folder/plan.json" --against "$folder/run.json" > "$folder/text" \
            2> "$folder/err" || { complain "$1: not carried out"; return; }
    "$python" - "$folder/plan.json" "$folder/run.json" << 'END' 2> "$folder/err" ||
import json, sys
plan, run = (json.load(open(path)) for path in sys.argv[1:])
stages, micro_batches = len(plan["stages"]), plan["micro_batches"]
replicas = plan["layout"]["data"]
for kind in ("forward", "backward"):
    seen = sorted((e.get("replica", 0), e["stage"], e["micro_batch"]) for e in run["events"]
                  if e["kind"] == kind)
    assert seen == [(d, s, m) for d in range(replicas) for s in range(stages)
                    for m in range(micro_batches)], kind
assert all(e["end_ns"] >= e["start_ns"] for e in run["events"])
names = {s["operation"] for s in run["samples"]["samples"]}
assert {"block forward", "head forward", "send"} <= names, names
END
        complain "$1: its events are not the plan's passes"
}
carries 1f1b 2 1 1 none
carries interleaved 2 2 1 full
[ "${LONG:-}" ] && { carries zb-h1 2 1 1 none; carries 1f1b 2 1 2 none; }
if python3 -c 'import jsonschema' 2> /dev/null; then
    python3 tests/check_schemas.py good "$folder/run.json" > "$folder/err" 2>&1 ||
        complain "the run does not follow its schema"
fi
[ $failures = 0 ] || exit 1

#!/bin/sh
# A small GPT on two ranks of a simulated machine, with its costs: small enough to be carried out in
# a second. usage: small_problem.sh FOLDER (BIN: the folder of the programs)
plumbline=${BIN:-bin}/plumbline
mkdir -p "$1" && cat > "$1/model.json" << 'END' && cat > "$1/cluster.json" << 'END2' &&
{"kind": "plumbline.model", "version": 1, "name": "gpt-small",
 "shape": {"hidden": 64, "ffn": 256, "heads": 4, "kv_heads": 4, "head_width": 16,
  "vocabulary": 512, "positions": 64},
 "runs": [{"name": "embedding", "kind": "embedding", "count": 1, "recomputable": false},
  {"name": "block", "kind": "block", "count": 6, "recomputable": true},
  {"name": "head", "kind": "head", "count": 1, "recomputable": false}]}
END
{"kind": "plumbline.cluster", "version": 1, "name": "cores", "groups": [{"name": "cores",
 "gpu": "core", "nodes": 1, "gpus_per_node": 2, "memory_bytes": 8000000000,
 "intra": {"bytes_per_s": 4e9, "latency_s": 3e-6}}]}
END2
cat > "$1/job.json" << 'END' && cat > "$1/problem.json" << 'END2' &&
{"kind": "plumbline.job", "version": 1, "name": "small", "sequence": 64, "global_batch": 4,
 "precision": "fp32", "trainer": "other", "recompute": ["none"],
 "layout": {"pipeline": 2, "schedule": "1f1b"}}
END
{"kind": "plumbline.problem", "version": 1, "model": "model.json", "cluster": "cluster.json",
 "costs": "costs.json", "job": "job.json"}
END2
"$plumbline" measure compute --backend simulated --simulate spread=0.003 --model "$1/model.json" \
    --sequence 64 --name core --quiet -o "$1/samples.json" &&
"$plumbline" calibrate "$1/samples.json" --model "$1/model.json" -o "$1/costs.json"

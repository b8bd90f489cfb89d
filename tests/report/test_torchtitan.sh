#!/bin/sh
# report --format torchtitan: python's TOML reader finds the plan's degrees, layers and batches in
# it, and each decision without a key is named in the comments. --format torchtitan-python says the
# same (titan_python.py; with torchtitan 0.3 at hand its own ConfigManager reads it). --format
# pytorch-schedule: the order of passes is whole and free of deadlocks (schedule_check.py). With
# torchtitan 0.2 and torch at hand (EXPORT_PYTHON, default python3) their own parsers read both.
BIN=${BIN:-bin} work=build/test_torchtitan.$$ failed=0 configs=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

python=${EXPORT_PYTHON:-python3}

wrong() { echo "torchtitan: $*" >&2; failed=1; }

if ! python3 -c 'import tomllib' 2>/dev/null; then
    echo "torchtitan: python3 has no tomllib; not tested"
    exit 0
fi

# config WORDS OPTION ...: WORDS (;-separated, may be empty) stand in the comments
config() {
    words=$1; shift
    rm -rf "$work/p"
    "$plumbline" example gpt --gpu h100-80gb --nodes 4 --sequence 4096 --global-batch 64 "$@" \
        -o "$work/p" >"$work/log" 2>&1 || { wrong "$*: $(cat "$work/log")"; return; }
    "$plumbline" solve "$work/p/problem.json" --gap 0.2 --quiet -o "$work/p/plan.json" \
        2>"$work/log" || { wrong "$*: $(cat "$work/log")"; return; }
    "$plumbline" report --format torchtitan "$work/p/plan.json" -o "$work/p/titan.toml" \
        2>"$work/log" || wrong "$*: $(cat "$work/log")"
    "$plumbline" report --format torchtitan-python "$work/p/plan.json" \
        -o "$work/p/torchtitan_plan.py" 2>"$work/log" || wrong "$*: $(cat "$work/log")"
    # torchtitan's own reader takes half a minute to begin.
    configs=$((configs + 1))
    "$python" tests/report/titan_python.py "$work/p" $((configs % 6 == 1)) >"$work/log" 2>&1 ||
        wrong "$*: Python: $(tail -2 "$work/log")"
    if grep -q '"pipeline": 1,' "$work/p/plan.json"; then :; else
        "$plumbline" report --format pytorch-schedule "$work/p/plan.json" \
            -o "$work/p/schedule.csv" || wrong "$*: schedule"
        "$python" tests/report/schedule_check.py "$work/p/plan.json" "$work/p/schedule.csv" \
            >"$work/log" 2>&1 || wrong "$*: $(tail -1 "$work/log")"
    fi
    "$python" - "$work/p" "$words" <<'END' || wrong "$*: $(cat "$work/p/titan.toml")"
import json, re, sys, tomllib
folder, words = sys.argv[1:]
text = open(f"{folder}/titan.toml").read()
c = tomllib.loads(text)
plan, job = (json.load(open(f"{folder}/{name}.json")) for name in ("plan", "job"))
l = plan["layout"]
get = lambda key, default: l.get(key, default)
p = c["parallelism"]
assert p["tensor_parallel_degree"] == get("tensor", 1)
assert p["context_parallel_degree"] == get("context", 1)
assert p["pipeline_parallel_degree"] == get("pipeline", 1)
assert p["data_parallel_replicate_degree"] * p["data_parallel_shard_degree"] == get("data", 1)
assert (p["data_parallel_shard_degree"] > 1) <= (get("zero", 0) > 0)
assert not get("zero", 0) or p["data_parallel_shard_degree"] == get("data_shard", get("data", 1))
t = c["training"]
assert t["global_batch_size"] == job["global_batch"] and t["seq_len"] == job["sequence"]
together = t["local_batch_size"] * get("data", 1)
assert t["global_batch_size"] % together == 0
if get("pipeline", 1) > 1:
    assert together == t["global_batch_size"]
    assert t["local_batch_size"] // p["pipeline_parallel_microbatch_size"] == plan["micro_batches"]
    parts = p["module_fqns_per_model_part"]
    assert len(parts) == len(plan["stages"])
    flat = [x for part in parts for x in part]
    layers = sum(s["layer_count"] for s in plan["stages"]) - 2
    blocks = [f"layers.{i}" for i in range(layers)]
    assert flat == ["tok_embeddings"] + blocks + ["norm", "output"], flat
    for part, stage in zip(parts, plan["stages"]):
        assert len([x for x in part if x != "norm"]) == stage["layer_count"]
else:
    assert t["global_batch_size"] // together == plan["micro_batches"]
assert c["model"]["flavor"] == ("8B" if "8b" in plan["name"] else "gpt2_xl")
own = get("schedule", "1f1b") in ("gpipe", "1f1b", "interleaved", "zb-v")
assert ("pipeline_parallel_schedule_csv" in p) == (not own and get("pipeline", 1) > 1)
modes = {s["recompute"] for s in plan["stages"]}
assert [c["activation_checkpoint"]["mode"]] == list(modes), modes
notes = text[text.index("# Not expressed"):]
waits = get("pipeline", 1) > 1 # the examples' jobs are Megatron's, whose ranks wait; titan's do not
for word in filter(None, words.split(";")):
    assert word in notes, (word, notes)
assert ("messages between stages that ranks wait for" in notes) == waits, notes
if not words:
    assert waits or "(nothing)" in notes, notes
    assert not waits or notes.count("#   - ") == 1, notes
try:
    import importlib.metadata
    from torchtitan.config import ConfigManager
    if importlib.metadata.version("torchtitan").split(".")[:2] > ["0", "2"]: # it reads no TOML
        sys.exit()
except ImportError:
    sys.exit()
read = ConfigManager().parse_args(["--job.config_file", f"{folder}/titan.toml"])
for section, keys in c.items():
    for key, value in keys.items():
        if section != "quantize":
            assert getattr(getattr(read, section), key) == value, (section, key)
END
}

titan="--model llama-3.1-8b --framework torchtitan"
config "" $titan --tensor 2 --pipeline 4 --data 4 --zero 3
config "" $titan --tensor 1 --pipeline 1 --data 32 --zero 3
config "" $titan --tensor 2 --pipeline 4 --data 4 --zero 2 --schedule interleaved --virtual-stages 2
config "" $titan --tensor 2 --pipeline 4 --data 4 --zero 3 --schedule zb-v --virtual-stages 2
config "" $titan --tensor 2 --pipeline 4 --data 4 --zero 3 --schedule gpipe
config "ZeRO 1;optimizer state in host memory;the trainer megatron" --model llama-3.1-8b \
    --tensor 2 --pipeline 4 --data 4 --zero 1 --offload-optimizer
config "ZeRO 1;the trainer megatron" --model llama-3.1-8b --tensor 2 --pipeline 4 --data 4 \
    --zero 1 --schedule zb-h1 --framework any
config "low-rank;without sequence parallelism" --model llama-3.1-8b --tensor 2 --pipeline 4 \
    --data 4 --zero 0 --boundary-rank 16 --gradient-rank 16 --no-sequence-parallel --framework any
config "" $titan --tensor 2 --pipeline 4 --data 4 --zero 3 --schedule looped-bfs --virtual-stages 2
config "the trainer" --model llama-3.1-8b --tensor 2 --pipeline 4 --data 4 --zero 1 \
    --schedule zb-h2 --framework any
config "the trainer" --model llama-3.1-8b --tensor 2 --pipeline 4 --data 4 --zero 1 \
    --schedule v-half --virtual-stages 2 --framework any
config "the model;the trainer;share a matrix" --model gpt2-xl --sequence 1024 --tensor 1 \
    --pipeline 4 --data 8 --zero 1 --schedule v-min --virtual-stages 2 --framework any
config "fp16" --model llama-3.1-8b --framework any --trainer torchtitan --tensor 2 \
    --pipeline 4 --data 4 --zero 3 --precision fp16

"$python" -c 'import torch' 2>/dev/null ||
    echo "torchtitan: $python has no torch; its reader of schedules was not asked"
"$python" -c 'import torchtitan' 2>/dev/null ||
    echo "torchtitan: $python has no torchtitan; its parser was not asked"
[ $failed -eq 0 ] && echo "torchtitan: all as expected"
exit $failed

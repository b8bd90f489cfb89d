#!/bin/sh
# Replicas of a stage on GPUs of two kinds, with Sailor's measured layers of OPT-350 (A100-40 and
# V100-16, micro-batch 2): planned on nodes with unlike numbers of micro-batches, judged by replay,
# exact on four nodes, against as many micro-batches for each. The rest of the costs is the shipped
# one of the nearest GPU; memory is 40 and 16 GB. Bandwidths: network_coeffs_all_homo.json, `inter`,
# one GPU, messages of 64 MB; between kinds the lower one.
set -u
plumbline=${BIN:-bin}/plumbline
sets=../shared/validation/sailor
folder=build/test_sailor.$$
failures=0
[ -r "$sets/layer_profiles.json" ] || { echo "skipped: Sailor: $sets is not at hand"; exit 0; }
mkdir -p "$folder" || exit 1
trap 'rm -rf "$folder"' EXIT

complain() { echo "FAILED: $*"; sed 's/^/    /' "$folder/err" | tail -5
    failures=$((failures + 1)); }
run() {         # run CODE ARGUMENT ...
    expected=$1; shift
    "$plumbline" "$@" > "$folder/out" 2> "$folder/err" < /dev/null
    code=$?
    [ $code = "$expected" ] || complain "plumbline $*: expected exit code $expected, found $code"
}
value() { sed -n "s/^ *\"$1\": \([0-9]*\),\{0,1\}$/\1/p" "$2" | head -1; }
numbers() { sed -n 's/^ *"micro_batches": \([0-9]*\),$/\1/p' "$1" | tail -n +2 | tr '\n' ' '; }

run 0 import layers "$sets/layer_profiles.json" --model OPT-350 --gpu A100-40 --as a100-80gb \
    --tensor 1 --micro-batch 2 --into published -o "$folder/a.json"
run 0 import layers "$sets/layer_profiles.json" --model OPT-350 --gpu V100-16 --as v100-32gb \
    --tensor 1 --micro-batch 2 --into "$folder/a.json" -o "$folder/costs.json"
cat > "$folder/model.json" << END
{"kind": "plumbline.model", "version": 1, "name": "opt-350",
 "shape": {"hidden": 1024, "ffn": 4096, "heads": 16, "vocabulary": 50272, "positions": 2050,
 "qkv_bias": true, "linear_bias": true, "dropout": true, "tied_embeddings": true},
 "runs": [{"name": "embedding", "kind": "embedding"},
          {"name": "block", "kind": "block", "count": 24, "recomputable": true},
          {"name": "head", "kind": "head"}]}
END

# setting NAME NODES_OF_EACH PIPELINE DATA SEQUENCES UNEVEN
setting() {
    name=$1 nodes=$2
    mkdir -p "$folder/$name"
    list= i=0
    while [ $i -lt "$nodes" ]; do
        list="$list{\"name\": \"a$i\", \"group\": \"a100\", \"switches\": [\"a\"]},
            {\"name\": \"v$i\", \"group\": \"v100\", \"switches\": [\"v\"]}, "
        i=$((i + 1))
    done
    cat > "$folder/$name/cluster.json" << END
{"kind": "plumbline.cluster", "version": 1, "name": "mixed", "groups": [
 {"name": "a100", "gpu": "a100-80gb", "nodes": $nodes, "gpus_per_node": 1,
  "memory_bytes": 40000000000, "intra": {"bytes_per_s": 1e11, "latency_s": 1e-5},
  "nics": [{"kind": "ethernet", "link": {"bytes_per_s": 1.87e9, "latency_s": 3e-5}}]},
 {"name": "v100", "gpu": "v100-32gb", "nodes": $nodes, "gpus_per_node": 1,
  "memory_bytes": 16000000000, "intra": {"bytes_per_s": 1e11, "latency_s": 1e-5},
  "nics": [{"kind": "ethernet", "link": {"bytes_per_s": 1.32e9, "latency_s": 3e-5}}]}],
 "places": {"levels": [{"name": "zone", "link": {"bytes_per_s": 1.87e9, "latency_s": 3e-5}}],
            "nodes": [${list%, }]}}
END
    cat > "$folder/$name/job.json" << END
{"kind": "plumbline.job", "version": 1, "name": "opt", "sequence": 2048, "global_batch": $5,
 "precision": "fp32", "placement": {"uneven_micro_batches": $6}, "recompute": ["full"],
 "layout": {"tensor": 1, "pipeline": $3, "data": $4, "micro_batch": 2, "schedule": "1f1b"}}
END
    cat > "$folder/$name/problem.json" << END
{"kind": "plumbline.problem", "version": 1, "model": "../model.json", "cluster": "cluster.json",
 "costs": "../costs.json", "job": "job.json"}
END
}

# plan NAME GAP
plan() {
    run 0 solve "$folder/$1/problem.json" --gap "$2" -o "$folder/$1/plan.json"
    tail -1 "$folder/err"
    run 0 verify "$folder/$1/plan.json"
}

for uneven in false true; do
    setting "small-$uneven" 2 1 4 64 $uneven
    plan "small-$uneven" 0
    setting "two-$uneven" 2 2 2 64 $uneven
    plan "two-$uneven" 0
    setting "large-$uneven" 5 1 10 160 $uneven
    plan "large-$uneven" 0.02
done
for size in small two large; do
    even=$(value iteration_ns "$folder/$size-false/plan.json") \
        unlike=$(value iteration_ns "$folder/$size-true/plan.json")
    echo "$size: $even ns with as many micro-batches for each replica," \
        "$unlike ns with $(numbers "$folder/$size-true/plan.json")"
    [ "$unlike" -le "$even" ] || complain "$size: slower with more to choose from"
done
for size in small two; do
    [ "$(value iteration_ns "$folder/$size-true/plan.json")" \
        = "$(value bound_ns "$folder/$size-true/plan.json")" ] || complain "$size: not proven"
done
[ "$unlike" -lt "$even" ] || complain "large: unlike numbers do not pay"
# A plan with one micro-batch more on one replica is refused.
sed '0,/"replicas"/!{0,/"micro_batches": [0-9]*/s//"micro_batches": 31/}' \
    "$folder/small-true/plan.json" > "$folder/small-true/other.json"
run 20 verify "$folder/small-true/other.json"
grep -q 'micro_batches' "$folder/out" "$folder/err" || complain "the changed number is not named"

# ---- stages with widths of their own, on 128 A100-40 and 384 V100-16 in nodes of 4
# (eth-easl/sailor cf2c8e3, gpu_trace_heterogeneous_imbalanced.csv, training_config_opt_350.json):
# faster than every uniform layout, with layers measured at tensor 1, 2 and 4, the number of stages
# chosen in the same problem. Links of 4 GPUs.
mkdir -p "$folder/widths"
run 0 import layers "$sets/layer_profiles.json" --model OPT-350 --gpu A100-40 --as a100-80gb \
    --into published -o "$folder/a.json"
run 0 import layers "$sets/layer_profiles.json" --model OPT-350 --gpu V100-16 --as v100-32gb \
    --into "$folder/a.json" -o "$folder/widths/costs.json"
cat > "$folder/widths/cluster.json" << END
{"kind": "plumbline.cluster", "version": 1, "name": "mixed", "groups": [
 {"name": "a100", "gpu": "a100-80gb", "nodes": 32, "gpus_per_node": 4,
  "memory_bytes": 42338615296, "intra": {"bytes_per_s": 1.546e11, "latency_s": 1e-5},
  "nics": [{"kind": "ethernet", "link": {"bytes_per_s": 6.04e9, "latency_s": 3e-5}}]},
 {"name": "v100", "gpu": "v100-32gb", "nodes": 96, "gpus_per_node": 4,
  "memory_bytes": 17179869184, "intra": {"bytes_per_s": 5.83e10, "latency_s": 1e-5},
  "nics": [{"kind": "ethernet", "link": {"bytes_per_s": 5.08e9, "latency_s": 3e-5}}]}]}
END
# widths NAME PIPELINE MICRO_BATCH KEYS: the job with these keys, for this model and batch, solved
model=opt batch=1024
cp "$folder/model.json" "$folder/widths/opt.json"
cp "$folder/widths/costs.json" "$folder/widths/opt.costs.json"
widths() {
    cat > "$folder/widths/$1.job.json" << END
{"kind": "plumbline.job", "version": 1, "name": "opt", "sequence": 2048, "global_batch": $batch,
 "precision": "fp32", "recompute": ["full"], $4,
 "layout": {"tensor": 1, "pipeline": $2, "data": 1, "micro_batch": $3, "schedule": "1f1b"}}
END
    cat > "$folder/widths/$1.json" << END
{"kind": "plumbline.problem", "version": 1, "model": "$model.json", "cluster": "cluster.json",
 "costs": "$model.costs.json", "job": "$1.job.json"}
END
    run 0 solve "$folder/widths/$1.json" --gap 0.001 -o "$folder/widths/$1.plan.json"
    cp "$folder/err" "$folder/widths/$1.err"
    run 0 verify "$folder/widths/$1.plan.json"
    time=$(value iteration_ns "$folder/widths/$1.plan.json")
}
widths uniform 1 1 '"space": {"tensor": [1, 2, 4], "pipeline": [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16],
    "data": [1, 2, 4, 8, 16, 32, 64, 128, 256], "micro_batch": [1, 2, 4, 8]}'
uniform=$time
lists='"widths": [{"tensor": [1, 2, 4], "data": [32, 64, 128]}]'
widths stages 1 128 "\"stage_degrees\": \"per_stage\", $lists,
    \"space\": {\"pipeline\": [1, 2, 3, 4, 5, 6, 7, 8]}"
stages=$time
grep -q '^uniform: .* s (+[0-9.]* %), with 1 x 1 x 128 for all' "$folder/widths/stages.err" ||
    complain "the nearest uniform plan is not stated"
grep -q '^8 layouts: ' "$folder/widths/stages.err" || complain "no eight layouts"
run 0 solve "$folder/widths/stages.json" --gap 0.001 -o "$folder/x.json" \
    --certificate "$folder/x.proof.json"
run 0 check "$folder/x.proof.json" "$folder/widths/stages.json"
grep -q ', 8 with a proof' "$folder/out" || complain "the certificate is not of eight proofs"
widths groups 4 128 "\"stage_degrees\": \"per_group\", $lists"
echo "widths: uniform $uniform ns, per group $time, per stage $stages"
[ "$((stages * 1028))" -le "$((uniform * 1000))" ] || complain "widths do not pay 2.8 %"
[ "$((time * 999))" -le "$((uniform * 1000))" ] || complain "per group is worse than uniform"
# GPT-Neo 2.7B on the same cluster; its best uniform layout has tensor 1, 8 stages, data 64.
model=neo batch=2048
sed -e 's/opt-350/gpt-neo/; s/1024/2560/; s/4096/10240/; s/16/20/; s/50272/50304/; s/2050/2048/' \
    -e 's/"count": 24/"count": 32/' "$folder/model.json" > "$folder/widths/neo.json"
run 0 import layers "$sets/layer_profiles.json" --model GPT-Neo-2.7 --gpu A100-40 --as a100-80gb \
    --into published -o "$folder/a.json"
run 0 import layers "$sets/layer_profiles.json" --model GPT-Neo-2.7 --gpu V100-16 --as v100-32gb \
    --into "$folder/a.json" -o "$folder/widths/neo.costs.json"
widths neo-uniform 1 1 '"space": {"tensor": [1, 2, 4],
    "pipeline": [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16],
    "data": [1, 2, 4, 8, 16, 32, 64, 128, 256], "micro_batch": [1, 2, 4, 8]}'
uniform=$time
widths neo-stages 1 64 '"stage_degrees": "per_stage", "space": {"pipeline": [3, 4, 5, 6]},
    "widths": [{"tensor": [1, 2, 4], "data": [16, 32, 64]}]'
echo "GPT-Neo: uniform $uniform ns, per stage $time"
[ "$((time * 1040))" -le "$((uniform * 1000))" ] || complain "widths do not pay 3.8 %"
[ $failures = 0 ] && echo "Sailor: all as expected"
exit $failures

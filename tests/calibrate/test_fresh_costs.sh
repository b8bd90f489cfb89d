#!/bin/sh
# Costs of one's own machine, before a run is seen: the trainer's factor is assumed and wide, what
# was measured is told apart from it, predictions are slower than the kernels and their range holds
# them; costs that state a factor keep theirs, and a run's replaces the assumed one.
BIN=${BIN:-bin} work=build/test_fresh_costs.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline recorded='data/recorded/xeon-2.5ghz-1-thread-compute.json
    data/recorded/xeon-2.5ghz-1-thread-memory.json'

wrong() { echo "fresh costs: $*" >&2; failed=1; }
command -v python3 >/dev/null || { echo "skipped: python3 is not there"; exit 0; }

"$plumbline" calibrate $recorded -o "$work/own.json" 2>"$work/err" || wrong "$(cat "$work/err")"
[ "$(grep -c '^assumed: a training step takes 1.16 (0.94 to 1.42) times' "$work/err")" -eq 1 ] ||
    wrong "not said: $(cat "$work/err")"
python3 - "$work/own.json" "$work/alone.json" <<'END' || failed=1
import json, sys
costs = json.load(open(sys.argv[1]))
gpu = costs["gpus"][0]
names = [key for key in gpu if key.endswith("_step_factor")]
assert len(names) == 4, names
for name in names:
    factor = gpu[name]
    assert factor["origin"] == "assumed" and factor["low"] < 1 < factor["value"] < factor["high"]
    del gpu[name]
json.dump(costs, open(sys.argv[2], "w"))
END
cat >"$work/cluster.json" <<'END'
{"kind": "plumbline.cluster", "version": 1, "name": "own",
 "groups": [{"name": "own", "gpu": "xeon-2.5ghz-1-thread", "nodes": 1, "gpus_per_node": 1,
             "memory_bytes": 64000000000, "intra": {"bytes_per_s": 1e10, "latency_s": 1e-6}}]}
END
row="gpu=xeon-2.5ghz-1-thread num_gpus=1 layers=4 hidden=512 heads=8 seq=256 vocab=1000"
row="$row precision=fp32"
for costs in own alone; do
    "$plumbline" predict $row --cluster "$work/cluster.json" --costs "$work/$costs.json" \
        >"$work/$costs" 2>"$work/err" || wrong "$costs: $(cat "$work/err")"
done
value() { sed -n "s/^$2 *\([0-9.]*\)$/\1/p" "$work/$1"; }
awk -v own="$(value own iteration_s)" -v low="$(value own iteration_low_s)" \
    -v high="$(value own iteration_high_s)" -v alone="$(value alone iteration_s)" \
    'BEGIN { exit !(own > alone && low < alone && 1.25 * alone < high && alone > 0) }' ||
    wrong "$(cat "$work/own" "$work/alone")"
grep -q '^costs .*measured or fitted: .*assumed: .*trainer' "$work/own" ||
    wrong "origins: $(cat "$work/own")"
grep -q 'assumed: .*trainer' "$work/alone" && wrong "an assumed trainer: $(cat "$work/alone")"

# A factor that other costs state for the GPU stays; a run's replaces the assumed one.
"$plumbline" calibrate $recorded --costs "$work/own.json" -o "$work/again.json" 2>"$work/err"
grep -q '^assumed' "$work/err" && wrong "said again: $(cat "$work/err")"
echo id,gpu,num_gpus,layers,hidden,heads,seq,vocab,precision,metric,value,unit >"$work/run.csv"
printf 'a,xeon-2.5ghz-1-thread,1,4,512,8,256,1000,fp32,iteration_time,%s,s\n' \
    "$(awk -v t="$(value alone iteration_s)" 'BEGIN { print 1.3 * t }')" >>"$work/run.csv"
"$plumbline" calibrate --iterations "$work/run.csv" --cluster "$work/cluster.json" \
    --costs "$work/own.json" --fit megatron_step_factor -o "$work/seen.json" >"$work/log" 2>&1 ||
    wrong "one run: $(cat "$work/log")"
grep -q '"megatron_step_factor": {"value": 1.3.*"origin": "fitted"' "$work/seen.json" ||
    wrong "$(grep megatron_step_factor "$work/seen.json")"
[ $failed -eq 0 ] && echo "fresh costs: all as expected"
exit $failed

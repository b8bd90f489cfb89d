#!/bin/sh
# Traces with their shapes lead to times of layers by shape and degree: a Kineto trace whose
# operators say micro-batch, sequence and tensor degree, and Nsight Systems' tables of ranges. FLOP
# are counted here by themselves; calibrate finds the factor that the trace was made with.
BIN=${BIN:-bin} work=build/test_trace_layers.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline
wrong() { echo "layers of a trace: $*" >&2; failed=1; }

cat >"$work/model.json" <<'END'
{"kind": "plumbline.model", "version": 1, "name": "m",
 "shape": {"hidden": 4096, "ffn": 14336, "heads": 32, "kv_heads": 8, "head_width": 128,
           "vocabulary": 128000, "gated_ffn": true, "rms_norm": true},
 "runs": [{"name": "embedding", "kind": "embedding"}, {"name": "block", "kind": "block",
           "count": 4}, {"name": "head", "kind": "head"}]}
END
cat >"$work/make.py" <<'END'
import json, sys
folder, events, now = sys.argv[1], [], 1000.0
bf16 = "c10::BFloat16"
def event(kind, name, begin, lasts, args):
    events.append({"ph": "X", "cat": kind, "name": name, "pid": 1, "tid": 7, "ts": begin,
                   "dur": lasts, "args": args})
number = 0
def work(us, name, dims):
    global now, number
    number += 1
    event("cpu_op", name, now, 3, {"External id": number, "Input Dims": dims,
                                   "Input type": [bf16] * len(dims),
                                   "Concrete Inputs": [""] * len(dims)})
    join = {"External id": number, "correlation": number}
    event("cuda_runtime", "cudaLaunchKernel", now + 1, 1, join)
    event("kernel", "k", now + 10, us, dict(join, stream=7))
    now += us + 20
# micro-batch 2, sequence 4096, tensor degree 4: 8 heads each
q = [2, 4096, 8, 128]
rows = [["Name", "Projected Start (ns)", "Projected Duration (ns)", "Style"]]
for layer, us in (("layer_fwd", 2000.0), ("layer_bwd", 4400.0)):
    for i in range(3):
        begin = now
        work(us - 500, "aten::mm", [[8192, 4096], [4096, 1536]])
        work(500, "aten::_flash_attention_forward", [q, q, q])
        event("user_annotation", layer, begin - 1, now - begin, {})
        rows.append([":" + layer, str(int(1000 * begin)), str(int(1000 * us)), "PushPop"])
rows.append(["\"aten::mm, seq = 3, op_id = 9, sizes = [[8192, 4096], [4096, 1536]]\"", "5",
             "1500000", "PushPop"])
json.dump({"deviceProperties": [{"id": 0, "name": "a device"}], "traceEvents": events},
          open(f"{folder}/trace.json", "w"))
open(f"{folder}/trace.csv", "w").write("\n".join(",".join(r) for r in rows) + "\n")
open(f"{folder}/sum.csv", "w").write(
    "Range,Style,Total Proj Time (ns),Range Instances,Proj Med (ns)\n"
    ":layer_fwd,PushPop,6000000,3,2000000\n:layer_bwd,PushPop,13200000,3,4400000\n")
END
python3 "$work/make.py" "$work" || exit 1
set -- --format samples --model "$work/model.json" --layer "layer_fwd=block forward" \
    --layer "layer_bwd=block backward"
"$plumbline" import trace "$work/trace.json" "$@" -o "$work/kineto.json" 2>"$work/err" ||
    wrong "Kineto: $(cat "$work/err")"
grep -q '2 passes of micro-batch 2, sequence 4096, tensor 4, bf16, fused attention' "$work/err" ||
    wrong "sizes: $(cat "$work/err")"
for table in trace sum; do
    "$plumbline" import trace "$work/$table.csv" "$@" --gpu "a device" --precision bf16 \
        --micro-batch 2 --sequence 4096 --tensor 4 -o "$work/$table.samples.json" 2>"$work/err" ||
        wrong "$table.csv: $(cat "$work/err")"
done
"$plumbline" import trace "$work/trace.csv" --format operators --gpu h --precision bf16 \
    -o "$work/operators.json" 2>"$work/err" || wrong "operators: $(cat "$work/err")"
python3 - "$work" <<'END' || wrong "samples are others"
import json, sys, statistics
folder = sys.argv[1]
n, h, t, s = 8192, 4096, 4, 4096
linear = 2 * n * (h * (4096 + 2 * 1024) + 4096 * h + 3 * h * 14336) / t
attention = 4 * n * s * (32 / t) * 128 / 2
for name in ("kineto", "trace.samples", "sum.samples"):
    d = json.load(open(f"{folder}/{name}.json"))
    by = {x["operation"]: x for x in d["samples"]}
    f, b = by["block forward"], by["block backward"]
    assert abs(f["flop"] / (linear + attention) - 1) < 1e-9, f["flop"]
    assert abs(b["flop"] / (2 * linear + 2.5 * attention) - 1) < 1e-9, b["flop"]
    assert f["dimensions"] == [2, 4096, 4, 1] and f["shape"]["ffn"] == 14336, f
    assert abs(statistics.median(f["seconds"]) - 2000e-6) < 1e-9, f["seconds"]
    assert d["machine"]["gpu"] == "a device"
x, = json.load(open(f"{folder}/operators.json"))["samples"]
assert x["kind"] == "gemm" and x["dimensions"] == [8192, 1536, 4096], x
END
# by the rates of costs that have nothing of layers, what the trace took over its kernels alone
"$plumbline" measure compute --backend simulated --simulate gemm=4e14,memory=2e12 --fused \
    --threads 1 --precision bf16 --model "$work/model.json" --sequence 4096 --tensor 4 \
    --name "a device" --quiet -o "$work/kernels.json" 2>"$work/err" ||
    wrong "kernels: $(cat "$work/err")"
"$plumbline" calibrate "$work/kernels.json" "$work/kineto.json" --model "$work/model.json" \
    --name "a device" --show -o "$work/costs.json" >"$work/out" 2>"$work/err" ||
    wrong "calibrate: $(cat "$work/err")"
grep -q '^ *block forward .*4096' "$work/out" || wrong "the trace's layers are not among the fits"
# what cannot be taken is said
"$plumbline" import trace "$work/trace.json" --format samples --model "$work/model.json" \
    -o "$work/no.json" 2>"$work/err"
[ $? = 2 ] && grep -q 'no range is a layer' "$work/err" || wrong "ranges of no layer are taken"
exit $failed

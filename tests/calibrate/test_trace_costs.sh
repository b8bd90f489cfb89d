#!/bin/sh
# import trace --format operators: a profiler's trace leads to costs. The trace is made by hand,
# with known rates and overheads; Python sums kernels by operator and draws the line through two
# sizes by itself.
BIN=${BIN:-bin} work=build/test_trace_costs.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "costs of a trace: $*" >&2; failed=1; }

cat >"$work/make.py" <<'END'
import json, sys
events, now, number = [], 1000.0, 0
def event(kind, name, pid, thread, begin, lasts, args):
    events.append({"ph": "X", "cat": kind, "name": name, "pid": pid, "tid": thread, "ts": begin,
                   "dur": lasts, "args": args})
def op(name, dims, types, values=None, kernels=(), thread=7):
    """An operator with a nested one in it that launches nothing, and its kernels on the device."""
    global now, number
    number += 1
    event("cpu_op", name, 1, thread, now, 3, {
        "External id": number, "Input Dims": dims, "Input type": types,
        "Concrete Inputs": values or [""] * len(dims), "Ev Idx": number})
    for i, (kernel, us, more) in enumerate(kernels):
        launch = {"External id": number, "correlation": 100000 + 10 * number + i}
        event("cuda_runtime", "cudaLaunchKernel", 1, thread, now + 1, 1, launch)
        event("kernel", kernel, 0, 7, now + 10, round(us, 3), dict(launch, stream=7, **more))
        now += us
    now += 20
bf16 = "c10::BFloat16"
gemm = lambda m, n, k: 2 * m * n * k / 4e14 * 1e6 + 6       # us
part = lambda b: b / 2.5e12 * 1e6 + 4
ring = lambda b, n: 2 * (n - 1) / n * b / 3e11 * 1e6 + 30
for tokens in (512, 1024, 2048, 4096, 8192):
    for n, k in ((4096, 4096), (11008, 4096), (4096, 11008)):
        for _ in range(3):
            us = gemm(tokens, n, k)
            op("aten::mm", [[tokens, k], [k, n]], [bf16, bf16], None,
               [("gemm", us - 2, {}), ("splitK reduce", 2, {})])
        op("aten::addmm", [[n], [tokens, k], [k, n], [], []], [bf16] * 3 + ["Scalar"] * 2, None,
           [("gemm", gemm(tokens, n, k), {})], 8)
    b = 2 * tokens * 4096
    op("aten::add", [[tokens, 4096], [tokens, 4096], []], [bf16, bf16, "Scalar"], None,
       [("elementwise", part(3 * b), {})])
    op("aten::silu", [[tokens, 4096]], [bf16], None, [("elementwise", part(2 * b), {})])
    op("aten::mul", [[tokens, 4096], []], [bf16, "double"], None,
       [("elementwise", part(2 * b), {})])
    op("aten::silu_backward", [[tokens, 4096], [tokens, 4096]], [bf16, bf16], None,
       [("elementwise", part(3 * b), {})])
    for n in (2, 8):
        size = tokens * 4096
        us = ring(2 * size, n)
        op("record_param_comms", [[size]], [bf16], None, [("ncclDevKernel_AllReduce", us, {
            "Collective name": "allreduce", "In msg nelems": size, "Out msg nelems": size,
            "Group size": n, "dtype": "BFloat16", "Process Group Ranks": str(list(range(n)))})])
q = [2, 4096, 32, 128]
flop = 4 * 2 * 32 * 4096 ** 2 * 128 / 2
op("aten::_flash_attention_forward", [q, q, q, [], [], [], [], [], []], [bf16] * 3 + [""] * 6,
   ["", "", "", "", "", "4096", "4096", "0.", "True"], [("flash_fwd", flop / 5e14 * 1e6, {})])
op("aten::_flash_attention_backward", [q] * 5 + [[]] * 7, [bf16] * 5 + [""] * 7,
   [""] * 11 + ["True"], [("flash_bwd", 2.5 * flop / 4e14 * 1e6, {})])
op("aten::bmm", [[4, 8, 8], [4, 8, 8]], [bf16, bf16], None, [("gemm", 5, {})])
op("aten::mm", [[64, 64], [64, 64]], [bf16, bf16])  # launches nothing
op("record_param_comms", [[9]], ["long int"], None, [("ncclDevKernel_Broadcast", 9, {
    "Collective name": "broadcast", "In msg nelems": 9, "Out msg nelems": 9, "Group size": 8,
    "dtype": "Long", "Process Group Ranks": "[0, 1, 2, ...]"})])
for mib in (1, 4, 16, 64, 256):
    for name, rate in (("Memcpy DtoD (Device -> Device)", 1.2e12),
                       ("Memcpy HtoD (Pinned -> Device)", 5e10)):
        event("gpu_memcpy", name, 0, 7, now, round(mib * 2 ** 20 / rate * 1e6 + 2, 3),
              {"External id": 1, "bytes": mib * 2 ** 20, "stream": 7})
device = {"id": 0, "name": "a device", "totalGlobalMem": 80000000000, "numSms": 132}
json.dump({"schemaVersion": 1, "deviceProperties": [device], "traceEvents": events},
          open(sys.argv[1], "w"))
END
python3 "$work/make.py" "$work/trace.json" || exit 1
"$plumbline" import trace "$work/trace.json" --format operators --gpu h -o "$work/samples.json" \
    2>"$work/err" || wrong "import: $(cat "$work/err")"
for words in '30 sizes of kind gemm' '2 sizes of kind attention' '1 operators launched nothing' \
    '1 collectives of other kinds' 'includes the wait'; do
    grep -q "$words" "$work/err" || wrong "not said: $words: $(cat "$work/err")"
done
"$plumbline" calibrate "$work/samples.json" -o "$work/costs.json" 2>"$work/err" ||
    wrong "calibrate: $(cat "$work/err")"
python3 - "$work" <<'END' || wrong "costs are others"
import json, sys
folder = sys.argv[1]
load = lambda name: json.load(open(f"{folder}/{name}.json"))
trace, samples, costs = load("trace")["traceEvents"], load("samples"), load("costs")
assert samples["machine"]["memory_bytes"] == 80000000000
assert samples["machine"]["processor"] == "a device"
# by hand: time of an operator is that of its kernels
spent = {}
for e in trace:
    if e["cat"] != "kernel": continue
    by = e["args"]["External id"]
    spent[by] = spent.get(by, 0) + e["dur"] / 1e6
def line(points):  # slope through the least and the greatest
    (x, t), (y, u) = min(points), max(points)
    return (y - x) / (u - t), t - x * (u - t) / (y - x)
points = {"gemm": [], "part": [], "back": []}
for e in trace:
    a = e["args"]
    if e["cat"] != "cpu_op" or a["External id"] not in spent: continue
    d, t = a["Input Dims"], spent[a["External id"]]
    if e["name"] == "aten::mm": points["gemm"].append((2 * d[0][0] * d[0][1] * d[1][1], t))
    if e["name"] == "aten::add": points["part"].append((6 * d[0][0] * d[0][1], t))
    if e["name"] == "aten::silu_backward": points["back"].append((6 * d[0][0] * d[0][1], t))
g = costs["gpus"][0]
p = g["precisions"][0]
def close(a, b, what, within=1e-3):
    assert abs(a / b - 1) <= within, (what, a, b)
close(p["gemm_flop_per_s"]["value"], line(points["gemm"])[0], "gemm")
close(p["gemm_flop_per_s"]["value"], 4e14, "gemm as made")
close(g["memory_bytes_per_s"]["value"], line(points["part"])[0], "memory")
close(g["backward_memory_bytes_per_s"]["value"], line(points["back"])[0], "memory backward")
close(p["attention_flop_per_s"]["value"], 5e14, "attention")
close(p["backward_attention_flop_per_s"]["value"], 4e14, "attention backward")
close(g["copy_bytes_per_s"]["value"], 2.4e12, "copies")
close(g["host_link_bytes_per_s"]["value"], 5e10, "host link")
close(g["layer_overhead_s"]["value"], 4 * line(points["gemm"])[1] + line(points["part"])[1],
      "overhead", 0.01)
rings = {c["ranks"]: c for c in costs["collectives"]}
assert set(rings) == {2, 8} and not any(c["send"] or c["between_nodes"] for c in rings.values())
for n, c in rings.items():
    s = c["segments"][0]
    close(s["bytes_per_s"]["value"], 3e11 * n / (2 * (n - 1)), "ring")
    close(s["seconds"]["value"], 30e-6, "ring's start", 0.01)
END
"$plumbline" import trace "$work/trace.json" --format operators --gpus-per-node 4 \
    -o "$work/samples.json" 2>"$work/err"
grep -q '"host": "node 1"' "$work/samples.json" || wrong "ranks 4 to 7 are not on another node"
grep -q '"gpu": "a device"' "$work/samples.json" || wrong "the device's name was not taken"

# ---- what leads nowhere says where to go
"$plumbline" import trace "$work/trace.json" 2>"$work/err" &&
    wrong "ranges of a trace that has none"
grep -q -- '--format operators' "$work/err" || wrong "no way on: $(cat "$work/err")"
cat >"$work/bare.json" <<'END'
{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1,
  "dur": 2, "args": {"External id": 1}}, {"ph": "X", "cat": "user_annotation", "name": "forward",
  "pid": 1, "tid": 1, "ts": 1, "dur": 5}]}
END
"$plumbline" import trace "$work/bare.json" --format operators -o "$work/no.json" 2>"$work/err" &&
    wrong "no sizes, and yet samples"
grep -q 'record_shapes=True' "$work/err" || wrong "no way on: $(cat "$work/err")"
cat >"$work/next.json" <<'END'
{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2,
  "args": {"External id": 1, "Input Dims": [[8, 8], [8, 8]], "Input type": ["float", "float"]}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 5, "dur": 2}]}
END
"$plumbline" import trace "$work/next.json" --format operators --gpu h 2>"$work/err" |
    grep -q '"seconds": \[[0-9.e-]*\]' || wrong "an event without args has those of the one before"
"$plumbline" import trace "$work/bare.json" --format samples --gpu h --precision bf16 \
    --micro-batch 1 --sequence 8 -o "$work/layers.json" 2>"$work/err" || wrong "$(cat "$work/err")"
"$plumbline" calibrate "$work/layers.json" 2>"$work/err" && wrong "costs of layers alone"
grep -q 'import trace --format operators' "$work/err" || wrong "no way on: $(cat "$work/err")"
[ $failed -eq 0 ] && echo "costs of a trace: all as expected"
exit $failed

#!/bin/sh
# All that only a GPU can show, unattended and in one run of less than ten minutes (counted by
# minutes.sh): samples, calibrated costs, rates beside PyTorch's and a separate program's, predicted
# blocks beside PyTorch's, compute-sanitizer. Everything lies under OUT afterwards, the tables in
# OUT/table.txt, which is also printed last. A part that fails or takes too long ends alone. usage:
# tests/gpu/run.sh OUT BIN=folder of the programs (bin, or build/gpu/bin as `make gpu-pack` puts it
# together)
out=${1:?usage: tests/gpu/run.sh OUT}
here=$(dirname "$0")
mkdir -p "$out"
if [ -z "${BIN:-}" ]; then
    if [ -x build/gpu/bin/plumbline-measure-cuda ]; then BIN=build/gpu/bin; else BIN=bin; fi
fi
if [ ! -x "$BIN/plumbline-measure-cuda" ]; then make all gpu-programs > "$out/make.log" 2>&1; fi
libraries=$(python3 -c '
import glob, os, torch
site = os.path.dirname(os.path.dirname(torch.__file__))
print(":".join(glob.glob(site + "/nvidia/*/lib")))' 2>/dev/null)
# The libraries that PyTorch uses come first, so that both use the same; what was packed comes last.
# PyTorch itself is left alone.
export GPU_LIBRARIES="$libraries:/usr/local/cuda/lib64:$(pwd)/build/gpu/lib"
with="env LD_LIBRARY_PATH=$GPU_LIBRARIES"
export CHECK_LIMIT_S=30
heuristics=$BIN/gemm_heuristics
failed=0

part() {        # part NAME SECONDS COMMAND...: its output to OUT/NAME.txt
    name=$1 limit=$2
    shift 2
    begin=$(date +%s)
    timeout "$limit" "$@" > "$out/$name.txt" 2>&1
    code=$?
    echo "## $name: exit $code, $(($(date +%s) - begin)) s" | tee -a "$out/table.txt"
    [ $code = 0 ] || failed=$((failed + 1))
}
show() { echo; echo "# $1"; tail -n "${2:-40}" "$out/$1.txt"; }

rm -f "$out/table.txt"
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw \
    --format=csv > "$out/device.txt" 2>&1
cpu=$BIN/plumbline-measure
gpt='hidden=4096,heads=32,ffn=16384,vocabulary=50304' \
    llama='hidden=4096,heads=32,kv_heads=8,ffn=14336,vocabulary=32000,gated=1,rms=1'
part compute 150 $with "$cpu" compute --backend cuda --name h --precision bf16 \
    --fused --shape "$gpt;$llama" --micro-batch 1,4 --sustained-s 2 \
    --sequence 2048 --recompute none,full --budget-s 65 --seed 1 -o "$out/compute.json"
part parts 35 $with "$cpu" compute --backend cuda --name h --precision bf16 \
    --fused --quick --shape "$llama" --micro-batch 2 --experts 8 --context 1,2 \
    --sequence 4096 --recompute none --budget-s 10 --seed 5 -o "$out/parts.json"
part graphs 35 $with "$cpu" compute --backend cuda --name h --precision bf16 \
    --fused --graphs --quick --shape "$llama" --micro-batch 1 \
    --sequence 1024 --recompute none --budget-s 8 --seed 2 -o "$out/graphs.json"
part fp8 35 $with "$cpu" compute --backend cuda --name h --precision fp8 \
    --fused --quick --shape "$llama" --micro-batch 2 --sustained-s 1 \
    --sequence 2048 --recompute none --budget-s 8 --seed 3 -o "$out/fp8.json"
part fp8_block 30 $with "$cpu" compute --backend cuda --name h --precision fp8 --recipe block \
    --fused --quick --shape "$llama" --micro-batch 2 \
    --sequence 2048 --recompute none --budget-s 8 --seed 6 -o "$out/fp8_block.json"
part best 25 $with "$cpu" compute --backend cuda --name h --precision bf16 --algorithm best \
    --fused --quick --shape "$llama" --micro-batch 1 \
    --sequence 2048 --recompute none --budget-s 6 --seed 7 -o "$out/best.json"
part memory 20 $with "$cpu" memory --backend cuda --name h --budget-s 6 --largest-mib 1024 \
    -o "$out/memory.json"
part compress 20 $with "$cpu" compress --backend cuda --name h --precision bf16 --shape "$gpt" \
    --sequence 2048 --budget-s 6 \
    -o "$out/compress.json"
part calibrate 10 $with "$BIN/plumbline" calibrate "$out/compute.json" "$out/parts.json" --show \
    -o "$out/costs.json"
part rates 38 python3 "$here/rates.py" "$out/compute.json" "$out/memory.json" "$heuristics"
part rates_best 28 python3 "$here/rates.py" "$out/best.json" "$out/memory.json" "$heuristics"
part blocks 75 python3 "$here/block_check.py" "$out/costs.json" "$BIN/plumbline" "$out/blocks"
part sanitizer 95 $with sh "$here/gpu_check.sh" "$BIN/plumbline-measure-cuda" "$out"
{
    cat "$out/device.txt"
    for name in compute parts graphs fp8 fp8_block best memory compress; do show $name 3; done
    show calibrate 30
    show rates
    show rates_best
    show blocks
    show sanitizer 8
    echo
    echo "$failed parts failed"
} >> "$out/table.txt"
cat "$out/table.txt"
[ $failed = 0 ]

#!/bin/sh
# The shipped costs that come out of rows: make.sh [FOLDER] writes them into the folder (default:
# here). One command a file: the rows (of the shared validation sets), the costs that hold for all
# else, and what is fitted. The other files of this folder are stated by hand, with their sources in
# them; gh200-links: docs/FORMULAS.md 10.
set -u
here=$(cd "$(dirname "$0")" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$here} sets=${SETS:-$root/../shared/validation}
case ${BIN:=$root/bin} in /*) plumbline=$BIN/plumbline ;; *) plumbline=$root/$BIN/plumbline ;; esac
[ -d "$sets" ] || { echo "costs: $sets is not at hand: nothing is made anew" >&2; exit 3; }

make_costs() {
    name=$1 rows=$2 base=$3; shift 3
    "$plumbline" calibrate --iterations "$sets/$rows.csv" --costs "$here/$base.json" \
        --read-notes "$@" --name "$name" -o "$out/$name.json" || exit 1
}

make_costs a100-vtrain vtrain_single_2312.12391 a100-tables \
    --fit layer_overhead_s,layer_launch_s,misaligned_gemm_share
launch_s=collective_launch_s+transfer_launch_s
make_costs t4-amp amp_homogeneous_2210.07297 t4-deepspeed --cluster t4-4x4 \
    --default gradient_bytes=4 \
    --fit gemm+attention,$launch_s,intra_efficiency+network_efficiency.ethernet
make_costs h100-dgxc nvidia_dgxc_v25.04 datasheet-overlapped --default overlap=1,gradient_bytes=2 \
    --fit gemm+attention
make_costs a100-korthikanti korthikanti_2205.05198 datasheet --fit gemm+attention
make_costs a100-bigscience bigscience_176B_prequel_A100 a100-tables --default heads=96,kv_heads=96 \
    --rows 'metric!=iteration_time' \
    --fit allocator_factor
"$plumbline" import layers "$sets/sailor/layer_profiles.json" --model OPT-350 --gpu GH-96 \
    --as gh-96 --into "$here/gh200-links.json" \
    --name gh200-sailor -o "$out/gh200-sailor.json" || exit 1
# of the FFNs' second products: docs/FORMULAS.md 10
zeros=1376,1728,1792,2752,3456,3584,5504,6912,7168,11008,13824,14336,22016,28672
"$plumbline" calibrate --products "$sets/gemm_shapes.csv" --zeros $zeros \
    --costs "$here/kernels-datasheet.json" --name kernels \
    -o "$out/kernels.json" || exit 1
"$plumbline" import collectives "$sets/collectives_in_node.csv" --inside --gpu a100_dgx=a100-80gb \
    --gpu h100_dgx=h100-80gb \
    --into "$here/kernels.json" --name kernels-dgx -o "$out/kernels-dgx.json" || exit 1

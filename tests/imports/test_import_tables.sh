#!/bin/sh
# import topo: what nvidia-smi, rocm-smi and amd-smi print of a node, as a cluster of such nodes.
name=test_import_tables
. tests/imports/import.sh
# node WORDS [OPTION ...]: standard input: GPUs, GB/s between two, rings GPUS[/APART]:GB/s
node() {
    words=$1; shift
    cat >"$work/in"
    "$plumbline" import topo "$work/in" "$@" -o "$work/cluster.json" 2>"$work/err" ||
        { wrong "$(cat "$work/err")"; return; }
    got=$(python3 - "$work/cluster.json" <<'END'
import json, sys
g = json.load(open(sys.argv[1]))["groups"][0]
rings = ["%d%s:%g" % (r["gpus"], "/%d" % r["apart"] if "apart" in r else "",
                      r["bytes_per_s"] * 1e-9) for r in g.get("rings", [])]
print(" ".join(["%d" % g["gpus_per_node"], "%g" % (g["intra"]["bytes_per_s"] * 1e-9)] + rings))
END
)
    [ "$got" = "$words" ] || wrong "expected $words, found $got: $(cat "$work/in")"
}
refuse() {
    words=$1; shift
    cat >"$work/in"
    "$plumbline" import topo "$work/in" "$@" -o "$work/no.json" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] || wrong "not refused: $words"
    grep -q -- "$words" "$work/err" || wrong "not said: $words: $(cat "$work/err")"
}

# matrix ROWS: nvidia-smi topo -m, cells with commas
matrix() {
    printf '\tGPU0'
    i=1
    while [ $i -lt $# ]; do printf '\tGPU%d' $i; i=$((i + 1)); done
    printf '\tCPU Affinity\tNUMA Affinity\n'
    i=0
    for row in "$@"; do
        printf 'GPU%d\t%s\t0-31\t0\n' $i "$(echo "$row" | tr , '\t')"
        i=$((i + 1))
    done
    printf '\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe\n'
}
quad="X,NV4,NV4,NV4 NV4,X,NV4,NV4 NV4,NV4,X,NV4 NV4,NV4,NV4,X"
# twelve links of an A100, four to each other: a mesh
matrix $quad | node "4 100 3:200 4:300" --like a100-16x8
told 'rings of 2 GPUs 100 GB/s, of 4 GPUs 300 GB/s'
matrix $(echo "$quad" | sed 's/NV4/NV12/g') | node "4 300" --like a100-16x8 # through switches
matrix $(echo "$quad" | sed 's/NV4/NV18/g') | node "4 450" --like h100-128x8
# two islands of switches: a ring has one GPU's links, however many it joins
island="X,NV18,NV18,SYS,SYS,SYS NV18,X,NV18,SYS,SYS,SYS NV18,NV18,X,SYS,SYS,SYS"
matrix $island SYS,SYS,SYS,X,NV18,NV18 SYS,SYS,SYS,NV18,X,NV18 SYS,SYS,SYS,NV18,NV18,X |
    node "6 37.1791 3/1:450 3/2:37.1791" --like h100-128x8
pairs="X,NV12,SYS,SYS NV12,X,SYS,SYS SYS,SYS,X,NV12 SYS,SYS,NV12,X"
matrix $pairs | node "4 22.2129 2/1:300 2/2:22.2129" --like a100-16x8
told 'assumed: 31.5077 GB/s of PCIe'
matrix $pairs | node "4 20 2/1:300 2/2:20" --like a100-16x8 --pcie-bytes-per-s 20e9
matrix $pairs | node "4 7" --like a100-16x8 --intra-bytes-per-s 7e9
told 'several kinds of path'
matrix X,SYS SYS,X | node "2 22.2129" --like rtx4090-4x8
# below one switch all of PCIe, but for GPUs without peers; through processors what these pass on
behind="X,PIX,SYS,SYS PIX,X,SYS,SYS SYS,SYS,X,PXB SYS,SYS,PXB,X"
matrix $behind | node "4 22.2129 2/1:31.5077 2/2:22.2129" --like a40-16x4
matrix $behind | node "4 22.2129" --like rtx4090-4x8
matrix $behind | node "4 20" --like a40-16x4 --pcie-bytes-per-s 20e9
matrix X,SYS SYS,X | refuse 'unknown.*--pcie-bytes-per-s' --gpu nobodys --memory-bytes 1000000000
matrix $quad | sed "s/^/0: /; s/\$/\r/" | node "4 100 3:200 4:300" --like a100-16x8
matrix $quad | { echo '```'; cat; echo '```'; } | sed 's/^/> /' |
    node "4 100 3:200 4:300" --like a100-16x8
# the legend's underlined header
on=$(printf '\033[4m') off=$(printf '\033[0m')
matrix $quad | sed "s/GPU0\tGPU1/${on}GPU0\tGPU1/; s/Affinity\$/Affinity$off/" |
    node "4 100 3:200 4:300" --like a100-16x8

# rows of NICs say nothing that those of GPUs do not; without one of a GPU's nothing is read
for cut in s/a/a/ /^NIC/d /^NIC1/,\$d; do
    sed "$cut" tests/imports/topo.txt | node "4 22.2129 2/1:300 2/2:22.2129" --like a100-16x8
    told 'of 3 NICs counted'
    cp "$work/cluster.json" "$work/now.json"
    sed -i '/made_from/,/\]/d' "$work/now.json"
    [ "$cut" = s/a/a/ ] && cp "$work/now.json" "$work/whole.json"
    cmp -s "$work/now.json" "$work/whole.json" || wrong "$cut: another node"
done
sed '/^GPU3/,$d' tests/imports/topo.txt | refuse 'a row of each of 7 GPUs and NICs, found 3' \
    --like a100-16x8

# posts wrap rows, and cut off columns: of NICs, then those of GPUs that the other way round says
matrix $quad | sed 's/\tNV4\t0-31/\n\tNV4\t0-31/; s/\tCPU/\n\tCPU/' |
    node "4 100 3:200 4:300" --like a100-16x8
for cut in 's/\t[A-Z]*\t[A-Z]*\t[0-9].*//' '3s/\(GPU1\tNV12\).*/\1/' 4s/.*/GPU2/; do
    sed "$cut" tests/imports/topo.txt | sed 's/\t \(X\) /\t\1/' |
        node "4 22.2129 2/1:300 2/2:22.2129" --like a100-16x8
    told 'columns of NICs are cut off: NICs as --like has them'
done
matrix $quad | sed '2s/\tNV4\tNV4\tNV4.*//; 4s/.*/GPU2\tNV4/; 5s/.*/GPU3\tNV4/' |
    refuse 'GPU0, GPU2: expected NV4\|GPU2, GPU3: both cells are cut off' --like a100-16x8
matrix $quad | sed '3s/NV4\tX/NV4/' | refuse 'GPU1, GPU1: expected X' --like a100-16x8

# topo -p2p: who reaches whom, not by what
printf ' \tGPU0\tGPU1\n GPU0\tX\tOK\n GPU1\tOK\tX\n\nLegend:\n  X = Self\n' >"$work/p2p"
"$plumbline" import topo "$work/p2p" | grep -q 'OK .* 1  reached' || wrong "-p2p"
refuse 'unknown.*give --link' --like a100-16x8 <"$work/p2p"
node "2 9" --like a100-16x8 --intra-bytes-per-s 9e9 <"$work/p2p"

# nvlink -s: what each GPU has, not where it leads
nvlink() {
    for gpu in 0 1 2; do
        echo "GPU $gpu: $1 (UUID: GPU-0000-$gpu)"
        for link in 0 1 2 3 4 5; do printf '\t Link %d: %s\n' $link "$2"; done
    done
}
nvlink "NVIDIA A100-SXM4-80GB" "25 GB/s" | node "3 150" --like a100-16x8
told 'assumed: all links lead to switches'
nvlink "NVIDIA A100-SXM4-80GB" "25 GB/s" |
    refuse '--strict: would be assumed: all links lead' --like a100-16x8 --strict
nvlink "Tesla V100-SXM2-16GB" "25.781 GB/s" | refuse 'give nvidia-smi topo -m' --like v100-16gb-16x8
nvlink "NVIDIA A100-SXM4-80GB" "<inactive>" | node "3 31.5077" --like a100-16x8
told 'assumed: 31.5077 GB/s of PCIe'

# rocm-smi --showtopo: TITLE CELL DIAGONAL
rocm() {
    echo "=========================== $1 between two GPUs ============================"
    echo "       GPU0         GPU1         GPU2"
    for row in 0 1 2; do
        printf 'GPU%d' $row
        for column in 0 1 2; do
            [ $row = $column ] && printf '   %s' "$3" || printf '   %s' "$2"
        done
        echo
    done
    echo
}
{ rocm Weight 15 0; rocm Hops 1 0; rocm "Link Type" XGMI 0; } >"$work/rocm"
node "3 64 3:128" --like mi300x-16x8 <"$work/rocm"
node "3 50 3:100" --gpu mi250x --memory-bytes 64000000000 <"$work/rocm"
{ rocm Weight 30 0; rocm Hops 2 0; rocm "Link Type" XGMI 0; } |
    node "3 63.0154" --like mi300x-16x8 # no pair has links of its own
{ rocm Weight 52 0; rocm Hops 3 0; rocm "Link Type" PCIE 0; } |
    node "3 20" --like mi300x-16x8 --pcie-bytes-per-s 20e9
rocm Weight 15 0 | refuse 'expected a complete table of link types' --like mi300x-16x8
head -15 "$work/rocm" | refuse 'expected a complete table of link types' --like mi300x-16x8

# amd-smi topology: by bus, with the bandwidth of each pair
amd() {
    echo "$1 TABLE:"
    echo "             0000:0c:00.0 0000:22:00.0"
    echo "0000:0c:00.0 $3 $2"
    echo "0000:22:00.0 $2 $3"
    echo
}
{ amd ACCESS ENABLED ENABLED; amd WEIGHT 15 0; amd HOPS 1 0; amd "LINK TYPE" XGMI SELF
    amd "NUMA BW" 50000-200000 N/A; echo "Legend:"; echo " SELF = Current GPU"; } |
    node "2 200" --gpu mi250x --memory-bytes 64000000000
{ amd "LINK TYPE" XGMI SELF; } | refuse "AMD's GPUs, but h100-80gb is NVIDIA's" --like h100-128x8
matrix $quad | refuse "NVIDIA's GPUs, but mi300x is AMD's" --gpu mi300x \
    --memory-bytes 64000000000
# Markdown's bars and bold names; tables side by side; a list of GPUs; a table without NICs
{ matrix $quad | sed '/^$/,$d; s/\t/ | /g; s/^ | /|  | /; s/^GPU\(.\)/| **GPU\1**/' | sed \
    '1a| :--- | :---: | :---: | :---: | :---: |'; } | node "4 100 3:200 4:300" --like a100-16x8
told 'assumed: the file has no NICs: those of --like'
printf 'Weight between two GPUs    Link Type\n GPU0 GPU1   GPU0 GPU1\n' |
    refuse 'tables side by side' --like mi300x-16x8
printf 'GPU 0: NVIDIA A100 (UUID: GPU-1)\n  MIG 3g.20gb Device 0: (UUID: MIG-1)\n' >"$work/list"
refuse 'GPUs are in parts (MIG' --like a100-16x8 <"$work/list"
"$plumbline" import topo "$work/list" >/dev/null 2>&1 && wrong "a list of GPUs is printed"
{ amd "LINK TYPE" UNKNOWN SELF; } | refuse 'expected XGMI or PCIE' --like mi300x-16x8
printf 'nothing\n' | refuse 'found no GPU of theirs' --like mi300x-16x8

[ ! -e "$work/failed" ] && echo "import of tables: all as expected"

#!/bin/sh
# import topo: lists of GPUs as programs print them, without what joins them.
name=test_import_cards
. tests/imports/import.sh

# cards WORDS [OPTION ...]: standard input: GPU, GPUs of a node, GB of one, GB/s between two
cards() {
    words=$1; shift
    cat >"$work/in"
    "$plumbline" import topo "$work/in" "$@" -o "$work/cluster.json" 2>"$work/err" ||
        { wrong "$(cat "$work/err")"; return; }
    got=$(python3 - "$work/cluster.json" <<'EOF'
import json, sys
g = json.load(open(sys.argv[1]))["groups"][0]
print(g["gpu"], g["gpus_per_node"], "%.1f" % (g["memory_bytes"] * 1e-9),
      "%g" % (g["intra"]["bytes_per_s"] * 1e-9))
EOF
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
told() { grep -q -- "$1" "$work/err" || wrong "not said: $1: $(cat "$work/err")"; }

# smi NAME MEMORY MIG GPUS: nvidia-smi's table
smi() {
    echo '| NVIDIA-SMI 570.1      Driver Version: 570.1      CUDA Version: 12.8 |'
    i=0
    while [ $i -lt "$4" ]; do
        printf '|   %d  %s   On  |   00000000:1%d:00.0 Off |    0 |\n' $i "$1" $i
        printf '| N/A   27C    P0    69W /  700W |   4MiB /  %s |   0%%   Default |\n' "$2"
        printf '|      |      |      %s |\n+------+\n' "$3"
        i=$((i + 1))
    done
    echo '|    0   N/A  N/A   1234   C   python   9000MiB |'
}
smi 'NVIDIA H100 80GB HBM3' 81559MiB Disabled 8 | cards "h100-80gb 8 84.9 450"
told 'nodes are as in h100-128x8, which has this GPU'
told 'what joins GPUs is as in h100-128x8: 450 GB/s'
{ smi 'Tesla V100-SXM2...' 16160MiB N/A 4; smi 'Tesla V100-SXM2...' 16160MiB N/A 2; } |
    cards "v100-16gb 4 16.9 150" # the second table is a later one
smi 'NVIDIA A100-PCIE-40GB' 40960MiB Disabled 2 | cards "a100-pcie-40gb 2 42.9 22.2129"
told 'no shipped cluster has NVIDIA A100-PCIE-40GB: costs are to call it a100-pcie-40gb'
smi 'NVIDIA A100-SXM4-80GB' 81920MiB Disabled 8 | cards "h100-80gb 8 84.9 450" --like h100-128x8
told 'NVIDIA A100-SXM4-80GB is described as h100-80gb'
# rows of nvidia-smi --query-gpu among other lines, and beside lspci's
printf 'Device: GB10\nNVIDIA A100-SXM4-80GB, 81920 MiB, 1.2\nMETADATA\nNVIDIA Release 25.12\n' |
    cards "a100-80gb 1 85.0 300"
printf 'd5:00.0 VGA compatible controller: NVIDIA Corporation GA100 [A100]\nNVIDIA %s\n' \
    'A100-SXM4-80GB, 81920 MiB' | cards "a100-80gb 1 85.0 300"
printf '{"vendor": {"name": "NVIDIA Corporation"}, "memory.total": 1}\n' | refuse 'found no GPU'
smi 'NVIDIA A100-SXM4-80GB' 81920MiB Enabled 8 | refuse 'GPUs are in parts'
smi 'NVIDIA A100-SXM4-80GB' 81920MiB N/A 8 | sed '/MiB/{x;s/^/x/;/^x\{8\}/{x;d};x}' |
    refuse 'GPU 7 has no memory, the first one has: it is cut off'
smi 'NVIDIA A100-SXM4-80GB' 81920MiB N/A 16 | refuse 'does not say here what links join GPUs'
smi 'NVIDIA A100-SXM4-80GB' 81920MiB N/A 2 | refuse 'strict: would be assumed' --strict
smi 'NVIDIA Unheard X9' 81920MiB N/A 2 | refuse 'does not say here what links join GPUs\|unknown'

# lists by name: nvidia-smi -L, collect_env
printf 'GPU %d: NVIDIA H200 (UUID: GPU-1)\n' 0 1 2 3 | cards "h200-141gb 4 150.1 450"
printf 'GPU models and configuration: \nGPU 0: Tesla T4\nGPU 1: Tesla T4\n\nCPU: 8\n' |
    cards "t4-16gb 2 15.6 6.25"
printf 'GPU 0: Tesla T4 (UUID: GPU-1)\nGPU 1: Tesla V100 (UUID: GPU-2)\n' |
    tee "$work/two" | refuse 'one node has GPUs of types Tesla T4 and Tesla V100'
cards "v100-16gb 1 16.9 150" --gpu v100-16gb --like v100-16gb-16x8 <"$work/two"
printf 'GPU 0: Tesla T4 (UUID: GPU-1)\nGPU 2: Tesla T4 (UUID: GPU-3)\n' |
    refuse 'GPU 1 is not in the list'
printf 'GPU 0: Tesla T4 (UUID: GPU-1)\n...\nGPU 7: Tesla T4 (UUID: GPU-3)\n' |
    refuse "rows are left out at '...'"

# a matrix beside the GPUs' names: its own NICs, not those of the shipped nodes
{
    printf 'GPU 0,1: NVIDIA H800\nNVIDIA Topology:\n\tGPU0\tGPU1\tNIC0\tNIC1\tNIC2\n'
    printf 'GPU0\tX\tNV8\tPIX\tSYS\tSYS\n'
    printf 'GPU1\tNV8\tX\tSYS\tPIX\tSYS\nNIC0\tPIX\tSYS\tX\tSYS\tSYS\n'
    printf 'NIC1\tSYS\tPIX\tSYS\tX\tSYS\nNIC2\tSYS\tSYS\tSYS\tSYS\tX\n'
} | cards "h800-80gb 2 84.9 200"
told '2 of 3 NICs counted'
grep -q '"count": 2' "$work/cluster.json" || wrong "NICs are not those of the matrix"

# what one program's words begin is forgotten where another's list it is
printf 'NVIDIA-SMI \nEnabled\nGPU 0: Tesla T4 (UUID: GPU-1)\n' | cards "t4-16gb 1 15.6 6.25"

# nvidia-smi -q, its XML
query() {
    echo '==============NVSMI LOG=============='
    printf 'Attached GPUs                 : %s\n' "$1"
    for bus in 1 2; do
        printf 'GPU 0000000%s:18:00.0\n    Product Name    : NVIDIA B200\n    MIG Mode\n' $bus
        printf '        Current     : %s\n    FB Memory Usage\n' "$2"
        printf '        Total       : 183359 MiB\n'
        printf '        Used        : 4 MiB\n    BAR1 Memory Usage\n        Total       : 64 MiB\n'
    done
}
query 2 Disabled | cards "b200-180gb 2 191.5 900"
query 3 Disabled | refuse 'expected 3 GPUs, as the file counts them, found 2'
query 2 Enabled | refuse 'GPUs are in parts'
xml='<?xml version="1.0"?><nvidia_smi_log><attached_gpus>1</attached_gpus><gpu id="a">
<product_name>NVIDIA B200</product_name><mig_mode><current_mig>N/A</current_mig></mig_mode>
<fb_memory_usage><total>183359 MiB</total></fb_memory_usage></gpu></nvidia_smi_log>'
echo "$xml" | cards "b200-180gb 1 191.5 900"
echo "$xml" | sed 's/<attached_gpus>1/<attached_gpus>8/' | refuse 'expected 8 GPUs'

# tables with commas, with and without a header
printf 'index, name, memory.total [MiB]\n0, NVIDIA A40, 46068 MiB\n1, NVIDIA A40, 46068 MiB\n' |
    cards "a40-48gb 2 47.7 32"
printf '0, NVIDIA A40, 3 MiB, 46068 MiB\n' | refuse 'a GPU has\|strict' --strict
printf 'NVIDIA GeForce RTX 3060, 12288 MiB\n' | cards "rtx3060-12gb 1 12.9 1"
printf 'index, name\n0, NVIDIA GeForce RTX 3060\n' | refuse "does not say a GPU's memory"

for i in $(seq 300); do echo 'NVIDIA A40, 46068 MiB'; done | refuse 'at most 256 GPUs'
# lspci, gpustat, deviceQuery
cat >"$work/pci" <<'EOF'
01:00.0 VGA compatible controller: ASPEED Technology, Inc. ASPEED Graphics Family (rev 52)
18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)
18:00.1 Bridge [0680]: NVIDIA Corporation GH100 [H100 NVSwitch] [10de:22a3] (rev a1)
19:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)
EOF
cards "h100-80gb 2 84.9 450" <"$work/pci"
echo '1e:00.0 3D controller: NVIDIA Corporation L40S (rev a1)' | cards "l40s-48gb 1 47.8 32"
echo '1e:00.0 3D controller: NVIDIA Corporation Device 2330 (rev a1)' |
    refuse 'does not say which GPUs these are'
printf "node1  Mon Nov 30\n[0] NVIDIA A40 | 35'C,  0 %% |    0 / 46068 MB | me(1M)\n" |
    cards "a40-48gb 1 47.7 32"
printf 'Device 0: "NVIDIA A40"\n  Total amount of global memory:       45416 MBytes (1 bytes)\n' |
    cards "a40-48gb 1 47.7 32"

# AMD's
agent() { printf '*******\nAgent %s\n*******\n  Name: x\n  Marketing Name:   %s\n' "$1" "$2"
    printf '  Device Type:   %s\n    Pool 1\n      Size:   201310208(0xbffc000) KB\n' "$3"; }
{ agent 1 EPYC CPU; agent 2 'AMD Instinct MI300X' GPU; agent 3 'AMD Instinct MI300X' GPU; } |
    cards "mi300x-192gb 2 206.1 64"
agent 3 'AMD Instinct MI300X' GPU | refuse 'agents are missing'
for i in 0 1; do
    printf 'GPU[%s]\t\t: Card Series: \t\tAMD Instinct MI300X OAM\n' $i
    printf 'GPU[%s]\t\t: VRAM Total Memory (B): 206141652992\n' $i
done | cards "mi300x-192gb 2 206.1 64"
printf 'GPU[0] : VRAM Total Memory (B): 206141652992\nGPU[1] : VRAM Total Memory (B):' |
    refuse 'it is cut off' --like mi300x-16x8
printf 'GPU: 0\n ASIC:\n  MARKET_NAME: AMD Instinct MI300X\n VRAM:\n  SIZE: 196592 MB\n' |
    cards "mi300x-192gb 1 206.1 64"
printf 'GPU: 0\n ASIC:\n  MARKET_NAME: AMD Instinct MI300X\n  ACCELERATOR_PARTITION: CPX\n' |
    refuse 'GPUs are in parts'
# what is there twice is no more GPUs
pci='3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)'
printf '%s:00.0 %s\n' 18 "$pci" 18 "$pci" 19 "$pci" 18 "$pci" 19 "$pci" |
    cards "h100-80gb 2 84.9 450"
table='index, name, memory.total [MiB]\n0, NVIDIA A40, 46068 MiB\n1, NVIDIA A40, 46068 MiB\n'
printf "$table$table" | cards "a40-48gb 2 47.7 32"
{ query 2 Disabled; query 2 Disabled; } | cards "b200-180gb 2 191.5 900"
echo "$xml $xml" | cards "b200-180gb 1 191.5 900"
{ echo '<nvidia_smi_log>'; yes '<product_name>NVIDIA B200</product_name>' | head -200000; } |
    refuse 'expected at most 256 GPUs of one node'
smi 'NVIDIA H100 80GB HBM3' 81559MiB N/A 8 | refuse 'is described as mi300x' \
    --like mi300x-16x8 --strict

[ ! -e "$work/failed" ] && echo "lists of GPUs: all as expected"

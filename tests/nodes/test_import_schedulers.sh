#!/bin/sh
# import sinfo: nodes of pbsnodes, ray status, squeue, machines of clouds; clusters by GPUs' names.
name=test_import_schedulers
. tests/imports/import.sh

# groups WORDS [OPTION ...]: standard input: groups GPU:NODESxGPUS, names of nodes, cards
groups() {
    words=$1; shift
    cat >"$work/in"
    "$plumbline" import sinfo "$work/in" "$@" -o "$work/cluster.json" 2>"$work/err" ||
        { wrong "$(cat "$work/err")"; return; }
    got=$(python3 - "$work/cluster.json" <<'EOF'
import json, sys
c = json.load(open(sys.argv[1]))
words = ["%s:%dx%d" % (g["gpu"], g["nodes"], g["gpus_per_node"]) for g in c["groups"]]
words += [n["name"] for n in c.get("places", {}).get("nodes", [])]
nic = c["groups"][0].get("nics", [{"count": 0, "kind": "none", "link": {"bytes_per_s": 0}}])[0]
print(" ".join(words), "%dx%sx%g" % (nic["count"], nic["kind"], nic["link"]["bytes_per_s"] * 8e-9))
EOF
)
    [ "$got" = "$words" ] || wrong "expected $words, found $got: $(cat "$work/in")"
}
refuse() {
    words=$1; shift
    cat >"$work/in"
    "$plumbline" import sinfo "$work/in" "$@" -o "$work/no.json" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] || wrong "not refused: $words"
    grep -q -- "$words" "$work/err" || wrong "not said: $words: $(cat "$work/err")"
}
told() { grep -q -- "$1" "$work/err" || wrong "not said: $1: $(cat "$work/err")"; }

# the shipped cluster of a gres type
printf 'NODELIST GRES\na gpu:nvidia_h100_80gb_hbm3:8\n' | groups "h100-80gb:1x8 a 8xinfinibandx400"
told 'assumed: nodes with nvidia_h100_80gb_hbm3 are as in h100-128x8'
printf 'NODELIST GRES\na gpu:unheard:8\n' |
    refuse 'no shipped cluster has unheard: give --like unheard='
printf 'NODELIST GRES\na gpu:8\n' | refuse 'like is missing'
printf 'NODELIST GRES\na gpu:h100:8\n' | refuse 'strict: would be assumed: nodes with h100' --strict

# squeue: nodes of jobs that run
printf 'JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n1 p j u R 1:0 2 n[1-2]\n%s\n' \
    '2 p k u PD 0:00 4 (Resources)' |
    groups "h100-80gb:2x8 n1 n2 8xinfinibandx400" --like h100-128x8
told 'nodes are those that have jobs'

# behind HTTP's headers
printf 'HTTP/1.1 200 OK\nContent-Type: application/json\n\n{"nodes": [{"name": "a", %s}]}\n' \
    '"gres": "gpu:h100:8", "state": ["IDLE"]' | groups "h100-80gb:1x8 a 8xinfinibandx400"

# pbsnodes, of PBS and of Torque
cat <<'EOF' | groups "a100-80gb:1x4 n1 8xinfinibandx200"
n1
     Mom = n1
     state = job-busy
     resources_available.ngpus = 4
     resources_available.gpu_model = a100
     resources_available.gpu_shared = False
n2
     Mom = n2
     state = job-busy,offline
     resources_available.ngpus = 4
     resources_available.gpu_model = a100
n3
     Mom = n3
     state = free
EOF
told '1 nodes in 1 group; 1 down or drained left out.*; 1 without GPUs'
printf 'n1\n     state = free\n     ntype = cluster\n     gpus = 2\n' |
    groups "t4-16gb:1x2 n1 1xethernetx50" --like t4-4x4
printf 'n1\n     Mom = n1\n     resources_available.ngpus = x\n' |
    refuse 'expected a number of GPUs'

# ray status: as many nodes with GPUs as accelerator types
ray() { printf 'Node status\n-----\nHealthy:\n 3 node\nPending:\n 9 node\n\nResources\nUsage:\n'
    printf ' 1.0/64.0 CPU\n %s GPU\n' "$1"; printf "$2"; }
ray 0.0/16.0 ' 0.0/2.0 accelerator_type:H100\n' | groups "h100-80gb:2x8 8xinfinibandx400"
ray 4.0/24.0 '' | groups "h100-80gb:3x8 8xinfinibandx400" --like h100-128x8
told 'all nodes that are up have GPUs'
ray 4.0/25.0 '' | refuse 'expected as many GPUs on each of 3 nodes, found 25' --like h100-128x8
ray 4.0/16.0 ' 0.0/1.0 accelerator_type:A100\n 0.0/1.0 accelerator_type:H100\n' |
    refuse 'GPUs of types A100 and H100'

# machines of clouds
printf 'resource "aws_instance" "n" {\n  count = 4\n  instance_type = "p5.48xlarge"\n}\n' |
    groups "h100-80gb:4x8 32xrocex100"
told 'p5.48xlarge: 8 GPUs, and 32 x 100 Gb/s between nodes'
echo 'machine_type: a3-megagpu-8g' | refuse 'does not say how many: give --nodes'
echo 'machine_type: a3-megagpu-8g' | groups "h100-80gb:2x8 8xrocex200" --nodes 2
printf 'type: a3-megagpu-8g\nnode_count: 2\nmin_count: 3\n' |
    refuse 'several numbers of how many\|several'
printf 'type: a3-megagpu-8g\nother: p5.48xlarge\ncount: 2\n' | refuse 'names 2 kinds of machines'
echo '{"InstanceType": "p4d.24xlarge"}' | groups "a100-40gb:1x8 4xrocex100" --nodes 1
printf 'resources:\n  accelerators: {H100: 8}\nnum_nodes: 2\n' |
    groups "h100-80gb:2x8 8xinfinibandx400"
printf '# a job\nresources:\n  accelerators: H100:8\n' | groups "h100-80gb:1x8 8xinfinibandx400"
told 'one node, the default of num_nodes'
printf 'resources:\n  accelerators: H100:8\nnum_nodes: 65536\n' |
    groups "h100-80gb:65536x8 8xinfinibandx400"
told '65536 nodes in 1 group'
for block in 'guest_accelerator {' 'guest_accelerators = [{'; do # counts GPUs, not machines
    printf 'machine_type = "a3-highgpu-8g"\n%s\n  type = "h"\n  count = 8\n}\n' "$block" |
        refuse 'does not say how many: give --nodes'
done
printf 'a b c d resources: accelerators: T4:1\n' | refuse 'line 1: names t4, not how many'

# machines in people's words
words() { printf '%b\n' "$1" | groups "$2"; }
words '8x H100 SXM5, 2 TB RAM, 8x400G CX7' 'h100-80gb:1x8 8xinfinibandx400'
told 'assumed: one node: the text names no number'
words '4 nodes, each 8x NVIDIA H100 80GB SXM5, 8 x 400Gb/s InfiniBand NDR' \
    'h100-80gb:4x8 8xinfinibandx400'
words 'We trained on 64 A100 80GB GPUs (8 nodes, 200 Gbps InfiniBand HDR).' \
    'a100-80gb:8x8 1xinfinibandx200'
words '2 servers with 8 NVIDIA A100-SXM4-40GB each, connected by 4x HDR InfiniBand' \
    'a100-40gb:2x8 4xinfinibandx200'
words '| Nodes | GPUs |\n|---|---|\n| 12 | 4x A100 40GB |\n| 4 | 8x H100 |' \
    'a100-40gb:12x4 h100-80gb:4x8 8xinfinibandx200'
words '- **GPU:** NVIDIA V100 32GB\n- **GPUs per node:** 4\n- **Nodes:** 16\n- EDR InfiniBand' \
    'v100-32gb:16x4 1xinfinibandx100'
words '16 x NVIDIA MI300X across 2 nodes, RoCE 8x400G' 'mi300x-192gb:2x8 8xrocex400'
words '4x DGX H100' 'h100-80gb:4x8 8xinfinibandx400'
words '2\303\2278 H100' 'h100-80gb:2x8 8xinfinibandx400'
words '1x GB200 NVL72' 'gb200-186gb:1x72 72xinfinibandx400'
words 'Dual RTX 3090 24GB, AMD EPYC 7763 64-core' 'rtx3090-24gb:1x2 1xethernetx10'
words '32 bare metal BM.GPU.A100-v2.8 nodes with 8 A100' 'a100-80gb:32x8 16xrocex100'
words '4 x p5.48xlarge' 'h100-80gb:4x8 32xrocex100'
words 'H100 (8 GPUs/node, 2 nodes)' 'h100-80gb:2x8 8xinfinibandx400'
words 'two nodes with 8 GPUs per node (A100 80GB)' 'a100-80gb:2x8 8xinfinibandx200'
words '128 GPUs (16 nodes x 8 H100)' 'h100-80gb:16x8 8xinfinibandx400'
echo 'CUDA 12 H100' | refuse 'names h100, not how many'
echo 'trained for 2000 A100 hours' | refuse 'names a100, not how many'
echo '64 V100 GPUs' | refuse '64 x v100: on how many nodes? Give --nodes'
echo '64 V100 GPUs' | groups 'v100-16gb:8x8 4xinfinibandx100' --nodes 8
echo '2 nodes, 8 H100' | refuse 'in each of 2 nodes, or in all of them'
words '8 nodes, each GPU of 64 A100 has 80GB' 'a100-80gb:8x8 8xinfinibandx200'
echo 'NVIDIA A100 80GB PCIe x4' | refuse 'no shipped cluster has a100-pcie-80gb'
printf '8x H100\n4x A100\n' | refuse 'several machines, in line 1 8 x h100, in line 2 4 x a100'
printf '8x H100\n4x A100\n' | groups 'a100-80gb:1x4 8xinfinibandx200' --line 2
echo '8x H100, faster than an A100' | refuse 'with h100 in line 1 and with a100 in line 1'
echo 'Llama 70B needs 8x A100' | refuse 'line 1: says what is needed, not what there is'
echo 'an H100' | refuse 'names h100, not how many a node has'

# what looks like a number of nodes or cards, and is none
words '1,024 H100 GPUs, 8 per node' 'h100-80gb:128x8 8xinfinibandx400'
# a sentence at a time; numbers of processors, of all GPUs, of links within a node are others
words 'on 4 nodes with 8 H100 GPUs each. The total batch is 512. A prompt has up to 3 calls.' \
    'h100-80gb:4x8 8xinfinibandx400'
words 'across 4 nodes with 8 H100s each' 'h100-80gb:4x8 8xinfinibandx400'
words 'three dual socket AMD nodes, each with 4 V100 cards' 'v100-16gb:3x4 4xinfinibandx100'
words '2 login nodes, 2 CPU-only nodes, and 15 H100 nodes with 8 H100' \
    'h100-80gb:15x8 8xinfinibandx400'
words '4 nodes, each with 4 V100 (16 GPUs in total). NVLink 400 Gbps, 25 Gbps Ethernet.' \
    'v100-16gb:4x4 1xethernetx25'
words '64 H100. These are 8 nodes with 8 H100. Each GPU has its own 400 Gb/s InfiniBand card.' \
    'h100-80gb:8x8 8xinfinibandx400'
echo '100+ nodes, each with 4 V100' | refuse 'says how many there are at least'
words '| VM | Standard_ND96isr_H100_v5 |\n| Cluster | 10 nodes |' 'h100-80gb:10x8 8xinfinibandx400'
told 'as many nodes as the words say'
words "2 nodes of g4dn.2xlarge" "t4-16gb:2x1 1xethernetx10"
words '16 GPUs (A100 80GB), 8 per node' 'a100-80gb:2x8 8xinfinibandx200'
words '4 nodes with 8 A100 (32 A100 in total)' 'a100-80gb:4x8 8xinfinibandx200'
words 'DGX A100 x 4' 'a100-80gb:4x8 8xinfinibandx200'
words '4 x NVL72 racks of GB200' 'gb200-186gb:4x72 72xinfinibandx400'
words 'a dozen nodes of 8 H200 each' 'h200-141gb:12x8 8xinfinibandx400'
words 'half a dozen Dell XE9680 servers, each with eight H200' 'h200-141gb:6x8 8xinfinibandx400'
words '20 GPGPU nodes, each with two EPYC 7713, eight H200, two HDR200 Infiniband HCAs, 25 GbE' \
    'h200-141gb:20x8 2xinfinibandx200'
words '32 nodes of 8 H200, quad-rail NDR' 'h200-141gb:32x8 4xinfinibandx400'
words '4 nodes of 8 H200, each GPU with its own 400G ConnectX-7' 'h200-141gb:4x8 8xinfinibandx400'
words 'an 8-GPU H200 server' 'h200-141gb:1x8 8xinfinibandx400'
words '12 nodes in 3 racks, 8 H200 each' 'h200-141gb:12x8 8xinfinibandx400'
words '8 x H100, NVLink 900GB/s, 8 x 200 Gb/s InfiniBand' 'h100-80gb:1x8 8xinfinibandx200'
words 'two machines with 4 RTX 4090 24GB each, 10 GbE' 'rtx4090-24gb:2x4 1xethernetx10'
words 'each of 4 nodes has 8 H200, and each of those has a NIC of 200 Gbps' \
    'h200-141gb:4x8 8xethernetx200'
words '4 servers\n- 2 V100 32GB\n' 'v100-32gb:4x2 4xinfinibandx100'
echo '1x MI300X | 2x RTX Pro 6000' | refuse 'with mi300x in line 1 and with pro 6000 in line 1'
echo 'DGX Spark vs RTX 4090' | refuse 'line 1: compares GPUs'
echo 'eight NVIDIA GTX 980 Ti per node' | refuse 'names gtx 980, a GPU that is not known here'
echo '2 nVidia K40 cards' | refuse 'names k40, a GPU that is not known here'
echo '8 H200 at a price of 30,293' | refuse 'says a price, not what there is'
echo 'several nodes with 8 H200' | refuse 'nodes of 8 x h200: how many'
echo 'GPU nodes: 8x H200' | refuse 'nodes of 8 x h200: how many'
echo '3 racks of 4 nodes with 8 H200 each' | refuse 'line 1: counts racks or pods'
echo '8 nodes per rack, each 8 H200' | refuse 'line 1: counts by rack or pod'
echo '20 to 24 nodes with 8 H100' | refuse 'line 1: says from how many to how many'
echo '4-8 A100 GPUs' | refuse 'line 1: says from how many to how many'
echo 'one node has 8 A100, the other 4 A100' | refuse 'line 1: says different numbers of a GPU'

# MLPerf's description of a system, LSF's and SGE's lists
printf '{"number_of_nodes":"4","accelerators_per_node":8,"host_networking":"Infiniband",%s}\n' \
    '"accelerator_model_name":"NVIDIA H200-SXM-141GB","host_network_card_count":"8x 400Gb/s NDR"' |
    groups 'h200-141gb:4x8 8xinfinibandx400'
printf '{"number_of_nodes":1,"accelerators_per_node":8,"accelerator_model_name":"TPU v5"}\n' |
    refuse 'accelerator_model_name: expected a GPU, found "TPU v5"'
printf 'HOST_NAME gpu_id gpu_model gpu_driver\nh1 0 TeslaV100_SXM2_ 3\n 1 TeslaV100_SXM2_ 3\n%s\n' \
    'h2 0 TeslaV100_SXM2_ 3' | groups 'v100-16gb:1x2 v100-16gb:1x1 h1 h2 4xinfinibandx100'
qhost() { printf 'HOSTNAME ARCH NCPU NSOC NCOR NTHR LOAD MEMTOT\n'
    printf 'n1 lx 16 2 16 16 0.1 62G\n   hc:%s\nn2 lx 16 2 16 16 0.1 62G\n' "$1"; }
qhost gpu=2.000000 | groups 't4-16gb:1x2 n1 1xethernetx50' --like t4-4x4
qhost slots=2 | refuse 'print qhost -F gpu'

# what other programs print is named
printf 'Function Best Rate MB/s\n' | refuse 'is of STREAM, a host'
printf "CA 'mlx5_0'\n\tCA type: MT4129\n\tPort 1:\n\t\tRate: 400\n" | refuse 'is of ibstat'
printf '#bytes #iterations BW peak[MB/sec]\n' | refuse 'of perftest: plumbline import links reads'

[ ! -e "$work/failed" ] && echo "nodes of other schedulers: all as expected"

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
echo 'machine_type: a3-megagpu-8g' | groups "h100-80gb:2x8 8xethernetx200" --nodes 2
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
printf 'a b c d resources: accelerators: T4:1\n' | refuse 'line 1: expected a header'

[ ! -e "$work/failed" ] && echo "nodes of other schedulers: all as expected"

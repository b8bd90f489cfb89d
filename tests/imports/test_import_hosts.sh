#!/bin/sh
# import hostfile, import slurm, import sinfo: clusters whose nodes have the names that stand there,
# on the switches that stand there; every wrong line is told by its number.
BIN=${BIN:-bin} work=build/test_import_hosts.$$
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "import of hosts: $*" >&2; : >"$work/failed"; } # behind a pipe, too

# nodes FORMAT OPTION ...: standard input as a cluster; its nodes as "name group switch/switch ..."
likes=h100-128x8
nodes() {
    format=$1; shift
    cat >"$work/in"
    rm -f "$work/cluster.json"
    "$plumbline" import "$format" "$work/in" --like "$likes" "$@" -o "$work/cluster.json" \
        2>"$work/err" || { wrong "$format: $(cat "$work/err")"; return; }
    python3 - "$work/cluster.json" <<'END'
import json, sys
c = json.load(open(sys.argv[1]))
for n in c["places"]["nodes"]:
    print(" ".join([n["name"], n["group"]] +
                   ["/".join(n["switches"])] * bool(n.get("switches"))))
for g in c["groups"]: print(g["name"], g["nodes"], g["gpus_per_node"])
for l in c["places"].get("levels", []): print(l["name"], l["link"]["bytes_per_s"] / 1e9)
END
}

# expect LINES FORMAT OPTION ...
expect() {
    lines=$1; shift
    got=$(nodes "$@")
    [ "$got" = "$lines" ] || wrong "$*: expected
$lines
found
$got"
}

# refuse WORDS FORMAT TEXT OPTION ...
refuse() {
    words=$1 format=$2; shift 2
    printf "$1" >"$work/in"; shift
    "$plumbline" import "$format" "$work/in" "$@" -o "$work/no.json" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || wrong "$format: not refused: $(cat "$work/in")"
    [ "$(wc -l <"$work/err")" -eq 1 ] || wrong "$format: not one line: $(cat "$work/err")"
    grep -q -- "$words" "$work/err" || wrong "$format: not said: $words: $(cat "$work/err")"
    [ ! -e "$work/no.json" ] || wrong "$format: written all the same: $(cat "$work/in")"
}

expect "a h100
b2 h100-of-4
b3 h100-of-4
d h100
h100 2 8
h100-of-4 2 4" hostfile <<'END'
# of Open MPI
a slots=8 max_slots=8   # the first
b[2-3] slots=4

d
END
expect "n01 h100
n02 h100
h100 2 8" hostfile <<'END'
n01:8
n02:8
END
expect "n1 h100 s1/root
n2 h100 s1/root
x08 h100 s2/root
x09 h100 s2/root
r1n1 h100 s2/root
r1n2 h100 s2/root
r2n1 h100 s2/root
r2n2 h100 s2/root
h100 8 8
leaf 400.0
level-1 100.0" slurm --oversubscription 1,4 <<'END'
SwitchName=root Switches=s[1-2]
SwitchName=s1 Nodes=n[1-2] LinkSpeed=100
SwitchName=s2 nodes=x[08-09],r[1-2]n[1-2]
END
expect "a h100 s/s/top
b h100 t/m/top
h100 2 8
leaf 400.0
level-1 400.0
level-2 400.0" slurm <<'END'
SwitchName=s Nodes=a
SwitchName=t Nodes=b
SwitchName=m Switches=t
SwitchName=top Switches=s,m
END
expect "a h100 s/top
b h100 top/top
h100 2 8
leaf 400.0
level-1 400.0" slurm <<'END'
SwitchName=s Nodes=a
SwitchName=top Switches=s Nodes=b
END
# As scontrol show topology of Slurm 22.05 prints it: all nodes below stand beside a switch's
# switches.
expect "a0 h100 leaf0/spine
a1 h100 leaf0/spine
v0 h100 leaf1/spine
h100 3 8
leaf 400.0
level-1 400.0" slurm <<'END'
SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes=a[0-1]
SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=v0
SwitchName=spine Level=1 LinkSpeed=1 Nodes=a[0-1],v0 Switches=leaf[0-1]
END
printf 'SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-4]\nSwitchName=root Switches=s[1-2]\n' \
    >"$work/topology.conf"
"$plumbline" import slurm "$work/topology.conf" --like h100-128x8 -o "$work/named.json" \
    2>"$work/err" || wrong "$(cat "$work/err")"
"$plumbline" example gpt --model llama-3.1-8b --cluster "$work/named.json" --tensor 8 --pipeline 2 \
    --data 2 --zero 1 --global-batch 16 --sequence 4096 -o "$work/p" >"$work/log" 2>&1 &&
    "$plumbline" solve "$work/p/problem.json" --gap 0.1 --quiet -o "$work/plan.json" \
    2>>"$work/log" && "$plumbline" verify "$work/plan.json" >>"$work/log" 2>&1 ||
    wrong "no plan on the nodes read: $(cat "$work/log")"

like="--like h100-128x8"
refuse 'like is missing' hostfile 'a\n'
refuse 'did you mean h100-128x8\|h100-128x8' hostfile 'a\n' --like h100-128
mixed="--like a=a100-16x8 --like v=v100-32gb-16x8"
refuse 'has nodes with a100-80gb and with v100-32gb, which a hostfile does not tell' hostfile \
    'a1\nv1\n' --like mixed-a100-v100
refuse 'b1: its name begins with none of those given' hostfile 'a1\nb1\n' --like a=a100-16x8
refuse 'v=v100-32gb-16x8: no host of .* is described by it' hostfile 'a1\na2\n' $mixed
refuse 'the nearest is .a100-16x8' hostfile 'a1\n' --like a=a100-16
refuse 'a=t4-4x4. are for the same hosts' hostfile 'a1\nv1\n' $mixed --like a=t4-4x4
refuse 't4-4x4. are for the same hosts' hostfile 'a1\n' $like --like t4-4x4
refuse 'expected NAME=CLUSTER or CLUSTER' hostfile 'a1\n' --like =t4-4x4
# Nodes of two kinds in one hostfile: each name's cluster, and the rest one of its own.
printf 'a1 slots=8\nav2 slots=4\nv1 slots=8\nx1\n' >"$work/mixed"
"$plumbline" import hostfile "$work/mixed" $mixed --like av=h100-128x8 --like t4-4x4 \
    -o "$work/mixed.json" 2>"$work/err" || wrong "$(cat "$work/err")"
found=$(python3 -c 'import json, sys
c = json.load(open(sys.argv[1]))
for x in c["groups"]:
    print(x["name"], x["gpu"], x["nodes"], x["gpus_per_node"], sep=" ", end=", ")
groups = {x["name"]: x["gpu"] for x in c["groups"]}
for x in c["places"]["nodes"]:
    print(x["name"], groups[x["group"]], sep=" ", end=", ")
' "$work/mixed.json" 2>&1)
[ "$found" = "a100 a100-80gb 1 8, h100 h100-80gb 1 4, v100-32gb v100-32gb 1 8, t4 t4-16gb 1 4, \
a1 a100-80gb, av2 h100-80gb, v1 v100-32gb, x1 t4-16gb, " ] || wrong "mixed hostfile: $found"
refuse 'line 2: host a appears twice' hostfile 'a\na\n' $like
refuse "slots: expected 1 to 1024, found 'x'" hostfile 'a slots=x\n' $like
refuse 'found none' hostfile '# nobody\n' $like
refuse 'line 1: expected names' hostfile 'a[1-\n' $like
refuse 'line 1: expected names' hostfile 'a[3-1]\n' $like
refuse 'line 1: expected names' hostfile 'a,,b\n' $like
refuse 'line 1: expected names' hostfile 'a[1][2][3][4][5]\n' $like
refuse 'more than the 4096 nodes' hostfile 'a[0-999999999]\n' $like
refuse 'found none' slurm '\n' $like
refuse 'line 1: expected SwitchName' slurm 'Nodes=a\n' $like
refuse 'line 2: there is no switch\|line 2: Switches: there is no switch s9' slurm \
    'SwitchName=s Nodes=a\nSwitchName=t Switches=s9\n' $like
refuse 'line 2: node a is attached to two' slurm 'SwitchName=s Nodes=a\nSwitchName=t Nodes=a\n' \
    $like
refuse 'line 2: switch s appears twice' slurm 'SwitchName=s Nodes=a\nSwitchName=s Nodes=b\n' $like
refuse 'already attached to u' slurm \
    'SwitchName=s Nodes=a\nSwitchName=u Switches=s\nSwitchName=t Switches=s\n' $like
refuse 'no node is below' slurm \
    'SwitchName=s Nodes=a\nSwitchName=t Switches=u\nSwitchName=u Switches=t\n' $like
refuse 'in a cycle' slurm 'SwitchName=s Nodes=a Switches=t\nSwitchName=t Nodes=b Switches=s\n' \
    $like
refuse 'oversubscription: expected numbers' slurm 'SwitchName=s Nodes=a\n' $like \
    --oversubscription 0
# ---- sinfo, scontrol
expect "n01 h100-of-8
n02 h100-of-8
n03 h100-of-4
n04 h100-of-4
h100-of-8 2 8
h100-of-4 2 4" sinfo <<'END'
NODELIST   GRES                          STATE
n01        gpu:h100:8(S:0-1)             idle
n02        gpu:h100:8(S:0-1)             mix
n02        gpu:h100:8(S:0-1)             mix
n[03-04]   nvme:1,gpu:h100:4             alloc
c1         (null)                        idle
n05        gpu:h100:8                    drain*
n06        gpu:h100:8                    down
END
grep -q '2 down or drained left out.*1 without GPUs' "$work/err" ||
    wrong "not said what is left out: $(cat "$work/err")"
expect "a gpu-of-8
b gpu-of-8
gpu-of-8 2 8" sinfo --all <<'END'
Mon Nov 23 10:00:00 2026
STATE PARTITION NODELIST GRES
idle gpu* a gpu:8
down* gpu* b gpu:8(S:0)
END
expect "x1 h100-of-8
x2 a100-of-4
h100-of-8 1 8
a100-of-4 1 4" sinfo --like a100=a100-16x8 <<'END'
NodeName=x1 Arch=x86_64 CoresPerSocket=56 
   CPUAlloc=0 CPUEfctv=112 CPUTot=112 CPULoad=0.02
   Gres=gpu:h100:8(S:0-1)
   State=IDLE+CLOUD+POWERED_DOWN ThreadsPerCore=1 TmpDisk=0
   Partitions=a,b 

NodeName=x2 Arch=x86_64 Gres=gpu:a100:4 State=MIXED

NodeName=x3 Arch=x86_64
   Gres=gpu:a100:4
   State=IDLE+DRAIN
END
grep -q '"gpu": "a100-80gb"' "$work/cluster.json" || wrong "sinfo: --like of a type does not count"
printf 'NODELIST GRES\r\na gpu:8\r\n' | expect "a gpu-of-8
gpu-of-8 1 8" sinfo
expect "b gpu-of-8
gpu-of-8 1 8" sinfo <<'END'
c|(null)|idle
a|gpu:8|down*
b|gpu:8(S:0-1)|idle
END
# A cluster that has the nodes gives each its group; those that it does not have are left out.
# a type that the cluster has not is refused with --strict
printf 'NODELIST GRES\na0 gpu:h100:8\n' >"$work/sinfo.txt"
"$plumbline" import sinfo "$work/sinfo.txt" --like a100-16x8 --strict -o "$work/c.json" \
    2>"$work/err" && wrong "sinfo: another type is read with --strict"
grep -q 'strict: would be assumed: nodes with h100 are described as a100-80gb' "$work/err" ||
    wrong "sinfo: --strict does not say why: $(cat "$work/err")"
printf 'NODELIST GRES\na0 gpu:a100:8\nv0 gpu:v100:4\na1 gpu:a100:8\n' >"$work/sinfo.txt"
"$plumbline" import sinfo "$work/sinfo.txt" --like a100=a100-16x8 --like v100=v100-16gb-16x8 \
    -o "$work/mixed.json" 2>"$work/err" || wrong "$(cat "$work/err")"
likes=$work/mixed.json
expect "a0 a100-of-8 leaf0/spine
a1 a100-of-8 leaf0/spine
v0 v100-of-4 leaf1/spine
a100-of-8 2 8
v100-of-4 1 4
leaf 200.0
level-1 200.0" slurm <<'END'
SwitchName=leaf0 Nodes=a[0-1],down7
SwitchName=leaf1 Nodes=v0
SwitchName=spine Switches=leaf[0-1]
END
expect "v0 v100-of-4 s
v100-of-4 1 4
leaf 50.0" slurm <<'END'
SwitchName=s Nodes=v0
END
likes=h100-128x8

# ---- blocks, topology.yaml, JSON, partitions
blocks() {
    echo '# racks of two'
    for b in 1 2 3; do echo "BlockName=b$b Nodes=n[${b}1-${b}2]"; done
    echo 'BlockSizes=2,4'
}
blocks | expect "n11 h100 b1/blocks-of-4-0
n12 h100 b1/blocks-of-4-0
n21 h100 b2/blocks-of-4-0
n22 h100 b2/blocks-of-4-0
n31 h100 b3/blocks-of-4-1
n32 h100 b3/blocks-of-4-1
h100 6 8
leaf 400.0
level-1 400.0" slurm
grep -q '6 nodes in 1 group on 3 blocks of 2 levels' "$work/err" || wrong "blocks are not said"
{ blocks | sed 's/Nodes/BlockIndex=0 Nodes/'; echo 'AggregatedBlock=b[1-2] Nodes=n[11-22]'; } |
    expect "$(blocks | nodes slurm)" slurm # as scontrol prints them
# NVLink domains: a block is a node
likes=gb200-8x72
blocks | sed 's/,4$//' | expect "b1 gb200-nvl72-of-8 b1
b2 gb200-nvl72-of-8 b2
b3 gb200-nvl72-of-8 b3
gb200-nvl72-of-8 3 8
leaf 400.0" slurm --gpus-per-node 4
seq 18 | sed 's/.*/n&/' | paste -sd, | sed 's/^/BlockName=rack Nodes=/' |
    expect "rack gb200-nvl72-of-72 rack
gb200-nvl72-of-72 1 72
leaf 3600.0" slurm
grep -q 'assumed: blocks are NVLink domains' "$work/err" || wrong "domains are assumed"
refuse 'no block fills: give --gpus-per-node' slurm 'BlockName=a Nodes=n[1-5]\n' --like gb200-8x72
likes=h100-128x8
cat >"$work/topology.yaml" <<'END'
---
- topology: first
  cluster_default: false
  block:
    block_sizes: [2, 4]   # of nodes
    blocks:
      - block: a
        nodes: n[1-2]
      - block: "b"
        nodes: n[3-4]
- topology: second
  cluster_default: true
  tree:
    switches:
      - switch: top
        children: s[1-2]
      - switch: s1
        nodes: n[1-2]
      - switch: s2
        nodes: n3
- topology: third
  cluster_default: false
  block:
    block_sizes:
      - 2
      - 4
    blocks:
      - block: a
        nodes: n[1-2]
- topology: fourth
  flat: true
END
expect "n1 h100 s1/top
n2 h100 s1/top
n3 h100 s2/top
h100 3 8
leaf 400.0
level-1 400.0" slurm <"$work/topology.yaml"
grep -q "assumed: topology second, the cluster's default of first, second, third, fourth (--top" \
    "$work/err" || wrong "which topology: $(cat "$work/err")"
expect "n1 h100 a/blocks-of-4-0
n2 h100 a/blocks-of-4-0
n3 h100 b/blocks-of-4-0
n4 h100 b/blocks-of-4-0
h100 4 8
leaf 400.0
level-1 400.0" slurm --topology first <"$work/topology.yaml"
grep -q topology "$work/err" && wrong "the topology was asked for: $(cat "$work/err")"
expect "n1 h100 a
n2 h100 a
h100 2 8
leaf 400.0" slurm --topology third <"$work/topology.yaml"
refuse 'a topology of the kind flat' slurm "#\n$(sed 1d "$work/topology.yaml")" --like h100-128x8 \
    --topology fourth
refuse 'a topology named fifth, found first, second, third, fourth' slurm \
    "#\n$(sed 1d "$work/topology.yaml")" --like h100-128x8 --topology fifth
refuse 'expected switches or blocks, found both' slurm \
    'BlockName=a Nodes=n1\nSwitchName=s Nodes=n2\n' --like h100-128x8
refuse 'each a multiple of the one before' slurm 'BlockName=a Nodes=n1\nBlockSizes=4,6\n' \
    --like h100-128x8
expect "n1 h100-of-8
n2 h100-of-8
h100-of-8 2 8" sinfo <<'END'
{"sinfo": [{"nodes": {"nodes": ["n1", "n2"], "total": 2}, "gres": {"total": "gpu:h100:8", "used":
  "gpu:0"}, "node": {"state": ["IDLE"]}},
  {"nodes": {"nodes": ["n3"]}, "gres": {"total": "gpu:h100:8"}, "node": {"state": ["DOWN"]}},
  {"nodes": {"nodes": ["cpu1"]}, "gres": {"total": ""}, "node": {"state": ["IDLE"]}}], "x": NaN}
END
grep -q '1 down or drained left out.*1 without GPUs' "$work/err" || wrong "sinfo --json"
expect "n1 h100-of-8
h100-of-8 1 8" sinfo <<'END'
{"nodes": [{"name": "n1", "gres": "gpu:h100:8(S:0-1)", "state": ["MIXED", "PLANNED"]},
           {"name": "n2", "gres": "gpu:h100:8", "state": ["IDLE", "DRAIN"]}]}
END
# of Slurm 21: states as a word and a list; the words of a reason are no nodes
expect "n1 h100-of-8
h100-of-8 1 8" sinfo <<'END'
{"nodes": [{"name": "n1", "gres": "gpu:h100:8(S:0-1)", "state": "idle", "state_flags": ["PLANNED"]},
           {"name": "n2", "gres": "gpu:h100:8", "state": "idle", "state_flags": ["DRAIN"]}]}
END
grep -q '1 down or drained left out' "$work/err" || wrong "scontrol --json: state_flags"
expect "n1 h100-of-8
h100-of-8 1 8" sinfo <<'END'
NodeName=n1 Arch=x86_64
   Gres=gpu:h100:8(S:0-1) State=IDLE+CLOUD
   Reason=as NodeName=n7 with State=DOWN [root@2024-01-10T10:01:00]
END
grep -q 'left out' "$work/err" && wrong "scontrol: a node of a reason's words"
refuse 'expected sinfo (sinfo --json) or nodes' sinfo '{"jobs": []}' --like h100-128x8
expect "n1 h100-of-8
n2 h100-of-8
h100-of-8 2 8" sinfo <<'END'
PartitionName=gpu
   AllowGroups=ALL Nodes=n[1-2]
   State=UP TotalCPUs=384 TotalNodes=2
   TRES=cpu=384,mem=4126G,node=2,billing=384,gres/gpu=16,gres/gpu:h100=16
END
refuse 'expected as many GPUs on each of 2 nodes, found 15' sinfo \
    'PartitionName=p Nodes=n[1-2] TotalNodes=2 TRES=cpu=1,gres/gpu=15\n' --like h100-128x8
expect "n1 gpu-of-4
gpu-of-4 1 4" sinfo <<'END'
NodeName=n1 Arch=x86_64 Gres=(null) State=IDLE CfgTRES=cpu=64,mem=1M,gres/gpu=4
END
printf 'NODELIST GRES\nn1 gpu:nvidia_a100_80gb:8\n' | nodes sinfo >/dev/null
grep -q 'nodes with nvidia_a100_80gb are described as h100-80gb' "$work/err" ||
    wrong "another GPU than --like's is not said"

refuse 'line 2: NODES: expected 20, as g\[01-20\] are, found 3' sinfo \
    'PARTITION NODES NODELIST\ngpu 3 g[01-20]\n' $like
refuse 'line 1: expected a header' sinfo 'a b c\ngpu up n1\n' $like
refuse 'line 1: expected a header' sinfo 'PARTITION AVAIL NODELIST\ngpu up n1\n' --like x=h100-128x8
refuse 'strict: would be assumed: 8 GPUs in each node' sinfo \
    'PARTITION AVAIL NODELIST\ngpu up n1\n' $like --strict
# as sinfo prints it unless told, in a terminal; the same nodes in two partitions
nodes sinfo >/dev/null <<'END'
[me@login ~]$ sinfo
PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST
gpu*         up   infinite      2   idle n[1-2]
gpu*         up   infinite      1  drain n3
all          up   infinite      2   idle n[1-2]
none         up   infinite      0    n/a
[me@login ~]$ srun -n3 -N3 /bin/hostname
n1
END
grep -q '^2 nodes in 1 group; 1 down' "$work/err" || wrong "no GRES: $(cat "$work/err")"
grep -q 'assumed: 8 GPUs in each node' "$work/err" || wrong "GPUs without GRES are not said"
refuse 'line 2: gres: one node has GPUs of types h100 and a100' sinfo \
    'NODELIST GRES\nn1 gpu:h100:4,gpu:a100:4\n' $like
refuse 'line 1: expected names of nodes' hostfile '{\n' $like
refuse 'line 2: expected as many columns' sinfo 'NODELIST GRES\na\n' $like
refuse 'found none$' sinfo '' $like
refuse 'found nodes without' sinfo 'NODELIST GRES\na (null)\n' $like
refuse '\-\-all includes the others' sinfo 'NODELIST GRES STATE\na gpu:1 down\n' $like
refuse '\-\-like is missing' sinfo 'NODELIST GRES STATE\na gpu:1 idle\n'
refuse 'like a100=CLUSTER --like h100=CLUSTER\|like h100=CLUSTER --like a100=CLUSTER' sinfo \
    'NODELIST GRES\na gpu:h100:1\nb gpu:a100:1\n' $like
refuse 'at most 1024' sinfo 'NODELIST GRES\na gpu:2000\n' $like
# slurm.conf: DEFAULT's gres, nodes of no state yet, a comment, a partition that is down
expect "n1 h100-of-8
n2 h100-of-8
m1 h100-of-4
h100-of-8 2 8
h100-of-4 1 4" sinfo <<'END'
GresTypes=gpu
NodeName=DEFAULT Gres=gpu:h100:8 CPUs=4 State=UNKNOWN
NodeName=n[1-2] # Gres=gpu:h100:4
NodeName=m1 Gres=gpu:h100:4 State=UNKNOWN
NodeName=f1 State=FUTURE
PartitionName=x Nodes=ALL State=DOWN
END
grep -q '; 1 down' "$work/err" || wrong "FUTURE: $(cat "$work/err")"
# scontrol's UNKNOWN is a state
refuse '\-\-all includes the others' sinfo 'NodeName=a CPUAlloc=0 Gres=gpu:8 State=UNKNOWN\n' $like
# gres.conf: the lines of a node add up
expect "n1 h100-of-8
n2 h100-of-4
n3 h100-of-3
h100-of-8 1 8
h100-of-4 1 4
h100-of-3 1 3" sinfo <<'END'
AutoDetect=off
NodeName=n1 Name=gpu Type=h100 File=/dev/nvidia[0-3] Cores=0-3
NodeName=n1 Name=gpu Type=h100 File=/dev/nvidia[4-7] Cores=4-7
NodeName=n2 Name=gpu Type=h100 Count=4
NodeName=n3 Name=gpu Type=h100 File=/dev/nvidia0,/dev/nvidia[2-3]
NodeName=n4 Name=nic File=/dev/nic[0-3]
END
refuse 'line 1: expected NodeName=' sinfo 'Name=gpu File=/dev/nvidia0\n' $like
refuse 'line 2: expected NodeName=' sinfo 'NodeName=n1 Name=gpu\nName=gpu File=/dev/nvidia0\n' $like
refuse 'n1 has GPUs of types a100 and h100' sinfo \
    'NodeName=n1 Name=gpu Type=a100\nNodeName=n1 Name=gpu Type=h100\n' $like
refuse 'line 1: Count: expected at most 1024 GPUs, found 8K' sinfo \
    'NodeName=n1 Name=gpu Type=h100 Count=8K\n' $like
refuse "expected Count or File of n1's GPUs: with AutoDetect" sinfo \
    'AutoDetect=nvml\nNodeName=n1 Name=gpu Type=h100\n' $like
# parts of GPUs are none
expect "n1 h100-of-2
h100-of-2 1 2" sinfo <<'END'
NodeName=n1 Gres=gpu:h100:2,gpu:h100_3g.40gb:4 State=IDLE
NodeName=n2 Gres=gpu:1g.10gb:7 State=IDLE
END
grep -q 'parts of GPUs (MIG) are not counted: gres of 2 nodes' "$work/err" ||
    wrong "MIG: $(cat "$work/err")"
expect "n1 h100-of-4
h100-of-4 1 4" sinfo <<'END'
NodeName=n1 CPUAlloc=1 State=MIXED CfgTRES=cpu=192,gres/gpu=16,gres/gpu:h100=4 AllocTRES=cpu=1
END
grep -q 'gres of 1 node has' "$work/err" || wrong "what has no type: $(cat "$work/err")"
refuse 'nodes with parts of GPUs (MIG) alone' sinfo 'NODELIST GRES\na gpu:3g.40gb:2\n' $like
refuse 'a partition with GPUs of several types' sinfo \
    'PartitionName=p Nodes=n[1-4] TotalNodes=4 TRES=gres/gpu=8,gres/gpu:a=4,gres/gpu:b=4\n' $like
# without a header, the first column's names may be a partition's
refuse "line 1: expected names of nodes, found the partition 'p\*'" sinfo 'p*|gpu:8\n' $like
refuse 'strict: would be assumed: the first column has nodes' sinfo 'p|gpu:8\n' $like --strict
# slurmrestd's one node
expect "n1 h100-of-4
h100-of-4 1 4" sinfo <<'END'
{"name": "n1", "gres": "gpu:h100:4(S:0)", "state": ["IDLE"], "cpus": 16}
END
# Kubernetes: whole GPUs, shared ones by their label, cordoned and unready nodes, parts, none
member() { # NAME PRODUCT ALLOCATABLE READY UNSCHEDULABLE [COUNT]
    printf '{"kind": "Node", "metadata": {"name": "%s", "labels": {"nvidia.com/gpu.product": "%s"' \
        "$1" "$2"
    printf ', "nvidia.com/gpu.count": "%s"}}, "spec": {"unschedulable": %s}, "status": ' \
        "${6:-$3}" "$5"
    printf '{"allocatable": {"cpu": "96", "nvidia.com/gpu": "%s"}, "conditions": ' "$3"
    printf '[{"type": "Ready", "status": "%s"}]}}' "$4"
}
members() {
    printf '{"kind": "List", "items": ['
    member n1 NVIDIA-H100-80GB-HBM3 8 True false; printf ,
    member n2 NVIDIA-H100-80GB-HBM3-SHARED 32 True false 8; printf ,
    member n3 NVIDIA-H100-80GB-HBM3 8 True true; printf ,
    member n4 NVIDIA-H100-80GB-HBM3 8 Unknown false; printf ,
    member n5 NVIDIA-H100-80GB-HBM3-MIG-1g.10gb 7 True false; printf ,
    member n6 "" 0 True false; printf ']}'
}
members | expect "n1 NVIDIA-H100-80GB-HBM3-of-8
n2 NVIDIA-H100-80GB-HBM3-of-8
NVIDIA-H100-80GB-HBM3-of-8 2 8" sinfo
grep -q '^2 nodes.*; 2 down.*; 1 without' "$work/err" || wrong "kubectl: $(cat "$work/err")"
member n1 NVIDIA-H100 4 True false | expect "n1 NVIDIA-H100-of-4
NVIDIA-H100-of-4 1 4" sinfo
refuse 'expected a Node (kubectl get nodes), found a Pod' sinfo \
    '{"kind": "Pod", "metadata": {"name": "p"}}' $like
expect "a.b h100-of-8
h100-of-8 1 8" sinfo <<'END'
Name:               a.b
Roles:              <none>
Labels:             kubernetes.io/arch=amd64
                    nvidia.com/gpu.product=h100
Unschedulable:      false
Conditions:
  Type             Status
  Ready            True    kubelet is posting ready status
Capacity:
  nvidia.com/gpu:     9
Allocatable:
  cpu:                191450m
  nvidia.com/gpu:     8
Allocated resources:
  nvidia.com/gpu     4
  nvidia.com/gpu:    4
Name:               c
Unschedulable:      true
Allocatable:
  nvidia.com/gpu:     8
END
grep -q '; 1 down' "$work/err" || wrong "kubectl describe: $(cat "$work/err")"
refuse 'line 2: expected "Name: NODE" before it' sinfo 'Allocatable:\n nvidia.com/gpu: 8\n' $like
# two makers' GPUs, a node twice: neither the first nor the last counts
describe() { printf 'Name: %s\nAllocatable:\n%b' "$1" "$2"; }
refuse 'x: one node has GPUs of NVIDIA and of AMD' sinfo \
    "$(describe x '  nvidia.com/gpu: 8\n  amd.com/gpu: 4\n')\n" $like
refuse 'x is listed twice, with 8 and with 4 GPUs' sinfo \
    "$(describe x '  nvidia.com/gpu: 8\n')\n$(describe x '  nvidia.com/gpu: 4\n')\n" $like
refuse 'x has 8 and 4 GPUs' sinfo "$(describe x '  amd.com/gpu: 8\n  amd.com/gpu: 4\n')\n" $like
refuse 'n is listed twice, with 8 and with 4 GPUs' sinfo \
    'NODELIST GRES STATE\nn gpu:8 idle\nn gpu:4 down\n' $like
expect "x mi300x-of-8
mi300x-of-8 1 8" sinfo <<'END'
Name: x
Labels: amd.com/gpu.product-name=mi300x
Allocatable:
  nvidia.com/gpu: 0
  amd.com/gpu: 8
Name: x
Labels: amd.com/gpu.product-name=mi300x
Allocatable:
  amd.com/gpu: 8
END
listed() { # NODES TIMES [NAME]: of other names, or of this one again
    echo 'NODELIST GRES STATE'
    for i in $(seq "$2"); do echo "${3:-$i}n[1-$1] gpu:8 idle"; done
}
refuse 'line 6: expected at most 16384 nodes, found more' sinfo \
    "$(listed 4000 5)" $like
refuse 'line 264: expected at most 1048576 names of nodes' sinfo "$(listed 4000 300 n)" $like
# two kinds of topology at once
refuse 'found a topology of the kind flat beside them' slurm \
    '\055 topology: a\n  block:\n    blocks:\n      - block: b\n        nodes: n1\n  flat: true\n' \
    --like h100-128x8
[ -e "$work/failed" ] && exit 1
echo "import of hosts: all as expected"

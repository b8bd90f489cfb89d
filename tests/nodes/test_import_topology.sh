#!/bin/sh
# import nccl-topology: GPUs, what joins two of them and network cards of NCCL's XML; import matrix:
# what mpiGraph prints, link by link.
BIN=${BIN:-bin} work=build/test_import_topology.$$
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "import of a topology: $*" >&2; : >"$work/failed"; }

# node WORDS OPTION ...: standard input as a node of so many GPUs, GB/s between two, cards as count
# x kind x Gb/s
node() {
    words=$1; shift
    cat >"$work/in"
    "$plumbline" import nccl-topology "$work/in" "$@" -o "$work/cluster.json" 2>"$work/err" ||
        { wrong "$(cat "$work/err")"; return; }
    got=$(python3 - "$work/cluster.json" <<'END'
import json, sys
g = json.load(open(sys.argv[1]))["groups"][0]
cards = ["%dx%sx%g" % (n.get("count", 1), n["kind"], n["link"]["bytes_per_s"] * 8e-9)
         for n in g.get("nics", [])]
print(" ".join(["%d" % g["gpus_per_node"], "%g" % (g["intra"]["bytes_per_s"] * 1e-9)] + cards))
END
)
    [ "$got" = "$words" ] || wrong "expected $words, found $got: $(cat "$work/in")"
}
# refuse WORDS FORMAT OPTION ...: standard input
refuse() {
    words=$1 format=$2; shift 2
    cat >"$work/in"
    "$plumbline" import "$format" "$work/in" "$@" -o "$work/no.json" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || wrong "$format: not refused: $(cat "$work/in")"
    [ "$(wc -l <"$work/err")" -eq 1 ] || wrong "$format: not one line: $(cat "$work/err")"
    grep -q -- "$words" "$work/err" || wrong "$format: not said: $words: $(cat "$work/err")"
    [ ! -e "$work/no.json" ] || wrong "$format: written all the same"
}
like="--like h100-128x8"

# of NVSwitch: all links of a GPU go to any other
node "2 450 1xinfinibandx400 1xethernetx25" $like --nodes 4 <<'END'
<?xml version="1.0"?>
<!-- <gpu> in a comment is none -->
<system version="1">
  <cpu host_hash="0x1" numaid="0" affinity="ff" arch="x86_64">
    <pci busid="0000:45:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:53:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="0000:d0:00.0" count="9" tclass="0x068000"/>
          <nvlink target="0000:d2:00.0" count="9" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:52:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_0" dev="0" speed="400000" port="1" latency="0" gdr="1"/>
          <net name="mlx5_0" dev="0" speed="400000" port="1" latency="0" gdr="1"/>
          <net name="mlx5_9" dev="3" speed="100000" port="1" latency="0" gdr="1"/>
        </nic>
      </pci>
    </pci>
    <pci busid="0000:63:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu dev="1" sm="90" rank="1" gdr="1">
        <nvlink target="0000:d0:00.0" count="18" tclass="0x068000"/>
      </gpu>
    </pci>
    <nic><net name="eth0" dev="1" speed="25000" gdr="0"/></nic>
  </cpu>
</system>
END
grep -q 'mlx5_9 of 100 Gb/s is left out' "$work/err" || wrong "a slower card is not named"
grep -q '"nodes": 4' "$work/cluster.json" || wrong "--nodes"
"$plumbline" example gpt --model llama-3.2-1b --cluster "$work/cluster.json" --tensor 1 \
    --pipeline 1 --data 8 --zero 1 --global-batch 16 --sequence 2048 -o "$work/p" >"$work/log" \
    2>&1 &&
    "$plumbline" solve "$work/p/problem.json" --quiet -o "$work/plan.json" 2>>"$work/log" ||
    wrong "no plan on this node: $(tail -1 "$work/log")"

# switched GPUS SM EACH WORDS: all-reduces in switches, of so many GPUs GB/s
switched() {
    python3 - "$1" "$2" >"$work/in" <<'END'
import sys
print('<system version="1"><cpu numaid="0">')
for i in range(int(sys.argv[1])):
    print('<pci busid="0000:%02x:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" '
          'link_width="16"><gpu dev="%d" sm="%s" rank="%d">'
          '<nvlink target="0000:f0:00.0" count="18" tclass="0x068000"/></gpu></pci>'
          % (i, i, sys.argv[2], i))
print("</cpu></system>")
END
    "$plumbline" import nccl-topology "$work/in" $like -o "$work/cluster.json" 2>"$work/err" ||
        wrong "$(cat "$work/err")"
    got=$(python3 - "$work/cluster.json" <<'END'
import json, sys
print(*["%d:%g" % (s["gpus"], s["bytes_per_s"] * 1e-9)
        for s in json.load(open(sys.argv[1]))["groups"][0].get("switch_sums", [])])
END
)
    [ "$got" = "$3" ] || wrong "sums in switches of $1 GPUs of sm $2: expected $3, found $got"
}
# Hopper 2 x 7 x 40 x 0.85, Blackwell 2 x 7 x 80 x 0.74 and at most 32 that form sums; 80: none
switched 8 90 "4:306 8:476"
grep -q 'all-reduces in switches of 4 GPUs 306 GB/s, of 8 GPUs 476 GB/s' "$work/err" ||
    wrong "sums in switches are not told: $(cat "$work/err")"
switched 72 100 "4:399.6 8:828.8 16:888 32:917.6 64:917.6 72:917.6"
switched 8 80 ""

# mesh ROWS: GPUs of sm 70 with so many links between each two; row a, column b
mesh() {
    echo '<system version="1"><cpu numaid="0">'
    a=0
    for row in "$@"; do
        printf %s "<pci busid='0000:0$a:00.0' class='0x030200' link_speed='8.0 GT/s PCIe' "
        echo "link_width='16'><gpu dev='$a' sm='70' rank='$a'>"
        b=0
        for count in $(echo "$row" | tr , ' '); do
            [ "$count" = 0 ] ||
                echo "<nvlink target='0000:0$b:00.0' count='$count' tclass='0x030200' />"
            b=$((b + 1))
        done
        echo '</gpu></pci>'
        a=$((a + 1))
    done
    echo '</cpu></system>'
}
# rings GPUS:GB/s ...: what the cluster says of rings
rings() {
    got=$(python3 - "$work/cluster.json" <<'END'
import json, sys
g = json.load(open(sys.argv[1]))["groups"][0]
print(" ".join("%d%s:%g" % (r["gpus"], "/%d" % r["apart"] if "apart" in r else "",
                            r["bytes_per_s"] * 1e-9) for r in g.get("rings", [])))
END
)
    [ "$got" = "$1" ] || wrong "rings: expected $1, found $got"
}
mesh 0,2,1 2,0,1 1,1,0 | node "3 25" $like # the pair with the fewest
rings "2:50 3:50"
# GPUs 0 and 2 by way of 1; a ring of three has no way but PCIe: 8 GT/s x 16 / 8 x 128 / 130
mesh 0,2,0 2,0,1 0,1,0 | node "3 25" $like
rings "2:50 3:11.1065"
# bridged pairs, each apart from the other
mesh 0,0,4,0 0,0,0,4 4,0,0,0 0,4,0,0 | node "4 11.1065" $like
rings "2/1:11.1065 2/2:100"
mesh 0,1,1,1 1,0,1,1 1,1,0,1 1,1,1,0 | sed "s/sm='70'/sm='304' gcn='gfx942'/; s/nvlink/xgmi/" |
    sed "s/0x030200' \/>/0x120000'\/>/" | node "4 64" --like mi300x-16x8
rings "3:128 4:192"
grep -q 'rings of 2 GPUs 64 GB/s, of 4 GPUs 192 GB/s' "$work/err" || wrong "rings are not said"
# POWER: links to the CPU join no GPUs
cpu="<nvlink target='0004:00' count='3' tclass='0x068001'/></gpu>"
mesh 0,3 3,0 | sed "s#</gpu>#$cpu#" |
    node "2 75" $like
# GPUs listed in another order than their numbers
mesh 0,1,2 1,0,0 2,0,0 | sed "s/dev='0'/dev='9'/" | node "3 25" $like
rings "2:11.1065 3:11.1065"
mesh 0,2 2,0 | sed '1s/^/cat > topo.xml <<EOF\n/; $s/$/\nEOF\nexport NCCL_TOPO_FILE/' |
    node "2 50" $like # within a script
# what clouds give: PCI devices, the rest from --like
cloud() {
    echo '<system version="1"><cpu numaid="0"><pci busid="ffff:ff:01.0" class="0x060400">'
    for i in 1 2 3 4; do
        echo "<pci busid='000$i:00:00.0' class='0x030200' link_speed='16 GT/s' link_width='16'/>"
        echo "<pci busid='010$i:00:00.0' class='$1' link_speed='16 GT/s' link_width='16'/>"
    done
    echo '</pci></cpu></system>'
}
cloud 0x020700 | node "4 450 4xinfinibandx400" $like
grep -q 'assumed: as in h100-128x8: 450 GB/s' "$work/err" || wrong "a list's assumptions"
cloud 0x020000 | node "4 64 4xrocex400" --like mi300x-16x8
cloud 0x020700 | refuse 'a list of PCI devices.*--like' nccl-topology
cloud 0x020700 | sed "s/class='[^']*'//; s/class=\"[^\"]*\"//" |
    refuse 'have no class.*NCCL_TOPO_DUMP_FILE' nccl-topology $like
mesh 0,2 2,0 | node "2 50" --gpu v100-16gb --memory-gb 16
mesh 0,2 2,0 | node "2 60" $like --link-bytes-per-s 30e9
mesh 0,2 2,0 | node "2 7" $like --intra-bytes-per-s 7e9
mesh 0 | node "1 15.7538" $like
mesh 0,2 2,0 | refuse 'give --like CLUSTER' nccl-topology
mesh 0,2 2,0 | sed "s/sm='70'/sm='9' gcn='gfx000'/; s/nvlink/xgmi/" |
    refuse 'give --link-bytes-per-s' nccl-topology --like mi300x-16x8
mesh 0,2 2,0 | sed "s/sm='70'/sm='304' gcn='gfx942'/; s/nvlink/xgmi/" |
    refuse "AMD's GPUs, but h100-80gb is NVIDIA's" nccl-topology $like
mesh 0,2 2,0 | refuse "NVIDIA's GPUs, but mi300x-192gb is AMD's" nccl-topology --like mi300x-16x8
mesh 0,2 2,0 | refuse 'capability 7.0 are described as h100-80gb, which has 9.0' nccl-topology \
    $like --strict
# two ports of a device share its lanes, 15.75 GB/s; alone, one has all of its own
port() { echo "<net name='mlx5_$1' dev='$1' speed='100000' port='1'/>"; }
ports() {
    mesh 0,2 2,0 | sed 's#</system>##; s#</cpu>##'
    echo "<pci busid='1' class='0x020700' link_speed='8.0 GT/s PCIe' link_width='16'><nic>" \
        "$@" "</nic></pci></cpu></system>"
}
ports "$(port 0)" "$(port 1)" | node "2 50 2xinfinibandx63.0154" --like v100-16gb-16x8
grep -q 'mlx5_1 of 100 Gb/s gets 63.0154: its device has 15.7538 GB/s' "$work/err" ||
    wrong "shared lanes: $(cat "$work/err")"
ports "$(port 0)" | node "2 50 1xinfinibandx100" --like v100-16gb-16x8
mesh 0,0 0,0 | sed "s/link_speed='[^']*'/link_speed=''/" |
    refuse 'bandwidth between two GPUs is unknown' nccl-topology $like
mesh 0,2 2,0 | sed "s/count='2'/count='two'/" |
    refuse 'line 3: <nvlink>: expected a target and a count' nccl-topology $like
mesh 0,2 2,0 | head -3 | refuse '<gpu> has no end: the file is cut short' nccl-topology $like
mesh 0,2 2,0 | sed 's#</gpu>##' | refuse 'expected </gpu>, found </pci>' nccl-topology $like
mesh 0,2 2,0 | sed 's/system/graphs/' |
    refuse 'found <graphs>.*NCCL_TOPO_DUMP_FILE' nccl-topology $like
echo '{"a": 1}' | refuse 'expected <gpu>' nccl-topology $like
printf '' | refuse 'found none' nccl-topology $like
echo '<system version=1>' | refuse 'expected a value in quotes' nccl-topology $like
echo '<system><net name="a" speed="fast"/></system>' |
    refuse 'speed: expected Mb/s' nccl-topology $like

# ---- mpiGraph: rows of Recv are receivers', of Send senders'; units of 2^20 bytes
python3 - "$work" <<'END'
import random, sys
r = random.Random(1)
n = 5
send, recv = ([[r.uniform(10000, 25000) if i != k else 0 for k in range(n)] for i in range(n)]
              for _ in "ab")
send[1][3] = recv[3][1] = 0
with open(f"{sys.argv[1]}/graph.txt", "w") as f:
    f.write("START mpiGraph v1.5\nMsgSize\t1048576\nTimes\t100\nWindow\t50\nProcs\t%d\n\n" % n)
    for i in range(1, n): f.write("%d of %d (%0.1f%%)\n" % (i, n, 100 * i / n))
    f.write("Gathering results\n")
    for title, word, table in (("Send", "to", send), ("Recv", "from", recv)):
        f.write("\n%s max\t%f\n%s avg\t%f\n\n%s\t" % (title, 1, title, 1, title) +
                "".join(f"node-{k}:{k}\t" for k in range(n)) + "\n")
        for j in range(n):
            f.write(f"node-{j}:{j} {word}\t" + "".join("%0.3f\t" % v for v in table[j]) + "\n")
    f.write("END mpiGraph\n")
END
for table in recv send; do
    "$plumbline" import matrix "$work/graph.txt" --table $table $like -o "$work/$table.json" \
        2>"$work/err" || wrong "mpiGraph: $(cat "$work/err")"
done
"$plumbline" import matrix "$work/graph.txt" $like -o "$work/plain.json" 2>"$work/err" &&
    cmp -s "$work/plain.json" "$work/recv.json" || wrong "Recv is not the default"
grep -q '5 nodes, 19 of 20 links measured' "$work/err" || wrong "not said: $(cat "$work/err")"
python3 - "$work" <<'END' || wrong "links are others than mpiGraph's"
import json, sys
folder = sys.argv[1]
tables, title = {}, None
for line in open(f"{folder}/graph.txt"):
    cells = line.rstrip("\t\n").split("\t")
    if cells[0] in ("Send", "Recv") and len(cells) > 2: title = cells[0]
    elif title and (" to" in cells[0] or " from" in cells[0]):
        rows = tables.setdefault(title, {})
        rows[cells[0].split(":")[0]] = [float(x) for x in cells[1:]]
for name, title in (("recv", "Recv"), ("send", "Send")):
    places = json.load(open(f"{folder}/{name}.json"))["places"]
    nodes = [n["name"] for n in places["nodes"]]
    links = {(l["from"], l["to"]): l["link"]["bytes_per_s"] for l in places.get("links", [])}
    for i, row in enumerate(places.get("matrix", {}).get("bytes_per_s", [])):
        links.update({(nodes[i], nodes[k]): v for k, v in enumerate(row)})
    for i, a in enumerate(nodes):
        for k, b in enumerate(nodes):
            got = links.get((a, b))
            want = (tables["Send"][a][k] if name == "send" else tables["Recv"][b][i]) * 2**20
            assert (got or 0) == 0 if want == 0 else abs(got / want - 1) < 1e-12, (
                name, a, b, got, want)
END
head -20 "$work/graph.txt" >"$work/cut"; refuse 'cut short' matrix --table send $like <"$work/cut"
refuse 'its Recv table' matrix $like <"$work/cut"
sed 's/node-1/node-0/g' "$work/graph.txt" >"$work/twice"
refuse 'node-0 appears twice' matrix $like <"$work/twice"
sed '/node-2:2 from/s/\t[0-9.]*/\tfast/' "$work/graph.txt" >"$work/word"
refuse "column 1: expected a bandwidth, found 'fast'" matrix $like <"$work/word"
sed '/node-2:2 from/s/\t[0-9.]*//' "$work/graph.txt" >"$work/short"
refuse 'expected a row of 5 bandwidths' matrix $like <"$work/short"

# lstopo's XML: links of pairs, or to switches, with their bandwidths; PCIe by common ancestors
lstopo() { # LINES: objects below the machine and what follows them
    printf '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
    printf '<topology version="2.0">\n<object type="Machine" gp_index="1">\n%s</topology>\n' "$1"
}
gpu() { # NUMBER: two names of one device
    printf '<object type="Bridge" bridge_type="1-1" gp_index="6%s">' "$1"
    printf '<object type="PCIDev" gp_index="7%s" pci_type="0302 [10de:1db8]">' "$1"
    printf '<object type="OSDev" gp_index="8%s" name="cuda%s"/>' "$1" "$1"
    printf '<object type="OSDev" gp_index="9%s" name="nvml%s"/></object></object>\n' "$1" "$1"
}
half() { # NUMBER: two GPUs, the first beside a card
    printf '<object type="Package" gp_index="2%s"><object type="NUMANode" gp_index="3%s"/>' $1 $1
    printf '<object type="Bridge" bridge_type="0-1" gp_index="4%s">' "$1"
    printf '<object type="Bridge" bridge_type="1-1" gp_index="5%s">%s' "$1" "$(gpu $1)"
    printf '<object type="Bridge" bridge_type="1-1"><object type="PCIDev" gp_index="77%s">' "$1"
    printf '<object type="OSDev" name="mlx5_%s"/></object></object></object>%s' \
        "$1" "$(gpu $(($1 + 1)))"
    printf '</object></object>\n'
}
four="$(half 0)$(half 2)</object>"
links() { # INDEXES VALUES
    printf '<distances2hetero nbobjs="4" kind="25" name="NVLinkBandwidth">\n'
    printf '<indexes length="1">%s</indexes>\n' "$1"
    for row in $2; do printf '<u64values length="1">%s</u64values>\n' "$row" | tr , ' '; done
    printf '</distances2hetero>\n'
}
shown() { # WORDS: of the table
    "$plumbline" import topo "$work/tree" >"$work/out" 2>"$work/err" || wrong "$(cat "$work/err")"
    tr -s ' ' <"$work/out" | grep -q -- "$1" || wrong "lstopo: not shown: $1: $(cat "$work/out")"
}
rate() { # WORDS: GB/s between two, and rings as GPUs x GB/s
    "$plumbline" import topo "$work/tree" --like v100-32gb-16x8 -o "$work/cluster.json" \
        2>"$work/err" || { wrong "lstopo: $(cat "$work/err")"; return; }
    got=$(python3 - "$work/cluster.json" <<'END'
import json, sys
g = json.load(open(sys.argv[1]))["groups"][0]
print(g["gpus_per_node"], "%g" % (g["intra"]["bytes_per_s"] / 1e9),
      *["%dx%g" % (r["gpus"], r["bytes_per_s"] / 1e9) for r in g.get("rings", [])])
END
)
    [ "$got" = "$1" ] || wrong "lstopo: expected $1, found $got"
}
# before 2018 SYS was called SOC
printf '\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tSOC\t0-15\nGPU1\tSOC\tX\t16-31\n' >"$work/tree"
shown '^SYS 1 '
lstopo "$four" >"$work/tree"
for said in '4 GPUs, 2 NICs' '^PHB 2 ' '^SYS 4 ' 'GPU0 mlx5_0 (PIX)' 'GPU1 mlx5_0 (PHB)' \
    'lstopo does not say of links'; do shown "$said"; done
refuse 'does not say here what links join GPUs' topo --like v100-32gb-16x8 <"$work/tree"
all="OSDev:90 OSDev:91 OSDev:92 OSDev:93"
lstopo "$four$(links "$all PCIDev:99" \
    "9,0,0,0,75000 0,9,0,0,75000 0,0,9,0,75000 0,0,0,9,75000 75000,75000,75000,75000,9")" \
    >"$work/tree"
shown '^NV3 6 '; rate '4 75'
lstopo "$four$(links "$all Package:20" \
    "9,50000,25000,25000,1 50000,9,25000,25000,1 25000,25000,9,50000,1
    25000,25000,50000,9,1 1,1,1,1,9")" \
    >"$work/tree"
# the two rings of four share links, each in both directions
shown "^NV2 2 "; shown "^NV1 4 "; rate "4 25 2x50 2x25 3x50 4x100"
head -8 "$work/tree" >"$work/cut"; refuse 'cut short' topo --like v100-32gb-16x8 <"$work/cut"
# the tree that it prints
cat >"$work/tree" <<'END'
Machine (504GB total)
  Package L#0
    NUMANode L#0 (P#0 252GB)
    L3 L#0 (33MB) + L2 L#0 (1024KB) + L1d L#0 (32KB) + Core L#0 + PU L#0 (P#0)
    HostBridge
      PCIBridge
        PCIBridge
          PCIBridge
            PCI 34:00.0 (3D)
              CoProc(CUDA) "cuda0"
              GPU(NVML) "nvml0"
          PCIBridge
            PCI 35:00.0 (InfiniBand)
              Net "ib0"
              OpenFabrics "mlx5_0"
  Package L#1
    NUMANode L#1 (P#1 252GB)
    HostBridge
      PCIBridge
        PCI b7:00.0 (3D)
          CoProc(CUDA) "cuda1"
END
for said in '2 GPUs, 1 NIC ' '^SYS 1 ' 'GPU0 mlx5_0 (PIX)' 'GPU1 mlx5_0 (SYS)'; do
    shown "$said"; done
refuse 'does not say here what links join GPUs' topo --like v100-32gb-16x8 <"$work/tree"
grep -v CUDA "$work/tree" | sed '/NVML/d' | refuse 'lstopo names no GPU' topo --like v100-32gb-16x8
[ -e "$work/failed" ] && exit 1
echo "import of a topology: all as expected"

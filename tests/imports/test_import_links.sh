#!/bin/sh
# import links and nvbandwidth: samples of links from what tests of two ends print.
name=test_import_links
. tests/imports/import.sh
# links FORMAT WORDS [OPTION ...]: standard input; each link FROM>TO BYTES us
links() {
    format=$1 words=$2; shift 2
    cat >"$work/in"
    "$plumbline" import $format "$work/in" "$@" -o "$work/got.json" 2>"$work/err" ||
        { wrong "$(cat "$work/err")"; return; }
    got=$(python3 - "$work/got.json" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
names = [e["name"] for e in d["endpoints"]]
print(" ".join("%s>%s %d %s" % (names[s["from"]], names[s["to"]], s["dimensions"][0],
                                 ",".join("%.6g" % (t * 1e6) for t in s["seconds"]))
               for s in d["samples"] if s["kind"] == "link"))
END
)
    [ "$got" = "$words" ] || wrong "expected $words, found $got: $(cat "$work/in")"
}
# refused FORMAT WORDS: standard input

# ---- perftest: its MB are 2^20 bytes
perftest() {
    echo "---------------------------------------------------------------------------"
    echo "                    ${2:-RDMA_Write BW Test}"
    echo " Dual-port       : OFF          Device         : mlx5_0"
    echo " Link type       : IB"
    echo " local address: LID 0x02 QPN 0x0032 PSN 0x5f2841"
    echo "---------------------------------------------------------------------------"
    echo " #bytes     #iterations    BW peak[$1]    BW average[$1]   MsgRate[Mpps]"
    echo " 2          5000           4.90           4.88             2.558"
    echo "Conflicting CPU frequency values detected: 2100.000000 != 3700.000000"
    echo " 1048576    5000           11000.00       10000.00         0.01"
    echo " 8388608    5000           0.00           8000.00          0.001"
    echo "---------------------------------------------------------------------------"
}
perftest MB/sec | links links "node-0:0>node-1:0 1048576 100 node-0:0>node-1:0 8388608 1000"
told '1 row below 65536 bytes left out'
perftest Gb/sec | links links \
    "node-0:0>node-1:0 1048576 0.838861 node-0:0>node-1:0 8388608 8.38861"
perftest MB/sec | sed 's/^/1: /; s/#//' | links links \
    "node-0:0>node-0:1 1048576 100 node-0:0>node-0:1 8388608 1000" --inside
perftest MB/sec | sed '/^ 8388608/,$d' | head -c -7 | refused links 'rows of 65536 bytes or more'
perftest MB/sec "RDMA_Write Bidirectional BW Test" | refused links 'test in one direction'
perftest MB/sec | sed '/ 1048576/d; / 8388608/d' | refused links 'rows of 65536 bytes or more'
links links "node-0:0>node-1:0 2 1.5 node-0:0>node-1:0 4096 2.25" <<'END'
                    RDMA_Write Latency Test
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]
 2       1000          1.40           5.33         1.50               1.52           0.07
 4096    1000          2.20           9.00         2.25               2.26           0.10
END

# ---- OSU: its MB are 1e6 bytes
links links "node-0:0>node-1:0 131072 13.1072 node-0:0>node-1:0 1 1.9" <<'END'
# OSU MPI-CUDA Bandwidth Test v7.3
# Size      Bandwidth (MB/s)
1                       0.50
131072              10000.00

# OSU MPI-CUDA Latency Test v7.3
# Size          Latency (us)
1                       1.90
END
printf '# OSU MPI Bandwidth Test\n# Size Bandwidth (MB/s)\n65536 10.00\n131072 1000' |
    links links "node-0:0>node-1:0 65536 6553.6" # the last number is cut off
printf '# OSU MPI Allreduce Latency Test v7\n# Size Avg Latency(us)\n4 2.1\n' |
    refused links 'one direction.*Allreduce'
printf 'nothing here\n' | refused links 'found no header of theirs'

# ---- p2pBandwidthLatencyTest: rows are sources; without the host's copies and both directions
p2p() {
    cat <<'END'
[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]
Device: 0, NVIDIA A100-SXM4-40GB, pciBusID: 7, pciDeviceID: 0, pciDomainID:0
Device=0 CAN Access Peer Device=1
P2P Connectivity Matrix
     D\D     0     1
     0	     1     1
     1	     1     1
Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)
   D\D     0      1
     0 1290.00  10.00
     1  10.00 1290.00
Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)
   D\D     0      1
     0 1290.00 160.00
     1  80.00 1290.00
Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)
   D\D     0      1
     0 1290.00 500.00
     1 500.00 1290.00
P2P=Disabled Latency Matrix (us)
   GPU     0      1
     0   2.40  20.00
     1  20.00   2.40

   CPU     0      1
     0   2.40   7.00
     1   7.00   2.40
P2P=Enabled Latency (P2P Writes) Matrix (us)
   GPU     0      1
     0   2.40   3.00
     1   3.50   2.40

   CPU     0      1
     0   2.40   1.00
     1   1.00   2.40
END
}
p2p | links links "node-0:0>node-0:1 160000000 1000 node-0:1>node-0:0 160000000 2000 \
node-0:0>node-0:1 4 3 node-0:1>node-0:0 4 3.5"
told 'assumed: copies of 160000000 bytes'
grep -q '"gpu": "NVIDIA A100-SXM4-40GB"' "$work/got.json" || wrong "the GPU's name"
p2p | sed 's/^/[1,0]<stdout>: /' | links links "node-0:0>node-0:1 160000000 1000 \
node-0:1>node-0:0 160000000 2000 node-0:0>node-0:1 4 3 node-0:1>node-0:0 4 3.5"
{ p2p; p2p | sed -n '/P2P=Enabled/,$s/Writes/Reads/p' # reads wait, and are no sends
    p2p | sed -n '/P2P=Enabled Lat/,$p' | sed 's/Writes/Reads/; s/3.*00/33.00/'; } |
    links links "node-0:0>node-0:1 160000000 1000 node-0:1>node-0:0 160000000 2000 \
node-0:0>node-0:1 4 3 node-0:1>node-0:0 4 3.5"
p2p | head -15 | head -c -2 | refused links 'has 1 rows: the file is cut off'
printf 'Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n D\\D 0\n 0 540.65\n' |
    refused links 'of one device, which has no link'
p2p | head -14 | refused links 'a matrix of 2 devices has 1 rows: the file is cut off'

# ---- nvbandwidth as printed, 512 MiB
printed() {
    cat <<'END'
nvbandwidth Version: v0.8
Built from Git version: v0.8

CUDA Runtime Version: 12080
CUDA Driver Version: 12080
Driver Version: 570.86.10

node-1
Device 0: NVIDIA H100 80GB HBM3 (00000000:18:00)
Device 1: NVIDIA H100 80GB HBM3 (00000000:2A:00)

Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     53.69     53.69

SUM host_to_device_memcpy_ce 107.38

Running device_to_device_memcpy_write_ce.
memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)
           0         1
 0       N/A    268.44
 1    536.87       N/A

SUM device_to_device_memcpy_write_ce 805.31

Running device_to_device_bidirectional_memcpy_read_ce.
memcpy CE GPU(row) <-> GPU(column) Read1 bandwidth (GB/s)
           0         1
 0       N/A    400.00
 1    400.00       N/A
END
}
want="host:1>host:0 536870912 1999.97 host:0>host:1 536870912 1000" # rows are destinations
printed | links nvbandwidth "$want"
grep -q '"operation": "host to device, pinned"' "$work/got.json" || wrong "no transfers"
grep -q '"gpu": "NVIDIA H100 80GB HBM3"' "$work/got.json" || wrong "the GPU's name"
grep -q '"driver": "570.86.10"' "$work/got.json" || wrong "the driver"
printed | sed 's/^/0: /; s/$/\r/' | links nvbandwidth "$want"
printed | sed '/^Running/d' | links nvbandwidth "$want" # as posted; the last has no sum
# cut off: whole rows are read, and of the last one no number that may be cut itself
printed | sed '/^ 1    536/,$d' | links nvbandwidth "host:1>host:0 536870912 1999.97"
told '1 table is cut off: the whole rows are read'
printed | sed '/^ 1    536/,$d' | head -c -2 | links nvbandwidth ""
told '1 test did not pass'
{ printed | sed '/^ 1    536/,$d'; echo 'Running device_to_device_memcpy_read_ce.'
    printed | sed -n '/(row) <- /,/^ 1 /p'; } | links nvbandwidth "$want" # another is whole
printed | sed -n '/(row) <- /,/^ 1 /p' | refused nvbandwidth 'does not name its test: expected'
printed | sed 's/GB.s/MB\/s/' | refused nvbandwidth 'expected a table of (GB/s), found'
p2p | sed 's/(GB.s)/(MB\/s)/' | refused links 'expected (GB/s), found (MB/s)'
p2p | sed 's/(us)/(ns)/' | refused links 'expected (us), found (ns)'
printf '# OSU MPI Bandwidth Test\n# Size Bandwidth (GB/s)\n131072 10.00\n' |
    refused links 'expected (MB/s), found (GB/s)'
printed | head -12 | refused nvbandwidth 'expected host_to_device_memcpy_ce'
printf 'nvbandwidth Version: v0.2\n\nWaiving device_to_device_memcpy_write_ce.\n' |
    refused nvbandwidth 'one-way test of the copy engines that passed, found none'
printf 'nothing\n' | refused nvbandwidth 'found no line "Running'

# ---- iperf: all streams, at the receiver, the whole of a test
iperf() { printf '[ ID] Interval Transfer Bitrate\n[  5] 0.00-1.00 sec 11.0 GBytes 94 Gbits/sec\n'
    printf '[ ID] Interval Transfer Bitrate Retr\n'; printf "$@"; }
iperf '[ 5] 0.0-9.9 sec 99 GBytes 9 Gbits/sec 0 sender\n[ 5] 0.00-10.04 sec 110 GBytes %b' \
    '93 Gbits/sec receiver\n' | links links "node-0:0>node-1:0 118111600640 1.004e+07"
told "messages between hosts get what iperf's TCP does"
stream=' 0-10 sec 1.0 GBytes 1 Gbits/sec receiver\n'
iperf "[ 5]$stream"'[SUM] 0.0-10.0 sec 2.0 GBytes 2 Gbits/sec receiver\n' |
    links links "node-0:0>node-1:0 2147483648 1e+07"
iperf "[ 5]$stream[ 7]$stream" | refused links 'expected the row \[SUM\] of 2 streams'

[ ! -e "$work/failed" ] && echo "import of links: all as printed"

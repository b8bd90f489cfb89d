#!/bin/sh
# Measurements as people post them: what launchers, log collectors and Markdown put before lines, or
# take from them, changes nothing that is read.
name=test_posted
. tests/imports/import.sh
# samples FILE: operation, ranks, sizes and seconds of what was made
samples() {
    python3 - "$1" <<'END'
import json, sys
for s in json.load(open(sys.argv[1]))["samples"]:
    print(s.get("operation"), s.get("dimensions"), s.get("seconds"), len(s.get("members", [])))
END
}
# same WHAT [OPTION ...]: standard input means what the program printed
same() {
    what=$1; shift
    cat >"$work/all_of_it.txt"
    "$plumbline" import nccl-tests "$work/all_of_it.txt" "$@" -o "$work/got.json" \
        2>"$work/err" || { wrong "$what: $(cat "$work/err")"; return; }
    samples "$work/got.json" | cmp -s - "$work/want" || wrong "$what: other samples"
}

# table BUS [REDOP [TYPE]]: of four ranks on two nodes, busbw = BUS x algbw
table() {
    echo "# nThread 1 nGpus 1 minBytes 1024 maxBytes 67108864 step: 2(factor) warmup iters: 5"
    echo "#"
    echo "# Using devices"
    for rank in 0 1 2 3; do
        printf '#  Rank  %d Group  0 Pid   91%02d on   node-%d device  %d [0x1b] NVIDIA H100\n' \
            $rank $rank $((rank / 2)) $((rank % 2))
    done
    echo "#"
    echo "#       size  count  type  redop  root  time  algbw  busbw #wrong" \
        " time  algbw  busbw #wrong"
    echo "#        (B)  (elements)  (us)  (GB/s)  (GB/s)  (us)  (GB/s)  (GB/s)"
    awk -v bus="$1" -v redop="${2:-sum}" -v type="${3:-float}" 'BEGIN {
        for (size = 1024; size <= 67108864; size *= size < 1048576 ? 1024 : 64) {
            us = 20 + size / 2e4
            side = sprintf("%8.1f %7.2f %7.2f ", us, size / us / 1e3, size / us / 1e3 * bus)
            printf "%12d %12d %9s %7s -1 %s 0 %s N/A\n", size, size / 4, type, redop, side, side
        }
    }'
    echo "# Out of bounds values : 0 OK"
    echo "# Avg bus bandwidth    : 12.5"
}

table 1.5 >"$work/printed.txt"
"$plumbline" import nccl-tests "$work/printed.txt" -o "$work/want.json" 2>"$work/err" ||
    wrong "$(cat "$work/err")"
told 'all_reduce, by busbw / algbw'
samples "$work/want.json" >"$work/want"
[ "$(wc -l <"$work/want")" -eq 3 ] || wrong "three sizes were printed"

table 1.5 | sed 's/^/[1,0]<stdout>:/' | same "mpirun --tag-output"
table 1.5 | sed 's/^/[1,0]<stdout>: /' | same "mpirun --tag-output, a blank"
table 1.5 | sed 's/^/ 0: /' | same "srun -l"
table 1.5 | sed 's/^/0: /' | same "srun -l"
table 1.5 | sed 's/^/nid001.hsn.cm.x.gov 0: /' | same "mpiexec -l"
table 1.5 | sed 's/^/2025-01-31T12:00:00.123456789Z /' | same "kubectl logs --timestamps"
table 1.5 | sed 's#^#[pod/nccl-launcher-x7/main] #' | same "kubectl logs --prefix"
table 1.5 | sed 's/^/nccl-1  | /' | same "compose"
table 1.5 | sed 's/^/Jan 31 12:00:00 node-1 run[812]: /' | same "syslog"
table 1.5 | sed 's/^/> /' | same "quoted"
table 1.5 | sed 's/^#//' | same "Markdown took the marks"
table 1.5 | sed 's/^# */# /; s/#wrong/wrong/g' | same "a mark less"
table 1.5 | sed 's/^/    * /' | same "a list"
table 1.5 | { echo '# Results'; echo '```'; cat; echo '```'; echo 'Good, is it?'; } |
    same "a fence"
table 1.5 | sed 's/$/\r/' | same "lines end with CR LF"
table 1.5 | sed "s/^/$(printf '\033[0;32m')/; s/\$/$(printf '\033[0m')/" | same "colours"
table 1.5 | sed '4i node-1:9100:9100 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>' |
    same "NCCL_DEBUG"

table 1.5 | sed 's/on   node-0/on NODE A/; s/on   node-1/on  NODE B /' | same "names with blanks"

# the collective: its command, its end, busbw / algbw, the file's name
table 1.5 | { echo '$ mpirun -np 4 ./build/all_reduce_perf -b 1K -e 64M'; cat; } | same "a command"
told '3 samples'
table 1.5 | { echo '+ srun -N 2 /opt/broadcast_perf -b 8'; cat; } |
    refused nccl-tests 'found "/opt/broadcast_perf"'
table 1.5 | { echo '+ all_gather_perf -b 8'; cat; } | \
    refused nccl-tests 'busbw / algbw is 1.5, but 0.75'
table 0.75 | { cat; echo '# Collective test concluded: reduce_scatter_perf'; } >"$work/rs.txt"
"$plumbline" import nccl-tests "$work/rs.txt" -o "$work/rs.json" 2>"$work/err" &&
    samples "$work/rs.json" | grep "^reduce_scatter" >"$work/out" || wrong "reduce_scatter"
table 0.75 | refused nccl-tests 'busbw / algbw is 0.75, but 1' --operation send_recv
table 0.75 none | refused nccl-tests 'does not name its collective: give --operation'
table 0.75 none >"$work/alltoall-2-nodes.log"
"$plumbline" import nccl-tests "$work/alltoall-2-nodes.log" -o "$work/a2a.json" 2>"$work/err" ||
    wrong "by the file's name: $(cat "$work/err")"
told "assumed: the collective is all_to_all, by the file's name"
table 1 | refused nccl-tests 'give --operation'
table 1.5 sum double | same "other types" # by their bytes
told 'assumed: rows of double take'

# cut off, or without its ranks
table 1.5 | grep -v Avg | same "no last line"
told 'line 14: 1 test is cut off'
table 1.5 | sed '/67108864 /s/ -1 .*/ -1node-1: Test NCCL failure common.cu:1005/; /Avg/d; /Out/d' \
    >"$work/fail.txt"
"$plumbline" import nccl-tests "$work/fail.txt" -o "$work/fail.json" 2>"$work/err" ||
    wrong "an error broke in: $(cat "$work/err")"
samples "$work/fail.json" | cmp -s - "$work/want" && wrong "the broken row was read"
[ "$(samples "$work/fail.json" | wc -l)" -eq 2 ] || wrong "two rows were complete"
told 'cut off; what was printed by then is read'
table 1.5 | sed '/67108864 /s/ -1 .*/ -1/' | \
    refused nccl-tests 'line 13: expected 13 columns, .* found 5'
table 0.75 none | sed '/Rank/d' | refused nccl-tests 'found none: give --ranks N'
table 1.5 | sed '/Rank/d' | same "ranks as told" --ranks 4 --gpus-per-node 2
table 1.5 | sed '/Rank *[12] /d' | same "a cut list of ranks" --ranks 4 --gpus-per-node 2
table 1.5 | sed '/Rank *[12] /d' | refused nccl-tests 'the list of ranks is cut off, give --ranks N'
# documents leave ranks out, and go on behind the test
table 1.5 | sed 's/node-1 device  0/node-0 device  2/; s/node-1 device  1/node-0 device  3/
    /Rank *[12] /d; $aCollective test concluded: all_reduce_perf' |
    { cat; echo '356 GB/s of bus bandwidth at 8 GiB, 8 7 6 5 is what we saw'; } | same "an outline"
told 'assumed: ranks that the list leaves out are on the devices between'
table 1.5 | sed '/Rank/d; s/nGpus 1/nGpus 4/' | same "one process"
told 'assumed: 4 ranks, 4 on each node, by the GPUs of one process'
table 0.75 none | sed '/Rank/d; s/nGpus 1/nGpus 8/' | refused nccl-tests 'give --ranks N'
# ranks by the command before them, or by the bandwidths
listless() { # WORDS ...: a table without its ranks behind these lines
    printf '%s\n' "$@"
    table 1.5 | sed '/Rank/d; /nThread/d'
}
listless 'srun -N 2 \' '    --ntasks-per-node=2 --label \' '  -- all_reduce_perf -b 1K -g 1' |
    same "srun's words on several lines"
told 'assumed: 4 ranks, 2 on each node, by the command before them'
for words in '$ mpirun -np 4 -npernode 2 -x NCCL_DEBUG=WARN ./build/all_reduce_perf -b 1K -g 1' \
    'mpirun -n 4 --map-by ppr:2:node all_reduce_perf -e 64M' \
    '/opt/bin/mpirun -np 4 -H one:2,two:2 all_reduce_perf -e 64M' \
    'mpirun -np 2 --host one,two ./all_reduce_perf -b 1K --ngpus 2' \
    'srun -n4 -N2 ./all_reduce_perf -b 8' \
    'mpirun -np 2 -N 1 ./all_reduce_perf -b 1K -g 2'; do
    listless "$words" | same "$words"
    told 'assumed: 4 ranks, 2 on each node, by the command'
done
for words in 'mpirun -np 4 all_reduce_perf -b 8' './all_reduce_perf -b 8 -g 4'; do
    listless "$words" >"$work/in.txt"
    "$plumbline" import nccl-tests "$work/in.txt" -o "$work/no.json" 2>"$work/err"
    told 'assumed: 4 ranks, 4 on each node, by the command'
done
for words in 'mpirun -np 4 --hostfile hosts all_reduce_perf -b 8' 'srun -n 8 all_reduce_perf -b 8' \
    'nothing of it'; do
    listless "$words" |
        refused nccl-tests 'of 4 ranks, by .*, on unknown nodes: give --gpus-per-node'
    listless "$words" | same "$words" --gpus-per-node 2
done
{ table 1.5; table 1.75; } | sed '/Rank/d' | refused nccl-tests \
    'that of an all_reduce over 8 ranks, not of 4: choose a test with --test N' --ranks 4
{ table 1.5; table 1.75; } | sed '/Rank/d' | same "the first of two" --test 1 --gpus-per-node 2
told 'does not name its collective: all_reduce, by busbw'
# rows alone; a launcher's tag before each part of a line; a redop that older releases leave empty
table 1.5 | grep '^ *[0-9]' | same "rows alone" --ranks 4 --gpus-per-node 2
told 'assumed: .*as no header is in the file'
table 1.5 | grep '^ *[0-9]' | sed 's/^/   [1,0]<stdout>: /' |
    same "rows behind tags" --ranks 4 --gpus-per-node 2
table 1.5 | grep '^ *[0-9]' | sed 's/^/1 2 3 a b c d e f /' | refused nccl-tests 'found no line'
table 1.5 | grep '^ *[0-9]' | sed 's/ [0-9.]* *[0-9.]* *0 .*/ 1.00 1.50 0 9.0 1.00 1.50 0/' |
    refused nccl-tests 'found no line "# nThread ..."' --ranks 4
table 1.5 | sed 's/^/[1,0]<stdout>:/; /float/s/ -1 / -1[1,0]<stdout>: /' | same "a tag in a row"
table 0.75 | sed '/float/s/ sum -1 / /; s/redop  root/redop/' >"$work/alltoall.log"
"$plumbline" import nccl-tests "$work/alltoall.log" -o "$work/a2a.json" 2>"$work/err" &&
    samples "$work/a2a.json" | grep -c "^all_to_all" | grep -q 3 ||
    wrong "an empty redop: $(cat "$work/err")"
# several tests of a file: repetitions, or of other conditions, of which one is chosen
slower() { # TIMES: a table whose times are so many times as long
    table 1.5 | awk -v by="$1" '$1 ~ /^[0-9]+$/ && $3 == "float" {
        for (i = 6; i <= 10; i += 4) {$i *= by; $(i + 1) /= by; $(i + 2) /= by}} {print}'
}
{ table 1.5; slower 1.5; } >"$work/two.txt"
"$plumbline" import nccl-tests "$work/two.txt" -o "$work/two.json" 2>"$work/err" ||
    wrong "repetitions: $(cat "$work/err")"
told '3 samples of collectives, 6 repetitions'
{ table 1.5; slower 2.5; } | refused nccl-tests 'other conditions are no repetitions.*--test N'
{ slower 2.5; table 1.5; } | same "the second test" --test 2
{ table 1.5; slower 2.5; } | same "the first test" --test 1
{ table 1.5; slower 2.5; } | refused nccl-tests 'test 3: there are 2' --test 3
{ echo '# Collective test starting: broadcast_perf'; table 1; echo '# Collective test starting: x'
    table 1.5; } >"$work/other.txt"
refused nccl-tests 'found "broadcast_perf"' <"$work/other.txt"
sed 's/starting: x/starting: all_reduce_perf/' "$work/other.txt" | same "a test of ours" --test 2

# a header with units; rows of what is out of place alone; a root, whatever the rows would fit
table 1.5 | sed '/size/s/size/size(B)/; /size/s/time/time(us)/g; /size/s/algbw/algbw(GB\/s)/g' |
    same "units in the header"
table 1.5 | sed '/float/s/\( sum *-1 *[0-9.]* *[0-9.]* *[0-9.]* *0\) .*/\1/' | same "one half"
table 1.5 | sed '/float/s/\( sum *-1 *[0-9.]* *[0-9.]* *[0-9.]* *0\) .*/\1/' |
    refused nccl-tests 'expected 13 columns' --in-place
table 1 | sed 's/ -1 / 0 /' | refused nccl-tests 'root 0: a reduce, broadcast' --operation send_recv

printf 'nothing\n' | refused nccl-tests 'found no line "# nThread ..."'

[ ! -e "$work/failed" ] && echo "measurements as posted: all as printed"

#!/bin/sh
# Known links: four hosts made of network namespaces, each ordered pair with a rate and a delay that
# tc holds, one of the links unlike in its two directions. What is measured is held against what
# happened to each message (tests/links/judge.c), on an idle machine and on a busy one alike; how
# near it is to what was set is told, and judged on links that are played
# (tests/measure/test_links_played.c).
set -u
name=test_known_links
. tests/links/begin.sh

why=$(why_no_hosts "$folder")
if [ -n "$why" ]; then
    echo "skipped: known links: $why"
    exit $failures
fi
#      to 1    2     3     4
rates="   0   60   120   240
         60    0   240    60
        120  240     0   240
        240   60    60     0"
delays="   0  3000  6000 12000
        3000     0  3000  6000
        6000  3000     0  3000
       12000  6000 12000     0"
hosts_make "$folder" "$rates" "$delays" 2> "$folder/err" ||
    { complain "the hosts cannot be made"; exit 1; }
echo "delays by $(cat "$folder/delay_by")"
mpicc -shared -fPIC -O2 -o "$folder/witness.so" tests/links/witness.c 2> "$folder/err" ||
    complain "tests/links/witness.c does not compile"
${CC:-cc} -std=c11 -O2 -o "$folder/judge" tests/links/judge.c -lm 2> "$folder/err" ||
    complain "tests/links/judge.c does not compile"
# Real time, so that other work on this machine delays little; what is judged does not depend on it.
first=; chrt -r 1 true 2> /dev/null && first="chrt -r 1"
agent=$root/tests/links/agent.sh
# known HOSTS CLOCKS: measures the links between them, the first of which is started from, and has
# what is found judged.
known() {
    addresses=$(for k in $1; do printf ',10.77.0.%s' "$k"; done)
    rm -f "$folder"/witness.[0-9]*
    timeout $patience_s "$agent" "10.77.0.${1%% *}" "$first mpirun -n $(echo "$1" | wc -w) \
        --host ${addresses#,} --bind-to none \
        -x LD_PRELOAD=$folder/witness.so -x PLUMBLINE_WITNESS=$folder/witness \
        --mca plm rsh --mca plm_rsh_agent $agent --mca oob_tcp_if_include eth0 \
        --mca btl tcp,self --mca btl_tcp_if_include eth0 \
        $measure links --factor 512 --largest 1048576 --alone 0 --exclusive --wait asleep \
        --budget-s 60 --width 10 -o $folder/known.json" \
        > "$folder/out" 2> "$folder/err" < /dev/null ||
        { complain "known links: mpirun ended with exit code $?"; return; }
    cat "$folder/err"
    record=$(hosts_record) || { complain "the relay has ended"; return; }
    "$folder/judge" "$folder/known.json" "$folder/err" "$folder/witness" "$record" "$2" "$1" \
        "$rates" "$delays" $((2 * burst)) ||
        { echo "FAILED: known links between hosts $1"; failures=$((failures + 1)); }
}
known "1 2 3 4" shared
# Hosts that do not share a clock: rates still belong to their direction, delays become half of
# there and back.
if unshare -f -T --monotonic 1000 true 2> /dev/null; then PLUMBLINE_CLOCKS=own known "3 4" own
else echo "skipped: links between hosts with clocks of their own: no time namespaces"
fi
[ $failures = 0 ] || exit 1

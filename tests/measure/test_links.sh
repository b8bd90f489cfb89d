#!/bin/sh
# Links and collectives under mpirun: first on this host alone (documents, exit codes, planted corruption), then known
# links: four hosts made of network namespaces, each ordered pair with a rate and a delay that tc holds, one of the links
# unlike in its two directions. What is measured is held against what happened to each message
# (tests/links/judge.c), on an idle machine and on a busy one alike; how near it is to what was set
# is told, and judged on links that are played (tests/measure/test_links_played.c).
set -u
root=$(pwd)
case ${BIN:=bin} in /*) ;; *) BIN=$root/$BIN ;; esac
measure=$BIN/plumbline-measure
folder=$root/build/test_links.$$
failures=0
patience_s=900      # only what hangs takes longer
. tests/links/hosts.sh
rm -rf "$folder" && mkdir -p "$folder" || exit 1
trap 'hosts_remove; rm -rf "$folder"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# The library keeps what it took until the end of the process.
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0

complain() { echo "FAILED: $*"; sed 's/^/    /' "$folder/err" | tail -20; failures=$((failures + 1)); }

if [ ! -x "$measure-mpi" ]; then
    "$measure" links > "$folder/out" 2> "$folder/err"
    [ $? = 2 ] && grep -q "no MPI" "$folder/err" || complain "without MPI: expected exit code 2 and why"
    echo "skipped: links: built without MPI"
    exit $failures
fi
command -v mpirun > /dev/null || { echo "skipped: links: no mpirun"; exit 0; }
mpirun --version 2> /dev/null | grep -q 'Open MPI' || { echo "skipped: links: mpirun is not Open MPI's, whose options are used here"; exit 0; }

# gives CODE RANKS ARGUMENT ...: on this host; stdout and stderr stay in out and err.
gives() {
    expected=$1 ranks=$2; shift 2
    timeout $patience_s mpirun --oversubscribe --bind-to none ${preload:+-x LD_PRELOAD=$preload} \
        -n "$ranks" "$measure" "$@" > "$folder/out" 2> "$folder/err" < /dev/null
    code=$?
    [ $code = "$expected" ] || complain "mpirun -n $ranks plumbline-measure $*: expected exit code $expected, found $code"
}
says() { grep -qE -- "$1" "$folder/err" || complain "'$1' is not in what it says"; }
count() { grep -c "$1" "$2"; }

# ---- one host
preload=
gives 0 3 links --largest 65536 --factor 16 --budget-s 0.1 -o "$folder/three.json"
[ "$(count '"kind": "link"' "$folder/three.json")" = 30 ] || complain "three ranks: expected 6 links at 5 lengths"
[ "$(count '"alone": true' "$folder/three.json")" = "$(count '"kind": "link"' "$folder/three.json")" ] ||
    complain "three ranks: one pair at a time is alone"
gives 0 4 links --largest 4096 --factor 64 --alone 2 --budget-s 0.1 -o "$folder/four.json"
[ "$(count '"alone": true' "$folder/four.json")" = 6 ] || complain "four ranks: expected two pairs alone at 3 lengths"
gives 0 4 collectives 0,1 2-3 all --largest 4096 --factor 64 --budget-s 0.1 -o "$folder/collectives.json"
# three groups, of which all meets the others: never at once. 5 collectives, lengths 4 256 4096
[ "$(count '"kind": "collective"' "$folder/collectives.json")" = 45 ] || complain "collectives: expected 3 groups x 5 x 3"
gives 0 4 collectives 0,2 1,3 --smallest 1000 --largest 1000 --budget-s 0.1 -o "$folder/halves.json"
[ "$(count '"alone": false' "$folder/halves.json")" = 10 ] || complain "groups without a common rank: expected both at once as well"
if python3 -c 'import jsonschema' 2> /dev/null; then
    python3 tests/check_schemas.py good "$folder/three.json" "$folder/four.json" "$folder/collectives.json" "$folder/halves.json" \
        > "$folder/err" 2>&1 || complain "the documents do not follow their schema"
fi
gives 2 2 links --smallest 8 --largest 4
gives 2 2 collectives 0,5
says "0,5: expected all, hosts, across or ranks below 2"
gives 2 2 links -o "$folder/none/x.json"
"$measure" links > "$folder/out" 2> "$folder/err"
[ $? = 2 ] || complain "one process: expected exit code 2"
says "there is only one: start it by mpirun"

# ---- planted: a byte changes on its way
if mpicc -shared -fPIC -o "$folder/corrupt.so" tests/links/corrupt.c 2> "$folder/err"; then
    preload=$folder/corrupt.so
    gives 1 3 links --largest 4096 --factor 64 --budget-s 0.1 -o "$folder/corrupt.json"
    says "data sent from .*:[02] to .*:1 arrived changed: byte 4093 of 4096"
    gives 1 3 collectives 0,2 --smallest 400 --largest 400 --budget-s 0.1 --wait busy -o "$folder/corrupt.json"
    says "all_reduce at .*:[02]: value 99 of 100 is"
    [ ! -e "$folder/corrupt.json" ] || complain "a document was written in spite of corrupted data"
    preload=
else complain "tests/links/corrupt.c does not compile"
fi

# ---- known links
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
hosts_make "$folder" "$rates" "$delays" 2> "$folder/err" || { complain "the hosts cannot be made"; exit 1; }
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
        --mca plm rsh --mca plm_rsh_agent $agent --mca oob_tcp_if_include eth0 --mca btl tcp,self --mca btl_tcp_if_include eth0 \
        $measure links --factor 512 --largest 1048576 --alone 0 --wait asleep --budget-s 60 --width 10 \
        -o $folder/known.json" > "$folder/out" 2> "$folder/err" < /dev/null ||
        { complain "known links: mpirun ended with exit code $?"; return; }
    cat "$folder/err"
    record=$(hosts_record) || { complain "the relay has ended"; return; }
    "$folder/judge" "$folder/known.json" "$folder/err" "$folder/witness" "$record" "$2" "$1" \
        "$rates" "$delays" $((2 * burst)) ||
        { echo "FAILED: known links between hosts $1"; failures=$((failures + 1)); }
}
known "1 2 3 4" shared
# Hosts that do not share a clock: rates still belong to their direction, delays become half of there and back.
if unshare -f -T --monotonic 1000 true 2> /dev/null; then PLUMBLINE_CLOCKS=own known "3 4" own
else echo "skipped: links between hosts with clocks of their own: no time namespaces"
fi
[ $failures = 0 ] || exit 1

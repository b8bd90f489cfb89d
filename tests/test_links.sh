#!/bin/sh
# Links and collectives under mpirun: first on this host alone (documents, exit codes, planted corruption), then known
# links: four hosts made of network namespaces, each ordered pair with a rate and a delay that tc holds, one of the links
# unlike in its two directions. The measured matrix must have every rate within 5 % and every delay within 15 %, and the
# report must name that link and no other.
set -u
root=$(pwd)
case ${BIN:=bin} in /*) ;; *) BIN=$root/$BIN ;; esac
measure=$BIN/plumbline-measure
folder=$root/build/test_links.$$
failures=0
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
    timeout 100 mpirun --oversubscribe --bind-to none ${preload:+-x LD_PRELOAD=$preload} -n "$ranks" "$measure" "$@" \
        > "$folder/out" 2> "$folder/err" < /dev/null
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
# Whatever else runs here must not decide when a message is taken: the ranks sleep most of the time, and run when they wake.
first=; chrt -r 1 true 2> /dev/null && first="chrt -r 1"
agent=$root/tests/links/agent.sh
# known HOSTS: measures the links between them, the first of which is started from.
known() {
    addresses=$(for k in $1; do printf ',10.77.0.%s' "$k"; done)
    timeout 200 "$agent" "10.77.0.${1%% *}" "$first mpirun -n $(echo "$1" | wc -w) --host ${addresses#,} --bind-to none \
        --mca plm rsh --mca plm_rsh_agent $agent --mca oob_tcp_if_include eth0 --mca btl tcp,self --mca btl_tcp_if_include eth0 \
        $measure links --factor 512 --largest 1048576 --alone 1 --wait asleep --budget-s 1 -o $folder/known.json" \
        > "$folder/out" 2> "$folder/err" < /dev/null || complain "known links: mpirun ended with exit code $?"
    cat "$folder/err"
}
known "1 2 3 4"

# row MATRIX FROM TO: an entry of the report's matrix "rates" or "delays".
measured() {
    sed -n "/^$1 in/,/^plumb-4/p" "$folder/err" | awk -v from="plumb-$2" -v to="plumb-$3" '
        NR == 2 { for (i = 1; i <= NF; i++) if ($i == to) column = i + 1 }
        NR > 2 && $1 == from { print $column }'
}
within() { awk -v found="$1" -v true="$2" -v share="$3" 'BEGIN { exit !(found > 0 && found >= true * (1 - share) && found <= true * (1 + share)) }'; }
for k in 1 2 3 4; do
    for j in 1 2 3 4; do
        [ $j = $k ] && continue
        rate=$(measured rates $k $j) delay=$(measured delays $k $j)
        true_rate=$(awk -v mbit="$(entry "$rates" $k $j)" 'BEGIN { print mbit / 8e3 }')
        within "$rate" "$true_rate" 0.05 || complain "rate from host $k to $j: $rate GB/s, set to $true_rate"
        within "$delay" "$(entry "$delays" $k $j)" 0.15 || complain "delay from host $k to $j: $delay us, set to $(entry "$delays" $k $j)"
    done
done
named=$(sed -n 's/^asymmetric: \(plumb-. -> plumb-.\) .*/\1/p' "$folder/err" | sort -u)
[ "$named" = "plumb-3 -> plumb-4" ] || complain "expected plumb-3 -> plumb-4 to be named asymmetric, found '$named'"
[ "$(count '^asymmetric: ' "$folder/err")" = 2 ] || complain "expected both the rate and the delay of it"
[ "$(count '^slow: ' "$folder/err")" = 5 ] || complain "expected the five directions with a quarter of the best rate to be named slow"

# Hosts that do not share a clock: rates still belong to their direction, delays become half of there and back.
if unshare -f -T --monotonic 1000 true 2> /dev/null; then
    PLUMBLINE_CLOCKS=own known "3 4"
    within "$(measured rates 3 4)" 0.03 0.05 && within "$(measured rates 4 3)" 0.0075 0.05 || complain "own clocks: rates are not 0.03 and 0.0075"
    within "$(measured delays 3 4)" 7500 0.15 && within "$(measured delays 4 3)" 7500 0.15 || complain "own clocks: delays are not half of 3 + 12 ms"
    says "half of there and back"
    [ "$(count '^asymmetric: ' "$folder/err")" = 1 ] || complain "own clocks: expected the rates alone to be named"
else echo "skipped: links between hosts with clocks of their own: no time namespaces"
fi
[ $failures = 0 ] || exit 1

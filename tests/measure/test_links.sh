#!/bin/sh
# Links and collectives under mpirun, on this host alone: documents, exit codes, planted corruption.
# Links that are known: tests/measure/test_known_links.sh.
set -u
name=test_links
. tests/links/begin.sh

# gives CODE RANKS ARGUMENT ...: on this host; stdout and stderr stay in out and err.
gives() {
    expected=$1 ranks=$2; shift 2
    timeout $patience_s mpirun --oversubscribe --bind-to none ${preload:+-x LD_PRELOAD=$preload} \
        -n "$ranks" "$measure" "$@" > "$folder/out" 2> "$folder/err" < /dev/null
    code=$?
    [ $code = "$expected" ] ||
        complain "mpirun -n $ranks plumbline-measure $*: expected exit code $expected, found $code"
}
says() { grep -qE -- "$1" "$folder/err" || complain "'$1' is not in what it says"; }
count() { grep -c "$1" "$2"; }

# ---- one host
preload=
gives 0 3 links --largest 65536 --factor 16 --budget-s 0.1 -o "$folder/three.json"
[ "$(count '"kind": "link"' "$folder/three.json")" = 30 ] ||
    complain "three ranks: expected 6 links at 5 lengths"
[ "$(count '"alone": true' "$folder/three.json")" \
    = "$(count '"kind": "link"' "$folder/three.json")" ] ||
    complain "three ranks: one pair at a time is alone"
gives 0 4 links --largest 4096 --factor 64 --alone 2 --budget-s 0.1 -o "$folder/four.json"
[ "$(count '"alone": true' "$folder/four.json")" = 6 ] ||
    complain "four ranks: expected two pairs alone at 3 lengths"
gives 0 4 collectives 0,1 2-3 all --largest 4096 --factor 64 --budget-s 0.1 \
    -o "$folder/collectives.json"
# three groups, of which all meets the others: never at once. 5 collectives, lengths 4 256 4096
[ "$(count '"kind": "collective"' "$folder/collectives.json")" = 45 ] ||
    complain "collectives: expected 3 groups x 5 x 3"
gives 0 4 collectives 0,2 1,3 --smallest 1000 --largest 1000 --budget-s 0.1 -o "$folder/halves.json"
[ "$(count '"alone": false' "$folder/halves.json")" = 10 ] ||
    complain "groups without a common rank: expected both at once as well"
if python3 -c 'import jsonschema' 2> /dev/null; then
    python3 tests/check_schemas.py good "$folder/three.json" "$folder/four.json" \
        "$folder/collectives.json" "$folder/halves.json" \
        > "$folder/err" 2>&1 || complain "the documents do not follow their schema"
fi
# what a process takes that sends messages: more than one that only computes
"$measure" memory --largest-mib 1 --budget-s 0.1 --threads 1 --quiet --name core \
    -o "$folder/memory.json" 2> "$folder/err"
if grep -q ' avx2 ' /proc/cpuinfo && grep '"library"' "$folder/memory.json" | grep -q Prescott; then
    complain "the kernels are those of 2004: $(grep '"library"' "$folder/memory.json")"
fi
constant() { "$BIN/plumbline" calibrate --name core "$folder/memory.json" ${1:-} 2> "$folder/err" |
    sed -n 's/.*"constant_bytes": {"value": \([0-9]*\).*/\1/p'; }
alone=$(constant) sends=$(sed -n 's/.*"process_bytes", "values": \[\([0-9]*\).*/\1/p' \
    "$folder/three.json")
together=$(constant "$folder/three.json")
[ "${sends:-0}" -gt "${alone:-0}" ] && [ "${together:-0}" -ge "$sends" ] &&
    [ "$together" -lt $((sends + alone)) ] ||
    complain "the process: $alone alone, $sends with messages, $together in the costs"
gives 2 2 links --smallest 8 --largest 4
gives 2 2 collectives 0,5
says "0,5: expected all, hosts, across or ranks below 2"
gives 2 2 links -o "$folder/none/x.json"
"$measure" links > "$folder/out" 2> "$folder/err"
[ $? = 2 ] || complain "one process: expected exit code 2"
says "there is only one: start it with mpirun"

# ---- planted: a byte changes on its way
if mpicc -shared -fPIC -o "$folder/corrupt.so" tests/links/corrupt.c 2> "$folder/err"; then
    preload=$folder/corrupt.so
    gives 1 3 links --largest 4096 --factor 64 --budget-s 0.1 -o "$folder/corrupt.json"
    says "data sent from .*:[02] to .*:1 arrived changed: byte 4093 of 4096"
    gives 1 3 collectives 0,2 --smallest 400 --largest 400 --budget-s 0.1 --wait busy \
        -o "$folder/corrupt.json"
    says "all_reduce at .*:[02]: value 99 of 100 is"
    [ ! -e "$folder/corrupt.json" ] || complain "a document was written in spite of corrupted data"
    preload=
else complain "tests/links/corrupt.c does not compile"
fi
[ $failures = 0 ] || exit 1

#!/bin/sh
# Links and collectives between devices: measure/links/nccl.c under mpirun on devices made of the
# CPU's memory and an NCCL of pipes (tests/cuda/nccl/fake_nccl.c). Order of calls, data, names of
# endpoints, planted corruption, too few devices.
set -u
measure=${LOGS:-build/release/tests}/cuda/measure-nccl
folder=build/test_nccl.$$
failures=0
FAKE_NCCL=
[ -x "$measure" ] || { echo "skipped: NCCL: built without CUDA, NCCL or MPI"; exit 0; }
command -v mpirun > /dev/null || { echo "skipped: NCCL: no mpirun"; exit 0; }
mpirun --version 2> /dev/null | grep -q 'Open MPI' ||
    { echo "skipped: NCCL: mpirun is not Open MPI's, whose options are used here"; exit 0; }
mkdir -p "$folder" || exit 1
trap 'rm -rf "$folder" "$FAKE_NCCL"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export ASAN_OPTIONS=detect_leaks=0
FAKE_NCCL=$(mktemp -d) || exit 1        # its pipes: another run of this test has others
export FAKE_NCCL

complain() { echo "FAILED: $*"; sed 's/^/    /' "$folder/err" | tail -20
    failures=$((failures + 1)); }
gives() {       # gives CODE RANKS ARGUMENT ...
    expected=$1 ranks=$2; shift 2
    timeout 900 mpirun --oversubscribe --bind-to none -n "$ranks" "$measure" "$@" \
        > "$folder/out" 2> "$folder/err" < /dev/null
    code=$?
    [ $code = "$expected" ] ||
        complain "mpirun -n $ranks $*: expected exit code $expected, found $code"
}
says() { grep -qE -- "$1" "$folder/err" || complain "'$1' is not in what it says"; }
count() { grep -c "$1" "$2"; }

gives 0 3 links --nccl --largest 16384 --factor 64 --budget-s 0.1 -o "$folder/links.json"
[ "$(count '"kind": "link"' "$folder/links.json")" = 24 ] ||
    complain "three devices: expected 6 links at 4 lengths"
grep -q '"name": "[^"]*:0000:02:00.0"' "$folder/links.json" ||
    complain "the third endpoint is not named after its device"
grep -q '"device": 2' "$folder/links.json" ||
    complain "the third endpoint has no number of its device"
grep -q '"library": "NCCL 2.28.9 over ' "$folder/links.json" || complain "the library is not named"
grep -q '"before": "same"' "$folder/links.json" || complain "links: what ran before is not stated"
# A rank whose gate gives up would time its own launches, here a second: all of them repeat.
FAKE_LATE=3 gives 0 3 links --nccl --largest 16384 --factor 64 --budget-s 0.1 \
    -o "$folder/late.json"
python3 - "$folder/links.json" "$folder/late.json" > "$folder/err" 2>&1 << 'EOF' ||
import json, sys
most = [max(max(s["seconds"]) for s in json.load(open(p))["samples"]) for p in sys.argv[1:]]
assert most[0] < 0.9 and most[1] < 0.9, most
EOF
    complain "a late rank's launches were timed"
gives 0 4 collectives 0,1 2-3 all 1-3 --nccl --cold --in-a-row 3 --largest 4096 --factor 64 \
    --budget-s 0.1 -o "$folder/cold.json"
[ "$(count '"before": "rest"' "$folder/cold.json")" = 60 ] ||
    complain "cold collectives: expected 4 groups x 5 x 3 lengths"
grep -q '"in_a_row": 3' "$folder/cold.json" || complain "how many in a row is not stated"
gives 2 2 links --cold -o "$folder/bad.json"
says "--cold.*--nccl"
gives 0 4 collectives 0,1 2-3 all --nccl --largest 4096 --factor 64 --budget-s 0.1 \
    -o "$folder/collectives.json"
[ "$(count '"kind": "collective"' "$folder/collectives.json")" = 45 ] ||
    complain "collectives: expected 3 groups x 5 x 3 lengths"
if python3 -c 'import jsonschema' 2> /dev/null; then
    python3 tests/check_schemas.py good "$folder/links.json" "$folder/collectives.json" \
        > "$folder/err" 2>&1 ||
        complain "the documents do not follow their schema"
fi
FAKE_CORRUPT=6 gives 1 2 links --nccl --smallest 256 --largest 256 --budget-s 20 \
    -o "$folder/bad.json"
says "arrived changed"
FAKE_DEVICES=2 gives 2 3 links --nccl -o "$folder/bad.json"
says "3 ranks and 2 CUDA devices"
FAKE_DEVICES=0 gives 2 2 links --nccl -o "$folder/bad.json"
says "no CUDA device"
[ $failures = 0 ] && echo "links and collectives between devices: as they should be"
exit $failures

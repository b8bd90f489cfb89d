#!/bin/sh
# make sizes finds each limit exceeded: planted alone in a small tree, it must be named.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
tree=$root/build/test_sizes.$$
failures=0
rm -rf "$tree" && mkdir -p "$tree/solve" "$tree/tests" || exit 1
trap 'rm -rf "$tree"' EXIT

# sizes WHAT EXPECTED: what is planted is named, and taken out again.
sizes() {
    sh "$root/tests/sizes.sh" "$tree" > "$tree/tests/said" 2>&1 &&
        { echo "FAILED: $1: not found"; failures=$((failures + 1)); }
    [ "$(cat "$tree/tests/said")" = "sizes: $2" ] ||
        { echo "FAILED: $1: $(cat "$tree/tests/said")"; failures=$((failures + 1)); }
    rm -f "$tree"/solve/* "$tree/tests/said"
    printf '// A file.\nint f(void)\n{\n}\n' > "$tree/solve/a.c"
}
lines() { yes '// A line.' | head -n "$1"; }

lines 501 > "$tree/solve/a.h"
sizes "501 lines" "solve/a.h: 501 lines; at most 500"
lines 600 > "$tree/tests/a.h"
for i in $(seq 30); do echo > "$tree/solve/$i"; done
sizes "31 files" "solve: 31 files; at most 30"
lines 601 > "$tree/tests/a.h"
sizes "a test of 601 lines" "tests/a.h: 601 lines; at most 600"
rm "$tree/tests/a.h"
{ lines 1; printf '// %098d\n' 0; } > "$tree/solve/a.h"
sizes "101 columns" "solve/a.h:2: 101 columns; at most 100"
echo 'int x;' > "$tree/solve/b.c"
sizes "no first line" "solve/b.c: its first line does not say what it is"
{ lines 1; echo 'int g(void)'; echo '{'; lines 13; echo '}'; } > "$tree/solve/a.c"
sizes "long functions" "the median function has 13 lines; at most 12"
sh "$root/tests/sizes.sh" "$tree" 2> "$tree/said" ||
    { echo "FAILED: nothing is planted: $(cat "$tree/said")"; failures=1; }
[ $failures = 0 ] && echo "each limit of size is held"
exit $failures

#!/bin/sh
# How many objects a change of the table of schedules compiles again, from what the compiler wrote
# down about includes (the .d files beside the objects): at most 35 in 100, of the programs' objects
# and of all that there are.
set -u
cd "$(dirname "$0")/.." || exit 1
objects=$(dirname "${LOGS:-build/release/tests}")
failures=0
complain() { echo "FAILED: $*"; failures=$((failures + 1)); }

# share HEADER PATTERN: "users objects percent", of the objects whose source matches PATTERN.
share() {
    find "$objects" -name '*.d' | sed "s|^$objects/\(.*\)\.d\$|\1.c|" | grep -E "$2" |
        while read -r source; do [ -f "$source" ] && echo "$objects/${source%.c}.d"; done |
        xargs awk -v header="$1" '
            FNR == 1 { count++; found = 0 }
            !found { for (i = 1; i <= NF; i++) if ($i == header) { users++; found = 1; break } }
            END { printf "%d %d %d\n", users, count, count ? 100 * users / count + 0.999 : 0 }'
}

# holds WHOSE PATTERN
holds() {
    set -- "$1" $(share data/kinds/schedules.h "$2")
    echo "data/kinds/schedules.h: $2 of $3 objects of $1, $4 %"
    [ "$3" -ge 300 ] || complain "$1 has $3 objects only: not built?"
    [ "$2" -ge 10 ] || complain "$1: $2 objects include the table, which cannot be all"
    [ "$4" -le 35 ] || complain "$1: a change compiles $4 % again, at most 35 % expected"
}
holds "the programs" '^(data|measure|calibrate|formulate|solve|library|plumbline)'
holds "programs and tests" .
# The count is not blind: the header of jobs is one that most include.
set -- $(share data/inputs/job.h .)
[ "$3" -gt 35 ] || complain "data/inputs/job.h: $1 of $2 objects, expected more"
[ $failures = 0 ] || exit 1

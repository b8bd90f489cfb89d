#!/bin/sh
# Control characters, line separators and marks of direction in the texts of documents, in words of
# the command line and in foreign files: refused in one line, exit code 2.
name=test_plain_text
. tests/script.sh

gives 0 example mixed -o problem
gives 0 solve problem/problem.json -o problem/plan.json --quiet --gap 0.5
if command -v python3 > /dev/null; then
    python3 "$root/tests/data/plain_text.py" "$plumbline" problem > out 2> err ||
        complain "texts with control characters"
fi
line='
'
answers 2 'command line: expected plain text, found a control character U+000A' \
    solve "problem/problem.json$line"
answers 2 'control character U+000A' example gpt "--model=gpt2-xl$line#"
answers 2 'direction mark U+202E' report problem/plan.json -o "$(printf 'x\342\200\256')"
answers 2 'byte that is not UTF-8, 0xE9' price problem/problem.json -o "$(printf 'caf\351')"
mkdir "in$line" && cd "in$line" || exit 1
answers 2 'current folder: expected plain text' price ../problem/problem.json -o x.json
cd "$here" || exit 1

# Names that importers find are written to documents, or the file is refused and none is written.
printf 'node\033[1m1 slots=8\nno\177de2 slots=8\n' > hosts
answers 2 'hosts: line 2: expected names of nodes' import hostfile hosts --like h100-128x8 \
    -o cluster.json
[ ! -e cluster.json ] || complain "a document that cannot be read was written"
ended

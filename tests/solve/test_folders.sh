#!/bin/sh
# Where a problem or a plan is expected, the folder of its problem.json or plan.json will do, in
# every command, with the same answer.
BIN=${BIN:-bin} work=build/test_folders.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "folders: $*" >&2; failed=1; }

# same COMMAND ...: as printed, and with folders for the two files
same() {
    "$plumbline" "$@" >"$work/file" 2>"$work/log" || wrong "$*: exit $?: $(cat "$work/log")"
    set -- $(printf '%s\n' "$@" |
        sed 's,/problem\.json$,,; s,/plan\.json$,,; s,/plan\.layouts\.json$,,')
    "$plumbline" "$@" >"$work/folder" 2>"$work/log" || wrong "$*: exit $?: $(cat "$work/log")"
    [ -s "$work/file" ] || wrong "$*: nothing is said"
    # How long it took, and by what name a plan was given.
    for said in file folder; do sed '/^  took  /d; /^  what  /d' "$work/$said" |
        tr -s ' ' >"$work/$said.plain"; done
    cmp -s "$work/file.plain" "$work/folder.plain" ||
        wrong "$*: $(diff "$work/file.plain" "$work/folder.plain" | head -4)"
}

for name in a b; do
    batch=64 && [ $name = b ] && batch=128
    "$plumbline" example gpt --model gpt2-xl --gpu a100-80gb --nodes 1 --layouts degrees \
        --global-batch $batch -o "$work/$name" >"$work/log" &&
        "$plumbline" solve "$work/$name" -o "$work/$name/plan.json" \
        --certificate "$work/$name/proof.json" --gap 0.01 --quiet 2>"$work/log" ||
        wrong "$name: $(cat "$work/log")"
done
same check "$work/a/proof.json" "$work/a/problem.json"
same verify "$work/a/plan.json" --problem "$work/a/problem.json"
same report "$work/a/plan.json" --problem "$work/a/problem.json"
same report --format csv "$work/a/plan.json" "$work/b/plan.json"
same report --layouts "$work/a/plan.layouts.json"
same compare "$work/a/plan.json" "$work/b/plan.json"
"$plumbline" example gpt --model gpt2-xl --gpu a100-80gb --nodes 1 --tensor 1 --pipeline 2 \
    -o "$work/c" >"$work/log"
same predict "$work/c/problem.json"
same price "$work/c/problem.json"
"$plumbline" solve "$work/b" --start "$work/a" -o "$work/d.json" --quiet 2>"$work/log" ||
    wrong "solve --start: $(cat "$work/log")"
exit $failed

#!/bin/sh
# plumbline solve --resume, --part, --share, --join as commands: a search that is cut short, also in
# the middle of pricing, goes on to the same answer; parts that share a folder come to it together,
# and their certificates join to one that check accepts; what was made from other documents, by
# another version, or is false, is refused in one line.
BIN=${BIN:-bin} work=build/test_resume.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "FAILED: resume: $*" >&2; failed=1; }
solve() { "$plumbline" solve "$work/a/problem.json" --quiet "$@" 2>"$work/log"; }
field() { sed -n "s/^  \"$2\": \"*\([^\",]*\)\"*,*\$/\1/p" "$work/$1.json" | head -1; }
same() { # FILE: as good as the whole search's plan
    for key in outcome iteration_ns bound_ns; do
        [ "$(field "$1" $key)" = "$(field whole $key)" ] ||
            wrong "$1: $key $(field "$1" $key), whole: $(field whole $key)"
    done
}
refuse() { # WORDS, options
    words=$1; shift
    solve "$@"
    [ $? -eq 2 ] || wrong "$*: not refused"
    [ "$(wc -l <"$work/log")" -eq 1 ] || wrong "$*: not one line: $(cat "$work/log")"
    grep -q -- "$words" "$work/log" || wrong "$*: not said: $words: $(cat "$work/log")"
}

"$plumbline" example gpt --model llama-3.2-1b --gpu h100-80gb --nodes 1 --global-batch 64 \
    --layouts all --framework deepspeed --quiet -o "$work/a" || exit 1
solve -o "$work/whole.json" || wrong "whole: $(cat "$work/log")"

# cut short: before, in the middle of pricing, later
for limit in 0.001 0.05 0.2; do
    solve -o "$work/cut.json" --time-limit-s "$limit"
    code=$?
    [ $code -eq 0 ] || [ $code -ge 10 ] ||
        wrong "--time-limit-s $limit: exit code $code: $(cat "$work/log")"
    solve -o "$work/on.json" --resume "$work/cut.json" || wrong "from $limit s: $(cat "$work/log")"
    same on
    mv "$work/on.json" "$work/cut.json" # what goes on, may go on
done
solve -o "$work/cut.json" --resume "$work/whole.json" || wrong "from the end: $(cat "$work/log")"
same cut

# in parts
mkdir "$work/share"
for i in 1 2 3; do
    solve -o "$work/part$i.json" --part $i/3 --share "$work/share" \
        --certificate "$work/part$i.c.json" ||
        wrong "part $i: $(cat "$work/log")"
    [ "$(field "part$i" bound_ns)" = 0 ] || wrong "part $i states a bound on the whole"
done
[ "$(ls "$work/share" | wc -l)" -ge 1 ] || wrong "nothing was shared"
parts="--resume $work/part1.json --resume $work/part2.json --resume $work/part3.json"
# shellcheck disable=SC2086
solve -o "$work/joined.json" $parts --certificate "$work/joined.c.json" \
    --join "$work/part1.c.json" --join "$work/part2.c.json" \
    --join "$work/part3.c.json" || wrong "joined: $(cat "$work/log")"
same joined
"$plumbline" check "$work/joined.c.json" "$work/a/problem.json" >"$work/out" 2>&1 ||
    wrong "check: $(cat "$work/out")"
grep -q "no plan of any layout takes less: $(field whole iteration_ns) ns" "$work/out" ||
    wrong "check: $(cat "$work/out")"
"$plumbline" check "$work/part1.c.json" "$work/a/problem.json" >"$work/out" 2>&1
[ $? -eq 2 ] || wrong "a part's certificate alone is no certificate: $(cat "$work/out")"

# one layout
"$plumbline" example gpt --model gpt2-xl --gpu h100-80gb --nodes 1 --tensor 1 --pipeline 8 \
    --quiet -o "$work/one" || exit 1
one() { "$plumbline" solve "$work/one/problem.json" --quiet "$@" 2>"$work/log"; }
one -o "$work/whole.json" || wrong "one layout: $(cat "$work/log")"
boxes=$(grep -o '[0-9]* boxes' "$work/log") # of both searches together, then
one -o "$work/on.json" --resume "$work/whole.json" || wrong "one layout: $(cat "$work/log")"
same on
[ "$(grep -o '[0-9]* boxes' "$work/log")" = "$boxes" ] ||
    wrong "what was proven is proven again: $(cat "$work/log")"

# bad input
refuse 'was not made from' -o "$work/x.json" --resume "$work/whole.json"
refuse '--part: expected I/N' -o "$work/x.json" --part 4/3
refuse '--part: expected I/N' -o "$work/x.json" --part 1/3x
refuse '--share: requires --part' -o "$work/x.json" --share "$work/share"
refuse 'expected an existing folder' -o "$work/x.json" --part 1/3 --share "$work/none"
refuse '--join: requires --certificate' -o "$work/x.json" --join "$work/part1.c.json"
refuse 'kind: expected' -o "$work/x.json" --resume "$work/part1.json" \
    --certificate "$work/x.c.json" --join "$work/joined.c.json"
refuse 'combined with --start' -o "$work/x.json" --resume "$work/part1.json" \
    --start "$work/part1.json"
cp "$work/part1.json" "$work/alone.json"
refuse 'alone.layouts.json' -o "$work/x.json" --resume "$work/alone.json"
for file in part1 part1.layouts; do
    cp "$work/$file.json" "$work/kept"
    sed -i 's/"made_by": "plumbline [^"]*"/"made_by": "plumbline 0.0.1"/' "$work/$file.json"
    refuse 'expected it made by plumbline' -o "$work/x.json" --resume "$work/part1.json"
    cp "$work/kept" "$work/$file.json"
done
sed 's/"iteration_ns": \([0-9]*\),/"iteration_ns": 1,/' "$work/part1.json" >"$work/alone.json"
cp "$work/part1.layouts.json" "$work/alone.layouts.json"
refuse 'alone.json' -o "$work/x.json" --resume "$work/alone.json"
cp "$work/part1.json" "$work/alone.json"
sed -e 's/"iteration_ns": [0-9]*,/"iteration_ns": 9,/' -e 's/"bound_ns": [0-9]*,/"bound_ns": 9,/' \
    "$work/part1.layouts.json" >"$work/alone.layouts.json"
refuse 'alone.layouts.json: iteration_ns: expected' -o "$work/x.json" --resume "$work/alone.json"
sed -i 's/"global_batch": [0-9]*/"global_batch": 512/' "$work/a/job.json"
refuse 'was not made from' -o "$work/x.json" --resume "$work/part1.json"
[ ! -e "$work/x.json" ] || wrong "a refused command left a plan"

exit $failed

#!/bin/sh
# A space of layouts has a plan before its layouts are priced, and a signal at any time keeps it:
# the plan is the judge's too, its bound holds for what the whole search finds, and what is not
# proven is said. No time is judged: signals follow what the program says.
set -u
case ${BIN:=bin} in /*) plumbline=$BIN/plumbline ;; *) plumbline=$(pwd)/$BIN/plumbline ;; esac
root=$(pwd)
here=$root/build/test_first_plan.$$
failures=0
rm -rf "$here" && mkdir -p "$here" && cd "$here" || exit 1
trap 'cd "$root"; rm -rf "$here"' EXIT

complain() { echo "FAILED: $*"; sed 's/^/    /' log 2> /dev/null | head -8
    failures=$((failures + 1)); }

# The number behind a key of a document.
number() { sed -n "s/^ *\"$2\": \\([0-9]*\\),*\$/\\1/p" "$1" | head -1; }

# What the lines of the log say while the search goes on: later, no plan is worse, no bound is
# lower, and the answer has the last ones or better ones.
told() { # PLAN
    awk -v best="$(number "$1" iteration_ns)" -v proven="$(number "$1" bound_ns)" '
    function of(word) {
        if (!match($0, word " [0-9.]+ s")) return 0
        return int(substr($0, RSTART + length(word) + 1) * 1e9 + 0.5)
    }
    /^ *[0-9.]+ s  (plan|no plan)/ {
        lines++
        plan = of("plan"); bound = of("bound")
        if ($1 + 0 < seconds || (last && plan > last) || bound < floor) wrong = $0
        seconds = $1 + 0
        if (plan) { plans++; last = plan }
        if (bound) { bounds++; floor = bound }
    }
    END {
        if (last < best) wrong = "a plan of " last ", which is lost"
        if (floor > proven) wrong = "a bound of " floor ", which is lost"
        if (wrong) print "progress: " wrong
        if (lines < 2 || !plans || (proven && ended && !bounds)) print "progress: too few lines"
    }' ended="${2:-0}" log > told 2>&1
    [ ! -s told ] || complain "$1: $(cat told)"
}

"$plumbline" example gpt --model gpt2-xl --gpus 16 --layouts all --framework any --global-batch 64 \
    --sequence 1024 -o space > /dev/null || complain "example"
"$plumbline" solve space/problem.json --gap 0.05 --progress --layouts whole.layouts.json \
    -o whole.json 2> log || complain "the whole search: $?"
best=$(number whole.json iteration_ns)
told whole.json 1

# The order of work: a plan first, then the scan, then a bound.
plan_line=$(grep -n "  plan .*a first plan" log | head -1 | cut -d: -f1)
scan_line=$(grep -n "groups of layouts are bounded, then" log | head -1 | cut -d: -f1)
[ -n "$plan_line" ] && [ -n "$scan_line" ] && [ "$plan_line" -lt "$scan_line" ] ||
    complain "no plan before the scan"

# interrupted SIGNAL TEXT: the signal goes out with the first line that has the text.
interrupted() {
    rm -f lines plan.json plan.layouts.json
    mkfifo lines
    "$plumbline" solve space/problem.json --gap 0 --progress -o plan.json 2> lines & process=$!
    : > log
    sent=0 # once: another one asks to end at once, and a third ends without a plan
    while read -r line; do
        echo "$line" >> log
        case $sent$line in 0*"$2"*) kill -s "$1" $process 2> /dev/null; sent=1 ;; esac
    done < lines
    wait $process
    code=$?
    [ $code = 0 ] || [ $code = 10 ] || { complain "$1 at '$2': exit code $code"; return; }
    "$plumbline" verify plan.json > verdict 2>> log ||
        complain "$1 at '$2': the judge rejects the plan"
    bound=$(number plan.json bound_ns)
    [ "$bound" -le "$best" ] || complain "$1 at '$2': bound $bound above a plan's time, $best"
    [ "$(number plan.json iteration_ns)" -ge "$(number whole.json bound_ns)" ] ||
        complain "$1 at '$2': a plan below the whole search's bound"
    [ "$bound" != 0 ] || grep -q "no bound: the search ended" log ||
        complain "$1 at '$2': a bound of 0 goes unexplained"
    [ -s plan.layouts.json ] || complain "$1 at '$2': no fates"
    told plan.json
}
for signal in INT TERM; do
    interrupted $signal "  plan "
    interrupted $signal "groups of layouts are bounded, then"
    interrupted $signal "in line"
done

# ---- the user's own layout: solved first, so that the answer is never worse
"$plumbline" example gpt --model gpt2-xl --gpus 16 --framework any --global-batch 64 \
    --sequence 1024 --tensor 1 --pipeline 4 -o own > /dev/null || complain "example"
"$plumbline" solve own/problem.json --quiet -o own.json || complain "the own layout"
for known in own/problem.json own.json; do
    "$plumbline" solve space/problem.json --gap 0.9 --quiet --known $known -o known.json 2> log ||
        complain "--known $known: $?"
    grep -q "its layout has a plan of" log || complain "--known $known: nothing is said of it"
    [ "$(number known.json iteration_ns)" -le "$(number own.json iteration_ns)" ] ||
        complain "--known $known: a worse plan"
    "$plumbline" verify known.json > /dev/null || complain "--known $known: not accepted"
done
# A plan that has no room in the problem: its layout is solved anew.
"$plumbline" example gpt --model llama-3.1-8b --cluster a100-16x8 --gpus 16 --layouts degrees \
    -o narrow > /dev/null 2>&1 &&
    "$plumbline" solve narrow/problem.json --gap 0.05 --quiet -o wide.json 2> log &&
    sed 's/"memory_fraction": [0-9.]*/"memory_fraction": 0.7/' narrow/job.json > job.json &&
    mv job.json narrow/job.json &&
    "$plumbline" solve narrow/problem.json --gap 0.4 --quiet --known wide.json -o no-room.json \
        2> log || complain "a known plan without room: $(cat log)"
grep -q "its layout has a plan of" log || complain "a known plan without room: $(cat log)"
refused() { words=$1; shift
    "$plumbline" "$@" -o no.json > /dev/null 2> log && complain "$*: taken"
    grep -q -- "$words" log || complain "$*: '$words' is not said"; }
sed 's/"data": 4/"data": 2/' own/job.json > job.json && mv job.json own/job.json
refused "its layout is not in the job's space" solve space/problem.json --known own/problem.json
refused "expected a job with one layout, found a space" solve space/problem.json \
    --known space/problem.json
refused "--known: expected a job with a space" solve own/problem.json --known own.json

[ $failures = 0 ] && echo "test_first_plan: ok"
exit $((failures > 0))

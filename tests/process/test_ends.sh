#!/bin/sh
# The ends of searches that the user sees: signals at any moment of the first tenth of a second end
# in a documented exit code; a search that hangs is ended from outside, with its best plan; no
# temporary file and no process stays behind. Linux: it looks into /proc. Nothing depends on how
# long something takes.
name=test_ends
. tests/script.sh
[ -r /proc/self/status ] || { echo "$name: skipped, there is no /proc"; exit 0; }

"$plumbline" example gpt --layouts all -o space --quiet || exit 1
"$plumbline" example chain -o chain --quiet || exit 1
"$plumbline" example clusters -o places --quiet || exit 1

is_program() { [ "$(readlink "/proc/$1/exe")" = "$(readlink -f "$plumbline")" ]; }

# begin ARGUMENT ...: in the background, until the program takes signals (SIGTERM is the last that
# it asks for); $process.
begin() {
    "$plumbline" "$@" > result 2> log < /dev/null &
    process=$!
    until is_program $process && grep -q 'SigCgt:.*[4567cdef]...$' "/proc/$process/status"; do
        kill -0 $process 2> /dev/null || break
    done 2> /dev/null
}

# The processes that belong to this test.
ours() {
    for at in $(grep -lsz -- "$here" /proc/[0-9]*/cmdline | tr -dc '0-9\n'); do
        is_program "$at" && echo "$at"
    done
}

left_behind() {
    tries=0
    while [ -n "$(ours)" ] && [ $tries -lt 300 ]; do sleep 0.1; tries=$((tries + 1)); done
    [ -z "$(ours)" ] || complain "$*: still runs: $(ours | tr '\n' ' ')"
    [ -z "$(find . -name '*.tmp-*')" ] || complain "$*: leaves $(find . -name '*.tmp-*')"
}

# ---- signals

seed=7
random() { seed=$(((seed * 1103515245 + 12345) % 2147483648)); random=$((seed / 65536 % $1)); }

for i in $(seq 30); do
    for problem in space chain places; do
        random 3; [ $random = 0 ] && signal=INT || signal=TERM
        random 100
        begin solve "$here/$problem/problem.json" -o "$here/plan.json" --quiet
        sleep "0.0$(printf %02d $random)"
        kill -$signal $process 2> /dev/null
        wait $process; code=$?
        case $code in
        0 | 10 | 11 | 12) ;;
        *) complain "solve $problem, SIG$signal, delay $random: exit code $code" ;;
        esac
        [ $code != 10 ] || gives 0 verify plan.json
    done
    [ $i -lt 4 ] || [ "${1:-}" = long ] || break
done
left_behind "after signals"

# ---- a search that hangs: its process is suspended

# hang LINE ARGUMENT ...: waits for the line in its log, then suspends its child; $process, $child.
hang() {
    line=$1; shift
    begin "$@"
    until grep -q -- "$line" log; do kill -0 $process 2> /dev/null || break; done
    child=$(tr ' ' '\n' < "/proc/$process/task/$process/children" | head -1)
    [ -n "$child" ] && kill -STOP "$child"
}

hang 'a first plan' solve "$here/space/problem.json" -o "$here/hung.json" --progress \
    --certificate "$here/certificate.json"
kill -INT $process; sleep 0.2; kill -INT $process # the second does not wait
wait $process; code=$?
[ $code = 10 ] || complain "a hanging search, two signals: exit code $code"
answers 0 accepted verify hung.json
[ ! -e certificate.json ] || complain "a lost search has a certificate"
grep -q 'what it had reported' log ||
    complain "a lost search is not told"
left_behind "a hanging search"

hang 'a first plan' solve "$here/space/problem.json" -o "$here/hung.json" --progress \
    --time-limit-s 5
wait $process; code=$?
[ $code = 10 ] || complain "a hanging search at its limit: exit code $code"
answers 0 accepted verify hung.json
left_behind "a hanging search at its limit"

# ---- its supervisor is killed

hang 'a first plan' solve "$here/space/problem.json" -o "$here/killed.json" --progress
kill -KILL $process
wait $process 2> /dev/null
left_behind "a killed supervisor"
[ ! -e killed.json ] || complain "a killed search has a plan"

ended

#!/bin/sh
# plumbline batch: killed with SIGKILL at random moments and begun again it ends with what an
# uninterrupted batch has; a result that is there is whole, and stays as it is; two batches on one
# folder share; a full disk and a read-only folder are told, and nothing is lost. usage:
# test_batch.sh [INSTANCES [KILLS]]; make test-batch asks for 200 and 10
set -u
instances=${1:-24} kills=${2:-4}
root=$(cd "$(dirname "$0")/../.." && pwd)
case ${BIN:=bin} in /*) plumbline=$BIN/plumbline ;; *) plumbline=$root/$BIN/plumbline ;; esac
here=$root/build/test_batch.$$
failures=0 mounted=
rm -rf "$here" && mkdir -p "$here" && cd "$here" || exit 1
trap '[ -z "$mounted" ] || umount "$mounted"; cd "$root"; rm -rf "$here"' EXIT
complain() { echo "FAILED: $*"; sed 's/^/    /' "$here/err" | tail -5; failures=$((failures + 1)); }
gives() {       # gives CODE ARGUMENT ...
    expected=$1; shift
    "$plumbline" batch "$@" > "$here/out" 2> "$here/err" < /dev/null
    code=$?
    [ $code = "$expected" ] || complain "batch $*: expected exit code $expected, found $code"
}
refuses() {     # refuses TEXT ARGUMENT ...
    text=$1; shift
    gives 2 "$@"
    [ "$(wc -l < err)" = 1 ] || complain "batch $*: expected one line on stderr"
    grep -qF -- "$text" err || complain "batch $*: '$text' is not in what it says"
}
ids() { sed 's/^{"id": "\([0-9a-f]*\)".*/\1/' "$1/instances.jsonl"; }

# What an instance came to, times aside.
answer() { grep -v '"seconds"' "$1/plan.json"; cat "$1/certificate.json"
    grep -v '_s"\|memory_bytes' "$1/status.json"; }
answers() { for id in $(ids "$1"); do echo "$id"; answer "$1/$id/result"; done; }

# Every result that can be seen is whole; cksum of all of them.
whole() {       # whole FOLDER
    for result in "$1"/*/result; do
        [ -d "$result" ] || continue
        for file in plan.json certificate.json certificate.priced.json verdict.json status.json \
            log; do
            [ -s "$result/$file" ] || complain "$result has no $file"
        done
        said=$(sed -n 's/.*"certificate_sha256": "\([0-9a-f]*\)".*/\1/p' "$result/status.json")
        [ "$(sha256sum < "$result/certificate.json" | cut -d' ' -f1)" = "$said" ] ||
            complain "$result: another certificate"
        "$plumbline" verify "$result/plan.json" > /dev/null 2>&1 ||
            complain "$result: its plan is rejected"
    done
    find "$1" -path '*/result/*' -type f -exec cksum {} + | sort
}

"$plumbline" example chain --layers 16 --stages 4 --micro-batches 8 -o chain > /dev/null || exit 1
batches=$(seq -s, 1 "$instances")
echo "{\"problem\": \"chain/problem.json\", \"name\": \"c\", \"options\": {\"gap\": 0}}" \
    > small.jsonl
echo "{\"sweep\": {\"problem\": \"chain/problem.json\", \"job.global_batch\": [$batches]}}" \
    > m.jsonl

# ---- uninterrupted, then again: nothing is left to do
gives 0 run m.jsonl -o plain --jobs 2
grep -q "^$instances instances: $instances done, 0 failed$" out ||
    complain "what it says: $(cat out)"
[ "$(grep -c ' done ' plain/journal)" = "$instances" ] ||
    complain "the journal does not have each instance once"
whole plain > before
gives 0 run m.jsonl -o plain --jobs 2
grep -q "($instances of them before)" out || complain "again: $(cat out)"
whole plain | cmp -s - before || complain "again: results have changed"
gives 0 status plain
[ "$(grep -c ' done .*global_batch [0-9]*: optimal$' out)" = "$instances" ] ||
    complain "status: $(head -3 out)"
answers plain > expected

# ---- killed: the batch alone, or all of its processes, and begun again
killed=0
: > seen
while [ $killed -lt "$kills" ]; do
    setsid "$plumbline" batch run m.jsonl -o killed --jobs 2 > out 2> err < /dev/null &
    batch=$!
    sleep "$(awk -v n="$killed$$" -v most="$instances" \
        'BEGIN { srand(n); print 0.05 + rand() * most / 60 }')"
    others=$(ps -o pid= -s "$batch")
    if [ $((killed % 2)) = 0 ]; then kill -9 "$batch" 2> /dev/null
    else kill -9 $others 2> /dev/null; fi
    wait "$batch" 2> /dev/null
    killed=$((killed + 1))
    whole killed > now
    # What was safe before is there, as it was.
    comm -23 seen now | grep . && complain "a result has changed or gone"
    cp now seen
done
gives 0 run m.jsonl -o killed --jobs 2
whole killed > now
comm -23 seen now | grep . && complain "a result has changed or gone"
answers killed | cmp -s - expected || complain "killed and begun again: other answers"
awk '$2 == "begun" && done[$3] { print "begun after it was done: " $3; bad = 1 }
     $2 == "done" { done[$3]++ }
     END { for (id in done) if (done[id] > 1) { print "done twice: " id; bad = 1 } exit bad }' \
         killed/journal || complain "the journal"
[ "$(ls -d killed/*/attempt killed/*/draft 2> /dev/null | wc -l)" = 0 ] ||
    complain "something is left behind: $(ls -d killed/*/attempt killed/*/draft)"

# ---- told to stop: ends with 30, and goes on
"$plumbline" batch run m.jsonl -o stopped --jobs 2 --quiet > out 2> err < /dev/null &
batch=$!
until [ -s stopped/journal ]; do sleep 0.02; done
kill -TERM "$batch"
wait "$batch"
code=$?
[ $code = 30 ] || complain "SIGTERM: exit code $code"
gives 0 run m.jsonl -o stopped --jobs 2
answers stopped | cmp -s - expected || complain "stopped and begun again: other answers"

# ---- two at once
"$plumbline" batch run m.jsonl -o shared --jobs 1 > other.out 2> other.err < /dev/null &
batch=$!
gives 0 run m.jsonl -o shared --jobs 1
wait "$batch" || complain "two at once: the other ends with $?: $(cat other.err)"
answers shared | cmp -s - expected || complain "two at once: other answers"
for word in begun done; do
    [ "$(awk -v word=$word '$2 == word { print $3 }' shared/journal | sort | uniq -d | wc -l)" = 0 \
        ] || complain "two at once: $word twice"
done

# ---- another list while one is at work is refused; afterwards it is taken, and nothing is solved
# again
mkfifo hold
{ exec 9< hold; "$plumbline" batch one plain --id "$(ids plain | head -1)" > /dev/null 2>&1; } &
( exec 8<> plain/lock; flock -s 8; echo > hold
"$plumbline" batch run small.jsonl -o plain > out 2> err; echo $? > code )
[ "$(cat code)" = 2 ] && grep -q "another batch is running here" err ||
    complain "another list: $(cat code err)"
wait
gives 0 run small.jsonl -o plain
grep -q '^1 instances: 1 done, 0 failed$' out || complain "another list: $(cat out)"
gives 0 run m.jsonl -o plain
grep -q "($instances of them before)" out || complain "the first list again: $(cat out)"

# ---- an instance that fails is told, kept apart, and tried again
gives 0 lines small.jsonl -o failing
id=$(ids failing)
[ "$(cat out)" = "plumbline batch one failing --id $id" ] || complain "lines: $(cat out)"
mkdir -p failing/"$id"/attempt/plan.json     # where a plan should go
gives 1 run small.jsonl -o failing
grep -q "($id): solve: exit code 2: .*plan.json: cannot be written: it is a directory" err ||
    complain "a failure is not told"
[ -s failing/"$id"/failure/status.json ] && [ ! -e failing/"$id"/result ] ||
    complain "a failure is not kept"
gives 0 status failing
grep -q "^$id  failed .*plan.json: cannot be written" out ||
    complain "a failure in status: $(cat out)"
rmdir failing/"$id"/failure/plan.json
gives 0 one failing --id "$id"
[ -s failing/"$id"/result/status.json ] && [ ! -e failing/"$id"/failure ] ||
    complain "a failure is not tried again"

# ---- sweeps: what does not fit is left out, and told
{ tr -d '\n' && echo; } > sweep.jsonl <<'LINE'
{"sweep": {"model": "llama-3.1-8b", "gpu": "a100-80gb", "nodes": 1, "global_batch": 64,
 "layouts": "one", "pipeline": [1, 2, 3], "tensor": [2, 3], "micro_batch": 1,
 "job.recompute": [["full"]]}, "options": {"gap": [0, 0.02], "certificate": false}}
LINE
gives 0 lines sweep.jsonl -o swept
grep -q "sweep.jsonl line 1: .* of 12 do not fit and are left out, the first: " err ||
    complain "what does not fit is not told"
[ "$(wc -l < out)" -ge 4 ] || complain "sweep: $(cat out)"
for job in swept/*/job.json; do tr -d ' \n' < "$job" | grep -q '"recompute":\["full"\]' ||
    complain "$job: job.recompute is not in it"; done

# ---- bad manifests
bad() { echo "$2" > bad.jsonl; refuses "$1" run bad.jsonl -o bad; }
bad 'bad.jsonl line 1: expected one of "problem" and "sweep"' '{"name": "x"}'
bad 'unknown key "optoins"' '{"problem": "chain/problem.json", "optoins": {}}'
bad 'unknown option "time_limit", the nearest is "time_limit_s"' \
    '{"problem": "chain/problem.json", "options": {"time_limit": 3}}'
bad '--gap: expected a number from 0 to 1' \
    '{"problem": "chain/problem.json", "options": {"gap": 3}}'
bad 'nowhere/problem.json: cannot be read' '{"problem": "nowhere/problem.json"}'
bad 'gpt2-xll' '{"sweep": {"model": "gpt2-xll", "gpu": "a100-80gb", "nodes": 1}}'
bad "did you mean --tensor?" \
    '{"sweep": {"model": "gpt2-xl", "gpu": "a100-80gb", "nodes": 1, "tensr": 2}}'
space='"model": "gpt2-xl", "gpu": "a100-80gb", "nodes": 1'
bad 'leaves zero open, so that' "{\"sweep\": {$space, \"job.layout.zero\": 1}}"
bad 'leaves context_kind open' "{\"sweep\": {$space, \"job.context_kind\": \"ring\"}}"
bad 'turns overlapped_messages on' "{\"sweep\": {$space, \"job.overlapped_messages\": false}}"
bad 'expected keys of its job' '{"sweep": {"problem": "chain/problem.json", "global_batch": 2}}'
bad 'the job has no object for job.nothing.tensor' \
    '{"sweep": {"problem": "chain/problem.json", "job.nothing.tensor": 2}}'
bad 'expected at least one value' \
    '{"sweep": {"problem": "chain/problem.json", "job.global_batch": []}}'
bad 'bad.jsonl line 1' '{"problem": '
bad 'bad.jsonl line 1: problem: expected a string, found 3' '{"problem": 3}'
bad 'unknown key "help"' \
    '{"sweep": {"model": "gpt2-xl", "gpu": "a100-80gb", "nodes": 1, "help": true}}'
grep -q 'line 1: .*line 1: ' err && complain "the line is named twice"
bad 'expected an instance, found none' '# nothing'
refuses '-o is missing' run m.jsonl
refuses 'did you mean status' statsu plain
refuses 'nowhere' status nowhere
refuses "expected one of plain" one plain --id 0000000000000000

# ---- a disk that fills up, a folder that cannot be written
mkdir small
if mount -t tmpfs -o size=256k tmpfs small 2> /dev/null; then
    mounted=$here/small
    gives 2 run m.jsonl -o small/batch
    grep -qi 'no space' err || complain "a full disk is not told"
    whole small/batch > /dev/null
    mount -o remount,size=64m small
    gives 0 run m.jsonl -o small/batch
    answers small/batch | cmp -s - expected || complain "after a full disk: other answers"
    mount -o remount,ro small
    gives 2 run m.jsonl -o small/new
    grep -q 'small/new: cannot be created: Read-only file system' err ||
        complain "a read-only folder is not told"
    gives 2 run small.jsonl -o small/batch
    grep -q 'Read-only file system' err || complain "a read-only batch is not told"
    umount small && mounted=
else
    echo "skipped: batch on a full disk: this user may not mount one"
fi

[ $failures = 0 ] || { echo "$failures failures"; exit 1; }
echo "$instances instances, killed $killed times: the same answers"

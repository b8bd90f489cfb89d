#!/bin/sh
# make test-slurm: a batch on a real Slurm of two nodes on this machine gives the table that
# processes of this machine give, though tasks are killed and told to stop, a node is drained, and
# the batch itself ends and begins again; a job that meets its time limit leaves its plan, from
# which the next one goes on; a space in parts has the answer of one search. Needs root and Debian's
# slurm-wlm and munge. It takes some four minutes. usage: slurm.sh [short]; short: nothing is
# killed, told or drained at moments that differ from run to run (tests/batch/test_slurm.sh)
set -u
short=${1:-}
root=$(cd "$(dirname "$0")/../.." && pwd)
case ${BIN:=bin} in /*) plumbline=$BIN/plumbline ;; *) plumbline=$root/$BIN/plumbline ;; esac
PATH=$PATH:/usr/sbin
for program in munged slurmctld slurmd sbatch squeue scancel scontrol; do
    command -v $program > /dev/null || { echo \
        "skipped: batches on Slurm: $program is not installed (Debian: slurm-wlm munge)"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: batches on Slurm: its daemons need root here"; exit 0; }
here=$(mktemp -d /tmp/plumbline-slurm.XXXXXX) || exit 1
failures=0
cd "$here" || exit 1
chmod 755 .
complain() { echo "FAILED: $*"; tail -5 "$here/err" | sed 's/^/    /'; failures=$((failures + 1)); }
# shellcheck disable=SC2317
end() {
    scancel --name=plumbline > /dev/null 2>&1
    sleep 1
    for file in run/*.pid; do [ -s "$file" ] && kill "$(cat "$file")"; done 2> /dev/null
    cd "$root" && rm -rf "$here"
}
trap end EXIT
trap 'exit 1' INT TERM

# ---- a Slurm
host=$(hostname -s)
mkdir state spool.n0 spool.n1 log run
(umask 077; head -c 128 /dev/urandom > munge.key)
cat > slurm.conf <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16917
AuthType=auth/munge
AuthInfo=socket=$here/run/munge.sock
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$here/state
SlurmdSpoolDir=$here/spool.%n
SlurmctldPidFile=$here/run/slurmctld.pid
SlurmdPidFile=$here/run/slurmd.%n.pid
SlurmctldLogFile=$here/log/slurmctld.log
SlurmdLogFile=$here/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
ReturnToService=2
KillWait=5
MpiDefault=none
NodeName=n0 NodeHostname=$host NodeAddr=127.0.0.1 Port=17101 CPUs=1
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=17102 CPUs=1
PartitionName=main Nodes=n0,n1 Default=YES MaxTime=60 State=UP
CONF
export SLURM_CONF="$here/slurm.conf"
munged --force --key-file="$here/munge.key" --socket="$here/run/munge.sock" \
    --pid-file="$here/run/munged.pid" \
    --log-file="$here/log/munged.log" --seed-file="$here/run/seed" > log/start 2>&1 &&
    slurmctld -i >> log/start 2>&1 &&
    sleep 1 && slurmd -N n0 >> log/start 2>&1 && slurmd -N n1 >> log/start 2>&1
tries=0
until [ "$(sinfo --noheader --format=%T 2> /dev/null)" = idle ]; do
    tries=$((tries + 1))
    [ $tries -lt 60 ] ||
        { echo "skipped: batches on Slurm: it does not start here: $(tail -1 log/start)"; exit 0; }
    sleep 0.5
done

# ---- what processes of this machine say
batches='8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52'
layers=64 stages=16
[ -z "$short" ] || { batches="8, 12, 16"; layers=16 stages=4; }
"$plumbline" example chain --layers $layers --stages $stages --types 3 --micro-batches 32 -o small \
    > /dev/null
"$plumbline" example chain --layers 128 --stages 32 --types 4 --micro-batches 64 -o large \
    > /dev/null
echo '{"sweep": {"problem": "small/problem.json", "job.global_batch": ['"$batches"']}}' > m.jsonl
table() { "$plumbline" batch collect "$1" \
    --columns \
    id,name,outcome,iteration_s,bound_s,gap_percent,claim,search_nodes,certificate_sha256; }
"$plumbline" batch run m.jsonl -o local --quiet > out 2> err || complain "local: $(cat out)"
table local > expected

slurm() {       # slurm CODE MANIFEST FOLDER OPTION ...
    expected=$1 manifest=$2 folder=$3; shift 3
    "$plumbline" batch run "$manifest" -o "$folder" --engine slurm "$@" > out 2> err
    code=$?
    told="expected exit code $expected, found $code: $(cat out)"
    [ $code = "$expected" ] || complain "batch run $manifest --engine slurm $*: $told"
}
job() { cut -d';' -f1 "$1/slurm/$2/job"; }
running() { squeue --noheader --states=RUNNING --format=%A "$@" 2> /dev/null | head -1; }
until_running() { tries=0; until [ -n "$(running)" ] ||
    [ $tries -gt 100 ]; do tries=$((tries + 1)); sleep 0.1; done; }

# ---- the same by arrays
arrays() {
    slurm 0 m.jsonl array --sbatch=--time=5
    table array | cmp -s - expected ||
        complain "arrays: another table: $(table array | diff - expected | head -4)"
}
# tasks killed and told to stop, a node drained, the batch itself killed and begun again
arrays_disturbed() {
    "$plumbline" batch run m.jsonl -o array --engine slurm --sbatch=--time=5 > out 2> err &
    batch=$!
    until_running
    scancel --signal=KILL --full "$(running)"
    until_running
    scontrol update nodename=n1 state=drain reason=test
    sleep 1
    scancel --signal=TERM --batch "$(running)"
    kill -9 $batch
    wait $batch 2> /dev/null
    [ "$(find array/slurm -name job | wc -l)" = 1 ] || complain "not one array"
    ( sleep 6; scontrol update nodename=n1 state=resume ) &
    arrays
    wait
    grep -q '12 instances: 12 done, 0 failed' out || complain "arrays: $(cat out)"
    [ "$(find array/slurm -name job | wc -l)" -ge 2 ] ||
        complain "what was killed was not submitted again"
    [ "$(awk '$2 == "done" { print $3 }' array/journal | sort | uniq -d | wc -l)" = 0 ] ||
        complain "solved twice"
    grep -q ' stopped ' array/journal || complain "none was told to stop"
}
if [ -n "$short" ]; then arrays; else arrays_disturbed; fi

# ---- a time limit: the plan is kept, and the next job goes on from it
time_limit() {
    echo '{"problem": "large/problem.json"}' > large.jsonl
    "$plumbline" batch run large.jsonl -o alone --quiet > alone.out 2>&1 &
    alone=$!
    slurm 1 large.jsonl limited --sbatch=--time=1 --before-limit-s 50 --submissions 1
    grep -q 'no result after 1 submissions' err || complain "a time limit is not told"
    [ -s limited/*/saved/plan.json ] || complain "a time limit leaves no plan"
    [ "$("$plumbline" batch collect limited --columns outcome | tail -1 | tr -d '\r')" = stopped \
        ] || complain "what was stopped has no row"
    slurm 0 large.jsonl limited --sbatch=--time=10 --resume
    grep -q -- '--resume ../saved/plan.json' limited/*/result/log ||
        complain "it does not go on from the plan"
    wait $alone || complain "large: $(cat alone.out)"
    for folder in alone limited; do "$plumbline" batch collect $folder \
        --columns id,outcome,iteration_s,bound_s,gap_percent,claim > $folder.csv; done
    cmp -s alone.csv limited.csv ||
        complain "after a time limit another table: $(diff alone.csv limited.csv)"
}
[ -n "$short" ] || time_limit

# ---- a space in parts: the answer of one process, one certificate
# SPACE="arguments of plumbline example gpt" SPACE_GAP=0.001: another space, whose tables are then
# shown.
parts=8 space=${SPACE:---model llama-3.1-8b --gpu h100-80gb --nodes 4 --framework any}
[ -z "$short" ] ||
    { parts=3; space='--model llama-3.2-1b --gpu h100-80gb --nodes 1 --framework deepspeed'; }
# shellcheck disable=SC2086
"$plumbline" example gpt $space --layouts all --quiet -o space
options='"gap": '"${SPACE_GAP:-0}"
echo '{"problem": "space/problem.json", "options": {'"$options"'}}' > space.jsonl
echo '{"problem": "space/problem.json", "options": {'"$options"', "parts": '$parts'}}' > parts.jsonl
"$plumbline" batch run space.jsonl -o whole --quiet > out 2> err || complain "a space: $(cat out)"
parts_disturbed() {     # a task is killed, another one told to stop
    "$plumbline" batch run parts.jsonl -o parts --engine slurm --sbatch=--time=30 --resume > out \
        2> err &
    batch=$!
    until_running
    sleep 1
    scancel --signal=KILL --full "$(running)"
    until_running
    sleep 1
    scancel --signal=TERM --batch "$(running)"
    wait $batch || complain "parts: $(cat out)"
}
if [ -n "$short" ]; then slurm 0 parts.jsonl parts --sbatch=--time=5; else parts_disturbed; fi
for folder in whole parts; do "$plumbline" batch collect $folder \
    --columns outcome,iteration_s,bound_s,gap_percent,claim > $folder.csv; done
cmp -s whole.csv parts.csv || complain "in parts another answer: $(diff whole.csv parts.csv)"
grep -q certified parts.csv || complain "the joined certificate is not checked: $(cat parts.csv)"
for certificate in parts/*/result/certificate.json; do # of the whole, and of eight parts
    "$plumbline" check "$certificate" space/problem.json > check.out 2>&1 &&
        accepted=$((${accepted:-0} + 1))
done
[ "${accepted:-0}" = 1 ] ||
    complain "of the certificates ${accepted:-0} are accepted, not that of the whole alone"
[ -z "${SPACE:-}" ] || { cat whole.csv parts.csv; cat out
    "$plumbline" batch collect parts --columns certificate_kb,check_s,solve_s
    "$plumbline" batch collect whole --columns certificate_kb,check_s,solve_s; }

# ---- refused
slurm 2 m.jsonl refused --sbatch=--partition=nowhere
grep -q '^plumbline batch: sbatch: exit code 1: .*invalid partition' err ||
    complain "a refusal is not told: $(cat err)"

[ $failures = 0 ] || { echo "$failures failures"; exit 1; }
echo "arrays of Slurm give the table that this machine gives"

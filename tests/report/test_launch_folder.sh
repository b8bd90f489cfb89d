#!/bin/sh
# report --format launch: a folder with all that starts a plan. On each node, by the folder's own
# hostfile, torchruns are started whose ranks are together all of the plan's, each on the host that
# the hostfile gives it and on a GPU of its own: on nodes of several groups, and on nodes that
# stages share. try.sh reads the logs of the frameworks.
BIN=${BIN:-bin} work=build/test_launch_folder.$$ failed=0
mkdir -p "$work/stand-ins" && trap 'rm -rf "$work"' EXIT
work=$(cd "$work" && pwd)
plumbline=$BIN/plumbline

wrong() { echo "launch folder: $*" >&2; failed=1; }

if ! command -v python3 >/dev/null || ! command -v bash >/dev/null; then
    echo "launch folder: no python3 or bash; not tested"
    exit 0
fi
printf '#!/bin/bash\necho "$NODE ${CUDA_VISIBLE_DEVICES:-all} $*"\n' >"$work/stand-ins/torchrun"
printf '#!/bin/sh\nprintf "%%s\\n" "$3" | tr , "\\n"\n' >"$work/stand-ins/scontrol"
cat >"$work/stand-ins/srun" <<'END'
#!/bin/bash
while [ "${1#--}" != "$1" ]; do shift; done
for host in $HOSTS; do NODE=$host SLURMD_NODENAME=$host "$@" || exit; done
END
chmod +x "$work"/stand-ins/*

# Are the lines of torchruns (host, GPUs, words) those of the hostfile?
cat >"$work/check.py" <<'END'
import sys
hosts = open(sys.argv[1]).read().split()
runs = [line.split() for line in open(sys.argv[2])]
of = lambda words, key: words[words.index(key) + 1]
runs.sort(key=lambda r: int(of(r, "--node-rank")))
assert [int(of(r, "--node-rank")) for r in runs] == list(range(len(runs))), runs
assert {of(r, "--nnodes") for r in runs} == {str(len(runs))}
assert {of(r, "--master-addr") for r in runs} == {hosts[0]}
ranks, used = [], set()
for run in runs:
    count = int(of(run, "--nproc-per-node"))
    gpus = range(count) if run[1] == "all" else [int(g) for g in run[1].split(",")]
    assert len(gpus) == count, run
    ranks += [run[0]] * count
    own = {(run[0], g) for g in gpus}
    assert not own & used, run
    used |= own
assert ranks == hosts, (ranks, hosts)
END

# folder NAME: of NAME/plan.json; started on each node in its order
folder() {
    at=$work/$1
    "$plumbline" report --format launch -o "$at/launch" "$at/plan.json" 2>"$work/log" ||
        { wrong "$1: $(cat "$work/log")"; return; }
    for file in megatron.sh torchrun.sh job.sbatch try.sh hostfile; do
        [ -s "$at/launch/$file" ] || wrong "$1: no $file"
    done
    python3 tests/report/names/lint.py "$at"/launch/* >"$work/log" 2>&1 ||
        wrong "$1: $(cat "$work/log")"
    if command -v shellcheck >/dev/null; then
        shellcheck "$at/launch/torchrun.sh" "$at/launch/try.sh" "$at/launch/job.sbatch" \
            >"$work/log" || wrong "$1: $(cat "$work/log")"
    fi
    number=0
    awk '!seen[$1]++' "$at/launch/hostfile" | while read -r host; do
        (cd "$work" && PATH="$work/stand-ins:$PATH" HOSTFILE=hostfile NODE=$host \
            NODE_RANK=$number bash "$at/launch/torchrun.sh" --more 'a b')
        number=$((number + 1))
    done >"$at/started" 2>&1
    python3 "$work/check.py" "$at/launch/hostfile" "$at/started" 2>"$work/log" ||
        wrong "$1: $(tail -1 "$work/log"): $(head -3 "$at/started")"
}

# The mixed example, and the same nodes with stages of half a node, of the two groups in turn.
"$plumbline" example mixed -o "$work/mixed" >"$work/log" 2>&1 || wrong "$(cat "$work/log")"
cp -r "$work/mixed" "$work/halves"
sed -i 's/"data": 2/"data": 1/; s/"pipeline": 8/"pipeline": 16/' "$work/halves/job.json"
for name in mixed halves; do
    "$plumbline" solve "$work/$name/problem.json" --quiet --gap 0.1 -o "$work/$name/plan.json" \
        2>"$work/log" || wrong "$name: $(cat "$work/log")"
    [ $name = mixed ] || python3 - "$work/halves/plan.json" <<'END'
import json, sys
plan = json.load(open(sys.argv[1]))
groups = sorted({stage["group"] for stage in plan["stages"]})
for k, stage in enumerate(plan["stages"]):
    stage["group"] = groups[k % 2]
json.dump(plan, open(sys.argv[1], "w"))
END
    folder $name
done
grep -q "CUDA_VISIBLE_DEVICES" "$work/halves/launch/torchrun.sh" || wrong "no node of two stages"
grep -q "CUDA_VISIBLE_DEVICES" "$work/mixed/launch/torchrun.sh" && wrong "nodes of one stage"
# Slurm's own order of names is not the plan's: each component has the nodes of one group.
first=$(seq -f a100-%g -s , 0 3) second=$(seq -f v100-%g -s , 0 3)
grep -o 'nodes of .100' "$work/mixed/launch/job.sbatch" | head -1 | grep -q a100 ||
    { swap=$first first=$second second=$swap; }
PATH="$work/stand-ins:$PATH" PLAN_DIR="$work/mixed/launch" SLURM_JOB_NODELIST_HET_GROUP_0=$first \
    SLURM_JOB_NODELIST_HET_GROUP_1=$second bash "$work/mixed/launch/job.sbatch" \
    >"$work/started" 2>&1
python3 "$work/check.py" "$work/mixed/launch/hostfile" "$work/started" 2>"$work/log" ||
    wrong "Slurm: $(tail -1 "$work/log"): $(head -3 "$work/started")"
# One that fails ends the node's others.
printf '#!/bin/bash\ncase " $* " in *" --node-rank 0 "*) exit 7;; esac\nexec sleep 60\n' \
    >"$work/stand-ins/torchrun"
began=$(date +%s)
PATH="$work/stand-ins:$PATH" NODE_RANK=0 bash "$work/halves/launch/torchrun.sh" 2>/dev/null
[ $? -eq 7 ] && [ $(($(date +%s) - began)) -lt 30 ] || wrong "a run that fails"

# ---- try.sh: twenty iterations of the log of each framework, the first of which take long

# said FRAMEWORK LINE WORDS ...: LINE prints iteration i of s seconds; WORDS stand in what is said
said() {
    "$plumbline" report --format launch --for "$1" -o "$work/try" "$work/one/plan.json" \
        2>"$work/log" || { wrong "$1: $(cat "$work/log")"; return; }
    cat >"$work/stand-ins/torchrun" <<END
#!/bin/bash
echo "\$*"
awk 'BEGIN { for (i = 1; i <= 20; i++) { s = i < 4 ? 10 : 2; $2 } }'
END
    PATH="$work/stand-ins:$PATH" PRETRAIN=train.py bash "$work/try/try.sh" >"$work/said" 2>&1 ||
        wrong "$1: try.sh: $(tail -3 "$work/said")"
    framework=$1; shift 2
    for words in "median of 15 of 20" "^iteration  *2.000 " "$@"; do
        grep -q -- "$words" "$work/said" ||
            wrong "$framework: not said: $words: $(tail -9 "$work/said")"
    done
    [ -s "$work/try/try.log" ] || wrong "$framework: no log"
    rm -r "$work/try"
}
"$plumbline" example gpt --model llama-3.1-8b --gpu h100-80gb --nodes 1 --sequence 4096 \
    --global-batch 64 --tensor 1 --pipeline 1 --data 8 --zero 2 --framework torchtitan \
    -o "$work/one" >"$work/log" 2>&1 &&
    "$plumbline" solve "$work/one/problem.json" --quiet --gap 0.2 -o "$work/one/plan.json" \
        2>"$work/log" || wrong "$(cat "$work/log")"
"$plumbline" report --format launch --for torchtitan -o "$work/try" "$work/one/plan.json" \
    2>"$work/log" && printf '#!/bin/bash\nexit 7\n' >"$work/stand-ins/torchrun"
PATH="$work/stand-ins:$PATH" bash "$work/try/try.sh" >"$work/said" 2>&1
[ $? -eq 7 ] && grep -q 'ended with exit code 7 before any iteration' "$work/said" ||
    wrong "a run that fails in try.sh: $(tail -3 "$work/said")"
rm -r "$work/try"
core='printf " [2026-08-22 10:00:00] iteration %8d/      20 | consumed samples: %12d | elapsed '
core=$core'time per iteration (ms): %.1f | learning rate: 1.0E-05 |\n", i, i * 64, 1000 * s'
memory='if (i == 1) print "[Rank 0] (after 1 iterations) memory (MB) | allocated: 51234.5 | max '
memory=$memory'allocated: 60000.0 | reserved: 70000.0 | max reserved: 70000.0"'
said megatron "$core; $memory" "--train-iters 20" "^memory  *62.915"
said nemo "$core" "train.train_iters=20 logger.log_interval=1"
titan='printf "\033[31m[titan] 2026-08-22 10:00:00 - root - INFO - step: %2d  \033[32mloss: '
titan=$titan'8.1  \033[38mgrad_norm:  2.1  \033[36mmemory: 30.00GiB(38.0%%)  \033[34mtps: %d,%03d'
titan=$titan'  \033[36mtflops: 300.00  mfu: 30.0%%\n", i, 32768 / s / 1000, 32768 / s % 1000'
said torchtitan "$titan" "--metrics.log_freq 1" "^memory  *32.212"
speed='printf "[timer.py:264:stop] epoch=0/micro_step=%d/global_step=%d, RunningAvgSamplesPerSec'
speed=$speed'=31.5, CurrSamplesPerSec=%.6f, MemAllocated=30.12GB, MaxMemAllocated=50.0GB\n", '
said deepspeed "${speed}i, i, 64 / s" "--deepspeed_config" "^memory  *53.687"

[ $failed -eq 0 ] && echo "launch folder: all as expected"
exit $failed

#!/bin/sh
# report --format megatron of a plan whose stages recompute unlike layers: started by torchrun.sh
# and by job.sbatch, each rank's process has the recomputation of its own stage in its flags, last
# and once; ranks that recompute alike need no flags of their own.
BIN=${BIN:-bin} work=build/test_rank_flags.$$ failed=0
mkdir -p "$work/stand-ins" && trap 'rm -rf "$work"' EXIT
work=$(cd "$work" && pwd)
plumbline=$BIN/plumbline

wrong() { echo "rank flags: $*" >&2; failed=1; }

if ! command -v python3 >/dev/null || ! command -v bash >/dev/null; then
    echo "rank flags: no python3 or bash; not tested"
    exit 0
fi

# torchrun that starts all ranks of all nodes, one after another; python that tells its rank and its
# words
cat >"$work/stand-ins/torchrun" <<'END'
#!/bin/bash
while [ $# -gt 0 ]; do
    case $1 in
    --nnodes) nodes=$2; shift 2 ;;
    --nproc-per-node) each=$2; shift 2 ;;
    --no-python) shift; break ;;
    --*) shift 2 ;;
    *) set -- python3 "$@"; break ;;
    esac
done
for ((rank = 0; rank < nodes * each; rank++)); do
    RANK=$rank WORLD_SIZE=$((nodes * each)) "$@" || exit
done
END
printf '#!/bin/bash\necho "$RANK $*"\n' >"$work/stand-ins/python3"
printf '#!/bin/sh\nshift\nexec "$@"\n' >"$work/stand-ins/srun"
chmod +x "$work/stand-ins"/*

# ranks OWN OPTION ...: OWN says whether ranks have flags of their own; refused: of stages that
# differ within a rank
ranks() {
    own=$1; shift
    rm -rf "$work/p"
    "$plumbline" example gpt --gpu h100-80gb --sequence 4096 --framework any "$@" -o "$work/p" \
        >"$work/log" 2>&1 &&
        "$plumbline" solve "$work/p/problem.json" --quiet --gap 0.05 -o "$work/p/plan.json" \
        2>"$work/log" || { wrong "$*: $(cat "$work/log")"; return; }
    if [ "$own" = refused ]; then
        "$plumbline" report --format megatron "$work/p/plan.json" >"$work/out" 2>"$work/log"
        [ $? -eq 2 ] && [ ! -s "$work/out" ] &&
            grep -q "recomputation differs between them, and Megatron-LM has one setting for each" \
                "$work/log" || wrong "$*: not refused: $(cat "$work/log")"
        return
    fi
    for format in megatron sbatch torchrun; do
        file=megatron.sh
        [ $format = sbatch ] && file=job.sbatch
        [ $format = torchrun ] && file=torchrun.sh
        "$plumbline" report --format $format "$work/p/plan.json" -o "$work/p/$file" \
            2>"$work/log" || wrong "$*: $(cat "$work/log")"
    done
    if command -v shellcheck >/dev/null; then shellcheck -s bash -e SC2034 "$work/p/megatron.sh" \
        >"$work/log" || wrong "$(cat "$work/log")"; fi
    grep -q MEGATRON_RUN= "$work/p/megatron.sh" && has=yes || has=no
    recomputed=$(grep '"recompute' "$work/p/plan.json" | tr -d '\n')
    [ $has = "$own" ] ||
        { wrong "$*: flags of their own: $has, not $own: $recomputed"; return; }
    hosts=$(hostname)
    grep -q '^nodes=2$' "$work/p/torchrun.sh" && hosts=$hosts,b
    (cd "$work/p" && PATH="$work/stand-ins:$PATH" HOSTS="$hosts" PRETRAIN='my train.py' \
        bash torchrun.sh --data-path 'a b') >"$work/by_torchrun" 2>&1
    (cd "$work/p" && PATH="$work/stand-ins:$PATH" HOSTS="$hosts" SLURMD_NODENAME="$(hostname)" \
        PRETRAIN='my train.py' bash job.sbatch --data-path 'a b') >"$work/by_slurm" 2>&1
    cmp -s "$work/by_torchrun" "$work/by_slurm" ||
        wrong "$*: unlike words: $(diff "$work/by_torchrun" "$work/by_slurm" | head -5)"
    python3 - "$work/p/plan.json" "$work/by_slurm" <<'END' || wrong "$*"
import json, sys
plan = json.load(open(sys.argv[1]))
lines = open(sys.argv[2]).read().splitlines()
layout, stages = plan["layout"], plan["stages"]
p = layout["pipeline"]
world = p * plan["devices_per_stage"]
assert len(lines) == world, lines[:3]
last = len(stages) - 1
for line in lines:
    rank, _, words = line.partition(" ")
    assert "my train.py" in words and "--data-path a b" in words, words
    words = words.split()
    flags = {w: words[i + 1] for i, w in enumerate(words[:-1]) if w.startswith("--recompute")}
    assert sum(w.startswith("--recompute") for w in words) == len(flags), words
    method, count = flags.get("--recompute-method"), int(flags.get("--recompute-num-layers", 0))
    assert flags.get("--recompute-granularity") in (None, "full", "selective"), flags
    for s in range(int(rank) // (world // p), len(stages), p):
        blocks = stages[s]["layer_count"] - (s == 0) - (s == last)
        mode = stages[s]["recompute"]
        full = {"none": 0, "selective": 0, "full": blocks}.get(
            mode, stages[s].get("recomputed_layers"))
        about = (rank, s, flags, stages[s])
        granularity = flags.get("--recompute-granularity")
        assert (granularity == "selective") == (mode == "selective"), about
        assert full == (blocks if method == "uniform" else min(count, blocks)), about
END
}

ranks yes --model llama-3.1-70b --nodes 1 --sequence 8192 --global-batch 64 --tensor 2 \
    --pipeline 4 --data 1 --zero 1 --offload-optimizer
ranks yes --model llama-3.1-70b --nodes 2 --global-batch 64 --tensor 4 --pipeline 2 --data 2 \
    --offload-optimizer
ranks refused --model llama-3.1-70b --nodes 2 --global-batch 64 --tensor 4 --pipeline 4 --data 1 \
    --schedule interleaved --virtual-stages 2 --offload-optimizer --sequence 16384
ranks no --model llama-3.1-8b --nodes 2 --global-batch 64 --tensor 2 --pipeline 2 --data 4 --zero 1

[ $failed -eq 0 ] && echo "rank flags: all as expected"
exit $failed

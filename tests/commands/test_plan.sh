#!/bin/sh
# plumbline plan: models on clusters by name, each with an answer whose commands give the same plan
# again; what is not known is answered with the nearest name; a job that cannot be is told so with
# solve's exit code.
BIN=${BIN:-bin} work=build/test_plan.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "plan: $*" >&2; failed=1; }

# expect WORDS CODE ARGUMENT ...: the exit code, and the words in what is said
expect() {
    words=$1 code=$2; shift 2
    "$plumbline" plan "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ $got -eq "$code" ] || wrong "$*: exit $got, not $code: $(cat "$work/err")"
    grep -q -- "$words" "$work/out" "$work/err" || wrong "$*: not said: $words: $(cat "$work/err")"
}

iteration() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["iteration_ns"])' \
    "$1"; }

mkdir "$work/stand-ins"
printf '#!/bin/sh\necho first\necho second\n' >"$work/stand-ins/scontrol"
printf '#!/bin/sh\nwhile [ "${1#--}" != "$1" ]; do shift; done\nexec "$@"\n' \
    >"$work/stand-ins/srun"
printf '#!/bin/sh\nprintf " <%%s>" "$@"\n' >"$work/stand-ins/torchrun"
chmod +x "$work"/stand-ins/*

number=0
while read -r model gpu nodes sequence batch; do
    number=$((number + 1)) folder="$work/it's $number"
    expect "per iteration" 0 --model "$model" --gpu "$gpu" --nodes "$nodes" --sequence "$sequence" \
        --global-batch "$batch" \
        --gpu-hour-price 2 --gap 0.05 -o "$folder"
    for file in problem.json model.json cluster.json costs.json job.json plan.json report.html \
        launch/megatron.sh launch/job.sbatch launch/torchrun.sh launch/try.sh launch/hostfile; do
        [ -s "$folder/$file" ] || wrong "$model on $gpu: no $file"
    done
    grep -q 'price  ' "$work/out" || wrong "$model on $gpu: no price"
    first=$(iteration "$folder/plan.json")
    # Its own commands, in an empty place, as a shell reads them.
    grep '^  plumbline' "$work/out" >"$work/again"
    [ "$(wc -l <"$work/again")" -eq 5 ] ||
        wrong "$model on $gpu: $(wc -l <"$work/again") commands, not 5"
    rm -r "$folder"/*.json
    while read -r line; do
        eval "\"\$BIN\"/$line" >/dev/null 2>"$work/err" || wrong "$line: $(cat "$work/err")"
    done <"$work/again"
    [ "$(iteration "$folder/plan.json")" = "$first" ] ||
        wrong "$model on $gpu: its commands give another plan"
    # The batch script with stand-ins for Slurm and torchrun, as the second node's task.
    printf '#!/bin/sh\nprintf "first\\nsecond\\n"; seq 3 %s\n' "$nodes" \
        >"$work/stand-ins/scontrol"
    launched=$(PATH="$work/stand-ins:$PATH" PLAN_DIR="$folder/launch" SLURM_JOB_NODELIST=n \
        SLURMD_NODENAME=second \
        bash "$folder/launch/job.sbatch" --data-path 'a b')
    printf '#!/bin/sh\necho first\necho second\n' >"$work/stand-ins/scontrol"
    for words in \
        "<--nnodes> <$nodes> <--nproc-per-node> <8> <--node-rank> <1> <--master-addr> <first>" \
        "<--seq-length> <$sequence>" "<pretrain_gpt.py> <--tensor-model" "<--data-path> <a b>"; do
        case $launched in
        *"$words"*) ;;
        *) wrong "$model on $gpu: torchrun is not told $words but $launched" ;;
        esac
    done
    # In an order of one's own; a node that is not among them is told.
    launched=$(PATH="$work/stand-ins:$PATH" PLAN_DIR="$folder/launch" \
        HOSTS="second first $(seq -s ' ' 3 "$nodes")" SLURMD_NODENAME=first \
        bash "$folder/launch/job.sbatch")
    case $launched in
    *"<--node-rank> <1> <--master-addr> <second>"*) ;;
    *) wrong "$model on $gpu: HOSTS: $launched" ;;
    esac
    PATH="$work/stand-ins:$PATH" PLAN_DIR="$folder/launch" PLAN_HOSTS="$(seq -s ' ' 1 "$nodes")" \
        SLURMD_NODENAME=x bash "$folder/launch/job.sbatch" >"$work/out" 2>&1
    [ $? -eq 2 ] && grep -q "torchrun.sh: x is not in 1 2" "$work/out" ||
        wrong "$model on $gpu: another node: $(cat "$work/out")"
    # The script for each node: hosts from a variable, a file or Slurm; this host among them, or its
    # number.
    names=$(seq -f n%g 1 $((nodes - 1)))
    printf '# nodes\n\n%s\n%s slots=8\n' "$names" "$(hostname)" >"$work/hosts"
    for from in "HOSTFILE=$work/hosts" "HOSTS=$(echo $names $(hostname) | tr ' ' ,)"; do
        launched=$(PATH="$work/stand-ins:$PATH" env "$from" bash "$folder/launch/torchrun.sh" \
            --data-path 'a b' 2>&1)
        told="<--nnodes> <$nodes> <--nproc-per-node> <8> <--node-rank> <$((nodes - 1))>"
        case $launched in
        *"$told <--master-addr> <n1>"*"<pretrain_gpt.py> <--tensor-model"*"<--data-path> <a b>"*) ;;
        *) wrong "$model on $gpu: $from: $launched" ;;
        esac
    done
    [ "$nodes" -ne 2 ] || { # by the name that Slurm has for it
        launched=$(PATH="$work/stand-ins:$PATH" SLURM_JOB_NODELIST=n SLURMD_NODENAME=second \
            bash "$folder/launch/torchrun.sh" 2>&1)
        case $launched in
        *"<--node-rank> <1> <--master-addr> <first>"*) ;;
        *) wrong "$model on $gpu: SLURMD_NODENAME: $launched" ;;
        esac
    }
    launched=$(PATH="$work/stand-ins:$PATH" SLURM_JOB_NODELIST=n NODE_RANK=1 \
        bash "$folder/launch/torchrun.sh" 2>&1)
    got=$?
    if [ "$nodes" -eq 2 ]; then
        case $launched in
        *"<--node-rank> <1> <--master-addr> <first>"*) ;;
        *) wrong "$model on $gpu: of Slurm's: $launched" ;;
        esac
    else
        told="the plan is for $nodes nodes, found 2: first second"
        [ $got -eq 2 ] &&
            [ "$launched" = "torchrun.sh: $told (HOSTS, HOSTFILE, SLURM_JOB_NODELIST)" ] ||
            wrong "$model on $gpu: of two nodes: exit $got, $launched"
    fi
    command -v shellcheck >/dev/null && { shellcheck "$folder/launch/torchrun.sh" \
        "$folder/launch/job.sbatch" >"$work/err" || wrong "$(cat "$work/err")"; }
    # Names for nodes that have none, each as often as it has GPUs, in the order of the ranks.
    "$plumbline" report --format hostfile --hosts "$work/hosts" "$folder" >"$work/out" \
        2>"$work/err" || wrong "$model on $gpu: $(cat "$work/err")"
    [ "$(uniq -c "$work/out" | tr -s ' \n' ' ')" = "$(printf ' 8 %s' $names "$(hostname)") " ] ||
        wrong "$model on $gpu: hostfile: $(uniq -c "$work/out")"
    "$plumbline" report --format rankfile --cores-per-rank 2 "$folder" >"$work/out" \
        2>"$work/err" || wrong "$model on $gpu: $(cat "$work/err")"
    [ "$(sed -n '8p;9p' "$work/out" | tr '\n' ' ')" \
        = "rank 7=${gpu%%-*}-0 slot=14-15 rank 8=${gpu%%-*}-1 slot=0-1 " ] ||
        wrong "$model on $gpu: rankfile: $(sed -n '8p;9p' "$work/out")"
    echo one >>"$work/hosts"
    "$plumbline" report --format hostfile --hosts "$work/hosts" "$folder" >"$work/out" 2>"$work/err"
    grep -q "expected the names of the plan's $nodes nodes, found $((nodes + 1))" "$work/err" ||
        wrong "$model on $gpu: a host too many: $(cat "$work/err")"
done <<'LIST'
llama-3.1-8b h100-80gb 2 8192 128
llama-3.1-70b a100-80gb 8 4096 512
gpt3-175b h200-141gb 8 2048 512
LIST

# What is launched is of the framework that was asked for.
for files in "torchtitan torchtitan.toml schedule.csv" "deepspeed deepspeed.json torchrun.sh" \
    "nemo nemo.yaml hostfile"; do
    set -- $files
    expect "per iteration" 0 --model llama-3.1-8b --gpu h100-80gb --nodes 2 --sequence 4096 \
        --global-batch 64 --gap 0.1 --for "$1" -o "$work/$1"
    for file in "$@"; do
        [ "$file" = "$1" ] || [ -s "$work/$1/launch/$file" ] || wrong "$1: no launch/$file"
    done
    [ -e "$work/$1/launch/megatron.sh" ] && wrong "$1: Megatron-LM's flags beside it"
done

# Named nodes: as good a plan as on nodes without names and with the same links, of a space of tens
# of thousands of layouts.
for node in a b c d e f; do echo "$node slots=8"; done >"$work/hosts"
"$plumbline" import hostfile "$work/hosts" --like h100-128x8 -o "$work/named.json" 2>/dev/null ||
    wrong "import hostfile"
for where in "--cluster $work/named.json" "--gpu h100-80gb --nodes 6"; do
    expect "per iteration" 0 --model llama-3.1-70b $where --sequence 8192 --global-batch 96 \
        --gap 0.02 --time-limit-s 0 -o "$work/six" --force
    iteration "$work/six/plan.json" >>"$work/both"
    [ -e "$work/named" ] || cp -r "$work/six" "$work/named"
done
awk 'NR == 1 { named = $1 } END { exit named * 0.98 > $1 }' "$work/both" ||
    wrong "on named nodes: $(cat "$work/both")"

# Its batch script asks Slurm for the plan's nodes and numbers them as the plan has them, whatever
# the numbers of the tasks.
hosts=$(uniq "$work/named/launch/hostfile" | paste -sd , -) \
    host=$(uniq "$work/named/launch/hostfile" | sed -n 3p)
grep -q "^#SBATCH --nodelist=$hosts\$" "$work/named/launch/job.sbatch" ||
    wrong "job.sbatch: no --nodelist=$hosts"
launched=$(PATH="$work/stand-ins:$PATH" PLAN_DIR="$work/named/launch" SLURMD_NODENAME=$host \
    SLURM_PROCID=5 bash "$work/named/launch/job.sbatch")
echo "$launched" | grep -q -- "<--node-rank> <2> <--master-addr> <${hosts%%,*}>" ||
    wrong "job.sbatch on $host: $launched"
command -v shellcheck >/dev/null && { shellcheck "$work/named/launch/job.sbatch" >"$work/err" ||
    wrong "$(cat "$work/err")"; }

expect "has 6 nodes with names" 2 --model llama-3.1-8b --cluster "$work/named.json" --nodes 2 \
    -o "$work/x"
expect "did you mean h100-80gb" 2 --model llama-3.1-8b --gpu h100-81gb --nodes 2 -o "$work/x"
expect "per iteration" 0 --model llama-3.2-1b --gpu "NVIDIA H100 80GB HBM3" --nodes 1 --gap 0.1 \
    -o "$work/printed"
expect "llama-3.1-8b" 2 --model llama-3.1-8c --gpu h100-80gb --nodes 2 -o "$work/x"
expect "requires --nodes or --gpus" 2 --model llama-3.1-8b --gpu h100-80gb -o "$work/x"
expect "--gpu or --cluster is missing" 2 --model llama-3.1-8b -o "$work/x"
expect "-o is missing" 2 --model llama-3.1-8b --gpu h100-80gb --nodes 1
expect "expected fewer, or a multiple" 2 --model llama-3.1-8b --gpu h100-80gb --gpus 12 -o "$work/x"
expect "= 2 GPUs" 0 --model llama-3.2-1b --gpu h100-80gb --gpus 2 --gap 0.1 -o "$work/two"
expect "time-limit-s gives the search more" 12 --model llama-3.1-405b --gpu h100-80gb --nodes 2 \
    --time-limit-s 0.001 -o "$work/soon"
# What is found first is not lost by a limit that passes before, as on a busy machine.
expect "per iteration" 10 --model llama-3.1-405b --gpu h100-80gb --nodes 20 --time-limit-s 0.001 \
    -o "$work/at_once"
expect "infeasible" 11 --model llama-3.1-405b --gpu h100-80gb --nodes 4 -o "$work/small"
grep -q "do not fit on the devices" "$work/out" ||
    wrong "405b on four nodes: no reason: $(cat "$work/out")"
# That there is none with less is said where there was time to prove it; where there was none for
# all, that is said.
grep -q "there is one with [5-8] nodes" "$work/out" &&
    grep -q "or with [0-9]* GB in a GPU" "$work/out" ||
    grep -q "not found within 20 s\|not all that may help was tried within 20 s" "$work/out" ||
    wrong "405b on four nodes: not said what would do: $(cat "$work/out")"
expect "no GPU of the cluster has bf16.*t4-16gb has fp16" 2 --model gpt2-xl --gpu t4-16gb \
    --nodes 2 -o "$work/old"
# Of unlike nodes those that can hold no stage are told with their reason, with names or without.
printf 'NODELIST GRES STATE\na0 gpu:a100:8 idle\nv0 gpu:v100:8 idle\n' >"$work/nodes"
"$plumbline" import sinfo "$work/nodes" --like a100=a100-16x8 --like v100=v100-16gb-16x8 \
    -o "$work/unlike.json" 2>/dev/null || wrong "import sinfo"
python3 - "$work/unlike.json" "$work/plain.json" <<'END'
import json, sys
cluster = json.load(open(sys.argv[1]))
del cluster["places"]
json.dump(cluster, open(sys.argv[2], "w"))
END
for cluster in unlike plain; do
    expect "v100-16gb lacks bf16" 11 --model llama-3.2-1b --cluster "$work/$cluster.json" \
        --global-batch 16 -o "$work/lacks-$cluster"
done
exit $failed

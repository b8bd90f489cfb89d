# Parts of torchrun.sh, the script that starts a plan on a node (torchrun.c puts them together).
#: hosts
# The nodes in the order of their ranks: HOSTS (names between blanks or commas), else HOSTFILE (a name a line,
# each as often as one likes)@slurm@, else @nodes@.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
file=${HOSTFILE:-}
[ -z "$file" ] || [ -e "$file" ] || file=$here/$file
if [ -n "${HOSTS:-}" ]; then
    read -r -d '' -a hosts <<<"${HOSTS//,/ }" || true
#: hosts_of_slurm
elif [ -z "$file" ] && [ -n "${SLURM_JOB_NODELIST:-}" ]; then
    mapfile -t hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
#: hosts_end
else
    mapfile -t hosts < <(awk 'NF && $1 !~ /^#/ && !seen[$1]++ { print $1 }' "${file:-$here/hostfile}")
fi
if [ ${#hosts[@]} -ne $nodes ]; then
    echo "torchrun.sh: the plan is for $nodes nodes, found ${#hosts[@]}${hosts[*]:+: ${hosts[*]}} (HOSTS, HOSTFILE@slurm@)" >&2
    exit 2
fi
#: own_number
rank=${NODE_RANK:-}
own=$(hostname)
for ((i = 0; i < nodes; i++)); do
    for name in "$own" "${own%%.*}" "${SLURMD_NODENAME:-}"; do
        if [ -z "$rank" ] && { [ "${hosts[i]}" = "$name" ] || [ "${hosts[i]%%.*}" = "$name" ]; }; then rank=$i; fi
    done
done
if [ -z "$rank" ]; then
    echo "torchrun.sh: ${SLURMD_NODENAME:-$own} is not in ${hosts[*]} (or set NODE_RANK)" >&2
    exit 2
fi
#: program
steps=${MOCK:-} mock=() # MOCK: this many iterations, on mock data
if [ -e "$here/megatron.sh" ]; then
    # shellcheck source=/dev/null
    source "$here/megatron.sh"
    program=("${MEGATRON_RUN[@]}" "${PRETRAIN:-pretrain_gpt.py}" "${MEGATRON_ARGS[@]}")
    mock=(--mock-data --tokenizer-type NullTokenizer --vocab-size @tokens@
        --train-iters "$steps" --log-interval 1 --eval-iters 0 --lr 1e-5)
elif [ -e "$here/torchtitan_plan.py" ] && ! { [ -e "$here/torchtitan.toml" ] &&
    python3 -c 'import torchtitan.config.job_config' 2>/dev/null; }; then # 0.3: no TOML
    export PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}"
    program=(-m torchtitan.train --module torchtitan_plan --config plan)
    mock=(--config mock --training.steps "$steps" --metrics.log_freq 1)
elif [ -e "$here/torchtitan.toml" ]; then
    program=(-m torchtitan.train --job.config_file "$here/torchtitan.toml")
    mock=(--training.steps "$steps" --metrics.log_freq 1 --training.dataset c4_test
        --model.hf_assets_path ./tests/assets/tokenizer)
elif [ -e "$here/nemo.yaml" ] && [ -n "${PRETRAIN:-}" ]; then
    program=("$PRETRAIN" --config-file "$here/nemo.yaml")
    mock=("train.train_iters=$steps" logger.log_interval=1)
elif [ -e "$here/deepspeed.json" ] && [ -n "${PRETRAIN:-}" ]; then
    program=("$PRETRAIN" --deepspeed_config "$here/deepspeed.json")
elif [ -e "$here/axonn.json" ] && [ -n "${PRETRAIN:-}" ]; then
    program=("$PRETRAIN" "$here/axonn.json")
else
    echo "torchrun.sh: expected megatron.sh, torchtitan.toml or torchtitan_plan.py next to it, or deepspeed.json, nemo.yaml or axonn.json and PRETRAIN=SCRIPT" >&2
    exit 2
fi
# torchtitan: run this in its checkout, in which its recipes find tokenizer and data
[[ ${program[1]} != torchtitan* ]] || [ ! -e "$here/schedule.csv" ] ||
    program+=(--parallelism.pipeline_parallel_schedule_csv "$here/schedule.csv")
[ -z "$steps" ] || program+=("${mock[@]}")
#: only
run=$rank
read -r _ _ count <<<"${runs[run]}"
exec torchrun --nnodes ${#runs[@]} --nproc-per-node "$count" --node-rank "$run" \
    --master-addr "${MASTER_ADDR:-${hosts[0]}}" --master-port "${MASTER_PORT:-29500}" \
    "${program[@]}" "$@"
#: several
IFS=, read -r -a gpus <<<"${CUDA_VISIBLE_DEVICES:-$(seq -s , 0 @last@)}"
for ((run = 0; run < ${#runs[@]}; run++)); do
    read -r node first count <<<"${runs[run]}"
    [ "$node" -eq "$rank" ] || continue
    CUDA_VISIBLE_DEVICES=$(IFS=, && echo "${gpus[*]:first:count}") \
    torchrun --nnodes ${#runs[@]} --nproc-per-node "$count" --node-rank "$run" \
    --master-addr "${MASTER_ADDR:-${hosts[0]}}" --master-port "${MASTER_PORT:-29500}" \
    "${program[@]}" "$@" &
done
failed=0
while [ -n "$(jobs -p)" ]; do
    wait -n || { failed=$?; jobs -p | xargs -r kill 2>/dev/null || true; wait || true; }
done
exit $failed

#!/bin/sh
# States over groups of data ranks (layout.data_shard) from end to end: a plan is verified and
# checked; each framework's file of it is read back with the same groups, or names them as not
# expressed; a space leaves out data degrees that are no whole groups; tables of runs state it.
BIN=${BIN:-bin} work=build/test_hybrid_sharding.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "hybrid sharding: $*" >&2; failed=1; }

# make FRAMEWORK ZERO SHARD
make() {
    rm -rf "$work/p"
    "$plumbline" example gpt --model llama-3.1-8b --nodes 4 --framework "$1" --tensor 1 \
        --pipeline 1 --data 32 --zero "$2" -o "$work/p" >/dev/null 2>&1 || wrong "$1: example"
    sed -i "s/\"zero\": $2/&, \"data_shard\": $3/" "$work/p/job.json"
    "$plumbline" solve "$work/p/problem.json" -o "$work/p/plan.json" \
        --certificate "$work/p/proof.json" --quiet 2>"$work/log" || wrong "$1: $(cat "$work/log")"
    "$plumbline" verify "$work/p/plan.json" --problem "$work/p/problem.json" >"$work/log" 2>&1 ||
        wrong "$1: $(cat "$work/log")"
    "$plumbline" check "$work/p/proof.json" "$work/p/problem.json" >"$work/log" 2>&1 ||
        wrong "$1: $(cat "$work/log")"
}

# back IMPORTER FILE OPTION ...: the job that it reads
back() {
    importer=$1 file=$2; shift 2
    "$plumbline" import "$importer" "$file" "$@" >/dev/null 2>"$work/log" ||
        wrong "$importer: $(tail -1 "$work/log")"
    grep -q '"data_shard": 8' "$work/job.json" || wrong "$importer: no groups of 8"
}

export_as() { "$plumbline" report --format "$1" "$work/p/plan.json" >"$work/$2" || wrong "$1"; }

make torchtitan 3 8
export_as torchtitan titan.toml
back torchtitan "$work/titan.toml" --gpus 32 -o "$work/job.json"
make deepspeed 3 8
export_as deepspeed ds.json
back deepspeed "$work/ds.json" --gpus 32 --sequence 4096 -o "$work/job.json"
make deepspeed 1 8
export_as deepspeed ds.json
grep -q 'states over groups of 8 data ranks: DeepSpeed' "$work/ds.json" || wrong "ZeRO 1 as MiCS"
make nemo 1 8
export_as nemo nemo.yaml
grep -q 'num_distributed_optimizer_instances: 4' "$work/nemo.yaml" || wrong "NeMo's instances"
back nemo "$work/nemo.yaml" --gpus 32 --job "$work/job.json"
make megatron 1 8
export_as megatron flags.sh
grep -q -e '--num-distributed-optimizer-instances 4' "$work/flags.sh" || wrong "Megatron's"
back megatron "$work/flags.sh" --gpus 32 --job "$work/job.json"
"$plumbline" report "$work/p/plan.json" | grep -q 'ZeRO 1 over groups of 8 data ranks' ||
    wrong "report"

# Groups in files that a launch names: DeepSpeed's MiCS, Accelerate's sections.
printf '{"zero_optimization": {"stage": 3, "mics_shard_size": 8}, "bf16": {"enabled": true}}' \
    >"$work/mics.json"
printf 'deepspeed --num_nodes 4 --num_gpus 8 train.py --deepspeed mics.json \
    --per_device_train_batch_size 1 --max_seq_length 2048' >"$work/mics.sh"
back trainer "$work/mics.sh" -o "$work/job.json"
printf '%s\n' 'distributed_type: FSDP' 'num_processes: 32' 'fsdp_config:' '  fsdp_version: 2' \
    'parallelism_config:' '  parallelism_config_dp_replicate_size: 4' \
    '  parallelism_config_dp_shard_size: 8' >"$work/acc.yaml"
printf 'accelerate launch --config_file acc.yaml train.py --per_device_train_batch_size 1 \
    --max_seq_length 2048' >"$work/acc.sh"
back trainer "$work/acc.sh" -o "$work/job.json"

# A proof for other groups is none for these.
sed -i 's/"data_shard": 8/"data_shard": 4/' "$work/p/job.json"
"$plumbline" check "$work/p/proof.json" "$work/p/problem.json" >"$work/log" 2>&1 &&
    wrong "a proof of other groups is accepted"
grep -q '"zero": 1' "$work/p/job.json" || wrong "no zero 1"
sed -i 's/"zero": 1/"zero": 0/' "$work/p/job.json"
"$plumbline" price "$work/p/problem.json" -o "$work/priced.json" >"$work/log" 2>&1 &&
    wrong "groups without ZeRO"
grep -q 'layout.data_shard: expected zero 1 to 3 next to it' "$work/log" ||
    wrong "$(cat "$work/log")"

# Of the data degrees 2, 4, 8, 16, 32 groups of 8 leave the last three.
make megatron 1 8
sed -i 's/"name": /"space": {"all": ["tensor"], "data": [2, 4, 8, 16, 32]}, &/' "$work/p/job.json"
"$plumbline" solve "$work/p/problem.json" -o "$work/p/plan.json" --layouts "$work/layouts.json" \
    --certificate "$work/p/proof.json" --quiet 2>"$work/log" || wrong "space: $(cat "$work/log")"
"$plumbline" check "$work/p/proof.json" "$work/p/problem.json" >"$work/log" 2>&1 ||
    wrong "space: $(cat "$work/log")"
grep -q 'data_shard' "$work/p/plan.json" || wrong "a plan of the space without its groups"

exit $failed

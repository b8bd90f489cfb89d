#!/bin/sh
# One run at every door (doors.py): columns, documents, launches and exports agree on whether it
# runs and on bytes, time and FLOP. DOORS=500 DOORS_SEED=9: more of them.
name=test_doors
. tests/script.sh
python3 "$root/tests/imports/doors/doors.py" "$plumbline" "$root/data" "$here/runs" "${DOORS:-30}" \
    "${DOORS_SEED:-1}" > out 2> err || complain "doors"
cat out
# A blank cell is what the trainer does: DeepSpeed sums gradients in two bytes, sharded at ZeRO 3.
run="gpu=A100-40GB num_gpus=8 layers=32 hidden=4096 ffn=11008 heads=32 vocab=32000 seq=2048 zero=3
    micro_batch=1 global_batch=128 flash=1 precision=bf16 trainer=deepspeed"
gives 0 predict --json $run && cp out blank
gives 0 predict --json $run gradient_bytes=2
cmp -s out blank || complain "predict: gradient_bytes=2 is not DeepSpeed's default"
grep -q '"weight_bytes": \([0-9]*\), "gradient_bytes": \1,' out ||
    complain "ZeRO 3: gradients are not sharded as the weights are"
ended

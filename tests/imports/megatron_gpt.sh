#!/bin/bash
# A launch script as people write them: arrays, strings of flags, variables, comments behind flags.
export OMP_NUM_THREADS=1
GPUS_PER_NODE=8
NUM_NODES=${NNODES:-4}
WORLD_SIZE=$(($GPUS_PER_NODE * $NUM_NODES))
CHECKPOINTS=$1 # a folder
TP=8
LAUNCH=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
    --rdzv-endpoint "$HOSTNAME:29500"
)
MODEL=(
    --num-layers 96 # of them one in four groups
    --hidden-size 12288
    --num-attention-heads 96
    --seq-length 2048
    --max-position-embeddings 2048
)
TRAINING="
    --micro-batch-size 1 \
    --global-batch-size 1536
    --fp16
    --lr 6.0e-5
"
torchrun ${LAUNCH[@]} pretrain_gpt.py ${MODEL[@]} $TRAINING --tensor-model-parallel-size ${TP} \
    --pipeline-model-parallel-size=4 \
    --sequence-parallel --vocab-size '50257' --save "$CHECKPOINTS/of this run"

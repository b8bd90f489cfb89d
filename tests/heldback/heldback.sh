#!/bin/sh
# Measures some shapes on this machine, calibrates costs from them, then measures other shapes and shows how well the costs
# predict those. usage: heldback.sh PLUMBLINE HELDBACK [FOLDER]. HELDBACK_BUDGET_S: seconds for the training shapes (30) and
# for each other one (10); HELDBACK_THREADS: all processors; HELDBACK_SET: which shapes, see below (small); HELDBACK_OPTIONS:
# --shared where other programs use the machine
set -eu
plumbline=$1 heldback=$2 folder=${3:-build/heldback}
budget_s=${HELDBACK_BUDGET_S:-30}
held_budget_s=${HELDBACK_HELD_BUDGET_S:-10}
threads=${HELDBACK_THREADS:-$(nproc 2>/dev/null || echo 1)}
options=${HELDBACK_OPTIONS:-}
rm -rf "$folder"
mkdir -p "$folder"

# model NAME HIDDEN FFN HEADS KV_HEADS VOCABULARY GATED(true|false): a model file of one block
model() {
    cat > "$folder/model-$1.json" <<JSON
{
  "kind": "plumbline.model", "version": 1, "name": "$1",
  "shape": {"hidden": $2, "ffn": $3, "heads": $4, "kv_heads": $5, "head_width": $(($2 / $4)), "vocabulary": $6, "positions": 0,
            "gated_ffn": $7, "rms_norm": $7, "qkv_bias": false, "linear_bias": false, "dropout": false, "tied_embeddings": false},
  "runs": [{"name": "embedding", "kind": "embedding", "count": 1, "recomputable": false},
           {"name": "block", "kind": "block", "count": 1, "recomputable": true},
           {"name": "head", "kind": "head", "count": 1, "recomputable": false}]
}
JSON
}

# held NAME SEQUENCE MICRO_BATCHES
held() {
    "$plumbline" measure compute --quick --model "$folder/model-$1.json" --sequence "$2" --micro-batch "$3" --threads "$threads" $options \
        --budget-s "$held_budget_s" --seed 7 -o "$folder/held-$1.json"
}

case ${HELDBACK_SET:-small} in
small)
    train="hidden=512,ffn=2048,heads=8,vocabulary=8000;hidden=768,ffn=2048,heads=12,kv_heads=4,vocabulary=6000,gated=1"
    model a 640 2560 10 10 7000 false
    model b 896 2400 14 2 5000 true
    model c 384 1536 6 6 9000 false
    sequences="256 192 320" ;;
large)
    train="hidden=1024,ffn=4096,heads=16,vocabulary=16000;hidden=1600,ffn=6400,heads=25,vocabulary=20000"
    model a 1280 5120 20 20 18000 false
    model b 1536 4096 24 8 12000 true
    model c 2048 5632 32 4 10000 true
    sequences="256 256 128" ;;
tiny)
    train="hidden=128,ffn=512,heads=2,vocabulary=2000;hidden=256,ffn=1024,heads=4,vocabulary=3000"
    model a 192 768 3 3 2500 false
    model b 320 800 5 1 1500 true
    model c 160 640 5 5 2000 false
    sequences="128 96 160" ;;
*) echo "heldback.sh: unknown HELDBACK_SET: small, large, tiny" >&2; exit 2 ;;
esac

"$plumbline" measure compute --quick --shape "$train" --sequence 256 --micro-batch 1,2 --threads "$threads" $options --budget-s "$budget_s" \
    --name here -o "$folder/train.json"
"$plumbline" calibrate "$folder/train.json" --show -o "$folder/costs.json"
set -- $sequences
for name in a b c; do held "$name" "$1" 1,3; shift; done
"$heldback" "$folder/costs.json" "$folder"/held-?.json

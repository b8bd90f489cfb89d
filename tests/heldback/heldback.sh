#!/bin/sh
# Measures several shapes on this machine in one run, and shows how well costs of all shapes but one
# predict that one. usage: heldback.sh PLUMBLINE HELDBACK [FOLDER]. HELDBACK_BUDGET_S: seconds (60);
# HELDBACK_SET: which shapes (small); HELDBACK_OPTIONS: more options of measure compute, --shared
# where other programs use the processors
set -eu
plumbline=$1 heldback=$2 folder=${3:-build/heldback}
mkdir -p "$folder"
case ${HELDBACK_SET:-small} in
tiny) sequence=256
    shapes="hidden=192,ffn=768,heads=3,vocabulary=4000;hidden=256,ffn=1024,heads=4,vocabulary=3000"
    shapes="$shapes;hidden=320,ffn=800,heads=5,kv_heads=1,vocabulary=3500,gated=1"
    shapes="$shapes;hidden=384,ffn=1536,heads=6,vocabulary=2500" ;;
small) sequence=256
    shapes="hidden=512,ffn=2048,heads=8,vocabulary=8000"
    shapes="$shapes;hidden=768,ffn=2048,heads=12,kv_heads=4,vocabulary=6000,gated=1"
    shapes="$shapes;hidden=640,ffn=2560,heads=10,vocabulary=5000"
    shapes="$shapes;hidden=448,ffn=1280,heads=7,vocabulary=9000,gated=1" ;;
large) sequence=512
    shapes="hidden=1024,ffn=4096,heads=16,vocabulary=8000"
    shapes="$shapes;hidden=1280,ffn=3456,heads=20,kv_heads=4,vocabulary=6000,gated=1"
    shapes="$shapes;hidden=1152,ffn=4608,heads=18,vocabulary=5000" ;;
*) echo "heldback.sh: HELDBACK_SET is none of tiny, small, large" >&2; exit 2 ;;
esac
"$plumbline" measure compute --quick --shape "$shapes" --sequence $sequence --micro-batch 1,2 \
    --budget-s "${HELDBACK_BUDGET_S:-60}" \
    ${HELDBACK_OPTIONS:-} -o "$folder/samples.json"
"$heldback" "$folder/samples.json"

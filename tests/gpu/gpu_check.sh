#!/bin/sh
# compute-sanitizer over a tiny run of each command: memory accesses everywhere, races in the
# kernels of our own. usage: gpu_check.sh MEASURE [FOLDER]; exit code 1 if anything is found
measure=${1:?the program} folder=${2:-$(mktemp -d)}
command -v compute-sanitizer > /dev/null ||
    { echo "gpu_check: compute-sanitizer is not there"; exit 2; }
small='hidden=128,heads=2,kv_heads=1,ffn=256,vocabulary=512,gated=1'
bad=0
look() {        # look NAME TOOL WORDS...
    name=$1 tool=$2
    shift 2
    if timeout "${CHECK_LIMIT_S:-75}" compute-sanitizer --tool "$tool" --error-exitcode 9 \
        --print-limit 5 \
        "$measure" "$@" --backend cuda --quiet --budget-s 0.05 -o "$folder/check_$name.json" \
        > "$folder/check_$name.log" 2>&1
    then echo "sanitizer, $tool: $name clean"
    else
        code=$? words=$(grep -m1 -E 'ERROR SUMMARY|Error|error|plumbline' "$folder/check_$name.log")
        echo "sanitizer, $tool: $name exit $code: $words"; bad=1
    fi
}
look compute memcheck compute --quick --shape "$small" --sequence 64 --precision bf16 \
    --recompute full
look fused memcheck compute --quick --fused --graphs --shape "$small" --sequence 128 \
    --precision bf16 --recompute none
look parts memcheck compute --quick --experts 2 --context 1,2 --shape "$small" --sequence 64 \
    --precision bf16 --recompute none
look compress memcheck compress --quick --shape "$small" --sequence 64 --rank 4 --precision bf16
look memory memcheck memory --largest-mib 1
look races racecheck compress --quick --shape "$small" --sequence 64 --rank 4 --precision fp32
exit $bad

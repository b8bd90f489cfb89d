#!/bin/sh
# The shipped costs that are fitted are what their commands give (data/costs/make.sh), number by number. Skipped where the shared
# validation sets are not at hand. What calibrate writes can be used: every file is read again.
set -u
root=$(pwd) here=$(pwd)/build/test_shipped_costs.$$
case ${BIN:=bin} in /*) ;; *) BIN=$root/$BIN ;; esac
export BIN
mkdir -p "$here" || exit 1
trap 'rm -rf "$here"' EXIT
sh data/costs/make.sh "$here" > "$here/log" 2>&1
code=$?
[ $code = 3 ] && { cat "$here/log"; echo "skipped"; exit 0; }
[ $code = 0 ] || { cat "$here/log"; echo "FAILED: data/costs/make.sh: exit code $code"; exit 1; }
failures=0 made=0 sets=${SETS:-../shared/validation}
predict() {
    # shellcheck disable=SC2086
    "$BIN/plumbline" predict gpu="$gpu" num_gpus=8 layers=8 hidden=1024 seq=1024 global_batch=8 --costs "$here/$1.json" $cluster \
        > "$here/log" 2>&1 || { echo "FAILED: predict with $1:"; cat "$here/log"; failures=$((failures + 1)); }
}
without_folders() { sed 's|"path": "[^"]*/|"path": "|' "$1"; }
for file in "$here"/*.json; do
    name=$(basename "$file" .json) made=$((made + 1))
    without_folders "$file" > "$here/new" && without_folders "data/costs/$name.json" > "$here/shipped"
    diff "$here/shipped" "$here/new" > "$here/diff" ||
        { echo "FAILED: data/costs/$name.json is not what make costs gives:"; head -12 "$here/diff"; failures=$((failures + 1)); }
    gpu=$(sed -n 's/.*"gpu": "\([^"]*\)".*/\1/p' "$file" | head -1) cluster=
    [ "$name" = t4-amp ] && cluster='--cluster t4-4x4'
    predict "$name"
done
# Memory that is foreseen too high asks for a factor below 1, which there is not: the fit ends there, and the file can be read.
"$BIN/plumbline" calibrate --iterations "$sets/nvidia_dgxc_v25.04.csv" --costs datasheet-overlapped --set allocator_factor=1 \
    --default overlap=1 --rows metric=peak_memory --fit allocator_factor --name edge -o "$here/edge.json" > "$here/log" 2>&1 ||
    { echo "FAILED: calibrate --fit allocator_factor"; cat "$here/log"; failures=$((failures + 1)); }
gpu=h100-80gb cluster=
predict edge
[ $made -ge 5 ] || { echo "FAILED: $made files were made"; failures=$((failures + 1)); }
[ $failures = 0 ] && echo "$made files of costs are what their commands give"
[ $failures = 0 ]

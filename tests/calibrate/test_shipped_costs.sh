#!/bin/sh
# The shipped costs that come out of rows are what their commands give (data/costs/make.sh), text by
# text and every number to 1e-9: linear algebra rounds differently from processor to processor.
# Skipped where the shared validation sets are not at hand. What the commands write can be used:
# every file is read again.
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
    "$BIN/plumbline" predict gpu="$gpu" num_gpus=8 layers=8 hidden=1024 seq=1024 global_batch=8 \
        --costs "$here/$1.json" $cluster \
        > "$here/log" 2>&1 || { echo "FAILED: predict with $1:"; cat "$here/log"
            failures=$((failures + 1)); }
}
without_folders() { sed 's|"path": "[^"]*/|"path": "|' "$1"; }
# Prints the lines in which two files differ, if any do.
compare() {
    awk -v made="$2" '
        function number(word) { return word ~ /^-?[0-9.]+([eE][-+]?[0-9]+)?$/ && word + 0 != 0 }
        function alike(a, b) {
            return a == b || (number(a) && number(b) && (a / b - 1) ^ 2 < 1e-18)
        }
        {
            line = ""
            getline line < made
            same = (n = split($0, a, /[][{}:, ]+/)) == split(line, b, /[][{}:, ]+/)
            for (i = 1; i <= n && same; i++) same = alike(a[i], b[i])
            if (!same) different = 1
            if (!same) print "< " $0 "\n> " line
        }
        END { exit different || (getline line < made) > 0 }' "$1"
}
for file in "$here"/*.json; do
    name=$(basename "$file" .json) made=$((made + 1))
    without_folders "$file" > "$here/new" &&
        without_folders "data/costs/$name.json" > "$here/shipped"
    compare "$here/shipped" "$here/new" > "$here/diff" ||
        { echo "FAILED: data/costs/$name.json is not what make costs gives:"
            head -12 "$here/diff"; failures=$((failures + 1)); }
    gpu=$(sed -n 's/.*"gpu": "\([^"]*\)".*/\1/p' "$file" | head -1)
    case $name in
    t4-amp) cluster='--cluster t4-4x4' ;;
    gh200-sailor) cluster='--cluster gh200-clariden' ;;
    *) cluster= ;;
    esac
    predict "$name"
done
# Memory that is foreseen too high asks for a factor below 1, which there is not: the fit ends
# there, and the file can be read.
"$BIN/plumbline" calibrate --iterations "$sets/nvidia_dgxc_v25.04.csv" \
    --read-notes --costs datasheet-overlapped --set allocator_factor=1.2 \
    --default overlap=1 --rows metric=peak_memory --fit allocator_factor --name edge \
    -o "$here/edge.json" > "$here/log" 2>&1 ||
    { echo "FAILED: calibrate --fit allocator_factor"; cat "$here/log"; failures=$((failures + 1))
        }
gpu=h100-80gb cluster=
predict edge
[ $made -ge 6 ] || { echo "FAILED: $made files were made"; failures=$((failures + 1)); }
[ $failures = 0 ] && echo "$made files of costs are what their commands give"
[ $failures = 0 ]

#!/bin/sh
# Products of shapes that were kept back, of the shared kernel tables: all of one width of model by
# a fit that has not seen it, and each shape by one that has not seen it. Skipped where the tables
# are not at hand. Tables that are not understood are refused by file, line and column.
set -u
here=build/test_products.$$ sets=${SETS:-../shared/validation} plumbline=${BIN:-bin}/plumbline \
    failures=0
mkdir -p "$here" || exit 1
trap 'rm -rf "$here"' EXIT
complain() { echo "FAILED: $*"; failures=$((failures + 1)); }
refuse() { # text of the table, what is told, options
    printf '%b' "$1" > "$here/bad.csv"
    # shellcheck disable=SC2086
    "$plumbline" calibrate --products "$here/bad.csv" ${3:-} ${4:-} -o "$here/x.json" > /dev/null \
        2> "$here/log"
    code=$?
    [ $code = 2 ] && grep -q "$2" "$here/log" ||
        complain "exit code $code of a table '$1': $(cat "$here/log")"
}
refuse 'gpu,m,n,median_us\na100,1,2,3\n' 'found no k'
refuse 'gpu,m,n,k,median_us\na100,1,2,x,3\n' 'line 2, column k'
refuse 'gpu,m,n,k,median_us\na100,1,2,3,\n' 'line 2, column median_us'
refuse 'gpu,m,n,k,median_us\n' 'found none'
refuse 'gpu,m,n,k,median_us\nz80,1,2,3,4\n' "no GPU like 'z80'"
refuse 'gpu,m,n,k,median_us\na100,1,2,3,4\n' 'at least 8 shapes, found 1'
refuse 'gpu,m,n,k,median_us\na100,1,2,3,4\n' \
    "zeros: expected depths above 0 with commas between, found '7x'" --zeros 5,7x
[ -f "$sets/gemm_shapes.csv" ] || { echo "skipped: $sets is not at hand"; exit $((failures > 0)); }

# Lines "GPU: N products ..., mean error A % (from 1,024 rows on B %)": A and B at most these.
hold() {
    awk -v gpu="$1" -v all="$2" -v long="$3" -v what="$4" '
        index($0, gpu ": ") == 1 && $0 ~ what {
            line = substr($0, match($0, what))
            n = split(line, a, /[^0-9.]+/)
            m = 0
            for (i = 1; i <= n; i++) if (a[i] ~ /^[0-9]+[.][0-9]+$/) e[++m] = a[i]
            found = 1
            if (m < 2 || e[1] > all || e[2] > long) {
                print "at most " all " and " long " expected: " $0
                bad = 1
            }
        }
        END { if (!found) print gpu ": nothing is told"; exit bad || !found }' "$here/log" ||
            failures=$((failures + 1))
}
# The FFN's second products, told by their depth, were of zeros (docs/FORMULAS.md section 10).
zeros=1376,1728,1792,2752,3456,3584,5504,6912,7168,11008,13824,14336,22016,28672
"$plumbline" calibrate --products "$sets/gemm_shapes.csv" --zeros $zeros -o "$here/x.json" \
    > /dev/null 2> "$here/log" ||
    complain "$(cat "$here/log")"
cat "$here/log"
hold a100-80gb 6.4 5.0 'kept back'
hold h100-80gb 7.0 5.9 'kept back'
# Nobody says which they were.
"$plumbline" calibrate --products "$sets/gemm_shapes.csv" -o "$here/x.json" > /dev/null \
    2> "$here/log" || complain "$(cat "$here/log")"
echo "zeros not told:" && cat "$here/log"
hold a100-80gb 6.4 5.1 'kept back'
hold h100-80gb 7.4 6.3 'kept back'
# All others, among themselves.
awk -F, \
    'NR == 1 || $4 == 512 || $4 == 1024 || $4 == 2048 || $4 == 4096 || $4 == 5120 || $4 == 8192' \
    "$sets/gemm_shapes.csv" > "$here/fit.csv"
"$plumbline" calibrate --products "$here/fit.csv" -o "$here/x.json" > /dev/null 2> "$here/log" ||
    complain "$(cat "$here/log")"
echo "inputs not zero:" && cat "$here/log"
hold a100-80gb 6.6 5.1 'kept back'
hold h100-80gb 6.6 5.2 'kept back'
for hidden in 4096 5120 8192; do
    awk -F, -v h=$hidden 'NR == 1 || ($3 != h && $4 != h)' "$sets/gemm_shapes.csv" > "$here/fit.csv"
    awk -F, -v h=$hidden 'NR == 1 || $3 == h || $4 == h' "$sets/gemm_shapes.csv" > "$here/kept.csv"
    "$plumbline" calibrate --products "$here/fit.csv" --zeros $zeros --score "$here/kept.csv" \
        -o "$here/x.json" > /dev/null 2> "$here/log" ||
        complain "$(cat "$here/log")"
    echo "hidden $hidden kept back:" && grep kept.csv "$here/log"
    hold a100-80gb 7.8 6.2 'kept.csv'
    hold h100-80gb 8.0 6.8 'kept.csv'
done
exit $((failures > 0))

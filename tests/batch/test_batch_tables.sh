#!/bin/sh
# plumbline batch collect and plot: every cell is the plan's (table_check.py), rows are filtered,
# sorted and grouped as asked, names from manifests are text, and what is not there is told.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
case ${BIN:=bin} in /*) plumbline=$BIN/plumbline ;; *) plumbline=$root/$BIN/plumbline ;; esac
here=$root/build/test_batch_tables.$$
failures=0
command -v python3 > /dev/null || { echo "skipped: tables of batches: python3 is not installed"
    exit 0; }
rm -rf "$here" && mkdir -p "$here" && cd "$here" || exit 1
trap 'cd "$root"; rm -rf "$here"' EXIT
complain() { echo "FAILED: $*"; sed 's/^/    /' "$here/err" | tail -5; failures=$((failures + 1)); }
gives() {       # gives CODE ARGUMENT ...
    expected=$1; shift
    "$plumbline" batch "$@" > "$here/out" 2> "$here/err" < /dev/null
    code=$?
    [ $code = "$expected" ] || complain "batch $*: expected exit code $expected, found $code"
}
refuses() {     # refuses TEXT ARGUMENT ...
    text=$1; shift
    gives 2 "$@"
    grep -qF -- "$text" err || complain "batch $*: '$text' is not in what it says"
}
column() { tr -d '\r' < out | tail -n +2 | tr '\n' ' '; }

"$plumbline" example chain --layers 12 --stages 3 --micro-batches 6 -o chain > /dev/null || exit 1
{ tr -d '\n' && echo; } > m.jsonl <<'LINE'
{"sweep": {"model": "gpt2-xl", "gpu": "a100-80gb", "nodes": [1, 2], "global_batch": [64, 128],
 "layouts": "degrees", "gpu_hour_price": 2}, "options": {"gap": 0.02}}
LINE
{ tr -d '\n' && echo; } >> m.jsonl <<'LINE'
{"sweep": {"problem": "chain/problem.json", "job.global_batch": [3, 9]},
 "name": "</script><b>a_b & 5%, \"c\"", "options": {"certificate": [true, false]}}
LINE
gives 0 run m.jsonl -o b --jobs 2
gives 0 collect b -o table.csv
for file in table.tex page.html; do gives 0 collect b -o $file; done
for plot in time pareto gap scaling; do gives 0 plot b --of $plot -o $plot.svg; done
python3 "$root/tests/batch/table_check.py" b table.csv table.tex page.html time.svg pareto.svg \
    gap.svg scaling.svg > err || complain "what the tables say"
grep -q '<b>a_b' page.html time.svg && complain "a name is an element"
grep -q '&lt;b&gt;a_b &amp; 5%' page.html || complain "the name is not in the page"
grep -q 'ideal' scaling.svg || complain "no ideal"

# Rows by what they say.
gives 0 collect b --where 'model=gpt2-xl' --columns nodes,global_batch --sort '-nodes,global_batch'
[ "$(column)" = "2,64 2,128 1,64 1,128 " ] || complain "sorted: $(cat out)"
gives 0 collect b --where 'nodes >= 2' --where 'global_batch != 64' --columns global_batch
[ "$(column)" = "128 " ] || complain "filtered: $(cat out)"
gives 0 collect b --where 'name~a_b' --columns job.global_batch,claim --sort claim
unaudited='"proven, not yet audited"'
[ "$(column)" = "3,certified 9,certified 3,$unaudited 9,$unaudited " ] ||
    complain "contained: $(cat out)"
# as a paper would have it
if command -v pdflatex > /dev/null && kpsewhich booktabs.sty > /dev/null; then
    printf '%s\n' '\documentclass{article}' '\usepackage{booktabs,longtable}' \
        '\usepackage[T1]{fontenc}' '\begin{document}' \
        '\input{table.tex}' '\end{document}' > paper.tex
    pdflatex -interaction=nonstopmode -halt-on-error paper.tex > err 2>&1 ||
        complain "LaTeX refuses the table"
fi
gives 0 collect b --group global_batch --format tex
[ "$(grep -c multicolumn out)" = 3 ] && [ "$(grep -c addlinespace out)" = 2 ] ||
    complain "grouped: $(cat out)"
gives 0 collect b --where 'gap_percent<0' --columns name
[ "$(wc -l < out)" = 1 ] || complain "none: $(cat out)"

# What was not solved is a row, too.
printf '%s\n' '{"problem": "chain/problem.json", "options": {"seed": [1, 2]}}' > more.jsonl
gives 0 lines more.jsonl -o more
gives 0 collect more --columns name,outcome,iteration_s
[ "$(column)" = "seed 1,waiting, seed 2,waiting, " ] || complain "waiting: $(cat out)"

refuses "the nearest is iteration_s" collect b --sort iteration
refuses "--where: expected KEY" collect b --where nothing
refuses "no/instances.jsonl: cannot be read" collect no
refuses "more: expected rows with a time and GPUs, found none" plot more --of time
refuses "--of is missing" plot b
refuses "cannot be written" collect b -o nowhere/table.csv

[ $failures = 0 ] || { echo "$failures failures"; exit 1; }
echo "tables and drawings as their plans have it"

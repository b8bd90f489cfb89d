#!/bin/sh
# report --format html: one page that nests, loads nothing and takes names as text; its numbers and
# its schedule are the plan's (page_check.py). In Chromium, where it is installed, it loads without
# an error, zooms and sorts (page_browse.py).
set -u
plumbline=${BIN:-bin}/plumbline
here=build/test_report_html.$$
failures=0
mkdir -p "$here" || exit 1
trap 'rm -rf "$here"' EXIT
command -v python3 > /dev/null || { echo "skipped: report --format html: python3 is not installed"
    exit 0; }

complain() { echo "FAILED: $*"; sed 's/^/    /' "$here/out" "$here/err" | tail -5
    failures=$((failures + 1)); }
run() {         # run CODE ARGUMENT ...
    expected=$1; shift
    "$plumbline" "$@" > "$here/out" 2> "$here/err" < /dev/null
    code=$?
    [ $code = "$expected" ] || complain "plumbline $*: expected exit code $expected, found $code"
}
page() {        # page NAME BYTES: of at most so many
    run 0 report --format html "$here/$1/plan.json" -o "$here/$1/report.html"
    python3 tests/report/page_check.py "$here/$1/plan.json" "$here/$1/report.html" > "$here/out" \
        2> "$here/err" || complain "page of $1"
    [ "$(wc -c < "$here/$1/report.html")" -le "$2" ] || complain "page of $1: more than $2 bytes"
}
says() { grep -qF -- "$2" "$here/$1/report.html" || complain "'$2' is not in the page of $1"; }

# Names that would be elements, ends of attributes or of scripts.
run 0 example mixed -o "$here/mixed"
hostile='</script><script>alert(1)</script><b \\"x\\" onclick='"'"'y'"'"'>\&amp; \&lt;!--'
sed -i "s|\"name\": \"llama-3.1-70b on[^\"]*\"|\"name\": \"$hostile\"|" "$here/mixed/problem.json"
sed -i "s|\"name\": \"v100\"|\"name\": \"<img src=x onerror=alert(2)>\"|" "$here/mixed/cluster.json"
grep -q onerror "$here/mixed/cluster.json" && grep -q onclick "$here/mixed/problem.json" ||
    complain "hostile names are not in the documents"
sed -i 's/"gpus_per_node": \([0-9]*\),/"gpus_per_node": \1, "gpu_hour_price": 2.5,/' \
    "$here/mixed/cluster.json"
run 0 solve "$here/mixed/problem.json" -o "$here/mixed/plan.json" \
    --quiet --certificate "$here/mixed/proof.json"
page mixed 200000
says mixed '<h1>&lt;/script&gt;&lt;script&gt;'
says mixed 'optimal (proven, not yet audited)'
run 0 report "$here/mixed/plan.json"
for what in tokens FLOP MFU price; do
    line=$(sed -n "s/^  $what  *//p" "$here/out")
    [ -n "$line" ] || complain "the text report says nothing of $what"
    says mixed "<tr><th scope=\"row\">$what</th><td>$line</td></tr>"
done
run 0 verify "$here/mixed/plan.json" --certificate "$here/mixed/proof.json" \
    -o "$here/mixed/verdict.json"
run 0 report --format html --verdict "$here/mixed/verdict.json" "$here/mixed/plan.json" \
    -o "$here/mixed/report.html"
says mixed 'Bound, certified'
says mixed ', optimal (certified)</p>'
run 0 report --format html "$here/mixed/plan.json" -o "$here/mixed/report.html"

# The commands that the page gives make the same plan again.
sed -n 's/.*<pre id="commands">\(plumbline solve [^<]*\)$/\1/p' "$here/mixed/report.html" \
    > "$here/again"
case $plumbline in /*) program=$plumbline ;; *) program=$(pwd)/$plumbline ;; esac
cp "$here/mixed/plan.json" "$here/plan.json"
(cd "$here/mixed" && eval "$(sed "s|^plumbline|'$program'|" "../again") --quiet") \
    > "$here/out" 2> "$here/err" || complain "the command to repeat it"
[ -s "$here/again" ] && grep -v seconds "$here/plan.json" > "$here/a" &&
    grep -v seconds "$here/mixed/plan.json" | cmp -s - "$here/a" ||
    complain "repeated: another plan"
run 0 report --format html "$here/mixed/plan.json" -o "$here/mixed/report.html"

# 16 stages: 64 micro-batches below 2 MB, 512 too.
for batches in 64 512; do
    run 0 example gpt --pipeline 16 --tensor 8 --data 1 --micro-batch 1 --global-batch $batches \
        -o "$here/deep$batches"
    run 0 solve "$here/deep$batches/problem.json" -o "$here/deep$batches/plan.json" --quiet
    page deep$batches 2000000
done

# Several stages a rank; split backward; a placement with its map; a space of layouts; no plan.
run 0 example gpt --schedule interleaved --virtual-stages 2 -o "$here/wound"
run 0 solve "$here/wound/problem.json" -o "$here/wound/plan.json" --quiet --gap 0.1
page wound 1000000
# Best plan and bound over time: two bounds, the first plan's time at the upper edge; another plan's
# lines are refused.
time_of() { sed -n "s/^  \"$1_ns\": \([0-9]*\),.*/\1/p" "$here/wound/plan.json"; }
awk -v plan="$(time_of iteration)" -v bound="$(time_of bound)" 'BEGIN {
    printf "     0.1 s  plan %.9f s  no bound yet  a first plan\n", plan * 1.25 / 1e9
    printf "     nan s  plan 1 s  bound inf s\n"
    printf "     0.5 s  plan %.9f s  bound %.9f s  gap\n", plan / 1e9, bound * 0.5 / 1e9
    printf "     0.9 s  plan %.9f s  bound %.9f s", plan / 1e9, bound / 1e9 }' > "$here/log"
run 0 report --format html --progress "$here/log" "$here/wound/plan.json" \
    -o "$here/wound/report.html"
python3 tests/report/page_check.py "$here/wound/plan.json" "$here/wound/report.html" > "$here/out" \
    2> "$here/err" || complain "page with its search"
[ "$(grep -c '<circle' "$here/wound/report.html")" = 2 ] ||
    complain "expected two bounds on the way"
says wound \
    ">$(awk -v plan="$(time_of iteration)" 'BEGIN { printf "%.6f s", plan * 1.25 / 1e9 }')</text>"
run 2 report --format html --progress "$here/log" "$here/deep64/plan.json"
grep -q 'expected plans of at least' "$here/err" || complain "lines of another plan"
run 2 report --format html --progress "$here/wound/plan.json" "$here/wound/plan.json"
grep -q 'expected lines of solve --progress, found none' "$here/err" || complain "no lines"
run 0 example gpt --framework any --schedule zb-h1 -o "$here/split"
run 0 solve "$here/split/problem.json" -o "$here/split/plan.json" --quiet
page split 1000000
echo '{"gpus": ["a<b>", "b&c", "c", "d"], "bandwidth": [
    [19, 10, 12, 9], [10, 19, 11, 12], [12, 11, 19, 10], [9, 12, 10, 19]]}' > "$here/matrix.json"
run 0 example pipette --matrix "$here/matrix.json" --stages 2 --objective iteration_time \
    --layers 8 -o "$here/placed"
run 0 solve "$here/placed/problem.json" -o "$here/placed/plan.json" --quiet
page placed 1000000
says placed 'Rows send to columns'
says placed '<th scope="col">replica 0</th>'
says placed '<td>a&lt;b&gt;</td>'
run 0 example gpt --model gpt2-xl --sequence 1024 --cluster a100-16x8 --gpus 16 --layouts degrees \
    --global-batch 32 -o "$here/space"
run 0 solve "$here/space/problem.json" -o "$here/space/plan.json" --quiet --gap 0.01
page space 1000000
says space 'id="layouts-table"'
mv "$here/space/plan.layouts.json" "$here/elsewhere.json"
page space 1000000
! grep -q 'id="layouts-table"' "$here/space/report.html" || complain "layouts from nowhere"
run 0 report --format html --layouts "$here/elsewhere.json" --top 3 "$here/space/plan.json" \
    -o "$here/space/report.html"
says space 'the first 3 are shown'
run 2 report --format html --layouts "$here/elsewhere.json" "$here/mixed/plan.json"
grep -q 'made_from: its problem is not the one that' "$here/err" ||
    complain "layouts of another problem"
run 2 report --format html --layouts "$here/elsewhere.json"
mv "$here/elsewhere.json" "$here/space/plan.layouts.json"
page space 1000000
run 0 example gpt --memory-fraction 0.01 -o "$here/tight"
run 11 solve "$here/tight/problem.json" -o "$here/tight/plan.json" --quiet
page tight 50000
says tight 'infeasible (proven, not yet audited)'

python3 tests/report/page_browse.py "$here" > "$here/out" 2> "$here/err" || complain "in a browser"
cat "$here/out"
[ $failures = 0 ] && echo "report --format html: all as expected"
[ $failures = 0 ]

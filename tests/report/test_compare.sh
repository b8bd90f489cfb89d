#!/bin/sh
# plumbline compare: columns say what the plans and predict say; baselines of the same layout; every
# format holds the same words.
BIN=${BIN:-bin} work=build/test_compare.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "compare: $*" >&2; failed=1; }

refuse() {
    words=$1; shift
    "$plumbline" compare "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || wrong "$*: not refused"
    [ "$(wc -l <"$work/err")" -eq 1 ] || wrong "$*: not one line: $(cat "$work/err")"
    grep -q -- "$words" "$work/err" || wrong "$*: not said: $words: $(cat "$work/err")"
}

# said FILE SECTION WHAT: the words of all plans, as CSV
said() {
    python3 - "$@" <<'END'
import csv, sys
for row in csv.reader(open(sys.argv[1])):
    if row[:2] == sys.argv[2:4]: print("|".join(row[2:]))
END
}

"$plumbline" example gpt --model llama-3.1-8b --gpu h100-80gb --gpus 8 --tensor 2 --data 1 \
    --pipeline 4 --global-batch 16 --sequence 4096 -o "$work/gpt" >"$work/log" 2>&1 ||
    { wrong "example: $(cat "$work/log")"; exit 1; }
problem=$work/gpt/problem.json plan=$work/gpt/plan.json
"$plumbline" solve "$problem" -o "$plan" --quiet 2>"$work/log" || wrong "solve: $(cat "$work/log")"
for mode in none selective full; do
    "$plumbline" predict "$problem" --recompute $mode --json >"$work/predicted.json" \
        2>"$work/err" || continue
    "$plumbline" compare "$plan" --uniform --recompute $mode --format csv -o "$work/$mode.csv" ||
        wrong "$mode"
    python3 - "$work" $mode "$plan" <<'END' || failed=1
import csv, json, sys
work, mode, plan = sys.argv[1:]
rows = {(r[0], r[1]): r[2:] for r in csv.reader(open(f"{work}/{mode}.csv"))}
predicted = json.load(open(f"{work}/predicted.json"))
predicted = predicted[0] if isinstance(predicted, list) else predicted
def ns(text):
    number, unit = text.split()
    return float(number) * {"s": 1e9, "ms": 1e6, "us": 1e3}[unit]
first, uniform = map(ns, rows["Time", "iteration"])
stated = json.load(open(plan))["iteration_ns"]
expected = [v for k, v in predicted.items()
            if k in ("iteration_time", "iteration_s", "seconds", "iteration")]
assert abs(first - stated) < 1e6, (first, stated)
assert expected and abs(uniform - float(expected[0]) * 1e9) < 1e6, (uniform, predicted)
assert abs(float(rows["Time", "against the first"][1][2:]) - uniform / first) < 1e-3
assert first <= uniform
END
done
[ -s "$work/full.csv" ] || wrong "no uniform split with full recomputation"

"$plumbline" compare "$plan" --uniform --format csv -o "$work/uniform.csv" || wrong "uniform"
blocks=$(python3 -c 'import json, sys
c = [x["layer_count"] for x in json.load(open(sys.argv[1]))["stages"]]
c[0] -= 1
c[-1] -= 1
print(",".join(map(str, c)))' "$plan" 2>"$work/err") ||
    wrong "stages of the plan: $(cat "$work/err")"
"$plumbline" compare "$plan" --split "$blocks" --recompute none --format csv \
    -o "$work/split.csv" || wrong "split $blocks"
said "$work/split.csv" "What is placed differently than in the first" "layer 1" | grep -q . &&
    wrong "a split like the plan's moves a layer"

for format in text html latex csv; do
    "$plumbline" compare "$plan" "$plan" --uniform --format $format >"$work/out.$format" ||
        wrong "$format"
    [ "$(grep -c 'against the first' "$work/out.$format")" -eq 1 ] || wrong "$format: not the ratio"
done
grep -q 'bottomrule' "$work/out.latex" || wrong "latex has no end"
python3 - "$work/out.html" <<'END' || failed=1
import html.parser, sys
class Page(html.parser.HTMLParser):
    depth = 0
    void = {"meta", "rect", "input", "br"}
    def handle_starttag(self, tag, attributes): self.depth += tag not in self.void
    def handle_endtag(self, tag): self.depth -= tag not in self.void
page = Page(); page.feed(open(sys.argv[1]).read()); page.close()
assert page.depth == 0, page.depth
END

refuse 'PLAN' ; refuse 'no-such' "$work/no-such.json"
refuse 'on 4 stages' "$plan" --split 1,2
refuse 'found' "$plan" --split a,b,c,d
refuse 'placement' "$plan" --in-order
refuse "--recompute: requires --uniform" "$plan" --recompute full
mv "$problem" "$work/gpt/moved.json"
refuse "expected --problem" "$plan" --uniform
"$plumbline" compare "$plan" --uniform --problem "$work/gpt/moved.json" >"$work/out" ||
    wrong "--problem"
[ $failed -eq 0 ] && echo "compare: all as expected"
exit $failed

#!/bin/sh
# The range of a mixture's plan leaves open what teams' mixtures differ by (docs/FORMULAS.md 19):
# planner and judge agree, a range without it is rejected, and costs that were not assumed leave
# nothing of it open.
BIN=${BIN:-bin} work=build/test_range_of_mixtures.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "FAILED: mixtures: $*" >&2; failed=1; }

solve() {
    "$plumbline" solve "$work/$1/problem.json" --quiet -o "$work/$1/plan.json" 2>"$work/log" &&
        "$plumbline" verify "$work/$1/plan.json" >"$work/log" 2>&1 ||
        wrong "$1: $(cat "$work/log")"
}

"$plumbline" example gpt --model qwen3-30b-a3b --gpu h100-80gb --nodes 2 --costs kernels \
    --global-batch 64 --tensor 1 --pipeline 2 --data 8 --expert 8 -o "$work/cold" \
    >/dev/null 2>"$work/log" || wrong "$(cat "$work/log")"
cp -r "$work/cold" "$work/seen"
sed -i '/"iteration_spread"/s/"assumed"/"measured"/' "$work/seen/costs.json"
solve cold
solve seen
python3 - "$work" <<'END' || wrong "ranges"
import json, math, sys
work = sys.argv[1]
plans = {x: json.load(open(f"{work}/{x}/plan.json")) for x in ("cold", "seen")}
for end in ("low", "high"):
    doubts = {x: abs(math.log(p[f"iteration_{end}_ns"] / p["iteration_ns"]))
              for x, p in plans.items()}
    assert math.isclose(doubts["cold"], math.hypot(doubts["seen"], 0.205), abs_tol=1e-6), doubts
    plans["cold"][f"iteration_{end}_ns"] = plans["seen"][f"iteration_{end}_ns"]
    plans["cold"][f"iteration_{end}_s"] = plans["seen"][f"iteration_{end}_s"]
json.dump(plans["cold"], open(f"{work}/cold/plan.json", "w"))
END
"$plumbline" verify "$work/cold/plan.json" >"$work/log" 2>&1 && wrong "a narrow range is accepted"
grep -q "range: cost uncertainty, slow end" "$work/log" || wrong "$(cat "$work/log")"
exit $failed

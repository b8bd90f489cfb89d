#!/bin/sh
# plumbline costs diff and history: what differs, whether intervals have something in common, since
# when a number is outside.
BIN=${BIN:-bin} work=build/test_costs_compare.$$ failed=0
mkdir -p "$work/history" && trap 'rm -rf "$work"' EXIT
wrong() { echo "costs: $*" >&2; failed=1; }
# costs FILE GEMM MEMORY
costs() {
    cat > "$work/$1" << END
{"kind": "plumbline.costs", "version": 1, "name": "own", "gpus": [{"gpu": "g",
 "memory_bytes_per_s": {"value": $3, "low": ${3}, "high": ${3}, "origin": "assumed"},
 "constant_bytes": {"value": 1e8, "origin": "assumed"},
 "precisions": [{"precision": "fp32", "gemm_flop_per_s": {"value": $2e12, "low": ${2}e12,
  "high": ${2}.5e12, "origin": "fitted"}, "attention_flop_per_s": {"value": 1e12,
  "origin": "assumed"}, "low_rank_flop_per_s": {"value": 1e12, "origin": "assumed"}}]}]}
END
}
costs history/1.json 10 1e12
costs history/2.json 10 1e12
costs history/3.json 12 1e12
costs history/4.json 13 1e12
"$BIN/plumbline" costs diff "$work/history/1.json" "$work/history/4.json" > "$work/out" ||
    wrong "diff: exit code $?"
grep -q '^gemm_flop_per_s *g, fp32 .*+30.0 %  outside both intervals$' "$work/out" &&
    tail -1 "$work/out" | grep -q '^1 of [0-9]* numbers differ, 1 by more' ||
    wrong "diff: $(cat "$work/out")"
"$BIN/plumbline" costs diff "$work/history/1.json" "$work/history/2.json" > "$work/out"
tail -1 "$work/out" | grep -q '^0 of ' || wrong "equal ones: $(cat "$work/out")"
"$BIN/plumbline" costs history "$work/history" > "$work/out" || wrong "history: exit code $?"
grep -q 'outside since .*history/3.json$' "$work/out" &&
    tail -1 "$work/out" | grep -q '^1 of .* drifted over 4 documents' ||
    wrong "history: $(cat "$work/out")"
"$BIN/plumbline" costs history "$work" > /dev/null 2> "$work/err"
[ $? = 2 ] && grep -q 'expected at least two documents (.json), found 0' "$work/err" ||
    wrong "an empty folder: $(cat "$work/err")"
"$BIN/plumbline" costs diff "$work/history/1.json" > /dev/null 2> "$work/err"
[ $? = 2 ] && grep -q 'expected two documents' "$work/err" || wrong "one: $(cat "$work/err")"
[ $failed -eq 0 ] && echo "costs: differences and drift as expected"
exit $failed

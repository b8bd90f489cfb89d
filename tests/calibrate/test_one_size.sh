#!/bin/sh
# calibrate: samples of one size, as nvbandwidth's, are passed over by name and take no good samples
# with them.
BIN=${BIN:-bin} work=build/test_one_size.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline good=data/recorded/xeon-2.5ghz-1-thread-compute.json

wrong() { echo "one size: $*" >&2; failed=1; }

"$plumbline" import nvbandwidth tests/imports/nvbandwidth.json -o "$work/one.json" 2>"$work/err" ||
    wrong "import: $(cat "$work/err")"
"$plumbline" calibrate "$good" --name x -o "$work/alone.json" 2>"$work/err" ||
    wrong "alone: $(cat "$work/err")"
"$plumbline" calibrate "$good" "$work/one.json" --name x -o "$work/both.json" 2>"$work/err" ||
    wrong "both: $(cat "$work/err")"
[ "$(grep -c 'of one size, which give no rate: skipped' "$work/err")" -eq 2 ] ||
    wrong "not said of both directions: $(cat "$work/err")"
python3 - "$work/alone.json" "$work/both.json" <<'END' || failed=1
import json, sys
alone, both = [json.load(open(path))["gpus"] for path in sys.argv[1:]]
values = lambda x: ([values(v) for v in x.values()] if isinstance(x, dict) and "value" not in x else
                    [values(v) for v in x] if isinstance(x, list) else
                    x["value"] if isinstance(x, dict) else x)
assert values(alone) == values(both)
END
[ $failed -eq 0 ] && echo "one size: all as expected"
exit $failed

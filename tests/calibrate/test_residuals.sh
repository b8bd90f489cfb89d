#!/bin/sh
# Residual plots: every fit has its panel, a planted sample that is far off is named and drawn where
# it is, and a page holds the same drawing.
BIN=${BIN:-bin} work=build/test_residuals.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline
wrong() { echo "residuals: $*" >&2; failed=1; }
"$plumbline" measure compute --backend simulated --simulate spread=0.003 --quick --sequence 256 \
    --quiet -o "$work/samples.json" || exit 1
python3 - "$work" <<'END'
import json, sys
d = json.load(open(sys.argv[1] + "/samples.json"))
s = next(x for x in d["samples"] if x["operation"] == "ffn up")
s["seconds"] = [1.4 * x for x in s["seconds"]]
json.dump(d, open(sys.argv[1] + "/planted.json", "w"))
END
for file in planted.svg planted.html; do
    "$plumbline" calibrate "$work/planted.json" --residuals "$work/$file" 2>"$work/err" ||
        wrong "$file: $(cat "$work/err")"
done
[ -z "$("$plumbline" calibrate "$work/planted.json" --residuals "$work/a.svg" 2>/dev/null)" ] ||
    wrong "costs are written unasked"
python3 - "$work" <<'END' || wrong "the drawing is another"
import re, sys, xml.dom.minidom
svg = open(sys.argv[1] + "/planted.svg").read()
page = open(sys.argv[1] + "/planted.html").read()
assert page.startswith("<!DOCTYPE html>") and svg.strip() in page
texts = [t.firstChild.data for t in xml.dom.minidom.parseString(svg).getElementsByTagName("text")]
lines = [t for t in texts if " samples, median off by " in t]
fits = int(re.search(r"fits: (\d+) lines", open(sys.argv[1] + "/err").read()).group(1))
assert len(lines) >= fits, (len(lines), fits)
worst = [t for t in lines if t.endswith(": ffn up")]
assert worst and 10 < float(re.search(r"furthest ([+-][0-9.]+) %", worst[0]).group(1)) < 45, worst
END
exit $failed

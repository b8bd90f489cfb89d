#!/bin/sh
# Why this layout: the losses of other values that `plan` prints, against a count of our own over
# the table of all layouts; the costs' interval next to the time; what is asked of a host.
name=test_why
. tests/script.sh

answers 0 "Why this layout" plan --model llama-3.1-8b --gpu h100-80gb --nodes 1 --sequence 8192 \
    --global-batch 64 --gap 0.02 --without offload -o first
cp out said
"$plumbline" report --layouts first/plan.layouts.json --format csv --top 0 > table.csv
python3 - said table.csv first/plan.json << 'END' || complain "why: not as in the table of layouts"
import csv, json, math, re, sys
said = open(sys.argv[1]).read()
rows = list(csv.DictReader(open(sys.argv[2])))
plan = json.load(open(sys.argv[3]))
best = plan["iteration_ns"]
low, high = plan["iteration_low_ns"], plan["iteration_high_ns"]
headline = re.search(r"([0-9.]+) s per iteration \(([0-9.]+) to ([0-9.]+)\)", said)
assert headline, said[:400]
for text, ns in zip(headline.groups(), (best, low, high)):
    assert abs(float(text) * 1e9 / ns - 1) < 1e-3, (text, ns)
assert low <= best <= high
assert "  host " not in said
columns = {"tensor": "tensor", "context": "context", "pipeline": "pipeline", "data": "data",
           "schedule": "schedule", "batch": "micro_batch", "ZeRO": "zero"}
section = said.split("Why this layout")[1].split("\n\n")[0]
seen = compared = 0
def text(ns, down):
    more = 100 * (ns / best - 1)
    digits = 1 if -10 < more < 10 else 0
    if down: more = math.floor(more * 10 ** digits) / 10 ** digits
    if down and more < 0: return f"at most {-more:.{digits}f} % faster"
    return ("at least " if down else "") + f"{more:+.{digits}f} %"
for line in section.splitlines()[1:]:
    name, rest = line.split(None, 1)
    if name not in columns: continue
    seen += 1
    chosen, others = rest.split(";", 1)
    layout = plan["layout"][columns[name]]
    assert str(layout) == chosen, (line, layout)
    for other in re.finditer(r"([\w-]+): (?:([+-][0-9.]+ %) \()?"
                             r"(at (?:least [+][0-9.]+ %|most [0-9.]+ % faster))", others):
        value, loses, least = other.groups()
        mine = [r for r in rows if r[columns[name]] == value]
        plans = [int(r["iteration_ns"]) for r in mine if int(r["iteration_ns"]) > 0]
        bounds = [int(r["bound_ns"]) for r in mine
                  if r["fate"] not in ("refused", "memory", "infeasible")]
        assert least == text(min(bounds), True), (line, value, min(bounds))
        assert (loses or None) == (text(min(plans), False) if plans else None), (line, value)
        if plans: assert min(bounds) <= min(plans)
        compared += 1
assert seen >= 5 and compared >= 6, (seen, compared, section)
END
answers 0 "Why this layout" report --layouts first/plan.layouts.json --top 1

# What a host must do is told, with where its rates are from.
answers 0 "host       of each h100-80gb: link 50 GB/s (assumed), memory 46 GB/s (assumed)" \
    plan --model llama-3.1-8b --gpu h100-80gb --nodes 1 --sequence 8192 --global-batch 64 \
    --gap 0.02 --offload-optimizer -o hosted

ended

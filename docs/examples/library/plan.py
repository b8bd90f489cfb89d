"""How much a slower interconnect costs, step by step as in a notebook: python3 plan.py FOLDER

FOLDER is one that `plumbline example` or `plumbline plan` made. plumbline is the wheel of `make
wheel`, or library/python on the PYTHONPATH (docs/PYTHON.md)."""

# %% what is to be planned
import json
import pathlib
import sys

import plumbline

if len(sys.argv) != 2:
    sys.exit("usage: python3 plan.py FOLDER, one that plumbline example or plumbline plan made")
folder = pathlib.Path(sys.argv[1])
problem = plumbline.Problem(folder / "problem.json")

# %% the plan, with the search's progress on the way
plan = problem.solve(gap=0.01, time_limit_s=60, progress=lambda told: print(told, file=sys.stderr))
facts = plan.facts
print(f"{facts.outcome}: {facts.iteration_s:.6f} s, no plan takes less than {facts.bound_s:.6f} s")
verdict = plan.verify()
print(verdict, end="")
assert verdict

# %% the same with a tenth of the bandwidth between nodes
cluster = json.loads((folder / "cluster.json").read_text())
for group in cluster["groups"]:
    for card in group["nics"]:
        card["link"]["bytes_per_s"] /= 10
with plumbline.Problem(
    model=folder / "model.json",
    cluster=cluster,
    costs=folder / "costs.json",
    job=folder / "job.json",
) as slow:
    slow_s = slow.solve(gap=0.01, time_limit_s=60).facts.iteration_s
print(
    f"with a tenth of the bandwidth: {slow_s:.6f} s, {slow_s / facts.iteration_s:.2f} times as long"
)

# %% for a colleague
(folder / "report.html").write_text(plan.report("html"))

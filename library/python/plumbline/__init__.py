"""plumbline: plans the training of large models on many GPUs, with a bound on how far from optimal.

    import plumbline
    plan = plumbline.plan("llama-3.1-8b", gpu="h100-80gb", nodes=4, global_batch=1024)
    plan                        # in a notebook: its figures and stages
    plan.facts.iteration_s, plan.facts.bound_s
    plan.verify()

    plumbline.predict(frame)    # a pandas table of configurations, with their time and memory
    plumbline.explain("train.log")
    run = plan.run("run.json", runner="torch")
    run                         # what was predicted beside what was measured

Numbers are in seconds and bytes. What goes wrong is a plumbline.Error with one line that says what
was expected. A search or a run is interrupted as every other call, and keeps the best that it has.
"""

from ._explain import Explanation, explain
from ._native import (
    BadInput,
    Error,
    Failure,
    Progress,
    SolverError,
    Unavailable,
    version,
)
from ._plans import Facts, Plan, Problem, Run, Verdict, check, compare, plan
from ._predict import predict

__version__ = version()
__all__ = [
    "BadInput",
    "Error",
    "Explanation",
    "Facts",
    "Failure",
    "Plan",
    "Problem",
    "Progress",
    "Run",
    "SolverError",
    "Unavailable",
    "Verdict",
    "check",
    "compare",
    "explain",
    "plan",
    "predict",
    "version",
]

"""The Python package as its users have it: python_checks.py FOLDER LOG. FOLDER has a small problem
that can be carried out (small_problem.sh); own runs are skipped without mpirun."""

import _thread
import pathlib
import shutil
import signal
import sys
import threading
import time
import warnings

import plumbline

folder, log = pathlib.Path(sys.argv[1]), sys.argv[2]
MODEL = {"model": "llama-3.1-8b", "gpu": "h100-80gb", "num_gpus": 8, "seq": 4096}
ROWS = [{**MODEL, "tp": tp, "global_batch": 64} for tp in (1, 2, 3, 4)]


def raises(kind, what, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except kind as error:
        assert what in str(error) and "\n" not in str(error), error
        return error
    raise AssertionError(f"nothing was raised: {what}")


def check_plans():
    seen = []
    plan = plumbline.plan(
        "gpt2-xl", gpu="a100-80gb", nodes=1, global_batch=32, gap=0.05, progress=seen.append
    )
    assert plan.facts.outcome == "optimal" and plan.facts.gap <= 0.05
    assert 0 < plan.facts.bound_s <= plan.facts.iteration_s
    assert all(now.seconds >= 0 and str(now) == now.text for now in seen)
    assert plan.verify() and "accepted" in str(plan.verify())
    assert plan.document["kind"] == "plumbline.plan"
    shown = plan._repr_html_()
    assert shown.count("<tr>") == 1 + plan.facts.stages and "gpt2-xl" in shown
    assert "an iteration" in repr(plan)
    kept = plumbline.plan(
        "gpt2-xl", gpu="a100-80gb", nodes=1, global_batch=32, gap=0.05, folder=folder / "kept",
        pipeline=2, schedule="1f1b", without=["offload"],
    )
    assert kept.facts.pipeline == 2 and (folder / "kept/job.json").exists()
    again = plumbline.Plan(folder / "kept/plan.json")
    assert again.facts == kept.facts and again.verify().accepted
    both = plumbline.compare({"first": plan, "second": again})
    assert both.startswith("Time") and "first" in both and "<pre>" in both._repr_html_()
    raises(plumbline.BadInput, "form", plan.report, "pdf")
    plan.close()
    raises(ValueError, "closed", plan.verify)


def check_errors():
    error = raises(plumbline.Error, "missing.json", plumbline.Problem, "missing.json")
    assert isinstance(error, plumbline.BadInput) and isinstance(error, ValueError)
    plan, node = plumbline.plan, {"gpu": "a100-80gb", "nodes": 1}
    raises(plumbline.BadInput, "the nearest is", plan, "gpt2-xxl", **node)
    raises(plumbline.BadInput, "--tensr", plan, "gpt2-xl", tensr=2, **node)
    raises(plumbline.BadInput, "nowhere", plumbline.explain, "nowhere.log")
    raises(plumbline.BadInput, "seq", plumbline.predict, model="gpt2-xl", gpu="a100-80gb")

    def broken(_):
        raise KeyError("mine")

    problem = plumbline.Problem.make(model="gpt2-xl", gpu="a100-80gb", nodes=1, global_batch=32)
    raises(KeyError, "mine", problem.solve, progress=broken)


def check_interruption():
    """As by Ctrl-C: the best plan is kept; also where a shell's job has SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    problem = plumbline.Problem.make(
        model="gpt3-175b", gpu="h100-80gb", nodes=64, global_batch=1536, sequence=2048
    )
    begin = time.monotonic()

    def interrupt(told):
        if told.best_s and not interrupted:
            interrupted.append(told)
            threading.Timer(0.05, _thread.interrupt_main).start()

    interrupted = []
    plan = problem.solve(gap=0.0, time_limit_s=600, progress=interrupt)
    assert interrupted and plan.interrupted and plan.facts.outcome == "open", plan
    assert plan.verify() and "interrupted" in repr(plan)
    assert time.monotonic() - begin < 300  # not the limit, however busy the machine
    stopped = problem.solve(progress=lambda told: told.best_s > 0)
    assert not stopped.interrupted and stopped.facts.iteration_s > 0


def check_predictions():
    answers = plumbline.predict(ROWS, ranges=False)
    assert [answer["id"] for answer in answers] == [0, 1, 2, 3]
    assert [("reason" in answer) for answer in answers] == [False, False, True, False]
    alone = plumbline.predict(**ROWS[1], ranges=False)
    assert alone["iteration_s"] == answers[1]["iteration_s"] and alone["fits"] is True
    assert plumbline.predict(ROWS[1])["iteration_low_s"] < alone["iteration_s"]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        plumbline.predict([{**ROWS[0], "colour": "red"}])
    assert [str(item.message) for item in told] == ["columns not read: colour"]
    enough = lambda told: "2000 of" in str(told)
    many = plumbline.predict(ROWS * 1200, ranges=False, progress=enough)
    assert len(many) == 2000 and many[1999]["iteration_s"] == answers[3]["iteration_s"]
    assert plumbline.predict([]) == []
    assert "pandas" not in sys.modules
    try:
        import pandas
    except ImportError:
        print("skipped: tables of pandas: no pandas here")
        return
    frame = pandas.DataFrame(ROWS, index=list("abcd"))
    frame["vpp"] = [1, None, None, 1]
    table = frame.join(plumbline.predict(frame, ranges=False))
    assert list(table.index) == list("abcd") and table["fits"].dtype == "boolean"
    assert table.loc["b", "iteration_s"] == answers[1]["iteration_s"]
    assert isinstance(table.loc["c", "reason"], str) and table["iteration_s"].isna()["c"]


def check_logs():
    told = plumbline.explain(log)
    assert told.verdict == "agrees" and abs(told.measured_s / told.predicted_s - 1) < 0.2
    assert str(told) == told.text and told.document["stated"]["tp"]["value"] == "4"
    assert told._repr_html_().startswith("<pre>run ")
    own = told.plan()
    assert abs(own.facts.iteration_s / told.predicted_s - 1) < 1e-6
    problem = told.save(folder / "told")
    assert problem.path.exists()
    assert plumbline.explain(log, set={"micro_batch": 2}).predicted_s != told.predicted_s


def check_runs():
    plan = plumbline.Problem(folder / "problem.json").solve()
    raises(plumbline.BadInput, "torh", plan.run, folder / "run.json", runner="torh")
    if not shutil.which("mpirun") or not shutil.which("plumbline-measure-mpi"):
        print("skipped: own runs: no mpirun here")
        return
    lines = []
    run = plan.run(
        folder / "run.json", backend="simulated", iterations=3, progress=lines.append
    )
    assert any("iteration 2 of 3" in str(line) for line in lines)
    assert len(run.document["iterations"]) == 3 and not run.interrupted
    assert "measured" in run.report() and "</html>" in run.report("html")
    assert run.iteration_s > 0 and "<pre>" in run._repr_html_()
    same = plumbline.Run(folder / "run.json", run.plan)
    assert same.report() == run.report()
    early = plan.run(
        folder / "early.json", backend="simulated", iterations=50000, progress=lambda now: True
    )
    assert early.interrupted and 0 < len(early.document["iterations"]) < 50000


for check in (
    check_plans,
    check_errors,
    check_interruption,
    check_predictions,
    check_logs,
    check_runs,
):
    begin = time.monotonic()
    check()
    print(f"{check.__name__}: {time.monotonic() - begin:.2f} s")

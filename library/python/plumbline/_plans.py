"""Problems, plans, and plans carried out."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import pathlib
import statistics
import sys
import tempfile
from ctypes import byref, c_int, c_void_p
from typing import Any, Dict, Mapping, Optional, Sequence, Union

from . import _html
from ._native import (
    BadInput,
    Folder,
    Path,
    PlanFacts,
    ProgressCallback,
    call,
    encoded,
    library,
    long_call,
    options,
    take,
    word_array,
    words,
)

Document = Union[Path, Mapping[str, Any]]

_FORMATS = ("text", "json", "html")


@dataclasses.dataclass(frozen=True)
class Facts:
    """Key figures of a plan. outcome: "optimal" (to the requested gap), "open" (a wider gap),
    "infeasible", "no_plan". bound_s: no plan takes less, as stated by the search. 0: there is
    none."""

    outcome: str
    iteration_s: float
    bound_s: float
    gap: float
    stages: int
    micro_batches: int
    tensor: int
    context: int
    pipeline: int
    data: int


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Of the judge or the checker: true if it accepts, and what it says."""

    accepted: bool
    text: str

    def __bool__(self) -> bool:
        return self.accepted

    def __str__(self) -> str:
        return self.text


class _Object:
    """A C object: closed by close(), at the end of a with, or when nothing refers to it."""

    _close: Any = None
    _at: Optional[c_void_p] = None

    def close(self) -> None:
        at, self._at = self._at, None
        if at:
            type(self)._close(at)

    def _open(self) -> c_void_p:
        if not self._at:
            raise ValueError(f"this {type(self).__name__} is closed")
        return self._at

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class Problem(_Object):
    """Problem("problem.json"), or Problem(model=, cluster=, costs=, job=): each a shipped name, a
    file, or a document as a mapping; Problem.make writes one from names."""

    _close = library.plumbline_problem_close

    def __init__(
        self,
        path: Optional[Path] = None,
        *,
        model: Optional[Document] = None,
        cluster: Optional[Document] = None,
        costs: Optional[Document] = None,
        job: Optional[Document] = None,
    ) -> None:
        at = c_void_p()
        self._keeps: Any = None  # a temporary folder of its documents
        self.path = None if path is None else pathlib.Path(path)
        if path is not None:
            call("problem_open", byref(at), encoded(path))
            self._at = at
            return
        parts = {"model": model, "cluster": cluster, "costs": costs, "job": job}
        if any(isinstance(part, Mapping) for part in parts.values()):
            self._keeps = Folder()
        paths = (self._path_of(role, part) for role, part in parts.items())
        call("problem_compose", byref(at), *map(encoded, paths))
        self._at = at
        if self._keeps:
            self.save(self._keeps.path / "problem.json")

    def _path_of(self, role: str, part: Optional[Document]) -> Optional[Path]:
        if not isinstance(part, Mapping):
            return part
        path: pathlib.Path = self._keeps.path / f"{role}.json"
        whole = {"kind": f"plumbline.{role}", "version": 1, "name": role, **part}
        path.write_text(json.dumps(whole), encoding="utf-8")
        return path

    @classmethod
    def make(
        cls,
        folder: Optional[Path] = None,
        *,
        model: Path,
        cluster: Optional[Path] = None,
        gpu: Optional[str] = None,
        nodes: Optional[int] = None,
        gpus: Optional[int] = None,
        costs: Path = "kernels",
        sequence: Optional[int] = None,
        global_batch: Optional[int] = None,
        precision: str = "bf16",
        framework: str = "megatron",
        layouts: str = "all",
        force: bool = False,
        **others: Any,
    ) -> Problem:
        """A transformer on a cluster, or on `nodes` or `gpus` of a GPU in the nodes it is sold in.

        layouts: what a search may choose: "all", "degrees" or "one". others: options of
        `plumbline example gpt`, such as tensor=8, schedule="zb-h1", without=["offload"],
        memory_fraction=0.8; what is stated of the layout stays as stated. folder: where the
        documents go; without, they live as long as the problem and its plans. force: replace
        documents of other content.
        """
        keeps = Folder()
        to = keeps.path if folder is None else pathlib.Path(folder)
        said = words(
            [],
            {
                "model": model,
                "cluster": cluster,
                "gpu": gpu,
                "nodes": nodes,
                "gpus": gpus,
                "costs": costs,
                "sequence": sequence,
                "global_batch": global_batch,
                "precision": precision,
                "framework": framework,
                "layouts": layouts,
                **others,
            },
        )
        problem = cls.__new__(cls)
        at = c_void_p()
        call("problem_make", byref(at), encoded(to), word_array(said), int(force))
        problem._at, problem._keeps = at, keeps
        problem.path = to / "problem.json"
        return problem

    def save(self, path: Path) -> None:
        """Writes a problem file that names the four documents; plans saved later name it."""
        call("problem_save", self._open(), encoded(path))
        self.path = pathlib.Path(path)

    def solve(
        self,
        *,
        gap: float = 0.0,
        time_limit_s: float = 0.0,
        processes: int = 0,
        seed: int = 0,
        progress: Optional[ProgressCallback] = None,
    ) -> Plan:
        """The plan. gap: (iteration - bound) / iteration at which the search may end.

        progress is called with a Progress now and then; True stops the search. Interrupted (Ctrl-C,
        the notebook's stop button), the search ends and its best plan is returned, with outcome
        "open" and `interrupted`; without any plan yet KeyboardInterrupt is raised.
        """
        at, problem = c_void_p(), self._open()

        def search(stop: Any, tell: Any) -> None:
            asked = options(stop, tell, gap, time_limit_s, processes, seed)
            call("solve", byref(at), problem, byref(asked))

        interrupted = False
        try:
            interrupted = long_call(search, progress)
        finally:
            found = Plan._of(at, self) if at else None
        assert found is not None
        found.interrupted = interrupted
        if interrupted and found.facts.outcome == "no_plan":
            raise KeyboardInterrupt
        return found

    def __repr__(self) -> str:
        return f"<plumbline.Problem {self.path or 'composed'}>"


class Plan(_Object):
    """A plan: Plan("plan.json"), or what a problem's solve returns."""

    _close = library.plumbline_plan_close
    interrupted = False

    def __init__(self, path: Path) -> None:
        at = c_void_p()
        call("plan_open", byref(at), encoded(path))
        self._at = at
        self._keeps: Any = None
        self._document: Optional[Dict[str, Any]] = None
        self.path: Optional[pathlib.Path] = pathlib.Path(path)

    @classmethod
    def _of(cls, at: c_void_p, problem: Problem) -> Plan:
        plan = cls.__new__(cls)
        plan._at, plan._keeps, plan._document, plan.path = at, problem, None, None
        return plan

    @property
    def facts(self) -> Facts:
        facts = PlanFacts(ctypes.sizeof(PlanFacts))
        call("plan_facts", self._open(), byref(facts))
        outcome = ("optimal", "open", "infeasible", "no_plan")[facts.outcome]
        rest = {f.name: getattr(facts, f.name) for f in dataclasses.fields(Facts)[1:]}
        return Facts(outcome, **rest)

    @property
    def document(self) -> Dict[str, Any]:
        """The plan's document (docs/FORMATS.md, plan)."""
        if self._document is None:
            self._document = json.loads(self.report("json"))
        return self._document

    def save(self, path: Path) -> Plan:
        """Writes the plan's document, and returns the plan of that file."""
        call("plan_save", self._open(), encoded(path))
        saved = Plan(path)
        saved._keeps, saved.interrupted = self._keeps, self.interrupted
        return saved

    def saved(self) -> Plan:
        """The plan of a file: this one, or one in a temporary folder."""
        if self.path:
            return self
        folder = Folder()
        saved = self.save(folder.path / "plan.json")
        saved._keeps = (folder, self._keeps)
        return saved

    def verify(
        self, problem: Optional[Path] = None, certificate: Optional[Path] = None
    ) -> Verdict:
        """The independent judge. A plan from a file is compared with the problem that it names, or
        with `problem`; with a certificate its bound is judged too."""
        accepted, text = c_int(0), c_void_p()
        said = (encoded(problem), encoded(certificate))
        call("verify", self._open(), *said, byref(accepted), byref(text))
        return Verdict(bool(accepted.value), take(text))

    def report(self, form: str = "text") -> str:
        """form: "text", "json" (its document) or "html" (one page for a browser)."""
        if form not in _FORMATS:
            raise BadInput(f"form: expected one of {', '.join(_FORMATS)}, found {form}")
        text = c_void_p()
        call("report", self._open(), _FORMATS.index(form), byref(text), None)
        return take(text)

    def run(
        self,
        output: Path = "run.json",
        *,
        runner: str = "own",
        iterations: int = 5,
        warm_ups: int = 1,
        backend: str = "cpu",
        simulate: Optional[str] = None,
        threads: int = 1,
        launcher: Optional[str] = None,
        python: Optional[Path] = None,
        name: Optional[str] = None,
        progress: Optional[ProgressCallback] = None,
    ) -> Run:
        """Carries the plan out on this host, on one process for each rank, and writes the run.

        runner: "own" has the kernels of plumbline-measure, which must be on the PATH, on MPI ranks;
        "torch" has torch.distributed.pipelining in `python` (this one). progress is called with
        each line that a process says; True ends the run after its iteration, as an interruption
        does, and what was measured is kept.
        """
        of = self.saved()
        said = words(
            [of.path],
            {
                "with": runner,
                "iterations": iterations,
                "warm_ups": warm_ups,
                "backend": backend,
                "simulate": simulate,
                "threads": threads,
                "launcher": launcher,
                "python": (python or sys.executable) if runner == "torch" else python,
                "name": name,
            },
        )
        to = word_array([*said, "-o", os.fspath(output)])

        def carry(stop: Any, tell: Any) -> None:
            call("run", to, byref(options(stop, tell)))

        long_call(carry, progress)
        return Run(output, of)

    def __repr__(self) -> str:
        return f"<plumbline.Plan {_html.headline(self)}>"

    def _repr_html_(self) -> str:
        return _html.plan(self)


class Run:
    """A plan carried out, beside the plan. `document` has every pass and message (docs/FORMATS.md,
    run)."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path = pathlib.Path(path)
        self.plan = plan.saved()
        self.document: Dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))

    @property
    def iteration_s(self) -> float:
        """The median of its iterations, on its clock ("virtual" or "wall")."""
        key = "wall_ns" if self.document["clock"] == "wall" else "ns"
        return float(statistics.median(item[key] for item in self.document["iterations"])) / 1e9

    @property
    def interrupted(self) -> bool:
        return self.document.get("end") == "interrupted"

    def report(self, form: str = "text") -> str:
        """What was predicted beside what was measured; form: "text" or "html"."""
        text = c_void_p()
        which = _FORMATS.index(form) if form in _FORMATS else -1
        path = encoded(self.path)
        call("report_against", self.plan._open(), path, which, byref(text), None)
        return take(text)

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        measured, planned = self.iteration_s, self.plan.facts.iteration_s
        return f"<plumbline.Run {measured:.6g} s, planned {planned:.6g} s>"

    def _repr_html_(self) -> str:
        return _html.preformatted(self.report())


def plan(
    model: Path,
    cluster: Optional[Path] = None,
    *,
    folder: Optional[Path] = None,
    gap: float = 0.01,
    time_limit_s: float = 45.0,
    processes: int = 0,
    progress: Optional[ProgressCallback] = None,
    **setting: Any,
) -> Plan:
    """Searches the layouts of a model on a cluster: plan("llama-3.1-8b", gpu="h100-80gb", nodes=4,
    global_batch=1024). setting: as of Problem.make. folder: where problem and plan are kept."""
    problem = Problem.make(folder, model=model, cluster=cluster, **setting)
    found = problem.solve(
        gap=gap, time_limit_s=time_limit_s, processes=processes, progress=progress
    )
    return found.save(pathlib.Path(folder) / "plan.json") if folder else found


def check(certificate: Path, against: Optional[Path] = None) -> Verdict:
    """Audits a certificate against the priced document that it names, or against a priced document
    or a problem."""
    proven, text = c_int(0), c_void_p()
    call("check", encoded(certificate), encoded(against), byref(proven), byref(text))
    return Verdict(bool(proven.value), take(text))


class Comparison(str):
    """Plans side by side, as text."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return _html.preformatted(self)


def compare(
    plans: Union[Sequence[Union[Plan, Path]], Mapping[str, Union[Plan, Path]]],
    *,
    uniform: bool = False,
    split: Optional[Sequence[int]] = None,
    recompute: Optional[str] = None,
    form: str = "text",
) -> Comparison:
    """Plans side by side, the first beside all others; a mapping names them. uniform: also the
    first plan's layout with layers spread equally over its stages; split: with as many on each.
    form: "text", "html", "latex", "csv"."""
    named = plans if isinstance(plans, Mapping) else {}
    listed = list(plans.values()) if isinstance(plans, Mapping) else list(plans)
    with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
        paths = [_file_of(item, folder, name) for item, name in _names(listed, named)]
        said = words(
            paths,
            {
                "uniform": uniform,
                "split": ",".join(str(count) for count in split) if split else None,
                "recompute": recompute,
                "format": form,
            },
        )
        text = c_void_p()
        call("compare", word_array(said), byref(text), None)
        return Comparison(take(text))


def _names(listed: Sequence[Any], named: Mapping[str, Any]) -> Any:
    return zip(listed, named or [f"plan {i + 1}" for i in range(len(listed))])


def _file_of(item: Union[Plan, Path], folder: str, name: str) -> str:
    """Of a plan that has no file yet, one that is called as the plan."""
    if not isinstance(item, Plan):
        return os.fspath(item)
    if item.path:
        return str(item.path)
    safe = "".join(c if c.isalnum() or c in " -_." else "_" for c in name)
    call("plan_save", item._open(), encoded(pathlib.Path(folder) / f"{safe}.json"))
    return os.path.join(folder, f"{safe}.json")

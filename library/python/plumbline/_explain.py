"""Training logs explained."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Dict, List, Mapping, Optional

from . import _html
from ._native import Folder, Path, two_texts, word_array, words
from ._plans import Plan, Problem


class Explanation:
    """A training log explained: what it did, why it took so long, what to change. Its text is the
    command's page; `document` is all of it as values (docs/FORMATS.md, explain)."""

    def __init__(self, text: str, document: Dict[str, Any], log: str, said: List[str]) -> None:
        self.text = text
        self.document = document
        self._log, self._said = log, said

    @property
    def verdict(self) -> str:
        """The class of the difference: "agrees", "out of memory", "not explained" ..."""
        return str(self.document["verdict"])

    @property
    def measured_s(self) -> Optional[float]:
        """Of an iteration, as the log has it; None: it does not say."""
        measured: Optional[float] = self.document["measured"].get("iteration_s")
        return measured

    @property
    def predicted_s(self) -> Optional[float]:
        """Of an iteration; None: there is no prediction."""
        predicted: Optional[float] = self.document["predicted"].get("iteration_s")
        return predicted

    def save(self, folder: Path) -> Problem:
        """Writes the run as documents: the problem that is returned, whose rules hold every stage
        to the layers of the run, and the run's own plan run.json."""
        two_texts("explain", word_array([self._log, *self._said, "-o", os.fspath(folder)]))
        return Problem(pathlib.Path(folder) / "problem.json")

    def plan(self) -> Plan:
        """The run as it is, as a plan: to be compared with others."""
        folder = Folder()
        self.save(folder.path)
        plan = Plan(folder.path / "run.json")
        plan._keeps = folder
        return plan

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<plumbline.Explanation of a log of {self.document['format']}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return _html.preformatted(self.text)


def explain(
    log: Path,
    *,
    cluster: Optional[Path] = None,
    gpu: Optional[str] = None,
    gpus: Optional[int] = None,
    costs: Optional[Path] = None,
    gpu_like: Optional[str] = None,
    memory_gb: Optional[float] = None,
    intra: Optional[float] = None,
    set: Optional[Mapping[str, Any]] = None,
    run: Optional[str] = None,
) -> Explanation:
    """Reads a training log as people have it (Megatron-LM, DeepSpeed, NeMo, Megatron-Bridge,
    torchtitan, transformers, MLPerf), or a post with parts of one.

    cluster: the nodes that it ran on. gpu, gpus: if the log does not say. gpu_like: what a GPU is
    like that no cluster has, but for its memory_gb and its link within a node in GB/s. set: columns
    of a table of runs instead of what the log states. run: which of a page's tables is meant.
    """
    said = words(
        [],
        {
            "cluster": cluster,
            "gpu": gpu,
            "gpus": gpus,
            "costs": costs,
            "gpu_like": gpu_like,
            "memory_gb": memory_gb,
            "intra": intra,
            "set": set or None,
            "run": run,
        },
    )
    at = os.fspath(log)
    text, document = two_texts("explain", word_array([at, *said]))
    return Explanation(text, json.loads(document), at, said)

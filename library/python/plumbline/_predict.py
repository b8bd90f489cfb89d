"""Time and memory of given configurations, without a search."""

from __future__ import annotations

import csv
import io
import json
import math
import warnings
from typing import Any, Dict, Iterable, List, Mapping, Optional, Union

from ._native import Path, ProgressCallback, Progress, two_texts, word_array, words

ROWS_AT_ONCE = 2000  # a call is a fraction of a second, between which an interruption is seen

Row = Mapping[str, Any]


def _cell(value: Any) -> Any:
    """A value as the table's cell: blank for what pandas and Python have for nothing."""
    if value is None or value != value:  # NaN, NaT
        return ""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value.is_integer() and math.fabs(value) < 2**53:
        return int(value)  # a whole number in a column that has blanks
    return "" if str(value) in ("<NA>", "NaT") else value


def _csv(rows: List[Row], first: int) -> str:
    columns: Dict[str, None] = {}
    for row in rows:
        columns.update(dict.fromkeys(str(key) for key in row))
    columns.pop("id", None)
    to = io.StringIO()
    table = csv.writer(to, lineterminator="\n")
    table.writerow(["id", *columns])
    for at, row in enumerate(rows):
        table.writerow([first + at, *(_cell(row.get(column)) for column in columns)])
    return to.getvalue()


def _predict_rows(
    rows: List[Row], said: List[str], progress: Optional[ProgressCallback]
) -> List[Dict[str, Any]]:
    answers: List[Dict[str, Any]] = []
    ignored = ""
    for first in range(0, len(rows), ROWS_AT_ONCE):
        table = _csv(rows[first : first + ROWS_AT_ONCE], first)
        text, notes = two_texts("predict", table.encode(), word_array(["rows", *said]))
        answers += json.loads(text)
        if "; columns not read: " in notes:
            ignored = notes.rsplit("; columns not read: ", 1)[1].strip()
        told = Progress(0.0, 0.0, 0.0, f"{len(answers)} of {len(rows)} rows")
        if progress and progress(told):
            break
    if ignored:
        warnings.warn(f"columns not read: {ignored}", stacklevel=3)
    return answers


def predict(
    rows: Union[Row, Iterable[Row], Any, None] = None,
    *,
    cluster: Optional[Path] = None,
    costs: Optional[Path] = None,
    gpu_like: Optional[str] = None,
    memory_gb: Optional[float] = None,
    intra: Optional[float] = None,
    set: Optional[Mapping[str, float]] = None,
    default: Optional[Mapping[str, Any]] = None,
    margin: Optional[float] = None,
    ranges: bool = True,
    progress: Optional[ProgressCallback] = None,
    **columns: Any,
) -> Any:
    """Predicts training runs of given configurations.

    rows: a pandas DataFrame, or rows as mappings, with the columns of a table of runs (model, gpu,
    num_gpus, tp, pp, seq, micro_batch, global_batch ...: docs/FORMATS.md, runs); or none, and one
    configuration as keywords. A DataFrame is answered with a DataFrame of the same index, rows with
    a list of dicts, one configuration with a dict. Answers have iteration_s with its interval,
    memory_bytes, fits, tokens_per_s, mfu and more; where there is none, `reason` says why, and a
    single configuration is BadInput then.

    cluster, costs: shipped names or files. gpu_like: the shipped GPU in whose nodes a GPU that no
    cluster has is taken, but for its memory_gb and its link `intra` in GB/s. set: numbers of the
    costs instead of theirs. default: values of blank cells. margin: usable share of a GPU's memory.
    ranges=False leaves the intervals out and is several times faster. progress is called between
    thousands of rows; True ends the prediction with the rows so far.
    """
    said = words(
        [],
        {
            "json": True,
            "cluster": cluster,
            "costs": costs,
            "gpu_like": gpu_like,
            "memory_gb": memory_gb,
            "intra": intra,
            "set": set or None,
            "default": default or None,
            "margin": margin,
            "no_ranges": not ranges,
        },
    )
    if rows is None:
        one = [f"{name}={_cell(value)}" for name, value in columns.items()]
        text, _ = two_texts("predict", None, word_array([*one, *said]))
        answer = json.loads(text)[0]
        answer.pop("id", None)
        return answer
    if columns:
        raise TypeError(f"predict: with rows, expected no column as keyword, found {columns}")
    if hasattr(rows, "to_dict") and hasattr(rows, "index"):
        return _predict_frame(rows, said, progress)
    listed = [rows] if isinstance(rows, Mapping) else list(rows)
    answers = _predict_rows(listed, said, progress) if listed else []
    for answer, row in zip(answers, listed):
        answer["id"] = row.get("id", int(answer["id"]))
    return answers[0] if isinstance(rows, Mapping) else answers


def _predict_frame(frame: Any, said: List[str], progress: Optional[ProgressCallback]) -> Any:
    import pandas

    answers = _predict_rows(frame.to_dict("records"), said, progress) if len(frame) else []
    table = pandas.DataFrame(answers, index=frame.index[: len(answers)])
    if "id" in table:
        del table["id"]
    if "fits" in table:
        table["fits"] = table["fits"].astype("boolean")
    return table

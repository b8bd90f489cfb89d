"""How plans show themselves in a notebook: figures, stages, and where the memory goes."""

from __future__ import annotations

import html
from typing import Any, Iterable, List

_STYLE = "text-align: right; padding: 0 0.8em 0 0"
_FIRST = "text-align: left; padding: 0 0.8em 0 0"


def time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1 or unit == "µs":
            return f"{seconds * factor:.4g} {unit}"
    return ""


def preformatted(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"


def headline(plan: Any) -> str:
    facts = plan.facts
    if not facts.iteration_s:
        return str(facts.outcome).replace("_", " ")
    layout = plan.document["layout"]
    degrees = f"t{facts.tensor} c{facts.context} p{facts.pipeline} d{facts.data}"
    proven = "no bound"
    if facts.bound_s:
        proven = f"no plan takes less than {time(facts.bound_s)} (gap {100 * facts.gap:.2f} %)"
    return (
        f"{time(facts.iteration_s)} an iteration, {proven}; {degrees} b{layout['micro_batch']} "
        f"{layout['schedule']}{'; interrupted' if plan.interrupted else ''}"
    )


def _row(cells: Iterable[Any], tag: str = "td") -> str:
    said = [
        f'<{tag} style="{_STYLE if i else _FIRST}">{html.escape(str(cell))}</{tag}>'
        for i, cell in enumerate(cells)
    ]
    return f"<tr>{''.join(said)}</tr>"


def _stages(document: Any) -> List[str]:
    rows = []
    for stage in document["stages"]:
        memory, limit = stage["memory"]["total_bytes"], stage["memory_limit_bytes"]
        layers = f"{stage['first_layer']} to {stage['last_layer']}"
        recompute = stage["recompute"]
        if stage["recomputed_layers"]:
            recompute += f" ({stage['recomputed_layers']})"
        if stage.get("sharded_layers"):
            recompute += f", {stage['sharded_layers']} sharded"
        if stage.get("vocabulary_tensor"):
            recompute += f", vocabulary over {stage['vocabulary_tensor']}"
        times = (time(stage[key]) for key in ("forward_s", "backward_s", "sync_s"))
        held = f"{memory / 1e9:.1f} of {limit / 1e9:.1f} GB"
        rows.append(_row((stage["stage"], stage["gpu"], layers, recompute, *times, held)))
    return rows


def plan(item: Any) -> str:
    document = item.document
    name = html.escape(str(document.get("name", "")))
    said = [f"<div><b>{name}</b>: {html.escape(headline(item))}</div>"]
    if document.get("stages"):
        heads = ("stage", "GPU", "layers", "recompute", "forward", "backward", "sync", "memory")
        said += ["<table>", _row(heads, "th"), *_stages(document), "</table>"]
    return "\n".join(said)

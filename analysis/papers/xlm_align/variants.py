"""XLM-Align's variants among a study's objectives, by what they are made of."""

from __future__ import annotations

from typing import Any

from analysis.records.run import Described, Start
from analysis.results.results import Results
from pretrain.objectives.xlm_align import XLMAlign

DWA = "DWA"
SWITCHES = ("tlm", "queries", "labels", "label_layer", "first", "filtering", "layer")
"""What Tables 3 to 7 vary; mask rate and the fraction of parallel sentences belong to the scale of a study."""
DEFAULTS: dict[str, Any] = {switch: getattr(XLMAlign(), switch) for switch in SWITCHES}


def changes(objective: Described) -> dict[str, Any] | None:
    """The switches that differ from the paper's XLM-Align; None for an objective that is no variant of it."""
    part = objective.part(DWA)
    return None if part is None else {key: part[key] for key in SWITCHES if part[key] != DEFAULTS[key]}


def variant(results: Results, start: Start | None, **switches: Any) -> str | None:
    """The name of the objective that is XLM-Align with these switches from that start, if the study has it."""
    for name in results.objectives:
        if results.start(name) == start and changes(results.objective(name)) == switches:
            return name
    return None


def plain_mlm(results: Results, start: Start | None) -> str | None:
    """The name of MLM alone from that start: XLM-Align without TLM and without DWA."""
    for name in results.objectives:
        if results.start(name) == start and [part["kind"] for part in results.objective(name).parts] == ["MLM"]:
            return name
    return None


def starts(results: Results) -> list[Start | None]:
    """What the study's XLM-Align, as the paper has it, begins with."""
    return [results.start(name) for name in results.objectives if changes(results.objective(name)) == {}]


def usual_start(results: Results) -> Start | None:
    """What most variants of XLM-Align begin with."""
    starts = [results.start(name) for name in results.objectives if changes(results.objective(name)) is not None]
    return max(starts, key=starts.count, default=None)


def after(start: Start | None) -> str:
    """The start in words, as the end of a name."""
    return f" after {start.title}" if start else ""

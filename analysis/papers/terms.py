"""Explanations of the terms in a study's report, from terms.toml: only of those that the study uses."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

from analysis.results.results import Results

_TEXTS = tomllib.loads(Path(__file__).with_name("terms.toml").read_text(encoding="utf-8"))
DEFINITIONS: dict[str, str] = _TEXTS["definitions"]
SUP_MEANS, ZS_MEANS, DELTA_MEANS, ALIGNED_MEANS = (DEFINITIONS[name] for name in ("SUP", "ZS", "DELTA", "alignment"))
OBJECTIVES: dict[str, str] = _TEXTS["objectives"]
NATURAL: dict[str, tuple[str, str]] = {name: (title, text) for name, (title, text) in _TEXTS["natural"].items()}


def terms(results: Results) -> Iterator[tuple[str, str]]:
    """Each term and its explanation, for the transforms, measures and objectives that the records have."""
    kinds = {part["kind"] for transform in results.transforms for part in results.transform(transform).parts}
    if texts := [text for kind, text in _TEXTS["transforms"].items() if kind in kinds]:
        yield "Source and derived language", " ".join([DEFINITIONS["derived"], *texts])
    measures = {record.measure for record in results.records}
    if measures & {"SUP", "ZS"}:
        yield "SUP, ZS and Δ", f"{SUP_MEANS} {ZS_MEANS} {DELTA_MEANS}"
    if results.floors.all:
        yield "Floor, retained transfer", DEFINITIONS["floors"]
    for measure, (title, text) in _TEXTS["measures"].items():
        if measure in measures:
            yield title, text.format(**DEFINITIONS)
    objectives = [results.objective(name) for name in results.objectives]
    objectives += [start.objective for name in results.objectives if (start := results.start(name))]
    parts = {part["kind"] for objective in objectives for part in objective.parts}
    if texts := [text for kind, text in OBJECTIVES.items() if kind in parts]:
        yield "Pretraining objectives", " ".join(texts)

"""Follow measures over pretraining, and find the step at which each first exceeds its null distribution."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from statistics import median

from calque.analysis.papers.columns import Column, by_step, column_table, titles
from calque.analysis.papers.texts import table
from calque.analysis.records.record import ALIGNMENT, CKA, LINEAR, RETRIEVAL, Record
from calque.analysis.report.drawing import Plot
from calque.analysis.report.table import MISSING, Table
from calque.analysis.results import Results
from calque.pretrain.model import main_layer

NEVER = math.inf


def _columns(results: Results) -> list[Column]:
    if not any(record.null for record in results.records):
        return []
    task = next((key.task for key in results.keys(measure=LINEAR)), "")
    layer = {"layer": main_layer(next(run.layers for run in results.runs.values()))}
    columns = [
        Column("zero-shot tags", LINEAR, "accuracy", task),
        Column("all types", ALIGNMENT, "all"),
        Column("held-out types", ALIGNMENT, "held-out"),
        Column("sentences", RETRIEVAL, "mexa", facets=layer),
    ]
    # Only committed records contain CKA, which is no longer measured.
    return [*columns, Column("CKA", CKA, "sentences", facets=layer)] if results.keys(measure=CKA) else columns


def growth_tables(results: Results) -> dict[str, Table | None]:
    columns = _columns(results)
    if not columns:
        return {}
    rows = []
    for model in product(results.objectives, results.transforms):
        curves = [column.curves(results, *model).values() for column in columns]
        rows.append((*titles(results, *model), *(onset_cell(list(map(onset, seeds))) for seeds in curves)))
    return {"onsets": table("onsets", results, columns, rows), "ends": column_table("ends", results, columns)}


def growth_figures(results: Results) -> Iterator[Plot | None]:
    yield by_step("figure-aligned", results, _columns(results))


def onset(curve: Mapping[int, Record]) -> float:
    """Return the first of two consecutive steps at which the value is beyond its null, or NEVER."""
    beyond = [(step, r.null is not None and r.null.left(r.value)) for step, r in curve.items()]
    return next((float(step) for (step, first), (_, second) in pairwise(beyond) if first and second), NEVER)


def onset_cell(steps: Sequence[float]) -> str:
    """Format the seeds' onsets, as in `91 [64, 128]`, `64`, `never`, or `never in 2 of 5, else from 64`."""
    if not steps:
        return MISSING
    low, high, never = min(steps), max(steps), steps.count(NEVER)
    if never:
        return f"never in {never} of {len(steps)}, else from {low:,.0f}" if low < NEVER else "never"
    return f"{median(steps):,.0f}" + (f" [{low:,.0f}, {high:,.0f}]" if low < high else "")

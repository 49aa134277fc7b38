"""Tabulate results as in Tables 3 and 8 of the ALIGN-MLM paper, next to its numbers, and in further
tables."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from calque.analysis.measures.interventions import NOTHING, control_of
from calque.analysis.papers.align_mlm.dials import overlap_table
from calque.analysis.papers.columns import LABELS, RETAINED, Column, column_table, main_metrics, task_columns
from calque.analysis.papers.texts import table
from calque.analysis.records.record import (
    AFTER,
    ALIGNMENT,
    DELTA,
    ENTRY,
    NO_ENTRY,
    RETRIEVAL,
    ROTATED,
    SELF_LEARNT,
    SHUFFLED,
)
from calque.analysis.report.table import FLOOR, MISSING, OURS, PUBLISHED, Table, cell, percent
from calque.analysis.results.measured import BySeed, difference, differences, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Estimate
from calque.analysis.tasks.catalog import PRIMARY, PRINTED, metric_title, task_title
from calque.analysis.tasks.score import OF

ALIGNMENTS = ("all", "dictionary", "held-out", "frequency-weighted", "back")
ROTATIONS = {
    ROTATED: "held-out, rotated",
    SHUFFLED: "held-out, shuffled pairs",
    SELF_LEARNT: "held-out, self-learnt",
}


def align_mlm_tables(results: Results) -> dict[str, Table | None]:
    """Return the tables of a report in the layout of the ALIGN-MLM paper, by file name."""
    layers = [
        Column(f"layer {layer}" if layer else "embeddings", RETRIEVAL, "cosine", facets={"layer": layer})
        for layer in results.layers(RETRIEVAL)
    ]
    return {
        "table-3": scores_table(results),
        "table-8": alignment_table(results),
        "entries": _entries_table(results),
        **_interventions_tables(results),
        "retrieval": column_table("derivations", results, layers),
        **diagnostics_tables(results),
        "overlap": overlap_table(results),
    }


def scores_table(results: Results) -> Table:
    """Tabulate SUP, ZS, Delta and retained transfer, and the baselines' scores, as in Table 3."""
    tasks, floors = results.main_tasks, results.floors.all
    metrics = [(task, m) for task in tasks for m in dict.fromkeys((PRIMARY[task], PRINTED[task]))]
    columns = task_columns(["SUP", "ZS", DELTA, *([RETAINED] if floors else [])], metrics)
    rows = [*_rows(results, 3, columns), *_floor_rows(results, columns)]
    heads = [column.head for column in columns]
    return table("table-3", results, (*LABELS, "source"), heads, rows, {"floors": floors})


def alignment_table(results: Results) -> Table:
    """Tabulate every variant of alignment@1, and each task's Delta, as in Table 8."""
    rotated = results.has(ALIGNMENT, *ROTATIONS)
    titles = {metric: metric for metric in ALIGNMENTS} | (ROTATIONS if rotated else {})
    columns = [Column(f"alignment@1 {title}", ALIGNMENT, metric) for metric, title in titles.items()]
    columns += task_columns([DELTA, *([RETAINED] if results.floors.all else [])], main_metrics(results))
    rows, heads = _rows(results, 8, columns), [column.head for column in columns]
    return table("table-8", results, (*LABELS, "source"), heads, rows, {"rotated": rotated})


def _rows(results: Results, table: int, columns: Sequence[Column]) -> Iterator[tuple[str, ...]]:
    printed = [p for p in results.published if p.table == table]
    transforms = dict.fromkeys([*results.transforms, *(p.transform for p in printed)])
    objectives = dict.fromkeys([*results.objectives, *(p.objective for p in printed)])
    for objective, transform in product(objectives, transforms):
        ours = [column.cell(results, objective, transform) for column in columns]
        theirs = [column.printed(results, table, objective, transform) for column in columns]
        for source, cells in ((OURS, ours), (PUBLISHED, theirs)):
            if any(cell != MISSING for cell in cells):
                yield objective, results.transform_title(transform), source, *cells


def _floor_rows(results: Results, columns: Sequence[Column]) -> Iterator[tuple[str, ...]]:
    for name, title in results.floors.baselines(results.tasks).items():
        for transform in results.transforms:
            learnt = {"SUP": transform, "ZS": results.source}
            floors = (
                results.floors.of(c.task, c.metric, transform, learnt.get(c.measure, "")) for c in columns
            )
            cells = (percent(floor[name].value if name in floor else None) for floor in floors)
            yield title, results.transform_title(transform), FLOOR, *cells


def _entries_table(results: Results) -> Table | None:
    """Tabulate each model's ZS on words with and without a dictionary entry, and compare the difference with
    that of MLM, which uses no dictionary."""
    rows = []
    for task, objective, transform in product(results.main_tasks, results.objectives, results.transforms):
        within, without, gain = _with_and_without(results, objective, transform, task)
        if gain:
            of_mlm = _with_and_without(results, "MLM", transform, task)[-1] if objective != "MLM" else {}
            titles = task_title(task), results.objective_title(objective), results.transform_title(transform)
            cells = map(cell, map(mean, (within, without, gain)))
            rows.append((*titles, *cells, cell(difference(gain, of_mlm))))
    heads = ("with an entry", "without an entry", "difference", "difference − MLM’s")
    return table("entries", results, ("task", *LABELS), heads, rows) if rows else None


def _with_and_without(
    results: Results, objective: str, transform: str, task: str
) -> tuple[BySeed, BySeed, BySeed]:
    within, without = (
        results.scores("ZS", objective, transform, task, metric) for metric in (ENTRY, NO_ENTRY)
    )
    return within, without, differences(within, without)


def diagnostics_tables(results: Results) -> dict[str, Table]:
    """Return a table of SUP and ZS by category of examples for each task with categories, by file name."""
    tables = {}
    for task, primary in main_metrics(results):
        start = primary + OF
        known = {key.metric for key in results.keys(task=task)}
        metrics = sorted(metric for metric in known if metric.startswith(start))
        rows = []
        for objective, transform, measure in product(results.objectives, results.transforms, ("SUP", "ZS")):
            scores = [results.scores(measure, objective, transform, task, metric) for metric in metrics]
            if any(scores):
                cells = map(cell, map(mean, scores))
                rows.append((objective, results.transform_title(transform), measure, *cells))
        if metrics:
            labels, heads = (*LABELS, "measure"), [metric.removeprefix(start) for metric in metrics]
            about: dict[str, Any] = {"task": task_title(task), "metric": metric_title(primary)}
            tables[f"diagnostics-{task}"] = table("diagnostics", results, labels, heads, rows, **about)
    return tables


def _interventions_tables(results: Results) -> dict[str, Table]:
    metrics, tables = main_metrics(results), {}
    columns = [Column(f"{task_title(task)}, {metric_title(m)}", "ZS", m, task) for task, m in metrics]
    last = {"layer": sum(results.layers(RETRIEVAL)[-1:])}
    columns.append(Column("retrieval", RETRIEVAL, "cosine", facets=last))
    titles = map(results.objective_title, results.objectives)
    heads = [f"{title}{part}" for title in titles for part in ("", ", change", ", beyond control")]
    labels = ("transform", "intervention", "control")
    for column in columns:
        if rows := list(_intervened(results, column)):
            name = f"interventions-{column.task or column.head}"
            tables[name] = table("interventions", results, labels, heads, rows, number=column.head)
    return tables


def _intervened(results: Results, column: Column) -> Iterator[tuple[str, ...]]:
    start = column.metric + AFTER
    known = dict.fromkeys(key.metric for key in results.keys(measure=column.measure, task=column.task))
    names = [metric.removeprefix(start) for metric in known if metric.startswith(start)]

    def after(objective: str, transform: str, intervention: str) -> BySeed:
        return replace(column, metric=start + intervention).values(results, objective, transform)

    for transform, name in product(results.transforms, names):
        effects = (effect(partial(after, objective, transform), name) for objective in results.objectives)
        numbers = [number for its in effects for number in its]
        if any(numbers):
            control = control_of(name) or MISSING
            yield results.transform_title(transform), name, control, *map(cell, numbers)


def effect(
    after: Callable[[str], BySeed], name: str
) -> tuple[Estimate | None, Estimate | None, Estimate | None]:
    """Return the score after an intervention, and its differences from the score without an intervention and
    from the score after the control intervention."""
    score, control = after(name), control_of(name)
    change = difference(score, after(NOTHING)) if name != NOTHING else None
    return mean(score), change, difference(score, after(control)) if control else None

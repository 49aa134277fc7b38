"""Tabulate results as in Tables 3 and 8 of the ALIGN-MLM paper, with its published numbers marked, and in
further tables."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from calque.analysis.measures.interventions import NOTHING, control_of
from calque.analysis.papers.align_mlm.dials import overlap_tables
from calque.analysis.papers.columns import RETAINED, Column, main_metrics, rows_of, task_columns
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
HEADER = ("objective", "transform", "source")


def align_mlm_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Yield the tables of ALIGN-MLM's layout, each with its file's name."""
    yield "table-3", scores_table(results, scale)
    yield "table-8", alignment_table(results, scale)
    yield from entries_table(results, scale)
    yield from interventions_tables(results, scale)
    yield from retrieval_table(results, scale)
    yield from diagnostics_tables(results, scale)
    yield from overlap_tables(results, scale)


def scores_table(results: Results, scale: str) -> Table:
    """Tabulate SUP, ZS, Delta and retained transfer by objective, transform and task, and the baselines'
    scores, as in Table 3."""
    metrics = [
        (task, m) for task in results.main_tasks for m in dict.fromkeys((PRIMARY[task], PRINTED[task]))
    ]
    floors = results.floors.all
    columns = task_columns(["SUP", "ZS", DELTA, *([RETAINED] if floors else [])], metrics)
    rows = [*_rows(results, 3, columns), *_floor_rows(results, columns)]
    header = (*HEADER, *(column.head for column in columns))
    return table("table-3", results, scale, header, rows, 3, {"floors": floors})


def alignment_table(results: Results, scale: str) -> Table:
    """Tabulate every variant of alignment@1, and each task's Delta, in percent, as in Table 8."""
    columns = [Column(f"alignment@1 {metric}", ALIGNMENT, metric) for metric in ALIGNMENTS]
    if after := results.has(ALIGNMENT, *ROTATIONS):
        columns += [Column(f"alignment@1 {title}", ALIGNMENT, metric) for metric, title in ROTATIONS.items()]
    columns += task_columns([DELTA, *([RETAINED] if results.floors.all else [])], main_metrics(results))
    header, rows = (*HEADER, *(column.head for column in columns)), _rows(results, 8, columns)
    return table("table-8", results, scale, header, rows, 3, {"rotated": after})


def _rows(results: Results, table: int, columns: Sequence[Column]) -> Iterator[tuple[str, ...]]:
    printed = [p for p in results.published if p.table == table]
    transforms = dict.fromkeys([*results.transforms, *(p.transform for p in printed)])
    for objective in dict.fromkeys([*results.objectives, *(p.objective for p in printed)]):
        for transform in transforms:
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


def entries_table(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Compare the ZS of words with and without a dictionary entry within each model, and compare the
    difference with that for MLM, which uses no dictionary."""
    rows = []
    for task, objective, transform in product(results.main_tasks, results.objectives, results.transforms):
        within, without, gain = _with_and_without(results, objective, transform, task)
        if not gain:
            continue
        of_mlm = _with_and_without(results, "MLM", transform, task)[-1] if objective != "MLM" else {}
        titles = task_title(task), results.objective_title(objective), results.transform_title(transform)
        rows.append(
            (*titles, *(cell(mean(each)) for each in (within, without, gain)), cell(difference(gain, of_mlm)))
        )
    if rows:
        header = (
            "task",
            *HEADER[:2],
            "with an entry",
            "without an entry",
            "difference",
            "difference − MLM’s",
        )
        yield "entries", table("entries", results, scale, header, rows, 3)


def _with_and_without(
    results: Results, objective: str, transform: str, task: str
) -> tuple[BySeed, BySeed, BySeed]:
    within, without = (
        results.scores("ZS", objective, transform, task, metric) for metric in (ENTRY, NO_ENTRY)
    )
    return within, without, differences(within, without)


def retrieval_table(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Yield a table of retrieval scores for derivations by layer, if they were measured."""
    columns = [
        Column(f"layer {layer}" if layer else "embeddings", RETRIEVAL, "cosine", facets={"layer": layer})
        for layer in results.layers(RETRIEVAL)
    ]
    if rows := list(rows_of(results, columns)):
        header = (*HEADER[:2], *(column.head for column in columns))
        yield "retrieval", table("derivations", results, scale, header, rows, 2)


def diagnostics_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Yield SUP and ZS by category of examples: one table for each task with categories."""
    for task in results.main_tasks:
        start = PRIMARY[task] + OF
        metrics = sorted({r.metric for r in results.records if r.task == task and r.metric.startswith(start)})
        rows = []
        for objective in results.objectives:
            for transform in results.transforms:
                for measure in ("SUP", "ZS") if metrics else ():
                    scores = [
                        results.scores(measure, objective, transform, task, metric) for metric in metrics
                    ]
                    if any(scores):
                        cells = map(cell, map(mean, scores))
                        rows.append((objective, results.transform_title(transform), measure, *cells))
        if metrics:
            titles: dict[str, Any] = {"task": task_title(task), "metric": metric_title(PRIMARY[task])}
            header = (
                "objective",
                "transform",
                "measure",
                *(metric.removeprefix(start) for metric in metrics),
            )
            diagnostics = table("diagnostics", results, scale, header, rows, 3, **titles)
            yield f"diagnostics-{task}", diagnostics


def interventions_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Yield scores after each intervention: one table per task, and one for retrieval."""
    for task in results.main_tasks:
        metric = PRIMARY[task]
        yield from _table(
            results, scale, Column("", "ZS", metric, task), f"{task_title(task)}, {metric_title(metric)}"
        )
    last = results.layers(RETRIEVAL)[-1:]
    yield from _table(
        results, scale, Column("", RETRIEVAL, "cosine", facets={"layer": sum(last)}), "retrieval"
    )


def _table(results: Results, scale: str, column: Column, title: str) -> Iterator[tuple[str, Table]]:
    start = column.metric + AFTER
    known = [r.metric for r in results.records if (r.measure, r.task) == (column.measure, column.task)]
    names = dict.fromkeys(metric.removeprefix(start) for metric in known if metric.startswith(start))
    heads = [results.objective_title(objective) for objective in results.objectives]
    header = [f"{head}{part}" for head in heads for part in ("", ", change", ", beyond control")]
    rows = []
    for transform in results.transforms if names else ():
        for name in names:
            numbers = list[Estimate | None]()
            for objective in results.objectives:
                after = partial(_after, results, column, objective, transform)
                numbers += effect(after, name)
            if any(numbers):
                labels = results.transform_title(transform), name, control_of(name) or MISSING
                rows.append((*labels, *map(cell, numbers)))
    if rows:
        header = ["transform", "intervention", "control", *header]
        name = f"interventions-{column.task or 'retrieval'}"
        yield name, table("interventions", results, scale, header, rows, 3, number=title)


def _after(results: Results, column: Column, objective: str, transform: str, intervention: str) -> BySeed:
    metric = f"{column.metric}{AFTER}{intervention}"
    return replace(column, metric=metric).values(results, objective, transform)


def effect(
    after: Callable[[str], BySeed], name: str
) -> tuple[Estimate | None, Estimate | None, Estimate | None]:
    """Return the score after an intervention, its difference from the score without intervention, and its
    difference from the score after the control."""
    score, control = after(name), control_of(name)
    change = difference(score, after(NOTHING)) if name != NOTHING else None
    return mean(score), change, difference(score, after(control)) if control else None

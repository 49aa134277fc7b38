"""Tabulate results as in Tables 3 and 8 of the ALIGN-MLM paper, next to its numbers, and in further
tables."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

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
LABELS = ("objective", "transform", "source")


def align_mlm_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Yield the tables of a report in the layout of the ALIGN-MLM paper, each with its file name."""
    yield "table-3", scores_table(results, scale)
    yield "table-8", alignment_table(results, scale)
    yield from entries_table(results, scale)
    yield from _interventions_tables(results, scale)
    yield from _retrieval_table(results, scale)
    yield from diagnostics_tables(results, scale)
    yield from overlap_tables(results, scale)


def scores_table(results: Results, scale: str) -> Table:
    """Tabulate SUP, ZS, Delta and retained transfer, and the baselines' scores, as in Table 3."""
    tasks, floors = results.main_tasks, results.floors.all
    metrics = [(task, m) for task in tasks for m in dict.fromkeys((PRIMARY[task], PRINTED[task]))]
    columns = task_columns(["SUP", "ZS", DELTA, *([RETAINED] if floors else [])], metrics)
    rows = [*_rows(results, 3, columns), *_floor_rows(results, columns)]
    return table("table-3", results, scale, LABELS, [c.head for c in columns], rows, {"floors": floors})


def alignment_table(results: Results, scale: str) -> Table:
    """Tabulate every variant of alignment@1, and each task's Delta, as in Table 8."""
    rotated = results.has(ALIGNMENT, *ROTATIONS)
    titles = {metric: metric for metric in ALIGNMENTS} | (ROTATIONS if rotated else {})
    columns = [Column(f"alignment@1 {title}", ALIGNMENT, metric) for metric, title in titles.items()]
    columns += task_columns([DELTA, *([RETAINED] if results.floors.all else [])], main_metrics(results))
    rows = _rows(results, 8, columns)
    return table("table-8", results, scale, LABELS, [c.head for c in columns], rows, {"rotated": rotated})


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


def entries_table(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
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
    if rows:
        heads = ("with an entry", "without an entry", "difference", "difference − MLM’s")
        yield "entries", table("entries", results, scale, ("task", *LABELS[:2]), heads, rows)


def _with_and_without(
    results: Results, objective: str, transform: str, task: str
) -> tuple[BySeed, BySeed, BySeed]:
    within, without = (
        results.scores("ZS", objective, transform, task, metric) for metric in (ENTRY, NO_ENTRY)
    )
    return within, without, differences(within, without)


def _retrieval_table(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    columns = [
        Column(f"layer {layer}" if layer else "embeddings", RETRIEVAL, "cosine", facets={"layer": layer})
        for layer in results.layers(RETRIEVAL)
    ]
    if rows := list(rows_of(results, columns)):
        yield "retrieval", table("derivations", results, scale, LABELS[:2], [c.head for c in columns], rows)


def diagnostics_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Yield a table of SUP and ZS by category of examples for each task with categories."""
    for task, primary in main_metrics(results):
        start = primary + OF
        metrics = sorted({r.metric for r in results.records if r.task == task and r.metric.startswith(start)})
        rows = []
        for objective, transform, measure in product(results.objectives, results.transforms, ("SUP", "ZS")):
            scores = [results.scores(measure, objective, transform, task, metric) for metric in metrics]
            if any(scores):
                cells = map(cell, map(mean, scores))
                rows.append((objective, results.transform_title(transform), measure, *cells))
        if metrics:
            labels, heads = (*LABELS[:2], "measure"), [metric.removeprefix(start) for metric in metrics]
            its = table(
                "diagnostics",
                results,
                scale,
                labels,
                heads,
                rows,
                task=task_title(task),
                metric=metric_title(primary),
            )
            yield f"diagnostics-{task}", its


def _interventions_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    metrics = main_metrics(results)
    columns = [Column(f"{task_title(task)}, {metric_title(m)}", "ZS", m, task) for task, m in metrics]
    last = {"layer": sum(results.layers(RETRIEVAL)[-1:])}
    for column in (*columns, Column("retrieval", RETRIEVAL, "cosine", facets=last)):
        if rows := list(_intervened(results, column)):
            titles = map(results.objective_title, results.objectives)
            heads = [f"{title}{part}" for title in titles for part in ("", ", change", ", beyond control")]
            labels = ("transform", "intervention", "control")
            name = f"interventions-{column.task or 'retrieval'}"
            yield name, table("interventions", results, scale, labels, heads, rows, number=column.head)


def _intervened(results: Results, column: Column) -> Iterator[tuple[str, ...]]:
    start = column.metric + AFTER
    known = [r.metric for r in results.records if (r.measure, r.task) == (column.measure, column.task)]
    names = dict.fromkeys(metric.removeprefix(start) for metric in known if metric.startswith(start))

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

"""The tables of interventions: the effect of each change at test time, next to its control."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from calque.analysis.measures.interventions import NOTHING, control_of
from calque.analysis.papers.columns import Column
from calque.analysis.papers.texts import table
from calque.analysis.records.record import AFTER, RETRIEVAL
from calque.analysis.report.table import MISSING, Table, cell
from calque.analysis.results.measured import BySeed, difference, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Estimate
from calque.analysis.tasks.catalog import PRIMARY, metric_title, task_title


def interventions_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    for task in results.main_tasks:
        metric = PRIMARY[task]
        yield from _table(results, scale, Column("", "ZS", metric, task), f"{task_title(task)}, {metric_title(metric)}")
    last = results.layers(RETRIEVAL)[-1:]
    yield from _table(results, scale, Column("", RETRIEVAL, "cosine", facets={"layer": sum(last)}), "retrieval")


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


def effect(after: Callable[[str], BySeed], name: str) -> tuple[Estimate | None, Estimate | None, Estimate | None]:
    score, control = after(name), control_of(name)
    change = difference(score, after(NOTHING)) if name != NOTHING else None
    return mean(score), change, difference(score, after(control)) if control else None

"""Columns of tables and panels of figures as data: each names the number of a model that it shows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.records.record import DELTA, Record
from analysis.report.drawing import DIFFERENCE, SHARE
from analysis.report.table import MISSING, cell, percent
from analysis.results.measured import BySeed, mean
from analysis.results.results import Results
from analysis.results.retained import Retained, retained
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

RETAINED = "RETAINED"
HEADS = {DELTA: "Δ", RETAINED: "retained"}  # of measures that tables call otherwise


@dataclass(frozen=True)
class Column:
    """One number of each model, under a head; `facets` are further fields of `analysis.results.results.Key`."""

    head: str
    measure: str
    metric: str
    task: str = ""
    facets: Mapping[str, Any] = field(default_factory=dict)

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest that the number can be."""
        return DIFFERENCE if self.measure == DELTA else SHARE

    def values(self, results: Results, objective: str, language: str) -> BySeed:
        return results.scores(self.measure, objective, language, self.task, self.metric, **self.facets)

    def cell(self, results: Results, objective: str, language: str) -> str:
        """The mean over seeds with its interval."""
        if self.measure == RETAINED:
            return retained_cell(retained(results, objective, language, self.task, self.metric))
        return cell(mean(self.values(results, objective, language)))

    def printed(self, results: Results, table: int, objective: str, language: str) -> str:
        """What a table of the paper has there."""
        number = results.printed(table, self.measure, objective, language, self.task, self.metric)
        return percent(number.value) if number else MISSING


def task_columns(measures: Sequence[str], metrics: Iterable[tuple[str, str]]) -> list[Column]:
    """Some measures of each task by its metric."""
    return [
        Column(f"{score_title(task, metric)} {HEADS.get(measure, measure)}", measure, metric, task)
        for task, metric in metrics
        for measure in measures
    ]


def main_metrics(results: Results) -> list[tuple[str, str]]:
    """The tasks of a study, each with its main metric."""
    return [(task, PRIMARY[task]) for task in results.main_tasks]


def score_title(task: str, metric: str = "") -> str:
    """A task and how it is scored, by its primary metric if none is named."""
    return f"{task_title(task)} {metric_title(metric or PRIMARY[task])}"


def rows_of(results: Results, columns: Sequence[Column], by_language: bool = False) -> Iterator[tuple[str, ...]]:
    """A row for each objective and derived language that any column has a number of, by objective or `by_language`."""
    cells = [(o, t) for o in results.objectives for t in results.transforms]
    for objective, language in sorted(cells, key=lambda c: results.transforms.index(c[1])) if by_language else cells:
        numbers = [column.cell(results, objective, language) for column in columns]
        if any(number != MISSING for number in numbers):
            yield results.objective_title(objective), results.transform_title(language), *numbers


def records_of(results: Results, columns: Iterable[Column]) -> list[Record]:
    """The records of columns, in the order of the study."""
    shown = {(column.measure, column.task, column.metric) for column in columns}
    return [r for r in results.records if (r.measure, r.task, r.metric) in shown]


def retained_cell(kept: Retained | None) -> str:
    """The share with its interval, and in words what makes it little worth or not defined."""
    return ", ".join(filter(None, [cell(kept.share) if kept.share else "", kept.remark])) if kept else MISSING

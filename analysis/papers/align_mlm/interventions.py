"""The tables of interventions: what each change at test time is worth, next to its control."""

from collections.abc import Callable, Iterator
from typing import Any

from calque.analysis.measures.interventions import NOTHING, control_of
from calque.analysis.papers.texts import table
from calque.analysis.records.record import AFTER
from calque.analysis.report.table import MISSING, Table, cell
from calque.analysis.results.measured import BySeed, difference, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Estimate
from calque.analysis.tasks.catalog import PRIMARY, metric_title, task_title


def interventions_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """One table per task whose models were changed: a row for each language and intervention."""
    objectives = {name: results.objective_title(name) for name in results.objectives}
    heads = [(title, f"{title}, change", f"{title}, beyond control") for title in objectives.values()]
    header = ("transform", "intervention", "control", *(head for three in heads for head in three))
    for task in results.main_tasks:
        start = PRIMARY[task] + AFTER
        names = dict.fromkeys(r.metric.removeprefix(start) for r in results.records if r.metric.startswith(start))
        rows = []
        for transform in results.transforms if names else ():
            for name in names:
                labels = results.transform_title(transform), name, control_of(name) or MISSING
                cells = [_cells(results, objective, transform, task, name) for objective in objectives]
                rows.append((*labels, *(number for three in cells for number in three)))
        titles: dict[str, Any] = {"task": task_title(task), "metric": metric_title(PRIMARY[task])}
        if rows:
            yield f"interventions-{task}", table("interventions", results, scale, header, rows, 3, ("ZS",), **titles)


def _cells(results: Results, objective: str, transform: str, task: str, name: str) -> tuple[str, str, str]:

    def after(intervention: str) -> BySeed:
        return results.scores("ZS", objective, transform, task, f"{PRIMARY[task]}{AFTER}{intervention}")

    score, change, beyond = effect(after, name)
    return cell(score), cell(change), cell(beyond)


def effect(after: Callable[[str], BySeed], name: str) -> tuple[Estimate | None, Estimate | None, Estimate | None]:
    """The score after an intervention, its difference from the score without, and from the score after its control."""
    score, control = after(name), control_of(name)
    change = difference(score, after(NOTHING)) if name != NOTHING else None
    return mean(score), change, difference(score, after(control)) if control else None

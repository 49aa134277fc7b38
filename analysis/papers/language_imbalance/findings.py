"""Findings of a study of mixtures, a sentence a measure."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.papers.language_imbalance.conditions import between, contrasts, efficiencies, outward
from analysis.papers.language_imbalance.ratios import ratio
from analysis.report.table import percent
from analysis.report.verdicts import listed
from analysis.results.measured import mean
from analysis.results.results import Results
from analysis.tasks.catalog import PRIMARY, task_title


def imbalance_findings(results: Results) -> Iterator[str]:
    """Token efficiency, then transfer, in unequal and in equal amounts."""
    for objective in results.objectives:
        by = results.objective_title(objective)
        efficient = [
            f"{ratio(numbers)} at {unequal.mixture.title} and "
            f"{ratio(efficiencies(results, equal, objective, equal.small))} at {equal.mixture.title}"
            for equal, unequal in contrasts(results)
            if (numbers := efficiencies(results, unequal, objective, unequal.small)).logs
        ]
        if efficient:
            yield f"With {by} the token efficiency of the small languages is {listed(efficient)}."
        for task in (task for task in PRIMARY if task in results.tasks):
            if said := list(_transferred(results, objective, task)):
                yield f"With {by} zero-shot {task_title(task)} from the main language to the small is {listed(said)}."


def _transferred(results: Results, objective: str, task: str) -> Iterator[str]:
    for equal, unequal in contrasts(results):
        before, after = (mean(between(results, each, objective, outward(each), task)) for each in (equal, unequal))
        if before and after:
            yield (
                f"{percent(after.mean)} % at {unequal.mixture.title} and {percent(before.mean)} at "
                f"{equal.mixture.title}"
            )

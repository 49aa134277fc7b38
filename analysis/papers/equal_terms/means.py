"""The numbers that objectives are compared by."""

from __future__ import annotations

from analysis.results.measured import BySeed
from analysis.results.results import Results
from analysis.results.together import together
from analysis.tasks.catalog import PRIMARY

PLAIN = "MLM"
"""The objective that all others are held against: it is told nothing of how the languages go together."""


def others(results: Results) -> list[str]:
    """The objectives that are held against MLM; none in a study without it."""
    return [name for name in results.objectives if name != PLAIN] if PLAIN in results.objectives else []


def over_tasks(results: Results, objective: str, transform: str, measure: str = "ZS") -> BySeed:
    """The mean of the tasks' main metrics, each counting alike, for the seeds that have all of them."""
    tasks = [task for task in results.tasks if task in PRIMARY]
    return together([results.scores(measure, objective, transform, task, PRIMARY[task]) for task in tasks])

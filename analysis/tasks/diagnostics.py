"""Scores of the examples that try one thing, where a task's examples say what they try (`Example.diagnostic`)."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.tasks.score import Answer, Score
from analysis.tasks.task import Task

OF = " of "
"""Between a metric and what is tried, as in `accuracy of passive`."""


def by_diagnostic(
    task: Task, gold: Sequence[Answer], predicted: Sequence[Answer], diagnostics: Sequence[str]
) -> dict[str, Score]:
    """The primary metric of the examples of each diagnostic, as `metric of diagnostic`; empty where none has one.

    Raises:
        ValueError: the metric is not defined for the gold of some diagnostic.
    """
    scores = {}
    for name in sorted(set(diagnostics) - {""}):
        own = [i for i, diagnostic in enumerate(diagnostics) if diagnostic == name]
        of = task.scores([gold[i] for i in own], [predicted[i] for i in own])
        scores[f"{task.primary}{OF}{name}"] = of[task.primary]
    return scores

"""Learning curves: a task's scores by how many examples were learnt from, and where a straight line would take them.

Published scores of an encoder of the same size were reached with a hundred times as many examples as a laptop has time
for. A curve says whether ours are on the way there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from statistics import fmean, linear_regression

from analysis.papers.small_encoder import LEARNT, MODEL, SAID, of_task
from analysis.papers.xlm_align.continued import Continued
from analysis.papers.xlm_align.task_tables import THEIRS, shown, told_over
from analysis.records.floor import Floor
from analysis.records.record import Published
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, percent
from analysis.results.measured import mean
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

FITTED = 3
"""The largest amounts, through which the line is drawn."""


@dataclass(frozen=True)
class Line:
    """Shares against doublings of the examples, least squares; `at` says what it gives for an amount."""

    slope: float
    intercept: float

    def at(self, examples: int) -> float:
        return self.intercept + self.slope * log2(examples)


def curves(made: Continued) -> list[str]:
    """The tasks that have one."""
    return [task for task in made.tasks if len(made.amounts(task)) > 1]


def strongest(made: Continued, task: str) -> list[Floor]:
    """The strongest baseline without a model in each language of a task, where there is one."""
    floors = made.results.floors
    highest = (floors.highest(task, PRIMARY[task], name, made.source) for name in (made.source, *made.languages(task)))
    return [floor for floor in highest if floor]


def over(published: Mapping[str, Published], languages: Sequence[str]) -> float | None:
    """The mean of published scores over languages; None where one is missing."""
    found = [published[name].value for name in languages if name in published]
    return fmean(found) if found and len(found) == len(languages) else None


def line(made: Continued, model: str, task: str) -> Line | None:
    """Through the means over all languages at the largest amounts.

    None where there are fewer than two of them, or where one is not above the strongest baselines: a score that is no
    better than without a model is not on its way.
    """
    known = [
        (examples, mean(made.everywhere(model, task, examples=examples))) for examples in made.amounts(task)[-FITTED:]
    ]
    points = [(log2(examples), estimate.mean) for examples, estimate in known if estimate and examples]
    floors = [floor.value for floor in strongest(made, task)]
    if len(points) < 2 or (floors and min(score for _, score in points) <= fmean(floors)):
        return None
    fitted = linear_regression(*zip(*points, strict=True))
    return Line(fitted.slope, fitted.intercept)


def curve_table(made: Continued, task: str, published: Sequence[Published], scale: str, runs: tuple[str, ...]) -> Table:
    """A row for each model and amount, a column for each language, and the published row below."""
    languages = [made.source, *made.languages(task)]
    rows: list[tuple[str, ...]] = []
    notes = []
    theirs = of_task(published, task) if made.source == THEIRS else {}
    for model in made.models:
        for examples in made.amounts(task):
            scores = [made.scored(model, task, language, examples=examples) for language in languages]
            means = (mean_of(model, task, examples=examples) for mean_of in (made.transferred, made.everywhere))
            rows.append((made.title(model), f"{examples:,}", OURS, *map(shown, (*scores, *means))))
        if fitted := line(made, model, task):
            many = min(FITTED, len(made.amounts(task)))
            said = (
                f"{made.title(model)}: through the {many} largest amounts each doubling adds "
                f"{100 * fitted.slope:.1f} points to the mean of all (a line in their logarithm is no law: "
                "curves bend)"
            )
            if theirs and task in LEARNT:
                said += f"; the same line is at {percent(fitted.at(LEARNT[task]))} for {LEARNT[task]:,} examples"
            notes.append(f"{said}.")
        else:
            notes.append(f"{made.title(model)}: no line, as it is not yet above what needs no model.")
    first = len(rows)
    if theirs:
        known = [theirs.get(language) for language in languages]
        values = [one.value if one else None for one in known]
        values += [over(theirs, languages[1:]), over(theirs, languages)]
        cells = (MISSING if value is None else percent(value) for value in values)
        rows.append((MODEL, f"{LEARNT[task]:,}", PUBLISHED, *cells))
    note = f"The examples of a smaller amount are among those of a larger. {told_over(made)}. {' '.join(notes)}"
    if theirs:
        note += f" Published: {SAID}, its best checkpoint on the dev sets of all languages; means over these languages."
    return Table(
        f"{task_title(task)} by training examples, zero-shot from {made.source}, {metric_title(PRIMARY[task])}, "
        f"percent; {scale}",
        ("model", "examples", "source", *languages, "mean of the others", "mean of all"),
        tuple(rows),
        note,
        frozenset(range(first, len(rows))),
        runs,
        labels=3,
    )

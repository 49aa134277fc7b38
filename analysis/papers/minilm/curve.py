"""Learning curves: a task's scores by how many examples were learnt from, and where a straight line would take them.

Published scores of an encoder of the same size were reached with a hundred times as many examples as a laptop has time
for. A curve says whether ours are on the way there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, log2
from statistics import fmean, linear_regression

from analysis.papers.small_encoder import LEARNT, MODEL, SAID, of_task
from analysis.papers.xlm_align.continued import Continued
from analysis.papers.xlm_align.task_tables import THEIRS, shown, told_over
from analysis.records.floor import Floor
from analysis.records.record import Published
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, percent
from analysis.results.measured import BySeed, Measured, mean
from analysis.statistics.intervals import Estimate
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

FITTED = 3
"""The largest amounts, through which the line is drawn."""


@dataclass(frozen=True)
class Line:
    """Shares against doublings of the examples, least squares for each seed: slope and intercept by seed."""

    fits: Mapping[int, tuple[float, float]]

    @property
    def slope(self) -> Estimate:
        """What a doubling adds."""
        return self._over({seed: slope for seed, (slope, _) in self.fits.items()})

    def at(self, examples: float) -> Estimate:
        """What the lines give for an amount. The interval is over seeds, as if scores did lie on a line."""
        return self._over({seed: intercept + slope * log2(examples) for seed, (slope, intercept) in self.fits.items()})

    def _over(self, values: Mapping[int, float]) -> Estimate:
        found = mean({seed: Measured(value, None, low=-inf, high=inf) for seed, value in values.items()})
        assert found is not None  # a line has a seed
        return found


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
    """Through the means over all languages at the largest amounts, of the seeds that were tested at all of these.

    None where there are fewer than two amounts or no such seed, or where a mean over seeds is not above that of the
    strongest baselines: a score that is no better than without a model is not on its way.
    """
    known = {
        log2(examples): scores
        for examples in made.amounts(task)[-FITTED:]
        if examples and (scores := made.everywhere(model, task, examples=examples))
    }
    seeds = set.intersection(*map(set, known.values())) if len(known) > 1 else set()
    floors = [floor.value for floor in strongest(made, task)]
    if not seeds or (floors and min(map(_mean, known.values())) <= fmean(floors)):
        return None
    fitted = {
        seed: linear_regression(list(known), [scores[seed].value for scores in known.values()])
        for seed in sorted(seeds)
    }
    return Line({seed: (one.slope, one.intercept) for seed, one in fitted.items()})


def _mean(scores: BySeed) -> float:
    return fmean(score.value for score in scores.values())


def _points(value: Estimate) -> str:
    """A mean of points, with its interval over seeds where there is one."""
    half = "" if value.half is None else f" ± {100 * value.half:.1f}"
    return f"{100 * value.mean:.1f}{half}"


def _ahead(fitted: Line, task: str, largest: int) -> str:
    """What a line gives for as many examples as published scores were learnt from, in words."""
    far, doublings = fitted.at(LEARNT[task]), log2(LEARNT[task] / largest)
    interval = "" if far.low is None or far.high is None else f" [{100 * far.low:.1f}, {100 * far.high:.1f}]"
    amount = f"{doublings:.1f} doublings further, at {LEARNT[task]:,} examples,"
    bends = ", where no score can be, so it bends before" if far.mean > 1 else ""
    return f"{amount} the same line is at {100 * far.mean:.1f}{interval}{bends}"


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
                f"{_points(fitted.slope)} points to the mean of all (a line in their logarithm is no law: "
                "curves bend)"
            )
            if theirs and task in LEARNT:
                said += f"; {_ahead(fitted, task, made.amounts(task)[-1])}"
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

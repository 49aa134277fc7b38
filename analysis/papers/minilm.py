"""Learning curves: a task's scores by number of training examples, and their extrapolation by a straight line.

MiniLM (Wang et al. 2020) of 12 layers and width 384 reached its published scores with a hundred times the examples that
a laptop has time for. A curve shows whether encoders of that size are on the way there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from statistics import fmean, linear_regression
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calque.analysis.papers.looks import PUBLISHED as LOOKS_PUBLISHED
from calque.analysis.papers.texts import heading, plot
from calque.analysis.papers.xlm_align.continued import LEARNT, SMALL, Continued, printed_cells
from calque.analysis.papers.xlm_align.continued_tables import OF_LANGUAGES, continued_table
from calque.analysis.papers.xlm_align.figures import published_key
from calque.analysis.records.record import Floor
from calque.analysis.report.drawing import HALF, INK, LOOKS, draw_line, draw_points, key, legend, styled
from calque.analysis.report.plot import Plot
from calque.analysis.report.table import OURS, PUBLISHED, Table
from calque.analysis.results.measured import means
from calque.analysis.statistics.intervals import Estimate, estimate
from calque.analysis.tasks.catalog import PRIMARY, metric_title, task_title

FITTED = 3  # the number of largest amounts that the line is fitted to
SOURCE, OTHERS = LOOKS[0], LOOKS[2]  # the looks of the training language, and of the mean of the others
BEYOND, ROOM = 0.36, 1.15
"""The width of the panel of published scores relative to the other's; the distance of the first and last amount from
the sides, as a factor."""
STRONGEST = "model-free baseline, mean"


@dataclass(frozen=True)
class Trend:
    """Least-squares lines of shares against doublings of the examples, one for each seed: slope and intercept."""

    fits: Sequence[tuple[float, float]]

    @property
    def slope(self) -> Estimate:
        return estimate([slope for slope, _ in self.fits])

    def at(self, examples: float) -> Estimate:
        """The lines' value at an amount. The interval is over seeds, and assumes that scores follow a line."""
        return estimate([intercept + slope * log2(examples) for slope, intercept in self.fits])


def curves(study: Continued) -> list[str]:
    """The tasks that have a learning curve."""
    return [task for task in study.tasks if len(study.amounts(task)) > 1]


def strongest(study: Continued, task: str) -> list[Floor]:
    """The strongest baseline without a model in each language of a task, if there is one."""
    languages = (study.source, *study.languages(task))
    highest = (study.results.floors.highest(task, PRIMARY[task], name, study.source) for name in languages)
    return [floor for floor in highest if floor]


def trend(study: Continued, model: str, task: str) -> Trend | None:
    """The trend of the means over all languages at the largest amounts, for the seeds tested at all of these. None with
    fewer than two amounts or no such seed, or if a mean over seeds is not above the strongest baselines'.
    """
    amounts = [examples for examples in study.amounts(task)[-FITTED:] if examples]
    scores = {log2(n): its for n in amounts if (its := study.everywhere(model, task, examples=n))}
    seeds = sorted(set.intersection(*map(set, scores.values()))) if len(scores) > 1 else []
    floors = [floor.value for floor in strongest(study, task)]
    lowest = min((fmean(score.value for score in its.values()) for its in scores.values()), default=0.0)
    if not seeds or (floors and lowest <= fmean(floors)):
        return None
    fits = [linear_regression(list(scores), [its[seed].value for its in scores.values()]) for seed in seeds]
    return Trend([(fit.slope, fit.intercept) for fit in fits])


def curve_tables(study: Continued, scale: str) -> Iterator[tuple[str, Table]]:
    """One row per model and amount, one column per language, and the published row below."""
    for task in curves(study):
        languages = [study.source, *study.languages(task)]
        rows: list[tuple[str, ...]] = []
        for model in study.models:
            for examples in study.amounts(task):
                cells = study.cells(model, task, languages, examples=examples)
                rows.append((study.title(model), f"{examples:,}", OURS, *cells))
        trends = " ".join(_in_words(study, model, task) for model in study.models)
        if theirs := study.of_small(task):
            values = {name: p.value for name, p in theirs.items()}
            rows.append((SMALL, f"{LEARNT[task]:,}", PUBLISHED, *printed_cells(values, languages)))
        header, parts = ("model", "examples", "source", *languages, *OF_LANGUAGES), {"published": theirs}
        about = {"task": task_title(task), "metric": metric_title(PRIMARY[task]), "trends": trends}
        yield f"curve-{task}", continued_table(study, "curve", scale, header, rows, 3, parts=parts, **about)


def _in_words(study: Continued, model: str, task: str) -> str:
    """A model's trend, and its value at the number of examples behind the published scores."""
    line, amounts = trend(study, model, task), study.amounts(task)
    if line is None:
        return f"{study.title(model)}: no line: not yet above the model-free baselines."
    slope = line.slope
    points = f"{100 * slope.mean:.1f}" + ("" if slope.half is None else f" ± {100 * slope.half:.1f}")
    sentence = (
        f"{study.title(model)}: through the {min(FITTED, len(amounts))} largest amounts each doubling adds {points} "
        "points to the mean of all (a line in their logarithm is no law: curves bend)"
    )
    if study.of_small(task) and task in LEARNT:
        far, doublings = line.at(LEARNT[task]), log2(LEARNT[task] / amounts[-1])
        interval = " [{:.1f}, {:.1f}]".format(*(100 * end for end in far.interval)) if far.interval else ""
        amount = f"{doublings:.1f} doublings further, at {LEARNT[task]:,} examples,"
        bends = ", where no score can be, so it bends before" if far.mean > 1 else ""
        sentence += f"; {amount} the same line is at {100 * far.mean:.1f}{interval}{bends}"
    return f"{sentence}."


def examples_figure(study: Continued, scale: str) -> Plot | None:
    """The start's scores by amount, one panel per task, and the published scores of an encoder of its size."""
    if not (tasks := curves(study)):
        return None
    results, languages = study.results, {task: [study.source, *study.languages(task)] for task in tasks}
    printed = {task: study.of_small(task) for task in tasks}
    numbers = [p for task in tasks for name, p in printed[task].items() if name in languages[task]]
    floors = [floor for task in tasks for floor in strongest(study, task)]
    lines = any(trend(study, study.start, task) for task in tasks)
    widths = [1.0, BEYOND] if any(printed.values()) else [1.0]
    with styled(HALF, 0.6 + 2.3 * len(tasks), heading("figure-examples")) as figure:
        panels = figure.subplots(len(tasks), len(widths), squeeze=False, sharey="row", width_ratios=widths)
        for row, task in zip(panels, tasks, strict=True):
            _draw(row[0], study, task)
            row[0].set_ylabel(f"{metric_title(PRIMARY[task])}, %")
            row[0].set_title(task_title(task))
            if printed[task]:
                _beyond(row[1], study, task, {name: p.value for name, p in printed[task].items()})
            elif len(widths) > 1:
                row[1].remove()
        handles = [key(study.source, *SOURCE, line="-"), key("mean of the other languages", *OTHERS, line="-")]
        handles += [key("trend of the mean of all", INK, "", line=":")] if lines else []
        handles += [published_key(SMALL)] if numbers else []
        handles += [key(STRONGEST, INK, "", line="-")] if floors else []
        legend(figure, handles, 2)
    every = results.select({record.measure for record in results.records}, {task: PRIMARY[task] for task in tasks})
    records = [r for r in every if r.examples and results.objective_of(r) == study.start]
    about: dict[str, Any] = {"start": study.title(study.start), "source": study.source, "seeds": study.seeds}
    about |= {"parts": {"lines": lines}, "model": SMALL}
    return plot("figure-examples", figure, results, scale, records, numbers, floors, **about)


def _draw(panel: Axes, study: Continued, task: str) -> None:
    amounts = study.amounts(task)
    in_source = means((n, study.scored(study.start, task, study.source, examples=n)) for n in amounts)
    in_others = means((n, study.transferred(study.start, task, examples=n)) for n in amounts)
    _draw_trend(panel, study, task, amounts[0], amounts[-1])
    for (colour, marker), points in ((SOURCE, in_source), (OTHERS, in_others)):
        draw_points(panel, points, colour, linestyle="-", marker=marker, markersize=6, linewidth=1.2)
    _floor_and_ticks(panel, study, task, amounts)
    panel.set_xlabel("training examples")


def _beyond(panel: Axes, study: Continued, task: str, theirs: Mapping[str, float]) -> None:
    """The published scores at their number of examples, and the end of the line."""
    end = LEARNT[task]
    _draw_trend(panel, study, task, end / ROOM, end * ROOM)
    colour, marker, _ = LOOKS_PUBLISHED[SMALL]
    text: dict[str, Any] = {"textcoords": "offset points", "ha": "center"}
    groups = {(study.source, "bottom"): [study.source], ("mean of all", "top"): [study.source, *study.languages(task)]}
    for (label, side), names in groups.items():
        if all(name in theirs for name in names):
            value = 100 * fmean(theirs[name] for name in names)
            draw_line(panel, [end], [value], fmt=marker, color=colour, fillstyle="none", markersize=7)
            panel.annotate(label, (end, value), xytext=(0, 7 if side == "bottom" else -7), va=side, **text)
    _floor_and_ticks(panel, study, task, [end])
    panel.spines["left"].set_linestyle(":")
    panel.tick_params(axis="y", length=0)


def _floor_and_ticks(panel: Axes, study: Continued, task: str, amounts: Sequence[int]) -> None:
    if low := strongest(study, task):
        panel.axhline(100 * fmean(floor.value for floor in low), color=INK, linewidth=1, zorder=1)
    panel.set_xscale("log")
    panel.set_xticks(amounts, [f"{amount:,}" for amount in amounts])
    panel.minorticks_off()
    panel.set_xlim(amounts[0] / ROOM, amounts[-1] * ROOM)


def _draw_trend(panel: Axes, study: Continued, task: str, start: float, end: float) -> None:
    """The start's line and its interval, where it gives possible scores."""
    if line := trend(study, study.start, task):
        along = [(amount, line.at(amount)) for amount in np.geomspace(start, end).tolist()]
        points = [(amount, score) for amount, score in along if 0 <= score.mean <= 1]
        places = [amount for amount, _ in points]
        panel.plot(places, [100 * score.mean for _, score in points], ":", color=INK, linewidth=1.2)
        bands = [score.interval for _, score in points if score.interval]
        if bands and len(bands) == len(points):
            low, high = 100 * np.clip(np.array(bands).T, 0, 1)
            panel.fill_between(places, low, high, color=INK, alpha=0.12, linewidth=0)

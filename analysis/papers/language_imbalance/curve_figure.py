"""Held-out loss against the ids that were read of a language: alone, and as a small language beside others."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from analysis.papers.language_imbalance.conditions import (
    Condition,
    Way,
    alone,
    average,
    budgets,
    conditions,
    ids,
    losses,
)
from analysis.papers.looks import distinct, looks
from analysis.records.record import HELD_OUT, READ
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, SOFT, Dash, key, legend, styled
from analysis.report.whiskers import draw_intervals
from analysis.results.measured import mean
from analysis.results.results import Results

ASIDE = 1.12
"""How far apart objectives stand that have read equally much, so that their intervals can be seen."""
WAYS: dict[Way, Dash] = {"steps": "-", "batch": "--"}


def curve_figure(results: Results, scale: str) -> Plot | None:
    """Small multiples: a panel for each number of languages, with the curve of the language alone in each.

    None where no language was read alone, or with more objectives than a figure can tell apart.
    """
    known = conditions(results)
    if alone(results) is None or not known or not distinct(results):
        return None
    sizes = sorted({len(condition.languages) for condition in known})
    with styled(FULL, 4.0, f"Held-out loss of the small languages\n{scale}") as figure:
        axes = figure.subplots(1, len(sizes), sharex=True, sharey=True, squeeze=False)[0]
        for size, panel in zip(sizes, axes, strict=True):
            _alone(panel, results)
            for condition in (condition for condition in known if len(condition.languages) == size):
                _small(panel, results, condition)
            panel.set_xscale("log")
            panel.margins(x=0.12)
            panel.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            panel.xaxis.set_minor_locator(NullLocator())
            panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1e6:g}"))
            panel.set_title(f"{size} languages")
            panel.set_xlabel("million ids of the language")
        axes[0].set_ylabel("nats a masked id")
        handles = [key("alone, fewer steps", INK, "", line="-")]
        handles += [key("alone, fewer rows a step", INK, "", line="--")] if budgets(results, "batch") else []
        handles += [key(results.objective_title(name), *look[:2]) for name, look in looks(results).items()]
        legend(figure, handles, 4)
        caption = (
            "The lines are a language alone, read for fewer steps and for all of them, or for all in smaller batches; "
            "bands are 95 % intervals over seeds. Points are the small languages of joint models, side by side where "
            "they have read equally much; below them stands the share of each step’s rows that one of them has. Below "
            "a line they are better than alone. How far to the left of a line a point of its height lies, is its token "
            "efficiency."
        )
        measures = {(HELD_OUT, "nats"), (READ, "ids")}
        records = [record for record in results.records if (record.measure, record.metric) in measures]
        return Plot(figure, "figure-curve", "Held-out loss of the small languages", caption, records)


def _alone(panel: Axes, results: Results) -> None:
    """A line for either way to read less, with its interval over seeds."""
    for way, dash in WAYS.items():
        points = [(mean(read), mean(nats)) for read, nats in budgets(results, way)]
        known = sorted(((x.mean, y) for x, y in points if x and y), key=lambda point: point[0])
        panel.plot([x for x, _ in known], [y.mean for _, y in known], dash, color=INK, linewidth=1.5)
        banded = [(x, y.low, y.high) for x, y in known if y.low is not None and y.high is not None]
        if banded:
            across, low, high = zip(*banded, strict=True)
            panel.fill_between(across, low, high, color=SOFT, alpha=0.3, linewidth=0)


def _small(panel: Axes, results: Results, condition: Condition) -> None:
    """A point for each objective, one beside the other, and below them the share of the language."""
    objectives = looks(results)
    for place, (objective, (colour, marker, _)) in enumerate(objectives.items()):
        x = mean(average(ids(results, condition, objective, name) for name in condition.small))
        y = mean(average(losses(results, condition, objective, name) for name in condition.small))
        if x and y:
            across = x.mean * ASIDE ** (place - (len(objectives) - 1) / 2)
            panel.plot(across, y.mean, marker, color=colour, markersize=6)
            if y.low is not None and y.high is not None:
                draw_intervals(panel, [across], [(y.low, y.high)], colour)
            if not place:
                bottom = panel.get_xaxis_transform()
                behind = {"facecolor": "#ffffff", "edgecolor": "none", "pad": 0.5}
                panel.text(x.mean, 0.02, condition.small_label, transform=bottom, ha="center", fontsize=8, bbox=behind)

"""Clones of a language in equal and unequal amounts, and held-out loss against the ids that were read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from analysis.papers.columns import score_title
from analysis.papers.language_imbalance.conditions import (
    IDS,
    LOSS,
    Condition,
    Way,
    alone,
    between,
    budgets,
    conditions,
    efficiencies,
    measured,
)
from analysis.papers.language_imbalance.tables import EFFICIENCY
from analysis.papers.looks import Look, distinct, looks, objective_keys
from analysis.papers.texts import heading, plot
from analysis.records.record import ALIGNMENT, Published
from analysis.report.drawing import WIDE, Ends, draw_intervals, ends, key, legend, styled
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, SOFT, Dash
from analysis.results.measured import BySeed, mean
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate
from analysis.tasks.catalog import PRIMARY

LookUp = Callable[[Condition, str], BySeed]
TICKS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
ASIDE = 0.12  # between objectives of one mixture, so that their intervals can be seen
ROOM = 0.5  # of a step between two mixtures, to the left of the first and to the right of the last
FACTOR = 1.12  # between objectives that have read equally much, so that their intervals can be seen
WAYS: dict[Way, Dash] = {"steps": "-", "batch": "--"}


@dataclass(frozen=True)
class PanelRow:
    """A row of panels: its title and numbers, whether these are logarithms of a ratio, and whether its axis has the
    whole range of a share."""

    title: str
    look_up: LookUp
    ratio: bool = False
    whole: bool = False

    def scaled(self, value: float) -> float:
        """A number as it is drawn: a ratio, or a share in percent."""
        return math.exp(value) if self.ratio else 100 * value

    def ends(self, estimate: Estimate) -> Ends:
        """The ends of an interval as they are drawn."""
        if not self.ratio or estimate.low is None or estimate.high is None:
            return ends([estimate])[0]
        return math.exp(estimate.low), math.exp(estimate.high)


def imbalance_figure(results: Results, scale: str) -> Plot | None:
    """Small multiples: a row for each measure, a column for each number of languages, a line for each objective.

    None where there is no mixture of given shares, or with more objectives than a figure can tell apart.
    """
    shown = [condition for condition in conditions(results) if condition.shares]
    sizes = sorted({len(condition.languages) for condition in shown})
    rows = [row for row in _rows(results) if any(row.look_up(c, o) for c in shown for o in results.objectives)]
    if not shown or not rows or not distinct(results):
        return None
    printed = {p.setting: p for p in results.published if p.measure == EFFICIENCY}
    beside: list[Published] = []
    with styled(FULL, 1.6 + 2.1 * len(rows), heading("figure-imbalance", scale)) as figure:
        axes = figure.subplots(len(rows), len(sizes), sharex="col", sharey="row", squeeze=False)
        for row, panels in zip(rows, axes, strict=True):
            for size, panel in zip(sizes, panels, strict=True):
                own = sorted((c for c in shown if len(c.languages) == size), key=lambda c: c.shares[0] / sum(c.shares))
                _draw(panel, row, own, looks(results))
                beside += _draw_printed(panel, own, printed) if row.ratio else []
            panels[0].set_ylabel(row.title)
        for size, top in zip(sizes, axes[0], strict=True):
            top.set_title(f"{size} languages")
        for panel in axes[-1]:
            panel.tick_params(axis="x", labelsize=8)
        published = [key("published, another kind of model", INK, "D", "none")] if beside else []
        legend(figure, [*objective_keys(results, lines=True), *published], 3)
    measures = {LOSS, IDS, (ALIGNMENT, "held-out")}
    measures |= {("ZS", PRIMARY[task]) for task in results.tasks}
    records = [record for record in results.records if (record.measure, record.metric) in measures]
    return plot("figure-imbalance", figure, results, records, beside)


def _rows(results: Results) -> list[PanelRow]:
    def efficiency(condition: Condition, objective: str) -> BySeed:
        return efficiencies(results, condition, objective, condition.small).logs

    def outward(task: str) -> LookUp:
        return lambda condition, objective: between(results, condition, objective, condition.outward, task)

    tasks = [PanelRow(f"{score_title(t)},\nmain → small, %", outward(t), whole=True) for t in results.main_tasks]
    aligned = PanelRow("alignment@1 held-out,\nmain → small, %", outward(""))
    return [PanelRow("token efficiency\nof the small", efficiency, ratio=True), *tasks, aligned]


def _draw(panel: Axes, row: PanelRow, own: Sequence[Condition], look: Mapping[str, Look]) -> None:
    """The mixtures of one number of languages, the first language's share ascending."""
    for place, (objective, (colour, marker, dash)) in enumerate(look.items()):
        points = [(x, estimate) for x, c in enumerate(own) if (estimate := mean(row.look_up(c, objective)))]
        aside = ASIDE * (place - (len(look) - 1) / 2)
        across, up = [x + aside for x, _ in points], [row.scaled(estimate.mean) for _, estimate in points]
        panel.plot(across, up, dash, color=colour, marker=marker, markersize=6)
        intervals = [row.ends(estimate) for _, estimate in points]
        draw_intervals(panel, across, intervals, colour, wide=math.inf if row.ratio else WIDE)
    panel.set_xticks(range(len(own)), [condition.label for condition in own])
    panel.set_xlim(-ROOM, len(own) - 1 + ROOM)
    if row.ratio:
        panel.set_yscale("log")
        panel.yaxis.set_major_locator(FixedLocator(TICKS))
        panel.yaxis.set_minor_locator(NullLocator())
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.axhline(1, color=INK, linewidth=0.8)
    else:
        panel.set_ylim(0, 100 if row.whole else None)


def _draw_printed(panel: Axes, own: Sequence[Condition], printed: Mapping[str, Published]) -> list[Published]:
    """The paper's numbers of the same mixtures."""
    found = []
    for x, condition in enumerate(own):
        if number := printed.get(f"{len(condition.languages)} languages, {condition.title}"):
            panel.plot(x + 2 * ASIDE, number.value, "D", color=INK, markerfacecolor="#ffffff", markersize=6)
            found.append(number)
    return found


def curve_figure(results: Results, scale: str) -> Plot | None:
    """Held-out loss by the ids that were read: a panel for each number of languages, with the language alone in each.

    None where no language was read alone, or with more objectives than a figure can tell apart.
    """
    every = conditions(results)
    if alone(results) is None or not every or not distinct(results):
        return None
    sizes = sorted({len(condition.languages) for condition in every})
    with styled(FULL, 4.0, heading("figure-curve", scale)) as figure:
        axes = figure.subplots(1, len(sizes), sharex=True, sharey=True, squeeze=False)[0]
        for size, panel in zip(sizes, axes, strict=True):
            _alone(panel, results)
            for condition in (condition for condition in every if len(condition.languages) == size):
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
        legend(figure, [*handles, *objective_keys(results)], 4)
    records = [r for r in results.records if (r.measure, r.metric) in (LOSS, IDS)]
    return plot("figure-curve", figure, results, records)


def _alone(panel: Axes, results: Results) -> None:
    """A line for either way to read less, with its interval over seeds."""
    for way, dash in WAYS.items():
        means = [(mean(read), mean(nats)) for read, nats in budgets(results, way)]
        points = sorted(((x.mean, y) for x, y in means if x and y), key=lambda point: point[0])
        panel.plot([x for x, _ in points], [y.mean for _, y in points], dash, color=INK, linewidth=1.5)
        banded = [(x, y.low, y.high) for x, y in points if y.low is not None and y.high is not None]
        if banded:
            across, low, high = zip(*banded, strict=True)
            panel.fill_between(across, low, high, color=SOFT, alpha=0.3, linewidth=0)


def _small(panel: Axes, results: Results, condition: Condition) -> None:
    """A point for each objective, one beside the other, and below them the share of the language."""
    look = looks(results)
    for place, (objective, (colour, marker, _)) in enumerate(look.items()):
        x, y = (mean(measured(results, condition, objective, condition.small, number)) for number in (IDS, LOSS))
        if x and y:
            across = x.mean * FACTOR ** (place - (len(look) - 1) / 2)
            panel.plot(across, y.mean, marker, color=colour, markersize=6)
            if y.low is not None and y.high is not None:
                draw_intervals(panel, [across], [(y.low, y.high)], colour)
            if not place:
                style: dict[str, Any] = {"transform": panel.get_xaxis_transform(), "ha": "center", "fontsize": 8}
                style["bbox"] = {"facecolor": "#ffffff", "edgecolor": "none", "pad": 0.5}
                panel.text(x.mean, 0.02, condition.small_label, **style)

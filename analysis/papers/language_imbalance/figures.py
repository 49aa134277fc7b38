"""Clones of a language in equal and unequal amounts, and held-out loss against the ids read."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from calque.analysis.papers.columns import score_title
from calque.analysis.papers.language_imbalance.conditions import IDS, LOSS, Condition, Way, alone, budgets, conditions
from calque.analysis.papers.language_imbalance.tables import EFFICIENCY
from calque.analysis.papers.looks import Look, keys, looks
from calque.analysis.papers.texts import heading, plot
from calque.analysis.records.record import ALIGNMENT, Published
from calque.analysis.report.drawing import HALF, INK, SOFT, Dash, draw_intervals, draw_points, key, legend, styled
from calque.analysis.report.plot import Plot
from calque.analysis.results.measured import BySeed, mean, means
from calque.analysis.results.results import Results
from calque.analysis.tasks.catalog import PRIMARY

TICKS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
ASIDE = 0.12  # between objectives of one mixture, to separate their intervals
ROOM = 0.5  # of the distance between mixtures, left of the first and right of the last
FACTOR = 1.12  # between objectives that have read the same ids, to separate their intervals
WAYS: dict[Way, Dash] = {"steps": "-", "batch": "--"}


class PanelRow(NamedTuple):
    """A row of panels: the token efficiency of the small languages (a `ratio`, in logarithms), or transfer to them from
    the main language on a task or, without a task, alignment."""

    title: str
    task: str = ""
    ratio: bool = False

    def numbers(self, condition: Condition, objective: str) -> BySeed:
        if self.ratio:
            return condition.efficiencies(objective, condition.small).logs
        return condition.between(objective, condition.outward, self.task)


def imbalance_figure(results: Results, scale: str) -> Plot | None:
    """Small multiples: one row per measure, one column per number of languages, one line per objective. None without a
    mixture of given shares, or with too many objectives to distinguish."""
    mixtures, look = [condition for condition in conditions(results) if condition.shares], looks(results)
    mixtures.sort(key=lambda condition: condition.shares[0] / sum(condition.shares))
    sizes = sorted({condition.size for condition in mixtures})
    tasks = [PanelRow(f"{score_title(task)},\nmain → small, %", task) for task in results.main_tasks]
    aligned = PanelRow("alignment@1 held-out,\nmain → small, %")
    rows = [PanelRow("token efficiency\nof the small", ratio=True), *tasks, aligned]
    rows = [row for row in rows if any(row.numbers(c, o) for c in mixtures for o in results.objectives)]
    if not mixtures or not rows or not look:
        return None
    printed = {p.setting: p for p in results.published if p.measure == EFFICIENCY}
    theirs: list[Published] = []
    with styled(HALF, 0.9 + 1.7 * len(rows), heading("figure-imbalance")) as figure:
        axes = figure.subplots(len(rows), len(sizes), sharex="col", sharey="row", squeeze=False)
        for row, panels in zip(rows, axes, strict=True):
            for size, panel in zip(sizes, panels, strict=True):
                own = [condition for condition in mixtures if condition.size == size]
                _draw(panel, row, own, look)
                for x, condition in enumerate(own) if row.ratio else ():
                    if number := printed.get(f"{size} languages, {condition.title}"):
                        panel.plot(x + 2 * ASIDE, number.value, "D", color=INK, markerfacecolor="#ffffff", markersize=5)
                        theirs.append(number)
            panels[0].set_ylabel(row.title)
        for size, top in zip(sizes, axes[0], strict=True):
            top.set_title(f"{size} languages")
        for panel in axes[-1]:
            panel.set_xlabel("main share, %")
        published = [key("published, another kind of model", INK, "D", "none")] if theirs else []
        legend(figure, [*keys(results, look, line=None), *published], 3)
    measures = {LOSS, IDS, (ALIGNMENT, "held-out")} | {("ZS", PRIMARY[task]) for task in results.tasks}
    records = [record for record in results.records if (record.measure, record.metric) in measures]
    return plot("figure-imbalance", figure, results, scale, records, theirs)


def _draw(panel: Axes, row: PanelRow, own: Sequence[Condition], look: Mapping[str, Look]) -> None:
    """The mixtures of one number of languages, by ascending share of the main language."""
    for place, (objective, (colour, marker, dash)) in enumerate(look.items()):
        aside = ASIDE * (place - (len(look) - 1) / 2)
        points = means((x + aside, row.numbers(condition, objective)) for x, condition in enumerate(own))
        if row.ratio:
            across, up = [x for x, _ in points], [math.exp(estimate.mean) for _, estimate in points]
            panel.plot(across, up, dash, color=colour, marker=marker, markersize=5)
            intervals = [e.interval and (math.exp(e.interval[0]), math.exp(e.interval[1])) for _, e in points]
            draw_intervals(panel, across, intervals, colour, wide=math.inf)
        else:
            draw_points(panel, points, colour, linestyle=dash, marker=marker, markersize=5)
    main = [f"{100 * condition.shares[0] / sum(condition.shares):.3g}" for condition in own]
    panel.set_xticks(range(len(own)), main)
    panel.set_xlim(-ROOM, len(own) - 1 + ROOM)
    if row.ratio:
        panel.set_yscale("log")
        panel.yaxis.set_major_locator(FixedLocator(TICKS))
        panel.yaxis.set_minor_locator(NullLocator())
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.axhline(1, color=INK, linewidth=0.8)
    else:
        panel.set_ylim(0, 100 if row.task else None)


def curve_figure(results: Results, scale: str) -> Plot | None:
    """Held-out loss by ids read: one panel per number of languages, each with the monolingual models. None without
    monolingual models, or with too many objectives to distinguish."""
    every, look = conditions(results), looks(results)
    if alone(results) is None or not every or not look:
        return None
    sizes = sorted({condition.size for condition in every})
    with styled(HALF, 3.1, heading("figure-curve")) as figure:
        axes = figure.subplots(1, len(sizes), sharex=True, sharey=True, squeeze=False)[0]
        for size, panel in zip(sizes, axes, strict=True):
            _alone(panel, results)
            for condition in (condition for condition in every if condition.size == size):
                _small(panel, look, condition)
            panel.set_xscale("log")
            panel.margins(x=0.2)
            panel.xaxis.set_major_locator(LogLocator())
            panel.xaxis.set_minor_locator(NullLocator())
            panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1e6:g}"))
            panel.set(title=f"{size} languages", xlabel="million ids")
        axes[0].set_ylabel("nats per masked id")
        handles = [key("alone, fewer steps", INK, "", line="-")]
        handles += [key("alone, fewer rows a step", INK, "", line="--")] if budgets(results, "batch") else []
        legend(figure, [*handles, *keys(results, look)], 4)
    records = [record for record in results.records if (record.measure, record.metric) in (LOSS, IDS)]
    return plot("figure-curve", figure, results, scale, records)


def _alone(panel: Axes, results: Results) -> None:
    """A line for either way to read less, with its interval over seeds."""
    for way, dash in WAYS.items():
        pairs = [(mean(read), mean(nats)) for read, nats in budgets(results, way)]
        points = sorted(((x.mean, y) for x, y in pairs if x and y), key=lambda point: point[0])
        panel.plot([x for x, _ in points], [y.mean for _, y in points], dash, color=INK, linewidth=1.5)
        if banded := [(x, *y.interval) for x, y in points if y.interval]:
            across, low, high = zip(*banded, strict=True)
            panel.fill_between(across, low, high, color=SOFT, alpha=0.3, linewidth=0)


def _small(panel: Axes, look: Mapping[str, Look], condition: Condition) -> None:
    """One point per objective, side by side, and below them the share of each small language."""
    shares = condition.shares
    label = f"{100 * shares[1] / sum(shares):.3g} %" if len(set(shares[1:])) == 1 else condition.title
    for place, (objective, (colour, marker, _)) in enumerate(look.items()):
        x, y = (mean(condition.mean_of(objective, condition.small, number)) for number in (IDS, LOSS))
        if x and y:
            across = x.mean * FACTOR ** (place - (len(look) - 1) / 2)
            panel.plot(across, y.mean, marker, color=colour, markersize=5)
            draw_intervals(panel, [across], [y.interval], colour)
            if not place:
                style: dict[str, Any] = {"transform": panel.get_xaxis_transform(), "ha": "center"}
                style["bbox"] = {"facecolor": "#ffffff", "edgecolor": "none", "pad": 0.3}
                panel.text(x.mean, 0.04, label, **style)

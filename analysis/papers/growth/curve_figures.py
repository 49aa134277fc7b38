"""Quantities over the steps of pretraining: a row for each, a column for each language, a line for each objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from analysis.papers.growth.axes import heights, places, step_axis
from analysis.papers.growth.bands import clear_stretches
from analysis.papers.growth.curves import Curves
from analysis.papers.growth.quantities import ALIGNED, PREDICTED, Quantity
from analysis.papers.looks import distinct, looks
from analysis.report.plot import Plot
from analysis.report.spread import spread
from analysis.report.style import FULL, MOST, SOFT, legend, styled
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate

NULL = "#E4E4E4"
ENDS = ("low", "high", "chance")
LETTERS = 7.5
"""Points of the smallest letters: legible at half a page."""
BETWEEN = 0.13
"""The least distance of two labels, as a part of a panel's height."""


def predicted_figure(results: Results, scale: str) -> Plot | None:
    """Loss, gradient cosine and zero-shot tags by step. None without two steps, or with more than can be told apart."""
    return _figure(results, scale, PREDICTED, "predicted", "What models of two languages do")


def aligned_figure(results: Results, scale: str) -> Plot | None:
    """alignment@1, sentences found and CKA by step. None as `predicted_figure`."""
    return _figure(results, scale, ALIGNED, "aligned", "Where words and sentences of two languages lie")


def _figure(results: Results, scale: str, all_rows: Sequence[Quantity], name: str, title: str) -> Plot | None:
    curves, columns = Curves(results), results.transforms
    rows = [row for row in all_rows if curves.records(row)]
    if len(curves.steps) < 2 or not rows or len(columns) > MOST or not distinct(results):
        return None
    with styled(FULL, 1.3 + 1.15 * len(rows), f"{title}, by step of pretraining\n{scale}") as figure:
        panels = figure.subplots(len(rows), len(columns), sharex=True, sharey="row", squeeze=False)
        for line, quantity in zip(panels, rows, strict=True):
            for panel, transform in zip(line, columns, strict=True):
                _panel(panel, curves, quantity, transform)
                panel.tick_params(labelsize=LETTERS, length=2)
            line[0].set_ylabel(quantity.axis, fontsize=LETTERS + 0.5)
            _label(line[-1], curves, quantity, columns[-1])
        for panel, transform in zip(panels[0], columns, strict=True):
            panel.set_title(results.transform_title(transform), fontsize=9.5)
        for panel in panels[-1]:
            step_axis(panel, curves.steps)
            panel.xaxis.label.set_size(LETTERS + 0.5)
        figure.align_ylabels()
        handles = [
            Patch(color=NULL, label="null: 95 % of values after shuffling"),
            Line2D([], [], color=SOFT, linestyle="--", linewidth=1, label="chance"),
        ]
        legend(figure, handles, 2, fontsize=8)
        caption = " ".join([*(row.said for row in rows), _bands(len(results.seeds))])
        shown = f"{title}, by step of pretraining"
        return Plot(figure, f"figure-{name}", shown, caption, curves.records(*rows))


def _bands(seeds: int) -> str:
    if seeds < 2:
        return "One seed. Labels stand in the order of the last column’s lines."
    return (
        f"Lines are means over {seeds} seeds, with their 95 % interval as a band wherever it touches no other line’s. "
        "Labels stand in the order of the last column’s lines."
    )


def _panel(panel: Axes, curves: Curves, quantity: Quantity, transform: str) -> None:
    """One quantity of one language: null and chance behind, then bands that touch no other, then lines."""
    results, steps = curves.results, curves.steps
    lines = {name: curves.means(quantity, name, transform) for name in results.objectives}
    _null(panel, curves, quantity, transform)
    look = looks(results)
    drawn = {name: _as_drawn(line, steps) for name, line in lines.items() if line}
    stretches = clear_stretches(drawn)
    for name, line in lines.items():
        if not line:
            continue
        colour, marker, dash = look[name]
        for stretch in stretches[name]:
            low, high = ([getattr(drawn[name][step], end) for step in stretch] for end in ("low", "high"))
            panel.fill_between(places(stretch, steps), low, high, color=colour, alpha=0.22, linewidth=0, zorder=2)
        means = [one.mean for one in line.values()]
        every = max(1, len(line) // 4)
        panel.plot(
            places(list(line), steps),
            means,
            dash,
            color=colour,
            linewidth=1.4,
            marker=marker,
            markersize=3.2,
            markevery=(list(look).index(name) % every, every),
            zorder=3,
        )


def _as_drawn(line: Mapping[int, Estimate], steps: Sequence[int]) -> dict[int, Estimate]:
    """A line at every step from its first to its last, also at those that other lines have and it has not."""
    within, seeds = [step for step in steps if min(line) <= step <= max(line)], next(iter(line.values())).seeds
    ends = ([getattr(one, end) for one in line.values()] for end in ("mean", "low", "high"))
    drawn = (heights(list(line), [np.nan if y is None else y for y in values], within, steps) for values in ends)
    made = {}
    for step, mean, low, high in zip(within, *drawn, strict=True):
        known = not (np.isnan(low) or np.isnan(high))
        made[step] = Estimate(mean, seeds, low, high) if known else Estimate(mean, seeds)
    return made


def _null(panel: Axes, curves: Curves, quantity: Quantity, transform: str) -> None:
    """The null of all objectives together: from the lowest mean over seeds of their lower ends to the highest upper.

    Those of two phases are probed at steps of their own: between its steps, each null runs straight.
    """
    steps, bands = curves.steps, []
    for name in curves.results.objectives:
        at = curves.at_steps(quantity, name, transform)
        nulls = [[record.null for record in records if record.null] for records in at.values()]
        if nulls:
            ends = ([quantity.unit * float(np.mean([getattr(n, end) for n in own])) for own in nulls] for end in ENDS)
            bands.append([heights(list(at), values, steps, steps) for values in ends])
    if not bands:
        return
    low, high, chance = np.array(bands).transpose(1, 0, 2)
    known = ~np.isnan(low).all(axis=0)
    x, low, high, chance = np.array(places(steps, steps))[known], low[:, known], high[:, known], chance[:, known]
    panel.fill_between(x, np.nanmin(low, 0), np.nanmax(high, 0), color=NULL, linewidth=0, zorder=1)
    panel.plot(x, np.nanmean(chance, 0), color=SOFT, linestyle="--", linewidth=1, zorder=1.5)


def _label(panel: Axes, curves: Curves, quantity: Quantity, transform: str) -> None:
    """The objectives' names beside the ends of their lines."""
    results, look = curves.results, looks(curves.results)
    ends = {
        name: list(line.values())[-1].mean
        for name in results.objectives
        if (line := curves.means(quantity, name, transform))
    }
    low, high = panel.get_ylim()
    heights = spread([(end - low) / (high - low) for end in ends.values()], BETWEEN)
    for name, height in zip(ends, heights, strict=True):
        text = results.objective_title(name)
        panel.annotate(
            text,
            (1.02, height),
            xycoords="axes fraction",
            fontsize=LETTERS,
            color=look[name][0],
            va="center",
            annotation_clip=False,
        )

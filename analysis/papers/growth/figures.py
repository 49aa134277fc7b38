"""Quantities by step of pretraining, on a logarithmic axis."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from calque.analysis.papers.growth.curves import (
    ALIGNED,
    NEVER,
    NOTE,
    PREDICTED,
    QUANTITIES,
    Curves,
    Found,
    Quantity,
    onsets,
)
from calque.analysis.papers.looks import Look, looks
from calque.analysis.papers.texts import heading, plot
from calque.analysis.report.drawing import FULL, LOOKS, MOST, SOFT, key, legend, spread, styled
from calque.analysis.report.plot import Plot
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Estimate

NULL = "#E4E4E4"
SMALLEST, LETTERS = 7.5, 8.0  # font sizes in points: legible at half a page
BETWEEN = 0.13  # least distance of two labels, as a part of a panel's height
ROOM = 0.55  # step 0 is drawn at this part of the first other step
LINES = dict(zip((quantity.name for quantity in QUANTITIES), LOOKS, strict=False))  # colour and marker of each quantity
Line = Mapping[int, Estimate]  # the means of an objective, by step


class StepScale:
    """A logarithmic axis of `steps` that has a place for 0, and one for never."""

    def __init__(self, steps: Sequence[int]) -> None:
        self.steps = steps
        self.first = min((step for step in steps if step), default=1)
        self.never = max(steps) * 1.9

    def places(self, steps: Sequence[float]) -> list[float]:
        """The positions of steps on the axis."""
        return [self.never if step == NEVER else step or ROOM * self.first for step in steps]

    def heights(self, steps: Sequence[int], values: Sequence[float], wanted: Sequence[int]) -> list[float]:
        """A line through (step, value) interpolated at other steps; NaN before its first and after its last."""
        at, here = (np.log(self.places(some)) for some in (wanted, steps))
        heights: list[float] = np.interp(at, here, values, left=np.nan, right=np.nan).tolist()
        return heights

    def draw(self, panel: Axes, size: float) -> None:
        """Make it the horizontal axis, with ticks at 0 and at powers of ten and a font of `size` points."""
        last, powers = max(self.steps), [10**power for power in range(8)]
        ticks = [*([0] if 0 in self.steps else []), *(tick for tick in powers if self.first <= tick <= last)]
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(FixedLocator(self.places(ticks)))
        panel.xaxis.set_major_formatter(FixedFormatter([f"{tick:,}" for tick in ticks]))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.set_xlim(0.85 * self.places([0])[0], last * 1.15)
        panel.set_xlabel("step of pretraining")
        panel.xaxis.label.set_fontsize(size)


def clear_stretches(lines: Mapping[str, Line]) -> dict[str, list[list[int]]]:
    """Each line's stretches of two or more steps whose band overlaps no other line or band. Overlapping bands are not
    drawn. Bands are straight between steps, so two that do not touch at either end of a stretch, and keep their order,
    do not touch within it."""
    found: dict[str, list[list[int]]] = {name: [] for name in lines}
    for name, line in lines.items():
        others = [other for key, other in lines.items() if key != name]
        for a, b in pairwise(sorted(line)):
            if line[a].interval and line[b].interval and all(_separate(line, other, a, b) for other in others):
                if found[name] and found[name][-1][-1] == a:
                    found[name][-1].append(b)
                else:
                    found[name].append([a, b])
    return found


def _separate(line: Line, other: Line, a: int, b: int) -> bool:
    if a not in other or b not in other:
        return True
    sides = []
    for step in (a, b):
        (low, high), (least, most) = (p.interval or (p.mean, p.mean) for p in (line[step], other[step]))
        sides.append(1 if low > most else -1 if high < least else 0)
    return sides[0] == sides[1] != 0


def predicted_figure(results: Results, scale: str) -> Plot | None:
    """Loss, gradient cosine and zero-shot tags by step. None without two steps, or with too many lines or languages."""
    return _figure(results, scale, PREDICTED, "figure-predicted")


def aligned_figure(results: Results, scale: str) -> Plot | None:
    """alignment@1, sentences found and CKA by step. None as `predicted_figure`."""
    return _figure(results, scale, ALIGNED, "figure-aligned")


def _figure(results: Results, scale: str, quantities: Sequence[Quantity], name: str) -> Plot | None:
    """One row per quantity, one column per language, one line per objective."""
    curves, columns, look = Curves(results), results.transforms, looks(results)
    rows = [row for row in quantities if curves.records([row])]
    if len(curves.steps) < 2 or not rows or len(columns) > MOST or not look:
        return None
    axis = StepScale(curves.steps)
    with styled(FULL, 1.3 + 1.15 * len(rows), heading(name, scale)) as figure:
        panels = figure.subplots(len(rows), len(columns), sharex=True, sharey="row", squeeze=False)
        for row, quantity in zip(panels, rows, strict=True):
            for panel, transform in zip(row, columns, strict=True):
                means = {name: curves.means(quantity, name, transform) for name in look}
                lines = {name: line for name, line in means.items() if line}
                _null(panel, curves, quantity, transform, axis)
                _lines(panel, look, lines, axis)
                panel.tick_params(labelsize=SMALLEST, length=2)
            row[0].set_ylabel(quantity.axis, fontsize=SMALLEST + 0.5)
            _label(row[-1], results, look, {name: list(line.values())[-1].mean for name, line in lines.items()})
        for panel, transform in zip(panels[0], columns, strict=True):
            panel.set_title(results.transform_title(transform), fontsize=9.5)
        for panel in panels[-1]:
            axis.draw(panel, SMALLEST + 0.5)
        figure.align_ylabels()
        null = Patch(color=NULL, label="null: 95 % of values after shuffling")
        legend(figure, [null, Line2D([], [], color=SOFT, linestyle="--", linewidth=1, label="chance")], 2, fontsize=8)
    texts, count = " ".join(row.text for row in rows), len(results.seeds)
    return plot(name, figure, results, curves.records(rows), quantities=texts, count=count)


def _lines(panel: Axes, look: Mapping[str, Look], lines: Mapping[str, Line], axis: StepScale) -> None:
    """Bands that touch no other, and lines on top."""
    everywhere = {name: _at_all_steps(line, axis) for name, line in lines.items()}
    stretches = clear_stretches(everywhere)
    for name, line in lines.items():
        colour, marker, dash = look[name]
        for stretch in stretches[name]:
            low, high = ([getattr(everywhere[name][step], end) for step in stretch] for end in ("low", "high"))
            panel.fill_between(axis.places(stretch), low, high, color=colour, alpha=0.22, linewidth=0, zorder=2)
        every = max(1, len(line) // 4)
        style: dict[str, Any] = {"linewidth": 1.4, "marker": marker, "markersize": 3.2, "zorder": 3}
        style["markevery"] = (list(look).index(name) % every, every)
        panel.plot(axis.places(list(line)), [point.mean for point in line.values()], dash, color=colour, **style)


def _at_all_steps(line: Line, axis: StepScale) -> dict[int, Estimate]:
    """A line at every step of the axis from its first to its last, interpolated where it has none."""
    within, seeds = [step for step in axis.steps if min(line) <= step <= max(line)], next(iter(line.values())).seeds
    ends = ([getattr(point, end) for point in line.values()] for end in ("mean", "low", "high"))
    rows = (axis.heights(list(line), [np.nan if y is None else y for y in values], within) for values in ends)
    return {
        step: Estimate(mean, seeds) if np.isnan([low, high]).any() else Estimate(mean, seeds, low, high)
        for step, mean, low, high in zip(within, *rows, strict=True)
    }


def _null(panel: Axes, curves: Curves, quantity: Quantity, transform: str, axis: StepScale) -> None:
    """The null of all objectives together: from the lowest of their mean lower ends over seeds to the highest upper.
    Nulls are interpolated between steps, as objectives of two phases are probed at other steps."""
    bands = []
    for name in curves.results.objectives:
        at = curves.at_steps(quantity, name, transform)
        if nulls := [[record.null for record in records] for records in at.values()]:
            ends = (
                [quantity.unit * float(np.mean([getattr(null, end) for null in own])) for own in nulls]
                for end in ("low", "high", "chance")
            )
            bands.append([axis.heights(list(at), values, axis.steps) for values in ends])
    if bands:
        low, high, chance = np.array(bands).transpose(1, 0, 2)
        here = ~np.isnan(low).all(axis=0)
        x, low, high, chance = np.array(axis.places(axis.steps))[here], low[:, here], high[:, here], chance[:, here]
        panel.fill_between(x, np.nanmin(low, 0), np.nanmax(high, 0), color=NULL, linewidth=0, zorder=1)
        panel.plot(x, np.nanmean(chance, 0), color=SOFT, linestyle="--", linewidth=1, zorder=1.5)


def _label(panel: Axes, results: Results, look: Mapping[str, Look], ends: Mapping[str, float]) -> None:
    low, high = panel.get_ylim()
    style: dict[str, Any] = {"xycoords": "axes fraction", "fontsize": SMALLEST, "va": "center"}
    shares = spread([(end - low) / (high - low) for end in ends.values()], BETWEEN)
    for name, height in zip(ends, shares, strict=True):
        title, colour = results.objective_title(name), look[name].colour
        panel.annotate(title, (1.02, height), color=colour, annotation_clip=False, **style)


def onset_figure(results: Results, scale: str) -> Plot | None:
    """The median step of each quantity's onset, and the range over seeds: one panel per language, one row per
    objective. None without two steps."""
    curves, columns, objectives = Curves(results), results.transforms, results.objectives
    if len(curves.steps) < 2 or len(columns) > MOST:
        return None
    axis = StepScale(curves.steps)
    with styled(FULL, 1.7 + 0.62 * len(objectives), heading("figure-onset", scale)) as figure:
        panels = figure.subplots(1, len(columns), sharex=True, sharey=True, squeeze=False)[0]
        for panel, transform in zip(panels, columns, strict=True):
            for row, objective in enumerate(objectives):
                _row(panel, row, onsets(curves, objective, transform), axis)
            panel.set_title(results.transform_title(transform), fontsize=9.5)
            axis.draw(panel, LETTERS)
            panel.set_xlim(right=axis.never * 1.4)
            panel.axvline(max(curves.steps) * 1.25, color="#bbbbbb", linewidth=0.8)
            panel.tick_params(labelsize=LETTERS, length=2)
            panel.grid(axis="y", visible=False)
            panel.text(axis.never, -0.55, "never", fontsize=LETTERS - 1, ha="center", va="bottom")
        panels[0].set_yticks(range(len(objectives)), [results.objective_title(name) for name in objectives])
        panels[0].set_ylim(len(objectives) - 0.5, -0.75)
        legend(figure, [key(name, *look) for name, look in LINES.items()], 4, fontsize=LETTERS)
    return plot("figure-onset", figure, results, curves.records(QUANTITIES), onset=NOTE)


def _row(panel: Axes, row: int, found: Found, axis: StepScale) -> None:
    if row % 2:
        panel.axhspan(row - 0.5, row + 0.5, color="#f3f3f3", linewidth=0, zorder=0)
    heights = {
        quantity: row + 0.84 * (place / (len(QUANTITIES) - 1) - 0.5) for place, quantity in enumerate(QUANTITIES)
    }
    for quantity in (quantity for quantity in QUANTITIES if quantity in found):
        y, (colour, marker), ends = heights[quantity], LINES[quantity.name], found[quantity].ends
        low, middle, high = axis.places(ends)
        panel.plot([low, high], [y, y], color=colour, linewidth=1.6, solid_capstyle="butt")
        fill = "none" if ends[1] == NEVER else colour
        panel.plot(middle, y, marker=marker, color=colour, markerfacecolor=fill, markersize=5, linestyle="")

"""Quantities by step of pretraining, on a logarithmic axis."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from calque.analysis.papers.growth.curves import (
    ALIGNED,
    NEVER,
    NOTE,
    PREDICTED,
    QUANTITIES,
    Found,
    Quantity,
    at_steps,
    means,
    onsets,
    records_of,
    steps_of,
)
from calque.analysis.papers.looks import keys, looks
from calque.analysis.papers.texts import heading, plot
from calque.analysis.report.drawing import (
    HALF,
    LOOKS,
    MOST,
    SOFT,
    draw_line,
    key,
    legend,
    name_panel,
    small_multiples,
    styled,
    wrapped,
)
from calque.analysis.report.plot import Plot
from calque.analysis.results.results import Results

NULL = "#E4E4E4"
STEP = "step"
ROOM = 0.55  # step 0 is drawn at this part of the first other step
LINES = dict(zip((quantity.name for quantity in QUANTITIES), LOOKS, strict=False))  # colour and marker of each quantity


class StepScale:
    """A logarithmic axis of `steps` that has a place for 0, and one for never."""

    def __init__(self, steps: Sequence[int]) -> None:
        self.steps = steps
        self.first = min(filter(None, steps))
        self.never = max(steps) * 1.9

    def places(self, steps: Sequence[float]) -> list[float]:
        """The positions of steps on the axis."""
        return [self.never if step == NEVER else step or ROOM * self.first for step in steps]

    def heights(self, steps: Sequence[int], values: Sequence[float], wanted: Sequence[int]) -> list[float]:
        """A line through (step, value) interpolated at other steps; NaN before its first and after its
        last."""
        at, here = (np.log(self.places(some)) for some in (wanted, steps))
        heights: list[float] = np.interp(at, here, values, left=np.nan, right=np.nan).tolist()
        return heights

    def draw(self, panel: Axes) -> None:
        """Make it the horizontal axis, with ticks at 0 and at powers of ten that are not next to it."""
        last, powers = max(self.steps), [10**power for power in range(8)]
        ticks = [*([0] if 0 in self.steps else []), *(tick for tick in powers if 2 * self.first <= tick <= last)]
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(FixedLocator(self.places(ticks)))
        names = [str(tick) if tick < 1000 else f"{tick // 1000}k" for tick in ticks]
        panel.xaxis.set_major_formatter(FixedFormatter(names))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.set_xlim(0.85 * self.places([0])[0], last * 1.15)


def _figure(results: Results, scale: str, quantities: Sequence[Quantity], name: str) -> Plot | None:
    """One row per quantity, one column per language, one line per objective."""
    steps, columns, look = steps_of(results), results.transforms, looks(results)
    rows = [row for row in quantities if records_of(results, [row])]
    if len(steps) < 2 or not rows or len(columns) > MOST or not look:
        return None
    axis = StepScale(steps)

    def draw(panel: Axes, content: tuple[Quantity, str]) -> None:
        quantity, transform = content
        name_panel(panel, f"{results.transform_title(transform)}, {quantity.axis}")
        _null(panel, results, quantity, transform, axis)
        for place, (objective, (colour, marker, dash)) in enumerate(look.items()):
            if line := means(results, quantity, objective, transform):
                every = max(1, len(line) // 4)
                values = [point.mean for point in line.values()]
                marks: dict[str, Any] = {"marker": marker, "markersize": 3.5, "markevery": (place % every, every)}
                marks |= {"color": colour, "linewidth": 1.2, "zorder": 3}
                draw_line(panel, axis.places(list(line)), values, fmt=dash, **marks)
        axis.draw(panel)

    panels = [
        (results.transform_title(transform) if quantity is rows[0] else "", (quantity, transform))
        for quantity in rows
        for transform in columns
    ]
    shared: dict[str, Any] = {"sharex": True, "sharey": "row"}
    with small_multiples(heading(name), panels, draw, len(columns), 1.4, (STEP, ""), **shared) as (figure, axes):
        for row, quantity in zip(axes, rows, strict=True):
            row[0].set_ylabel(wrapped(quantity.axis, 1.1))
        figure.align_ylabels()
        null = Patch(color=NULL, label="null: 95 % of values after shuffling")
        chance = key("chance", SOFT, "", line="--")
        legend(figure, [*keys(results, look, line=None), null, chance], 3)
    texts = " ".join(row.text for row in rows)
    return plot(name, figure, results, scale, records_of(results, rows), quantities=texts)


predicted_figure = partial(_figure, quantities=PREDICTED, name="figure-predicted")
aligned_figure = partial(_figure, quantities=ALIGNED, name="figure-aligned")


def _null(panel: Axes, results: Results, quantity: Quantity, transform: str, axis: StepScale) -> None:
    bands = []
    for name in results.objectives:
        at = at_steps(results, quantity, name, transform)
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


def onset_figure(results: Results, scale: str) -> Plot | None:
    """Each quantity's median onset, and its range over seeds: a panel per language, a row per objective. None
    without two steps."""
    steps, columns, objectives = steps_of(results), results.transforms, results.objectives
    if len(steps) < 2 or len(columns) > MOST:
        return None
    axis = StepScale(steps)
    with styled(HALF, 1.1 + 0.6 * len(objectives), heading("figure-onset")) as figure:
        panels = figure.subplots(1, len(columns), sharex=True, sharey=True, squeeze=False)[0]
        for panel, transform in zip(panels, columns, strict=True):
            for row, objective in enumerate(objectives):
                _row(panel, row, onsets(results, objective, transform), axis)
            panel.set_title(wrapped(results.transform_title(transform), HALF / 4))
            axis.draw(panel)
            panel.set(xlim=(None, axis.never * 1.4), xlabel=STEP)
            panel.axvline(max(steps) * 1.25, color="#bbbbbb", linewidth=0.8)
            panel.grid(axis="y", visible=False)
            panel.text(axis.never * 1.4, -0.6, "never", ha="right", va="bottom", backgroundcolor="#ffffff")
        panels[0].set_yticks(range(len(objectives)), [results.objective_title(name) for name in objectives])
        panels[0].set_ylim(len(objectives) - 0.5, -1.1)
        legend(figure, [key(name, *look) for name, look in LINES.items()], 4)
    return plot("figure-onset", figure, results, scale, records_of(results, QUANTITIES), onset=NOTE)


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
        style: dict[str, Any] = {"marker": marker, "color": colour, "markerfacecolor": fill, "markersize": 5}
        draw_line(panel, middle, y, [(low, high)], across=True, linestyle="", **style)

"""Plot quantities and their onsets by pretraining step."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from calque.analysis.papers.growth.curves import (
    ALIGNED,
    NEVER,
    NOTE,
    PREDICTED,
    QUANTITIES,
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
    INK,
    MOST,
    SOFT,
    draw_line,
    key,
    legend,
    name_panel,
    small_multiples,
    wrapped,
)
from calque.analysis.report.plot import Plot
from calque.analysis.report.table import MISSING
from calque.analysis.results.results import Results

NULL = "#E4E4E4"
ROOM = 0.55  # the position of step 0, as a fraction of the first step above 0


class StepScale:
    """A logarithmic axis that includes step 0."""

    def __init__(self, steps: Sequence[int]) -> None:
        self.steps = steps
        self.first = min(filter(None, steps))

    def places(self, steps: Sequence[float]) -> list[float]:
        return [step or ROOM * self.first for step in steps]

    def heights(self, steps: Sequence[int], values: Sequence[float]) -> np.ndarray:
        """Interpolate a line at all steps of the axis; NaN outside the line's range."""
        at, here = (np.log(self.places(some)) for some in (self.steps, steps))
        heights: np.ndarray = np.interp(at, here, values, left=np.nan, right=np.nan)
        return heights

    def draw(self, panel: Axes) -> None:
        """Set up a panel's horizontal axis, with ticks at 0 and at powers of ten not too close to it."""
        last = max(self.steps)
        ticks = [0] if 0 in self.steps else []
        ticks += [tick for tick in (10**power for power in range(8)) if 2 * self.first <= tick <= last]
        names = [str(tick) if tick < 1000 else f"{tick // 1000}k" for tick in ticks]
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(FixedLocator(self.places(ticks)))
        panel.xaxis.set_major_formatter(FixedFormatter(names))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.set_xlim(0.85 * self.places([0])[0], last * 1.15)


def _figure(results: Results, scale: str, quantities: Sequence[Quantity], name: str) -> Plot | None:
    steps, transforms, look = steps_of(results), results.transforms, looks(results)
    rows = [row for row in quantities if records_of(results, [row])]
    if len(steps) < 2 or not rows or len(transforms) > MOST or not look:
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
                style: dict[str, Any] = {"color": colour, "linewidth": 1.2, "zorder": 3}
                style |= {"marker": marker, "markersize": 3.5, "markevery": (place % every, every)}
                draw_line(panel, axis.places(list(line)), values, fmt=dash, **style)
        axis.draw(panel)

    cells = product(rows, transforms)
    panels = [(results.transform_title(t) if row is rows[0] else "", (row, t)) for row, t in cells]
    title, columns = heading(name), len(transforms)
    shared: dict[str, Any] = {"labels": ("step", ""), "sharex": True, "sharey": "row"}
    with small_multiples(title, panels, draw, columns, 1.4, **shared) as (figure, axes):
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
        if at := at_steps(results, quantity, name, transform):
            nulls = [[record.null for record in records] for records in at.values()]
            ends = (
                [quantity.unit * float(np.mean([getattr(null, end) for null in own])) for own in nulls]
                for end in ("low", "high", "chance")
            )
            bands.append([axis.heights(list(at), values) for values in ends])
    if bands:
        every = np.array(bands)  # (objectives, 3, steps)
        here = ~np.isnan(every[:, 0]).all(axis=0)
        low, high, chance = every[:, :, here].transpose(1, 0, 2)
        x = np.array(axis.places(axis.steps))[here]
        panel.fill_between(x, np.nanmin(low, 0), np.nanmax(high, 0), color=NULL, linewidth=0, zorder=1)
        panel.plot(x, np.nanmean(chance, 0), color=SOFT, linestyle="--", linewidth=1, zorder=1.5)


def onset_figure(results: Results, scale: str) -> Plot | None:
    """Plot the median step at which each quantity leaves its null, with one panel per language and one row
    per objective."""
    steps, objectives = steps_of(results), results.objectives
    if len(steps) < 2 or len(results.transforms) > MOST:
        return None
    names = [quantity.name for quantity in QUANTITIES]
    shade = LogNorm(ROOM * min(filter(None, steps)), 2 * max(steps))

    def draw(panel: Axes, transform: str) -> None:
        for row, objective in enumerate(objectives):
            found = onsets(results, objective, transform)
            for column, quantity in enumerate(QUANTITIES):
                if quantity in found:
                    _draw_step(panel, (column, row), found[quantity].ends[1], shade)
        panel.set_xticks(range(len(names)), names, rotation=30, ha="right")
        panel.set_yticks(range(len(objectives)), [results.objective_title(name) for name in objectives])
        panel.set(xlim=(-0.5, len(names) - 0.5), ylim=(len(objectives) - 0.5, -0.5))
        panel.tick_params(length=0)
        panel.spines[:].set_visible(False)
        panel.grid(visible=False)

    panels = [(results.transform_title(transform), transform) for transform in results.transforms]
    title, height = heading("figure-onset"), 0.3 + 0.22 * len(objectives)
    with small_multiples(title, panels, draw, 1, height, sharex=True) as (figure, _):
        pass
    return plot("figure-onset", figure, results, scale, records_of(results, QUANTITIES), onset=NOTE)


def _draw_step(panel: Axes, at: tuple[int, int], step: float, shade: Normalize) -> None:
    darkness = 0.0 if step == NEVER else 1 - float(shade(max(step, shade.vmin or 0.0)))
    corner, colour = (at[0] - 0.5, at[1] - 0.5), mpl.colormaps["Greys"](0.8 * darkness)
    panel.add_patch(Rectangle(corner, 1, 1, facecolor=colour, edgecolor="#ffffff"))
    words, ink = MISSING if step == NEVER else f"{step:,.0f}", "#ffffff" if darkness > 0.6 else INK
    panel.text(*at, words, ha="center", va="center", color=ink, fontsize="small")

"""Follow measures over pretraining, and find the step at which each first exceeds its null distribution."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import comb
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import NullLocator

from calque.analysis.papers.looks import keys, looks
from calque.analysis.papers.texts import chart, table
from calque.analysis.records.record import LIMITS, SHARE, Record
from calque.analysis.report.drawing import INK, MOST, SOFT, Plot, key, wrapped
from calque.analysis.report.table import MISSING, Table, decimal, listed
from calque.analysis.results import Results
from calque.analysis.statistics import Estimate, estimate
from calque.derive.files import read_toml
from calque.pretrain.architecture import main_layer

NEVER = math.inf
Curve = Mapping[int, Record]  # one seed's records by step, in ascending order


@dataclass(frozen=True)
class Quantity:
    """A measure and a metric followed over pretraining; quantities.toml explains the fields."""

    name: str
    axis: str
    measure: str
    metric: str
    text: str
    unit: float = 100.0
    side: int = 1
    layered: bool = False

    def curves(self, results: Results, *model: str) -> dict[int, Curve]:
        """Return an objective's records in a language that have a null, by seed and step."""
        layer = main_layer(next(run.layers for run in results.runs.values())) if self.layered else None
        # Tasks are not selected, because a linear probe's records name the task that it was trained on.
        about = dict(zip(("objective", "language"), model, strict=True))
        keys = results.keys(measure=self.measure, metric=self.metric, layer=layer, **about)
        curves = dict[int, Curve]()
        for seed, curve in results.curves(*keys[0]).items() if keys else ():
            if with_null := {step: record for step, record in curve.items() if record.null}:
                curves[seed] = with_null
        return curves

    def at_steps(self, results: Results, *model: str) -> dict[int, list[Record]]:
        """Return, for each step that was recorded for every seed, all seeds' records."""
        curves = self.curves(results, *model).values()
        common = sorted(set.intersection(*map(set, curves))) if curves else []
        return {step: [curve[step] for curve in curves] for step in common}

    def means(self, results: Results, *model: str) -> dict[int, Estimate]:
        """Return the mean over seeds at each common step, in the quantity's unit."""
        low, high = (self.unit * bound for bound in LIMITS.get(self.measure, SHARE))
        return {
            step: estimate([self.unit * record.value for record in records], (low, high))
            for step, records in self.at_steps(results, *model).items()
        }


_TEXTS = read_toml(Path(__file__).with_name("quantities.toml"))
NOTE: str = _TEXTS["note"]
# The quantities in two figures, one on predictions, the other on words and sentences.
PREDICTED, ALIGNED = (tuple(Quantity(**row) for row in _TEXTS[group]) for group in ("predicted", "aligned"))
QUANTITIES = (*PREDICTED, *ALIGNED)


def _records(results: Results, quantities: Sequence[Quantity] = QUANTITIES) -> list[Record]:
    """Return all records of some quantities that have a null."""
    records = list[Record]()
    for quantity, *model in product(quantities, results.objectives, results.transforms):
        for curve in quantity.curves(results, *model).values():
            records += curve.values()
    return records


def _steps(results: Results) -> list[int]:
    return sorted({record.step for record in _records(results)})


def onset(curve: Curve, side: int) -> float:
    """Return the first of two consecutive steps at which the value is beyond its null distribution, or
    NEVER."""
    beyond = [(step, r.null is not None and r.null.left(r.value, side)) for step, r in curve.items()]
    return next((float(step) for (step, first), (_, second) in pairwise(beyond) if first and second), NEVER)


class Onsets(dict[int, float]):
    """The first step at which a quantity exceeds its null distribution, for each seed."""

    @property
    def median(self) -> float:
        """The median over seeds; `NEVER` if too few seeds have an onset."""
        return median(self.values())

    @property
    def onset_count(self) -> int:
        """The number of seeds in which the quantity ever exceeds its null."""
        return sum(step < NEVER for step in self.values())

    def __str__(self) -> str:
        """Format the onset, as in `91 [64, 128]`, `64`, `never`, or `never in 2 of 5, else from 64`."""
        low, high = min(self.values()), max(self.values())
        if not self.onset_count:
            return "never"
        if self.onset_count < len(self):
            return f"never in {len(self) - self.onset_count} of {len(self)}, else from {low:,.0f}"
        return f"{self.median:,.0f}" + (f" [{low:,.0f}, {high:,.0f}]" if low < high else "")


def onsets(results: Results, objective: str, transform: str) -> dict[Quantity, Onsets]:
    """Find the onsets of all measured quantities, the earliest first."""
    pairs = list[tuple[Quantity, Onsets]]()
    for quantity in QUANTITIES:
        if curves := quantity.curves(results, objective, transform):
            steps = {seed: onset(curve, quantity.side) for seed, curve in curves.items()}
            pairs.append((quantity, Onsets(steps)))
    return dict(sorted(pairs, key=lambda pair: (pair[1].median, -pair[1].onset_count, min(pair[1].values()))))


def growth_tables(results: Results) -> dict[str, Table | None]:
    """Return tables of the order of onsets, the onsets themselves, and the values at the last step."""
    order, steps, ends = (list[tuple[str, ...]]() for _ in range(3))
    for transform, objective in product(results.transforms, results.objectives):
        by_quantity = onsets(results, objective, transform)
        titles = results.transform_title(transform), results.objective_title(objective)
        order.append((*titles, _order_in_words(by_quantity), _agreement(by_quantity, len(results.seeds))))
        steps.append((*titles, *(str(by_quantity.get(quantity, MISSING)) for quantity in QUANTITIES)))
        last = list[str]()
        for quantity in QUANTITIES:
            means = [None, *quantity.means(results, objective, transform).values()]
            last.append(decimal(means[-1], 1 if quantity.unit == 100 else 2))  # 1 for percentages
        ends.append((*titles, *last))
    tables = {
        "what-comes-first": (["what leaves its null, in this order", "the same order in all seeds"], order),
        "onsets": ([quantity.name for quantity in QUANTITIES], steps),
        "ends": ([quantity.axis for quantity in QUANTITIES], ends),
    }
    labels, probed = ("language", "objective"), _steps(results)
    after = f"after step {probed[-1]:,}" if probed else "after the last step"
    about: dict[str, Any] = {"onset": NOTE, "after": after}
    return {name: table(name, results, labels, *content, **about) for name, content in tables.items()}


def _order_in_words(by_quantity: Mapping[Quantity, Onsets]) -> str:
    """Describe the order of onsets, as in `loss and CKA (64), sentences (128); never: all types`."""
    groups: dict[float, list[str]] = {}
    for quantity, steps in by_quantity.items():
        groups.setdefault(steps.median, []).append(quantity.name)
    never = groups.pop(NEVER, [])
    order = ", ".join(f"{listed(names)} ({step:,.0f})" for step, names in groups.items())
    return "; ".join(filter(None, [order, f"never: {listed(never)}" if never else ""])) or MISSING


def _agreement(by_quantity: Mapping[Quantity, Onsets], seeds: int) -> str:
    """Say how many pairs of quantities come in a different order in some seeds."""
    if seeds < 2:
        return "one seed"
    swapped = 0
    for a, b in combinations(by_quantity.values(), 2):
        ahead = [a[seed] - b[seed] for seed in a.keys() & b.keys() if a[seed] != b[seed]]
        swapped += bool(ahead) and min(ahead) < 0 < max(ahead)
    agreement = f"no: {swapped} of {comb(len(by_quantity), 2)} pairs change places" if swapped else "yes"
    names = [quantity.name for quantity, steps in by_quantity.items() if 0 < steps.onset_count < len(steps)]
    return f"{agreement}; in some seeds only: {listed(names)}" if names else agreement


NULL = "#E4E4E4"
ROOM = 0.55  # the position of step 0, as a fraction of the first step above 0


class StepScale:
    """A logarithmic axis that includes step 0."""

    def __init__(self, steps: Sequence[int]) -> None:
        self.steps = steps
        self.first = min(filter(None, steps))

    def places(self, steps: Sequence[float]) -> list[float]:
        """Return the positions of steps, with step 0 at a positive one."""
        return [step or ROOM * self.first for step in steps]

    def heights(self, steps: Sequence[int], values: Sequence[float]) -> np.ndarray:
        """Interpolate a line at all steps of the axis; NaN outside the line's range."""
        axis_places, places = (np.log(self.places(numbers)) for numbers in (self.steps, steps))
        return np.asarray(np.interp(axis_places, places, values, left=np.nan, right=np.nan))

    def draw(self, panel: Axes) -> None:
        """Set up a panel's horizontal axis, with ticks at 0 and at the powers of ten that are not too close
        to 0."""
        last = max(self.steps)
        ticks = [0] if 0 in self.steps else []
        ticks += [tick for tick in (10**power for power in range(8)) if 2 * self.first <= tick <= last]
        names = [str(tick) if tick < 1000 else f"{tick // 1000}k" for tick in ticks]
        panel.set_xscale("log")
        panel.set_xticks(self.places(ticks), names)
        panel.xaxis.set_minor_locator(NullLocator())
        panel.set_xlim(0.85 * ROOM * self.first, last * 1.15)


def growth_figures(results: Results) -> Iterator[Plot | None]:
    """Yield the figures of onsets and of the quantities by step."""
    yield _onset_figure(results)
    yield _curves_figure(results, PREDICTED, "figure-predicted")
    yield _curves_figure(results, ALIGNED, "figure-aligned")


def _curves_figure(results: Results, quantities: Sequence[Quantity], name: str) -> Plot | None:
    """Plot means by step, with one row of panels per quantity and one column per language."""
    steps, transforms, look = _steps(results), results.transforms, looks(results)
    rows = [quantity for quantity in quantities if _records(results, [quantity])]
    if len(steps) < 2 or not rows or len(transforms) > MOST or not look:
        return None
    axis = StepScale(steps)

    def draw(panel: Axes, content: tuple[Quantity, str]) -> None:
        quantity, transform = content
        _draw_null(panel, results, quantity, transform, axis)
        for place, (objective, (colour, marker, dash)) in enumerate(look.items()):
            if line := quantity.means(results, objective, transform):
                stride = max(1, len(line) // 4)
                style: dict[str, Any] = {"color": colour, "linewidth": 1.2, "zorder": 3}
                style |= {"marker": marker, "markersize": 3.5, "markevery": (place % stride, stride)}
                panel.plot(axis.places(list(line)), [point.mean for point in line.values()], dash, **style)
        axis.draw(panel)
        if transform == transforms[0]:
            panel.set_ylabel(wrapped(quantity.axis, 1.1))

    cells = product(rows, transforms)
    panels = [(results.transform_title(t) if row is rows[0] else "", (row, t)) for row, t in cells]
    null = Patch(color=NULL, label="null: 95 % of values after shuffling")
    handles = [*keys(results, look, line=None), null, key("chance", SOFT, line="--")]
    layout: dict[str, Any] = {"labels": ("step", ""), "sharex": True, "sharey": "row"}
    layout["about"] = {"quantities": " ".join(row.text for row in rows)}
    grid = len(transforms), 1.4
    plot = chart(name, results, panels, draw, grid, handles, _records(results, rows), **layout)
    plot.figure.align_ylabels()
    return plot


def _draw_null(panel: Axes, results: Results, quantity: Quantity, transform: str, axis: StepScale) -> None:
    """Draw the band that spans all objectives' nulls, and their mean chance level."""
    bands = []
    for objective in results.objectives:
        if by_step := quantity.at_steps(results, objective, transform):
            lines = []
            for end in ("low", "high", "chance"):
                by_seed = [[getattr(record.null, end) for record in records] for records in by_step.values()]
                means = [quantity.unit * float(np.mean(values)) for values in by_seed]
                lines.append(axis.heights(list(by_step), means))
            bands.append(lines)
    if bands:
        levels = np.array(bands)  # (objectives, 3, steps)
        covered = ~np.isnan(levels[:, 0]).all(axis=0)
        low, high, chance = levels[:, :, covered].transpose(1, 0, 2)
        x = np.array(axis.places(axis.steps))[covered]
        panel.fill_between(x, np.nanmin(low, 0), np.nanmax(high, 0), color=NULL, linewidth=0, zorder=1)
        panel.plot(x, np.nanmean(chance, 0), color=SOFT, linestyle="--", linewidth=1, zorder=1.5)


def _onset_figure(results: Results) -> Plot | None:
    """Plot the median onset of each quantity, with one panel per language and one row per objective."""
    steps, objectives = _steps(results), results.objectives
    if len(steps) < 2 or len(results.transforms) > MOST:
        return None
    names = [quantity.name for quantity in QUANTITIES]
    shade = LogNorm(ROOM * min(filter(None, steps)), 2 * max(steps))

    def draw(panel: Axes, transform: str) -> None:
        for row, objective in enumerate(objectives):
            by_quantity = onsets(results, objective, transform)
            for column, quantity in enumerate(QUANTITIES):
                if quantity in by_quantity:
                    _draw_step(panel, (column, row), by_quantity[quantity].median, shade)
        panel.set_xticks(range(len(names)), names, rotation=30, ha="right")
        panel.set_yticks(range(len(objectives)), list(map(results.objective_title, objectives)))
        panel.set(xlim=(-0.5, len(names) - 0.5), ylim=(len(objectives) - 0.5, -0.5))
        panel.tick_params(length=0)
        panel.spines[:].set_visible(False)
        panel.grid(visible=False)

    panels = [(results.transform_title(transform), transform) for transform in results.transforms]
    grid, about = (1, 0.3 + 0.22 * len(objectives)), {"onset": NOTE}
    records = _records(results)
    return chart("figure-onset", results, panels, draw, grid, [], records, about=about, sharex=True)


def _draw_step(panel: Axes, place: tuple[int, int], step: float, shade: Normalize) -> None:
    """Draw an onset as a shaded square with its step; later onsets are lighter."""
    darkness = 0.0 if step == NEVER else 1 - float(shade(max(step, shade.vmin or 0.0)))
    corner, colour = (place[0] - 0.5, place[1] - 0.5), mpl.colormaps["Greys"](0.8 * darkness)
    panel.add_patch(Rectangle(corner, 1, 1, facecolor=colour, edgecolor="#ffffff"))
    words, ink = MISSING if step == NEVER else f"{step:,.0f}", "#ffffff" if darkness > 0.6 else INK
    panel.text(*place, words, ha="center", va="center", color=ink, fontsize="small")

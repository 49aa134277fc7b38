"""Follow measures over pretraining, and find the step at which each first leaves its null."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from calque.analysis.papers.looks import keys, looks
from calque.analysis.papers.texts import heading, plot, table
from calque.analysis.records.record import LIMITS, SHARE, Record
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
from calque.analysis.report.table import MISSING, Table, decimal, listed
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Bounds, Estimate, estimate
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

    @property
    def bounds(self) -> Bounds:
        low, high = LIMITS.get(self.measure, SHARE)
        return self.unit * low, self.unit * high


_TEXTS = read_toml(Path(__file__).with_name("quantities.toml"))
NOTE: str = _TEXTS["note"]
# The quantities in two figures: on predictions, and on words and sentences.
PREDICTED, ALIGNED = (tuple(Quantity(**row) for row in _TEXTS[group]) for group in ("predicted", "aligned"))
QUANTITIES = (*PREDICTED, *ALIGNED)
DIGITS = [1 if quantity.unit == 100 else 2 for quantity in QUANTITIES]  # percentages have one decimal


def curves(results: Results, quantity: Quantity, objective: str, transform: str) -> dict[int, Curve]:
    """Return the records that have a null, by seed and step; empty if the quantity was not measured."""
    depth = next(run.layers for run in results.runs.values())
    layer = main_layer(depth) if quantity.layered else None
    model = {"objective": objective, "language": transform}
    # Any task will do: a linear probe's records name the task that it was trained on.
    recorded = results.keys(measure=quantity.measure, metric=quantity.metric, layer=layer, **model)
    found = results.curves(*recorded[0]) if recorded else {}
    with_null = {seed: {step: r for step, r in curve.items() if r.null} for seed, curve in found.items()}
    return {seed: curve for seed, curve in with_null.items() if curve}


def at_steps(results: Results, quantity: Quantity, objective: str, transform: str) -> dict[int, list[Record]]:
    """Return all seeds' records by step, for the steps recorded in every seed in ascending order."""
    of_seeds = list(curves(results, quantity, objective, transform).values())
    common = sorted(set.intersection(*map(set, of_seeds))) if of_seeds else []
    return {step: [curve[step] for curve in of_seeds] for step in common}


def means(results: Results, quantity: Quantity, objective: str, transform: str) -> dict[int, Estimate]:
    """Return the mean over seeds at each step recorded in every seed, in the quantity's unit."""
    return {
        step: estimate([quantity.unit * record.value for record in records], quantity.bounds)
        for step, records in at_steps(results, quantity, objective, transform).items()
    }


def records_of(results: Results, quantities: Sequence[Quantity]) -> list[Record]:
    """Return the records of the given quantities for all objectives, transforms, seeds and steps."""
    cells = product(quantities, results.objectives, results.transforms)
    lines = (curve for cell in cells for curve in curves(results, *cell).values())
    return [record for curve in lines for record in curve.values()]


def steps_of(results: Results) -> list[int]:
    """Return the probed steps in ascending order."""
    return sorted({record.step for record in records_of(results, QUANTITIES)})


def onset(curve: Curve, side: int) -> float:
    """Return the first step at which, as at the next one, the value is beyond its null on the given side, or
    NEVER."""
    beyond = [(step, bool(r.null and r.null.left(r.value, side))) for step, r in curve.items()]
    return next((float(step) for (step, left), (_, still) in pairwise(beyond) if left and still), NEVER)


@dataclass(frozen=True)
class Onsets:
    """The first step at which a quantity leaves its null, for each seed. With five seeds, the range is a 94 %
    interval for the median."""

    steps: Mapping[int, float]

    @property
    def ends(self) -> tuple[float, float, float]:
        """The earliest, the median and the latest step."""
        steps = sorted(self.steps.values())
        return steps[0], median(steps), steps[-1]

    @property
    def left(self) -> int:
        return sum(step < NEVER for step in self.steps.values())

    def __str__(self) -> str:
        """Format the onset, as in `91 [64, 128]`, `64`, `never`, or `never in 2 of 5, else from 64`."""
        low, middle, high = self.ends
        if not self.left:
            return "never"
        if self.left < len(self.steps):
            return f"never in {len(self.steps) - self.left} of {len(self.steps)}, else from {low:,.0f}"
        return f"{middle:,.0f}" + (f" [{low:,.0f}, {high:,.0f}]" if low < high else "")


Found = Mapping[Quantity, Onsets]
"""Onsets by quantity, the earliest first."""


def onsets(results: Results, objective: str, transform: str) -> Found:
    """Find the onsets of all quantities measured for an objective and a transform."""
    found = dict[Quantity, Onsets]()
    for quantity in QUANTITIES:
        if seeds := curves(results, quantity, objective, transform):
            found[quantity] = Onsets({seed: onset(curve, quantity.side) for seed, curve in seeds.items()})
    return dict(sorted(found.items(), key=lambda item: (item[1].ends[1], -item[1].left, item[1].ends[0])))


def _swapped_pairs(found: Found) -> int:
    """Count the pairs of quantities whose order differs between seeds."""
    swapped = 0
    for first, second in combinations(found.values(), 2):
        a, b = first.steps, second.steps
        ahead = [a[seed] - b[seed] for seed in a.keys() & b.keys() if a[seed] != b[seed]]
        swapped += bool(ahead) and min(ahead) < 0 < max(ahead)
    return swapped


def _in_order(found: Found) -> dict[float, list[str]]:
    groups: dict[float, list[str]] = {}
    for quantity, its in found.items():
        groups.setdefault(its.ends[1], []).append(quantity.name)
    return groups


def growth_tables(results: Results) -> dict[str, Table]:
    """Return tables of the order of quantities' onsets, of the onsets, and of values at the last step."""
    order, steps, ends = (list[tuple[str, ...]]() for _ in range(3))
    for transform, objective in product(results.transforms, results.objectives):
        found = onsets(results, objective, transform)
        titles = results.transform_title(transform), results.objective_title(objective)
        order.append((*titles, _order_in_words(found), _agreement(found, len(results.seeds))))
        steps.append((*titles, *(str(found.get(quantity, MISSING)) for quantity in QUANTITIES)))
        lines = [list(means(results, quantity, objective, transform).values()) for quantity in QUANTITIES]
        cells = zip((line[-1] if line else None for line in lines), DIGITS, strict=True)
        ends.append((*titles, *(decimal(*cell) for cell in cells)))
    tables = {
        "what-comes-first": (["what leaves its null, in this order", "the same order in all seeds"], order),
        "onsets": ([quantity.name for quantity in QUANTITIES], steps),
        "ends": ([quantity.axis for quantity in QUANTITIES], ends),
    }
    labels, probed = ("language", "objective"), steps_of(results)
    after = f"after step {probed[-1]:,}" if probed else "after the last step"
    return {
        name: table(name, results, labels, heads, rows, onset=NOTE, after=after)
        for name, (heads, rows) in tables.items()
    }


def _order_in_words(found: Found) -> str:
    """Describe the order of onsets, as in `loss and CKA (64), sentences (128); never: all types`."""
    groups = {step: listed(names) for step, names in _in_order(found).items()}
    never = groups.pop(NEVER, "")
    order = ", ".join(f"{names} ({step:,.0f})" for step, names in groups.items())
    return "; ".join(filter(None, [order, never and f"never: {never}"])) or MISSING


def _agreement(found: Found, seeds: int) -> str:
    if seeds < 2:
        return "one seed"
    swapped = _swapped_pairs(found)
    same = f"no: {swapped} of {comb(len(found), 2)} pairs change places" if swapped else "yes"
    some = [quantity.name for quantity, its in found.items() if 0 < its.left < len(its.steps)]
    return f"{same}; in some seeds only: {listed(some)}" if some else same


def growth_findings(results: Results) -> Iterator[str]:
    """Report how often each quantity leaves its null first, the order for the first objective, and how often
    all seeds agree on the order."""
    cells = [(objective, transform) for transform in results.transforms for objective in results.objectives]
    found = {cell: its for cell in cells if (its := onsets(results, *cell))}
    if not found:
        return
    earliest = [next(iter(_in_order(its).items())) for its in found.values()]
    firsts = Counter(name for step, names in earliest if step < NEVER for name in names)
    counts = listed([f"{name} in {count}" for name, count in firsts.most_common()]) or "none"
    yield f"First above its null, of {len(found)} pairs of a language and an objective: {counts}."
    for (objective, transform), its in found.items():
        if objective == results.objectives[0]:
            title = results.objective_title(objective)
            yield f"{title} under {results.transform_title(transform)}: {_order_in_words(its)}."
    if len(results.seeds) > 1:
        same = sum(not _swapped_pairs(its) for its in found.values())
        yield f"The order is the same in all {len(results.seeds)} seeds for {same} of {len(found)}."


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


def _curves_figure(results: Results, quantities: Sequence[Quantity], name: str) -> Plot | None:
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
    return plot(name, figure, results, records_of(results, rows), quantities=texts)


predicted_figure = partial(_curves_figure, quantities=PREDICTED, name="figure-predicted")
aligned_figure = partial(_curves_figure, quantities=ALIGNED, name="figure-aligned")


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


def onset_figure(results: Results) -> Plot | None:
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
    return plot("figure-onset", figure, results, records_of(results, QUANTITIES), onset=NOTE)


def _draw_step(panel: Axes, at: tuple[int, int], step: float, shade: Normalize) -> None:
    darkness = 0.0 if step == NEVER else 1 - float(shade(max(step, shade.vmin or 0.0)))
    corner, colour = (at[0] - 0.5, at[1] - 0.5), mpl.colormaps["Greys"](0.8 * darkness)
    panel.add_patch(Rectangle(corner, 1, 1, facecolor=colour, edgecolor="#ffffff"))
    words, ink = MISSING if step == NEVER else f"{step:,.0f}", "#ffffff" if darkness > 0.6 else INK
    panel.text(*at, words, ha="center", va="center", color=ink, fontsize="small")

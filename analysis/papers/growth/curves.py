"""Quantities over pretraining: the step at which each leaves its null, and their order, in tables and in
words."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import comb
from pathlib import Path
from statistics import median

from calque.analysis.papers.texts import table
from calque.analysis.records.record import Record
from calque.analysis.report.table import MISSING, Table, decimal, listed
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Bounds, Estimate, estimate
from calque.derive.files import read_toml
from calque.pretrain.architecture import main_layer

NEVER = math.inf
Curve = Mapping[int, Record]  # a seed's record by step, ascending


@dataclass(frozen=True)
class Quantity:
    """A number by its measure and metric, as quantities.toml describes it."""

    name: str
    axis: str
    measure: str
    metric: str
    text: str
    unit: float = 100.0
    bounds: Bounds = (0.0, 100.0)
    side: int = 1
    layered: bool = False


_TEXTS = read_toml(Path(__file__).with_name("quantities.toml"))
NOTE: str = _TEXTS["note"]
PREDICTED, ALIGNED = (
    tuple(Quantity(**row | {"bounds": tuple(row.get("bounds", Quantity.bounds))}) for row in _TEXTS[group])
    for group in ("predicted", "aligned")
)
"""Quantities of prediction, and of words and sentences in space: one figure each."""
QUANTITIES = (*PREDICTED, *ALIGNED)
DIGITS = [1 if quantity.unit == 100 else 2 for quantity in QUANTITIES]  # two if it is not in percent


def curves(results: Results, quantity: Quantity, objective: str, transform: str) -> dict[int, Curve]:
    """Each seed's records that have a null; empty if the quantity was not measured."""
    depth = next(run.layers for run in results.runs.values())
    layer = main_layer(depth) if quantity.layered else None
    found: dict[int, dict[int, Record]] = {}
    for task in ("", *results.tasks):  # tags have the task that is probed
        found = found or results.curves(quantity.measure, objective, transform, task, quantity.metric, layer=layer)
    with_null = {seed: {step: r for step, r in curve.items() if r.null} for seed, curve in found.items()}
    return {seed: curve for seed, curve in with_null.items() if curve}


def at_steps(results: Results, quantity: Quantity, objective: str, transform: str) -> dict[int, list[Record]]:
    of_seeds = list(curves(results, quantity, objective, transform).values())
    common = sorted(set.intersection(*map(set, of_seeds))) if of_seeds else []
    return {step: [curve[step] for curve in of_seeds] for step in common}


def means(results: Results, quantity: Quantity, objective: str, transform: str) -> dict[int, Estimate]:
    """The mean over seeds at each step that all of them have, in the quantity's unit."""
    return {
        step: estimate([quantity.unit * record.value for record in records], quantity.bounds)
        for step, records in at_steps(results, quantity, objective, transform).items()
    }


def records_of(results: Results, quantities: Sequence[Quantity]) -> list[Record]:
    cells = product(quantities, results.objectives, results.transforms)
    return [record for cell in cells for curve in curves(results, *cell).values() for record in curve.values()]


def steps_of(results: Results) -> list[int]:
    """The steps at which quantities were probed."""
    return sorted({record.step for record in records_of(results, QUANTITIES)})


def onset(curve: Curve, side: int) -> float:
    """The step of the first of two consecutive probes beyond their null on that side, or NEVER: a single jump
    does not count."""
    beyond = [
        (step, record.null is not None and record.null.left(record.value, side)) for step, record in curve.items()
    ]
    return next((float(step) for (step, left), (_, still) in pairwise(beyond) if left and still), NEVER)


@dataclass(frozen=True)
class Onsets:
    """The onset of one quantity in each seed."""

    steps: Mapping[int, float]

    @property
    def ends(self) -> tuple[float, float, float]:
        """The earliest, the median and the latest; the median is NEVER if half of the seeds or more never
        leave."""
        steps = sorted(self.steps.values())
        return steps[0], median(steps), steps[-1]

    @property
    def left(self) -> int:
        """The number of seeds whose quantity leaves its null."""
        return sum(step < NEVER for step in self.steps.values())

    def __str__(self) -> str:
        """`91 [64, 128]`, `64`, `never`, or `never in 2 of 5, else from 64`."""
        low, middle, high = self.ends
        if not self.left:
            return "never"
        if self.left < len(self.steps):
            return f"never in {len(self.steps) - self.left} of {len(self.steps)}, else from {low:,.0f}"
        return f"{middle:,.0f}" + (f" [{low:,.0f}, {high:,.0f}]" if low < high else "")


Found = Mapping[Quantity, Onsets]
"""The onsets of the quantities measured for an objective and a transform, the earliest first."""


def onsets(results: Results, objective: str, transform: str) -> Found:
    """The onsets of each quantity in every seed, the earliest first."""
    found = {
        quantity: Onsets({seed: onset(curve, quantity.side) for seed, curve in seeds.items()})
        for quantity in QUANTITIES
        if (seeds := curves(results, quantity, objective, transform))
    }
    return dict(sorted(found.items(), key=lambda item: (item[1].ends[1], -item[1].left, item[1].ends[0])))


def reversed_pairs(found: Found) -> list[tuple[Quantity, Quantity]]:
    """The pairs of quantities whose order differs between seeds."""
    pairs = []
    for first, second in combinations(found, 2):
        a, b = found[first].steps, found[second].steps
        ahead = [a[seed] - b[seed] for seed in a.keys() & b.keys() if a[seed] != b[seed]]
        if ahead and min(ahead) < 0 < max(ahead):
            pairs.append((first, second))
    return pairs


def in_order(found: Found) -> list[tuple[float, list[Quantity]]]:
    groups: dict[float, list[Quantity]] = {}
    for quantity, its in found.items():
        groups.setdefault(its.ends[1], []).append(quantity)
    return list(groups.items())


def growth_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    order, steps, ends = [], [], []
    for transform in results.transforms:
        for objective in results.objectives:
            found = onsets(results, objective, transform)
            titles = results.transform_title(transform), results.objective_title(objective)
            order.append((*titles, order_in_words(found), agreement(found, len(results.seeds))))
            steps.append((*titles, *(str(found.get(quantity, MISSING)) for quantity in QUANTITIES)))
            lines = [list(means(results, quantity, objective, transform).values()) for quantity in QUANTITIES]
            cells = zip((line[-1] if line else None for line in lines), DIGITS, strict=True)
            ends.append((*titles, *(decimal(*cell) for cell in cells)))
    labels = ("language", "objective")
    what = (*labels, "what leaves its null, in this order", "the same order in all seeds")
    names, axes = ((*labels, *(getattr(quantity, name) for quantity in QUANTITIES)) for name in ("name", "axis"))
    yield "what-comes-first", table("what-comes-first", results, scale, what, order, 2, onset=NOTE)
    yield "onsets", table("onsets", results, scale, names, steps, 2, onset=NOTE)
    probed = steps_of(results)
    after = f"after step {probed[-1]:,}" if probed else "after the last step"
    yield "ends", table("ends", results, scale, axes, ends, 2, after=after)


def order_in_words(found: Found) -> str:
    """`gradients (0), loss and CKA (64), sentences (128); never: all types`."""
    groups = [(step, listed([quantity.name for quantity in group])) for step, group in in_order(found)]
    order = ", ".join(f"{names} ({step:,.0f})" for step, names in groups if step < NEVER)
    never = [f"never: {names}" for step, names in groups if step == NEVER]
    return "; ".join(filter(None, [order, *never])) or MISSING


def agreement(found: Found, seeds: int) -> str:
    """Whether seeds have the same order, how many pairs change places, and what leaves its null in some seeds
    only."""
    if seeds < 2:
        return "one seed"
    swapped = reversed_pairs(found)
    same = "yes" if not swapped else f"no: {len(swapped)} of {comb(len(found), 2)} pairs change places"
    some = [quantity.name for quantity, its in found.items() if 0 < its.left < len(its.steps)]
    return f"{same}; in some seeds only: {listed(some)}" if some else same


def growth_findings(results: Results) -> Iterator[str]:
    cells = [(objective, transform) for transform in results.transforms for objective in results.objectives]
    found = {cell: its for cell in cells if (its := onsets(results, *cell))}
    if not found:
        return
    orders = [in_order(its) for its in found.values()]
    firsts = Counter(quantity.name for (step, group), *_ in orders if step < NEVER for quantity in group)
    counts = listed([f"{name} in {count}" for name, count in firsts.most_common()]) or "none"
    yield f"First above its null, of {len(found)} pairs of a language and an objective: {counts}."
    for (objective, transform), its in found.items():
        if objective == results.objectives[0]:
            title = results.objective_title(objective)
            yield f"{title} under {results.transform_title(transform)}: {order_in_words(its)}."
    if len(results.seeds) > 1:
        same = sum(not reversed_pairs(its) for its in found.values())
        yield f"The order is the same in all {len(results.seeds)} seeds for {same} of {len(found)}."

"""Quantities over the steps of pretraining: when each leaves its null, and what comes first, in tables and in words."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb
from pathlib import Path
from statistics import median

from analysis.aligners.encoder import main_layer
from analysis.papers.texts import table
from analysis.records.record import Record
from analysis.report.table import MISSING, Table, listed
from analysis.results.results import Results
from analysis.statistics.intervals import Bounds, Estimate, estimate
from derive.files import read_toml

NEVER = math.inf
Curve = Mapping[int, Record]
"""A seed's record by step, ascending."""


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


_ROWS = read_toml(Path(__file__).with_name("quantities.toml"))
PREDICTED, ALIGNED = (
    tuple(Quantity(**row | {"bounds": tuple(row.get("bounds", Quantity.bounds))}) for row in _ROWS[group])
    for group in ("predicted", "aligned")
)
"""Quantities of what a model does, and of where words and sentences lie: a figure each."""
QUANTITIES = (*PREDICTED, *ALIGNED)
BY_NAME = {quantity.name: quantity for quantity in QUANTITIES}


class Curves:
    """The curves of a study, looked up by quantity, objective and transform."""

    def __init__(self, results: Results) -> None:
        self.results = results
        followed = {(quantity.measure, quantity.metric): quantity for quantity in QUANTITIES}
        curves: dict[tuple[str, str, str], dict[int, dict[int, Record]]] = defaultdict(lambda: defaultdict(dict))
        for record in results.records:
            quantity, run = followed.get((record.measure, record.metric)), results.runs[record.run]
            if quantity is None or run.objective is None or record.first or record.null is None:
                continue
            if record.layer == (main_layer(run.layers) if quantity.layered else None):
                curves[quantity.name, run.objective.name, record.language][run.seed][record.step] = record
        self._curves = {
            key: {seed: dict(sorted(curve.items())) for seed, curve in sorted(seeds.items())}
            for key, seeds in curves.items()
        }
        self.steps = sorted({record.step for record in self.records(*QUANTITIES)})

    def seeds(self, quantity: Quantity, objective: str, transform: str) -> Mapping[int, Curve]:
        """Each seed's curve; none where the quantity was not measured."""
        return self._curves.get((quantity.name, objective, transform), {})

    def means(self, quantity: Quantity, objective: str, transform: str) -> dict[int, Estimate]:
        """The mean over seeds at each step that all of them have, in the quantity's unit."""
        return {
            step: estimate([quantity.unit * record.value for record in records], quantity.bounds)
            for step, records in self.at_steps(quantity, objective, transform).items()
        }

    def at_steps(self, quantity: Quantity, objective: str, transform: str) -> dict[int, list[Record]]:
        """The records of all seeds at each step that all of them have, ascending."""
        curves = list(self.seeds(quantity, objective, transform).values())
        common = sorted(set.intersection(*(set(curve) for curve in curves))) if curves else []
        return {step: [curve[step] for curve in curves] for step in common}

    def records(self, *quantities: Quantity) -> list[Record]:
        """All records of some quantities that curves are made of."""
        names = {quantity.name for quantity in quantities}
        seeds = [seeds for (name, _, _), seeds in self._curves.items() if name in names]
        return [record for by_seed in seeds for curve in by_seed.values() for record in curve.values()]


def onset(curve: Curve, side: int) -> float:
    """The first of two probes in a row that are beyond their null on that side, by its step; NEVER if none are.

    Two, so that a single jump does not count. Probes of one model on one text are not independent: what leaves a band
    by chance, one quantity in forty, may stay beyond it for some steps.
    """
    out = [(step, record.null is not None and record.null.left(record.value, side)) for step, record in curve.items()]
    return next((float(step) for (step, left), (_, still) in pairwise(out) if left and still), NEVER)


@dataclass(frozen=True)
class Onsets:
    """The onset of one quantity in each seed."""

    steps: Mapping[int, float]

    @property
    def middle(self) -> float:
        """Their median; NEVER where half of the seeds or more never leave."""
        return median(sorted(self.steps.values()))

    @property
    def low(self) -> float:
        """The earliest. With five seeds all of them are a 94 % interval for the median of seeds."""
        return min(self.steps.values())

    @property
    def high(self) -> float:
        """The latest."""
        return max(self.steps.values())

    @property
    def left(self) -> int:
        """The number of seeds in which it leaves."""
        return sum(step < NEVER for step in self.steps.values())

    def __str__(self) -> str:
        """`91 [64, 128]`, `64`, `never`, or `never in 2 of 5, else from 64`."""
        if not self.left:
            return "never"
        if self.left < len(self.steps):
            return f"never in {len(self.steps) - self.left} of {len(self.steps)}, else from {self.low:,.0f}"
        return f"{self.middle:,.0f}" + (f" [{self.low:,.0f}, {self.high:,.0f}]" if self.low < self.high else "")


def onsets(curves: Curves, objective: str, transform: str) -> dict[Quantity, Onsets]:
    """The onsets of every quantity that was measured, those that come first first."""
    found = {
        quantity: Onsets({seed: onset(curve, quantity.side) for seed, curve in seeds.items()})
        for quantity in QUANTITIES
        if (seeds := curves.seeds(quantity, objective, transform))
    }
    return dict(sorted(found.items(), key=lambda one: (one[1].middle, -one[1].left, one[1].low)))


def reversed_pairs(found: Mapping[Quantity, Onsets]) -> list[tuple[Quantity, Quantity]]:
    """The pairs of quantities of which one comes first in a seed and the other in another seed."""
    pairs = []
    for first, second in combinations(found, 2):
        a, b = found[first].steps, found[second].steps
        ahead = [a[seed] - b[seed] for seed in sorted(a.keys() & b.keys()) if a[seed] != b[seed]]
        if ahead and min(ahead) < 0 < max(ahead):
            pairs.append((first, second))
    return pairs


def in_order(found: Mapping[Quantity, Onsets]) -> list[tuple[float, Sequence[Quantity]]]:
    """Quantities of the same median onset together, ascending; those that never leave come last."""
    steps = dict.fromkeys(onsets.middle for onsets in found.values())
    return [(step, [quantity for quantity, one in found.items() if one.middle == step]) for step in steps]


NOTE = (
    "A quantity leaves its null at the first of two probes in a row beyond the 95 % band of its null and beyond "
    "chance. Steps are medians over seeds, with the earliest and the latest seed; with five seeds these are a 94 % "
    "interval for the median. 0: before the first step. Probes lie on a geometric scale of steps, so quantities of one "
    "step may differ by less than that."
)


def growth_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """The order in which quantities leave their nulls, the step of each, and its last value."""
    curves, order, steps, ends = Curves(results), [], [], []
    for transform in results.transforms:
        for objective in results.objectives:
            found = onsets(curves, objective, transform)
            titles = results.transform_title(transform), results.objective_title(objective)
            order.append((*titles, order_in_words(found), agreement(found, len(results.seeds))))
            steps.append((*titles, *(str(found[q]) if q in found else MISSING for q in QUANTITIES)))
            lines = [(quantity, curves.means(quantity, objective, transform)) for quantity in QUANTITIES]
            last = (_ending(line[max(line)], 1 if q.unit == 100 else 2) if line else MISSING for q, line in lines)
            ends.append((*titles, *last))
    labels = ("language", "objective")
    what = (*labels, "what leaves its null, in this order", "the same order in all seeds")
    names, axes = ((*labels, *(getattr(quantity, name) for quantity in QUANTITIES)) for name in ("name", "axis"))
    yield "what-comes-first", table("what-comes-first", results, scale, what, order, 2, onset=NOTE)
    yield "onsets", table("onsets", results, scale, names, steps, 2, onset=NOTE)
    after = f"after step {max(curves.steps):,}" if curves.steps else "after the last step"
    yield "ends", table("ends", results, scale, axes, ends, 2, after=after)


def _ending(one: Estimate, digits: int) -> str:
    """`84.3 ± 2.1`, or `84.3 [70.1, 100.0]` where the interval is cut off."""
    interval = ""
    if one.half is not None:
        cut = f" [{one.low:.{digits}f}, {one.high:.{digits}f}]"
        interval = f" ± {one.half:.{digits}f}" if one.symmetric else cut
    return f"{one.mean:.{digits}f}{interval}"


def order_in_words(found: Mapping[Quantity, Onsets]) -> str:
    """`gradients (0), loss and CKA (64), sentences (128); never: all types`."""
    groups = in_order(found)
    order = [f"{_names(these)} ({step:,.0f})" for step, these in groups if step < NEVER]
    never = [f"never: {_names(these)}" for step, these in groups if step == NEVER]
    return "; ".join(filter(None, [", ".join(order), *never])) or MISSING


def agreement(found: Mapping[Quantity, Onsets], seeds: int) -> str:
    """Whether seeds have the same order, how many pairs change places, and what leaves its null in some seeds only."""
    if seeds < 2:
        return "one seed"
    swapped = reversed_pairs(found)
    same = "yes" if not swapped else f"no: {len(swapped)} of {comb(len(found), 2)} pairs change places"
    some = [quantity for quantity, one in found.items() if 0 < one.left < len(one.steps)]
    return f"{same}; in some seeds only: {_names(some)}" if some else same


def _names(quantities: Sequence[Quantity]) -> str:
    return listed([quantity.name for quantity in quantities])


def growth_findings(results: Results) -> Iterator[str]:
    """Which quantities come first and last how often, in which order with MLM, and whether seeds agree."""
    curves = Curves(results)
    cells = [(objective, transform) for transform in results.transforms for objective in results.objectives]
    found = {cell: one for cell in cells if (one := onsets(curves, *cell))}
    if not found:
        return
    firsts, never = Counter[str](), Counter[str]()
    for one in found.values():
        groups = in_order(one)
        firsts.update(quantity.name for quantity in groups[0][1] if groups[0][0] < NEVER)
        never.update(quantity.name for step, these in groups if step == NEVER for quantity in these)
    if firsts:
        counts = listed([f"{name} in {count}" for name, count in firsts.most_common()])
        pairs = f"Of {len(found)} pairs of a language and an objective"
        yield f"{pairs}, what leaves its null first is {counts} (several may leave together)."
    else:
        yield "No quantity leaves its null."
    if never:
        counts = listed([f"{q.name} in {never[q.name]}" for q in QUANTITIES if q.name in never])
        yield f"In half of the seeds or more these never leave: {counts}."
    for (objective, transform), one in found.items():
        if objective == results.objectives[0]:
            title = results.objective_title(objective)
            yield f"{title} under {results.transform_title(transform)}: {order_in_words(one)}."
    if len(results.seeds) > 1:
        same = sum(not reversed_pairs(one) for one in found.values())
        yield f"The order is the same in all {len(results.seeds)} seeds for {same} of {len(found)}."

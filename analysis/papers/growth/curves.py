"""Quantities over the steps of pretraining, when each leaves its null, and in which order they do so."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from statistics import median

from analysis.aligners.encoder import main_layer
from analysis.records.record import Record
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

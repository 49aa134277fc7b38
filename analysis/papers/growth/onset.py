"""When a quantity leaves its null, and in which order quantities do so."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import median

from analysis.papers.growth.curves import Curve, Curves
from analysis.papers.growth.quantities import QUANTITIES, Quantity

NEVER = math.inf


def onset(curve: Curve, side: int) -> float:
    """The first of two probes in a row that lie beyond their null on that side, by its step; NEVER if none do.

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
        """In how many seeds it leaves."""
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

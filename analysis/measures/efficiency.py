"""Token efficiency: how many ids of a language alone teach a model as much as it learnt next to other languages.

Schaefer et al. 2024, "The Role of Language Imbalance in Cross-lingual Generalisation: Insights from Cloned Language
Experiments": ids that a monolingual model needs for the same loss, over the ids of the language that the joint model
read. Above 1, the other languages helped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Efficiency:
    """A token efficiency; where the curve does not reach as far, `value` belongs to the curve's end.

    `beyond` is then +1 (more ids would be needed than the curve has: the efficiency is at least so high) or -1 (fewer).
    """

    value: float
    beyond: int = 0


@dataclass(frozen=True)
class Curve:
    """The held-out loss of models that read a language alone: (ids, loss), ascending by ids.

    Raises:
        ValueError: fewer than two points, or ids that do not ascend from above 0.
    """

    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        ids = [ids for ids, _ in self.points]
        if len(ids) < 2 or ids != sorted(set(ids)) or ids[0] <= 0:
            raise ValueError(f"a curve has two points at least, of ascending numbers of ids above 0, not {ids}")

    @classmethod
    def of(cls, points: Iterable[tuple[float, float]]) -> Curve:
        """The curve through some points in any order."""
        return cls(tuple(sorted(points)))

    def ids(self, loss: float) -> tuple[float, int]:
        """The fewest ids after which the loss is no higher, and whether that is beyond the curve (+1, -1) or not (0).

        Between two points the loss is taken to fall in proportion to the logarithm of the ids. Nothing is
        extrapolated.
        """
        first, highest = self.points[0]
        if loss > highest:
            return first, -1
        for (a, before), (b, after) in pairwise(self.points):
            if after <= loss <= before:
                along = (before - loss) / (before - after) if before > after else 0.0
                return a * (b / a) ** along, 0
        return self.points[-1][0], 1

    def efficiency(self, loss: float, ids: float) -> Efficiency:
        """The efficiency of a model with that loss after so many ids of the language."""
        alone, beyond = self.ids(loss)
        return Efficiency(alone / ids, beyond)

"""What a number is where nothing is behind it: by reckoning, and by a permutation test."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Null:
    """The chance level of a number, and its null distribution.

    `chance` is the number of who guesses, in the number's own unit. `low` and `high` are the 2.5th and the 97.5th
    percentile of `shuffles` values that were measured after what belongs together had been shuffled.
    """

    chance: float
    low: float
    high: float
    shuffles: int

    def left(self, value: float, side: int = 1) -> bool:
        """Whether a value lies beyond both: above the band and chance (`side` +1), or below them (-1)."""
        return value > max(self.high, self.chance) if side > 0 else value < min(self.low, self.chance)

"""Means with intervals: over seeds where there are several, else over the items of the test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean with an interval, and what the interval covers.

    `over` is "seeds" (Student's t over training runs) or "items" (one run: only the draw of the test items, as
    if the run were the only one that could have been). Without an interval `low` and `high` are None.
    """

    mean: float
    seeds: int
    low: float | None = None
    high: float | None = None
    over: str = "seeds"

    @property
    def half(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def estimate(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Mean over seeds with Student's t interval; one seed has no interval.

    Raises:
        ValueError: no value.
    """
    if not values:
        raise ValueError("a mean of no values")
    n, mean = len(values), float(np.mean(values))
    if n == 1:
        return Estimate(mean, 1)
    half = float(stats.t.ppf((1 + confidence) / 2, n - 1) * np.std(values, ddof=1)) / math.sqrt(n)
    return Estimate(mean, n, mean - half, mean + half)


def paired(ours: Mapping[int, float], theirs: Mapping[int, float], confidence: float = CONFIDENCE) -> Estimate:
    """Mean of `ours` - `theirs` over the seeds that both have: what a seed does to both cancels.

    Raises:
        ValueError: no common seed.
    """
    return estimate([ours[seed] - theirs[seed] for seed in sorted(ours.keys() & theirs.keys())], confidence)


def item_error(share: float, count: int) -> float:
    """Standard error of a share over `count` items, from the draw of the items alone.

    Agresti and Coull's (1998): two hits and two misses are added, so that 0 of 100 is not taken for certain. Right
    for accuracy over independent items; for F1 an approximation, and for the words of a sentence, which are not
    independent, too small.
    """
    adjusted = (share * count + 2) / (count + 4)
    return math.sqrt(adjusted * (1 - adjusted) / (count + 4))


def over_items(value: float, errors: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """One seed's sum or difference of shares with a normal interval from their standard errors.

    The shares count as independent; scores on the same items vary together, so the interval is rather too wide.
    """
    half = float(stats.norm.ppf((1 + confidence) / 2)) * math.hypot(*errors)
    return Estimate(value, 1, value - half, value + half, "items")

"""Ratios of two means with Fieller's interval (1954), which is honest where the lower one may be near 0."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from analysis.statistics.intervals import CONFIDENCE, Estimate, item_weight

Moments = tuple[float, float, float]
"""Variance of the upper mean, of the lower one, and their covariance."""


def ratio_over_seeds(upper: Sequence[float], lower: Sequence[float]) -> Estimate | None:
    """Mean of `upper` over mean of `lower`, paired by seed: Fieller's interval with Student's t.

    None where the interval of the lower mean does not lie above 0: the ratio could then be any number. One seed, and
    seeds of which nothing differs, have no interval.

    Raises:
        ValueError: the two differ in length, or there is no value.
    """
    if len(upper) != len(lower) or not upper:
        raise ValueError(f"a ratio of {len(upper)} values to {len(lower)}")
    n, a, b = len(upper), float(np.mean(upper)), float(np.mean(lower))
    if n == 1:
        return Estimate(a / b, 1) if b > 0 else None
    (v, c), (_, w) = np.cov(upper, lower) / n
    return _fieller(a, b, (float(v), float(w), float(c)), float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)), n, "seeds")


def ratio_over_items(value: tuple[float, float], upper: np.ndarray, lower: np.ndarray) -> Estimate | None:
    """One seed's ratio, with a normal interval from what each test item adds to both numbers, (n,) each.

    As in `analysis.statistics.intervals.paired_error` one item for and one against each number are added, as heavy as
    its heaviest. None as in `ratio_over_seeds`.

    Raises:
        ValueError: the two are not of as many items.
    """
    if len(upper) != len(lower):
        raise ValueError(f"a ratio over {len(upper)} items to one over {len(lower)}")
    squared = (len(upper) + 2) ** 2
    v, w = ((float(x @ x) + 2 * item_weight(x) ** 2) / squared for x in (upper, lower))
    c = float(upper @ lower) / squared
    return _fieller(*value, (v, w, c), float(stats.norm.ppf((1 + CONFIDENCE) / 2)), 1, "items")


def _fieller(a: float, b: float, moments: Moments, quantile: float, seeds: int, over: str) -> Estimate | None:
    """The interval of all r for which the interval of a - r b holds 0."""
    v, w, c = (quantile**2 * moment for moment in moments)
    if b <= 0 or b * b <= w:
        return None
    middle, below = a * b - c, b * b - w
    half = math.sqrt(max(0.0, middle * middle - below * (a * a - v)))
    if half <= 1e-9 * below:
        return Estimate(a / b, seeds)
    error = half / below / quantile
    return Estimate(a / b, seeds, (middle - half) / below, (middle + half) / below, over, error)

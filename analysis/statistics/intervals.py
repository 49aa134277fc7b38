"""Compute means and ratios of means with intervals over seeds or test items, and Welch's test."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calque.derive.lazy import special

CONFIDENCE = 0.95
UPPER = (1 + CONFIDENCE) / 2  # the quantile for an interval's upper end
Bounds = tuple[float, float]
UNBOUNDED: Bounds = (-math.inf, math.inf)


@dataclass(frozen=True)
class Estimate:
    """A mean over `seeds` seeds, with its standard error and clipped interval, if they are known. `over` says
    whether the interval is over "seeds" or "items"."""

    mean: float
    seeds: int
    low: float | None = None
    high: float | None = None
    over: str = "seeds"
    error: float | None = None

    @property
    def interval(self) -> Bounds | None:
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def half(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def symmetric(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return math.isclose(self.mean - self.low, self.high - self.mean, rel_tol=1e-9, abs_tol=1e-12)

    def p(self, bound: float, side: int) -> float | None:
        """Return the one-sided p-value, by Student's t over seeds, of the claim that the mean is above
        (`side` +1) or below (-1) `bound`; None without an interval over seeds."""
        if self.over != "seeds" or self.error is None:
            return None
        return float(special.stdtr(self.seeds - 1, -side * (self.mean - bound) / self.error))

    def at(self, confidence: float, bounds: Bounds = UNBOUNDED) -> "Estimate":
        """Return the same mean with an interval over seeds at a different confidence level, clipped to
        `bounds`."""
        assert self.error is not None
        half = float(special.stdtrit(self.seeds - 1, (1 + confidence) / 2)) * self.error
        return replace(self, low=max(self.mean - half, bounds[0]), high=min(self.mean + half, bounds[1]))


def estimate(values: Sequence[float], bounds: Bounds = UNBOUNDED) -> Estimate:
    """Return the mean over seeds, with Student's t interval clipped to `bounds`."""
    if not values:
        raise ValueError("no values to average")
    n, mean = len(values), float(np.mean(values))
    error = float(np.std(values, ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    if error <= 1e-12 * max(1.0, abs(mean)):
        return Estimate(mean, n)
    half = float(special.stdtrit(n - 1, UPPER)) * error
    return Estimate(mean, n, max(mean - half, bounds[0]), min(mean + half, bounds[1]), error=error)


def over_items(value: float, error: float | None, bounds: Bounds = UNBOUNDED) -> Estimate:
    """Return a single seed's number with a normal interval over test items, clipped to `bounds`, if its
    standard error is known."""
    if error is None:
        return Estimate(value, 1)
    half = float(special.ndtri(UPPER)) * error
    return Estimate(value, 1, max(value - half, bounds[0]), min(value + half, bounds[1]), "items", error)


def item_error(share: float, count: int) -> float:
    """Return the standard error of a share of `count` independent items, after adding two hits and two misses
    (Agresti and Coull 1998)."""
    adjusted = (share * count + 2) / (count + 4)
    return math.sqrt(adjusted * (1 - adjusted) / (count + 4))


def per_item(hits: Sequence[int], of: Sequence[int]) -> np.ndarray:
    """Return each item's linearised contribution (n,) to sum(hits) / sum(of) (Cochran 1977, section 6.4);
    they sum to 0."""
    a, b = np.asarray(hits, float), np.asarray(of, float)
    if not b.sum():
        raise ValueError("the items' denominators sum to 0, so the ratio has no standard error")
    return (a - a.sum() / b.sum() * b) * (len(a) / b.sum())


def paired_error(parts: np.ndarray) -> float:
    """Return the standard error of a ratio, or of a difference between ratios over the same items, from each
    item's contribution (n,). As in Bonett and Price (2012), two items are added, one that raises and one that
    lowers the number, each by the largest contribution."""
    n = len(parts) + 2
    return math.sqrt(_squares(parts) / n) / math.sqrt(n)


def _squares(parts: np.ndarray) -> float:
    heaviest = float(np.abs(parts).max(initial=0.0)) or 1.0  # if all are 0, use 1, like an average item
    return float(parts @ parts) + 2 * heaviest**2


Moments = tuple[float, float, float]  # variances of numerator and denominator, and their covariance


def ratio_over_seeds(upper: Sequence[float], lower: Sequence[float]) -> Estimate | None:
    """Divide the mean of `upper` by the mean of `lower`, paired by seed, with Fieller's interval; None if the
    denominator's interval includes 0."""
    n, a, b = len(upper), float(np.mean(upper)), float(np.mean(lower))
    if n == 1:
        return Estimate(a / b, 1) if b > 0 else None
    (v, c), (_, w) = np.cov(upper, lower) / n
    return _fieller(a, b, (float(v), float(w), float(c)), float(special.stdtrit(n - 1, UPPER)), n, "seeds")


def ratio_over_items(value: tuple[float, float], upper: np.ndarray, lower: np.ndarray) -> Estimate | None:
    """Return a single seed's ratio, with an interval from each test item's contributions to the numerator and
    denominator, (n,) each."""
    squared = (len(upper) + 2) ** 2
    moments = _squares(upper) / squared, _squares(lower) / squared, float(upper @ lower) / squared
    return _fieller(*value, moments, float(special.ndtri(UPPER)), 1, "items")


def _fieller(a: float, b: float, moments: Moments, quantile: float, seeds: int, over: str) -> Estimate | None:
    v, w, c = (quantile**2 * moment for moment in moments)
    if b <= 0 or b * b <= w:
        return None
    middle, below = a * b - c, b * b - w
    half = math.sqrt(max(0.0, middle * middle - below * (a * a - v)))
    if half <= 1e-9 * below:
        return Estimate(a / b, seeds)
    error = half / below / quantile
    return Estimate(a / b, seeds, (middle - half) / below, (middle + half) / below, over, error)


def welch(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Return the two-sided p-value of Welch's (1947) t-test; None if neither sample varies. A sample of a
    single value is assumed to have the other sample's variance."""
    samples = [
        (len(x), float(np.mean(x)), float(np.var(x, ddof=1)) if len(x) > 1 else 0.0) for x in (ours, theirs)
    ]
    (n, a, v), (m, b, w) = samples
    if n == 1 or m == 1:
        pooled = max(v, w)
        error, freedom = math.sqrt(pooled / n + pooled / m), max(n, m) - 1.0
    else:
        v, w = v / n, w / m
        error = math.sqrt(v + w)
        freedom = (v + w) ** 2 / (v**2 / (n - 1) + w**2 / (m - 1)) if error else 1.0
    if error <= 1e-12 * max(1.0, abs(a), abs(b)):
        return None
    return float(2 * special.stdtr(freedom, -abs(a - b) / error))

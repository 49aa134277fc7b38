"""Compute means, ratios and correlations with intervals, and adjust for multiple comparisons."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.random import Generator

from calque.derive.fingerprint import total
from calque.pretrain.lazy import special, stats

CONFIDENCE = 0.95
UPPER = (1 + CONFIDENCE) / 2  # the quantile for an interval's upper end
Bounds = tuple[float, float]
UNBOUNDED: Bounds = (-math.inf, math.inf)


@dataclass(frozen=True)
class Estimate:
    """A mean over `seeds`; if known, its standard error and clipped interval over "seeds" or "items"."""

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
    def symmetric(self) -> bool:
        low, high = self.interval or (math.nan, math.nan)
        return math.isclose(self.mean - low, high - self.mean, rel_tol=1e-9, abs_tol=1e-12)

    def p(self, bound: float, side: int) -> float | None:
        """The one-sided p-value (Student's t) for the mean being above (`side` +1) or below (-1) `bound`."""
        if self.over != "seeds" or self.error is None:
            return None
        return float(special.stdtr(self.seeds - 1, -side * (self.mean - bound) / self.error))


def at_confidence(value: Estimate, confidence: float, bounds: Bounds = UNBOUNDED) -> Estimate:
    """Replace an estimate's interval by Student's t interval at a confidence level, clipped to `bounds`."""
    return _with_interval(value, special.stdtrit(value.seeds - 1, (1 + confidence) / 2), bounds)


def _with_interval(value: Estimate, quantile: float, bounds: Bounds) -> Estimate:
    """Add an interval of `quantile` standard errors on either side, clipped to `bounds`."""
    half = float(quantile) * (value.error or 0.0)
    return replace(value, low=max(value.mean - half, bounds[0]), high=min(value.mean + half, bounds[1]))


def estimate(values: Sequence[float], bounds: Bounds = UNBOUNDED) -> Estimate:
    """Return the mean over seeds, with Student's t interval clipped to `bounds`."""
    if not values:
        raise ValueError("no values to average")
    n, mean = len(values), float(np.mean(values))
    error = float(np.std(values, ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    if error <= 1e-12 * max(1.0, abs(mean)):
        return Estimate(mean, n)
    return at_confidence(Estimate(mean, n, error=error), CONFIDENCE, bounds)


def over_items(value: float, error: float | None, bounds: Bounds = UNBOUNDED) -> Estimate:
    """A single seed's number with a normal interval over test items, if its standard error is known."""
    if error is None:
        return Estimate(value, 1)
    return _with_interval(Estimate(value, 1, over="items", error=error), special.ndtri(UPPER), bounds)


def item_error(share: float, count: int) -> float:
    """The standard error of a share of `count` items, plus two hits and misses (Agresti, Coull 1998)."""
    adjusted = (share * count + 2) / (count + 4)
    return math.sqrt(adjusted * (1 - adjusted) / (count + 4))


def per_item(hits: Sequence[int], sizes: Sequence[int]) -> np.ndarray:
    """Each item's linearised contribution (n,) to sum(hits) / sum(sizes) (Cochran 1977, section 6.4)."""
    a, b = np.asarray(hits, float), np.asarray(sizes, float)
    if not b.sum():
        raise ValueError("the items' denominators sum to 0, so the ratio has no standard error")
    return (a - a.sum() / b.sum() * b) * (len(a) / b.sum())


def paired_error(parts: np.ndarray) -> float:
    """The standard error of a ratio, or a difference of ratios, from its items' contributions (n,). As in
    Bonett and Price (2012), two items are added, one that raises and one that lowers the number, by the
    largest contribution."""
    n, heaviest = len(parts) + 2, float(np.abs(parts).max(initial=0.0)) or 1.0  # 1: an average item's
    return math.sqrt((float(parts @ parts) + 2 * heaviest**2) / n) / math.sqrt(n)


EXACT = 12  # maximum group size for enumerating all pairings
LEAST = 4  # minimum number of points for rho: with three, each order has a probability of 1/6
FEWEST = 8  # minimum number of points for a bootstrap interval; with five, it covers only 77 to 90 %


@dataclass(frozen=True)
class Correlation:
    """rho over `n` points, its two-sided permutation p-value (`exact`: from all pairings), and, for at least
    FEWEST points, a bootstrap interval and the bootstrap values `rhos`."""

    rho: float
    p: float
    n: int
    low: float | None
    high: float | None
    exact: bool
    rhos: np.ndarray = field(default_factory=lambda: np.empty(0), compare=False)

    def beyond(self, bound: float, side: int) -> float | None:
        """The one-sided bootstrap p-value, if any, for rho being above (`side` +1) or below (-1) `bound`."""
        if not len(self.rhos):
            return None
        return float((np.sum(side * (self.rhos - bound) <= 0) + 1) / (len(self.rhos) + 1))


def spearman(
    alignment: Sequence[float],
    delta: Sequence[float],
    seed: int = 0,
    draws: int = 9_999,
    groups: Sequence[Hashable] | None = None,
) -> Correlation | None:
    """Correlate alignment with -Delta (ALIGN-MLM, section 5, appendix E). p is the share of within-group
    pairings whose rho is at least as far from the pairings' mean as the observed one. Returns None for fewer
    than LEAST points, a constant variable, or only groups of one."""
    names = [""] * len(delta) if groups is None else map(str, groups)
    points = sorted(zip(alignment, delta, names, strict=True))  # so that their order has no effect
    x, y = np.array([a for a, _, _ in points], float), -np.array([d for _, d, _ in points], float)
    members: dict[str, list[int]] = {}
    for i, (_, _, name) in enumerate(points):
        members.setdefault(name, []).append(i)
    n, random, pools = len(points), np.random.default_rng(seed), list(members.values())
    if n < LEAST or np.ptp(x) == 0 or np.ptp(y) == 0 or len(members) == n:
        return None
    exact = max(map(len, pools)) <= EXACT
    a, b = stats.rankdata(x), stats.rankdata(y)
    middle = total(a[group].sum() * b[group].sum() / len(group) for group in pools)
    p = _exact_p(a, b, pools, middle) if exact else _random_p(a, b, pools, middle, random, draws)
    rhos = _bootstrap(x, y, random, draws) if n >= FEWEST else np.empty(0)
    low, high = np.quantile(rhos, [1 - UPPER, UPPER]).tolist() if len(rhos) else (None, None)
    return Correlation(float(_rho(a[None], b[None])[0]), p, n, low, high, exact, rhos)


def _rho(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
    return (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))


def _exact_p(x: np.ndarray, y: np.ndarray, groups: Sequence[list[int]], middle: float) -> float:
    """Return the p-value over all pairings within groups, given ranks and their mean sum of products."""
    a, b, shares = (2 * x).astype(int), (2 * y).astype(int), np.ones(1)  # ranks may be half numbers
    for group in groups:
        shares = np.convolve(shares, _products(a[group].tolist(), b[group].tolist()))
    distance = np.abs(np.arange(len(shares)) - 4 * middle)
    return float(min(1.0, shares[distance >= abs(int(a @ b) - 4 * middle) - 1e-6].sum()))


def _products(a: list[int], b: list[int]) -> np.ndarray:
    """Return the share of pairings of `a` and `b` for each sum of products, from 0 to the largest."""
    n, largest = len(a), int(np.sort(a) @ np.sort(b))
    ways = {0: np.eye(1, largest + 1, dtype=np.int64)[0]}
    for rank in a:
        longer: dict[int, np.ndarray] = {}
        for used, counts in ways.items():
            for j in range(n):
                if not used >> j & 1:
                    product = rank * b[j]
                    after = longer.setdefault(used | 1 << j, np.zeros(largest + 1, np.int64))
                    after[product:] += counts[: len(counts) - product]
        ways = longer
    counts = ways[2**n - 1]
    return np.asarray(counts / counts.sum())


def _random_p(
    x: np.ndarray, y: np.ndarray, groups: Sequence[list[int]], middle: float, random: Generator, draws: int
) -> float:
    """Return the p-value over random pairings within groups, given ranks and their mean sum of products."""
    permuted = np.tile(y, (draws, 1))
    for group in groups:
        permuted[:, group] = random.permuted(permuted[:, group], axis=1)
    as_far = int((np.abs(permuted @ x - middle) >= abs(x @ y - middle) - 1e-6).sum())
    return (as_far + 1) / (draws + 1)


def _bootstrap(x: np.ndarray, y: np.ndarray, random: Generator, draws: int) -> np.ndarray:
    picks = np.empty((0, len(x)), int)
    while len(picks) < draws:
        draw = random.integers(len(x), size=(draws, len(x)))
        picks = np.concatenate([picks, draw[(np.ptp(x[draw], axis=1) > 0) & (np.ptp(y[draw], axis=1) > 0)]])
    return _rho(*(stats.rankdata(values[picks[:draws]], axis=1) for values in (x, y)))


def points(estimate: Estimate) -> str:
    """Format a share in points, with its interval and a note on the interval's coverage."""
    mean, several = f"{100 * estimate.mean:.1f} points", estimate.seeds > 1
    seeds = f"{estimate.seeds} seeds" if several else "one seed"
    if estimate.interval is None:
        return f"{mean}, {seeds}" + " that do not differ" * several
    covers = ": the interval covers test items only" * (estimate.over == "items")
    low, high = estimate.interval
    return f"{mean}, 95 % interval [{100 * low:.1f}, {100 * high:.1f}], {seeds}{covers}"


def holm(ps: Sequence[float]) -> list[float]:
    """Adjust p-values for multiple comparisons (Holm 1979)."""
    return [p for p, _ in holm_intervals(ps)]


def holm_intervals(ps: Sequence[float]) -> list[tuple[float, float]]:
    """Each adjusted p-value (Holm 1979), and the level whose interval excludes the null if p < 5 %."""
    adjusted, largest = [(0.0, 0.0)] * len(ps), 0.0
    for rank, i in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        number = len(ps) - rank
        largest = max(largest, number * ps[i])
        level = (1 - CONFIDENCE) * (ps[i] / largest if largest else 1 / number)
        adjusted[i] = min(1.0, largest), 1 - level
    return adjusted

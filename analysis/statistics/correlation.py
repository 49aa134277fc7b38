"""Compute Spearman's rho between alignment and -Delta: it is positive if better alignment goes with better
transfer."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from calque.analysis.statistics.intervals import UPPER
from calque.derive.lazy import stats

EXACT = 12  # maximum group size for enumerating all pairings
LEAST = 4  # minimum number of points for rho: with three, each order has a probability of 1/6
FEWEST = 8  # minimum number of points for a bootstrap interval; with five, it covers only 77 to 90 %


@dataclass(frozen=True)
class Correlation:
    """rho over `n` points, its two-sided permutation p-value (from all pairings if `exact`), and, for at
    least `FEWEST` points, a bootstrap interval and the bootstrap's values `rhos`."""

    rho: float
    p: float
    n: int
    low: float | None
    high: float | None
    exact: bool
    rhos: np.ndarray = field(default_factory=lambda: np.empty(0), compare=False)

    def beyond(self, bound: float, side: int) -> float | None:
        """Return the one-sided bootstrap p-value of the claim that rho is above (`side` +1) or below (-1)
        `bound`; None without a bootstrap."""
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
    """Correlate alignment with -Delta (ALIGN-MLM, section 5, appendix E). p is the share of all within-group
    pairings whose rho is at least as far from the pairings' mean as the observed rho is. Returns None for
    fewer than `LEAST` points, a constant variable, or groups of one point."""
    names = [""] * len(delta) if groups is None else list(map(str, groups))
    points = sorted(zip(alignment, delta, names, strict=True))  # results should not depend on the order
    n, names = len(points), [name for _, _, name in points]
    x, y = np.array([a for a, _, _ in points], float), -np.array([d for _, d, _ in points], float)
    if n < LEAST or np.ptp(x) == 0 or np.ptp(y) == 0 or len(set(names)) == n:
        return None
    random = np.random.default_rng(seed)
    rho = float(_rho(x[None], y[None])[0])
    members = [np.array([i for i in range(n) if names[i] == name]) for name in dict.fromkeys(names)]
    exact = max(map(len, members)) <= EXACT
    a, b = stats.rankdata(x), stats.rankdata(y)
    p = _exact_p(a, b, members) if exact else _random_p(a, b, members, random, draws)
    rhos = _bootstrap(x, y, random, draws) if n >= FEWEST else np.empty(0)
    low, high = np.quantile(rhos, [1 - UPPER, UPPER]).tolist() if len(rhos) else (None, None)
    return Correlation(rho, p, n, low, high, exact, rhos)


def _rho(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    a, b = stats.rankdata(x, axis=1), stats.rankdata(y, axis=1)
    a, b = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
    return (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))


def _exact_p(x: np.ndarray, y: np.ndarray, members: Sequence[np.ndarray]) -> float:
    a, b = (2 * x).astype(int), (2 * y).astype(int)
    shares, middle = np.ones(1), 0.0
    for group in members:
        shares = np.convolve(shares, _products(a[group].tolist(), b[group].tolist()))
        middle += a[group].sum() * b[group].sum() / len(group)
    distance = np.abs(np.arange(len(shares)) - middle)
    return float(min(1.0, shares[distance >= abs(int(a @ b) - middle) - 1e-6].sum()))


def _products(a: list[int], b: list[int]) -> np.ndarray:
    n, most = len(a), int(np.sort(a) @ np.sort(b))
    ways = {0: np.eye(1, most + 1, dtype=np.int64)[0]}
    for rank in a:
        longer: dict[int, np.ndarray] = {}
        for taken, counts in ways.items():
            for j in range(n):
                if not taken >> j & 1:
                    product = rank * b[j]
                    after = longer.setdefault(taken | 1 << j, np.zeros(most + 1, np.int64))
                    after[product:] += counts[: len(counts) - product]
        ways = longer
    counts = ways[2**n - 1]
    return np.asarray(counts / counts.sum())


def _random_p(
    x: np.ndarray, y: np.ndarray, members: Sequence[np.ndarray], random: np.random.Generator, draws: int
) -> float:
    others, middle = np.tile(y, (draws, 1)), 0.0
    for group in members:
        others[:, group] = random.permuted(others[:, group], axis=1)
        middle += x[group].sum() * y[group].sum() / len(group)
    as_far = int((np.abs(others @ x - middle) >= abs(x @ y - middle) - 1e-6).sum())
    return (as_far + 1) / (draws + 1)


def _bootstrap(x: np.ndarray, y: np.ndarray, random: np.random.Generator, draws: int) -> np.ndarray:
    picks = np.empty((0, len(x)), int)
    while len(picks) < draws:
        more = random.integers(len(x), size=(draws, len(x)))
        picks = np.concatenate([picks, more[(np.ptp(x[more], axis=1) > 0) & (np.ptp(y[more], axis=1) > 0)]])
    return _rho(x[picks[:draws]], y[picks[:draws]])

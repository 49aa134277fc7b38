"""Spearman's rho between alignment and -Delta, so that a positive one says: better aligned, better transfer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

SIGN = "between alignment and −Δ: positive when better alignment goes with better transfer"
EXACT = 12
"""Up to so many points every pairing is counted: four objectives under three transforms."""


@dataclass(frozen=True)
class Correlation:
    """rho over `n` points, its two-sided permutation p, and a bootstrap interval (None below 5 points)."""

    rho: float
    p: float
    n: int
    low: float | None
    high: float | None
    exact: bool


def spearman(
    alignment: Sequence[float], delta: Sequence[float], seed: int = 0, draws: int = 9_999, confidence: float = 0.95
) -> Correlation | None:
    """Correlate alignment with -Delta (ALIGN-MLM, section 5, appendix E); None where rho is not defined.

    It is not below 3 points, or when one of the two is the same everywhere. Ties share their mean rank. p is the
    share of pairings at least as far from 0: of all pairings up to `EXACT` points, else of `draws` random ones and
    the one observed. The interval is the percentile bootstrap's over points; draws without a rho are drawn again.

    Raises:
        ValueError: the two differ in length.
    """
    if len(alignment) != len(delta):
        raise ValueError(f"{len(alignment)} alignments and {len(delta)} Deltas")
    x, y = np.asarray(alignment, float), -np.asarray(delta, float)
    n = len(x)
    if n < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    random = np.random.default_rng(seed)
    rho = float(_rho(x[None], y[None])[0])
    exact = n <= EXACT
    p = _exact_p(rankdata(x), rankdata(y)) if exact else _random_p(x, rankdata(y), rho, random, draws)
    low, high = _bootstrap(x, y, random, draws, confidence) if n >= 5 else (None, None)
    return Correlation(rho, p, n, low, high, exact)


def within(
    points: Mapping[str, tuple[Sequence[float], Sequence[float]]], seed: int = 0
) -> dict[str, Correlation | None]:
    """`spearman` for each group of (alignment, Delta), as for each transform."""
    return {name: spearman(alignment, delta, seed) for name, (alignment, delta) in points.items()}


def _rho(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's correlation of ranks, row by row: (rows, n) or (1, n) each, to (rows,)."""
    a, b = rankdata(x, axis=1), rankdata(y, axis=1)
    a, b = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
    return (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))


def _exact_p(x: np.ndarray, y: np.ndarray) -> float:
    """The share of the n! pairings of two (n,) columns of ranks whose rho is as far from 0, ties and all.

    rho grows with the sum of products of ranks; how many pairings give each sum is counted over subsets of y,
    one more rank of x at a time. Ranks are doubled, so that those of ties are whole too.
    """
    a, b = (2 * x).astype(int).tolist(), (2 * y).astype(int).tolist()
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
    distance = np.abs(n * np.arange(most + 1) - sum(a) * sum(b))
    observed = abs(n * int(np.dot(a, b)) - sum(a) * sum(b))
    return float(counts[distance >= observed].sum() / counts.sum())


def _random_p(x: np.ndarray, y: np.ndarray, rho: float, random: np.random.Generator, draws: int) -> float:
    others = random.permuted(np.tile(y, (draws, 1)), axis=1)
    as_far = int((np.abs(_rho(x[None], others)) >= abs(rho) - 1e-12).sum())
    return (as_far + 1) / (draws + 1)


def _bootstrap(
    x: np.ndarray, y: np.ndarray, random: np.random.Generator, draws: int, confidence: float
) -> tuple[float, float]:
    picks = np.empty((0, len(x)), int)
    while len(picks) < draws:
        more = random.integers(len(x), size=(draws, len(x)))
        picks = np.concatenate([picks, more[(np.ptp(x[more], axis=1) > 0) & (np.ptp(y[more], axis=1) > 0)]])
    rhos = _rho(x[picks[:draws]], y[picks[:draws]])
    low, high = np.quantile(rhos, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)

"""fast_align's prior: links near the diagonal are more probable.

Of n source words, target word j of m is linked to word i with a probability in proportion to exp(tension * h), where
h(i, j, m, n) = -|i / n - j / m| and places count from 1 (Dyer, Chahuneau and Smith 2013, sections 2 and 3). h falls by
1 / n a step on both sides of the diagonal, so its sums over i are two geometric series each.

All arguments are arrays that broadcast, or scalars.
"""

from __future__ import annotations

import numpy as np

TENSION = 4.0
"""What the optimisation starts from."""
_LOWEST, _HIGHEST = 0.1, 14.0
_STEPS, _RATE = 8, 20.0


def nearness(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """h of the relative places i / n and j / m."""
    return -np.abs(source - target)


def partition(j: np.ndarray, m: np.ndarray, n: np.ndarray, tension: float) -> np.ndarray:
    """Z: the sum over i of exp(tension * h)."""
    return _sums(j, m, n, tension)[0]


def slope(j: np.ndarray, m: np.ndarray, n: np.ndarray, tension: float) -> np.ndarray:
    """The derivative of log Z with respect to the tension, as the published tool computes it.

    Its divisor is Z with the two lengths exchanged. That is no derivative of anything unless m = n, but the published
    links depend on it.
    """
    return _sums(j, m, n, tension)[1] / partition(j, n, m, tension)


def optimise(tension: float, mean: float, m: np.ndarray, n: np.ndarray, pairs: np.ndarray) -> float:
    """The tension after a few steps up the likelihood, after which the model expects more nearly what was seen.

    Args:
        mean: h of the links that the corpus is expected to have, over its target words.
        m, n: (S,) the distinct pairs of lengths.
        pairs: (S,) how many sentence pairs have them.
    """
    shape = np.repeat(np.arange(len(m)), m)
    j, weight = places(m) + 1, pairs[shape] / np.sum(m * pairs)
    for _ in range(_STEPS):
        expected = float(np.sum(weight * slope(j, m[shape], n[shape], tension)))
        tension = min(max(tension + _RATE * (mean - expected), _LOWEST), _HIGHEST)
    return tension


def places(lengths: np.ndarray) -> np.ndarray:
    """0, 1, ... within each of many stretches laid end to end."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)


def _sums(j: np.ndarray, m: np.ndarray, n: np.ndarray, tension: float) -> tuple[np.ndarray, np.ndarray]:
    """The sums over i of exp(tension * h) and of h * exp(tension * h)."""
    below = np.floor(j * n / m)  # the last place that is not past the diagonal
    step, ratio = 1.0 / n, np.exp(-tension / n)
    z, hz = np.zeros(below.shape), np.zeros(below.shape)
    for first, count in ((below, below), (below + 1, n - below)):
        # With lengths exchanged j may lie past the end. The published tool then counts what is left without a sign:
        # four thousand million places, so the series never ends.
        count = np.where(count < 0, count + 2.0**32, count)
        h = nearness(first / n, j / m)
        height, rest, gap = np.exp(tension * h), ratio**count, 1.0 - ratio
        series = height * (1.0 - rest) / gap
        z += series
        hz += h * series - step * (series * ratio - height * count * rest) / gap
    return z, hz

"""Welch's test: whether two samples have the same mean, whatever their variances."""

import math
from collections.abc import Sequence

import numpy as np
from scipy import special


def welch(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Two-sided p of Welch's (1947) t-test. Where one sample is a single value, the other's variance is taken for both.
    None where neither sample varies: their difference cannot be judged."""
    samples = [(len(x), float(np.mean(x)), float(np.var(x, ddof=1)) if len(x) > 1 else 0.0) for x in (ours, theirs)]
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

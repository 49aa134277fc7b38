"""Intervals as a figure draws them: in percent, and no further than numbers of their kind can go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.statistics.intervals import Estimate

SHARE, DIFFERENCE = (0.0, 1.0), (-1.0, 1.0)
"""The bounds of a share, and of a difference of two."""


def whiskers(estimates: Sequence[Estimate], bounds: tuple[float, float] = SHARE) -> np.ndarray | None:
    """How far the intervals reach below and above their means, in points: (2, n), as Matplotlib takes them.

    An interval is cut at `bounds`; one that is not there is NaN. None where there is none at all.
    """
    if all(one.low is None for one in estimates):
        return None
    below = [np.nan if one.low is None else one.mean - max(one.low, bounds[0]) for one in estimates]
    above = [np.nan if one.high is None else min(one.high, bounds[1]) - one.mean for one in estimates]
    return 100 * np.maximum(np.array([below, above]), 0.0)

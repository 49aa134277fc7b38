"""Error bars of figures: in percent, within the range of the measure."""

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
    if all(estimate.low is None for estimate in estimates):
        return None
    below = [np.nan if estimate.low is None else estimate.mean - max(estimate.low, bounds[0]) for estimate in estimates]
    above = [
        np.nan if estimate.high is None else min(estimate.high, bounds[1]) - estimate.mean for estimate in estimates
    ]
    return 100 * np.maximum(np.array([below, above]), 0.0)

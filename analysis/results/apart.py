"""Two objectives held against each other: the one place that says whether they differ."""

from __future__ import annotations

from analysis.results.measured import BySeed, difference
from analysis.statistics.intervals import Estimate
from analysis.statistics.verdicts import Comparison, Verdict, judge, points


def apart(first: BySeed, second: BySeed, side: int, bound: float = 0.0) -> Verdict:
    """Whether one number exceeds another by more than `bound` (`side` +1), or falls below it so (-1), by seeds."""
    return beyond(difference(first, second), side, bound)


def beyond(gap: Estimate | None, side: int, bound: float = 0.0) -> Verdict:
    """Whether a difference lies above (`side` +1) or below (-1) `bound`; None: there are no records of it."""
    return judge([Comparison(gap, bound, side)] if gap else [], points(gap) if gap else "")

"""Represent a run's number with its error, and compute means, differences and verdicts over seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from calque.analysis.records.record import ALIGNMENT, LIMITS, SHARE, Record
from calque.analysis.statistics.intervals import (
    Estimate,
    estimate,
    item_error,
    over_items,
    paired_error,
    per_item,
)
from calque.analysis.statistics.verdicts import Verdict, judge, points

SCORES = ("SUP", "ZS", "SRC", "DEV")
WEIGHTED = "frequency-weighted"  # a weighted mean, whose error does not follow from the number of types
Test = tuple[str, str, str]  # a test set: its task, its language, and its split or gold set


@dataclass(frozen=True)
class Measured:
    """A run's number, its bounds, and its standard error over test items, if known. `parts` (n,) are the
    contributions of the items in `test`."""

    value: float
    error: float | None
    parts: np.ndarray | None = field(default=None, compare=False)
    low: float = 0.0
    high: float = 1.0
    test: Test | None = None

    @classmethod
    @lru_cache(maxsize=1 << 14)
    def of(cls, record: Record) -> Measured:
        if record.items is not None:
            test = (record.task, record.language, record.split or record.gold_set)
            return over_parts(record.value, per_item(*record.items.numbers), test)
        low, high = LIMITS.get(record.measure, SHARE)
        drawn = record.measure in SCORES or (record.measure == ALIGNMENT and record.metric != WEIGHTED)
        error = item_error(record.value, record.count) if drawn else None
        return cls(record.value, error, low=low, high=high)

    def __sub__(self, other: Measured) -> Measured:
        """The difference, paired by item if both have the same test items."""
        value, low, high = self.value - other.value, self.low - other.high, self.high - other.low
        ours, theirs = self.parts, other.parts
        same = self.test is not None and self.test == other.test
        if same and ours is not None and theirs is not None and len(ours) == len(theirs):
            return over_parts(value, ours - theirs, self.test, low, high)
        if self.error is None or other.error is None:
            return Measured(value, None, None, low, high)
        return Measured(value, float(np.hypot(self.error, other.error)), None, low, high)


def over_parts(
    value: float, parts: np.ndarray, test: Test | None, low: float = 0.0, high: float = 1.0
) -> Measured:
    """Return a value with its standard error over `parts` of the test set."""
    return Measured(value, paired_error(parts), parts, low, high, test)


BySeed = Mapping[int, Measured]


def mean(values: BySeed) -> Estimate | None:
    """The mean over seeds, or None; for a single seed, its interval is over test items."""
    if not values:
        return None
    first, *others = (score for _, score in sorted(values.items()))
    bounds = first.low, first.high
    if not others:
        return over_items(first.value, first.error, bounds)
    return estimate([score.value for score in (first, *others)], bounds)


def means(values: Iterable[tuple[float, BySeed]]) -> list[tuple[float, Estimate]]:
    """The mean over seeds at each position (such as a step) with numbers."""
    return [(place, estimate) for place, by_seed in values if (estimate := mean(by_seed))]


def difference(ours: BySeed, theirs: BySeed) -> Estimate | None:
    """The mean of ours - theirs over common seeds, or None; for a single seed, its interval is over items."""
    return mean(differences(ours, theirs))


def differences(ours: BySeed, theirs: BySeed) -> BySeed:
    """Ours - theirs for each common seed."""
    return {seed: ours[seed] - theirs[seed] for seed in sorted(ours.keys() & theirs.keys())}


def average(values: Sequence[BySeed]) -> BySeed:
    """Average several measures for each seed that has all; the contributions of a shared test set's items are
    averaged too."""
    seeds = [seed for seed in (values[0] if values else ()) if all(seed in by_seed for by_seed in values)]
    return {seed: _average([by_seed[seed] for by_seed in values]) for seed in seeds}


def gap(ours: Sequence[BySeed], theirs: Sequence[BySeed]) -> Estimate | None:
    """The mean of ours - theirs over pairs of numbers and over seeds."""
    return mean(average([differences(*pair) for pair in zip(ours, theirs, strict=True)]))


def _average(values: Sequence[Measured]) -> Measured:
    columns = zip(*((m.value, m.low, m.high) for m in values), strict=True)
    value, low, high = (float(np.mean(column)) for column in columns)
    own = [m.error for m in values if m.error is not None]
    if len(own) < len(values):
        return Measured(value, None, None, low, high)
    groups: dict[tuple[str, str, int], list[tuple[str, np.ndarray]]] = {}
    errors: list[float] = []
    for m, error in zip(values, own, strict=True):
        if m.parts is None or m.test is None:
            errors.append(error / len(values))
        else:
            task, language, part = m.test
            groups.setdefault((task, part, len(m.parts)), []).append((language, m.parts))
    for (task, part, _), group in groups.items():
        parts = np.sum([parts for _, parts in group], axis=0) / len(values)
        if len(group) == len(values):
            test = (task, "+".join(dict.fromkeys(language for language, _ in group)), part)
            return over_parts(value, parts, test, low, high)
        errors.append(paired_error(parts))
    return Measured(value, float(np.hypot.reduce(errors)), None, low, high)


def judge_difference(ours: BySeed, theirs: BySeed, *, side: int = 1, bound: float = 0.0) -> Verdict:
    """Judge whether ours - theirs is above (`side` +1) or below (-1) `bound`."""
    return judge_estimate(difference(ours, theirs), side, bound)


def judge_estimate(estimate: Estimate | None, side: int = 1, bound: float = 0.0) -> Verdict:
    """Judge whether an estimate is above (`side` +1) or below (-1) `bound`."""
    return judge([(estimate, bound, side)], points(estimate)) if estimate else judge([], "")

"""One run's number with what is known of its error, and means and differences of such numbers over seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from analysis.records.record import ALIGNMENT, HELD_OUT, READ, Record
from analysis.statistics.intervals import Estimate, estimate, item_error, over_items, paired_error, per_item

SCORES = ("SUP", "ZS", "SRC", "DEV")
UNBOUNDED = (HELD_OUT, READ)
"""Measures that are no shares."""
WEIGHTED = "frequency-weighted"
"""A mean with weights: the number of types says nothing of its error."""


Test = tuple[str, str, str]
"""A test set of a study: its task, its language, and its split or gold set."""


@dataclass(frozen=True)
class Measured:
    """One run's number.

    `error` is its standard error from the draw of the test items, None where the number is no share of items that are
    drawn (a weighted mean, a mean over steps). `parts` are what each item adds to it, (n,), where that was kept, and
    `test` names the test set that these are the items of: its task, language and split, or the gold set. A study has
    one test set of each, so two numbers of a study with the same `test` and as many items are of the same items. `low`
    and `high` are the least and the greatest that it can be.
    """

    value: float
    error: float | None
    parts: np.ndarray | None = field(default=None, compare=False, repr=False)
    low: float = 0.0
    high: float = 1.0
    test: Test | None = None

    @classmethod
    @lru_cache(maxsize=1 << 14)
    def of(cls, record: Record) -> Measured:
        """A record's number; remembered, since tables and claims ask for the same ones again and again."""
        if record.items is not None:
            parts = per_item(*record.items.numbers)
            test = (record.task, record.language, record.split or record.gold_set)
            return over_parts(record.value, parts, test)
        if record.measure in UNBOUNDED:
            return cls(record.value, None, high=math.inf)
        drawn = record.measure in SCORES or (record.measure == ALIGNMENT and record.metric != WEIGHTED)
        return cls(record.value, item_error(record.value, record.count) if drawn else None)

    def __sub__(self, other: Measured) -> Measured:
        """Their difference, both being of one study: by pairs of items if these are the same, else as of two draws."""
        value, low, high = self.value - other.value, self.low - other.high, self.high - other.low
        ours, theirs = self.parts, other.parts
        same = self.test is not None and self.test == other.test
        if same and ours is not None and theirs is not None and len(ours) == len(theirs):
            return over_parts(value, ours - theirs, self.test, low, high)
        if self.error is None or other.error is None:
            return Measured(value, None, None, low, high)
        return Measured(value, float(np.hypot(self.error, other.error)), None, low, high)


def over_parts(value: float, parts: np.ndarray, test: Test | None, low: float = 0.0, high: float = 1.0) -> Measured:
    """A number, with its standard error from what each item of a test set adds to it."""
    return Measured(value, paired_error(parts), parts, low, high, test)


BySeed = Mapping[int, Measured]


def mean(values: BySeed) -> Estimate | None:
    """Mean over seeds; with one seed an interval over items, with none nothing."""
    measured = [score for _, score in sorted(values.items())]
    if not measured:
        return None
    bounds = (measured[0].low, measured[0].high)
    if len(measured) == 1:
        return over_items(measured[0].value, measured[0].error, bounds)
    return estimate([score.value for score in measured], bounds)


def difference(ours: BySeed, theirs: BySeed) -> Estimate | None:
    """Mean of ours - theirs over common seeds; with one such seed an interval over items, with none nothing."""
    return mean({seed: ours[seed] - theirs[seed] for seed in ours.keys() & theirs.keys()})

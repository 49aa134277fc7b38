"""Rows divided among parts, step by step, so that no part is ever a whole row from its exact share.

Shapes: K parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

UNIT = 10**9
"""Shares are whole multiples of one in so many: decimal ones of nine places are exact, and sums never drift."""
NEVER = np.iinfo(np.int64).max


def in_units(shares: Sequence[float]) -> np.ndarray:
    """Shares of any sum, none negative and one above 0, as whole units that sum to `UNIT`, (K,) int64.

    What rounding down leaves goes to the largest remainders.
    """
    exact = np.asarray(shares, float) / np.sum(shares, dtype=float) * UNIT
    units = np.floor(exact + 1e-6).astype(np.int64)  # 0.29 of the unit is not one less than it
    lacking = UNIT - int(units.sum())
    largest = np.argsort(units - exact, kind="stable")[: max(0, lacking)]
    units[largest] += 1
    units[int(units.argmax())] += UNIT - int(units.sum())  # a surplus of rounding, of a few units at most
    return units


@dataclass(frozen=True)
class Stretch:
    """Units of each part, (K,) int64, from step `first` on."""

    first: int
    units: np.ndarray


class Apportionment:
    """How many of `rows` rows a step are each part's: a function of the step alone.

    After every step each part has had its exact share of all rows so far, rounded up or down. Of the rows that no
    rounding down takes, those that are due soonest come first (earliest deadline first: it finds such a division
    whenever there is one, and there always is one, also where shares change; Tijdeman 1980, the chairman assignment
    problem). So large corpora and small ones are spread evenly over training.

    `stretches` are in order; the first begins at step 0, and the last has no end. Rows times steps stay below 9e9.
    """

    def __init__(self, stretches: Sequence[Stretch], rows: int) -> None:
        self.rows = rows
        self._firsts = [stretch.first for stretch in stretches]
        self._units = np.stack([stretch.units for stretch in stretches])
        lengths = np.diff(self._firsts)
        self._before = np.zeros_like(self._units)  # units that parts have had when a stretch begins
        self._before[1:] = np.cumsum(rows * lengths[:, None] * self._units[:-1], axis=0)
        self._steps, self._had = 0, np.zeros(self._units.shape[1], np.int64)

    def upto(self, steps: int) -> np.ndarray:
        """Rows of each part in the first `steps` steps, (K,) int64."""
        if steps < self._steps:
            self._steps, self._had = 0, np.zeros_like(self._had)
        while self._steps < steps:
            self._steps += 1
            self._had = self._next(self._steps, self._had)
        return self._had.copy()

    def exact(self, steps: int) -> np.ndarray:
        """The exact share of each part in the rows of the first `steps` steps, (K,) int64, in units."""
        stretch = int(np.searchsorted(self._firsts, steps, side="right")) - 1
        shown: np.ndarray = self._before[stretch] + self.rows * (steps - self._firsts[stretch]) * self._units[stretch]
        return shown

    def _next(self, steps: int, had: np.ndarray) -> np.ndarray:
        exact = self.exact(steps)
        least = np.maximum(exact // UNIT, had)
        left = self.rows * steps - int(least.sum())
        if left:
            free = np.flatnonzero(least * UNIT < exact)  # not yet rounded up
            due = self._due((least + 1) * UNIT)[free]
            least[free[np.argsort(due, kind="stable")[:left]]] += 1
        return least

    def _due(self, units: np.ndarray) -> np.ndarray:
        """The steps after which the exact shares have come to so many units, (K,)."""
        due = np.full_like(units, NEVER)
        for stretch in range(len(self._firsts) - 1, -1, -1):
            first, a_step = self._firsts[stretch], self.rows * self._units[stretch]
            steps = first - (self._before[stretch] - units) // np.maximum(a_step, 1)  # rounded up
            last = self._firsts[stretch + 1] if stretch + 1 < len(self._firsts) else NEVER
            due = np.where((a_step > 0) & (steps <= last), steps, due)
        return due

"""The order of instances: a pure function of seed and step, independent of the number of processes.

Shapes: K parts, S stretches of steps with the same shares.
"""

from collections.abc import Mapping, Sequence

import numpy as np

Part = tuple[str, ...]  # the language, or pair of languages, of instances
UNIT = 10**9  # shares are whole multiples of 1 / UNIT, so that shares of nine decimals are exact and sums do not drift
NEVER = np.iinfo(np.int64).max


class Shuffled:
    """An endless shuffled order of `size` instances, a new one each epoch, readable from anywhere."""

    def __init__(self, size: int, *seed: int) -> None:
        self.size, self.seed = size, seed
        self._epoch, self._order = -1, np.empty(0, np.int64)

    def take(self, start: int, count: int) -> np.ndarray:
        """Instances `start` to `start + count` of the endless order."""
        pieces = []
        while count:
            epoch, offset = divmod(start, self.size)
            if epoch != self._epoch:
                self._epoch = epoch
                self._order = np.random.default_rng([*self.seed, epoch]).permutation(self.size)
            piece = self._order[offset : offset + count]
            pieces.append(piece)
            start, count = start + len(piece), count - len(piece)
        return np.concatenate(pieces) if pieces else np.empty(0, np.int64)


class Together:
    """All `size` instances in one shuffled order, a new one each epoch, so the shares of parts follow their sizes."""

    def __init__(self, parts: Mapping[Part, int], instances: int, *seed: int) -> None:
        self.parts, self.size = parts, instances
        self._order = Shuffled(instances, *seed)

    def at(self, step: int, rows: int) -> np.ndarray:
        """The instances of a step of `rows`; steps count from 0."""
        return self._order.take(step * rows, rows)

    def shown(self, steps: int, rows: int) -> dict[Part, tuple[int, int]]:
        """For each part, the number of rows in the first `steps` steps, and the number of different rows."""
        if not self.parts:
            return {}
        sizes = list(self.parts.values())
        epochs, rest = divmod(steps * rows, self.size)
        last = self._order.take(epochs * self.size, rest)
        partial = np.bincount(np.searchsorted(np.cumsum(sizes), last, side="right"), minlength=len(sizes))
        counts = zip(self.parts, sizes, partial.tolist(), strict=True)
        return {part: (epochs * size + count, size) for part, size, count in counts}


class Mixed:
    """Each part in its own shuffled order, with its share of each step's rows. `allowed` are the readable instances of
    each part, numbered over all parts; `firsts` and `units` are as in `Apportionment`. Methods are as in `Together`."""

    def __init__(
        self, allowed: Mapping[Part, np.ndarray], firsts: Sequence[int], units: np.ndarray, *seed: int
    ) -> None:
        self.allowed, self.firsts, self.units = allowed, firsts, units
        self.size = sum(map(len, allowed.values()))
        self._orders = [Shuffled(len(instances), *seed, number) for number, instances in enumerate(allowed.values())]
        self._apportionments: dict[int, Apportionment] = {}

    def at(self, step: int, rows: int) -> np.ndarray:
        before, after = self._upto(step, rows), self._upto(step + 1, rows)
        parts = zip(self.allowed.values(), self._orders, before.tolist(), (after - before).tolist(), strict=True)
        return np.concatenate([instances[order.take(start, count)] for instances, order, start, count in parts])

    def shown(self, steps: int, rows: int) -> dict[Part, tuple[int, int]]:
        counts = zip(self.allowed.items(), self._upto(steps, rows).tolist(), strict=True)
        return {part: (count, len(instances)) for (part, instances), count in counts}

    def _upto(self, steps: int, rows: int) -> np.ndarray:
        if rows not in self._apportionments:
            self._apportionments[rows] = Apportionment(self.firsts, self.units, rows)
        return self._apportionments[rows].upto(steps)


Order = Together | Mixed


def in_units(shares: Sequence[float]) -> np.ndarray:
    """Non-negative shares of any positive sum as whole units that sum to `UNIT`, (K,) int64, by largest remainders."""
    exact = np.asarray(shares, float) / np.sum(shares, dtype=float) * UNIT
    units = np.floor(exact + 1e-6).astype(np.int64)  # corrects floating-point errors, as in 0.29 * UNIT
    lacking = UNIT - int(units.sum())
    largest = np.argsort(units - exact, kind="stable")[: max(0, lacking)]
    units[largest] += 1
    units[int(units.argmax())] += UNIT - int(units.sum())  # a surplus of a few units by rounding
    return units


class Apportionment:
    """The number of each part's rows in a step of `rows`: a function of the step alone. After every step, each part has
    had its exact share of all rows so far, rounded up or down, so that all corpora are spread evenly over training.
    Rounding up by the earliest deadline finds such a division, which always exists (Tijdeman 1980, the chairman
    assignment problem). A step from `firsts[i]` on, until the next of the S stretches, has `units[i]` of each part,
    (S, K) int64; the first is step 0. Rows times steps must stay below 9e9."""

    def __init__(self, firsts: Sequence[int], units: np.ndarray, rows: int) -> None:
        self.rows, self._firsts, self._units = rows, firsts, units
        self._before = np.zeros_like(units)  # units of the parts before each stretch
        self._before[1:] = np.cumsum(rows * np.diff(firsts)[:, None] * units[:-1], axis=0)
        self._steps, self._had = 0, np.zeros(self._units.shape[1], np.int64)

    def upto(self, steps: int) -> np.ndarray:
        """Rows of each part in the first `steps` steps, (K,) int64."""
        if steps < self._steps:
            self._steps, self._had = 0, np.zeros_like(self._had)
        while self._steps < steps:
            self._steps += 1
            self._had = self._next(self._steps, self._had)
        return self._had.copy()

    def _next(self, steps: int, had: np.ndarray) -> np.ndarray:
        """The rows of each part in the first `steps` steps, given the rows `had` in one step fewer."""
        stretch = int(np.searchsorted(self._firsts, steps, side="right")) - 1
        exact = self._before[stretch] + self.rows * (steps - self._firsts[stretch]) * self._units[stretch]  # in units
        least = np.maximum(exact // UNIT, had)
        left = self.rows * steps - int(least.sum())
        if left:
            free = np.flatnonzero(least * UNIT < exact)  # not yet rounded up
            due = self._due((least + 1) * UNIT)[free]
            least[free[np.argsort(due, kind="stable")[:left]]] += 1
        return least

    def _due(self, units: np.ndarray) -> np.ndarray:
        """The steps after which the exact shares reach `units`, (K,)."""
        due = np.full_like(units, NEVER)
        for stretch in range(len(self._firsts) - 1, -1, -1):
            first, per_step = self._firsts[stretch], self.rows * self._units[stretch]
            steps = first - (self._before[stretch] - units) // np.maximum(per_step, 1)  # rounded up
            last = self._firsts[stretch + 1] if stretch + 1 < len(self._firsts) else NEVER
            due = np.where((per_step > 0) & (steps <= last), steps, due)
        return due


def share_rows(batch: int, instances: Sequence[int]) -> list[int]:
    """Divide `batch` rows among streams in proportion to their `instances`, with at least one for each that has any.
    The largest stream absorbs the rounding, so the sum is `batch` if there are enough rows for all."""
    total = sum(instances)
    rows = [max(1, round(batch * n / total)) if n else 0 for n in instances]
    largest = max(range(len(rows)), key=lambda i: instances[i])
    rows[largest] = max(1, rows[largest] + batch - sum(rows))
    return rows

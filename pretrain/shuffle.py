"""The order of instances, which depends only on the seed and the step, not on the number of processes."""

from collections.abc import Mapping, Sequence

import numpy as np

Part = tuple[str, ...]  # the language or language pair that instances belong to
UNIT = 10**9  # shares are multiples of 1 / UNIT, so that sums are exact


class Shuffled:
    """An infinite stream of indices below `size`, reshuffled every epoch and readable from any position."""

    def __init__(self, size: int, *seed: int) -> None:
        self.size, self.seed = size, seed
        self._epoch, self._order = -1, np.empty(0, np.int64)

    def take(self, start: int, count: int) -> np.ndarray:
        """Return `count` indices, starting at position `start`."""
        pieces = [np.empty(0, np.int64)]
        while count:
            epoch, offset = divmod(start, self.size)
            if epoch != self._epoch:
                self._epoch = epoch
                self._order = np.random.default_rng([*self.seed, epoch]).permutation(self.size)
            piece = self._order[offset : offset + count]
            pieces.append(piece)
            start, count = start + len(piece), count - len(piece)
        return np.concatenate(pieces)


class Together:
    """Reads all instances in one shuffled order, so that parts' shares are proportional to their sizes."""

    def __init__(self, parts: Mapping[Part, int], instances: int, *seed: int) -> None:
        self.parts, self.size = parts, instances
        self._order = Shuffled(instances, *seed)

    def at(self, step: int, rows: int) -> np.ndarray:
        """Return the `rows` instances for the 0-based `step`."""
        return self._order.take(step * rows, rows)

    def shown(self, steps: int, rows: int) -> dict[Part, int]:
        """Count the rows from each part in the first `steps` steps."""
        if not self.parts:
            return {}
        epochs, rest = divmod(steps * rows, self.size)
        sizes = np.array(list(self.parts.values()))
        last_epoch = self._order.take(epochs * self.size, rest)
        part_of_row = np.searchsorted(np.cumsum(sizes), last_epoch, side="right")
        counts = epochs * sizes + np.bincount(part_of_row, minlength=len(sizes))
        return dict(zip(self.parts, counts.tolist(), strict=True))


class Mixed:
    """Reads each part in its own shuffled order, with a fixed share of each step's rows."""

    def __init__(self, parts: Mapping[Part, int], shares: Sequence[float], *seed: int) -> None:
        self.parts, self.units = parts, in_units(shares)
        self.size = sum(parts.values())
        self._orders = [Shuffled(size, *seed, number) for number, size in enumerate(parts.values())]
        self._apportionments: dict[int, Apportionment] = {}

    def at(self, step: int, rows: int) -> np.ndarray:
        """As in `Together`."""
        before, after = self._upto(step, rows), self._upto(step + 1, rows)
        first, instances = 0, []
        for order, start, stop in zip(self._orders, before.tolist(), after.tolist(), strict=True):
            instances.append(first + order.take(start, stop - start))
            first += order.size
        return np.concatenate(instances)

    def shown(self, steps: int, rows: int) -> dict[Part, int]:
        """As in `Together`."""
        return dict(zip(self.parts, self._upto(steps, rows).tolist(), strict=True))

    def _upto(self, steps: int, rows: int) -> np.ndarray:
        if rows not in self._apportionments:
            self._apportionments[rows] = Apportionment(self.units, rows)
        return self._apportionments[rows].upto(steps)


Order = Together | Mixed


def in_units(shares: Sequence[float]) -> np.ndarray:
    """Convert non-negative shares to integers that sum to `UNIT`, (K,) int64, by the largest remainder
    method."""
    exact = np.asarray(shares, float) / np.sum(shares, dtype=float) * UNIT
    units = np.floor(exact + 1e-6).astype(np.int64)  # tolerates floating-point errors, as in 0.29 * UNIT
    lacking = UNIT - int(units.sum())
    largest = np.argsort(units - exact, kind="stable")[: max(0, lacking)]
    units[largest] += 1
    units[int(units.argmax())] += UNIT - int(units.sum())  # the largest share absorbs any surplus
    return units


class Apportionment:
    """Determines the number of rows from each part as a function of the step alone. After every step, each
    part has its exact share, `units` (K,), of all rows so far, rounded up or down. Such a division always
    exists, and rounding up the parts with the earliest deadlines finds it (Tijdeman 1980). Rows times steps
    must be below 9e9."""

    def __init__(self, units: np.ndarray, rows: int) -> None:
        self.units, self.rows = units, rows
        self._steps, self._had = 0, np.zeros_like(units)

    def upto(self, steps: int) -> np.ndarray:
        """Return the number of rows from each part in the first `steps` steps, (K,) int64."""
        if steps < self._steps:
            self._steps, self._had = 0, np.zeros_like(self.units)
        while self._steps < steps:
            self._steps += 1
            self._had = self._next(self._steps, self._had)
        return self._had.copy()

    def _next(self, steps: int, had: np.ndarray) -> np.ndarray:
        exact = self.rows * steps * self.units
        least = np.maximum(exact // UNIT, had)
        left = self.rows * steps - int(least.sum())
        if left:
            free = np.flatnonzero(least * UNIT < exact)  # not yet rounded up
            # The step at which a part's exact share reaches the next integer.
            deadline = -(-(least[free] + 1) * UNIT // (self.rows * self.units[free]))
            least[free[np.argsort(deadline, kind="stable")[:left]]] += 1
        return least


def share_rows(batch: int, instances: Sequence[int]) -> list[int]:
    """Divide `batch` rows among streams in proportion to their `instances`, with at least one row for every
    stream that has instances; the largest stream absorbs rounding errors."""
    total = sum(instances)
    rows = [max(1, round(batch * n / total)) if n else 0 for n in instances]
    largest = max(range(len(rows)), key=lambda i: instances[i])
    rows[largest] = max(1, rows[largest] + batch - sum(rows))
    return rows

"""The order in which instances are shown: a pure function of seed and step, whatever the number of processes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from pretrain.apportion import Apportionment, Stretch
from pretrain.data import Shuffled

Part = tuple[str, ...]
"""What instances are of: one language, or a pair of two."""


class Order(ABC):
    """An endless order of instances, in steps of equally many.

    `size` is how many different ones there are.
    """

    size: int

    @abstractmethod
    def at(self, step: int, rows: int) -> np.ndarray:
        """The instances of a step of `rows`, steps being counted from 0."""

    @abstractmethod
    def shown(self, steps: int, rows: int) -> dict[Part, tuple[int, int]]:
        """By part, how many rows the first `steps` steps have, and how many different ones there are."""


class Together(Order):
    """All instances in one shuffled order, a new one each epoch: parts have the shares that their sizes give them."""

    def __init__(self, parts: Mapping[Part, int], instances: int, *seed: int) -> None:
        self.parts, self.size = parts, instances
        self._order = Shuffled(instances, *seed)

    def at(self, step: int, rows: int) -> np.ndarray:
        return self._order.take(step * rows, rows)

    def shown(self, steps: int, rows: int) -> dict[Part, tuple[int, int]]:
        if not self.parts:
            return {}
        sizes = list(self.parts.values())
        epochs, rest = divmod(steps * rows, self.size)
        last = self._order.take(epochs * self.size, rest)
        begun = np.bincount(np.searchsorted(np.cumsum(sizes), last, side="right"), minlength=len(sizes))
        counts = zip(self.parts, sizes, begun.tolist(), strict=True)
        return {part: (epochs * size + count, size) for part, size, count in counts}


class Mixed(Order):
    """Each part in a shuffled order of its own, and of each step's rows its share.

    `allowed` are the instances of each part that may be shown, numbered over all parts; `stretches` say which units of
    a step each part has.
    """

    def __init__(self, allowed: Mapping[Part, np.ndarray], stretches: Sequence[Stretch], *seed: int) -> None:
        self.allowed, self.stretches = allowed, stretches
        self.size = sum(map(len, allowed.values()))
        self._orders = [Shuffled(len(instances), *seed, number) for number, instances in enumerate(allowed.values())]
        self._apportioned: dict[int, Apportionment] = {}

    def at(self, step: int, rows: int) -> np.ndarray:
        before, after = self._upto(step, rows), self._upto(step + 1, rows)
        starts, counts = before.tolist(), (after - before).tolist()
        parts = zip(self.allowed.values(), self._orders, starts, counts, strict=True)
        return np.concatenate([instances[order.take(start, count)] for instances, order, start, count in parts])

    def shown(self, steps: int, rows: int) -> dict[Part, tuple[int, int]]:
        counts = zip(self.allowed.items(), self._upto(steps, rows).tolist(), strict=True)
        return {part: (count, len(instances)) for (part, instances), count in counts}

    def _upto(self, steps: int, rows: int) -> np.ndarray:
        if rows not in self._apportioned:
            self._apportioned[rows] = Apportionment(self.stretches, rows)
        return self._apportioned[rows].upto(steps)


def share_rows(batch: int, instances: Sequence[int]) -> list[int]:
    """Divide `batch` rows among streams in proportion to their `instances`, at least one for each that has any.

    The largest stream absorbs the rounding, so the sum is `batch` whenever there are enough rows for all.
    """
    total = sum(instances)
    rows = [max(1, round(batch * n / total)) if n else 0 for n in instances]
    largest = max(range(len(rows)), key=lambda i: instances[i])
    rows[largest] = max(1, rows[largest] + batch - sum(rows))
    return rows

"""Arrays of variable-length items, such as the words of sentences or the sub-words of words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np


@dataclass(frozen=True, eq=False)
class Ragged:
    """N items in one array: item i is `values[ends[i] : ends[i + 1]]`; `ends` is (N + 1,) int64."""

    values: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, sizes: np.ndarray | Sequence[int]) -> Self:
        """Divide `values` into consecutive items of the given sizes."""
        return cls(values, ends_of(sizes))

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, item: int) -> np.ndarray:
        return self.values[self.ends[item] : self.ends[item + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        for start, end in pairwise(self.ends.tolist()):
            yield self.values[start:end]

    @property
    def sizes(self) -> np.ndarray:
        return np.diff(self.ends)

    @property
    def item(self) -> np.ndarray:
        """The index of each value's item."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def sizes_of(self, items: np.ndarray) -> np.ndarray:
        """Return the sizes of the given items."""
        return np.asarray(self.ends[items + 1] - self.ends[items])

    def places(self, items: np.ndarray) -> np.ndarray:
        """Return the indices of all values of the given items, in the given order."""
        return ranges(self.ends[items], self.sizes_of(items))

    def take(self, items: np.ndarray) -> Self:
        """Return the items at the given indices, in the given order."""
        return self.of(self.values[self.places(items)], self.sizes_of(items))

    def between(self, first: int, last: int) -> Self:
        """Return items `first` to `last` (exclusive) without copying their values."""
        start, end = self.ends[[first, last]]
        ends = self.ends[first : last + 1]
        # `ends` may be a memory map, which subtraction would copy into memory, so nothing is subtracted if
        # `start` is 0.
        return type(self)(self.values[start:end], ends - start if start else ends)


def ends_of(sizes: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return the start of each of N consecutive items, and the end of the last item, (N + 1,) int64."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def ranges(starts: np.ndarray | int, sizes: np.ndarray) -> np.ndarray:
    """Return the concatenation of ranges of consecutive numbers with these starts and sizes."""
    ends = ends_of(sizes)
    return np.repeat(starts - ends[:-1], sizes) + np.arange(ends[-1])

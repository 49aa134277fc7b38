"""Arrays of variable-length items, such as the words of sentences or the sub-words of words."""

from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True)
class Ragged:
    """N items stored in one array: item i is `values[ends[i] : ends[i + 1]]`; `ends` is (N + 1,) int64."""

    values: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, sizes: np.ndarray) -> Self:
        """Divide `values` into consecutive items of the given sizes."""
        return cls(values, ends_of(sizes))

    @property
    def sizes(self) -> np.ndarray:
        return np.diff(self.ends)

    @property
    def item(self) -> np.ndarray:
        """The index of the item that each value belongs to."""
        return np.repeat(np.arange(len(self.ends) - 1), self.sizes)

    def take(self, items: np.ndarray) -> Self:
        """Return the items at the given indices, in the given order."""
        starts = self.ends[items]
        sizes = self.ends[items + 1] - starts
        ends = ends_of(sizes)
        places = np.repeat(starts - ends[:-1], sizes) + np.arange(ends[-1])
        return type(self)(self.values[places], ends)


def ends_of(sizes: np.ndarray) -> np.ndarray:
    """Return the start of each consecutive item, and the end of the last one, (N + 1,) int64."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])

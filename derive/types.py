"""The special types of a vocabulary, and the layout of two texts in a row."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np


@dataclass(frozen=True)
class Specials:
    """The ids of a vocabulary's special types, which no text contains; `others` have no role here."""

    start: int
    pad: int
    end: int
    unknown: int
    mask: int
    others: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.ids)) < len(self.ids) or min(self.ids) < 0:
            raise ValueError(f"special types need different ids from 0, not {', '.join(map(str, self.ids))}")

    @property
    def ids(self) -> tuple[int, ...]:
        return (self.start, self.pad, self.end, self.unknown, self.mask, *self.others)

    def ordinary(self, size: int) -> np.ndarray:
        """Return the ordinary ids of a vocabulary of `size`, ascending: (size - len(ids),) int64."""
        return np.delete(np.arange(size), self.ids)

    def is_ordinary(self, ids: np.ndarray) -> np.ndarray:
        """Whether each id, in an array of any shape, is not special: bool of the same shape."""
        first, later = self._split
        ordinary = np.asarray(ids >= first)  # comparisons are many times faster than a look-up
        for special in later:
            ordinary &= ids != special
        return ordinary

    @cached_property
    def _split(self) -> tuple[int, list[int]]:
        first = next(i for i in range(len(self.ids) + 1) if i not in self.ids)
        return first, [i for i in self.ids if i > first]


@dataclass(frozen=True)
class PairLayout:
    """The layout of two texts in one row: the special ids before, between and after them, and each text's
    token type."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    types: tuple[int, int]

    @classmethod
    def usual(cls, specials: Specials) -> Self:
        """The layout of RoBERTa and XLM-R: `<s> text </s> </s> text </s>`, all of one token type."""
        return cls((specials.start,), (specials.end, specials.end), (specials.end,), (0, 0))

    def around(self, number: int, last: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the special ids before and after 0-based text `number`; `last`: whether it is the last in
        its row."""
        return (self.between[1:] if number else self.before), (self.after if last else self.between[:1])

    def marks(self, texts: int) -> int:
        """Count the special ids in a row of one or two texts."""
        return len(self.before) + (texts - 1) * len(self.between) + len(self.after)


SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
OURS = Specials(*range(len(SPECIALS)))  # the ids in vocabularies learnt by Calque

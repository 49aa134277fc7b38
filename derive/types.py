"""A vocabulary's special types, and the layout of rows with two texts."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np


@dataclass(frozen=True)
class Specials:
    """The ids of a vocabulary's special types, which never occur in text; Calque ignores the `others`."""

    start: int
    pad: int
    end: int
    unknown: int
    mask: int
    others: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.ids)) < len(self.ids) or min(self.ids) < 0:
            ids = ", ".join(map(str, self.ids))
            raise ValueError(f"special types need different ids of at least 0, not {ids}")

    @property
    def ids(self) -> tuple[int, ...]:
        return (self.start, self.pad, self.end, self.unknown, self.mask, *self.others)

    def ordinary(self, size: int) -> np.ndarray:
        """Return the non-special ids in a vocabulary of `size` types, ascending, int64."""
        return np.delete(np.arange(size), self.ids)

    def is_ordinary(self, ids: np.ndarray) -> np.ndarray:
        """Return whether each id is not special, as a boolean array."""
        first, later = self._split
        ordinary = np.asarray(ids >= first)  # comparisons are many times faster than looking up ids
        for special in later:
            ordinary &= ids != special
        return ordinary

    @cached_property
    def _split(self) -> tuple[int, list[int]]:
        first = next(i for i in range(len(self.ids) + 1) if i not in self.ids)
        return first, [i for i in self.ids if i > first]


@dataclass(frozen=True)
class PairLayout:
    """The special ids before, between and after a row's two texts, and the token type of each text."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    types: tuple[int, int]

    @classmethod
    def usual(cls, specials: Specials) -> Self:
        """Return the layout of RoBERTa and XLM-R: `<s> text </s> </s> text </s>`, with one token type."""
        return cls((specials.start,), (specials.end, specials.end), (specials.end,), (0, 0))

    def around(self, number: int, last: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the special ids before and after text `number` (0 or 1), which may be the row's `last`."""
        return (self.between[1:] if number else self.before), (self.after if last else self.between[:1])

    def marks(self, texts: int) -> int:
        return len(self.before) + (texts - 1) * len(self.between) + len(self.after)


SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
OURS = Specials(*range(len(SPECIALS)))  # the ids in vocabularies learnt by Calque

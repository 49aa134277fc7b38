"""Languages as rows of ids, and the order in which rows are shown."""

from __future__ import annotations

import numpy as np

from derive.errors import BadInput
from derive.language import Language
from derive.types import Specials

EVERY = 256
"""Lines from one whose place is kept to the next."""


class PackedLines:
    """A language's corpus as full rows: `<s>`, then lines, each closed by `</s>`, cut wherever the row ends.

    Nothing is padded; the last, unfilled row is left out (`left_over` ids).

    Raises:
        BadInput: the corpus does not fill one row.
    """

    def __init__(self, language: Language, specials: Specials, length: int) -> None:
        corpus = language.corpus
        self.language, self.specials, self.length = language, specials, length
        self.tokens = np.asarray(corpus.tokens)  # the same map; slices of a plain array are cheaper to make
        self.lines = np.asarray(corpus.lines)
        # Where every 256th line's `</s>` stands in the endless line of all lines; all of them would fill the memory.
        self._marks = self.lines[EVERY::EVERY] + np.arange(EVERY - 1, len(corpus), EVERY)
        self._steps = np.arange(EVERY + length)
        total = len(self.tokens) + len(corpus)
        self._rows, self.left_over = divmod(total, length - 1)
        if not self._rows:
            raise BadInput(f"{language.name}: a corpus of {total:,} ids does not fill one row of {length:,}")

    def __len__(self) -> int:
        return self._rows

    def row(self, number: int) -> np.ndarray:
        """The ids of one row, (length,) int64."""
        start, stop = number * (self.length - 1), (number + 1) * (self.length - 1)
        before = EVERY * int(np.searchsorted(self._marks, start))  # so many lines end before the row, or some more
        lines = self.lines[before + 1 : before + 1 + len(self._steps)]
        ends = lines + self._steps[: len(lines)]  # less `before`
        first, last = np.searchsorted(ends, (start - before, stop - before))
        ids = np.empty(self.length, np.int64)
        inside = np.ones(self.length, bool)
        marks = ends[first:last] + (before - start + 1)
        inside[0] = False
        inside[marks] = False
        ids[0] = self.specials.start
        ids[marks] = self.specials.end
        ids[inside] = self.language.ids(self.tokens[start - before - first : stop - before - last])
        return ids


class Shuffled:
    """An endless shuffled order of `size` instances, a new one each epoch, readable from anywhere."""

    def __init__(self, size: int, *seed: int) -> None:
        self.size, self.seed = size, seed
        self._epoch, self._order = -1, np.empty(0, np.int64)

    def take(self, start: int, count: int) -> np.ndarray:
        """Instances `start` to `start + count` of the endless order."""
        taken = []
        while count:
            epoch, offset = divmod(start, self.size)
            if epoch != self._epoch:
                self._epoch = epoch
                self._order = np.random.default_rng([*self.seed, epoch]).permutation(self.size)
            piece = self._order[offset : offset + count]
            taken.append(piece)
            start, count = start + len(piece), count - len(piece)
        return np.concatenate(taken) if taken else np.empty(0, np.int64)

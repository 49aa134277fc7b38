"""Languages as rows of ids, and the order in which rows are shown."""

from __future__ import annotations

import numpy as np

from derive.bitext import Bitext
from derive.errors import BadInput
from derive.language import Language
from derive.types import Specials


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
        # Where each line's `</s>` stands in the endless line of all lines.
        self.ends = np.asarray(corpus.lines[1:]) + np.arange(len(corpus))
        total = len(self.tokens) + len(corpus)
        self._rows, self.left_over = divmod(total, length - 1)
        if not self._rows:
            raise BadInput(f"{language.name}: a corpus of {total:,} ids does not fill one row of {length:,}")

    def __len__(self) -> int:
        return self._rows

    def row(self, number: int) -> np.ndarray:
        """The ids of one row, (length,) int64."""
        start, stop = number * (self.length - 1), (number + 1) * (self.length - 1)
        first, last = np.searchsorted(self.ends, (start, stop))
        ids = np.empty(self.length, np.int64)
        inside = np.ones(self.length, bool)
        marks = self.ends[first:last] - start + 1
        inside[0] = False
        inside[marks] = False
        ids[0] = self.specials.start
        ids[marks] = self.specials.end
        ids[inside] = self.language.ids(self.tokens[start - first : stop - last])
        return ids


def fill(lengths: np.ndarray, room: int) -> list[tuple[int, int]]:
    """Neighbouring items, as many as fit into `room` on each side: [first, last) of each instance.

    `lengths` are (N,), or (N, 2) where an item has two sides with a room each.
    """
    sides = lengths if lengths.ndim == 2 else lengths[:, None]
    groups, first, used = [], 0, [0, 0]
    for i, (a, b) in enumerate(np.broadcast_to(sides, (len(lengths), 2)).tolist()):
        if used[0] + a > room or used[1] + b > room:
            groups.append((first, i))
            first, used = i, [0, 0]
        used = [used[0] + a, used[1] + b]
    return [*groups, (first, len(lengths))] if first < len(lengths) else groups


def line_lengths(bitext: Bitext) -> np.ndarray:
    """How many ids each side of each sentence pair has, (N, 2)."""
    sides = zip((bitext.first, bitext.second), bitext.lines.T, strict=True)
    return np.stack([np.diff(language.corpus.lines)[lines] for language, lines in sides], axis=1)


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

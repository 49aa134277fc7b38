"""Lines of text as ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from derive.corpus import LONGEST, NOWHERE, Shard
from derive.vocabulary import gather


@dataclass(frozen=True)
class Encoded:
    """N lines: `ids` (T,), `pieces` (W,), the ids of each word, and `words` (N,) int64, the words of each line."""

    ids: np.ndarray
    pieces: np.ndarray
    words: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """How many ids each line has, (N,)."""
        ends = np.concatenate([[0], np.cumsum(self.pieces, dtype=np.int64)])
        return np.diff(ends[np.concatenate([[0], np.cumsum(self.words)])])

    @property
    def too_long(self) -> np.ndarray:
        """Which lines have more words than a corpus holds in one, or a word of more sub-words, (N,) bool."""
        long = self.words > LONGEST
        many = np.flatnonzero(self.pieces > LONGEST)
        long[np.searchsorted(np.cumsum(self.words), many, side="right")] = True
        return long

    def take(self, lines: np.ndarray) -> Encoded:
        """Some of the lines, by their numbers."""
        here, words = span(self.words, lines)
        return Encoded(gather(self.ids, self.pieces, here), self.pieces[here], words)

    def small(self) -> Encoded:
        """The same in the types that a corpus has them in; no line is too long."""
        return Encoded(self.ids.astype(np.uint32), self.pieces.astype(np.uint16), self.words)

    def shard(self) -> Shard:
        """The lines as they are appended to a corpus; their words derive from no others."""
        nowhere = np.full(len(self.pieces), NOWHERE, np.uint16)
        return Shard(self.ids, self.pieces, nowhere, self.words, np.arange(len(self.words)))


def span(sizes: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of all entries of the groups `chosen`, where groups of `sizes` follow one another, and their sizes."""
    taken = sizes[chosen]
    starts = np.cumsum(sizes) - sizes
    return np.repeat(starts[chosen] - np.cumsum(taken) + taken, taken) + np.arange(int(taken.sum())), taken


def joined(parts: Sequence[Encoded]) -> Encoded:
    """The lines of all parts, one part after the other."""
    ids, pieces, words = ([getattr(part, name) for part in parts] for name in ("ids", "pieces", "words"))
    return Encoded(*(np.concatenate([np.empty(0, np.int64), *arrays]) for arrays in (ids, pieces, words)))

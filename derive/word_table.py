"""Words to ids, many at a time: each distinct word is encoded once, and text is a gather."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice

import numpy as np

from derive.vocabulary import Vocabulary


class WordTable:
    """Encodings of the words seen so far: each distinct word is encoded once, and text is a gather.

    It forgets all words and starts again when it holds more than `room`, so that its memory does not
    grow with the corpus.
    """

    def __init__(self, vocabulary: Vocabulary, room: int = 1 << 19) -> None:
        self._vocabulary, self._room = vocabulary, room
        self.size, self.specials = vocabulary.size, vocabulary.specials
        self._clear()

    def _clear(self) -> None:
        self._rows: defaultdict[str, int] = defaultdict()
        self._rows.default_factory = self._rows.__len__  # a new word gets the next row
        self._ids = np.zeros(0, np.int64)
        self._pieces = np.zeros(0, np.int64)

    def encode(self, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """As `Vocabulary.encode_all`: ids in one row, and how many each word has."""
        if len(self._rows) > self._room:
            self._clear()
        known = len(self._rows)
        rows = np.fromiter(map(self._rows.__getitem__, words), np.int64, len(words))
        if len(self._rows) > known:
            ids, pieces = self._vocabulary.encode_all(list(islice(self._rows, known, None)))
            self._ids = np.concatenate([self._ids, ids])
            self._pieces = np.concatenate([self._pieces, pieces])
        return gather(self._ids, self._pieces, rows), self._pieces[rows]


def gather(ids: np.ndarray, pieces: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The ids of the words `rows`, where `ids` (T,) holds the words one after the other, `pieces` ids each."""
    starts = np.cumsum(pieces, dtype=np.int64) - pieces
    wanted = pieces[rows].astype(np.int64)
    ends = np.cumsum(wanted)
    total = int(ends[-1]) if len(ends) else 0
    return ids[np.repeat(starts[rows] - ends + wanted, wanted) + np.arange(total)]

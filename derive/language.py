"""One of the languages that a model reads.

Shapes: V types of the vocabulary, R rows of a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from derive.corpus import Corpus


@dataclass(frozen=True)
class Language:
    """One language. `number` is its token type, in models that tell languages apart.

    `table` is the row of a model for each type in this language: (V,) int64, or (R,) where models have rows of some
    types only. Ids of its corpus from V on are moved by `shift`, so that several new scripts have rows of their own in
    one model. `rows` (V,) int64 is the row of each id of the corpus, -1 where it has none, in models of some types.
    `places` (2, V) int64 are the rows of types in text, inside words and at their ends, where that makes a difference:
    `table` is then what each type is by itself.
    """

    name: str
    number: int
    corpus: Corpus
    table: np.ndarray
    shift: int = 0
    rows: np.ndarray | None = None
    places: np.ndarray | None = None

    def ids(self, ids: np.ndarray) -> np.ndarray:
        """Ids as the corpus has them, as a model has them."""
        if self.rows is not None:
            return self.rows[ids]
        return np.where(ids >= len(self.table), ids + self.shift, ids) if self.shift else ids

    def of_words(self, ids: np.ndarray, pieces: np.ndarray | Sequence[int]) -> np.ndarray:
        """Words of the source, sub-words (T,) and how many each word has, as this language has them in a model."""
        return in_places(ids, pieces, self.table, self.places)


def in_places(
    ids: np.ndarray, pieces: np.ndarray | Sequence[int], table: np.ndarray, places: np.ndarray | None
) -> np.ndarray:
    """The ids of words in a language: those of the `table` (V,), or those of their `places` (2, V) in the words."""
    if places is None:
        return np.asarray(table[ids])
    at_end = np.zeros(len(ids), np.int64)
    at_end[np.cumsum(pieces, dtype=np.int64) - 1] = 1
    return np.asarray(places[at_end, ids])

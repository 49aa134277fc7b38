"""One of the languages that a model reads.

Shapes: V types of the vocabulary, R rows of a model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from derive.corpus import Corpus


@dataclass(frozen=True)
class Language:
    """One language. `number` is its token type, in models that tell languages apart.

    `table` is the row of a model for each type in this language: (V,) int64, or (R,) where models have rows of some
    types only. Ids of its corpus from V on are moved by `shift`, so that several new scripts have rows of their own in
    one model. `rows` (V,) int64 is the row of each id of the corpus, -1 where it has none, in models of some types.
    """

    name: str
    number: int
    corpus: Corpus
    table: np.ndarray
    shift: int = 0
    rows: np.ndarray | None = None

    def ids(self, ids: np.ndarray) -> np.ndarray:
        """Ids as the corpus has them, as a model has them."""
        if self.rows is not None:
            return self.rows[ids]
        return np.where(ids >= len(self.table), ids + self.shift, ids) if self.shift else ids

"""One of the languages that a model reads.

Shapes: V types of the vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from derive.corpus import Corpus


@dataclass(frozen=True)
class Language:
    """One language. `number` is its token type, in models that tell languages apart.

    `table` (V,) int64 is the id of each type of the vocabulary in this language. Ids of its corpus from V on are moved
    by `shift`, so that several new scripts have rows of their own in one model.
    """

    name: str
    number: int
    corpus: Corpus
    table: np.ndarray
    shift: int = 0

    def ids(self, ids: np.ndarray) -> np.ndarray:
        """Ids as the corpus has them, as a model has them."""
        return np.where(ids >= len(self.table), ids + self.shift, ids) if self.shift else ids

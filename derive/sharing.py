"""What a derived language shares with its source: types, sub-words of its text, and whole words of it.

Shapes: T sub-words and W words of a corpus, n types.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from derive.corpus import Corpus

LINES = 1 << 16
"""Lines that are counted at a time."""


@dataclass(frozen=True)
class Shared:
    """How many of each are the source's own, and of how many: types that occur, sub-words and words of the text.

    A word is shared if all of its sub-words are.
    """

    types: int
    of_types: int
    tokens: int
    of_tokens: int
    words: int
    of_words: int

    @property
    def shares(self) -> dict[str, tuple[float, int]]:
        """Each as a share, with what it is a share of; without what there is none of."""
        counts = {
            "types": (self.types, self.of_types),
            "tokens": (self.tokens, self.of_tokens),
            "words": (self.words, self.of_words),
        }
        return {name: (some / of, of) for name, (some, of) in counts.items() if of}


def shared(derived: Path, types: np.ndarray, image: np.ndarray) -> Shared:
    """What a derived corpus shares, by the ids of its sub-words.

    Args:
        derived: folder of the corpus.
        types: (n,) ids of the types that the source's corpus uses.
        image: (V,) the derived id of each type.
    """
    corpus, size = Corpus.open(derived), len(image)
    tokens = words = 0
    for first in range(0, len(corpus), LINES):
        some = corpus.between(first, min(first + LINES, len(corpus)))
        ours = np.asarray(some.tokens) < size
        tokens += int(ours.sum())
        words += int(np.logical_and.reduceat(ours, np.cumsum(some.pieces, dtype=np.int64) - some.pieces).sum())
    alike = int((image[types] == types).sum())
    return Shared(alike, len(types), tokens, len(corpus.tokens), words, len(corpus.pieces))

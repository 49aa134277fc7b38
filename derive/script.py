"""A new script: every word keeps its place and changes its letters."""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase

import numpy as np

from derive.sentence import Sentence
from derive.transform import Transform
from derive.types import OURS, Specials

# Latin letters and Armenian ones change places, so spelling twice is the identity on every string,
# also on one that already holds Armenian letters.
_ARMENIAN_UPPER = "".join(chr(0x0531 + i) for i in range(26))
_ARMENIAN_LOWER = "".join(chr(0x0561 + i) for i in range(26))
_LATIN, _ARMENIAN = ascii_lowercase + ascii_uppercase, _ARMENIAN_LOWER + _ARMENIAN_UPPER
_LETTERS = str.maketrans(_LATIN + _ARMENIAN, _ARMENIAN + _LATIN)


@dataclass(frozen=True)
class Transliterate(Transform):
    """A new script for all but an exact share `overlap` of the types (ALIGN-MLM, section 3, Table 7).

    To a model the script is a shift of ids by the size of the source vocabulary; special tokens stay.
    To people it is a reversible exchange of letters.
    """

    overlap: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.overlap <= 1:
            raise ValueError(f"overlap is a fraction of the types, from 0 to 1, not {self.overlap}")

    @property
    def name(self) -> str:
        return f"trans-{self.overlap * 100:g}" if self.overlap else "trans"

    @property
    def title(self) -> str:
        return f"Trans {self.overlap * 100:g} % shared" if self.overlap else "Trans"

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        return sentence

    def image(self, size: int, specials: Specials = OURS) -> np.ndarray:
        table, words = np.arange(size), specials.ordinary(size)
        shared = np.random.default_rng(self.seed).permutation(len(words))[: round(self.overlap * len(words))]
        moved = np.delete(words, shared)
        table[moved] += size
        return table

    def spell(self, word: str) -> str:
        return word.translate(_LETTERS)

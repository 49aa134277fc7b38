"""A new script: every word keeps its place and changes its letters."""

from __future__ import annotations

from dataclasses import dataclass, field
from string import ascii_lowercase, ascii_uppercase

import numpy as np

from derive.files import ADDED
from derive.sentence import Sentence
from derive.transform import Transform
from derive.types import OURS, Specials

SCRIPTS = (
    ("Armenian", 0x0561, 0x0531),
    ("Georgian", 0x10D0, 0x1C90),
    ("Glagolitic", 0x2C30, 0x2C00),
    ("Cherokee", 0xAB70, 0x13A0),
    ("Khutsuri", 0x2D00, 0x10A0),
    ("Ethiopic", 0x1200, 0x121A),
    ("Canadian syllabics", 0x1401, 0x141B),
    ("Vai", 0xA500, 0xA51A),
    ("Yi", 0xA000, 0xA01A),
)
"""What people are shown: a script's name, its first small letter and its first capital; the last four have no case."""


def _exchanged(small: int, capital: int) -> dict[int, int]:
    """Latin letters and others change places, so spelling twice is the identity on every string, also on one that
    already holds others."""
    latin = ascii_lowercase + ascii_uppercase
    others = "".join(chr(first + i) for first in (small, capital) for i in range(26))
    return str.maketrans(latin + others, others + latin)


_LETTERS = [_exchanged(small, capital) for _, small, capital in SCRIPTS]


@dataclass(frozen=True)
class Transliterate(Transform):
    """A new script for all but an exact share `overlap` of the types (ALIGN-MLM, section 3, Table 7).

    To a model the script is a shift of ids by the size of the source vocabulary; special tokens stay.
    To people it is a reversible exchange of letters. `script`, from 1, tells several new scripts of one model apart:
    clones of one language, whose models differ in nothing but their ids.
    """

    overlap: float = 0.0
    seed: int = 0
    script: int = field(default=1, metadata=ADDED)

    def __post_init__(self) -> None:
        if not 0 <= self.overlap <= 1:
            raise ValueError(f"overlap is a fraction of the types, from 0 to 1, not {self.overlap}")
        if not 1 <= self.script <= len(SCRIPTS):
            raise ValueError(f"script is from 1 to {len(SCRIPTS)}, not {self.script}")

    @property
    def name(self) -> str:
        script = f"trans{self.script}" if self.script > 1 else "trans"
        return f"{script}-{self.overlap * 100:g}" if self.overlap else script

    @property
    def title(self) -> str:
        script = f"Trans{self.script}" if self.script > 1 else "Trans"
        return f"{script} {self.overlap * 100:g} % shared" if self.overlap else script

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        return sentence

    def image(self, size: int, specials: Specials = OURS) -> np.ndarray:
        table, words = np.arange(size), specials.ordinary(size)
        shared = np.random.default_rng(self.seed).permutation(len(words))[: round(self.overlap * len(words))]
        moved = np.delete(words, shared)
        table[moved] += size
        return table

    def spell(self, word: str) -> str:
        return word.translate(_LETTERS[self.script - 1])

"""A new script: every word keeps its place and changes its letters."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from string import ascii_lowercase, ascii_uppercase
from typing import Literal, get_args

import numpy as np

from derive.errors import BadInput
from derive.files import ADDED
from derive.sentence import Sentence
from derive.transform import Transform
from derive.types import OURS, Specials
from derive.usage import Usage, WordClass

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


By = Literal["uniform", "most-frequent", "least-frequent", "function", "names", "content"]
KINDS: dict[By, tuple[str, str]] = {
    "most-frequent": ("-most", "shared, the most frequent"),
    "least-frequent": ("-least", "shared, the least frequent"),
    "function": ("-function", "of function words shared"),
    "names": ("-names", "of names shared"),
    "content": ("-content", "of content words shared"),
}
"""The kinds of types that are shared but for "uniform": what each adds to a name, and how a title says it."""


@dataclass(frozen=True)
class Transliterate(Transform):
    """A new script for all but an exact share `overlap` of the types (ALIGN-MLM, section 3, Table 7).

    To a model the script is a shift of ids by the size of the source vocabulary; special tokens stay.
    To people it is a reversible exchange of letters. `script`, from 1, tells several new scripts of one model apart:
    clones of one language, whose models differ in nothing but their ids.

    `by` says of which types the share is, and how it is chosen: "uniform", drawn from all; "most-frequent" and
    "least-frequent", the first of those that the corpus has, by how often; "function", "names" and "content", drawn
    from those that stand (nearly) only in words of the class (`derive.usage`). All but "uniform" must be `informed`.
    """

    overlap: float = 0.0
    seed: int = 0
    script: int = field(default=1, metadata=ADDED)
    by: By = field(default="uniform", metadata=ADDED)
    usage: Usage | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.overlap <= 1:
            raise ValueError(f"overlap is a fraction of the types, from 0 to 1, not {self.overlap}")
        if not 1 <= self.script <= len(SCRIPTS):
            raise ValueError(f"script is from 1 to {len(SCRIPTS)}, not {self.script}")
        if self.by not in ("uniform", *KINDS):
            raise ValueError(f"types are shared by uniform, {', '.join(KINDS)}, not {self.by!r}")
        if self.by != "uniform" and not self.overlap:
            raise ValueError(f"an overlap of 0 shares nothing, so there is no {self.by} to share by")

    @property
    def name(self) -> str:
        script = f"trans{self.script}" if self.script > 1 else "trans"
        return f"{script}-{self.overlap * 100:g}{self._kind[0]}" if self.overlap else script

    @property
    def title(self) -> str:
        script = f"Trans{self.script}" if self.script > 1 else "Trans"
        return f"{script} {self.overlap * 100:g} % {self._kind[1]}" if self.overlap else script

    @property
    def _kind(self) -> tuple[str, str]:
        return KINDS.get(self.by, ("", "shared"))

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        return sentence

    @property
    def needs_tags(self) -> bool:
        return self.by in get_args(WordClass)

    @property
    def needs_usage(self) -> bool:
        return self.by != "uniform"

    def informed(self, usage: Usage) -> Transform:
        return replace(self, usage=usage) if self.needs_usage else self

    def image(self, size: int, specials: Specials = OURS) -> np.ndarray:
        """As `Transform.image`.

        Raises:
            ValueError: the share is of a kind of types, and how the corpus uses them is not known.
            BadInput: the corpus has no types of the kind, or so few that the share of them is none.
        """
        if self.needs_usage and (self.usage is None or self.usage.size != size):
            raise ValueError(f"{self.name} shares types by how a corpus of them uses each, which is not known yet")
        table, words = np.arange(size), specials.ordinary(size)
        moved = np.setdiff1d(words, self._shared(words), assume_unique=True)
        table[moved] += size
        return table

    def _shared(self, words: np.ndarray) -> np.ndarray:
        """The types that keep their ids."""
        if self.by == "uniform" or self.usage is None:
            return self._drawn(words)
        counts = self.usage.counts[words]
        if self.by == "most-frequent" or self.by == "least-frequent":
            some = words[counts > 0]
            order = np.argsort((-1 if self.by == "most-frequent" else 1) * counts[counts > 0], kind="stable")
            shared = some[order[: round(self.overlap * len(some))]]
        else:
            some = words[self.usage.of_class(self.by)[words]]
            shared = self._drawn(some)
        if not len(shared) and self.usage.of_text:
            raise BadInput(
                f"{self.name}: {self.overlap * 100:g} % of {len(some):,} types is none; types {self._kind[1]} are "
                f"those that occur in the corpus, of a class in its words alone (or nearly), by their UPOS tags"
            )
        return shared

    def _drawn(self, types: np.ndarray) -> np.ndarray:
        """The share of some types, without replacement."""
        return types[np.random.default_rng(self.seed).permutation(len(types))[: round(self.overlap * len(types))]]

    def spell(self, word: str) -> str:
        return word.translate(_LETTERS[self.script - 1])

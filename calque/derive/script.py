"""Transforms that give a language a new script: words keep their positions, but their letters change."""

from dataclasses import dataclass, field
from string import ascii_lowercase, ascii_uppercase
from typing import Literal

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.fingerprint import ADDED
from calque.derive.forms import in_percent, percent, word
from calque.derive.sentence import Sentence
from calque.derive.transform import Need, Transform, check_share
from calque.derive.vocabulary import OURS, WORD_CLASSES, Specials, Usage, Vocabulary

_LATIN = ascii_lowercase + ascii_uppercase
_ARMENIAN = "".join(map(chr, [*range(0x561, 0x57B), *range(0x531, 0x54B)]))
ARMENIAN = str.maketrans(_LATIN + _ARMENIAN, _ARMENIAN + _LATIN)  # used to display words
Letters = dict[str, str]  # maps each changed letter to its replacement; replacements are unique

By = Literal["uniform", "most-frequent", "least-frequent", "function", "names", "content"]
KINDS: dict[By, str] = {
    "uniform": "shared",
    "most-frequent": "shared, the most frequent",
    "least-frequent": "shared, the least frequent",
    "function": "of function words shared",
    "names": "of names shared",
    "content": "of content words shared",
}
"""The ways to choose the shared types, with their wording in titles."""


@dataclass(frozen=True)
class Transliterate(Transform):
    """Gives all types a new script, except for an exact fraction `overlap`, which stay shared (ALIGN-MLM,
    section 3). Depending on `by`, these are sampled with `seed` from all types or from a word class, or are
    the most or least frequent types. All choices except "uniform" need type counts (`usage`)."""

    short_name, full_name = "trans", "Trans"
    forms = (
        percent("overlap", "-", "{percent} % of the types shared", "25"),
        *(
            word("by", kind, f"-{kind.removesuffix('-frequent')}", KINDS[kind])
            for kind in KINDS
            if kind != "uniform"
        ),
    )
    examples = (
        ("trans", ""),
        ("trans-25", "a quarter of the types shared"),
        ("trans-25-most", "the most frequent quarter shared; -least: the least frequent"),
        ("trans-100-function", "all function words shared; also -names, -content"),
    )
    term = "Trans gives the derived language its own script: a new type for every source type."

    overlap: float = 0.0
    seed: int = 0
    by: By = field(default="uniform", metadata=ADDED)
    usage: Usage | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_share(self.overlap, "shared types", may_be_zero=True)
        if self.by != "uniform" and not self.overlap:
            raise ValueError(f"{self.by} has no effect, because an overlap of 0 shares no types; remove it")

    @property
    def title(self) -> str:
        return f"Trans {in_percent(self.overlap)} % {KINDS[self.by]}" if self.overlap else "Trans"

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        return sentence

    @property
    def needs(self) -> frozenset[Need]:
        if self.by == "uniform":
            return frozenset()
        return frozenset(("usage", "tags") if self.by in WORD_CLASSES else ("usage",))

    def image(self, size: int, specials: Specials = OURS) -> np.ndarray:
        table, words = np.arange(size), specials.ordinary(size)
        usage = _given(self, size) if self.needs else None
        unshared = np.setdiff1d(words, self._shared(words, usage), assume_unique=True)
        table[unshared] += size
        return table

    def _shared(self, words: np.ndarray, usage: Usage | None) -> np.ndarray:
        if usage is None:
            return self._drawn(words)
        if self.by in WORD_CLASSES:
            candidates = words[usage.of_class(self.by)[words]]
            shared = self._drawn(candidates)
        else:
            candidates = words[usage.counts[words] > 0]
            counts = usage.counts[candidates]
            order = np.argsort(-counts if self.by == "most-frequent" else counts, kind="stable")
            shared = candidates[order[: round(self.overlap * len(candidates))]]
        if not len(shared):
            share = f"{in_percent(self.overlap)} % of {len(candidates):,} types"
            raise BadInput(f"{self.name}: {share} is less than one type")
        return shared

    def _drawn(self, types: np.ndarray) -> np.ndarray:
        order = np.random.default_rng(self.seed).permutation(len(types))
        return types[order[: round(self.overlap * len(types))]]

    def spell(self, word: str) -> str:
        return word.translate(ARMENIAN)


SCRIPT = Transliterate()


@dataclass(frozen=True)
class Cognates(Transform):
    """Gives the last sub-word of every word a new script. In earlier positions, an exact fraction `share` of
    the types keep the source's script. A type's image is its form at word ends or, if it never occurs there,
    its form inside words."""

    short_name, full_name = "trans-stems", "Trans"
    forms = (percent("share", "-", "of stems shared", "50", " {percent} % {}"),)
    examples = (("trans-stems-50", "half of the stems shared"),)
    term = (
        "Trans with shared stems gives the last sub-word of every word a new script and leaves some of the "
        "preceding sub-words unchanged."
    )

    share: float
    seed: int = 0
    usage: Usage | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_share(self.share, "stems", may_be_zero=True)

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        return sentence

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset(("usage",) if self.share else ())

    def image(self, size: int, specials: Specials = OURS) -> np.ndarray:
        if (places := self.places(size, specials)) is None:
            return SCRIPT.image(size, specials)
        usage = _given(self, size)
        return np.where((usage.counts > 0) & (usage.at_ends == 0), *places)

    def places(self, size: int, specials: Specials = OURS) -> np.ndarray | None:
        if not self.share:
            return None
        stems = Transliterate(self.share, self.seed).image(size, specials)
        return np.stack([stems, SCRIPT.image(size, specials)])

    def spell(self, word: str) -> str:
        """Spell the whole word in the new script; which of its sub-words keep theirs depends on a corpus."""
        return SCRIPT.spell(word)


def _given(transform: Transliterate | Cognates, size: int) -> Usage:
    if transform.usage is None or len(transform.usage.counts) != size:
        raise ValueError(f"{transform.name} needs the corpus's type counts: call `ready` first")
    return transform.usage


def letters_of(transform: Transform, vocabulary: Vocabulary) -> Letters | None:
    """Return the letters that a transform's spelling replaces, with their replacements, or None if the
    spelling does not simply replace letters."""
    spelt = {letter: transform.spell(letter) for letter in map(chr, range(0xD800))}  # until the surrogates
    letters = {letter: image for letter, image in spelt.items() if image != letter}
    images = set(letters.values())
    if len(images) < len(letters) or any(len(image) != 1 for image in images):
        return None
    if any(map(str.isspace, images | letters.keys())):
        return None
    table = str.maketrans(letters)
    for type_id in vocabulary.specials.ordinary(vocabulary.size):
        text = vocabulary.text([type_id])
        if text.strip() and transform.spell(text) != text.translate(table):
            return None
    return letters

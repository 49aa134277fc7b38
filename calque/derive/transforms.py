"""Transforms of script and words, and the parser of all transforms' names."""

import os
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import numpy as np

from calque.derive.errors import BadInput, shown, unknown
from calque.derive.files import input_digest
from calque.derive.forms import Form, percent
from calque.derive.order import Invert, Permute, Reorder
from calque.derive.readers.lines import read_lines
from calque.derive.sentence import Sentence
from calque.derive.transform import Transform, check_share, compose, draw
from calque.derive.vocabulary import OURS, Specials, Vocabulary

_LATIN = ascii_lowercase + ascii_uppercase
_ARMENIAN = "".join(map(chr, [*range(0x561, 0x57B), *range(0x531, 0x54B)]))
ARMENIAN = str.maketrans(_LATIN + _ARMENIAN, _ARMENIAN + _LATIN)  # used to display words
Letters = dict[str, str]  # maps each changed letter to its replacement; replacements are unique


@dataclass(frozen=True)
class Transliterate(Transform):
    """Gives all types a new script, except for an exact fraction `overlap`, sampled with `seed` (ALIGN-MLM,
    section 3)."""

    short_name, full_name = "trans", "Trans"
    forms = (percent("overlap", "-", "{percent} % of the types shared", "25", " {percent} % shared"),)

    overlap: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_share(self.overlap, "shared types", may_be_zero=True)

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        return sentence

    def image(self, size: int, specials: Specials = OURS) -> np.ndarray:
        table, types = np.arange(size), specials.ordinary(size)
        order = np.random.default_rng(self.seed).permutation(len(types))
        table[types[order[round(self.overlap * len(types)) :]]] += size
        return table

    def spell(self, word: str) -> str:
        return word.translate(ARMENIAN)


SCRIPT = Transliterate()


def letters_of(transform: Transform, vocabulary: Vocabulary) -> Letters | None:
    """Return the letters that a transform's spelling replaces, or None if it does more than that."""
    spelt = {letter: transform.spell(letter) for letter in map(chr, range(0xD800))}  # until the surrogates
    letters = {letter: image for letter, image in spelt.items() if image != letter}
    images = set(letters.values())
    all_letters = images | letters.keys()
    if len(images) < len(letters) or any(len(each) != 1 or each.isspace() for each in all_letters):
        return None
    table = str.maketrans(letters)
    for type_id in vocabulary.specials.ordinary(vocabulary.size):
        text = vocabulary.text([type_id])
        if text.strip() and transform.spell(text) != text.translate(table):
            return None
    return letters


Rewritten = Sequence[tuple[str, Sequence[int]]]
LEXICON_FORMAT = 2  # incremented when the same lexicon would yield different sentences


class Rewrite(Transform):
    """Base class of transforms that change words, by default only in sentences with tags."""

    rewrites = True
    needs_trees = True

    @abstractmethod
    def rewritten(self, sentence: Sentence, number: int) -> Rewritten:
        """Return the new words, each with the positions of the source words that it renders, main word first,
        or () if no word changes."""

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        words = () if self._lacks_tags(sentence) else self.rewritten(sentence, number)
        return sentence.rewrite(words) if words else sentence

    def account(self, sentence: Sentence, number: int = 0) -> Counter[str]:
        return Counter({"sentences without word classes": 1} if self._lacks_tags(sentence) else ())

    def _lacks_tags(self, sentence: Sentence) -> bool:
        return self.needs_trees and not sentence.tags


@dataclass(frozen=True)
class Translate(Rewrite):
    """Replaces words with translations from a lexicon: *the red house* becomes *la rouge maison*.

    Each word in CALQUE_DATA/lexicons/en-LANGUAGE.tsv is replaced with probability `share`, by a random one of
    its translations. Each line contains a word, a tab and a translation."""

    short_name, full_name = "lex", "Lex"
    forms = (
        Form("language", "-", "{value}", None, str, "fr", " {}", "[a-z]+"),
        percent("share", "-", "{percent} % of the words", "50", ", {percent} %"),
    )
    needs_trees = False

    language: str
    share: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_share(self.share, "words")

    @property
    def lexicon(self) -> Path:
        return Path(os.environ.get("CALQUE_DATA") or "data", "lexicons", f"en-{self.language}.tsv")

    def identity(self) -> Any:
        return ["Translate", input_digest(self.lexicon), LEXICON_FORMAT, self.language, self.share, self.seed]

    def rewritten(self, sentence: Sentence, number: int) -> Rewritten:
        random, words = draw(f"translate:{self.seed}", number), []
        for place, (word, senses) in enumerate(zip(sentence.words, self._senses(sentence), strict=True)):
            if random.random() < self.share and senses:
                (translation,) = random.choices(senses)
                word = translation.capitalize() if word.istitle() else translation
            words.append((word, (place,)))
        return words

    def account(self, sentence: Sentence, number: int = 0) -> Counter[str]:
        return Counter({"words without an entry": self._senses(sentence).count(None)})

    def _senses(self, sentence: Sentence) -> list[list[str] | None]:
        senses = _read_lexicon(self.lexicon, input_digest(self.lexicon))
        return [senses.get(word) or senses.get(word.lower()) for word in sentence.words]


@lru_cache(maxsize=8)  # the digest invalidates the cache when the file changes
def _read_lexicon(lexicon: Path, digest: str) -> dict[str, list[str]]:
    senses: dict[str, dict[str, None]] = {}
    for place, line in read_lines(lexicon, must_end=True):
        words = line.split("\t")
        if len(words) != 2 or not all(map(str.strip, words)):
            raise place.fault(f"{line!r}: expected a word, a tab and its translation")
        senses.setdefault(words[0].strip(" "), {})[words[1].strip(" ")] = None
    return {word: list(translations) for word, translations in senses.items()}


TRANSFORMS: list[type[Transform]] = [Transliterate, Invert, Permute, Reorder, Translate]
"""All kinds of transforms. Study files may add others (`experiments.settings.catalogue`)."""


def transform(name: str) -> Transform:
    """Return the transform called `name`; the last part of a name such as `trans.inv` is applied first."""
    # Dots inside numbers, as in inv-12.5, are not separators.
    return compose(*map(_part, re.split(r"\.(?!\d)", name)))


def _part(name: str) -> Transform:
    try:
        for kind in TRANSFORMS:
            if (part := kind.parse(name)) is not None:
                return part
    except ValueError as error:
        raise BadInput(f"transform {shown(name)}: {error}") from error
    raise BadInput(unknown("transform", name, [kind.example() for kind in TRANSFORMS]))

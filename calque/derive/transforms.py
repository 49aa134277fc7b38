"""Transforms of script and words, and the parser of all transforms' names."""

import os
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Literal

import numpy as np

from calque.derive.errors import BadInput, shown, unknown
from calque.derive.files import input_digest
from calque.derive.fingerprint import ADDED
from calque.derive.forms import Form, in_percent, percent
from calque.derive.order import Invert, Permute, Reorder
from calque.derive.readers.lines import read_lines
from calque.derive.sentence import UNKNOWN, Sentence
from calque.derive.transform import Need, Transform, check_share, compose, draw
from calque.derive.vocabulary import CLASSES, OURS, WORD_CLASSES, Specials, Usage, Vocabulary

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
    """Gives all types a new script, except for an exact fraction `overlap` (ALIGN-MLM, section 3).

    The shared types are sampled with `seed` from all types or from a word class, or are the most or least
    frequent types (`by`). All choices except "uniform" need type counts (`usage`)."""

    short_name, full_name = "trans", "Trans"
    forms = (
        percent("overlap", "-", "{percent} % of the types shared", "25"),
        *(
            Form("by", f"-{kind.removesuffix('-frequent')}", KINDS[kind], kind)
            for kind in KINDS
            if kind != "uniform"
        ),
    )

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
        unshared = np.setdiff1d(words, self._shared(words, size), assume_unique=True)
        table[unshared] += size
        return table

    def _shared(self, types: np.ndarray, size: int) -> np.ndarray:
        usage = _given(self, size) if self.needs else None
        if usage and self.by not in WORD_CLASSES:
            types = types[usage.counts[types] > 0]
            counts = usage.counts[types]
            order = np.argsort(-counts if self.by == "most-frequent" else counts, kind="stable")
        else:
            types = types[usage.of_class(self.by)[types]] if usage else types
            order = np.random.default_rng(self.seed).permutation(len(types))
        shared = types[order[: round(self.overlap * len(types))]]
        if usage and not len(shared):
            share = f"{in_percent(self.overlap)} % of {len(types):,} types"
            raise BadInput(f"{self.name}: {share} is less than one type")
        return shared

    def spell(self, word: str) -> str:
        return word.translate(ARMENIAN)


SCRIPT = Transliterate()


@dataclass(frozen=True)
class Cognates(Transform):
    """Gives the last sub-word of every word a new script, and keeps the script of some sub-words before it.

    These belong to an exact fraction `share` of the types. A type's image is its form at word ends or, if it
    never occurs there, inside words."""

    short_name, full_name = "trans-stems", "Trans"
    forms = (percent("share", "-", "of stems shared", "50", " {percent} % {}"),)

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
    renames = True  # whether it turns whole words into other words
    needs = frozenset[Need](("trees", "tags"))

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
        return "tags" in self.needs and not sentence.tags


@dataclass(frozen=True)
class Agglutinate(Rewrite):
    """Turns function words into endings of the content word that they precede, nearest first: *in the house*
    becomes *housethein*. The forms are a random fraction `share` of all."""

    renames = False
    short_name, full_name = "agg", "Agg"
    forms = (percent("share", "-", "{percent} % of the function words", "50", " {percent} %"),)

    share: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_share(self.share, "function words")

    def rewritten(self, sentence: Sentence, number: int) -> Rewritten:
        groups: list[tuple[int, ...]] = []  # the places that each new word renders
        waiting: list[int] = []  # function words not yet attached to a content word
        words = sentence.words
        for place, (word, tag) in enumerate(zip(words, sentence.tags, strict=True)):
            kind = CLASSES.get(tag) if word != UNKNOWN else None
            if kind == "function" and _drawn(self.seed, word.lower()) < self.share:
                waiting.append(place)
                continue
            attached = kind in ("content", "names")
            groups += [(place, *reversed(waiting))] if attached else [(i,) for i in (*waiting, place)]
            waiting = []
        groups += [(index,) for index in waiting]
        endings = ("".join(words[index].lower() for index in group[1:]) for group in groups)
        return [(words[group[0]] + ending, group) for group, ending in zip(groups, endings, strict=True)]


@lru_cache(maxsize=1 << 12)
def _drawn(seed: int, word: str) -> float:
    return draw(f"agglutinate:{seed}:{word}", 0).random()


@dataclass(frozen=True)
class Split(Rewrite):
    """Turns endings of nouns and verbs into words, *walked* into *walk ed*. Stems have at least 3 letters."""

    renames = False
    short_name, full_name = "split", "Split"

    endings: tuple[str, ...] = ("ing", "ed", "es", "s")

    def rewritten(self, sentence: Sentence, number: int) -> Rewritten:
        words = list[tuple[str, tuple[int]]]()
        for place, (word, tag) in enumerate(zip(sentence.words, sentence.tags, strict=True)):
            ending = next((ending for ending in self.endings if word[3:].endswith(ending)), "")
            parts = (word.removesuffix(ending), ending) if ending and tag in ("NOUN", "VERB") else (word,)
            words += [(part, (place,)) for part in parts]
        return words


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
    needs = frozenset[Need]()

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


TRANSFORMS: list[type[Transform]] = [
    Transliterate,
    Cognates,
    Invert,
    Permute,
    Reorder,
    Agglutinate,
    Split,
    Translate,
]
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

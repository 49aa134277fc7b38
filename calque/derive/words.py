"""Transforms that change words. Gold links stay exact but may be many-to-many."""

import os
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from calque.derive.artefact import input_digest
from calque.derive.forms import Form, percent
from calque.derive.readers.lines import read_lines
from calque.derive.sentence import UNKNOWN, Sentence
from calque.derive.transform import Need, Transform, check_share, draw
from calque.derive.vocabulary import CLASSES

Rewritten = Sequence[tuple[str, Sequence[int]]]
LEXICON_FORMAT = 2  # incremented when the same lexicon would yield different sentences


class Rewrite(Transform):
    """Base class of transforms that change words; by default, only in sentences with word classes (UPOS)."""

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
    """Turns a random fraction `share` of function-word forms into endings of the content word that they
    precede, nearest first: *in the house* becomes *housethein*."""

    renames = False
    short_name, full_name = "agg", "Agg"
    forms = (percent("share", "-", "of the function words", "50", " {percent} %"),)
    examples = (("agg", ""), ("agg-50", "half of the function words"))
    term = "Agg turns function words into endings of the content word that they precede."

    share: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_share(self.share, "function words")

    def rewritten(self, sentence: Sentence, number: int) -> Rewritten:
        words: list[tuple[str, tuple[int, ...]]] = []
        waiting: list[int] = []  # function words not yet attached to a content word
        for place, (word, tag) in enumerate(zip(sentence.words, sentence.tags, strict=True)):
            kind = CLASSES.get(tag) if word != UNKNOWN else None
            if kind == "function" and _drawn(self.seed, word.lower()) < self.share:
                waiting.append(place)
                continue
            if kind in ("content", "names"):
                endings = "".join(sentence.words[index].lower() for index in reversed(waiting))
                words.append((word + endings, (place, *reversed(waiting))))
            else:
                words += [(sentence.words[index], (index,)) for index in (*waiting, place)]
            waiting = []
        return words + [(sentence.words[index], (index,)) for index in waiting]


@lru_cache(maxsize=1 << 12)
def _drawn(seed: int, word: str) -> float:
    return draw(f"agglutinate:{seed}:{word}", 0).random()


@dataclass(frozen=True)
class Split(Rewrite):
    """Turns endings of nouns and verbs into words, *walked* into *walk ed*. Stems have at least 3 letters."""

    renames = False
    short_name, full_name = "split", "Split"
    examples = (("split", "endings as words"),)
    term = "Split turns the endings of nouns and verbs into separate words."

    endings: tuple[str, ...] = ("ing", "ed", "es", "s")

    def rewritten(self, sentence: Sentence, number: int) -> Rewritten:
        words: list[tuple[str, tuple[int, ...]]] = []
        for place, (word, tag) in enumerate(zip(sentence.words, sentence.tags, strict=True)):
            ending = next((ending for ending in self.endings if word[3:].endswith(ending)), "")
            parts = (word.removesuffix(ending), ending) if ending and tag in ("NOUN", "VERB") else (word,)
            words += [(part, (place,)) for part in parts]
        return words


@dataclass(frozen=True)
class Translate(Rewrite):
    """Replaces each word, with probability `share`, by one of its translations, sampled at random: *the red
    house* becomes *la rouge maison*. Words without an entry stay unchanged. Each line of the lexicon
    CALQUE_DATA/lexicons/en-LANGUAGE.tsv contains a word, a tab and a translation."""

    short_name, full_name = "lex", "Lex"
    forms = (
        Form("language", "-", "{value}", None, str, "fr", " {}", "[a-z]+"),
        percent("share", "-", "{percent} %", "50"),
    )
    examples = (("lex-fr", "French words"),)
    term = "Lex replaces words with their translations from a lexicon."
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
    """Read the translations of each word, without repetitions."""
    senses: dict[str, dict[str, None]] = {}
    for place, line in read_lines(lexicon, must_end=True):
        words = line.split("\t")
        if len(words) != 2 or not all(map(str.strip, words)):
            raise place.fault(f"{line!r}: expected a word, a tab and its translation")
        senses.setdefault(words[0].strip(" "), {})[words[1].strip(" ")] = None
    return {word: list(translations) for word, translations in senses.items()}

"""A corpus's usage of types, types that are forms of the same word, and types that a derived language
shares."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

import numpy as np

from calque.derive.corpus import Corpus
from calque.derive.dictionary import only_ids
from calque.derive.types import OURS, Specials
from calque.derive.vocabulary import Vocabulary

USAGE = "usage.npy"  # next to a vocabulary, if a transform needs it
WordClass = Literal["function", "names", "content"]
CLASSES: dict[str, WordClass] = {
    **dict.fromkeys(("ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ"), "function"),
    "PROPN": "names",
    **dict.fromkeys(("ADJ", "ADV", "NOUN", "VERB"), "content"),
}
"""The class of a word by its UPOS tag; numerals, interjections, punctuation and symbols have none."""
NEARLY = 0.9  # a type belongs to a class if at least this share of its occurrences is in words of the class
Lemmas = Mapping[str, frozenset[str]]  # the lemmas of each word form
LINES = 1 << 16  # lines per counting step
_NAMES: tuple[WordClass, ...] = ("function", "names", "content")


@dataclass(frozen=True)
class Usage:
    """Occurrences of each type, (5, V): all, at the end of a word, and in words of each class. `cut` is
    `Vocabulary.cut`; `of_text` is false for the invented usage of `even`."""

    table: np.ndarray
    cut: Callable[[str], list[tuple[int, str]]] | None = None
    specials: Specials = OURS
    of_text: bool = True

    @classmethod
    def even(cls, size: int) -> Self:
        """A usage to try transforms with: each type occurs twice, once at the end of a word, in words of one
        class."""
        table = np.zeros((2 + len(_NAMES), size), np.int64)
        table[0], table[1] = 2, 1
        table[2 + np.arange(size) % len(_NAMES), np.arange(size)] = 2
        return cls(table, of_text=False)

    @classmethod
    def of(cls, ids: np.ndarray, pieces: np.ndarray, tags: Sequence[str], size: int) -> Self:
        """The usage in a text: sub-words (T,), their number per word (W,), and the words' UPOS tags ("" if
        unknown)."""
        number = {tag: _NAMES.index(name) for tag, name in CLASSES.items()}
        kind = np.repeat(np.fromiter((number.get(tag, -1) for tag in tags), np.int64, len(tags)), pieces)
        chosen = [ids, ids[np.cumsum(pieces) - 1], *(ids[kind == number] for number in range(len(_NAMES)))]
        return cls(np.stack([np.bincount(some, minlength=size) for some in chosen]))

    @property
    def size(self) -> int:
        """The number of types, V."""
        return self.table.shape[1]

    @property
    def counts(self) -> np.ndarray:
        """(V,) the number of occurrences of each type."""
        return np.asarray(self.table[0])

    @property
    def at_ends(self) -> np.ndarray:
        """(V,) the number of words whose last or only sub-word is the type."""
        return np.asarray(self.table[1])

    def of_class(self, name: WordClass) -> np.ndarray:
        """(V,) bool: the types that occur (almost) only in words of the class."""
        inside = self.table[2 + _NAMES.index(name)]
        return np.asarray((self.counts > 0) & (inside >= NEARLY * self.counts))


def gather_lemmas(pairs: Iterable[tuple[str, str]]) -> Lemmas:
    """The lemmas of each word form, from pairs of a form and a lemma."""
    gathered: defaultdict[str, set[str]] = defaultdict(set)
    for word, lemma in pairs:
        gathered[word].add(lemma)
    return {word: frozenset(lemmas) for word, lemmas in gathered.items()}


def other_forms(lemmas: Lemmas, vocabulary: Vocabulary) -> dict[int, frozenset[int]]:
    """For each type that is a word with a lemma, the types that are other forms of it; other letter case does
    not count."""
    words, occurring = sorted(lemmas), set(vocabulary.types.tolist())
    ids = only_ids(words, vocabulary)
    types = {word: only for word, only in zip(words, ids, strict=True) if only in occurring}
    forms: defaultdict[str, list[str]] = defaultdict(list)
    for word in types:
        for lemma in lemmas[word]:
            forms[lemma.lower()].append(word)
    mates: dict[int, frozenset[int]] = {}
    for word, own in types.items():
        others = {other for lemma in lemmas[word] for other in forms[lemma.lower()]}
        others_of_type = {types[form] for form in others if form.lower() != word.lower()}
        mates[own] = mates.get(own, frozenset()) | others_of_type
    return mates


def count_shared(derived: Path, types: np.ndarray, image: np.ndarray) -> dict[str, tuple[float, int]]:
    """The shares of types, sub-words and words of the corpus `derived` that its source has too, each with its
    denominator."""
    corpus, size = Corpus.open(derived), len(image)
    tokens = words = 0
    for first in range(0, len(corpus), LINES):
        lines = corpus.between(first, min(first + LINES, len(corpus)))
        ours = np.asarray(lines.tokens) < size
        tokens += int(ours.sum())
        starts = np.cumsum(lines.pieces, dtype=np.int64) - lines.pieces
        words += int(np.logical_and.reduceat(ours, starts).sum())
    alike = int((image[types] == types).sum())
    counts = {
        "types": (alike, len(types)),
        "tokens": (tokens, len(corpus.tokens)),
        "words": (words, len(corpus.pieces)),
    }
    return {name: (some / of, of) for name, (some, of) in counts.items() if of}

"""Types of a vocabulary in a corpus: how it uses each, which are forms of one word, and which a language shares.

Shapes: V types of the vocabulary, W words of a text, T of its sub-words, n some types.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from derive.corpus import Corpus
from derive.errors import BadInput
from derive.types import OURS, Specials

if TYPE_CHECKING:
    from derive.vocabulary import Vocabulary

USAGE = "usage.npy"
"""The file next to a vocabulary where a transform needs it."""
WordClass = Literal["function", "names", "content"]
CLASSES: dict[str, WordClass] = {
    **dict.fromkeys(("ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ"), "function"),
    "PROPN": "names",
    **dict.fromkeys(("ADJ", "ADV", "NOUN", "VERB"), "content"),
}
"""The class of a word, by its UPOS tag; numerals, interjections, marks and symbols have none."""
NEARLY = 0.9
"""A type is of a class if at least this share of its occurrences is in words of the class."""
Lemmas = Mapping[str, frozenset[str]]
"""The lemmas of each word: several where words look alike."""
LINES = 1 << 16
"""Lines that are counted at a time."""
_NAMES: tuple[WordClass, ...] = ("function", "names", "content")
_NUMBER = {tag: _NAMES.index(name) + 2 for tag, name in CLASSES.items()}


@dataclass(frozen=True)
class Usage:
    """Occurrences of each type, (5, V) int64: all, at the end of a word, and in words of each class.

    `cut` is `Vocabulary.cut`, where words are to be shown, and `specials` are that vocabulary's. `of_text` says that a
    text was counted, so that what it has none of is missing.
    """

    table: np.ndarray
    cut: Callable[[str], list[tuple[int, str]]] | None = None
    specials: Specials = OURS
    of_text: bool = True

    @classmethod
    def even(cls, size: int) -> Usage:
        """That of `size` types of which each occurs twice, once at the end of a word, in words of one class: what a
        transform is tried out with before any text is read."""
        table = np.zeros((2 + len(_NAMES), size), np.int64)
        table[0], table[1] = 2, 1
        table[2 + np.arange(size) % len(_NAMES), np.arange(size)] = 2
        return cls(table, of_text=False)

    @classmethod
    def of(cls, ids: np.ndarray, pieces: np.ndarray, tags: Sequence[str], size: int) -> Usage:
        """That of a text: sub-words (T,), how many each word has (W,), and the words' UPOS tags, "" where unknown."""
        kind = np.repeat(np.fromiter((_NUMBER.get(tag, 0) for tag in tags), np.int64, len(tags)), pieces)
        ends = np.cumsum(pieces) - 1
        chosen = [ids, ids[ends], *(ids[kind == number] for number in range(2, 2 + len(_NAMES)))]
        return cls(np.stack([np.bincount(some, minlength=size) for some in chosen]))

    @property
    def size(self) -> int:
        """V."""
        return self.table.shape[1]

    @property
    def counts(self) -> np.ndarray:
        """(V,) the occurrences of each type."""
        return np.asarray(self.table[0])

    @property
    def at_ends(self) -> np.ndarray:
        """(V,) how often each type is the last sub-word of a word, or the only one."""
        return np.asarray(self.table[1])

    def of_class(self, name: WordClass) -> np.ndarray:
        """(V,) bool: the types that occur, and (nearly) only in words of the class."""
        inside = self.table[2 + _NAMES.index(name)]
        return np.asarray((self.counts > 0) & (inside >= NEARLY * self.counts))

    def save(self, folder: Path) -> None:
        """Write `usage.npy` to the folder of the vocabulary."""
        np.save(folder / USAGE, self.table)

    @classmethod
    def load(cls, folder: Path) -> Usage:
        """Read what `save` wrote.

        Raises:
            BadInput: it is missing or damaged.
        """
        try:
            return cls(np.load(folder / USAGE, allow_pickle=False))
        except (OSError, ValueError) as error:
            raise BadInput(f"expected how the corpus uses each type: {error}", folder / USAGE) from None


def gather_lemmas(pairs: Iterable[tuple[str, str]]) -> Lemmas:
    """The lemmas of each word of (word, lemma) pairs."""
    gathered: defaultdict[str, set[str]] = defaultdict(set)
    for word, lemma in pairs:
        gathered[word].add(lemma)
    return {word: frozenset(lemmas) for word, lemmas in gathered.items()}


def other_forms(lemmas: Lemmas, vocabulary: Vocabulary) -> dict[int, frozenset[int]]:
    """For each type that is a whole word with a lemma, the types that are other forms of it: often none.

    Both occur in the corpus. Words that differ in capitals alone are one form.
    """
    words = sorted(lemmas)
    ids, pieces = vocabulary.encode_all(words)
    first = ids[np.cumsum(pieces) - pieces]
    whole = (pieces == 1) & np.isin(first, vocabulary.types)
    types = {words[i]: int(first[i]) for i in np.flatnonzero(whole)}
    forms: defaultdict[str, list[str]] = defaultdict(list)
    for word in types:
        for lemma in lemmas[word]:
            forms[lemma.lower()].append(word)
    mates: defaultdict[int, set[int]] = defaultdict(set)
    for word, own in types.items():
        others = (other for lemma in lemmas[word] for other in forms[lemma.lower()])
        mates[own] |= {types[other] for other in others if other.lower() != word.lower()}
    return {own: frozenset(others) for own, others in mates.items()}


@dataclass(frozen=True)
class Shared:
    """What a language shares with its source, and of how many: types that occur, sub-words and words of the text.

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
        """Each as a share, with the number that it is a share of, if that is not 0."""
        counts = {name: (getattr(self, name), getattr(self, f"of_{name}")) for name in ("types", "tokens", "words")}
        return {name: (some / of, of) for name, (some, of) in counts.items() if of}


def count_shared(derived: Path, types: np.ndarray, image: np.ndarray) -> Shared:
    """What a derived corpus shares with its source, by the ids of its sub-words.

    Args:
        derived: folder of the corpus.
        types: (n,) ids of the types that the source's corpus uses.
        image: (V,) the derived id of each type.
    """
    corpus, size = Corpus.open(derived), len(image)
    tokens = words = 0
    for first in range(0, len(corpus), LINES):
        lines = corpus.between(first, min(first + LINES, len(corpus)))
        ours = np.asarray(lines.tokens) < size
        tokens += int(ours.sum())
        words += int(np.logical_and.reduceat(ours, np.cumsum(lines.pieces, dtype=np.int64) - lines.pieces).sum())
    alike = int((image[types] == types).sum())
    return Shared(alike, len(types), tokens, len(corpus.tokens), words, len(corpus.pieces))

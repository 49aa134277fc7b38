"""A corpus's usage of types: how often each occurs, at the ends of words and in words of each class."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from calque.derive.types import OURS, Specials

USAGE = "usage.npy"  # stored next to a vocabulary, if a transform needs it
WordClass = Literal["function", "names", "content"]
CLASSES: dict[str, WordClass] = {
    **dict.fromkeys(("ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ"), "function"),
    "PROPN": "names",
    **dict.fromkeys(("ADJ", "ADV", "NOUN", "VERB"), "content"),
}
"""The class of a word by its UPOS tag; numerals, interjections, punctuation and symbols have none."""
NEARLY = 0.9  # a type belongs to a class if at least this fraction of its occurrences is in the class's words
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
        """Create a usage for trying out transforms: each type occurs twice, once at the end of a word, in
        words of one class."""
        table = np.zeros((2 + len(_NAMES), size), np.int64)
        table[0], table[1] = 2, 1
        table[2 + np.arange(size) % len(_NAMES), np.arange(size)] = 2
        return cls(table, of_text=False)

    @classmethod
    def of(cls, ids: np.ndarray, pieces: np.ndarray, tags: Sequence[str], size: int) -> Self:
        """Count the usage in a text: sub-words (T,), their number per word (W,), and the words' UPOS tags (""
        if unknown)."""
        number = {tag: _NAMES.index(name) for tag, name in CLASSES.items()}
        kind = np.repeat(np.fromiter((number.get(tag, -1) for tag in tags), np.int64, len(tags)), pieces)
        chosen = [ids, ids[np.cumsum(pieces) - 1], *(ids[kind == number] for number in range(len(_NAMES)))]
        return cls(np.stack([np.bincount(some, minlength=size) for some in chosen]))

    @property
    def size(self) -> int:
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

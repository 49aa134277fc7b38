"""How often each type occurs in a corpus: in total, at the ends of words, and in words of each class."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np

from calque.derive.types import OURS, Specials

USAGE = "usage.npy"  # stored with the vocabulary if a transform needs it
WordClass = Literal["function", "names", "content"]
CLASSES: dict[str, WordClass] = {
    **dict.fromkeys(("ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ"), "function"),
    "PROPN": "names",
    **dict.fromkeys(("ADJ", "ADV", "NOUN", "VERB"), "content"),
}
"""Maps UPOS tags to word classes; numerals, interjections, punctuation and symbols have no class."""
NEARLY = 0.9  # a type belongs to a class if at least this fraction of its uses does
_NAMES: tuple[WordClass, ...] = get_args(WordClass)


@dataclass(frozen=True)
class Usage:
    """How often each type occurs, (5, V): in total, at the ends of words, and in words of each of three
    classes. `cut` is `Vocabulary.cut`; `of_text` is false for artificial usage."""

    table: np.ndarray
    cut: Callable[[str], list[tuple[int, str]]] | None = None
    specials: Specials = OURS
    of_text: bool = True

    @classmethod
    def even(cls, size: int) -> Self:
        """Create an artificial usage: each type occurs twice, in words of one class, once at the end of a
        word."""
        table = np.zeros((2 + len(_NAMES), size), np.int64)
        table[0], table[1] = 2, 1
        table[2 + np.arange(size) % len(_NAMES), np.arange(size)] = 2
        return cls(table, of_text=False)

    @classmethod
    def of(cls, ids: np.ndarray, pieces: np.ndarray, tags: Sequence[str], size: int) -> Self:
        """Count types in a text, given its sub-words (T,), sub-words per word (W,), and the words' UPOS tags
        or ""."""
        kind = np.repeat(np.array([CLASSES.get(tag, "") for tag in tags], str), pieces)
        chosen = [ids, ids[np.cumsum(pieces) - 1], *(ids[kind == name] for name in _NAMES)]
        return cls(np.stack([np.bincount(some, minlength=size) for some in chosen]))

    @property
    def size(self) -> int:
        return self.table.shape[1]

    @property
    def counts(self) -> np.ndarray:
        return np.asarray(self.table[0])

    @property
    def at_ends(self) -> np.ndarray:
        return np.asarray(self.table[1])

    def of_class(self, name: WordClass) -> np.ndarray:
        """Whether each type occurs (almost) only in words of the class, (V,) bool."""
        inside = self.table[2 + _NAMES.index(name)]
        return np.asarray((self.counts > 0) & (inside >= NEARLY * self.counts))

"""How a corpus uses the types of a vocabulary: how often, at the end of words or inside, in words of which class.

Shapes: V types of the vocabulary, W words of a text, T of its sub-words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from derive.errors import BadInput
from derive.types import OURS, Specials

USAGE = "usage.npy"
"""The file beside a vocabulary where a transform asked for it."""
WordClass = Literal["function", "names", "content"]
CLASSES: dict[str, WordClass] = {
    **dict.fromkeys(("ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ"), "function"),
    "PROPN": "names",
    **dict.fromkeys(("ADJ", "ADV", "NOUN", "VERB"), "content"),
}
"""The class of a word, by its UPOS tag; numerals, interjections, marks and symbols have none."""
NEARLY = 0.9
"""A type is of a class if at least this share of its occurrences stands in words of the class."""
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
        """(V,) how often each type occurs."""
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

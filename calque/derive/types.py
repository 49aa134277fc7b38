"""Special types of a vocabulary, the layout of input rows with two texts, and type counts in a corpus."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np

from calque.derive.ragged import ends_of


@dataclass(frozen=True)
class Specials:
    """The ids of a vocabulary's special types, which never occur in text; Calque ignores the `others`."""

    start: int
    pad: int
    end: int
    unknown: int
    mask: int
    others: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.ids)) < len(self.ids) or min(self.ids) < 0:
            ids = ", ".join(map(str, self.ids))
            raise ValueError(f"special types need different ids of at least 0, not {ids}")

    @property
    def ids(self) -> tuple[int, ...]:
        return (self.start, self.pad, self.end, self.unknown, self.mask, *self.others)

    def ordinary(self, size: int) -> np.ndarray:
        """Return the ids that are not special in a vocabulary of `size` types, in ascending order, int64."""
        return np.delete(np.arange(size), self.ids)

    def is_ordinary(self, ids: np.ndarray) -> np.ndarray:
        """Whether each id is not special, as a boolean array."""
        first = next(i for i in range(len(self.ids) + 1) if i not in self.ids)
        ordinary = np.asarray(ids >= first)  # comparisons are many times faster than looking up ids
        for special in self.ids:
            if special > first:
                ordinary &= ids != special
        return ordinary


@dataclass(frozen=True)
class PairLayout:
    """The special ids before, between and after a row's two texts, and each text's token type."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    types: tuple[int, int]

    @classmethod
    def usual(cls, specials: Specials) -> Self:
        """Return RoBERTa's and XLM-R's layout: `<s> text </s> </s> text </s>`, with a single token type."""
        return cls((specials.start,), (specials.end, specials.end), (specials.end,), (0, 0))

    def around(self, number: int, last: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the special ids before and after text `number` (0 or 1), which may be the row's `last`."""
        return (self.between[1:] if number else self.before), (self.after if last else self.between[:1])

    def marks(self, texts: int) -> int:
        return len(self.before) + (texts - 1) * len(self.between) + len(self.after)


SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
OURS = Specials(*range(len(SPECIALS)))  # the special ids in vocabularies learnt by Calque

USAGE = "usage.npy"  # a file next to the vocabulary, written if a transform needs type counts
WordClass = Literal["function", "names", "content"]
CLASSES: dict[str, WordClass] = {
    **dict.fromkeys(("ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ"), "function"),
    "PROPN": "names",
    **dict.fromkeys(("ADJ", "ADV", "NOUN", "VERB"), "content"),
}
"""Maps UPOS tags to word classes; numerals, interjections, punctuation and symbols have no class."""
NEARLY = 0.9  # a type belongs to a class if at least this fraction of its occurrences does
WORD_CLASSES: tuple[WordClass, ...] = get_args(WordClass)


@dataclass(frozen=True)
class Usage:
    """The counts of each type, (5, V): in total, at the ends of words, and in words of each class. `cut` is
    `Vocabulary.cut`; `of_text` is false if the counts are artificial."""

    table: np.ndarray
    cut: Callable[[str], list[tuple[int, str]]] | None = None
    specials: Specials = OURS
    of_text: bool = True

    @classmethod
    def even(cls, size: int) -> Self:
        """Create artificial counts: each type occurs twice, in words of one class, and once at a word end."""
        table = np.zeros((2 + len(WORD_CLASSES), size), np.int64)
        table[0], table[1] = 2, 1
        table[2 + np.arange(size) % len(WORD_CLASSES), np.arange(size)] = 2
        return cls(table, of_text=False)

    @classmethod
    def of(cls, ids: np.ndarray, pieces: np.ndarray, tags: Sequence[str], size: int) -> Self:
        """Count the types in a text, given the ids of its sub-words (T,), and the number of sub-words (W,)
        and the UPOS tag (or "") of each word."""
        kind = np.repeat(np.array([CLASSES.get(tag, "") for tag in tags], str), pieces)
        groups = [ids, ids[ends_of(pieces)[1:] - 1], *(ids[kind == name] for name in WORD_CLASSES)]
        return cls(np.stack([np.bincount(group, minlength=size) for group in groups]))

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
        """Whether each type occurs (almost) exclusively in words of the given class, (V,) bool."""
        class_counts = self.table[2 + WORD_CLASSES.index(name)]
        return np.asarray((self.counts > 0) & (class_counts >= NEARLY * self.counts))

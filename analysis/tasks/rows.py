"""Examples as rows of ids. Shapes: L ids of a row, K targets of a row, V types of a vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from derive.languages import Languages
from derive.types import OURS, Specials

UNLABELLED = -100
"""The target of an id that has none: what torch's cross-entropy passes over."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a model sees at once, and what it should answer: `ids` (L,) and `targets` (K,), int32.

    The task's head says what a target means; UNLABELLED ones teach nothing.
    """

    ids: np.ndarray
    targets: np.ndarray


@dataclass(frozen=True)
class Reader:
    """How the words of one language become ids: a vocabulary's `encode`, then `table` (V,), the ids in that language.

    `number` is what the language is called as a token type, where a model has them.
    """

    encode: Callable[[str], Sequence[int]]
    table: np.ndarray
    number: int
    specials: Specials = OURS

    @classmethod
    def of(cls, languages: Languages, name: str) -> Reader:
        """The reader of the language `name`."""
        language, encode = languages[name], languages.vocabulary.encode
        if language.places is None:
            return cls(encode, language.table, language.number, languages.specials)
        inside, at_end = language.places
        size = len(at_end)

        def by_place(word: str) -> Sequence[int]:
            """A sub-word that another follows counts from V on."""
            *before, last = encode(word)
            return *(i + size for i in before), last

        return cls(by_place, np.concatenate([at_end, inside]), language.number, languages.specials)

    def pieces(self, word: str) -> Sequence[int]:
        """The ids of a word in the vocabulary: `row` makes them the language's.

        Raises:
            ValueError: there are none.
        """
        pieces = self.encode(word)
        if not pieces:
            raise ValueError(f"the word {word!r} has no sub-words")
        return pieces

    def row(self, ids: Sequence[int], targets: Sequence[int]) -> Row:
        """A row of ids of the vocabulary, special ones included, in this language."""
        return Row(self.table[np.asarray(ids)].astype(np.int32), np.asarray(targets, np.int32))


def windows(reader: Reader, words: Sequence[str], targets: Sequence[int], length: int) -> tuple[list[Row], bool]:
    """As few rows `<s> words </s>` of whole words as hold them all, and whether that is one that cuts nothing.

    A word's target stands at its first sub-word; a word longer than a row loses its end and nothing else.

    Raises:
        ValueError: a word has no sub-words.
    """
    start, end = reader.specials.start, reader.specials.end
    rows = [([start], [UNLABELLED])]
    whole = True
    for word, target in zip(words, targets, strict=True):
        pieces = reader.pieces(word)
        shown = pieces[: length - 2]
        if len(rows[-1][0]) + len(shown) >= length:
            rows.append(([start], [UNLABELLED]))
        ids, marks = rows[-1]
        ids += shown
        marks += [target] + [UNLABELLED] * (len(shown) - 1)
        whole &= len(shown) == len(pieces)
    made = [reader.row([*ids, end], [*marks, UNLABELLED]) for ids, marks in rows]
    return made, whole and len(made) == 1


def joined(reader: Reader, texts: Sequence[Sequence[str]], target: int, length: int) -> tuple[Row, bool]:
    """One row `<s> text </s> </s> text </s>` of all texts, and whether nothing had to be cut.

    The longest text gives up its last sub-words, one at a time, until they fit.

    Raises:
        ValueError: a word has no sub-words.
    """
    flat = [[piece for word in words for piece in reader.pieces(word)] for words in texts]
    keep = [len(pieces) for pieces in flat]
    room = length - 2 * len(texts)
    while sum(keep) > room:
        keep[keep.index(max(keep))] -= 1
    start, end = reader.specials.start, reader.specials.end
    ids: list[int] = []
    for pieces, n in zip(flat, keep, strict=True):
        ids += [end if ids else start, *pieces[:n], end]
    return reader.row(ids, [target]), sum(keep) == sum(map(len, flat))

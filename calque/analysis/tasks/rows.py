"""Encode examples as rows of ids. Shapes: L ids in a row, K targets in a row, V types in a vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain
from unicodedata import category

import numpy as np

from calque.derive.languages import Languages
from calque.derive.sentence import Sentence
from calque.derive.vocabulary import OURS, PairLayout, Specials, Vocabulary

REMEMBERED = 64  # number of cached texts; caching helps if questions share paragraphs
UNLABELLED = -100  # the target of ids without a label, which torch's cross-entropy ignores
ZERO = np.zeros(1, np.uint8)  # shared by all rows whose token types are all 0


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A model's input `ids` (L,), and `targets` (K,) whose meaning the head defines. `language` is the token
    type for models with language embeddings, and `types`, (1,) or (L,), are the tokenizer's token types."""

    ids: np.ndarray
    targets: np.ndarray
    language: int = field(default=0, kw_only=True)
    types: np.ndarray = field(default_factory=lambda: ZERO, kw_only=True)


@dataclass(frozen=True)
class Pieces:
    """A text's sub-words: their `ids`, and the character offsets at which they start and end, (N,) each."""

    ids: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)

    def between(self, start: int, end: int) -> tuple[int, int] | None:
        """The first and last sub-word that overlap the characters from `start` to `end`, or None."""
        inside = np.flatnonzero((self.ends > start) & (self.starts < end))
        return (int(inside[0]), int(inside[-1])) if len(inside) else None


@dataclass(frozen=True)
class Reader:
    """Maps words to ids in a language: `encode` returns a vocabulary's ids, and `table` (V,) maps them to the
    language's ids. `encode_text` splits a text as written."""

    encode: Callable[[str], Sequence[int]]
    table: np.ndarray
    number: int
    specials: Specials = OURS
    encode_text: Callable[[str], Pieces] | None = None
    layout: PairLayout | None = None

    @classmethod
    def of(cls, languages: Languages, name: str) -> Reader:
        language, vocabulary = languages[name], languages.vocabulary
        about = language.number, languages.specials
        if language.places is None:
            return cls(vocabulary.encode, language.table, *about, layout=vocabulary.layout)
        inside, at_end = language.places

        def by_place(word: str) -> Sequence[int]:
            *before, last = vocabulary.encode(word)
            return *(piece + len(at_end) for piece in before), last

        return cls(by_place, np.concatenate([at_end, inside]), *about, layout=vocabulary.layout)

    @classmethod
    def of_given(cls, vocabulary: Vocabulary) -> Reader:
        """Return a reader for a given tokenizer. It encodes tagged words one by one and all other text as
        written."""

        @lru_cache(REMEMBERED)
        def as_written(text: str) -> Pieces:
            (encoding,) = vocabulary.encode_texts([f" {text}"])
            covered = [_trimmed(text, max(0, start - 1), max(0, end - 1)) for start, end in encoding.offsets]
            starts, ends = np.array(_with_marks(text, covered), np.int64).reshape(-1, 2).T
            return Pieces(vocabulary.as_text(np.array(encoding.ids, np.int64)), starts, ends)

        table = np.arange(vocabulary.size)
        return cls(vocabulary.encode, table, 0, vocabulary.specials, as_written, vocabulary.layout)

    def pieces(self, word: str) -> Sequence[int]:
        pieces = self.encode(word)
        if not len(pieces):
            raise ValueError(f"the word {word!r} has no sub-words")
        return pieces

    def read(self, sentences: Sequence[Sentence]) -> Pieces:
        """Split a text into sub-words, as written or word by word."""
        text = " ".join(sentence.text for sentence in sentences)
        if self.encode_text:
            encoded = self.encode_text(text)
            if not len(encoded):
                raise ValueError(f"the text {text!r} has no sub-words")
            return encoded
        ids, starts, ends, end = list[int](), list[int](), list[int](), 0
        for word in chain.from_iterable(sentence.words for sentence in sentences):
            pieces, start = self.pieces(word), text.index(word, end)
            end = start + len(word)
            ids += pieces
            starts += [start] * len(pieces)
            ends += [end] * len(pieces)
        return Pieces(*(np.array(column, np.int64) for column in (ids, starts, ends)))

    def row(self, ids: Sequence[int] | np.ndarray, targets: Sequence[int]) -> TaskRow:
        """Return the vocabulary's ids as a row in this language."""
        images = self.table[np.asarray(ids)].astype(np.int32)
        return TaskRow(images, np.asarray(targets, np.int32), language=self.number)

    @cached_property
    def pairs(self) -> PairLayout:
        return self.layout or PairLayout.usual(self.specials)

    def row_of_texts(self, texts: Sequence[Sequence[int] | np.ndarray], targets: Sequence[int]) -> TaskRow:
        """Combine texts in the layout `pairs`."""
        ids, types = list[int](), list[int]()
        for number, text in enumerate(texts):
            before, after = self.pairs.around(number, number == len(texts) - 1)
            part = [*before, *text, *after]
            ids += part
            types += [self.pairs.types[number]] * len(part)
        row = self.row(ids, targets)
        return replace(row, types=np.array(types, np.uint8)) if any(types) else row


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Move a span's ends inwards past spaces."""
    covered = text[start:end]
    start += len(covered) - len(covered.lstrip())
    return start, max(start, start + len(covered.strip()))


def _with_marks(text: str, covered: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Extend sub-words to cover adjacent combining marks that the tokenizer drops."""
    inside = {place for start, end in covered for place in range(start, end)}
    dropped = {i for i, letter in enumerate(text) if i not in inside and category(letter).startswith("M")}
    extended = list[tuple[int, int]]()
    for start, end in covered:
        if start < end:
            before = start
            while before - 1 in dropped:
                before -= 1
            if before == 0 or text[before - 1].isspace():
                start = before
            while end in dropped:
                end += 1
        extended.append((start, end))
    return extended


def windows(
    reader: Reader, words: Sequence[str], targets: Sequence[int], length: int
) -> tuple[list[TaskRow], bool]:
    """Split words over as few rows `<s> words </s>` as possible; also return whether everything fits into
    one."""
    start, end = reader.specials.start, reader.specials.end
    rows = [([start], [UNLABELLED])]
    fits = True
    for word, target in zip(words, targets, strict=True):
        pieces = reader.pieces(word)
        truncated = pieces[: length - 2]
        if len(rows[-1][0]) + len(truncated) >= length:
            rows.append(([start], [UNLABELLED]))
        ids, marks = rows[-1]
        ids += truncated
        marks += [target] + [UNLABELLED] * (len(truncated) - 1)
        fits &= len(truncated) == len(pieces)
    return [reader.row([*ids, end], [*marks, UNLABELLED]) for ids, marks in rows], fits and len(rows) == 1


def joined(
    reader: Reader, texts: Sequence[Sequence[Sentence]], target: int, length: int
) -> tuple[TaskRow, bool]:
    """Combine all texts in a single row; also return whether nothing was truncated."""
    flat = [reader.read(text).ids for text in texts]
    sizes = [len(pieces) for pieces in flat]
    room = length - reader.pairs.marks(len(texts))
    while sum(sizes) > room:
        sizes[sizes.index(max(sizes))] -= 1
    ids = [pieces[:size] for pieces, size in zip(flat, sizes, strict=True)]
    return reader.row_of_texts(ids, [target]), sum(sizes) == sum(map(len, flat))

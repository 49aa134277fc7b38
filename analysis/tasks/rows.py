"""Examples as padded rows of ids. Shapes: N examples, R rows, L ids of the longest row, V source types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.tasks.task import Split, words_of
from derive.errors import BadInput
from derive.types import END, PAD, START
from pretrain.batch import UNLABELLED

Row = tuple[list[int], list[int]]
"""A row's ids and, at each, its label or UNLABELLED."""


@dataclass(frozen=True)
class Language:
    """How a word becomes ids: a source vocabulary's `encode`, then `image`, (V,) int64.

    `number` is what the language is called as a token type, where a model has them (pretrain.data).
    """

    encode: Callable[[str], Sequence[int]]
    image: np.ndarray
    number: int


@dataclass(frozen=True)
class Encoded:
    """Rows ready to be batched.

    `ids` is (R, L) int32, padded; `lengths` (R,) counts what is not padding; `labels` is (R, L) int32 with UNLABELLED
    where none is, or (R,) where an example has one. `sizes` (N,) is the number of labels of each example, so that
    predictions, which come row by row, can be handed back example by example. `cut` counts the examples that did
    not fit: tagged ones stand in several rows with every word, of a pair's longer text the end is left out.
    """

    ids: np.ndarray
    lengths: np.ndarray
    labels: np.ndarray
    sizes: np.ndarray
    language: int
    cut: int

    @property
    def per_word(self) -> bool:
        """Whether labels stand at words or at rows."""
        return self.labels.ndim == 2

    def __len__(self) -> int:
        return len(self.ids)


def encode_split(split: Split, labels: Sequence[str], per_word: bool, language: Language, length: int) -> Encoded:
    """Encode examples into rows of at most `length` ids, as `<s> words </s>` or `<s> text </s> </s> text </s>`.

    A word's label stands at its first sub-word.

    Raises:
        BadInput: with file and line; a label that the training data do not have, or a word without sub-words.
    """
    numbers = {label: number for number, label in enumerate(labels)}
    rows: list[Row] = []
    cut = 0
    for line, (example, gold) in enumerate(zip(split.examples, split.gold, strict=True), start=1):
        try:
            targets = [numbers[label] for label in gold]
            texts = (words_of(example),) if per_word else [[w for s in text for w in s.words] for text in example.texts]
            pieces = [[_pieces(language, word) for word in words] for words in texts]
        except KeyError as error:
            expected = ", ".join(labels)
            raise BadInput(f"unknown label {error}; the training data have {expected}", split.path, line) from None
        except ValueError as error:
            raise BadInput(str(error), split.path, line) from None
        made, whole = _windows(pieces[0], targets, length) if per_word else _joined(pieces, targets[0], length)
        rows += made
        cut += not whole
    ids, lengths = _padded([row for row, _ in rows], PAD)
    # Words' image, and that of the marks and the padding too: every language shares the special types.
    return Encoded(
        ids=language.image.astype(np.int32)[ids],
        lengths=lengths,
        labels=_padded([marks for _, marks in rows], UNLABELLED)[0] if per_word else np.array([m[0] for _, m in rows]),
        sizes=np.array([len(gold) for gold in split.gold]),
        language=language.number,
        cut=cut,
    )


def _pieces(language: Language, word: str) -> Sequence[int]:
    pieces = language.encode(word)
    if not pieces:
        raise ValueError(f"the word {word!r} has no sub-words")
    return pieces


def _windows(words: Sequence[Sequence[int]], labels: Sequence[int], length: int) -> tuple[list[Row], bool]:
    """As few rows of whole words as hold them all; a word longer than a row loses its end and nothing else."""
    rows: list[Row] = [([START], [UNLABELLED])]
    whole = True
    for pieces, label in zip(words, labels, strict=True):
        shown = pieces[: length - 2]
        if len(rows[-1][0]) + len(shown) >= length:
            rows.append(([START], [UNLABELLED]))
        ids, marks = rows[-1]
        ids += shown
        marks += [label] + [UNLABELLED] * (len(shown) - 1)
        whole &= len(shown) == len(pieces)
    for ids, marks in rows:
        ids.append(END)
        marks.append(UNLABELLED)
    return rows, whole and len(rows) == 1


def _joined(texts: Sequence[Sequence[Sequence[int]]], label: int, length: int) -> tuple[list[Row], bool]:
    """One row of all texts; the longest gives up its last sub-words, one at a time, until they fit."""
    flat = [[piece for word in words for piece in word] for words in texts]
    keep = [len(pieces) for pieces in flat]
    room = length - 2 * len(texts)
    while sum(keep) > room:
        keep[keep.index(max(keep))] -= 1
    ids: list[int] = []
    for pieces, n in zip(flat, keep, strict=True):
        ids += [END if ids else START, *pieces[:n], END]
    return [(ids, [label])], sum(keep) == sum(map(len, flat))


def _padded(rows: Sequence[Sequence[int]], filler: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows as one array, (R, L) int32, and their lengths, (R,)."""
    lengths = np.array([len(row) for row in rows])
    padded = np.full((len(rows), lengths.max()), filler, np.int32)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = np.concatenate([np.asarray(row) for row in rows])
    return padded, lengths

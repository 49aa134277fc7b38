"""Lines of text to ids, exactly as the tokenizer encodes each whole line, and how many of them each word has.

Words are what white space separates. Most lines are put together from words that were encoded before, which takes a
fraction of the time: a tokenizer that parts text at every space gives a word the same ids wherever it stands between
spaces. Each new word is encoded between two others, and what it makes of its neighbours is compared; lines with a word
that changes them, with other white space than single spaces, or whose words are long, are encoded whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from derive.natural.encoded import Encoded, joined
from derive.vocabulary import Vocabulary
from derive.word_table import WordTable

FIRST = "\n"
"""Marks the first word of a line, which no space stands before; no word has it."""
BESIDE = "a"
"""The word that a new word is encoded beside."""
LONG = 24
"""Letters a word, on average, from which on the words of a line are not worth remembering: a text without spaces."""


class LineEncoder:
    """Encodes lines that have no white space at their ends. Words without an id are none."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        between = _Between(vocabulary)
        self._table = WordTable(between) if between.exact else None

    def __call__(self, lines: list[str]) -> Encoded:
        """The ids of each line: what the tokenizer gives for it, without special types around it."""
        split = list(map(str.split, lines))
        known = [
            self._table is not None and len(line) < LONG * len(words) and " ".join(words) == line
            for line, words in zip(lines, split, strict=True)
        ]
        put = [number for number, yes in enumerate(known) if yes]
        remembered, exact = self._put_together([split[number] for number in put])
        chosen = np.array(put, np.int64)[exact]
        whole = np.delete(np.arange(len(lines)), chosen)
        rest = self.whole([lines[number] for number in whole.tolist()])
        order = np.empty(len(lines), np.int64)
        order[np.concatenate([chosen, whole])] = np.arange(len(lines))
        return joined([remembered.take(np.flatnonzero(exact)), rest]).take(order)

    def _put_together(self, lines: list[list[str]]) -> tuple[Encoded, np.ndarray]:
        """Lines as their words' ids, and which of them are exact, (N,) bool."""
        if self._table is None or not lines:
            return joined([]), np.empty(0, bool)
        words = np.fromiter(map(len, lines), np.int64, len(lines))
        flat = list(chain.from_iterable(lines))
        starts = np.cumsum(words) - words
        for start in starts.tolist():
            flat[start] = FIRST + flat[start]
        ids, pieces = self._table.encode(flat)
        return Encoded(ids, pieces, words), np.minimum.reduceat(pieces, starts) > 0

    def whole(self, lines: list[str]) -> Encoded:
        """The same, each line encoded as a whole."""
        encodings = self._vocabulary.encode_texts(lines)
        made = [_of_words(line, encoding) for line, encoding in zip(lines, encodings, strict=True)]
        ids = list(chain.from_iterable(encoding.ids for encoding in encodings))
        pieces = list(chain.from_iterable(made))
        words = [len(pieces) for pieces in made]
        return Encoded(
            self._vocabulary.as_text(np.array(ids, np.int64)), np.array(pieces, np.int64), np.array(words, np.int64)
        )


def _of_words(line: str, encoding: object) -> list[int]:
    """How many ids each word of a line has, but for those that have none."""
    offsets = encoding.offsets  # type: ignore[attr-defined]
    words = line.split()
    if len(words) == 1:
        return [len(offsets)] if offsets else []
    ends, end = [], 0
    for word in words:
        end = line.index(word, end) + len(word)
        ends.append(end)
    # An id may begin with the space before its word, and a word may begin with an id that is nothing but that space.
    at = np.searchsorted(ends, [last for _, last in offsets])
    counts = np.bincount(np.minimum(at, len(ends) - 1), minlength=0)
    return [int(count) for count in counts if count]


class _Between:
    """Words as they stand between others; one without ids is one that is not known to be the same in every line."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self.size, self.specials = vocabulary.size, vocabulary.specials
        both = self._encode([f"{BESIDE} {BESIDE}", BESIDE])
        self._first, self._last = both[1], both[0][len(both[1]) :]
        self.exact = both[0][: len(both[1])] == both[1] and vocabulary.parts_at_spaces

    def encode_all(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """As `Vocabulary.encode_all`; words with `FIRST` before them begin a line."""
        texts = [f"{word[1:]} {BESIDE}" if word.startswith(FIRST) else f"{BESIDE} {word} {BESIDE}" for word in words]
        made = [self._middle(ids, word) for ids, word in zip(self._encode(texts), words, strict=True)]
        pieces = np.fromiter(map(len, made), np.int64, len(made))
        ids = np.fromiter(chain.from_iterable(made), np.int64, int(pieces.sum()))
        return self._vocabulary.as_text(ids), pieces

    def _middle(self, ids: list[int], word: str) -> list[int]:
        """The ids of the word, if its neighbours have theirs."""
        first = 0 if word.startswith(FIRST) else len(self._first)
        last = len(ids) - len(self._last)
        if ids[:first] != self._first[:first] or ids[last:] != self._last or last <= first:
            return []
        return ids[first:last]

    def _encode(self, texts: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._vocabulary.encode_texts(texts, places=False)]

"""Units of text, what stands between single spaces: each distinct one is encoded once.

A tokenizer that parts text at every space gives a unit the same ids wherever it stands, unless it begins or ends with
a character that joins what is beside it: a combining mark, or one whose normal form, Unicode's or the tokenizer's own,
has a space. Such units, and those that change their neighbours where they are tried out, are unsafe: their lines are
encoded whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from unicodedata import category, normalize

import numpy as np

from derive.natural.encoded import Encoded, joined
from derive.vocabulary import Vocabulary

FIRST = "\n"
"""Marks a unit that begins a line, where that makes a difference; no unit has it."""
BESIDE = "a"
"""What stands on both sides of a unit that is tried out."""
TOGETHER = 32
"""Units that are tried out in one text."""
ROOM = 1 << 18
"""Units that are remembered; with more, all are forgotten, so that memory does not grow with the text."""


class UnitTable:
    """The ids of the units met so far.

    Attributes:
        exact: whether the tokenizer parts text at spaces, so that lines can be put together from units at all.
        firsts: whether a unit that begins a line has ids of its own.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        both, alone = (encoding.ids for encoding in vocabulary.encode_texts([f"{BESIDE} {BESIDE}", BESIDE]))
        self._alone, self._beside = alone, both[len(alone) :]
        self.exact = vocabulary.parts_at_spaces and both[: len(alone)] == alone
        self.firsts = self._alone != self._beside
        self._open: dict[str, bool] = {}
        self._clear()

    def _clear(self) -> None:
        self._rows: defaultdict[str, int] = defaultdict()
        self._rows.default_factory = self._rows.__len__  # a new unit gets the next row
        self._encoded = joined([])

    def encode(self, units: list[str]) -> Encoded:
        """The units' ids and words; an unsafe one has none."""
        if len(self._rows) > ROOM:
            self._clear()
        before = len(self._rows)
        rows = np.fromiter(map(self._rows.__getitem__, units), np.int64, len(units))
        if len(self._rows) > before:
            self._encoded = joined([self._encoded, self._new(list(islice(self._rows, before, None)))])
        return self._encoded.take(rows)

    def _new(self, units: list[str]) -> Encoded:
        """New units, tried out several in a text, and one by one where they change one another."""
        first = [[i] for i, unit in enumerate(units) if unit.startswith(FIRST) and self._is_safe(unit[1:])]
        other = [i for i, unit in enumerate(units) if not unit.startswith(FIRST) and self._is_safe(unit)]
        groups = [*first, *(other[i : i + TOGETHER] for i in range(0, len(other), TOGETHER))]
        encoded, good = self._try_out([[units[i] for i in group] for group in groups])
        again = [i for group, fine in zip(groups, good.tolist(), strict=True) if not fine for i in group]
        alone, _ = self._try_out([[units[i]] for i in again])
        parts, tried = joined([encoded, alone]), np.array(list(chain.from_iterable(groups)), np.int64)
        at = np.full(len(units), len(parts.words))  # what was not tried out is as a last one, without words
        at[tried] = np.arange(len(tried))
        at[again] = len(tried) + np.arange(len(again))
        return Encoded(parts.ids, parts.pieces, np.append(parts.words, 0)).take(at)

    def _is_safe(self, unit: str) -> bool:
        return is_safe(unit) and not (self._has_space(unit[0]) or self._has_space(_last(unit)))

    def _has_space(self, character: str) -> bool:
        """Whether the tokenizer writes a space for a character, as SentencePiece does for U+FFFD.

        Between two units it is one with the space that is there, and where a line ends it is one more.
        """
        if character not in self._open:
            self._open[character] = " " in self._vocabulary.normal(character)
        return self._open[character]

    def _try_out(self, groups: Sequence[Sequence[str]]) -> tuple[Encoded, np.ndarray]:
        """The units of all groups, and in which groups no neighbour of a unit changed; units of others have no ids."""
        if not groups:
            return joined([]), np.empty(0, bool)
        texts, segments = [], []
        for group in groups:
            begins = group[0].startswith(FIRST)
            texts.append(f"{'' if begins else f'{BESIDE} '}{f' {BESIDE} '.join(group).removeprefix(FIRST)} {BESIDE}")
            sizes = [1] * (2 * len(group) + 1)
            sizes[1::2] = [len(unit.split()) for unit in group]
            segments.append(sizes[begins:])
        text_of = np.repeat(np.arange(len(texts)), list(map(len, segments)))  # of each segment: a unit or a neighbour
        size = np.fromiter(chain.from_iterable(segments), np.int64, len(text_of))
        beside = np.concatenate([np.arange(len(one)) % 2 == (len(one) + 1) % 2 for one in segments])
        opens = np.append(True, np.diff(text_of) > 0) & beside

        encodings = self._vocabulary.encode_texts(texts)
        counts, ordered = pieces_of(texts, [encoding.offsets for encoding in encodings])
        ids = np.fromiter(chain.from_iterable(encoding.ids for encoding in encodings), np.int64, int(counts.sum()))
        firsts = np.cumsum(size) - size
        pieces = np.add.reduceat(counts, firsts)
        fine = np.where(beside, _equal(ids, pieces, self._beside), pieces > 0)
        fine = np.where(opens, _equal(ids, pieces, self._alone), fine)
        good = ordered & (np.bincount(text_of, ~fine, len(texts)) == 0)
        kept = ~beside & good[text_of]
        words = np.add.reduceat(counts > 0, firsts, dtype=np.int64)
        of_word, of_id = np.repeat(kept, size) & (counts > 0), np.repeat(kept, pieces)
        return Encoded(self._vocabulary.as_text(ids[of_id]), counts[of_word], np.where(kept, words, 0)[~beside]), good


def _equal(ids: np.ndarray, pieces: np.ndarray, expected: Sequence[int]) -> np.ndarray:
    """Which segments of so many ids each have the ids that are expected, (S,) bool."""
    fine = pieces == len(expected)
    starts = (np.cumsum(pieces) - pieces)[fine]
    fine[fine] = np.all([ids[starts + i] == one for i, one in enumerate(expected)], axis=0)
    return fine


def pieces_of(texts: Sequence[str], offsets: Sequence[Sequence[tuple[int, int]]]) -> tuple[np.ndarray, np.ndarray]:
    """How many ids each word of all texts has, (W,), and in which texts ids are in the words' order, (N,) bool.

    White space separates words. An id may begin with the space before its word, and a word with an id that is nothing
    but that space.
    """
    words = [text.split() for text in texts]
    many = np.fromiter(map(len, words), np.int64, len(words))
    lengths = np.fromiter(map(len, chain.from_iterable(words)), np.int64, int(many.sum()))
    ends = np.cumsum(lengths + 1) - 1  # with one character of white space between words
    bases = np.append(0, np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1))
    last = np.cumsum(many)
    if not np.array_equal(ends[last - 1] + 1, bases[1:]):  # somewhere there is more of it
        each = zip(bases[:-1].tolist(), texts, words, strict=True)
        ends = np.fromiter((base + end for base, text, one in each for end in _ends(text, one)), np.int64, len(ends))
    pieces = np.fromiter(map(len, offsets), np.int64, len(offsets))
    stops = np.fromiter((stop for one in offsets for _, stop in one), np.int64, int(pieces.sum()))
    at = np.searchsorted(ends, stops + np.repeat(bases[:-1], pieces))
    text_of = np.repeat(np.arange(len(texts)), pieces)
    at = np.minimum(at, (last - 1)[text_of])
    back = text_of[1:][np.diff(at) < 0]
    return np.bincount(at, minlength=len(lengths)), np.isin(np.arange(len(texts)), back, invert=True)


def _ends(text: str, words: Sequence[str]) -> Iterator[int]:
    end = 0
    for word in words:
        end = text.index(word, end) + len(word)
        yield end


def is_safe(unit: str) -> bool:
    """Whether neither the first nor the last character of a unit, with the marks on it, joins what is beside it."""
    return bool(unit) and _stands(unit[0], "LNPS") and _stands(_last(unit), "LNPS")


def _last(unit: str) -> str:
    """The last character that is no mark."""
    return next((character for character in reversed(unit) if not _stands(character, "M")), " ")


@lru_cache(1 << 16)
def _stands(character: str, kinds: str) -> bool:
    """Whether a character and its normal form are of these kinds: letters, numbers, punctuation, symbols, marks."""
    if category(character) == "Sk" and not character.isascii():
        return False  # among them the tones of emoji, which join what is before them
    return all(category(one)[0] in kinds for one in normalize("NFKC", character))

"""Lines of text to ids, exactly as the tokenizer encodes each whole line, and how many of them each word has."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from derive.corpus import Shard
from derive.natural.piece import Piece
from derive.vocabulary import Vocabulary


def encode_lines(vocabulary: Vocabulary, lines: Sequence[str]) -> Shard:
    """The ids of lines: what the tokenizer gives for each, without special types around it.

    Words are what white space separates; those without an id are left out.
    """
    encodings = vocabulary.encode_texts(lines)
    pieces = [
        _pieces(line, [stop for _, stop in encoding.offsets]) for line, encoding in zip(lines, encodings, strict=True)
    ]
    ids = np.fromiter(chain.from_iterable(encoding.ids for encoding in encodings), np.int64)
    return Shard(
        vocabulary.as_text(ids),
        np.fromiter(chain.from_iterable(pieces), np.int64),
        np.fromiter(map(len, pieces), np.int64, len(pieces)),
    )


def _pieces(line: str, stops: Sequence[int]) -> list[int]:
    """How many ids each word of a line has that has any; ids end before the characters `stops`.

    An id may begin with the space before its word. All ids are one word's if they are not in the words' order.
    """
    ends, end = [], 0
    for word in line.split():
        end = line.index(word, end) + len(word)
        ends.append(end)
    words = [min(bisect_left(ends, stop), len(ends) - 1) for stop in stops]
    return list(Counter(words).values()) if words == sorted(words) else [len(words)]


class EncodedPiece(NamedTuple):
    """A piece as ids, `sides` one per language, of as many lines each.

    `lines` counts those that have text, `left_out` what is in no side. `size` is the piece's.
    """

    sides: list[Shard]
    lines: int
    left_out: Counter[str]
    size: int


@dataclass(frozen=True)
class EncodePiece:
    """Encode a piece; `digest` stands for the contents of the vocabulary's folder."""

    vocabulary: Path
    digest: str
    piece: Piece

    def __call__(self) -> EncodedPiece:
        left_out: Counter[str] = Counter()
        vocabulary = _vocabulary(self.vocabulary, self.digest)
        sides = [encode_lines(vocabulary, lines) for lines in self.piece.columns(left_out)]
        empty = np.any([side.words == 0 for side in sides], axis=0)
        long = np.any([side.too_long for side in sides], axis=0) & ~empty
        left_out["lines without a type"] += int(empty.sum())
        left_out["too long lines"] += int(long.sum())
        kept = np.flatnonzero(~(empty | long))
        return EncodedPiece([side.take(kept).small() for side in sides], len(empty), +left_out, self.piece.size)


@lru_cache(maxsize=1)
def _vocabulary(folder: Path, digest: str) -> Vocabulary:
    return Vocabulary.load(folder)

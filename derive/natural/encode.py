"""Lines of text to ids, exactly as the tokenizer encodes each whole line, and how many of them each word has.

Words are what white space separates. Most lines are put together from units that were encoded before, which takes a
fraction of the time; a line with an unsafe unit (`derive.natural.units`), of one unit or of long ones is encoded whole.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path

import numpy as np

from derive.corpus import Shard, joined
from derive.natural.piece import Piece
from derive.natural.seen import hashes
from derive.natural.units import FIRST, UnitTable, pieces_of
from derive.vocabulary import Vocabulary

LONG = 24
"""Bytes a unit, on average, from which on those of a line are not worth remembering: a text without spaces."""


class LineEncoder:
    """Encodes lines that have no white space at their ends. Words without an id are none."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._table = UnitTable(vocabulary)

    def __call__(self, lines: list[str]) -> Shard:
        """The ids of each line: what the tokenizer gives for it, without special types around it."""
        units = [line.split(" ") for line in lines]
        short = [1 < len(parts) > len(line.encode()) / LONG for line, parts in zip(lines, units, strict=True)]
        tried = np.flatnonzero(np.array(short, bool) & self._table.exact)
        put, exact = self._put_together([units[number] for number in tried.tolist()])
        chosen = tried[exact]
        whole = np.delete(np.arange(len(lines)), chosen)
        rest = self.whole([lines[number] for number in whole.tolist()])
        order = np.empty(len(lines), np.int64)
        order[np.concatenate([chosen, whole])] = np.arange(len(lines))
        return joined([put.take(np.flatnonzero(exact)), rest]).take(order)

    def _put_together(self, lines: list[list[str]]) -> tuple[Shard, np.ndarray]:
        """Lines as their units' ids, and which of them are exact, (N,) bool: those without an unsafe unit."""
        if not lines:
            return joined([]), np.empty(0, bool)
        sizes = np.fromiter(map(len, lines), np.int64, len(lines))
        flat = list(chain.from_iterable(lines))
        starts = np.cumsum(sizes) - sizes
        if self._table.firsts:
            for start in starts.tolist():
                flat[start] = FIRST + flat[start]
        encoded = self._table.encode(flat)
        words = np.add.reduceat(encoded.words, starts)
        return Shard(encoded.ids, encoded.pieces, words), np.minimum.reduceat(encoded.words, starts) > 0

    def whole(self, lines: list[str]) -> Shard:
        """The same, each line encoded as a whole."""
        words = np.fromiter((len(line.split()) for line in lines), np.int64, len(lines))
        single, several = np.flatnonzero(words < 2), np.flatnonzero(words > 1)
        order = np.empty(len(lines), np.int64)
        order[np.concatenate([single, several])] = np.arange(len(lines))
        parts = [self._single([lines[i] for i in single.tolist()]), self._several([lines[i] for i in several.tolist()])]
        return joined(parts).take(order)

    def _single(self, lines: list[str]) -> Shard:
        """Lines of one word, or of none."""
        ids = [encoding.ids for encoding in self._vocabulary.encode_texts(lines, places=False)]
        pieces = np.fromiter(map(len, ids), np.int64, len(ids))
        return Shard(self._flat(ids), pieces[pieces > 0], (pieces > 0).astype(np.int64))

    def _several(self, lines: list[str]) -> Shard:
        """Lines of several words; all ids are one word's if they are not in the words' order."""
        encodings = self._vocabulary.encode_texts(lines)
        counts, ordered = pieces_of(lines, [encoding.offsets for encoding in encodings])
        sizes = np.fromiter((len(line.split()) for line in lines), np.int64, len(lines))
        ids = [encoding.ids for encoding in encodings]
        starts = np.cumsum(sizes) - sizes
        for line in np.flatnonzero(~ordered).tolist():
            here = slice(starts[line], starts[line] + sizes[line])
            counts[here] = 0
            counts[here.start] = len(ids[line])
        words = np.add.reduceat(counts > 0, starts, dtype=np.int64) if lines else sizes
        return Shard(self._flat(ids), counts[counts > 0], words)

    def _flat(self, ids: list[list[int]]) -> np.ndarray:
        return self._vocabulary.as_text(np.fromiter(chain.from_iterable(ids), np.int64, sum(map(len, ids))))


@dataclass(frozen=True)
class EncodedPiece:
    """A piece as ids, `sides` one a language, of as many lines each.

    `read` counts its lines that have text, `left_out` what is in no side. `hashes` (N,) are its lines', on request.
    `size` is the piece's, in bytes on the disk.
    """

    sides: list[Shard]
    read: int
    left_out: Counter[str]
    hashes: np.ndarray | None
    size: int

    def only(self, lines: np.ndarray) -> list[Shard]:
        """The sides without all other lines, (N,) bool."""
        return self.sides if lines.all() else [side.take(np.flatnonzero(lines)) for side in self.sides]


@dataclass(frozen=True)
class EncodePiece:
    """Encode a piece; `digest` stands for the contents of the vocabulary's folder. `hashed` asks for hashes."""

    vocabulary: Path
    digest: str
    piece: Piece
    hashed: bool

    def __call__(self) -> EncodedPiece:
        left_out: Counter[str] = Counter()
        columns = self.piece.columns(left_out)
        encode = _encoder(self.vocabulary, self.digest)
        sides = [encode(lines) for lines in columns]
        empty = np.any([side.words == 0 for side in sides], axis=0)
        long = np.any([side.too_long for side in sides], axis=0) & ~empty
        left_out["lines without a type"] += int(empty.sum())
        left_out["too long lines"] += int(long.sum())
        kept = np.flatnonzero(~(empty | long))
        if len(kept) < len(empty):
            sides = [side.take(kept) for side in sides]
            columns = tuple([lines[i] for i in kept.tolist()] for lines in columns)
        return EncodedPiece(
            [side.small() for side in sides],
            len(empty),
            +left_out,
            hashes(columns) if self.hashed else None,
            self.piece.size,
        )


@lru_cache(maxsize=1)
def _encoder(vocabulary: Path, digest: str) -> LineEncoder:
    return LineEncoder(Vocabulary.load(vocabulary))

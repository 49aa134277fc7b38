"""What a worker does: read a piece of text, encode it, and leave out what a corpus cannot hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from derive.natural.encode import LineEncoder
from derive.natural.encoded import Encoded
from derive.natural.piece import Piece
from derive.natural.seen import hashes
from derive.vocabulary import Vocabulary


@dataclass(frozen=True)
class EncodedPiece:
    """A piece as ids, `sides` one a language, of as many lines each.

    `read` counts its lines that have text, `left_out` what is in no side. `hashes` (N,) are those of its lines, where
    they were asked for; `size` is the piece's, in bytes on the disk.
    """

    sides: list[Encoded]
    read: int
    left_out: Counter[str]
    hashes: np.ndarray | None
    size: int

    def only(self, lines: np.ndarray) -> list[Encoded]:
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


def call(job: EncodePiece) -> EncodedPiece:
    """Run a job: what worker processes are given."""
    return job()


@lru_cache(maxsize=1)
def _encoder(vocabulary: Path, digest: str) -> LineEncoder:
    return LineEncoder(Vocabulary.load(vocabulary))

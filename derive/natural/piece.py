"""A piece of a file of text, or of parallel text, that one worker reads on its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

from derive.readers.lines import Block
from derive.readers.markup import ESCAPED, seems_escaped, unescaped


class Piece(Protocol):
    """A frozen dataclass of plain values. What it holds depends on the files alone, never on who reads."""

    @property
    def offset(self) -> int:
        """Where it begins, in bytes before compression."""

    @property
    def size(self) -> int:
        """How many bytes of the files on the disk were read for it, for progress."""

    def columns(self, left_out: Counter[str]) -> tuple[list[str], ...]:
        """Lines of text in one language, or as many in each of two, none of them blank; the rest is counted.

        Raises:
            BadInput: with file and line, where it is not what it should be.
        """


@dataclass(frozen=True)
class BlockPiece:
    """A piece that is a block of one file."""

    block: Block

    @property
    def offset(self) -> int:
        return self.block.offset

    @property
    def size(self) -> int:
        return self.block.size


@dataclass(frozen=True)
class ChangedPiece(Piece):
    """A piece whose lines are changed, or left out, after it was read."""

    piece: Piece

    @property
    def offset(self) -> int:
        return self.piece.offset

    @property
    def size(self) -> int:
        return self.piece.size


def columns_of(rows: Sequence[Sequence[str]], many: int) -> tuple[list[str], ...]:
    """The `many` columns of some rows; empty ones if there are no rows."""
    return tuple(map(list, zip(*rows, strict=True))) if rows else tuple([] for _ in range(many))


@dataclass(frozen=True)
class UnescapedPiece(ChangedPiece):
    """A piece whose characters are escaped (`&quot;`) if `escaped`; if not, lines that seem to be are counted."""

    escaped: bool

    def columns(self, left_out: Counter[str]) -> tuple[list[str], ...]:
        columns = self.piece.columns(left_out)
        if not self.escaped:
            left_out[ESCAPED] += sum(map(seems_escaped, chain.from_iterable(columns)))
            return columns
        rows = list(zip(*([unescaped(line, left_out).strip() for line in lines] for lines in columns), strict=True))
        kept = [row for row in rows if all(row)]
        left_out["blank lines"] += len(rows) - len(kept)
        return columns_of(kept, len(columns))


class Files(Protocol):
    """Files of text, or of parallel text."""

    def pieces(self) -> Iterator[Piece]:
        """The pieces in order."""

    @property
    def distinct(self) -> bool:
        """Whether lines that came before are left out."""

    @property
    def size(self) -> int:
        """Bytes on the disk."""

    def identity(self) -> list[Any]:
        """What decides the text, for a fingerprint."""

"""A piece of a file of text, or of parallel text, that one worker reads on its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress
from typing import Any, Protocol

from derive.readers.markup import ESCAPED, seems_escaped, unescaped

Columns = tuple[list[str], ...]
"""Lines of text in one language, or as many in each of two, none of them blank."""
Change = Callable[[Columns, Counter[str]], Columns]


@dataclass(frozen=True)
class Piece:
    """Some whole records of files; it depends on the files alone, never on who reads it. `read` finds the lines in the
    `content`, and `changes` follow in their order. All of these can be pickled. `offset` is where the piece begins, in
    bytes before compression, and `size` how many bytes on the disk were read for it."""

    content: Any
    read: Callable[[Any, Counter[str]], Columns]
    offset: int
    size: int
    changes: tuple[Change, ...] = ()

    def then(self, change: Change) -> Piece:
        return replace(self, changes=(*self.changes, change))

    def columns(self, left_out: Counter[str]) -> Columns:
        """Read the piece; `left_out` counts what is not in the lines."""
        columns = self.read(self.content, left_out)
        for change in self.changes:
            columns = change(columns, left_out)
        return columns


class Files(Protocol):
    """Files of text, or of parallel text."""

    def pieces(self) -> Iterator[Piece]:
        """The pieces in order."""

    @property
    def size(self) -> int:
        """Bytes on the disk."""

    def identity(self) -> list[Any]:
        """What decides the text, for a fingerprint."""


def only(columns: Columns, fits: Callable[[Sequence[str]], bool]) -> Columns:
    """The rows of aligned columns that fit."""
    kept = [fits(row) for row in zip(*columns, strict=True)]
    return tuple(list(compress(lines, kept)) for lines in columns)


def unescape(columns: Columns, left_out: Counter[str]) -> Columns:
    """Unescape the characters of lines (`&quot;`)."""
    lines = tuple([unescaped(line, left_out).strip() for line in column] for column in columns)
    kept = only(lines, all)
    left_out["blank lines"] += len(lines[0]) - len(kept[0])
    return kept


def count_escaped(columns: Columns, left_out: Counter[str]) -> Columns:
    """Count the lines whose characters seem to be escaped."""
    left_out[ESCAPED] += sum(map(seems_escaped, chain.from_iterable(columns)))
    return columns

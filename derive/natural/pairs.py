"""Parallel text in lines: a sentence and its translation in two columns, or in two files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from derive.errors import BadInput
from derive.natural.piece import BlockPiece, Piece
from derive.readers.blocks import SIZE, Block, blocks, ends_line
from derive.readers.compressed import LIMIT, opened, place, raw_lines
from derive.readers.placeholders import PLACEHOLDERS, is_placeholder

MANY = 1 << 14
"""Lines of two files that are read together."""
Row = tuple[bytes | None, bytes | None]
"""A line of each of two files; None where one of them has ended."""


def whole_pairs(pairs: Iterable[tuple[str, str]], left_out: Counter[str]) -> tuple[list[str], list[str]]:
    """Both sides of the pairs that have text on both, without white space at their ends; the others are counted.

    A pair is left out too where a side is a placeholder of a missing translation.
    """
    first, second = [], []
    for pair in pairs:
        a, b = pair[0].strip(), pair[1].strip()
        if is_placeholder(a) or is_placeholder(b):
            left_out[PLACEHOLDERS] += 1
        elif a and b:
            first.append(a)
            second.append(b)
        else:
            left_out["pairs with an empty side" if a or b else "blank lines"] += 1
    return first, second


def columns(path: Path, places: tuple[int, int]) -> Iterator[Piece]:
    """The pieces of a file with tabs, whose columns `places`, counted from 0, are read."""
    return (ColumnsPiece(block, places) for block in blocks(path, ends_line, "line end", SIZE))


@dataclass(frozen=True)
class ColumnsPiece(BlockPiece):
    """Some lines of a file with tabs."""

    places: tuple[int, int]

    def columns(self, left_out: Counter[str]) -> tuple[list[str], ...]:
        return whole_pairs(self._pairs(left_out), left_out)

    def _pairs(self, left_out: Counter[str]) -> Iterator[tuple[str, str]]:
        (first, second), least = self.places, max(self.places) + 1
        for number, line in enumerate(self.block.lines(left_out), start=self.block.line):
            row = line.split("\t")
            if len(row) >= least:
                yield row[first], row[second]
            elif line.strip():
                raise BadInput(f"{len(row)} columns between tabs; expected at least {least}", self.block.path, number)
            else:
                yield "", ""


def two_files(path: Path, beside: Path) -> Iterator[Piece]:
    """The pieces of two files, line i of one translating line i of the other.

    Raises:
        BadInput: they have not as many lines.
    """
    with opened(path) as first, opened(beside) as second:
        files = (first, second)
        rows = zip_longest(raw_lines(first, path), raw_lines(second, beside))
        line, offsets, before, uneven = 1, [0, 0], [0, 0], 0
        while some := _some(rows):
            for number, (a, b) in enumerate(some, start=line):
                if a is None or b is None:
                    counts = [
                        number - (side is None) + sum(1 for _ in file) for side, file in ((a, first), (b, second))
                    ]
                    where = f"; line {uneven:,} is the first that is blank in one of them only" if uneven else ""
                    raise BadInput(
                        f"{counts[1]:,} lines for the {counts[0]:,} of {path}; expected a translation a line{where}",
                        beside,
                    )
                if not uneven and (not a.strip()) != (not b.strip()):
                    uneven = number
            made = [
                Block(name, line, offset, b"".join(side), place(file) - start)
                for name, offset, side, file, start in zip(
                    (path, beside), offsets, zip(*some, strict=True), files, before, strict=True
                )
            ]
            yield TwoFilesPiece(*made)
            line, before = line + len(some), [place(file) for file in files]
            offsets = [offset + len(block.data) for offset, block in zip(offsets, made, strict=True)]


def _some(rows: Iterator[Row]) -> list[Row]:
    """The next `MANY` rows, fewer where they are long or one of the files has ended."""
    some, size = list[Row](), 0
    while len(some) < MANY and size < LIMIT and (row := next(rows, None)):
        some.append(row)
        if None in row:
            break
        size += sum(map(len, filter(None, row)))
    return some


@dataclass(frozen=True)
class TwoFilesPiece:
    """Some lines of two files, from the same line on."""

    first: Block
    second: Block

    @property
    def offset(self) -> int:
        return self.first.offset

    @property
    def size(self) -> int:
        return self.first.size + self.second.size

    def columns(self, left_out: Counter[str]) -> tuple[list[str], ...]:
        return whole_pairs(zip(self.first.lines(left_out), self.second.lines(left_out), strict=True), left_out)

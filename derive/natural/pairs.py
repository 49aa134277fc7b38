"""Parallel text in lines: a sentence and its translation in two columns, or in two files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from derive.errors import BadInput
from derive.natural.piece import BlockPiece, Piece
from derive.readers.blocks import SIZE, Block, blocks, ends_line
from derive.readers.compressed import opened, place

MANY = 1 << 14
"""Lines of two files that are read together."""


def whole_pairs(pairs: Iterable[tuple[str, str]], left_out: Counter[str]) -> tuple[list[str], list[str]]:
    """Both sides of the pairs that have text on both, without white space at their ends; the others are counted."""
    first, second = [], []
    for pair in pairs:
        a, b = pair[0].strip(), pair[1].strip()
        if a and b:
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
        return whole_pairs(self._pairs(), left_out)

    def _pairs(self) -> Iterator[tuple[str, str]]:
        (first, second), least = self.places, max(self.places) + 1
        for number, line in enumerate(self.block.lines, start=self.block.line):
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
        files, line, offsets, before, uneven = (first, second), 1, [0, 0], [0, 0], 0
        while True:
            sides = [list(islice(file, MANY)) for file in files]
            uneven = uneven or _uneven(sides, line)
            if len(sides[0]) != len(sides[1]):
                counts = [line - 1 + len(side) + sum(1 for _ in file) for side, file in zip(sides, files, strict=True)]
                where = f"; line {uneven:,} is the first that is blank in one of them only" if uneven else ""
                raise BadInput(
                    f"{counts[1]:,} lines for the {counts[0]:,} of {path}; expected a translation a line{where}", beside
                )
            if not sides[0]:
                return
            made = [
                Block(name, line, offset, b"".join(side), place(file) - start)
                for name, offset, side, file, start in zip((path, beside), offsets, sides, files, before, strict=True)
            ]
            yield TwoFilesPiece(*made)
            line, before = line + len(sides[0]), [place(file) for file in files]
            offsets = [offset + len(block.data) for offset, block in zip(offsets, made, strict=True)]


def _uneven(sides: list[list[bytes]], line: int) -> int:
    """The number of the first line that is blank on one side only; 0 where there is none."""
    for number, (a, b) in enumerate(zip(*sides, strict=False), start=line):
        if (not a.strip()) != (not b.strip()):
            return number
    return 0


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
        return whole_pairs(zip(self.first.lines, self.second.lines, strict=True), left_out)

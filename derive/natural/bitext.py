"""Files of sentences and their translations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from derive.digests import digest
from derive.errors import BadInput
from derive.natural.piece import Piece
from derive.readers.blocks import Block, blocks
from derive.readers.compressed import opened, place
from derive.readers.lines import decode

MANY = 1 << 15
"""Lines of two files that are read together."""


@dataclass(frozen=True)
class ColumnsPiece(Piece):
    """Some lines of a file with a sentence and its translation in two columns, between tabs."""

    block: Block
    places: tuple[int, int]

    @property
    def done(self) -> int:  # type: ignore[override]
        return self.block.done

    def columns(self, left_out: Counter[str]) -> tuple[list[str], ...]:
        pairs = []
        least = max(self.places) + 1
        text = decode(self.block.data, self.block.path, self.block.line)
        for number, line in enumerate(text.removesuffix("\n").split("\n"), start=self.block.line):
            columns = line.split("\t")
            if len(columns) < least:
                if not line.strip():
                    left_out["blank lines"] += 1
                    continue
                raise BadInput(f"{len(columns)} columns between tabs; expected {least}", self.block.path, number)
            pairs.append((columns[self.places[0]], columns[self.places[1]]))
        return whole_pairs(pairs, left_out)


@dataclass(frozen=True)
class TwoFilesPiece(Piece):
    """Some lines of two files, from the same line on."""

    first: Block
    second: Block

    @property
    def done(self) -> int:  # type: ignore[override]
        return self.first.done + self.second.done

    def columns(self, left_out: Counter[str]) -> tuple[list[str], ...]:
        sides = [
            decode(block.data, block.path, block.line).removesuffix("\n").split("\n")
            for block in (self.first, self.second)
        ]
        return whole_pairs(list(zip(*sides, strict=True)), left_out)


def whole_pairs(pairs: list[tuple[str, str]], left_out: Counter[str]) -> tuple[list[str], list[str]]:
    """Both sides of the pairs that have text on both, without white space at their ends."""
    stripped = [(first.strip(), second.strip()) for first, second in pairs]
    kept = [pair for pair in stripped if all(pair)]
    blank = sum(not any(pair) for pair in stripped)
    left_out["blank lines"] += blank
    left_out["pairs with an empty side"] += len(pairs) - len(kept) - blank
    return [first for first, _ in kept], [second for _, second in kept]


@dataclass(frozen=True)
class BitextFiles:
    """Sentences and their translations, a pair of lines a pair.

    They lie in `path` and `beside`, line by line (as Moses has them), or, without `beside`, in two `columns` of a file
    with tabs, counted from 0: that of the first language and that of the second.
    """

    path: Path
    beside: Path | None = None
    columns: tuple[int, int] = (0, 1)

    def __post_init__(self) -> None:
        if min(self.columns) < 0 or self.columns[0] == self.columns[1]:
            raise BadInput(f"two different columns, counted from 0, not {self.columns[0]} and {self.columns[1]}")

    def pieces(self) -> Iterator[Piece]:
        """The pieces of the bitext in order.

        Raises:
            BadInput: a file cannot be read, or the two have not as many lines.
        """
        if self.beside is not None:
            return _two_files(self.path, self.beside)
        return (ColumnsPiece(block, self.columns) for block in blocks(self.path, _line_end, "line end"))

    @property
    def size(self) -> int:
        """Bytes on the disk, for progress."""
        return sum(path.stat().st_size for path in self._paths)

    def identity(self) -> list[Any]:
        """What decides the pairs, for a fingerprint: where the files lie does not matter."""
        return [[digest(path) for path in self._paths], self.columns]

    @property
    def _paths(self) -> tuple[Path, ...]:
        return (self.path,) if self.beside is None else (self.path, self.beside)


def _line_end(line: bytes) -> bool:
    return line.endswith(b"\n")


def _two_files(path: Path, beside: Path) -> Iterator[Piece]:
    with opened(path) as first, opened(beside) as second:
        line, offsets = 1, [0, 0]
        while True:
            sides = [list(islice(file, MANY)) for file in (first, second)]
            if len(sides[0]) != len(sides[1]):
                counts = [
                    line - 1 + len(side) + sum(1 for _ in file)
                    for side, file in zip(sides, (first, second), strict=True)
                ]
                raise BadInput(
                    f"{counts[1]:,} lines for the {counts[0]:,} of {path}; expected a translation a line", beside
                )
            if not sides[0]:
                return
            made = [
                Block(name, line, offset, b"".join(side), place(file))
                for name, offset, side, file in zip((path, beside), offsets, sides, (first, second), strict=True)
            ]
            yield TwoFilesPiece(*made)
            line += len(sides[0])
            offsets = [offset + len(block.data) for offset, block in zip(offsets, made, strict=True)]

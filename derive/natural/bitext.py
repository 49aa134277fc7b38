"""Files of sentences and their translations: in two columns, in two files, or in the units of a TMX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from derive.digests import digest
from derive.errors import BadInput
from derive.natural.piece import BlockPiece, Piece, UnescapedPiece
from derive.natural.tmx import is_xml, units
from derive.readers.compressed import LIMIT, bytes_read, check_file, open_bytes, raw_lines
from derive.readers.lines import SIZE, Block, Place, blocks, ends_line, up_to
from derive.readers.markup import whole_pairs
from derive.readers.parallel import Pair, words_of
from derive.readers.text import COLUMNS, annotation, head

MANY = 1 << 14
"""Lines of two files that are read together."""
Row = tuple[bytes | None, bytes | None]
"""A line of each of two files; None where one of them has ended."""


@dataclass(frozen=True)
class BitextFiles:
    """Sentences and their translations, of the first language and the second.

    They are in `path` and `beside`, line by line, as Moses has them; or, without `beside`, in two `columns`, counted
    from 0, of a file with tabs; or in the units of a TMX, where xml:lang calls the languages `codes`.
    `distinct` leaves out pairs that came before, in any file of the bitext. `megabytes` takes only the head, to the end
    of the piece that reaches it (0: all of it), in bytes of the first file before compression. `escaped` says that
    characters are escaped, as Moses's tokenizer does (`&quot;`), and are to be unescaped.
    """

    path: Path
    beside: Path | None = None
    columns: tuple[int, int] = (0, 1)
    codes: tuple[str, str] | None = None
    distinct: bool = False
    megabytes: int = 0
    escaped: bool = False

    def __post_init__(self) -> None:
        if min(self.columns) < 0 or self.columns[0] == self.columns[1]:
            raise BadInput(f"two different columns, counted from 0, not {self.columns[0]} and {self.columns[1]}")
        if self.codes and self.codes[0].lower() == self.codes[1].lower():
            raise BadInput(f"two different codes of languages, not {self.codes[0]} twice")
        if self.megabytes < 0:
            raise BadInput(f"megabytes is 0 (all of it) or more, not {self.megabytes}")

    def pieces(self) -> Iterator[Piece]:
        """The pieces of the bitext in order."""
        return (UnescapedPiece(piece, self.escaped) for piece in up_to(self.megabytes, self._pieces()))

    def _pieces(self) -> Iterator[Piece]:
        if self.beside is not None:
            for path in self._paths:
                _check_text(path)
            return _two_files(self.path, self.beside)
        if is_xml(self.path):
            if self.codes is None:
                raise BadInput("TMX, and no codes; expected those of the two languages in its xml:lang", self.path)
            return units(self.path, self.codes)
        _check_text(self.path, columns=True)
        return (ColumnsPiece(block, self.columns) for block in blocks(self.path, ends_line, "line end", SIZE))

    def words(self, source: str, target: str, left_out: Counter[str]) -> Iterator[Pair]:
        """Stream the pairs' words in the style of sets of gold links; `source` and `target` are codes as in en."""
        for piece in self.pieces():
            counts: Counter[str] = Counter()
            columns = piece.columns(counts)
            left_out.update(+counts)
            for first, second in zip(*columns, strict=True):
                yield words_of(first, source), words_of(second, target)

    @property
    def size(self) -> int:
        return sum(path.stat().st_size for path in self._paths)

    def identity(self) -> list[Any]:
        for path in self._paths:
            check_file(path)
        files = [digest(path) for path in self._paths]
        return [files, self.columns, self.codes, self.distinct, self.megabytes, self.escaped]

    @property
    def _paths(self) -> tuple[Path, ...]:
        return (self.path,) if self.beside is None else (self.path, self.beside)


def _check_text(path: Path, columns: bool = False) -> None:
    """Refuse a file that is annotated, or JSON or XML; whether `columns` are expected."""
    with open_bytes(path) as file:
        first, lines = head(path, file)
    if (kind := annotation(first, lines)) and not (columns and kind == COLUMNS):
        raise BadInput(f"{kind}; expected sentences and their translations", path, lines[0][0])


@dataclass(frozen=True)
class ColumnsPiece(BlockPiece):
    """Some lines of a file with tabs, whose columns `places`, counted from 0, are read."""

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
                fault = f"{len(row)} columns between tabs; expected at least {least}"
                raise Place(self.block.path, number).fault(fault)
            else:
                yield "", ""


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


def _two_files(path: Path, beside: Path) -> Iterator[Piece]:
    """The pieces of two files, line i of one translating line i of the other; they must have as many lines."""
    with open_bytes(path) as first, open_bytes(beside) as second:
        files = (first, second)
        rows = zip_longest(raw_lines(first, path), raw_lines(second, beside))
        line, offsets, before, uneven = 1, [0, 0], [0, 0], 0
        while some := _some(rows):
            for number, (a, b) in enumerate(some, start=line):
                if a is None or b is None:
                    sizes = [number - (side is None) + sum(1 for _ in file) for side, file in ((a, first), (b, second))]
                    where = f"; line {uneven:,} is the first that is blank in one of them only" if uneven else ""
                    expected = f"{sizes[1]:,} lines for the {sizes[0]:,} of {path}; expected a translation a line"
                    raise BadInput(expected + where, beside)
                if not uneven and (not a.strip()) != (not b.strip()):
                    uneven = number
            done = [bytes_read(file) for file in files]
            sides = [b"".join(side) for side in zip(*some, strict=True)]
            yield TwoFilesPiece(
                Block(path, line, offsets[0], sides[0], done[0] - before[0]),
                Block(beside, line, offsets[1], sides[1], done[1] - before[1]),
            )
            line, before = line + len(some), done
            offsets = [offset + len(side) for offset, side in zip(offsets, sides, strict=True)]


def _some(rows: Iterable[Row]) -> list[Row]:
    """The next `MANY` rows, fewer where they are long or one of the files has ended."""
    some, size = list[Row](), 0
    for row in rows:
        some.append(row)
        size += sum(map(len, filter(None, row)))
        if None in row or len(some) == MANY or size >= LIMIT:
            break
    return some

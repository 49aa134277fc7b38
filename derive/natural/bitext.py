"""Files of sentences and their translations: in two columns, or in two files."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from derive.artefact import digest
from derive.errors import BadInput
from derive.natural.piece import Columns, Piece, count_escaped, unescape
from derive.readers.lines import (
    LIMIT,
    SIZE,
    Block,
    blocks,
    bytes_read,
    check_file,
    ends_line,
    open_bytes,
    raw_lines,
    up_to,
)
from derive.readers.markup import whole_pairs
from derive.readers.parallel import Pair, words_of
from derive.readers.text import COLUMNS, annotation, head

MANY = 1 << 14  # lines of two files that are read together
Row = tuple[bytes | None, bytes | None]  # a line of each of two files; None where one of them has ended


@dataclass(frozen=True)
class BitextFiles:
    """Sentences and their translations, of the first language and the second.

    They are in `path` and `beside`, line by line, as Moses has them; or, without `beside`, in two `columns`, counted
    from 0, of a file with tabs. `megabytes` takes only the head, to the end of the piece that reaches it (0: all of
    it), in bytes of the first file before compression. `escaped` says that characters are escaped, as Moses's tokenizer
    does (`&quot;`), and are to be unescaped.
    """

    path: Path
    beside: Path | None = None
    columns: tuple[int, int] = (0, 1)
    megabytes: int = 0
    escaped: bool = False

    def __post_init__(self) -> None:
        if min(self.columns) < 0 or self.columns[0] == self.columns[1]:
            raise BadInput(f"two different columns, counted from 0, not {self.columns[0]} and {self.columns[1]}")
        if self.megabytes < 0:
            raise BadInput(f"megabytes is 0 (all of it) or more, not {self.megabytes}")

    def pieces(self) -> Iterator[Piece]:
        for path in self._paths:
            _check_text(path, columns=self.beside is None)
        if self.beside is None:
            read = partial(_read_columns, self.columns)
            rows = blocks(self.path, ends_line, "line end", SIZE)
            found: Iterator[Piece] = (Piece(block, read, block.offset, block.size) for block in rows)
        else:
            found = _two_files(self.path, self.beside)
        return (piece.then(unescape if self.escaped else count_escaped) for piece in up_to(self.megabytes, found))

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
        return [list(map(digest, self._paths)), self.columns, self.megabytes, self.escaped]

    @property
    def _paths(self) -> tuple[Path, ...]:
        return (self.path,) if self.beside is None else (self.path, self.beside)


def _check_text(path: Path, columns: bool) -> None:
    """Refuse a file that is annotated, or JSON or XML; whether `columns` are expected."""
    with open_bytes(path) as file:
        first, lines = head(path, file)
    if (kind := annotation(first, lines)) and not (columns and kind == COLUMNS):
        raise BadInput(f"{kind}; expected sentences and their translations", path, lines[0][0])


def _read_columns(places: tuple[int, int], block: Block, left_out: Counter[str]) -> Columns:
    def rows() -> Iterator[tuple[str, str]]:
        least = max(places) + 1
        for number, line in enumerate(block.lines(left_out), start=block.line):
            row = line.split("\t") if line.strip() else [""] * least
            if len(row) < least:
                raise BadInput(f"{len(row)} columns between tabs; expected at least {least}", block.path, number)
            yield row[places[0]], row[places[1]]

    return whole_pairs(rows(), left_out)


def _read_two_files(sides: tuple[Block, Block], left_out: Counter[str]) -> Columns:
    return whole_pairs(zip(*(side.lines(left_out) for side in sides), strict=True), left_out)


def _two_files(path: Path, beside: Path) -> Iterator[Piece]:
    """The pieces of two files, line i of one translating line i of the other; they must have as many lines."""
    with open_bytes(path) as first, open_bytes(beside) as second:
        rows = zip_longest(raw_lines(first, path), raw_lines(second, beside))
        line, offset, before, uneven = 1, 0, 0, 0
        while some := _some(rows):
            for number, (a, b) in enumerate(some, start=line):
                if a is None or b is None:
                    sizes = [number - (side is None) + sum(1 for _ in file) for side, file in ((a, first), (b, second))]
                    where = f"; line {uneven:,} is the first that is blank in one of them only" if uneven else ""
                    expected = f"{sizes[1]:,} lines for the {sizes[0]:,} of {path}; expected a translation a line"
                    raise BadInput(expected + where, beside)
                if not uneven and (not a.strip()) != (not b.strip()):
                    uneven = number
            data, translation = (b"".join(side) for side in zip(*some, strict=True))
            sides = Block(path, line, offset, data, 0), Block(beside, line, offset, translation, 0)
            read = bytes_read(first) + bytes_read(second)
            yield Piece(sides, _read_two_files, offset, read - before)
            line, offset, before = line + len(some), offset + len(data), read


def _some(rows: Iterable[Row]) -> list[Row]:
    """The next `MANY` rows, fewer where they are long or one of the files has ended."""
    some, size = list[Row](), 0
    for row in rows:
        some.append(row)
        size += sum(map(len, filter(None, row)))
        if None in row or len(some) == MANY or size >= LIMIT:
            break
    return some

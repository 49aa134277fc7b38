"""Files of sentences and their translations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from derive.artefact import digest
from derive.errors import BadInput
from derive.natural.pairs import columns, two_files
from derive.natural.piece import Piece, UnescapedPiece
from derive.natural.tmx import is_xml, units
from derive.readers.compressed import check_file, opened
from derive.readers.text import COLUMNS, annotation, head


@dataclass(frozen=True)
class BitextFiles:
    """Sentences and their translations, of the first language and the second.

    They lie in `path` and `beside`, line by line, as Moses has them; or, without `beside`, in two `columns`, counted
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
        """The pieces of the bitext in order.

        Raises:
            BadInput: a file cannot be read, is damaged, or the two have not as many lines.
        """
        limit = self.megabytes * 1_000_000
        for piece in self._pieces():
            if limit and piece.offset >= limit:
                break
            yield UnescapedPiece(piece, self.escaped)

    def _pieces(self) -> Iterator[Piece]:
        if self.beside is not None:
            for path in self._paths:
                _check_text(path)
            return two_files(self.path, self.beside)
        if is_xml(self.path):
            if self.codes is None:
                raise BadInput("TMX, and no codes; expected those of the two languages in its xml:lang", self.path)
            return units(self.path, self.codes)
        _check_text(self.path, columns=True)
        return columns(self.path, self.columns)

    @property
    def size(self) -> int:
        """Bytes on the disk, for progress."""
        return sum(path.stat().st_size for path in self._paths)

    def identity(self) -> list[Any]:
        """What decides the pairs, for a fingerprint: where the files lie does not matter."""
        for path in self._paths:
            check_file(path)
        files = [digest(path) for path in self._paths]
        return [files, self.columns, self.codes, self.distinct, self.megabytes, self.escaped]

    @property
    def _paths(self) -> tuple[Path, ...]:
        return (self.path,) if self.beside is None else (self.path, self.beside)


def _check_text(path: Path, columns: bool = False) -> None:
    """Refuse a file that is annotated, or JSON or XML; whether `columns` are expected.

    Raises:
        BadInput: naming the file and what it is.
    """
    with opened(path) as file:
        first, lines = head(path, file)
    if (kind := annotation(first, lines)) and not (columns and kind == COLUMNS):
        raise BadInput(f"{kind}; expected sentences and their translations", path, lines[0][0])

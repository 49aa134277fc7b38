"""Files of one language's text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from derive.artefact import digest
from derive.errors import BadInput
from derive.natural.formats import format_of
from derive.natural.piece import Piece, UnescapedPiece


@dataclass(frozen=True)
class TextFiles:
    """Files of one language's text, a line of text a line; what a file is, its name and its first lines tell.

    `column` is that of the text in JSON lines and Parquet. `megabytes` takes only the head of each file, to the end of
    the piece that reaches it (0: all of it), in bytes before compression. `distinct` leaves out lines that came before.
    `escaped` says that characters are escaped, as Moses's tokenizer does (`&quot;`), and are to be unescaped.
    """

    paths: tuple[Path, ...]
    column: str = "text"
    megabytes: int = 0
    distinct: bool = False
    escaped: bool = False

    def __post_init__(self) -> None:
        if not self.paths:
            raise BadInput("a language without text: no file is named")
        if self.megabytes < 0:
            raise BadInput(f"megabytes is 0 (all of each file) or more, not {self.megabytes}")

    def pieces(self) -> Iterator[Piece]:
        """The pieces of the text in order.

        Raises:
            BadInput: a file cannot be read, or is of no format with text.
        """
        limit = self.megabytes * 1_000_000
        for path in self.paths:
            for piece in format_of(path, self.column).pieces(path):
                if limit and piece.offset >= limit:
                    break
                yield UnescapedPiece(piece, self.escaped)

    @property
    def size(self) -> int:
        """Bytes on the disk, for progress."""
        return sum(path.stat().st_size for path in self.paths)

    def identity(self) -> list[Any]:
        """What decides the text, for a fingerprint: where the files lie does not matter."""
        files = [[format_of(path, self.column), digest(path)] for path in self.paths]
        return [files, self.megabytes, self.distinct, self.escaped]

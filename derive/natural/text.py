"""Files of one language's text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from derive.digests import digest
from derive.errors import BadInput
from derive.natural.formats import format_of
from derive.natural.lines import Format, texts
from derive.natural.piece import Piece
from derive.readers.blocks import Block, blocks


@dataclass(frozen=True)
class TextPiece(Piece):
    """Some whole records of a file of text."""

    form: Format
    block: Block

    @property
    def done(self) -> int:  # type: ignore[override]
        return self.block.done

    def columns(self, left_out: Counter[str]) -> tuple[list[str], ...]:
        return (texts(self.form, self.block, left_out),)


@dataclass(frozen=True)
class TextFiles:
    """Files of one language's text, a line of text a line; what a file is, its name and its first lines tell.

    `column` is that of the text in JSON lines and Parquet. `megabytes` takes only the head of each file, to the end of
    the piece that reaches it (0: all of it), in bytes before compression.
    """

    paths: tuple[Path, ...]
    column: str = "text"
    megabytes: int = 0

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
            form = format_of(path, self.column)
            for block in blocks(path, form.ends, form.record):
                if limit and block.offset >= limit:
                    break
                yield TextPiece(form, block)

    @property
    def size(self) -> int:
        """Bytes on the disk, for progress."""
        return sum(path.stat().st_size for path in self.paths)

    def identity(self) -> list[Any]:
        """What decides the text, for a fingerprint: where the files lie does not matter."""
        return [[[digest(path), format_of(path, self.column)] for path in self.paths], self.megabytes]

"""Text in records of whole lines: the formats whose files can be cut into blocks, and what text a block holds.

Text stays as it is, but for white space at a line's ends. A format is a frozen dataclass of plain values.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from derive.errors import BadInput
from derive.natural.piece import BlockPiece, Piece
from derive.readers.blocks import SIZE, blocks, ends_line
from derive.readers.lines import without_marks
from derive.readers.markup import unescaped, without_tags
from derive.readers.text import JOINER, TAG, is_heading

Lines = Sequence[tuple[int, str]]
"""Lines without their ends, with their numbers from 1."""
_ENDS = re.compile(r"\r\n|\n|\r")


class Format(ABC):
    """A format of files of text."""

    @abstractmethod
    def pieces(self, path: Path) -> Iterator[Piece]:
        """The pieces of a file in order.

        Raises:
            BadInput: it cannot be read.
        """


class LineFormat(Format):
    """A format whose records are whole lines; `record` is what ends one, for errors."""

    record = "line end"

    def ends(self, line: bytes) -> bool:
        """Whether a record ends with this line of the file."""
        return ends_line(line)

    @abstractmethod
    def texts(self, lines: Lines, path: Path, left_out: Counter[str]) -> Iterator[str]:
        """The text that the lines of a block hold; `left_out` counts what is none.

        Raises:
            BadInput: with file and line, where a line is not what the format has.
        """

    def pieces(self, path: Path) -> Iterator[Piece]:
        return (LinesPiece(block, self) for block in blocks(path, self.ends, self.record, SIZE))


@dataclass(frozen=True)
class LinesPiece(BlockPiece):
    """Some whole records of a file."""

    form: LineFormat

    def columns(self, left_out: Counter[str]) -> tuple[list[str], ...]:
        numbered = list(enumerate(self.block.lines(left_out), self.block.line))
        return (stripped(self.form.texts(numbered, self.block.path, left_out), left_out),)


def stripped(texts: Iterable[str], left_out: Counter[str]) -> list[str]:
    """The lines of texts without white space at their ends, and without blank ones, which are counted."""
    made = [without_marks(line, left_out).strip() for text in texts for line in _ENDS.split(text)]
    kept = [line for line in made if line]
    left_out["blank lines"] += len(made) - len(kept)
    return kept


@dataclass(frozen=True)
class Plain(LineFormat):
    """Every line is text."""

    def texts(self, lines: Lines, path: Path, left_out: Counter[str]) -> Iterator[str]:
        return (line for _, line in lines)


@dataclass(frozen=True)
class WikiText(LineFormat):
    """WikiText's: lines that are headings are left out, and ` @-@ ` is a hyphen again."""

    def texts(self, lines: Lines, path: Path, left_out: Counter[str]) -> Iterator[str]:
        for _, line in lines:
            if is_heading(line):
                left_out["headings"] += 1
            else:
                yield JOINER.sub(r"\1", line)


@dataclass(frozen=True)
class Documents(LineFormat):
    """WikiExtractor's: `<doc ...>`, title, paragraphs, `</doc>`. Titles, and lines that are one tag, are left out.

    Escaped characters are unescaped, and tags inside a line removed.
    """

    record = "</doc>"

    def ends(self, line: bytes) -> bool:
        return line.rstrip() == b"</doc>"

    def texts(self, lines: Lines, path: Path, left_out: Counter[str]) -> Iterator[str]:
        opened = 0  # the line of the open document's <doc>
        for number, line in lines:
            if line.startswith("<doc "):
                if opened:
                    raise BadInput(f"<doc> inside the document that line {opened} opens", path, number)
                opened = number
            elif line.rstrip() == "</doc>":
                if not opened:
                    raise BadInput("</doc> without <doc>", path, number)
                opened = 0
            elif not opened:
                if line.strip():
                    raise BadInput("text outside of <doc> ... </doc>", path, number)
            elif number == opened + 1:
                left_out["titles"] += 1
            elif TAG.fullmatch((line := unescaped(line, left_out)).strip()):
                left_out["tags"] += 1
            else:
                yield without_tags(line, left_out)
        if opened:
            raise BadInput("no </doc> for this <doc>: the file is truncated", path, opened)

"""Formats of text: how a file is cut into blocks of whole records, and what text a block holds, a line a line.

Text stays as it is, but for white space at a line's ends. A format is a frozen dataclass of plain values.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from derive.errors import BadInput
from derive.readers.blocks import Block
from derive.readers.lines import decode

_TAG = re.compile(r"</?[A-Za-z][^<>]*>")


class Format(ABC):
    """A format whose records are lines of text."""

    record = "line end"
    """What ends a record, for errors."""

    def ends(self, line: bytes) -> bool:
        """Whether a record ends with this line of the file."""
        return line.endswith(b"\n")

    @abstractmethod
    def texts(self, lines: Iterator[tuple[int, str]], path: Path, left_out: Counter[str]) -> Iterator[str]:
        """The lines of text that numbered lines of a block hold; `left_out` counts what is none.

        Raises:
            BadInput: with file and line, where a line is not what the format has.
        """


@dataclass(frozen=True)
class Plain(Format):
    """Every line is text."""

    def texts(self, lines: Iterator[tuple[int, str]], path: Path, left_out: Counter[str]) -> Iterator[str]:
        return (line for _, line in lines)


@dataclass(frozen=True)
class Documents(Format):
    """WikiExtractor's: `<doc ...>`, title, paragraphs, `</doc>`. Titles, and lines that are one tag, are left out."""

    record = "</doc>"

    def ends(self, line: bytes) -> bool:
        return line.rstrip() == b"</doc>"

    def texts(self, lines: Iterator[tuple[int, str]], path: Path, left_out: Counter[str]) -> Iterator[str]:
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
            elif not opened and line.strip():
                raise BadInput("text outside of <doc> ... </doc>", path, number)
            elif number == opened + 1:
                left_out["titles"] += 1
            elif _TAG.fullmatch(line.strip()):
                left_out["tags"] += 1
            else:
                yield line
        if opened:
            raise BadInput("no </doc> for this <doc>: the file is truncated", path, opened)


def texts(form: Format, block: Block, left_out: Counter[str]) -> list[str]:
    """The lines of text of a block, without white space at their ends and without blank ones, which are counted.

    Raises:
        BadInput: with file and line: binary, not UTF-8, or not what the format has.
    """
    numbered = enumerate(decode(block.data, block.path, block.line).split("\n")[:-1], start=block.line)
    made = [text.strip() for text in form.texts(numbered, block.path, left_out)]
    kept = [text for text in made if text]
    if blank := len(made) - len(kept):
        left_out["blank lines"] += blank
    return kept

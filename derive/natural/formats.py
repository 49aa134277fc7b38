"""Which format a file of text has, by its name and its first lines."""

from __future__ import annotations

from pathlib import Path

from derive.natural.lines import Documents, Format, Plain
from derive.readers.blocks import LIMIT
from derive.readers.compressed import opened
from derive.readers.lines import decode


def format_of(path: Path, column: str) -> Format:
    """The format of a file; `column` is that of the text, where there are several.

    Raises:
        BadInput: it cannot be read, is blank, or is not what its name says.
    """
    with opened(path) as file:
        for number, raw in enumerate(iter(lambda: file.readline(LIMIT), b""), start=1):
            line = decode(raw, path, number).strip()
            if line:
                return Documents() if line.startswith("<doc ") else Plain()
    return Plain()

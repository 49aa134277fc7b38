"""Text in JSON lines: an object a line, with the text in one of its columns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from derive.errors import BadInput
from derive.natural.lines import LineFormat, Lines


@dataclass(frozen=True)
class JsonLines(LineFormat):
    """The text of `column`; a text of several lines is several lines. Objects whose text is null are left out."""

    column: str

    def texts(self, lines: Lines, path: Path, left_out: Counter[str]) -> Iterator[str]:
        for number, line in lines:
            if not line.strip():
                left_out["blank lines"] += 1
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise BadInput(f"expected a JSON object: {error}", path, number) from None
            if not isinstance(row, dict) or self.column not in row:
                there = ", ".join(row) if isinstance(row, dict) else f"a {type(row).__name__}"
                raise BadInput(f"no column {self.column!r}; there are {there or 'none'}", path, number)
            text = row[self.column]
            if text is None:
                left_out["rows without text"] += 1
                continue
            if not isinstance(text, str):
                raise BadInput(f"{self.column!r} is a {type(text).__name__}; expected text", path, number)
            try:
                text.encode()
            except UnicodeEncodeError:
                raise BadInput("half of a surrogate pair, which is no character", path, number) from None
            yield text

"""Text in JSON lines: an object a line, with the text in one of its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from derive import strict_json
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
            row = strict_json.line(line, path, number)
            if self.column not in row:
                raise BadInput(f"no column {self.column!r}; there are {', '.join(row) or 'none'}", path, number)
            text = row[self.column]
            if text is None:
                left_out["rows without text"] += 1
                continue
            if not isinstance(text, str):
                raise BadInput(f"{self.column!r} is a {type(text).__name__}; expected text", path, number)
            if not strict_json.is_text(text):
                raise BadInput(f"{self.column!r} holds a NUL or half of a surrogate pair; expected text", path, number)
            yield text

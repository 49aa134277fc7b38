"""A piece of a file of text, or of parallel text, that one worker reads on its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

Columns = tuple[list[str], ...]  # lines of text in one language, or as many in each of two, none of them blank
Change = Callable[[Columns, Counter[str]], Columns]


@dataclass(frozen=True)
class Piece:
    """Some whole records of files; it depends on the files alone, never on who reads it. `read` finds the lines in the
    `content`, and `changes` follow in their order. All of these can be pickled. `offset` is where the piece begins, in
    bytes before compression, and `size` how many bytes on the disk were read for it."""

    content: Any
    read: Callable[[Any, Counter[str]], Columns]
    offset: int
    size: int
    changes: tuple[Change, ...] = ()

    def then(self, change: Change) -> Piece:
        return replace(self, changes=(*self.changes, change))

    def columns(self, left_out: Counter[str]) -> Columns:
        """Read the piece; `left_out` counts what is not in the lines."""
        columns = self.read(self.content, left_out)
        for change in self.changes:
            columns = change(columns, left_out)
        return columns

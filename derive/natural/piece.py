"""A piece of a text file, or of parallel files, that a worker reads independently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

Columns = tuple[list[str], ...]  # lines of one language, or parallel lines of two, none blank
Change = Callable[[Columns, Counter[str]], Columns]


@dataclass(frozen=True)
class Piece:
    """Some whole records of files, the same for every reader. `read` finds the lines in the `content`, then `changes`
    apply in order; all can be pickled. `offset` is its start in uncompressed bytes, `size` the bytes read from disk."""

    content: Any
    read: Callable[[Any, Counter[str]], Columns]
    offset: int
    size: int
    changes: tuple[Change, ...] = ()

    def then(self, change: Change) -> Piece:
        return replace(self, changes=(*self.changes, change))

    def columns(self, left_out: Counter[str]) -> Columns:
        """Read the piece; `left_out` counts its exclusions."""
        columns = self.read(self.content, left_out)
        for change in self.changes:
            columns = change(columns, left_out)
        return columns

"""Sentence pairs in two files of tokenised text, a sentence a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from derive.errors import BadInput
from derive.readers.lines import read_lines, tokens

Pair = tuple[tuple[str, ...], tuple[str, ...]]
"""The words of a sentence and of its translation."""


class TwoFiles:
    """The sentence pairs of two files, one sentence per line, read again each time; spaces and tabs separate words.

    The files may be compressed. `counts` has what `read_lines` removed.
    """

    def __init__(self, source: Path, target: Path) -> None:
        """Read both through once.

        Raises:
            BadInput: one cannot be read, or they have not the same number of lines.
        """
        self.paths = source, target
        self.counts: Counter[str] = Counter()
        sizes = [sum(1 for _ in read_lines(path, self.counts)) for path in self.paths]
        if sizes[0] != sizes[1]:
            raise BadInput(f"{sizes[1]:,} lines for the {sizes[0]:,} of {source}; expected a sentence a line", target)
        self.size = sizes[0]

    def __iter__(self) -> Iterator[Pair]:
        for (_, source), (_, target) in zip(*map(read_lines, self.paths), strict=True):
            yield tuple(tokens(source)), tuple(tokens(target))

    def __getitem__(self, line: int) -> Pair:
        """The pair of a line, from 1."""
        return next(islice(self, line - 1, None))

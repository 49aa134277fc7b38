"""Files whose words are withheld: treebanks without a licence for their text have `_` in place of every word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from derive.errors import BadInput


@dataclass
class HiddenWords:
    """The number of words, how many of them consist of underscores, and the line of the first such word."""

    words: int = 0
    hidden: int = 0
    line: int = 0

    def add(self, words: Iterable[str], line: int) -> None:
        """Count the words of a line, or of a sentence that starts there."""
        for word in words:
            self.words += 1
            if word and not word.strip("_"):
                self.hidden += 1
                self.line = self.line or line

    def check(self, path: Path) -> None:
        """Refuse a file in which most words are withheld.

        Raises:
            BadInput: with file and line.
        """
        if 2 * self.hidden > self.words:
            raise BadInput(
                f"{self.hidden:,} of {self.words:,} words are _: the text is withheld, as its licence demands; "
                "expected the words (the README of such data says how to get them)",
                path,
                self.line,
            )

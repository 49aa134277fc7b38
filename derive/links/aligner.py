"""The interface of word aligners: sentence pairs in, links out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from derive.readers.two_files import Pair

Links = list[tuple[int, int]]
"""Of a sentence pair, sorted: (place in the source, place in the target), both from 0."""
Scored = dict[tuple[int, int], float]
"""The links of a sentence pair, sorted, each with its score: the larger, the surer."""
_SHOWN = 5


class Aligner(ABC):
    """Finds which words of a sentence and its translation belong together."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What tables call it."""

    @property
    @abstractmethod
    def left_out(self) -> LeftOut:
        """What got no links so far, and why."""

    @abstractmethod
    def align(self, pairs: Iterable[Pair]) -> Iterator[Links]:
        """Links of each pair, in the order of the pairs; only a few pairs are held at a time."""

    @abstractmethod
    def align_scored(self, pairs: Iterable[Pair]) -> Iterator[Scored]:
        """The same links, each with its score."""

    @abstractmethod
    def matrix(self, pair: Pair) -> np.ndarray:
        """The scores of all links that the words of one pair may have, (n, m), NaN where there are none."""


class LeftOut:
    """What got no links, and why: counted, and the first lines where it happened."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._lines: defaultdict[str, list[int]] = defaultdict(list)
        self._more: set[str] = set()

    def add(self, what: str, line: int, count: int = 1) -> None:
        """`count` more of `what`, in the pair that stands in `line`, counted from 1."""
        self.counts[what] += count
        lines = self._lines[what]
        if line not in lines:
            if len(lines) < _SHOWN:
                lines.append(line)
            else:
                self._more.add(what)

    def described(self) -> list[str]:
        """A line a reason, as in `3 words that ... (line 4, 17)`."""
        return [
            f"{count:,} {what} (line {', '.join(map(str, sorted(self._lines[what])))}{' …' * (what in self._more)})"
            for what, count in self.counts.items()
        ]

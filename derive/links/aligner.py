"""The interface of word aligners, which find word links in sentence pairs."""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from calque.derive.files import whole_file
from calque.derive.readers.parallel import Link, Links, Pair, Scored

_EXAMPLES = 5  # maximum number of line numbers listed per reason


class LeftOut:
    """Counts sentence pairs and words without links by reason, with the first few line numbers."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._lines: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, what: str, line: int, count: int = 1) -> None:
        self.counts[what] += count
        lines = self._lines[what]
        if line not in lines and len(lines) <= _EXAMPLES:
            lines.append(line)

    def described(self) -> list[str]:
        """Describe each reason, as in `3 words that ... (line 4, 17)`."""
        described = []
        for what, count in self.counts.items():
            lines = self._lines[what]
            examples = ", ".join(map(str, sorted(lines[:_EXAMPLES])))
            more = " …" if len(lines) > _EXAMPLES else ""
            described.append(f"{count:,} {what} (line {examples}{more})")
        return described


class Aligner(ABC):
    """Finds links between the words of a sentence and of its translation."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in tables."""

    @property
    @abstractmethod
    def left_out(self) -> LeftOut:
        """The sentence pairs and words without links so far, by reason."""

    @abstractmethod
    def align(self, pairs: Iterable[Pair]) -> Iterator[Links]:
        """Yield the links of each pair, in order, with only a few pairs in memory at a time."""

    @abstractmethod
    def align_scored(self, pairs: Iterable[Pair]) -> Iterator[Scored]:
        """Yield the same links, each with its score."""


def line_of(links: Iterable[Link]) -> str:
    """Format links in the Pharaoh format: `0-0 1-2`."""
    return " ".join(f"{i}-{j}" for i, j in links)


def score_of(links: Scored, pair: Pair) -> float:
    """Return a sentence pair's score: the mean of its words' best link scores (0 for a word without
    links)."""
    best: defaultdict[tuple[int, int], float] = defaultdict(float)
    for link, score in links.items():
        for side in enumerate(link):
            best[side] = max(best[side], score)
    return sum(best.values()) / max(1, sum(map(len, pair)))


def words_of(links: Iterable[Link], pair: Pair) -> str:
    """Format links as pairs of words, as in `the=das house=Haus`."""
    return " ".join(f"{pair[0][i]}={pair[1][j]}" for i, j in sorted(links))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file atomically."""
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)

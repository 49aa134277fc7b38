"""Word aligners, and functions to symmetrise and write links."""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from calque.derive.files import whole_file
from calque.derive.readers.parallel import Link, Links, Pair, Scored

_EXAMPLES = 5  # maximum number of line numbers listed per reason


class LeftOut:
    """Counts sentence pairs and words left without links, by reason, with the first few line numbers."""

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
        for what, lines in self._lines.items():
            examples = ", ".join(map(str, sorted(lines[:_EXAMPLES]))) + " …" * (len(lines) > _EXAMPLES)
            described.append(f"{self.counts[what]:,} {what} (line {examples})")
        return described


class Aligner(ABC):
    """Finds links between the words of a sentence and the words of its translation."""

    @property
    @abstractmethod
    def left_out(self) -> LeftOut:
        """The sentence pairs and words left without links so far, by reason."""

    @abstractmethod
    def align(self, pairs: Iterable[Pair]) -> Iterator[Links]:
        """Yield the links of each pair, in order, with only a few pairs in memory at a time."""

    @abstractmethod
    def align_scored(self, pairs: Iterable[Pair]) -> Iterator[Scored]:
        """Yield the links of each pair with their scores."""


def line_of(links: Iterable[Link]) -> str:
    """Format links in the Pharaoh format: `0-0 1-2`."""
    return " ".join(f"{i}-{j}" for i, j in links)


def score_of(links: Scored, pair: Pair) -> float:
    """Return the mean of each word's best link score (0 for a word without links)."""
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


# The growing methods start from the links found in both directions and add links found in only one (Och and
# Ney 2003; Koehn, Och and Marcu 2003). A link added during a scan can make later links in the scan eligible.

Symmetrisation = Callable[[Links, Links], Links]


def union(forward: Links, reverse: Links) -> Links:
    """Return the links found in at least one direction."""
    return sorted({*forward, *reverse})


def intersect(forward: Links, reverse: Links) -> Links:
    """Return the links found in both directions."""
    return sorted({*forward} & {*reverse})


def grow_diag(forward: Links, reverse: Links) -> Links:
    """Extend the intersection with links from the union that contain an unlinked word and are adjacent,
    possibly diagonally, to an existing link."""
    growing = _Growing(intersect(forward, reverse))
    candidates, size = union(forward, reverse), -1
    while len(growing.links) != size:
        size = len(growing.links)
        for i, j in candidates:
            neighbours = [(i + di, j + dj) for di in (-1, 0, 1) for dj in (-1, 0, 1)]
            if any(growing.unlinked(i, j)) and not growing.links.isdisjoint(neighbours):
                growing.add(i, j)
    return sorted(growing.links)


def grow_diag_final(forward: Links, reverse: Links) -> Links:
    """Apply `grow_diag`, then add forward links and then reverse links that contain an unlinked word."""
    return _finished(forward, reverse, any)


def grow_diag_final_and(forward: Links, reverse: Links) -> Links:
    """Apply `grow_diag`, then add forward links and then reverse links between two unlinked words."""
    return _finished(forward, reverse, all)


SYMMETRISATIONS = {
    method.__name__.replace("_", "-"): method
    for method in (intersect, union, grow_diag, grow_diag_final, grow_diag_final_and)
}
"""All symmetrisation methods, keyed by their names in `atools`."""


class _Growing:
    def __init__(self, links: Links) -> None:
        self.links = set(links)
        self._sources, self._targets = {i for i, _ in links}, {j for _, j in links}

    def unlinked(self, i: int, j: int) -> tuple[bool, bool]:
        return i not in self._sources, j not in self._targets

    def add(self, i: int, j: int) -> None:
        self.links.add((i, j))
        self._sources.add(i)
        self._targets.add(j)


def _finished(forward: Links, reverse: Links, enough: Callable[[Iterable[bool]], bool]) -> Links:
    growing = _Growing(grow_diag(forward, reverse))
    for link in [*sorted(forward), *sorted(reverse)]:
        if enough(growing.unlinked(*link)):
            growing.add(*link)
    return sorted(growing.links)

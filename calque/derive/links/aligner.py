"""Symmetrise word links, and count what aligners leave out."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from calque.derive.readers.parallel import Links

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

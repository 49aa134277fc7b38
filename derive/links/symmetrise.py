"""Two directed alignments made into one: the five symmetrisations of the `atools` that come with fast_align.

Forward links are those of a model in which every target word comes from one source word or from none, reverse links
those of the other direction; both as (source place, target place). Growing starts from what both say and adds what one
says (Och and Ney 2003, section 5; Koehn, Och and Marcu 2003). Each pass scans the source from left to right, then the
target, and a link that was added a moment ago lets its neighbours in, so the order of the scan is part of the method.
"""

from __future__ import annotations

from collections.abc import Callable

from derive.links.aligner import Links

Symmetrisation = Callable[[Links, Links], Links]

_NEIGHBOURS = tuple((di, dj) for di in (-1, 0, 1) for dj in (-1, 0, 1) if di or dj)


def union(forward: Links, reverse: Links) -> Links:
    """What either direction says."""
    return sorted({*forward, *reverse})


def intersect(forward: Links, reverse: Links) -> Links:
    """What both directions say: no word has two links."""
    return sorted({*forward} & {*reverse})


def grow_diag(forward: Links, reverse: Links) -> Links:
    """The intersection, grown by links of the union next to it, also diagonally, that link a word without a link."""
    return _Growing(forward, reverse).finished


def grow_diag_final(forward: Links, reverse: Links) -> Links:
    """`grow_diag`, then all forward links, then all reverse ones, that link a word without a link."""
    growing = _Growing(forward, reverse)
    growing.add(forward, both=False)
    growing.add(reverse, both=False)
    return growing.finished


def grow_diag_final_and(forward: Links, reverse: Links) -> Links:
    """`grow_diag`, then all forward links, then all reverse ones, between two words without a link."""
    growing = _Growing(forward, reverse)
    growing.add(forward, both=True)
    growing.add(reverse, both=True)
    return growing.finished


SYMMETRISATIONS = {
    method.__name__.replace("_", "-"): method
    for method in (intersect, union, grow_diag, grow_diag_final, grow_diag_final_and)
}
"""All of them, by the names that `atools` gives them."""


class _Growing:
    """The intersection, grown, and which words have a link by now."""

    def __init__(self, forward: Links, reverse: Links) -> None:
        self._links: set[tuple[int, int]] = set()
        self._sources: set[int] = set()
        self._targets: set[int] = set()
        for link in {*forward} & {*reverse}:
            self._link(link)
        waiting, grew = sorted({*forward, *reverse} - self._links), True
        while grew:
            still = [link for link in waiting if not self._grow(link)]
            waiting, grew = still, len(still) < len(waiting)

    @property
    def finished(self) -> Links:
        return sorted(self._links)

    def add(self, links: Links, both: bool) -> None:
        """Add links whose source or target word, or `both` of them, have none yet."""
        for i, j in sorted(links):
            free = (i not in self._sources, j not in self._targets)
            if all(free) if both else any(free):
                self._link((i, j))

    def _grow(self, link: tuple[int, int]) -> bool:
        i, j = link
        if i in self._sources and j in self._targets:
            return False
        if not any((i + di, j + dj) in self._links for di, dj in _NEIGHBOURS):
            return False
        self._link(link)
        return True

    def _link(self, link: tuple[int, int]) -> None:
        self._links.add(link)
        self._sources.add(link[0])
        self._targets.add(link[1])

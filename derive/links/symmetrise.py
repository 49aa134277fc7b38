"""The five symmetrisation methods in fast_align's `atools`.

The growing methods start from the links found in both directions and add links found in only one (Och and Ney
2003; Koehn, Och and Marcu 2003). A link added during a scan can make later links in the same scan eligible.
"""

from collections.abc import Callable, Iterable

from calque.derive.links.aligner import Links

Symmetrisation = Callable[[Links, Links], Links]

_NEIGHBOURS = tuple((di, dj) for di in (-1, 0, 1) for dj in (-1, 0, 1) if di or dj)


def union(forward: Links, reverse: Links) -> Links:
    """Return the links found in at least one direction."""
    return sorted({*forward, *reverse})


def intersect(forward: Links, reverse: Links) -> Links:
    """Return the links found in both directions."""
    return sorted({*forward} & {*reverse})


def grow_diag(forward: Links, reverse: Links) -> Links:
    """Extend the intersection with links from the union that are next to a link, possibly diagonally, and
    contain an unlinked word."""
    grown = {*forward} & {*reverse}
    sources, targets = {i for i, _ in grown}, {j for _, j in grown}
    waiting, grew = sorted({*forward, *reverse} - grown), True
    while grew:
        rest = []
        for i, j in waiting:
            linked = i in sources and j in targets
            if linked or not any((i + di, j + dj) in grown for di, dj in _NEIGHBOURS):
                rest.append((i, j))
            else:
                _link(i, j, grown, sources, targets)
        waiting, grew = rest, len(rest) < len(waiting)
    return sorted(grown)


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
"""All symmetrisation methods by their names in `atools`."""


def _finished(forward: Links, reverse: Links, enough: Callable[[Iterable[bool]], bool]) -> Links:
    grown = {*grow_diag(forward, reverse)}
    sources, targets = {i for i, _ in grown}, {j for _, j in grown}
    for i, j in [*sorted(forward), *sorted(reverse)]:
        if enough((i not in sources, j not in targets)):
            _link(i, j, grown, sources, targets)
    return sorted(grown)


def _link(i: int, j: int, grown: set[tuple[int, int]], sources: set[int], targets: set[int]) -> None:
    grown.add((i, j))
    sources.add(i)
    targets.add(j)

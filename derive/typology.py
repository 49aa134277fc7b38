"""Distances between word orders."""

from bisect import bisect
from collections.abc import Iterable, Sequence


def kendall_distance(origin: Sequence[int]) -> float:
    """The share of word pairs in the opposite order: 0 for the same order, 1 for its mirror image."""
    n = len(origin)
    seen: list[int] = []
    crossed = 0
    for place in origin:
        here = bisect(seen, place)
        crossed += len(seen) - here
        seen.insert(here, place)
    return crossed / (n * (n - 1) / 2) if n > 1 else 0.0


def order_distance(origins: Iterable[Sequence[int]]) -> float:
    """The mean normalised Kendall tau distance of sentences' origins, over sentences of at least two words; 0
    if there are none."""
    distances = [kendall_distance(origin) for origin in origins if len(origin) > 1]
    return sum(distances) / len(distances) if distances else 0.0
